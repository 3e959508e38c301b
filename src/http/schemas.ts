/** The parts that operations build their schemas from. Once read, times are Dates and 64-bit integers are bigints. */

import { type Static, type TOptional, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'

import { Fault } from '../base/fault.ts'
import type { JsonObject } from '../base/json.ts'
import type { TableRef } from '../core/table-ref.ts'
import { isName } from './own-names.ts'

/** Any string. */
export const text = Type.String()
/** A string that is not empty. */
export const nonEmpty = Type.String({ minLength: 1 })
/** An RFC 3339 time. */
export const time = Type.Unsafe<Date>({ type: 'string', format: 'date-time' })
/** A UUID in lower case. */
export const uuid = Type.String({ format: 'uuid' })
/** A whole number from 0. */
export const wholeNumber = Type.Integer({ minimum: 0 })
/** A whole number from 1. */
export const ordinal = Type.Integer({ minimum: 1 })
/** Any number. */
export const number = Type.Number()
/** True or false. */
export const flag = Type.Boolean()
/**
 * A 64-bit integer. Responses write it as a string of digits, because JSON readers round it; requests may send a
 * number.
 */
export const int64 = Type.Unsafe<bigint>({ type: ['string', 'integer'], format: 'int64' })
/** An object with any members. */
export const anyObject = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' })

/** An object with any members, whose integers stay exact. */
export const exactObject = Type.Unsafe<JsonObject>({ type: 'object', format: 'exact' })

/** One of these strings. */
export function oneOf<const T extends string>(values: readonly T[], options: object = {}): TUnsafe<T> {
  return Type.Unsafe<T>({ type: 'string', enum: [...values], ...options })
}

/** The schema with a description. */
export function described<T extends TSchema>(schema: T, description: string): T {
  return { ...schema, description }
}

/** An array of these. */
export function list<T extends TSchema>(items: T, options: object = {}): TUnsafe<readonly Static<T>[]> {
  return Type.Unsafe<readonly Static<T>[]>({ type: 'array', items, ...options })
}

/** A member that may be absent. Null in a request means absent, except for an object. */
export function maybe<T extends TSchema>(schema: T): TOptional<TUnsafe<Static<T> | undefined>> {
  return Type.Optional(Type.Unsafe<Static<T> | undefined>(schema))
}

/** This, or null. */
export function nullable<T extends TSchema>(schema: T): TUnsafe<Static<T> | null> {
  return Type.Unsafe<Static<T> | null>({ anyOf: [schema, Type.Null()] })
}

/** An object with these members and no others. */
export function object<const T extends Readonly<Record<string, TSchema>>>(members: T, options: object = {}) {
  return Type.Object({ ...members } as { -readonly [K in keyof T]: T[K] }, {
    additionalProperties: false,
    ...options,
  })
}

/** Members of a request that select a page of a listing. */
export const pageInput = {
  limit: maybe(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
  page_token: maybe(described(text, '`next_page_token` of the previous page; opaque')),
}

/** Members of a response that is one page of a listing. */
export function pageMembers<T extends TSchema>(items: T) {
  return { items: list(items), next_page_token: maybe(described(text, 'absent on the last page')) }
}

/** One page of a listing. */
export function pageOf<T extends TSchema>(items: T) {
  return object(pageMembers(items))
}

/** The schema of a name of a table, or of a level of a namespace (own-names.ts). */
export function nameOf<T extends TSchema>(schema: T): T {
  return { ...schema, [isName]: true }
}

const sentIdentifier = Type.String({ pattern: '^[a-zA-Z0-9_-]+$' })
const identifier = nameOf(sentIdentifier)
const name = nameOf(nonEmpty)

/** A table in a path: `{namespace}/{table}`, with namespace levels joined by %1F as in Iceberg REST. */
export const tableAddress = {
  namespace: described(list(identifier, { minItems: 1 }), 'its levels joined by %1F'),
  table: identifier,
}

/** The same for operations that return the name in the spelling of the request, because their reader compares the two. */
export const sentTableAddress = {
  namespace: described(list(sentIdentifier, { minItems: 1 }), 'its levels joined by %1F'),
  table: sentIdentifier,
}

/** The table that an address names. */
export function addressed({ namespace, table }: { namespace: readonly string[]; table: string }): TableRef {
  return { namespace, name: table }
}

/** A table in a request or response body: Iceberg's identifier. */
export const tableIdentifier = object({ namespace: list(name, { minItems: 1 }), name })

/** Query members that limit a listing to one table. */
export const tableFilter = {
  namespace: maybe(
    described(list(name, { minItems: 1 }), 'of the table, its levels joined by %1F; goes with `table`'),
  ),
  table: maybe(described(name, 'goes with `namespace`')),
}

/** The members of a request that {@link tableFilter} declares. */
export interface TableFilterInput {
  readonly namespace?: readonly string[] | undefined
  readonly table?: string | undefined
}

/**
 * The table that a filter names.
 * @throws Fault `bad_request` where one of the two is missing
 */
export function filteredTable({ namespace, table }: TableFilterInput): TableRef | undefined {
  if (namespace === undefined && table === undefined) return undefined
  if (namespace !== undefined && table !== undefined) return { namespace, name: table }
  throw new Fault('bad_request', '`namespace` and `table` name a table together: give both, or neither.')
}

/** Whom to ask about a table, as its contract's document says. */
export const whomToAskSchema = described(
  object({
    team: maybe(text),
    people: list(object({ name: maybe(text), username: maybe(text), role: maybe(text) })),
    channels: list(object({ channel: text, url: maybe(text), tool: maybe(text) })),
  }),
  'whom to ask, from `team` and `support` of the document in force: five people, owners first, and five channels at most',
)
