/** What a contract declares of its table, read from a request: shape and bounds, before the graph is asked. */

import { Fault } from '../base/fault.ts'
import { isJsonObject, type JsonValue } from '../base/json.ts'
import {
  type ContractSchema,
  foreignKeysOf,
  type SchemaProperty,
  type SchemaRelationship,
} from '../core/contract-schema.ts'
import { isPathIdentifier, type TableRef } from '../core/table-ref.ts'
import { Fields } from '../http/fields.ts'
import { limits } from '../limits.ts'

/** Members of a contract that declare its schema. */
export const schemaMembers = ['description', 'properties', 'relationships'] as const

/**
 * The schema that a body declares, without what says nothing; empty where it declares none.
 * @throws Fault `bad_request` naming what is malformed
 */
export function readContractSchema(fields: Fields, table: TableRef): ContractSchema {
  const properties = objects(fields, 'properties', limits.catalogColumnsMax).map(readProperty)
  const relationships = objects(fields, 'relationships', limits.contractRelationshipsMax).map(
    readRelationship,
  )
  const schema = {
    ...descriptionOf(fields),
    ...(properties.length > 0 && { properties }),
    ...(relationships.length > 0 && { relationships }),
  }
  const names = properties.map(({ name }) => name)
  if (new Set(names).size < names.length) throw bad('`properties` must name each column once')
  checkPositions(properties)
  checkForeignKeys(schema, table)
  return schema
}

function readProperty(fields: Fields): SchemaProperty {
  fields.assertOnly('name', 'description', 'primaryKey', 'primaryKeyPosition', 'relationships')
  const relationships = objects(fields, 'relationships', limits.contractRelationshipsMax).map((one) => {
    one.assertOnly('type', 'to')
    return { type: typeOf(one), to: one.text('to') }
  })
  const primaryKey = fields.object.get('primaryKey') ?? false
  if (typeof primaryKey !== 'boolean') throw bad('`primaryKey` must be true or false')
  const position = positionOf(fields)
  if (position !== undefined && !primaryKey) throw bad('`primaryKeyPosition` needs `primaryKey`')
  return {
    name: bounded(fields.text('name'), 'name', limits.contractNameBytesMax),
    ...descriptionOf(fields),
    ...(primaryKey && { primaryKey }),
    ...(position !== undefined && { primaryKeyPosition: position }),
    ...(relationships.length > 0 && { relationships }),
  }
}

function readRelationship(fields: Fields): SchemaRelationship {
  fields.assertOnly('type', 'from', 'to')
  const ends = (name: string) => {
    const value = fields.object.get(name)
    const texts = typeof value === 'string' ? [value] : fields.texts(name)
    if (texts.length === 0 || texts.length > limits.contractKeyColumnsMax)
      throw bad(`\`${name}\` must name 1 to ${limits.contractKeyColumnsMax} columns`)
    return texts
  }
  return { type: typeOf(fields), from: ends('from'), to: ends('to') }
}

function typeOf(fields: Fields): 'foreignKey' {
  if ((fields.optionalText('type') ?? 'foreignKey') !== 'foreignKey')
    throw bad('the `type` of a relationship must be foreignKey')
  return 'foreignKey'
}

/** The standard's default, -1, is as none. */
function positionOf(fields: Fields): number | undefined {
  const value = fields.object.get('primaryKeyPosition') ?? -1
  const position = typeof value === 'number' || typeof value === 'bigint' ? Number(value) : Number.NaN
  if (position === -1) return undefined
  if (!Number.isSafeInteger(position) || position < 1)
    throw bad('`primaryKeyPosition` must be a whole number from 1')
  return position
}

function checkPositions(properties: readonly SchemaProperty[]): void {
  const key = properties.filter(({ primaryKey }) => primaryKey)
  if (key.length > limits.contractKeyColumnsMax)
    throw bad(`a primary key has at most ${limits.contractKeyColumnsMax} columns`)
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
      throw bad(`a table has at most ${limits.contractRelationshipsMax} relationships`)
    for (const { columns, table: target, referencedColumns } of keys) {
      if (![...target.namespace, target.name].every(isPathIdentifier))
        throw bad('namespaces and tables hold letters, digits, _ and - only')
      for (const name of [...columns, ...referencedColumns]) bounded(name, 'to', limits.contractNameBytesMax)
    }
  } catch (thrown) {
    throw thrown instanceof RangeError ? bad(thrown.message) : thrown
  }
}

function descriptionOf(fields: Fields): { readonly description?: string } {
  const description = fields.optionalText('description') ?? ''
  if (description === '') return {}
  return { description: bounded(description, 'description', limits.contractDescriptionBytesMax) }
}

/** As PostgreSQL holds text: a comment of the catalog comes from here. */
function bounded(text: string, name: string, bytesMax: number): string {
  if (Buffer.byteLength(text) > bytesMax) throw bad(`\`${name}\` is at most ${bytesMax} bytes`)
  if (!text.isWellFormed() || text.includes('\0')) throw bad(`\`${name}\` holds what is no text`)
  return text
}

function objects(fields: Fields, name: string, countMax: number): readonly Fields[] {
  const value: JsonValue = fields.object.get(name) ?? []
  if (!Array.isArray(value)) throw bad(`\`${name}\` must be an array of objects`)
  if (value.length > countMax) throw bad(`\`${name}\` holds at most ${countMax}`)
  return value.map((item: JsonValue) => {
    if (!isJsonObject(item)) throw bad(`\`${name}\` must be an array of objects`)
    return new Fields(item)
  })
}

function bad(reason: string): Fault {
  return new Fault('bad_request', `The contract is malformed: ${reason}.`)
}
