/** Sends the same statements to the catalog and to a real PostgreSQL, and makes the results comparable. */

import { newTenantId } from '../../../../src/core/tenant.ts'
import { openCatalogService } from '../../../../src/server/pgwire/catalog/open-catalog-service.ts'
import type { CatalogSession } from '../../../../src/server/pgwire/catalog-service.ts'
import { startOracle } from '../../../query/support/postgres.ts'
import { openRealSession, type RealSession } from './real-postgres.ts'
import { foreignTables, sampleDdl, sampleTables } from './sample-catalog.ts'
import { type Answer, frame, query, readAnswer } from './wire.ts'

/** Shared by test processes. */
const snapshotDirectory = new URL('../../../../.cache/', import.meta.url).pathname

/** Of each service in tests. A busy machine may need many times what a statement takes on a quiet one. */
export const testCatalogOptions = { snapshotDirectory, statementMs: 120_000 }

export type Send = (messages: Uint8Array) => Promise<Answer>

export interface Pair {
  readonly covers: (text: string) => string
  readonly catalog: Side
  readonly real: Side
  stop(): Promise<void>
}

export interface Side {
  readonly send: Send
  /** OIDs of what the sample made, by name and back. */
  readonly oids: ReadonlyMap<string, string>
}

/** From 12000 on, OIDs depend on how a database was built. */
const objects = `
  select oid::text, oid::regclass::text from pg_class where oid >= 12000 and relkind <> 'i' and relnamespace <> 99
  union all select oid::text, 'index ' || oid::regclass::text from pg_class
    where oid >= 12000 and relkind = 'i' and relnamespace <> 99
  union all select oid::text, 'type ' || oid::regtype::text from pg_type where oid >= 12000
  union all select oid::text, 'schema ' || nspname from pg_namespace where oid >= 12000
  union all select oid::text, 'constraint ' || conname from pg_constraint where oid >= 12000
  union all select oid::text, 'role ' || rolname from pg_roles where oid >= 12000
  union all select oid::text, 'extension ' || extname from pg_extension
  union all select oid::text, 'configuration ' || cfgname from pg_ts_config where oid >= 12000
  union all select oid::text, 'database ' || datname from pg_database where oid >= 12000`

async function sideOf(send: Send): Promise<Side> {
  const { rows, error } = await send(query(objects))
  if (error) throw new Error(error.message)
  return { send, oids: new Map(rows.map(([oid, name]) => [String(name), String(oid)])) }
}

/** Starts both; undefined where the platform has no PostgreSQL binaries. */
export async function startPair(): Promise<Pair | undefined> {
  const oracle = await startOracle()
  if (oracle === undefined) return undefined
  const tenant = newTenantId()
  const service = openCatalogService({
    source: {
      mark: async () => ({ text: 'as ever', tableCount: 0 }),
      tables: async (asked) => (asked === tenant ? sampleTables : foreignTables),
    },
    activity: () => [],
    ...testCatalogOptions,
  })
  const session: CatalogSession = {
    tenant,
    principal: { sub: 'alice', roles: [] },
    catalog: 'lake',
    searchPath: ['$user', 'public'],
    settings: new Map(),
    backendPid: 7,
  }
  // A foreign tenant has been there before, and is again between any two.
  const foreign = { ...session, tenant: newTenantId() }
  const [real] = await Promise.all([
    realSession(String((oracle.admin.options as { path?: unknown }).path)),
    service.execute(foreign, query('select relname from pg_class')),
  ])
  return {
    covers: service.covers,
    catalog: await sideOf(async (messages) => readAnswer(await service.execute(session, messages))),
    real: await sideOf(real.send),
    async stop() {
      service.close()
      real.close()
      await oracle.stop()
    },
  }
}

/** A server with nothing on it but the sample, its owner named as the catalog's is. */
async function realSession(socketPath: string): Promise<RealSession> {
  const first = await openRealSession(socketPath, 'postgres', 'template1')
  await first.run('create role boss superuser login')
  first.close()
  const boss = await openRealSession(socketPath, 'boss', 'postgres')
  await boss.run('alter role postgres rename to covenant', 'create database lake')
  boss.close()
  const owner = await openRealSession(socketPath, 'covenant', 'lake')
  await owner.run(
    'alter database lake owner to covenant',
    'drop role boss',
    `update pg_database set datistemplate = false`,
    ...['postgres', 'template0', 'template1'].map((name) => `drop database ${name} with (force)`),
    ...sampleDdl,
  )
  owner.close()
  return openRealSession(socketPath, 'alice', 'lake')
}

/** The text with the OIDs of a side. */
export function withOids(text: string, { oids }: Side): string {
  return text.replace(/\{oid:([^}]+)\}/g, (_, name: string) => oids.get(name) ?? '0')
}

/** Describes without running where it has parameters, else runs. */
export function messagesFor(text: string): Uint8Array {
  if (!/\$\d/.test(text)) return query(text)
  return Buffer.concat([frame('P', '', text, [0, 0]), frame('D', [0x53], ''), frame('S')])
}

export interface Comparable {
  readonly columns: readonly string[]
  readonly rows: readonly string[]
  readonly error: string | undefined
}

/** Rows in an order of their own, with the names of objects in the place of their OIDs. */
export function comparable({ columns, rows, error }: Answer, { oids }: Side): Comparable {
  const names = new Map([...oids].map(([name, oid]) => [oid, `<${name}>`]))
  const cell = (value: string | null) =>
    value
      ?.replace(/\b\d{5,10}\b/g, (digits) => names.get(digits) ?? digits)
      .replace(/pg_toast_\d+/g, 'pg_toast_n')
  const lines = rows.map((row) => JSON.stringify(row.map((value) => cell(value) ?? null))).sort()
  return { columns, rows: lines, error: error?.code }
}
