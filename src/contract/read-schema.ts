/** Reads the schema that a contract declares from a request: JSON Schema first, then what it cannot check. */

import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Fault } from '../base/fault.ts'
import {
  type ContractSchema,
  foreignKeysOf,
  type SchemaProperty,
  type SchemaRelationship,
} from '../core/contract-schema.ts'
import { isPathIdentifier, type TableRef } from '../core/table-ref.ts'
import { described, flag, list, maybe, nonEmpty, object, oneOf, text } from '../http/schemas.ts'
import { limits } from '../limits.ts'

/** Bytes of one column’s name. */
const contractNameBytesMax = 1024

const description = maybe(described(text, `At most ${limits.contractDescriptionBytesMax} bytes`))
const foreignKey = maybe(oneOf(['foreignKey'], { default: 'foreignKey' }))
const reference = described(nonEmpty, '`table.column` or `namespace.table.column`')
const property = object({
  name: described(nonEmpty, 'a column’s name'),
  description,
  primaryKey: maybe(flag),
  primaryKeyPosition: maybe(Type.Integer({ minimum: -1, default: -1 })),
  unique: maybe(flag),
  relationships: maybe(
    list(object({ type: foreignKey, to: reference }), { maxItems: limits.contractRelationshipsMax }),
  ),
})
const columns = Type.Unsafe<string | readonly string[]>({
  anyOf: [reference, list(reference, { minItems: 1, maxItems: limits.contractKeyColumnsMax })],
})
const relationship = object({
  type: foreignKey,
  from: described(columns, 'Columns of the table itself'),
  to: described(columns, 'As many columns of one table'),
})

/** Members that declare a contract's schema: the schema object of Open Data Contract Standard 3.1, unrenamed. */
export const schemaMembers = {
  description,
  properties: maybe(list(property, { maxItems: limits.catalogColumnsMax })),
  relationships: maybe(list(relationship, { maxItems: limits.contractRelationshipsMax })),
} as const

const declared = object(schemaMembers)
/** A schema as a request declares it. */
type DeclaredInput = Static<typeof declared>

/**
 * Reads the schema that a request declares, without empty members.
 * @throws Fault `bad_request` that names the malformed member
 */
export function readContractSchema(input: DeclaredInput, table: TableRef): ContractSchema {
  const properties = (input.properties ?? []).map(readProperty)
  const relationships = (input.relationships ?? []).map(readRelationship)
  const schema = {
    ...descriptionOf(input),
    ...(properties.length > 0 && { properties }),
    ...(relationships.length > 0 && { relationships }),
  }
  const names = properties.map(({ name }) => name)
  if (new Set(names).size < names.length) throw bad('`properties` must name each column once')
  checkPositions(properties)
  checkForeignKeys(schema, table)
  return schema
}

function readProperty(input: Static<typeof property>): SchemaProperty {
  const { name, primaryKey = false, primaryKeyPosition = -1, unique = false, relationships = [] } = input
  if (primaryKeyPosition === 0) throw bad('`primaryKeyPosition` must be a whole number from 1')
  // The standard's default, -1, means no position.
  const hasPosition = primaryKeyPosition > 0
  if (hasPosition && !primaryKey) throw bad('`primaryKeyPosition` needs `primaryKey`')
  return {
    name: bounded(name, 'name', contractNameBytesMax),
    ...descriptionOf(input),
    ...(primaryKey && { primaryKey }),
    ...(hasPosition && { primaryKeyPosition }),
    ...(unique && { unique }),
    ...(relationships.length > 0 && {
      relationships: relationships.map(({ to }) => ({ type: 'foreignKey' as const, to })),
    }),
  }
}

function readRelationship({ from, to }: Static<typeof relationship>): SchemaRelationship {
  const ends = (value: string | readonly string[]) => (typeof value === 'string' ? [value] : value)
  return { type: 'foreignKey', from: ends(from), to: ends(to) }
}

function checkPositions(properties: readonly SchemaProperty[]): void {
  const key = properties.filter(({ primaryKey }) => primaryKey)
  if (key.length > limits.contractKeyColumnsMax)
    throw bad(`a primary key must have at most ${limits.contractKeyColumnsMax} columns`)
  const positions = key.flatMap(({ primaryKeyPosition: position }) =>
    position === undefined ? [] : [position],
  )
  if (positions.length > 0 && new Set(positions).size < key.length)
    throw bad(
      'each column of the primary key must have a `primaryKeyPosition` of its own, or none of them one',
    )
}

function checkForeignKeys(schema: ContractSchema, table: TableRef): void {
  try {
    const keys = foreignKeysOf(schema, table)
    if (keys.length > limits.contractRelationshipsMax)
      throw bad(`a table must have at most ${limits.contractRelationshipsMax} relationships`)
    for (const { columns: own, table: target, referencedColumns } of keys) {
      if (![...target.namespace, target.name].every(isPathIdentifier))
        throw bad('namespaces and tables must hold letters, digits, _ and - only')
      for (const name of [...own, ...referencedColumns]) bounded(name, 'to', contractNameBytesMax)
    }
  } catch (thrown) {
    throw thrown instanceof RangeError ? bad(thrown.message) : thrown
  }
}

function descriptionOf({ description: given = '' }: { readonly description?: string | undefined }) {
  if (given === '') return {}
  return { description: bounded(given, 'description', limits.contractDescriptionBytesMax) }
}

/** PostgreSQL must be able to store the text, because `pg_catalog` shows it as a comment. */
function bounded(given: string, name: string, bytesMax: number): string {
  if (Buffer.byteLength(given) > bytesMax) throw bad(`\`${name}\` must be at most ${bytesMax} bytes`)
  if (!given.isWellFormed() || given.includes('\0'))
    throw bad(`\`${name}\` must not hold U+0000 or unpaired surrogates`)
  return given
}

function bad(reason: string): Fault {
  return new Fault('bad_request', `The contract is malformed: ${reason}.`)
}
