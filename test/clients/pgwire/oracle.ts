/** The PostgreSQL 18 that the wire server is compared with, and the rows that both hold. */

import type { Oracle as Server } from '../../query/support/postgres.ts'
import { startOracle } from '../../query/support/postgres.ts'
import { freePort } from '../processes.ts'

export interface Oracle extends AsyncDisposable {
  /** What every client takes from its environment. */
  readonly env: Readonly<Record<string, string>>
}

/** As PostgreSQL and DuckDB both write them; `i` counts from 1. */
export const orderColumns: readonly (readonly [name: string, type: string, expression: string])[] = [
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

/** @throws Error where the platform has no package of its binaries */
export async function startPostgres(): Promise<Oracle> {
  const port = freePort()
  const server: Server | undefined = await startOracle({ port })
  if (server === undefined) throw new Error('there are no PostgreSQL binaries for this platform')
  const list = [...orderColumns, ['payload', 'bytea', payload.postgres] as const]
    .map(([name, type, expression]) => `CAST(${expression} AS ${type}) AS ${name}`)
    .join(', ')
  await server.admin.unsafe('CREATE DATABASE lake')
  await server.admin.unsafe('CREATE ROLE ann LOGIN')
  const lake = server.connect('postgres', 'lake')
  await lake.unsafe(`
    CREATE SCHEMA sales;
    CREATE TABLE sales.orders AS SELECT ${list} FROM generate_series(1, ${orderCount}) AS t(i);
    GRANT USAGE ON SCHEMA sales TO ann;
    GRANT SELECT ON ALL TABLES IN SCHEMA sales TO ann`)
  return {
    env: {
      PGHOST: '127.0.0.1',
      PGPORT: String(port),
      PGUSER: 'ann',
      PGPASSWORD: 'secret',
      PGDATABASE: 'lake',
      PGSSLMODE: 'disable',
      PGTZ: 'UTC',
      TZ: 'UTC',
    },
    [Symbol.asyncDispose]: server.stop,
  }
}
