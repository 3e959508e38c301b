/** Makes an embedded store's data directory and the memory that it opens with small, so that tests open many. */

import { appendFileSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { embeddedBackend } from '../../src/store/database/embedded.ts'

/**
 * Takes out of a closed data directory what its copies have no use of: write-ahead log that is checkpointed, and the
 * databases template0 and template1. That is two thirds of the bytes. The copies open with fewer shared buffers, because
 * the database fills all of them with zeros, which takes longer than the rest of its start.
 */
export async function shrinkStore(dataDirectory: string): Promise<void> {
  const engine = await embeddedBackend({ dataDirectory, statementMs: 60_000 })
  const link = await engine.open('connecting')
  const { sql } = link
  await sql`select pg_switch_wal()`
  await sql`checkpoint`
  const [row] = await sql<{ segment: string }[]>`select pg_walfile_name(pg_current_wal_lsn()) as segment`
  const templates = await sql<{ oid: string }[]>`
    select oid::text from pg_database where datname in ('template0', 'template1')`
  await link.close()
  await engine.close()
  for (const { oid } of templates)
    for (const file of readdirSync(join(dataDirectory, 'pg/base', oid)))
      if (file !== 'PG_VERSION') rmSync(join(dataDirectory, 'pg/base', oid, file))
  const wal = join(dataDirectory, 'pg/pg_wal')
  for (const segment of readdirSync(wal).filter((name) => /^[0-9A-F]{24}$/.test(name)))
    if (segment === row?.segment) truncateToWritten(join(wal, segment))
    else rmSync(join(wal, segment))
  appendFileSync(join(dataDirectory, 'pg/postgresql.conf'), 'shared_buffers = 16MB\n')
}

const walPageBytes = 8_192

/** Without the zeros behind the last page that was written, which the server would append again. */
function truncateToWritten(segment: string): void {
  const bytes = readFileSync(segment)
  const end = bytes.findLastIndex((byte) => byte !== 0) + 1
  truncateSync(segment, Math.ceil(end / walPageBytes) * walPageBytes)
}
