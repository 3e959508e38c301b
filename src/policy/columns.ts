/**
 * What the functions `manifest.column_type` and the like answer with: one column of a table's current schema. A name
 * with dots is a path through structs, unless a top-level column has that name.
 */

import { type CelFunc, type CelMap, CelScalar, celFunc, isCelList, isCelMap, mapType } from '@bufbuild/cel'
import { columnsKey } from '../core/policy.ts'
import { charge } from './budget.ts'

const { BOOL, DYN, STRING } = CelScalar
const MAP = mapType(DYN, DYN)

/** The field of a path; undefined where the schema has none. */
function columnOf(table: CelMap, path: string): CelMap | undefined {
  charge(1)
  const columns = table.get(columnsKey)
  if (!isCelMap(columns)) throw new Error('the value is no table with a schema')
  const field = columns.get(path)
  return isCelMap(field) ? field : undefined
}

function columnType(table: CelMap, name: string): string {
  const field = columnOf(table, name)
  if (field === undefined) return ''
  const type = field.get('type')
  const text = isCelMap(type) ? type.get('type') : type
  if (typeof text !== 'string') throw new Error(`the column ${name} has no type`)
  // Writers differ in `decimal(10,2)` and `decimal(10, 2)`.
  return text.replaceAll(' ', '')
}

function columnId(table: CelMap, name: string): unknown {
  return columnOf(table, name)?.get('id')
}

function isRequired(table: CelMap, name: string): boolean {
  return columnOf(table, name)?.get('required') === true
}

function isIdentifier(table: CelMap, name: string): boolean {
  const id = columnId(table, name)
  const schema = table.get('schema')
  const ids = isCelMap(schema) ? schema.get('identifier-field-ids') : undefined
  if (id === undefined || !isCelList(ids)) return false
  for (const one of ids) {
    charge(1)
    if (one === id) return true
  }
  return false
}

/** False only where both have the name, for columns of different ids: the column was dropped and added again. */
function isSameColumn(before: CelMap, after: CelMap, name: string): boolean {
  const [was, is] = [columnId(before, name), columnId(after, name)]
  return was === undefined || is === undefined || was === is
}

/** The functions on single columns. */
export const columnFunctions: readonly CelFunc[] = [
  celFunc('manifest.column_type', [MAP, STRING], STRING, columnType),
  celFunc('manifest.is_required', [MAP, STRING], BOOL, isRequired),
  celFunc('manifest.is_identifier', [MAP, STRING], BOOL, isIdentifier),
  celFunc('manifest.is_same_column', [MAP, MAP, STRING], BOOL, isSameColumn),
]
