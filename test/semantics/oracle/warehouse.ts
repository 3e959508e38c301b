/**
 * A warehouse of a test: tables with rows, filters and masks by role, and readers. It is made twice: as governed tables
 * for the compiler, and in PostgreSQL as one schema of security-barrier views for each reader, written by hand.
 */

import type { GovernedTable } from '../../../src/core/governed-table.ts'
import type {
  BoundExpression,
  Dimension,
  MetricComputation,
  MetricVersion,
} from '../../../src/core/metric.ts'
import type { Principal } from '../../../src/core/principal.ts'
import type { TableRef } from '../../../src/core/table-ref.ts'

/** l for long, i for int, n for decimal(12,2), t for text, d for date, b for boolean. */
const types = {
  l: { iceberg: 'long', postgres: 'bigint', duckdb: 'bigint', trino: 'BIGINT' },
  i: { iceberg: 'int', postgres: 'int', duckdb: 'int', trino: 'INTEGER' },
  n: {
    iceberg: 'decimal(12,2)',
    postgres: 'numeric(12,2)',
    duckdb: 'decimal(12,2)',
    trino: 'DECIMAL(12,2)',
  },
  t: { iceberg: 'string', postgres: 'text', duckdb: 'text', trino: 'VARCHAR' },
  d: { iceberg: 'date', postgres: 'date', duckdb: 'date', trino: 'DATE' },
  b: { iceberg: 'boolean', postgres: 'boolean', duckdb: 'boolean', trino: 'BOOLEAN' },
} as const

export interface Mask {
  readonly column: string
  readonly action: string
  readonly exempt: readonly string[]
  /** What the oracle's view shows instead, written by hand. */
  readonly shown: string
}

export interface Filter {
  /** In the PostgreSQL dialect, for both; the oracle has `has_role` and `current_principal` written out. */
  readonly expression: string
  readonly exempt: readonly string[]
}

export type Value = string | number | boolean | null

export interface WarehouseTable {
  readonly name: string
  /** As `l id, t name`. */
  readonly columns: string
  readonly rows: readonly (readonly Value[])[]
  readonly filters?: readonly Filter[]
  readonly masks?: readonly Mask[]
}

export interface Warehouse {
  readonly namespace: string
  readonly tables: readonly WarehouseTable[]
  readonly readers: readonly Principal[]
}

export const columnsOf = ({ columns }: Pick<WarehouseTable, 'columns'>) =>
  columns.split(', ').map((each) => each.split(' ') as [type: keyof typeof types, name: string])

const concerns = ({ roles }: Principal, { exempt }: { readonly exempt: readonly string[] }) =>
  !exempt.some((role) => roles.includes(role))

/** The tables as the compiler gets them for a reader. */
export function governedFor({ namespace, tables }: Warehouse, reader: Principal): readonly GovernedTable[] {
  return tables.map(({ name, columns, filters = [], masks = [] }) => ({
    ref: { namespace: [namespace], name },
    schemaName: namespace,
    tableName: name,
    relation: { duckdb: ['main', `${namespace}_${name}`], trino: ['lake', namespace, name] },
    columns: columnsOf({ columns }).map(([type, column], index) => ({
      name: column,
      fieldId: index + 1,
      type: types[type].iceberg,
      required: false,
      masks: masks
        .filter((mask) => mask.column === column && concerns(reader, mask))
        .map(({ action }) => ({ policyId: `mask-${column}`, origin: { kind: 'column' as const }, action })),
    })),
    rowFilters: filters
      .filter((filter) => concerns(reader, filter))
      .map(({ expression }, index) => ({
        policyId: `filter-${name}-${index}`,
        origin: { kind: 'table' as const },
        expression,
      })),
    contract: { id: namespace, version: 1 },
  }))
}

const literal = (value: Value) => {
  if (value === null) return 'null'
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}
const rowText = (row: readonly Value[]) => `(${row.map(literal).join(', ')})`

/** Statements that make the tables in DuckDB. */
export function duckdbSetup({ namespace, tables }: Warehouse): readonly string[] {
  return tables.flatMap(({ name, rows, ...table }) => [
    `create table ${namespace}_${name} (${columnsOf(table)
      .map(([type, column]) => `${column} ${types[type].duckdb}`)
      .join(', ')})`,
    `insert into ${namespace}_${name} values ${rows.map(rowText).join(', ')}`,
  ])
}

/** Statements that make the tables in Trino's catalog `lake`. */
export function trinoSetup({ namespace, tables }: Warehouse): readonly string[] {
  const written = ({ name, rows, ...table }: WarehouseTable) => {
    const columns = columnsOf(table)
    const value = (cell: Value, index: number) =>
      `CAST(${literal(cell)} AS ${types[columns[index]?.[0] ?? 't'].trino})`
    const parts = Array.from({ length: Math.ceil(rows.length / 200) }, (_, part) =>
      rows.slice(part * 200, part * 200 + 200),
    )
    return [
      `CREATE TABLE lake.${namespace}.${name} (${columns.map(([type, column]) => `${column} ${types[type].trino}`).join(', ')})`,
      ...parts.map(
        (part) =>
          `INSERT INTO lake.${namespace}.${name} VALUES ${part.map((row) => `(${row.map(value).join(', ')})`).join(', ')}`,
      ),
    ]
  }
  return [`CREATE SCHEMA lake.${namespace}`, ...tables.flatMap(written)]
}

/** The schema of PostgreSQL that holds what a reader sees, and the role that sees nothing else. */
export const viewsOf = ({ namespace }: Warehouse, { sub }: Principal) => `${namespace}_${sub}`

/** Statements that make the oracle's tables, views and roles. */
export function postgresSetup(warehouse: Warehouse): readonly string[] {
  const { namespace, tables, readers } = warehouse
  const base = `${namespace}_base`
  const made = tables.flatMap(({ name, rows, ...table }) => [
    `create table ${base}.${name} (${columnsOf(table)
      .map(([type, column]) => `${column} ${types[type].postgres}`)
      .join(', ')})`,
    `insert into ${base}.${name} values ${rows.map(rowText).join(', ')}`,
  ])
  const seen = readers.flatMap((reader) => {
    const schema = viewsOf(warehouse, reader)
    return [
      `create schema ${schema}`,
      ...tables.map((table) => viewText(table, reader, schema, base)),
      `create role ${schema} login`,
      `grant usage on schema ${schema} to ${schema}`,
      `grant select on all tables in schema ${schema} to ${schema}`,
      `alter role ${schema} set search_path = ${schema}`,
    ]
  })
  return [`create schema ${base}`, ...made, ...seen, 'analyze']
}

function viewText(
  { name, filters = [], masks = [], ...table }: WarehouseTable,
  reader: Principal,
  schema: string,
  base: string,
): string {
  const shown = columnsOf(table).map(([, column]) => {
    const mask = masks.find((each) => each.column === column && concerns(reader, each))
    return mask === undefined ? column : `${mask.shown} as ${column}`
  })
  const conditions = filters
    .filter((filter) => concerns(reader, filter))
    .map(({ expression }) => `(${writtenOut(expression, reader)})`)
  const where = conditions.length > 0 ? ` where ${conditions.join(' and ')}` : ''
  return `create view ${schema}.${name} with (security_barrier) as select ${shown.join(', ')} from ${base}.${name}${where}`
}

const writtenOut = (expression: string, { sub, roles }: Principal) =>
  expression
    .replaceAll(/has_role\('(\w+)'\)/g, (_, role: string) => String(roles.includes(role)))
    .replaceAll('current_principal()', `'${sub}'`)

/** Binds names to field ids, as saving does. */
export function binder({ namespace, tables }: Pick<Warehouse, 'namespace' | 'tables'>) {
  const fields = (table: string) =>
    new Map(
      columnsOf({ columns: tables.find(({ name }) => name === table)?.columns ?? '' }).map(
        ([, name], index) => [name, index + 1],
      ),
    )
  const ref = (name: string): TableRef => ({ namespace: [namespace], name })
  const fieldIds = (table: string, names: readonly string[]) =>
    names.map((name) => {
      const found = fields(table).get(name)
      if (found === undefined) throw new Error(`${table} has no column ${name}`)
      return found
    })
  const bound = (table: string, text: string): BoundExpression => ({
    text,
    names: Object.fromEntries([...fields(table)].filter(([name]) => new RegExp(`\\b${name}\\b`).test(text))),
  })
  const dimension = (
    table: string,
    name: string,
    text: string,
    more: Pick<Dimension, 'term'> & { readonly kind?: Dimension['kind'] } = {},
  ): Dimension => ({ name, kind: 'categorical', ...more, expression: bound(table, text) })
  const metric = (name: string, computation: MetricComputation): MetricVersion => ({
    ...{ name, number: 1, state: 'active', sha256: name, definition: { computation } },
  })
  const simple = (name: string, table: string, text: string, filter?: string) =>
    metric(name, {
      kind: 'simple',
      table: ref(table),
      expression: bound(table, text),
      ...(filter !== undefined && { filter: bound(table, filter) }),
    })
  return { ref, fieldIds, bound, dimension, metric, simple }
}
