/**
 * Declares what a stored record holds, once: its members with their types, where the database has each, and descriptions
 * for readers. `store/database/rows.ts` makes the select list and the decoder of it, `http/record-view.ts` the schema of
 * a response and its values. Does not read or write.
 */

type FieldKind =
  | 'text'
  | 'texts'
  | 'time'
  | 'int64'
  | 'number'
  | 'whole'
  | 'uuid'
  | 'choice'
  | 'record'
  | 'json'

/** One member. `T` is its type, with undefined where it may be absent. */
export interface Field<T> {
  readonly kind: FieldKind
  /** SQL of the value; absent: the column of the member's name in snake_case. */
  readonly sql?: string
  readonly isOptional?: true
  /** What the OpenAPI document says of it. */
  readonly about?: string
  /** The values of a choice. */
  readonly values?: readonly string[]
  /** The members of a record in a record. */
  readonly fields?: Fields
  /** Never there: it carries the type. */
  readonly type?: T
}

export type Fields = Readonly<Record<string, Field<unknown>>>

/** Any string. */
export const text: Field<string> = { kind: 'text' }
/** Strings, an array in JSON. */
export const texts: Field<readonly string[]> = { kind: 'texts' }
/** An instant. */
export const time: Field<Date> = { kind: 'time' }
/** A 64-bit integer; readers get its digits. */
export const int64: Field<bigint> = { kind: 'int64' }
/** A whole number from 0 that a double holds. */
export const whole: Field<number> = { kind: 'whole' }
/** Any number that a double holds. */
export const number: Field<number> = { kind: 'number' }
/** A UUID in lower case. */
export const uuid: Field<string> = { kind: 'uuid' }

/** One of these words. */
export function choice<const T extends string>(values: readonly T[]): Field<T> {
  return { kind: 'choice', values }
}

/** A word of a type that the schema of a response does not list. */
export function word<T extends string>(): Field<T> {
  return { kind: 'text' }
}

/** A record in a record. @param sql of an object in JSON with these members, none of which is an instant or an int64 */
export function nested<F extends Fields>(fields: F, sql: string): Field<Static<F>> {
  return { kind: 'record', fields, sql }
}

/** A value in JSON, of a type that the database does not check. */
export function json<T>(): Field<T> {
  return { kind: 'json' }
}

/** The field with its description for readers. */
export function about<T>(field: Field<T>, sentence: string): Field<T> {
  return { ...field, about: sentence }
}

/** The field where its value is not the column of its name. @param sql names no input */
export function from<T>(field: Field<T>, sql: string): Field<T> {
  return { ...field, sql }
}

/** The field where the database may have null: it is undefined then, and absent in a response. */
export function maybe<T>(field: Field<T>): Field<T | undefined> {
  return { ...(field as Field<T | undefined>), isOptional: true }
}

/** A record of these members. */
export type Static<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends Field<infer T> ? T : never
}

/** `previousSecretUntil` is `previous_secret_until` in the database and in a response. */
export type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${Snake<Rest>}`
    : `_${Lowercase<First>}${Snake<Rest>}`
  : Name

/** The name of a member in the database and in a response. */
export function snakeOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The names of a record's members in a response. */
export function shownNames<F extends Fields>(fields: F): readonly Snake<keyof F & string>[] {
  return Object.keys(fields).map(snakeOf) as Snake<keyof F & string>[]
}
