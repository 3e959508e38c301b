/** Starts the PostgreSQL 18 with which the wire server is compared, on the same rows. */

import type { Oracle as Server } from '../../query/support/postgres.ts'
import { startOracle } from '../../query/support/postgres.ts'
import { freePort } from '../../support/free-port.ts'
import {
  orderColumns,
  orderCount,
  payload,
  postgresDeclarations,
  regionsTable,
  selectList,
} from '../../support/lake-tables.ts'

export interface Oracle extends AsyncDisposable {
  /** What every client takes from its environment. */
  readonly env: Readonly<Record<string, string>>
}

/** @throws Error where the platform has no package of its binaries */
export async function startPostgres(): Promise<Oracle> {
  const port = freePort()
  const server: Server | undefined = await startOracle({ port })
  if (server === undefined) throw new Error('there are no PostgreSQL binaries for this platform')
  const list = selectList([...orderColumns, ['payload', 'bytea', payload.postgres]])
  await server.admin.unsafe('CREATE DATABASE lake')
  await server.admin.unsafe('CREATE ROLE ann LOGIN')
  const lake = server.connect('postgres', 'lake')
  await lake.unsafe(`
    CREATE SCHEMA sales;
    CREATE TABLE sales.orders AS SELECT ${list} FROM generate_series(1, ${orderCount}) AS t(i);
    CREATE TABLE sales.regions AS
      SELECT ${selectList(regionsTable.columns)} FROM generate_series(1, ${regionsTable.rowCount}) AS t(i);
    ${postgresDeclarations};
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
