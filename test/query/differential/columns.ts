/** The columns of the fixtures: as in their files, as in a twin, and as in statements. */

import type { Field, FieldType } from '../../../demo/lake/table-fields.ts'
import type { SqlType } from '../../../src/core/sql-type.ts'

export interface FixtureColumn {
  readonly name: string
  readonly type: FieldType
  readonly sql: SqlType
  /** Of the twin, where DuckDB's files have no such type; its values are those that are read. */
  readonly twin?: { readonly type: FieldType; readonly cast: string }
}

const list = (name: string, type: FieldType, sql: SqlType): FixtureColumn => ({
  name,
  type: { list: type, elementId: 0 },
  sql,
})
const plain = (name: string, type: FieldType, sql: SqlType): FixtureColumn => ({ name, type, sql })

/** In the order of make_files.py, which numbers fields from 1, and elements of lists 100 higher. */
export const columns: readonly FixtureColumn[] = [
  plain('id', 'long', 'int8'),
  plain('region', 'string', 'text'),
  plain('tier', 'int', 'int4'),
  ...['name', 'digits', 'day_text', 'doc', 'pattern', 'code'].map((name) => plain(name, 'string', 'text')),
  plain('flag', 'boolean', 'bool'),
  plain('n4', 'int', 'int4'),
  plain('n8', 'long', 'int8'),
  plain('f4', 'float', 'float4'),
  plain('f8', 'double', 'float8'),
  plain('amount', 'decimal(10,2)', 'numeric'),
  plain('whole', 'decimal(18,0)', 'numeric'),
  plain('big', 'decimal(38,10)', 'numeric'),
  plain('day', 'date', 'date'),
  plain('clock', 'time', 'time'),
  plain('ts', 'timestamp', 'timestamp'),
  plain('tz', 'timestamptz', 'timestamptz'),
  {
    ...plain('ts_ns', 'timestamp_ns', 'timestamp'),
    twin: { type: 'timestamp', cast: 'TIMESTAMP' },
  },
  {
    ...plain('tz_ns', 'timestamptz_ns', 'timestamptz'),
    twin: { type: 'timestamptz', cast: 'TIMESTAMPTZ' },
  },
  plain('uid', 'uuid', 'uuid'),
  plain('bytes', 'binary', 'bytea'),
  { ...plain('fix', 'fixed[4]', 'bytea'), twin: { type: 'binary', cast: 'BLOB' } },
  list('tags', 'string', 'text[]'),
  list('ints', 'int', 'int4[]'),
  list('longs', 'long', 'int8[]'),
  list('reals', 'double', 'float8[]'),
  list('decs', 'decimal(10,2)', 'numeric[]'),
  list('days', 'date', 'date[]'),
  list('times', 'timestamp', 'timestamp[]'),
  list('zones', 'timestamptz', 'timestamptz[]'),
]

/** What Spark has no type for is not in its file: such a column is NULL in all rows. */
const sparkHasNot = new Set(['clock', 'ts_ns', 'tz_ns', 'uid', 'fix'])

export function isInFileOf(writer: Writer, { name }: FixtureColumn): boolean {
  return writer !== 'spark' || !sparkHasNot.has(name)
}

/** Who numbered the fields: make_files.py, Iceberg for Spark, or the maker of twins. */
export type Writer = 'pyarrow' | 'spark' | 'twin'

/** Iceberg's fields of a table with these columns. */
export function fieldsOf(writer: Writer): readonly Field[] {
  let missing = 200
  const own = columns.filter((column) => isInFileOf(writer, column))
  const lists = own.filter(({ type }) => isList(type))
  return columns.map((column) => {
    const { name, twin } = column
    const type = writer === 'twin' && twin !== undefined ? twin.type : column.type
    // Iceberg numbers the columns of a new table first, and elements of lists then.
    const id = isInFileOf(writer, column) ? own.indexOf(column) + 1 : ++missing
    const elementId = writer === 'spark' ? own.length + 1 + lists.indexOf(column) : 100 + id
    return { id, name, type: isList(type) ? { ...type, elementId } : type }
  })
}

export function isList(type: FieldType): type is Extract<FieldType, { list: FieldType }> {
  return typeof type === 'object' && 'list' in type
}
