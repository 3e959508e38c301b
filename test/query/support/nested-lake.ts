/**
 * Random tables of nested columns: schemas, rows, masks, and what a reader must see of them. The values that are expected
 * come from the rows themselves and from the definition of the masks, not from any SQL.
 */

import type { Field, FieldType } from '../../../demo/lake/table-fields.ts'
import { applyMask, type MaskAction, maskFits } from '../../../src/core/mask.ts'
import { generator } from '../../support/generator.ts'

export interface Random {
  readonly below: (count: number) => number
  readonly pick: <T>(of: readonly T[]) => T
  readonly shuffle: <T>(of: readonly T[]) => readonly T[]
}

export function randomOf(seed: number): Random {
  const next = generator(seed)
  const below = (count: number) => Math.floor(next() * count)
  return {
    below,
    pick: (of) => of[below(of.length)] as never,
    shuffle: (of) =>
      of
        .map((each) => [next(), each] as const)
        .toSorted(([a], [b]) => a - b)
        .map(([, each]) => each),
  }
}

export type Value = null | string | number | bigint | boolean | readonly Value[] | ReadonlyMap<string, Value>

const primitives = ['string', 'long', 'int', 'double', 'boolean', 'decimal(38,4)'] as const
const names = ['a', 'B', 'first name', 'x.y', 'q"t', "o'h", 'über', '日本', 'select', 'k_1', '$v', 'é"."']
const texts = ['', 'ann', 'o"h', "it's", 'back\\slash', 'tab\there', 'Ünï 日本', '{"a": 1}', 'null', '12-34']

/** A type, with ids from a counter. */
export function typeOf(random: Random, levels: number, next: () => number): FieldType {
  const kind = levels === 0 ? 0 : random.below(5)
  if (kind < 2) return random.pick(primitives)
  if (kind === 2) return { elementId: next(), list: typeOf(random, levels - 1, next) }
  if (kind === 3)
    return { keyId: next(), valueId: next(), key: 'string', map: typeOf(random, levels - 1, next) }
  return { struct: fieldsOf(random, levels - 1, 1 + random.below(4), next) }
}

export function fieldsOf(
  random: Random,
  levels: number,
  count: number,
  next: () => number,
): readonly Field[] {
  return random
    .shuffle(names)
    .slice(0, count)
    .map((name) => ({ id: next(), name, type: typeOf(random, levels, next) }))
}

/** A value of a type; NULL one time in five. */
export function randomValue(random: Random, type: FieldType): Value {
  if (random.below(5) === 0) return null
  if (typeof type === 'string') {
    if (type === 'string') return random.pick(texts)
    if (type === 'long') return random.pick([0n, -1n, 9_223_372_036_854_775_807n, 12n])
    if (type === 'int') return random.pick([0, -2_147_483_648, 7])
    if (type === 'double') return random.pick([0, 1.5, -0.25, 1e20])
    if (type === 'boolean') return random.below(2) === 0
    return random.pick(['0.0000', '1234567890123456789012345678901234.5678', '-0.1000'])
  }
  if ('list' in type) return Array.from({ length: random.below(4) }, () => randomValue(random, type.list))
  if ('map' in type) {
    const keys = random.shuffle(['', 'k', 'long key', 'ü', 'K"']).slice(0, random.below(4))
    return new Map(keys.map((key) => [key, randomValue(random, type.map)]))
  }
  return new Map(type.struct.map((field) => [field.name, randomValue(random, field.type)]))
}

/** The value as DuckDB writes it to a file. */
export function literalOf(value: Value, type: FieldType): string {
  return `CAST(${plainLiteral(value, type)} AS ${duckdbTypeOf(type)})`
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`

function plainLiteral(value: Value, type: FieldType): string {
  if (value === null) return 'NULL'
  if (typeof type === 'string') return quoted(String(value))
  if ('list' in type)
    return `[${(value as readonly Value[]).map((one) => literalOf(one, type.list)).join(', ')}]`
  const entries = [...(value as ReadonlyMap<string, Value>)]
  if ('map' in type)
    return `MAP {${entries.map(([key, one]) => `${quoted(key)}: ${literalOf(one, type.map)}`).join(', ')}}`
  const members = type.struct.map(
    (field) =>
      `${identifier(field.name)} := ${literalOf((value as ReadonlyMap<string, Value>).get(field.name) ?? null, field.type)}`,
  )
  return `struct_pack(${members.join(', ')})`
}

function duckdbTypeOf(type: FieldType): string {
  if (typeof type !== 'string') {
    if ('list' in type) return `${duckdbTypeOf(type.list)}[]`
    if ('map' in type) return `MAP(VARCHAR, ${duckdbTypeOf(type.map)})`
    return `STRUCT(${type.struct.map((field) => `${identifier(field.name)} ${duckdbTypeOf(field.type)}`).join(', ')})`
  }
  return (
    { string: 'VARCHAR', long: 'BIGINT', int: 'INTEGER', double: 'DOUBLE', boolean: 'BOOLEAN' }[
      type as 'int'
    ] ?? type
  )
}

/** The ids of a file's fields in the form of DuckDB's COPY. */
export function fieldIds(fields: readonly Field[]): string {
  return `{${fields.map(({ id, name, type }) => `${identifier(name)}: ${idsOf(id, type)}`).join(', ')}}`
}

function idsOf(id: number, type: FieldType): string {
  if (typeof type === 'string') return String(id)
  const own = `__duckdb_field_id: ${id}`
  if ('list' in type) return `{${own}, element: ${idsOf(type.elementId, type.list)}}`
  if ('map' in type) return `{${own}, key: ${type.keyId}, value: ${idsOf(type.valueId, type.map)}}`
  return `{${own}, ${fieldIds(type.struct).slice(1)}`
}

export interface Place {
  /** The full name, as masks are attached to it. */
  readonly name: string
  readonly type: FieldType
  readonly isKey: boolean
}

/** The fields inside a column, outermost first. */
export function placesIn(name: string, type: FieldType, isKey = false): readonly Place[] {
  if (typeof type === 'string') return []
  const under = (part: string, inner: FieldType, key = isKey): readonly Place[] => [
    { name: `${name}.${part}`, type: inner, isKey: key },
    ...placesIn(`${name}.${part}`, inner, key),
  ]
  if ('list' in type) return under('element', type.list)
  if ('map' in type) return [...under('key', type.key, true), ...under('value', type.map)]
  return type.struct.flatMap((field) => under(field.name, field.type))
}

const actions: readonly MaskAction[] = [
  ...([
    'replace-with-null',
    'mask-to-fixed-value',
    'sha-256-global',
    'mask-alphanum',
    'show-last-4',
  ] as const),
]

/** Masks that fit, at random places. */
export function masksOf(random: Random, places: readonly Place[]): Readonly<Record<string, MaskAction>> {
  const chosen = places.filter(({ isKey }) => !isKey && random.below(4) === 0)
  return Object.fromEntries(
    chosen.map(({ name, type }) => {
      const kind =
        typeof type === 'string' ? type : 'list' in type ? { type: 'list', element: 'x' } : { type: 'struct' }
      return [name, random.pick(actions.filter((action) => maskFits(action, kind as 'string')))]
    }),
  )
}

type Masks = Readonly<Record<string, MaskAction>>

/** What a reader sees of a value. */
export function shownOf(value: Value, name: string, type: FieldType, masks: Masks): Value {
  const mask = masks[name]
  if (mask !== undefined) {
    if (mask === 'replace-with-null') return null
    if (typeof type !== 'string') throw new Error('no such mask')
    if (value === null && mask !== 'mask-to-fixed-value') return null
    return applyMask(mask, type, value as string) as Value
  }
  if (value === null || typeof type === 'string') return value
  if ('list' in type)
    return (value as readonly Value[]).map((one) => shownOf(one, `${name}.element`, type.list, masks))
  const entries = [...(value as ReadonlyMap<string, Value>)]
  if ('map' in type)
    return new Map(entries.map(([key, one]) => [key, shownOf(one, `${name}.value`, type.map, masks)]))
  return new Map(
    type.struct.map((field) => [
      field.name,
      shownOf(
        (value as ReadonlyMap<string, Value>).get(field.name) ?? null,
        `${name}.${field.name}`,
        field.type,
        masks,
      ),
    ]),
  )
}

/**
 * What a reader sees of a field that is read alone. A fixed value stands there also where what the field is in is NULL;
 * where a mask hides that, the field is NULL.
 * @param within what the reader sees of the struct
 */
export function fieldOf(
  within: Value,
  [name, around]: readonly [name: string, around: readonly string[]],
  { name: own, type }: Field,
  masks: Masks,
): Value {
  if (within !== null) return (within as ReadonlyMap<string, Value>).get(own) ?? null
  const isHidden = around.some((each) => masks[each] === 'replace-with-null')
  return isHidden || masks[name] !== 'mask-to-fixed-value' ? null : shownOf(null, name, type, masks)
}

/** As PostgreSQL writes jsonb. */
export function jsonText(value: Value): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return `[${value.map(jsonText).join(', ')}]`
  if (value instanceof Map) {
    const members = [...value].toSorted(([a], [b]) => byKey(a, b))
    return `{${members.map(([key, one]) => `${JSON.stringify(key)}: ${jsonText(one)}`).join(', ')}}`
  }
  return typeof value === 'string'
    ? /^-?\d+\.\d{4}$/.test(value)
      ? value
      : JSON.stringify(value)
    : numberText(value)
}

const numberText = (value: unknown): string => (value === 1e20 ? '1e+20' : String(value))

function byKey(a: string, b: string): number {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length - right.length || Buffer.compare(left, right)
}
