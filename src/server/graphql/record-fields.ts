/**
 * Exposes members of a record that is declared (core/record.ts) as fields of a GraphQL type: their types, what may be
 * null and their descriptions come from the declaration. Members that depend on the caller's sight, and links, are
 * written out by the type.
 */

import type { Field, Fields, Static } from '../../core/record.ts'
import type { Builder } from './builder.ts'

type SchemaTypesOf<B> = B extends PothosSchemaTypes.SchemaBuilder<infer Types> ? Types : never
type Exposer<Record> = PothosSchemaTypes.ObjectFieldBuilder<SchemaTypesOf<Builder>, Record>

/** The members that GraphQL shows as they are: no records in records, no JSON. */
type Plain<F extends Fields> = {
  [Name in keyof F & string]: F[Name] extends Field<string | number | bigint | Date | undefined>
    ? Name
    : never
}[keyof F & string]

/** The fields of these members. */
export function recordFields<F extends Fields, const Name extends Plain<F>>(
  t: Exposer<Static<F>>,
  fields: F,
  names: readonly Name[],
) {
  const exposed = names.map((name) => [name, exposedField(t, fields[name] as Field<unknown>, name)] as const)
  return Object.fromEntries(exposed) as Record<Name, ReturnType<typeof exposedField>>
}

function exposedField<Record>(t: Exposer<Record>, { kind, isOptional, about }: Field<unknown>, name: string) {
  const options = { nullable: isOptional === true, ...(about !== undefined && { description: about }) }
  const memberOf = (record: Record) => record[name as keyof Record] as unknown
  if (kind === 'time')
    return t.field({ type: 'DateTime', ...options, resolve: (record) => memberOf(record) as Date })
  if (kind === 'whole') return t.int({ ...options, resolve: (record) => memberOf(record) as number })
  if (kind === 'number') return t.float({ ...options, resolve: (record) => memberOf(record) as number })
  // A 64-bit integer is answered as digits, as in JSON.
  return t.string({ ...options, resolve: (record) => toText(memberOf(record)) as string })
}

const toText = (value: unknown) => (typeof value === 'bigint' ? String(value) : value)
