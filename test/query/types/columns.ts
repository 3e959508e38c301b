/**
 * The columns of the matrix: one of each type with values at its edges, which both sides read by the same statement. Types
 * that no lake has are made by a CASE over literals.
 */

import type { IcebergType } from '../../../src/core/iceberg-type.ts'

export interface EdgeColumn {
  readonly name: string
  /** PostgreSQL's name of the type. */
  readonly type: string
  /** Undefined where no lake has the type. */
  readonly lake?: IcebergType
  readonly duckdb?: string
  /** Texts that PostgreSQL reads as the type. */
  readonly values: readonly (string | null)[]
}

/** Rows of the table; shorter lists of values end in NULLs. */
export const rowCount = 9

const col = (
  name: string,
  type: string,
  lake: IcebergType | undefined,
  values: readonly (string | null)[],
  duckdb = type,
): EdgeColumn => ({ name, type, ...(lake !== undefined && { lake, duckdb }), values })

export const edgeColumns: readonly EdgeColumn[] = [
  col('bool', 'bool', 'boolean', ['t', 'f']),
  col('int2', 'int2', undefined, ['0', '1', '-7', '32767', '-32768']),
  col('int4', 'int4', 'int', ['0', '1', '-7', '5', '2147483647', '-2147483648']),
  col('int8', 'int8', 'long', ['0', '1', '-7', '5', '9223372036854775807', '-9223372036854775808']),
  col('n12', 'numeric(12,2)', 'decimal(12,2)', [
    '0.00',
    '1.50',
    '-0.01',
    '7.00',
    '9999999999.99',
    '123456.78',
  ]),
  col('n18', 'numeric(18,8)', 'decimal(18,8)', [
    '0.00000000',
    '1.23456789',
    '-0.00000001',
    '9999999999.99999999',
    '2.00000000',
  ]),
  col('n38', 'numeric(38,10)', 'decimal(38,10)', [
    '0.0000000000',
    '1.0000000001',
    '-1234567890123456789012345678.0123456789',
    '2.5000000000',
    '0.0000000001',
  ]),
  col('n0', 'numeric(38,0)', 'decimal(38,0)', [
    '0',
    '1',
    '7',
    '99999999999999999999999999999999999999',
    '-3',
  ]),
  col(
    'float4',
    'float4',
    'float',
    ['0', '-0', '0.1', '1.5', '-2.5', '3.4028235e38', 'NaN', '-Infinity'],
    'FLOAT',
  ),
  col(
    'float8',
    'float8',
    'double',
    ['0', '-0', '0.1', '0.145', '-2.5', '1e308', 'NaN', '-Infinity'],
    'DOUBLE',
  ),
  col('text', 'text', 'string', ['', '1', 'abc', 'ÄÖ 𝒳é', ' 2020-02-29 ', '-1.5', 'true', '%_\\'], 'VARCHAR'),
  col('varchar', 'varchar', undefined, ['', '1', 'abc', 'ÄÖ 𝒳é', '12:00', 'f']),
  col('date', 'date', 'date', ['0001-01-01', '9999-12-31', '1970-01-01', '2024-02-29', '1999-12-31']),
  col('time', 'time', 'time', ['00:00:00', '23:59:59.999999', '12:30:00']),
  col('timestamp', 'timestamp', 'timestamp', [
    '0001-01-01 00:00:00',
    '9999-12-31 23:59:59.999999',
    '1970-01-01 00:00:00',
    '2024-02-29 12:34:56.789',
  ]),
  col('timestamptz', 'timestamptz', 'timestamptz', [
    '0001-01-01 00:00:00+00',
    '9999-12-31 23:59:59.999999+00',
    '1970-01-01 00:00:00+00',
    '2024-02-29 12:34:56.789+00',
  ]),
  col('interval', 'interval', undefined, [
    '0',
    '1 month',
    '-3 days',
    '1 year 2 mons 3 days 04:05:06.789',
    '-100 years',
    '23:59:59.999999',
  ]),
  col('uuid', 'uuid', 'uuid', [
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    '11111111-2222-3333-4444-555555555555',
  ]),
  col('bytea', 'bytea', 'binary', ['\\x', '\\x00', '\\x616263', '\\xff'], 'BLOB'),
  col('json', 'json', undefined, ['{"a": 1, "b": [1, 2]}', '[1, 2, null]', '"x"', 'null', '1.50', 'true']),
  col('jsonb', 'jsonb', undefined, ['{"a": 1, "b": [1, 2]}', '[1, 2, null]', '"x"', 'null', '1.50', 'true']),
  col(
    'int4s',
    'int4[]',
    { type: 'list', element: 'int' },
    ['{}', '{1}', '{1,NULL,3}', '{-7,1}'],
    'INTEGER[]',
  ),
  col(
    'texts',
    'text[]',
    { type: 'list', element: 'string' },
    ['{}', '{1}', '{abc,NULL,""}', '{"a b",true}'],
    'VARCHAR[]',
  ),
  col(
    'n12s',
    'numeric(12,2)[]',
    { type: 'list', element: 'decimal(12,2)' },
    ['{}', '{1.50}', '{0.00,NULL,-0.01}'],
    'DECIMAL(12,2)[]',
  ),
]

const quoted = (text: string | null): string => (text === null ? 'NULL' : `'${text.replaceAll("'", "''")}'`)

/** The value of a row, from 1. */
export const valueAt = ({ values }: EdgeColumn, row: number): string | null => values[row - 1] ?? null

/** A table of one column, by an alias of which statements read it. */
export function relationOf(column: EdgeColumn, alias: string): string {
  if (column.lake !== undefined) return `(SELECT id, c_${column.name} AS v FROM edge.t) ${alias}`
  const whens = column.values.map((value, index) => `WHEN ${index + 1} THEN ${quoted(value)}::${column.type}`)
  return `(SELECT id, CASE id ${whens.join(' ')} END AS v FROM edge.t) ${alias}`
}

const lakeColumns = edgeColumns.filter(({ lake }) => lake !== undefined)

function rows(typeOf: (column: EdgeColumn) => string): string {
  return Array.from({ length: rowCount }, (_, index) => {
    const cells = lakeColumns.map((column) => {
      const value = valueAt(column, index + 1)
      return value === null ? 'NULL' : literalOf(value, typeOf(column))
    })
    return `(${[String(index + 1), ...cells].join(', ')})`
  }).join(', ')
}

/** PostgreSQL's text of an array or of bytes as DuckDB reads it. */
function literalOf(value: string, type: string): string {
  if (type === 'BLOB') return `unhex('${value.slice(2)}')`
  if (type.endsWith('[]') && type === type.toUpperCase()) {
    const inner = value.slice(1, -1)
    const items =
      inner === ''
        ? []
        : inner.split(',').map((item) => (item === 'NULL' ? 'NULL' : `'${item.replaceAll('"', '')}'`))
    return `[${items.join(', ')}]::${type}`
  }
  return `${quoted(value)}::${type}`
}

const definitions = (typeOf: (column: EdgeColumn) => string): string =>
  ['id int', ...lakeColumns.map((column) => `c_${column.name} ${typeOf(column)}`)].join(', ')

export const postgresEdges: readonly string[] = [
  'CREATE SCHEMA edge',
  `CREATE TABLE edge.t (${definitions(({ type }) => type)})`,
  `INSERT INTO edge.t VALUES ${rows(({ type }) => type)}`,
]

const duckdbType = ({ duckdb = '' }: EdgeColumn): string => duckdb
export const duckdbEdges: readonly string[] = [
  `CREATE TABLE edges (${definitions(duckdbType)})`,
  `INSERT INTO edges VALUES ${rows(duckdbType)}`,
]

/** The table for the compiler. */
export const edgeTable = {
  ref: { namespace: ['edge'], name: 't' },
  schemaName: 'edge',
  tableName: 't',
  relation: { duckdb: ['main', 'edges'], trino: ['iceberg', 'edge', 't'] },
  columns: [
    { name: 'id', type: 'int' as const, required: true, masks: [], fieldId: 1 },
    ...lakeColumns.map(({ name, lake }, index) => ({
      name: `c_${name}`,
      type: lake as IcebergType,
      required: false,
      masks: [],
      fieldId: index + 2,
    })),
  ],
  rowFilters: [],
  contract: { id: 'c1', version: 1 },
}
