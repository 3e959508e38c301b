import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { appendFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Fault } from '../../../src/base/fault.ts'
import { embeddedBackend } from '../../../src/store/database/embedded.ts'
import type { Link, StoreBackend } from '../../../src/store/database/link.ts'
import { readMigrations } from '../../../src/store/database/migration-files.ts'
import { migrate, migrationStatus } from '../../../src/store/database/migrations.ts'
import { openStore } from '../../../src/store/store.ts'
import { createTenant, listTenants } from '../../../src/store/tenant/tenants.ts'
import { storeTemplate, testSecretsKey, testStoreOptions } from '../../support/store.ts'

const source = new URL('../../../migrations/', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'covenant-migrations-'))
let engine: StoreBackend
let link: Link
let copies = 0

/** The migrations as they are, to be changed by the test. */
function copy(): URL {
  const to = join(folder, `copy-${copies++}`)
  cpSync(source, to, { recursive: true })
  return pathToFileURL(`${to}/`)
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: Fault) => error.publicMessage,
  )
const quiet = () => {}

beforeAll(async () => {
  // A store makes the tenant, so that tenant migrations have something to apply to.
  const dataDirectory = join(folder, 'store')
  const template = await storeTemplate()
  const store = await openStore({
    dataDirectory,
    template,
    secretsKey: testSecretsKey,
    migrate: true,
    onNotice: quiet,
  })
  await createTenant(store, { name: 'migrated' })
  await store.close()
  engine = await embeddedBackend({ dataDirectory, statementMs: 60_000 })
  link = await engine.open('connecting')
}, 300_000)

afterAll(async () => {
  await link.close()
  await engine.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('migrations', () => {
  test('applying again changes nothing, and nothing is pending', async () => {
    await migrate(link.sql, 'apply', quiet)
    await migrate(link.sql, 'verify', quiet)
    const status = await migrationStatus(link.sql)
    expect(status).toHaveLength(2)
    expect(status.flatMap(({ pending }) => pending)).toEqual([])
  })

  test('an applied file that was changed is refused, to apply and to verify', async () => {
    for (const file of ['control/1000_tenants.sql', 'tenant/1000_graph.sql']) {
      const base = copy()
      appendFileSync(new URL(file, base), '\n-- changed\n')
      for (const mode of ['apply', 'verify'] as const)
        expect(await failure(migrate(link.sql, mode, quiet, base))).toContain(
          'was changed after it was applied',
        )
    }
  })

  test('a file that this version lacks is refused', async () => {
    const base = copy()
    const last = readMigrations(new URL('control/', base)).at(-1)
    rmSync(new URL(`control/${last?.name}.sql`, base))
    expect(await failure(migrate(link.sql, 'verify', quiet, base))).toContain('does not have')
  })

  test('a server without Apache AGE is told so', async () => {
    const base = copy()
    appendFileSync(new URL('bootstrap.sql', base), '\ncreate extension nowhere_to_be_found;\n')
    expect(await failure(migrate(link.sql, 'apply', quiet, base))).toBe(
      'Apache AGE cannot be created in this database: install it on the server.',
    )
  })

  test('a failing migration leaves nothing of itself', async () => {
    const base = copy()
    const last = readMigrations(new URL('control/', base)).at(-1)
    const file = new URL(`control/${(last?.version ?? 0) + 1}_failing.sql`, base)
    writeFileSync(file, 'create table svc.half (a int); select 1/0;')
    expect(await failure(migrate(link.sql, 'apply', quiet, base))).toContain('failed')
    const [row] = await link.sql<{ half: string | null }[]>`select to_regclass('svc.half')::text as half`
    expect(row?.half).toBeNull()
    await migrate(link.sql, 'verify', quiet)
  })

  test('names must follow each other', () => {
    for (const name of ['0001_again.sql', '2_short.sql', '0002-dash.sql']) {
      const to = mkdtempSync(join(folder, 'names-'))
      writeFileSync(join(to, '0001_first.sql'), '')
      writeFileSync(join(to, name), '')
      expect(() => readMigrations(pathToFileURL(`${to}/`))).toThrow('does not follow')
    }
  })

  test('a program that the database is newer than makes no tenant: it would make only a part of one', async () => {
    const dataDirectory = join(folder, 'newer')
    const template = await storeTemplate()
    const store = await openStore({ ...testStoreOptions, dataDirectory, template })
    for (const scope of ['control', crypto.randomUUID()]) {
      const owner = await createTenant(store, { name: 'before' })
      await store.ownerTransaction(owner.id, (tx) =>
        tx.query(
          `insert into svc.migration (scope, version, name, checksum) values ($1, 9999, 'newer', '')`,
          [scope],
        ),
      )
      expect(await failure(createTenant(store, { name: 'after' }))).toContain('does not have')
      await store.ownerTransaction(owner.id, (tx) =>
        tx.query('delete from svc.migration where version = 9999'),
      )
    }
    expect((await listTenants(store)).items.map(({ name }) => name)).toEqual(['before', 'before'])
    await store.close()
  })

  // The last, since it leaves the database ahead of the files. Its numbers lie below some that are applied.
  test('a pending migration is refused by verify and applied to control schema and tenants', async () => {
    const base = copy()
    writeFileSync(new URL('control/1001_more.sql', base), 'create table svc.more (a int);')
    writeFileSync(new URL('tenant/1001_more.sql', base), 'create table {{schema}}.more (a int);')
    expect(await failure(migrate(link.sql, 'verify', quiet, base))).toContain('lacks migrations')
    await migrate(link.sql, 'apply', quiet, base)
    await migrate(link.sql, 'verify', quiet, base)
    const [row] = await link.sql<{ n: string }[]>`select count(*) as n from pg_class where relname = 'more'`
    expect(row?.n).toBe('2')
    expect(await failure(migrate(link.sql, 'verify', quiet))).toContain('does not have')
  })
})
