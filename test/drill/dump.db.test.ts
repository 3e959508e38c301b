/**
 * A dump by `pg_dump` of a server with 40 tenants, and its restore, under the locks that docs/sizing.md names for up to 100.
 * That it fails with fewer is not tested: a server lends what memory it has left to locks beyond its setting.
 */

import { expect, test } from 'bun:test'
import postgres from 'postgres'
import {
  openPackages,
  type Packages,
  run,
  startPostmaster,
  whyNoPackages,
} from '../../scripts/postgres-packages.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'

const tenants = 40
/** The row of 100 tenants. */
const locksMax = 256
const settings = { fsync: 'off', max_connections: 100, max_locks_per_transaction: locksMax }

const reason = process.env.SVC_TEST_DATABASE_URL === undefined ? 'it runs with test:db' : whyNoPackages()
const check = reason === undefined ? test : test.skip
if (reason !== undefined) console.log(`Skipped the dump: ${reason}`)

/** A server in the packages' folder that trusts loopback, for the time of `work`. */
async function onServer<T>(packages: Packages, work: (port: number) => Promise<T>): Promise<T> {
  const server = await startPostmaster(packages, 'data', settings)
  try {
    return await work(server.port)
  } finally {
    server.process.kill('SIGINT')
    await server.process.exited
  }
}

const urlOf = (port: number, database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`

const open = (databaseUrl: string): Promise<Store> =>
  openStore({ databaseUrl, secretsKey: new Uint8Array(32), migrate: true, onNotice: () => {} })

/** Rows and tables that a restore must bring back. */
async function contents(port: number, database: string) {
  const sql = postgres(urlOf(port, database), { max: 1, onnotice: () => {} })
  try {
    const [row] = await sql`select (select count(*)::int from svc.tenant) as tenants,
      (select count(*)::int from ag_catalog.ag_label) as labels,
      (select count(*)::int from pg_class where relkind in ('r', 'p', 'i', 'I', 'S') and not relisshared
        and relnamespace <> all (array['pg_catalog'::regnamespace, 'pg_toast'::regnamespace])) as relations`
    return { ...row }
  } finally {
    await sql.end({ timeout: 5 })
  }
}

check(
  `a server with ${tenants} tenants is dumped and restored with the locks that the page on sizing names`,
  async () => {
    const packages = await openPackages()
    const { command, inside } = packages
    const client = (program: string, port: number, ...args: string[]) =>
      run([...command(program), '-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', ...args])
    try {
      await run([
        ...command('initdb'),
        '--auth=trust',
        '--no-sync',
        '--encoding=UTF8',
        '--locale=C.UTF-8',
        '-U',
        'postgres',
        '-D',
        `${inside}/data`,
      ])
      const dump = ['-Fc', '-Z', '0', '-f', `${inside}/dump`, 'postgres']
      const before = await onServer(packages, async (port) => {
        const store = await open(urlOf(port, 'postgres'))
        try {
          for (let count = 0; count < tenants; count++) await createTenant(store, { name: `tenant ${count}` })
        } finally {
          await store.close()
        }
        await client('pg_dump', port, ...dump)
        await client('createdb', port, '--template=template0', 'restored')
        await client('pg_restore', port, '--exit-on-error', '-d', 'restored', `${inside}/dump`)
        const all = await contents(port, 'postgres')
        expect(await contents(port, 'restored')).toEqual(all)
        // The service opens what was restored, and finds every migration in it.
        const restored = await open(urlOf(port, 'restored'))
        await restored.close()
        return all
      })
      expect(before.tenants).toBe(tenants)
    } finally {
      packages.remove()
    }
  },
  1_800_000,
)
