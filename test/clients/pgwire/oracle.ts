/** Starts the PostgreSQL 18 with which the wire server is compared, on the same rows. */

import type { Oracle as Server } from '../../query/support/postgres.ts'
import { startOracle } from '../../query/support/postgres.ts'
import { freePort } from '../../support/free-port.ts'
import {
  orderColumns,
  orderCount,
  ordersTable,
  payload,
  postgresDeclarations,
  regionsTable,
  selectList,
} from '../../support/lake-tables.ts'

export interface Oracle extends AsyncDisposable {
  /** What every client takes from its environment. */
  readonly env: Readonly<Record<string, string>>
  /** Reads a database in which the rows and values are what filter and mask of a lake leave to `restricted`. */
  readonly restricted: Readonly<Record<string, string>>
}

/** @throws Error where the platform has no package of its binaries */
export async function startPostgres(): Promise<Oracle> {
  const port = freePort()
  const server: Server | undefined = await startOracle({ port })
  if (server === undefined) throw new Error('there are no PostgreSQL binaries for this platform')
  const list = selectList([...orderColumns, ['payload', 'bytea', payload.postgres]])
  await server.admin.unsafe('CREATE DATABASE lake')
  await server.admin.unsafe('CREATE ROLE ann LOGIN')
  await server.admin.unsafe('CREATE ROLE bob LOGIN IN ROLE ann')
  const lake = server.connect('postgres', 'lake')
  await lake.unsafe(`
    CREATE SCHEMA sales;
    CREATE TABLE sales.orders AS SELECT ${list} FROM generate_series(1, ${orderCount}) AS t(i);
    CREATE TABLE sales.regions AS
      SELECT ${selectList(regionsTable.columns)} FROM generate_series(1, ${regionsTable.rowCount}) AS t(i);
    ${postgresDeclarations};
    GRANT USAGE ON SCHEMA sales TO ann;
    GRANT SELECT ON ALL TABLES IN SCHEMA sales TO ann`)
  await lake.end()
  await server.admin.unsafe('CREATE DATABASE governed TEMPLATE lake')
  const governed = server.connect('postgres', 'governed')
  await governed.unsafe(`
    DELETE FROM sales.orders WHERE NOT ${ordersTable.rowFilter};
    UPDATE sales.orders SET email = regexp_replace(regexp_replace(email, '[a-z]', 'x', 'g'), '[0-9]', 'n', 'g')`)
  const env = (user: string, database: string) => ({
    PGHOST: '127.0.0.1',
    PGPORT: String(port),
    PGUSER: user,
    PGPASSWORD: 'secret',
    PGDATABASE: database,
    PGSSLMODE: 'disable',
    PGTZ: 'UTC',
    TZ: 'UTC',
  })
  return {
    env: env('ann', 'lake'),
    restricted: env('bob', 'governed'),
    [Symbol.asyncDispose]: server.stop,
  }
}
