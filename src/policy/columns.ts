/**
 * What the functions `manifest.column_type` and the like answer with: one column of a table's current schema, or all. A
 * name with dots is a path through structs, unless a top-level column has that name.
 */

import {
  type CelFunc,
  type CelList,
  type CelMap,
  CelScalar,
  type CelValue,
  celFunc,
  celList,
  celMap,
  isCelList,
  isCelMap,
  listType,
  mapType,
} from '@bufbuild/cel'
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

/** The field id of a column; undefined where there is none. */
export function columnId(table: CelMap, name: string): unknown {
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

/** All columns of the current schema, those in structs, lists and maps included, each with its path and whole type. */
function columns(table: CelMap): CelList {
  const schema = table.get('schema')
  if (!isCelMap(schema)) throw new Error('the value is no table with a schema')
  const found: CelMap[] = []
  addFields(found, schema, '')
  return celList(found)
}

function addFields(found: CelMap[], struct: CelMap, prefix: string): void {
  const fields = struct.get('fields')
  if (!isCelList(fields)) throw new Error('the schema has no fields')
  for (const field of fields) {
    charge(1)
    if (!isCelMap(field)) throw new Error('a field of the schema is no object')
    const path = `${prefix}${field.get('name')}`
    const type = field.get('type')
    const doc = field.get('doc')
    found.push(
      celMap(
        new Map<string, CelValue>([
          ['path', path],
          ['name', String(field.get('name'))],
          ['id', field.get('id') ?? null],
          ['type', typeText(type)],
          ['required', field.get('required') === true],
          ['doc', typeof doc === 'string' ? doc : ''],
        ]),
      ),
    )
    addNested(found, type, path)
  }
}

/** Adds the columns that a type holds. The specification names the parts of lists and maps `element`, `key` and `value`. */
function addNested(found: CelMap[], type: CelValue | undefined, path: string): void {
  if (!isCelMap(type)) return
  charge(1)
  if (type.get('type') === 'struct') addFields(found, type, `${path}.`)
  for (const part of parts) addNested(found, type.get(part), `${path}.${part}`)
}

const parts = ['element', 'key', 'value'] as const

/** A type as text, without spaces: `decimal(10,2)`, `struct`, `list<int>`, `map<string,struct>`. */
function typeText(type: CelValue | undefined): string {
  charge(1)
  if (typeof type === 'string') return type.replaceAll(' ', '')
  if (!isCelMap(type)) throw new Error('a column has no type')
  const inner = parts.map((part) => type.get(part)).filter((one) => one !== undefined)
  const text = String(type.get('type'))
  return inner.length === 0 ? text : `${text}<${inner.map(typeText).join(',')}>`
}

/** The functions on columns. */
export const columnFunctions: readonly CelFunc[] = [
  celFunc('manifest.column_type', [MAP, STRING], STRING, columnType),
  celFunc('manifest.columns', [MAP], listType(MAP), columns),
  celFunc('manifest.is_required', [MAP, STRING], BOOL, isRequired),
  celFunc('manifest.is_identifier', [MAP, STRING], BOOL, isIdentifier),
  celFunc('manifest.is_same_column', [MAP, MAP, STRING], BOOL, isSameColumn),
]
