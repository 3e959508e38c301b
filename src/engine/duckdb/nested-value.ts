/**
 * Writes nested values of Parquet files as the table has them: fields by id, each under the name `f` and its id, missing
 * ones as NULL, promoted types cast. A map is the list of its entries, so that keys that a file repeats are no error. It
 * is needed because DuckDB finds nested fields by name and silently reads a missing one as NULL.
 */

import { quoteText } from '../../base/sql-text.ts'
import { fieldsIn, type IcebergType, type NestedField } from '../../core/iceberg-type.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import { engineCannotRead } from '../engine-error.ts'
import { needsNoCast, readsFrom, scalarType } from './column-type.ts'
import { elementOf, type SchemaNode } from './file-shape.ts'

/** The DuckDB type of a value; undefined for types that the engine cannot read. */
export function nestedType(type: IcebergType): string | undefined {
  if (typeof type === 'string') return scalarType(type)
  if (type.type === 'list') {
    const element = nestedType(type.element)
    return element && `${element}[]`
  }
  const fields = fieldsIn(type)
  const members = fields.map(({ fieldId, type: inner }) => {
    const sql = nestedType(inner)
    return sql && `${memberName(fieldId)} ${sql}`
  })
  if (fields.length === 0 || members.includes(undefined)) return undefined
  return `STRUCT(${members.join(', ')})${type.type === 'map' ? '[]' : ''}`
}

/** The name of a field in a value. */
function memberName(fieldId: number): string {
  return `f${fieldId}`
}

/**
 * A file's value as the table's.
 * @param sql the value in the file
 * @throws EngineError 0A000 or ReadFailure where it would be read wrongly
 */
export function nestedValue(type: IcebergType, node: SchemaNode, sql: string, depth = 0): string {
  if (node.repetition === 'REPEATED') throw otherType()
  if (typeof type === 'string') return scalarValue(type, node, sql)
  const each = `e${depth}`
  const inner = (of: IcebergType, child: SchemaNode, from: string) => nestedValue(of, child, from, depth + 1)
  if (type.type === 'list') {
    const element = elementOf(node)
    if (element === undefined) throw otherType()
    const value = inner(type.element, element, each)
    return value === each ? sql : `list_transform(${sql}, lambda ${each}: ${value})`
  }
  if (type.type === 'map') {
    const [key, value] = entryOf(node)
    const [own, other] = fieldsIn(type)
    if (own === undefined || other === undefined) throw otherType()
    const members = [
      [own, key, 'key'],
      [other, value, 'value'],
    ] as const
    const pairs = members.map(([field, child, name]) => {
      assertField(field, child)
      return `${memberName(field.fieldId)} := ${inner(field.type, child, `struct_extract(${each}, '${name}')`)}`
    })
    return `list_transform(map_entries(${sql}), lambda ${each}: struct_pack(${pairs.join(', ')}))`
  }
  if (!isStruct(node)) throw otherType()
  const members = fieldsIn(type).map((field) => {
    const child = childOf(node, field)
    const value = child === undefined ? absent(field) : inner(field.type, child, memberOf(sql, child))
    return `${memberName(field.fieldId)} := ${value}`
  })
  return `CASE WHEN ${sql} IS NOT NULL THEN struct_pack(${members.join(', ')}) END`
}

/**
 * A field of a struct, read without the rest of it.
 * @param path the fields on the way, the outermost first
 * @throws as {@link nestedValue}
 */
export function fieldValue(path: readonly NestedField[], node: SchemaNode, sql: string): string {
  let [at, value] = [node, sql]
  for (const [index, field] of path.entries()) {
    if (!isStruct(at)) throw otherType()
    const child = childOf(at, field)
    if (child === undefined) return absent(path.slice(index).find(hasNoNull) ?? path.at(-1) ?? field)
    ;[at, value] = [child, memberOf(value, child)]
  }
  const last = path.at(-1)
  return last === undefined ? value : nestedValue(last.type, at, value)
}

const hasNoNull = ({ required, defaults }: NestedField) => required || defaults === true

function scalarValue(type: string, { type: fileType, children }: SchemaNode, sql: string): string {
  if (fileType === undefined || children.length > 0 || !readsFrom(type, fileType)) throw otherType()
  return needsNoCast(type, fileType) ? sql : `CAST(${sql} AS ${scalarType(type)})`
}

function isStruct({ isList, isMap, repetition, children }: SchemaNode): boolean {
  return !isList && !isMap && repetition !== 'REPEATED' && children.length > 0
}

/** The key and value of a map: a group with one repeated group of two. */
function entryOf({ isMap, children }: SchemaNode): readonly [SchemaNode, SchemaNode] {
  const [entries, ...others] = children
  const [key, value, ...more] = entries?.children ?? []
  if (!isMap || others.length > 0 || entries?.repetition !== 'REPEATED' || more.length > 0) throw otherType()
  if (key === undefined || value === undefined) throw otherType()
  return [key, value]
}

/** The child that holds a field, by its id. DuckDB ignores case in names. */
function childOf({ children }: SchemaNode, { fieldId }: NestedField): SchemaNode | undefined {
  if (new Set(children.map(({ name }) => name.toLowerCase())).size < children.length)
    throw engineCannotRead('A data file with two nested fields that differ only in case')
  if (children.some((child) => child.fieldId === undefined))
    throw engineCannotRead('A data file with nested fields without ids')
  const found = children.filter((child) => child.fieldId === fieldId)
  if (found.length > 1) throw new ReadFailure('a data file has two fields of one id')
  return found[0]
}

function assertField({ fieldId }: NestedField, node: SchemaNode): void {
  if (node.fieldId === undefined) throw engineCannotRead('A data file with nested fields without ids')
  if (node.fieldId !== fieldId) throw new ReadFailure('a data file has another field in the place of a map')
}

function memberOf(sql: string, { name }: SchemaNode): string {
  return `struct_extract(${sql}, ${quoteText(name)})`
}

function absent({ type, required, defaults }: NestedField): string {
  if (defaults === true) throw engineCannotRead('A data file without a nested field that has a default')
  if (required) throw new ReadFailure('a data file lacks a required nested field')
  return `CAST(NULL AS ${nestedType(type)})`
}

const otherType = () => engineCannotRead('A data file with a column of another type than the table has')
