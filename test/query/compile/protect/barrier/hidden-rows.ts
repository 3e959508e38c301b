/**
 * Writes pairs of Parquet files that differ in hidden rows only: harmless values in one, values on which functions
 * fail in the other. Values repeat, so that they are written as dictionaries.
 */

import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { quoteText } from '../../../../../src/base/sql-text.ts'
import type { GovernedTable } from '../../../../../src/core/governed-table.ts'
import type { IcebergType } from '../../../../../src/core/iceberg-type.ts'
import type { SqlType } from '../../../../../src/core/sql-type.ts'

export interface HiddenColumn {
  readonly name: string
  readonly iceberg: IcebergType
  readonly type: SqlType
  /** SQL of values that everybody may see. */
  readonly visible: readonly string[]
  /** SQL of values that make some function fail. */
  readonly hostile: readonly string[]
}

const texts = [
  `'\\'`,
  `'a\\'`,
  `'SECRET'`,
  `''`,
  `'%'`,
  `'['`,
  `'('`,
  `'not a number'`,
  `'1e999'`,
  `'9999999999999999999999'`,
  'chr(0)',
  `'{"a": '`,
  `repeat('x', 3000)`,
  `'Infinity'`,
  `'2020-13-45'`,
]
const dates = [`DATE '5881580-07-10'`, `DATE '5877642-06-25 (BC)'`, `DATE 'infinity'`, `DATE '-infinity'`]
const stamps = [
  `make_timestamp(9223372036854775806)`,
  `make_timestamp(-9223372022400000000)`,
  `TIMESTAMP 'infinity'`,
  `TIMESTAMP '-infinity'`,
]
const instants = stamps.map((each) =>
  each.replace('make_timestamp', 'make_timestamptz').replace('TIMESTAMP ', 'TIMESTAMPTZ '),
)
const list = (values: readonly string[]) => values.map((each) => `[${each}]`)

const column = (
  name: string,
  iceberg: IcebergType,
  type: SqlType,
  visible: readonly string[],
  hostile: readonly string[],
): HiddenColumn => ({ name, iceberg, type, visible, hostile })
const listOf = (element: IcebergType): IcebergType =>
  ({ type: 'list', 'element-id': 900, element, 'element-required': false }) as unknown as IcebergType

const scalars: readonly HiddenColumn[] = [
  column('b', 'boolean', 'bool', ['true', 'false'], ['NULL']),
  column('i', 'int', 'int4', ['1', '2', '3'], ['0', '-2147483648', '2147483647', '-1']),
  column('l', 'long', 'int8', ['1', '2', '3'], ['0', '-9223372036854775808', '9223372036854775807', '-1']),
  column(
    'f',
    'float',
    'float4',
    ['0.5', '0.25'],
    [`'NaN'::FLOAT`, `'Infinity'::FLOAT`, '0', '-1', '3e38', '1e-38'],
  ),
  column(
    'd',
    'double',
    'float8',
    ['0.5', '0.25'],
    [`'NaN'::DOUBLE`, `'Infinity'::DOUBLE`, `'-Infinity'::DOUBLE`, '0', '-1', '1e308', '1e-308'],
  ),
  column('n', 'decimal(20,4)', 'numeric', ['1.5', '2.25'], ['0', '-1', '9999999999999999.9999']),
  column('t', 'string', 'text', [`'1'`, `'2'`, `'3'`], texts),
  column('dt', 'date', 'date', [`DATE '2020-01-01'`, `DATE '2021-02-03'`], dates),
  column('ti', 'time', 'time', [`TIME '01:02:03'`], [`TIME '23:59:59.999999'`, `TIME '00:00:00'`]),
  column('ts', 'timestamp', 'timestamp', [`TIMESTAMP '2020-01-01 01:02:03'`], stamps),
  column('tz', 'timestamptz', 'timestamptz', [`TIMESTAMPTZ '2020-01-01 01:02:03+00'`], instants),
  column('u', 'uuid', 'uuid', [`'11111111-1111-1111-1111-111111111111'::UUID`], ['NULL']),
  column('by', 'binary', 'bytea', [`'ab'::BLOB`], [`''::BLOB`, `'\\xFF\\xFE'::BLOB`]),
]

/** One column a type that is served, and lists of those whose casts can fail. */
export const hiddenColumns: readonly HiddenColumn[] = [
  column('id', 'long', 'int8', [], []),
  column('owner', 'string', 'text', [], []),
  ...scalars,
  ...scalars
    .filter(({ name }) => ['i', 'l', 'd', 'n', 't', 'dt', 'ts', 'tz'].includes(name))
    .map(({ name, iceberg, type, visible, hostile }) =>
      column(`${name}_list`, listOf(iceberg), `${type}[]` as SqlType, list(visible), list(hostile)),
    ),
]

export const layouts = ['mixed', 'sorted'] as const
export type Layout = (typeof layouts)[number]

/** More than a vector of DuckDB's, which has 2,048 rows. */
const rows = 2_600
/** Every third is hidden, unless they are sorted: then whole vectors are visible. */
const isHidden: Readonly<Record<Layout, string>> = { mixed: 'r.i % 3 = 0', sorted: `r.i >= ${rows - 500}` }

/** SQL that makes a column's values, each of which every third row meets, too. */
function valueSql(values: readonly string[]): string {
  return `CASE (r.i // 3) % ${values.length} ${values.map((value, index) => `WHEN ${index} THEN ${value}`).join(' ')} END`
}

/** Writes a file. @returns its path */
export async function writeHidden(
  connection: DuckDBConnection,
  folder: string,
  layout: Layout,
  hidden: 'hostile' | 'harmless',
): Promise<string> {
  const path = join(folder, `${layout}-${hidden}.parquet`)
  const columns = hiddenColumns.slice(2).map(({ name, visible, hostile }) => {
    const shown = valueSql(visible)
    const secret = hidden === 'hostile' ? valueSql(hostile) : shown
    return `CASE WHEN ${isHidden[layout]} THEN ${secret} ELSE ${shown} END AS "${name}"`
  })
  const owner = `CASE WHEN ${isHidden[layout]} THEN 'bob' ELSE 'me' END AS owner`
  await connection.run(
    `COPY (SELECT r.i AS id, ${owner}, ${columns.join(', ')} FROM range(${rows}) AS r(i)) TO ${quoteText(path)} (FORMAT parquet)`,
  )
  return path
}

/** How rows or values of the files are hidden. */
export const hidings = {
  'a filter that the scan takes': { filters: [`owner = 'me'`] },
  'a filter that the scan does not take': { filters: [`owner LIKE '%me'`] },
  'a mask that shows values of some rows': { mask: `CASE WHEN owner = 'me' THEN this_column END` },
} as const satisfies Record<string, { readonly filters?: readonly string[]; readonly mask?: string }>
export type Hiding = keyof typeof hidings

/** The files' table as it is governed. */
export function hiddenTable(hiding: Hiding): GovernedTable {
  const given: { readonly filters?: readonly string[]; readonly mask?: string } = hidings[hiding]
  return {
    ref: { namespace: ['s'], name: 't' },
    schemaName: 's',
    tableName: 't',
    relation: { duckdb: ['t'] },
    columns: hiddenColumns.map(({ name, iceberg }, index) => ({
      name,
      fieldId: index + 1,
      type: iceberg,
      required: false,
      masks:
        given.mask === undefined || index < 2
          ? []
          : [
              {
                policyId: 'm',
                origin: { kind: 'column' as const },
                action: 'apply-expression',
                expression: given.mask,
              },
            ],
    })),
    rowFilters: (given.filters ?? []).map((expression) => ({
      policyId: 'f',
      origin: { kind: 'table' as const },
      expression,
    })),
    contract: { id: 'c', version: 1 },
  }
}
