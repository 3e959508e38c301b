/** Shows records that are declared (core/record.ts): the schema of a response, and a record as it is answered. */

import type { TObject, TOptional, TSchema, TUnsafe } from '@sinclair/typebox'
import { type Field, type Fields, type Snake, type Static, snakeOf } from '../core/record.ts'
import {
  anyObject,
  described,
  list,
  maybe,
  number,
  object,
  oneOf,
  text,
  time,
  uuid,
  wholeNumber,
} from './schemas.ts'

/** 64-bit integers are answered as digits. */
type Shown<T> = T extends bigint ? string : T

type MemberSchemas<F extends Fields> = {
  -readonly [Name in keyof F & string as Snake<Name>]: F[Name] extends Field<infer T>
    ? undefined extends T
      ? TOptional<TUnsafe<Shown<T>>>
      : TUnsafe<Shown<T>>
    : never
}

const schemas = {
  text,
  time,
  number,
  uuid,
  texts: list(text),
  whole: wholeNumber,
  json: anyObject,
  int64: described(text, 'a 64-bit number'),
} as const

function plainSchema({ kind, values = [], fields = {} }: Field<unknown>): TSchema {
  if (kind === 'choice') return oneOf(values)
  return kind === 'record' ? schemaOf(fields) : schemas[kind]
}

function schemaOfField(field: Field<unknown>): TSchema {
  const { about, isOptional } = field
  const schema = plainSchema(field)
  const told = about === undefined ? schema : described(schema, about)
  return isOptional ? maybe(told) : told
}

/** The members of a record's schema, to be mixed with others. */
export function schemaMembers<F extends Fields>(fields: F): MemberSchemas<F> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [snakeOf(name), schemaOfField(field)]),
  ) as MemberSchemas<F>
}

/** The schema of a record in a response. */
export function schemaOf<F extends Fields>(fields: F): TObject<MemberSchemas<F>> {
  return object(schemaMembers(fields)) as unknown as TObject<MemberSchemas<F>>
}

type View<F extends Fields> = {
  readonly [Name in keyof F & string as Snake<Name>]: F[Name] extends Field<infer T> ? Shown<T> : never
}

/** How records are answered: each member under its name in snake_case. */
export function viewOf<F extends Fields>(fields: F): (item: Static<F>) => View<F> {
  const names = Object.keys(fields).map((name) => [name, snakeOf(name)] as const)
  return (item) =>
    Object.fromEntries(
      names.map(([name, shown]) => {
        const value = item[name]
        return [shown, typeof value === 'bigint' ? String(value) : value]
      }),
    ) as View<F>
}
