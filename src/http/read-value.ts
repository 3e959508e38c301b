/**
 * Checks a parsed JSON value against a schema and converts it: known members only, times as Dates, 64-bit integers as
 * bigints. Supports the part of JSON Schema that `schemas.ts` writes. Every refusal names the member and what it must
 * be.
 */

import { Fault } from '../base/fault.ts'
import { int64Max, int64Min } from '../base/int64.ts'
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from '../base/json.ts'
import { parseRfc3339 } from '../base/rfc3339.ts'

/** The supported keywords. Others only describe and are ignored. */
export interface ReadableSchema {
  readonly type?: string | readonly string[]
  readonly anyOf?: readonly ReadableSchema[]
  readonly enum?: readonly string[]
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: ReadableSchema
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, ReadableSchema>>
  readonly required?: readonly string[]
}

/**
 * Checks and converts one value.
 * @param at the member that holds the value, as `columns[2].name`; '' for a whole body
 * @returns null and undefined unchanged; null is refused where an object is wanted
 * @throws Fault `bad_request`
 */
export function readValue(schema: ReadableSchema, value: JsonValue | undefined, at: string): unknown {
  if (schema.anyOf !== undefined) return readAny(schema.anyOf, value, at)
  // For a principal or a configuration, null must not mean the same as leaving it out.
  if (value === null && schema.type === 'object') throw refusal(at, 'must be an object')
  if (value === undefined || value === null) return value
  const read = readers[kindOf(schema)](schema, value, at)
  if (read === undefined) throw refusal(at, `must be ${expected(schema)}`)
  return read
}

type Kind =
  | 'exact'
  | 'object'
  | 'array'
  | 'string'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'null'
  | 'time'
  | 'int64'
type Reader = (schema: ReadableSchema, value: Exclude<JsonValue, null>, at: string) => unknown

function kindOf({ type, format }: ReadableSchema): Kind {
  if (format === 'date-time') return 'time'
  if (format === 'int64' || format === 'exact') return format
  return type as Kind
}

/** A reader returns undefined for a value that does not match its schema. */
const readers: Readonly<Record<Kind, Reader>> = {
  null: () => undefined,
  exact: (_, value) => (isJsonObject(value) ? value : undefined),
  boolean: (_, value) => (typeof value === 'boolean' ? value : undefined),
  time: (_, value) => (typeof value === 'string' ? parseRfc3339(value) : undefined),
  int64: (_, value) => {
    const isDigits = typeof value === 'string' && /^-?\d{1,19}$/.test(value)
    if (typeof value !== 'bigint' && !isDigits) return undefined
    const number = BigInt(value)
    return number >= int64Min && number <= int64Max ? number : undefined
  },
  integer: (schema, value) => {
    const number = typeof value === 'bigint' ? Number(value) : value
    return Number.isSafeInteger(number) && isWithin(schema, number as number) ? number : undefined
  },
  number: (schema, value) => {
    const number = typeof value === 'bigint' ? Number(value) : value
    return typeof number === 'number' && isWithin(schema, number) ? number : undefined
  },
  string: ({ enum: values, pattern, minLength = 0, maxLength = Number.MAX_SAFE_INTEGER }, value) => {
    if (typeof value !== 'string') return undefined
    const fits = value.length >= minLength && value.length <= maxLength
    const listed = values === undefined || values.includes(value)
    return fits && listed && (pattern === undefined || new RegExp(pattern).test(value)) ? value : undefined
  },
  array: ({ items = {}, minItems = 0, maxItems = Number.MAX_SAFE_INTEGER }, value, at) => {
    if (!Array.isArray(value) || value.length < minItems || value.length > maxItems) return undefined
    return value.map((item: JsonValue, index) => {
      const read = readValue(items, item, `${at}[${index}]`)
      if (read === null && items.anyOf === undefined)
        throw refusal(`${at}[${index}]`, `must be ${expected(items)}`)
      return read
    })
  },
  object: (schema, value, at) => {
    if (!isJsonObject(value)) return undefined
    if (schema.properties === undefined) return JSON.parse(stringifyJson(value)) as object
    return readMembers(schema.properties, schema.required ?? [], value, at)
  },
}

function isWithin({ minimum, maximum }: ReadableSchema, value: number): boolean {
  return value >= (minimum ?? -Infinity) && value <= (maximum ?? Infinity)
}

function readMembers(
  properties: Readonly<Record<string, ReadableSchema>>,
  required: readonly string[],
  value: JsonObject,
  at: string,
): object {
  const names = Object.keys(properties)
  // A mistyped `expires_at` must not mean `never`.
  if ([...value.keys()].some((name) => !names.includes(name)))
    throw new Fault(
      'bad_request',
      `${at === '' ? 'The body' : `\`${at}\``} has an unknown member; supported are ${names.join(', ') || 'none'}.`,
    )
  const members = Object.entries(properties).map(([name, schema]) => {
    const where = at === '' ? name : `${at}.${name}`
    const read = readValue(schema, value.get(name), where)
    const absent = read === undefined || (read === null && schema.anyOf === undefined)
    if (absent && required.includes(name)) throw refusal(where, 'is required')
    return [name, absent ? undefined : read] as const
  })
  return Object.fromEntries(members.filter(([, member]) => member !== undefined))
}

function readAny(schemas: readonly ReadableSchema[], value: JsonValue | undefined, at: string): unknown {
  if (value === undefined) return undefined
  const takesNull = schemas.some(({ type }) => type === 'null')
  if (value === null) return takesNull ? null : undefined
  for (const schema of schemas)
    try {
      return readValue(schema, value, at)
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown
    }
  throw refusal(at, `must be ${schemas.map(expected).join(' or ')}`)
}

/** Describes in words what the schema allows. */
function expected(schema: ReadableSchema): string {
  const { enum: values, pattern, minLength = 0, maxLength, minimum, maximum, minItems = 0, maxItems } = schema
  const kind = kindOf(schema)
  if (values !== undefined) return `one of ${values.join(', ')}`
  switch (kind) {
    case 'time':
      return 'a time as in RFC 3339'
    case 'int64':
      return 'a whole number of 64 bits, or its digits as a string'
    case 'boolean':
      return 'true or false'
    case 'integer':
    case 'number': {
      const noun = kind === 'integer' ? 'a whole number' : 'a number'
      return `${noun}${minimum === undefined ? '' : ` from ${minimum}`}${maximum === undefined ? '' : ` to ${maximum}`}`
    }
    case 'array':
      return `an array of ${plural(schema.items ?? {})}${boundsOf(minItems, maxItems, 'items').replace(' of', ',')}`
    case 'string':
      if (pattern !== undefined) return `a string that matches ${pattern}`
      return `a string${boundsOf(minLength, maxLength, 'characters')}`
    default:
      return kind === 'object' ? 'an object' : 'null'
  }
}

function boundsOf(min: number, max: number | undefined, unit: string): string {
  if (max === undefined) return min === 0 ? '' : ` of at least ${min} ${min === 1 ? unit.slice(0, -1) : unit}`
  return min === 0 ? ` of at most ${max} ${unit}` : ` of ${min} to ${max} ${unit}`
}

function plural(schema: ReadableSchema): string {
  if (schema.enum !== undefined) return `strings, each ${expected(schema)}`
  return schema.anyOf === undefined ? `${schema.type}s` : 'values'
}

function refusal(at: string, what: string): Fault {
  return new Fault('bad_request', at === '' ? `The body ${what}.` : `\`${at}\` ${what}.`)
}
