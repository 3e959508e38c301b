/** Tables for a lake and for PostgreSQL, each column's values given as one expression that both understand. */

import type { ContractSchema } from '../../src/core/contract-schema.ts'

/** As PostgreSQL and DuckDB both write it; `i` counts from 1. */
export type ColumnSource = readonly [name: string, type: string, expression: string]

export interface LakeTable {
  readonly name: string
  readonly columns: readonly ColumnSource[]
  readonly rowCount: number
  /** Data files of about the same size; 1 where absent. */
  readonly fileCount?: number
  /** A mask of one column, and a row filter; neither concerns the role `officer`. */
  readonly mask?: { readonly column: string; readonly action: 'mask-alphanum' }
  readonly rowFilter?: string
  /** What its contract declares. */
  readonly schema?: ContractSchema
}

/** The columns of a SELECT from `i`. */
export function selectList(columns: readonly ColumnSource[]): string {
  return columns.map(([name, type, expression]) => `CAST(${expression} AS ${type}) AS ${name}`).join(', ')
}

export const orderColumns: readonly ColumnSource[] = [
  ['id', 'bigint', 'i'],
  ['region', 'text', "CASE i % 4 WHEN 0 THEN 'north' WHEN 1 THEN 'south' WHEN 2 THEN 'east' ELSE 'west' END"],
  ['email', 'text', "'user' || i || '@example.com'"],
  ['amount', 'numeric(10,2)', '(i * 37 % 10000) * 0.01'],
  ['qty', 'integer', 'i % 100 - 50'],
  ['ratio', 'double precision', 'CAST(i AS double precision) / 8'],
  ['paid', 'boolean', 'i % 3 = 0'],
  ['day', 'date', "CAST(date '2024-01-01' + CAST(i % 365 AS integer) AS date)"],
  ['placed_at', 'timestamptz', "timestamptz '2024-01-01 00:00:00+00' + i * interval '1 hour'"],
  ['created', 'timestamp', "timestamp '2024-01-01 00:00:00' + i * interval '1 minute'"],
  ['note', 'text', "CASE WHEN i % 5 = 0 THEN NULL ELSE 'note ' || i END"],
  ['uid', 'uuid', "CAST('00000000-0000-0000-0000-' || lpad(CAST(i AS text), 12, '0') AS uuid)"],
]
/** Engines write bytes in different ways. */
export const payload = {
  postgres: "CASE WHEN i % 7 = 0 THEN NULL ELSE decode(lpad(to_hex(i), 8, '0'), 'hex') END",
  duckdb: "CASE WHEN i % 7 = 0 THEN NULL ELSE unhex(printf('%08x', i)) END",
}
export const orderCount = 1_000

/** Those of the regions east and west are all that others than officers see, and no e-mail address. */
export const ordersTable: LakeTable = {
  name: 'orders',
  columns: [...orderColumns, ['payload', 'bytea', payload.duckdb]],
  rowCount: orderCount,
  mask: { column: 'email', action: 'mask-alphanum' },
  rowFilter: `region IN ('east', 'west')`,
  schema: {
    description: 'Orders, one a row',
    properties: [
      { name: 'id', description: 'Number of the order', primaryKey: true },
      { name: 'region', relationships: [{ type: 'foreignKey', to: 'regions.name' }] },
    ],
  },
}

/** What the orders refer to. */
export const regionsTable: LakeTable = {
  name: 'regions',
  columns: [
    ['name', 'text', "CASE i WHEN 1 THEN 'north' WHEN 2 THEN 'south' WHEN 3 THEN 'east' ELSE 'west' END"],
  ],
  rowCount: 4,
  schema: { properties: [{ name: 'name', primaryKey: true }] },
}

/** The same declarations as a PostgreSQL has them, for both tables. */
export const postgresDeclarations = `
  ALTER TABLE sales.orders ADD PRIMARY KEY (id);
  ALTER TABLE sales.regions ADD PRIMARY KEY (name);
  ALTER TABLE sales.orders ADD FOREIGN KEY (region) REFERENCES sales.regions (name);
  COMMENT ON TABLE sales.orders IS 'Orders, one a row';
  COMMENT ON COLUMN sales.orders.id IS 'Number of the order';
  COMMENT ON COLUMN sales.orders.email IS 'Masked for some readers: EXPLAIN shows whether for you.'`
