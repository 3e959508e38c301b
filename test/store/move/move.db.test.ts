/** A move of the embedded store to a PostgreSQL server: what arrives, what is refused, and how it goes on. */

import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Fault } from '../../../src/base/fault.ts'
import { canOpenStoredConfigs } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { moveMarkOf, removeMoveMark } from '../../../src/store/database/move-mark.ts'
import { graphName } from '../../../src/store/database/names.ts'
import { assertSecretsKey } from '../../../src/store/keys/secrets-key.ts'
import { type MoveOptions, moveStore } from '../../../src/store/move/move-store.ts'
import { openStore } from '../../../src/store/store.ts'
import { createTenant, listTenants } from '../../../src/store/tenant/tenants.ts'
import { emptyDatabase, fillEmbedded, onEmbedded } from '../../support/move.ts'
import { testSecretsKey, testStoreOptions } from '../../support/store.ts'

setDefaultTimeout(600_000)

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: Fault) => error.publicMessage ?? String(error),
  )

// Skipped where no server is named: `npm run test:db` names one.
describe.skipIf(process.env.SVC_TEST_DATABASE_URL === undefined)('a move to a server', () => {
  let embedded: Awaited<ReturnType<typeof fillEmbedded>>
  const options = (databaseUrl: string): MoveOptions => ({
    dataDirectory: embedded.dataDirectory,
    databaseUrl,
    secretsKey: testSecretsKey,
    batchBytes: 256 * 1024,
    progress: () => {},
  })

  beforeAll(async () => {
    embedded = await fillEmbedded(2_000)
  })
  afterEach(() => removeMoveMark(embedded.dataDirectory))
  afterAll(() => embedded[Symbol.dispose]())

  test('copies every row, and the store on the server opens with the same key and goes on', async () => {
    await using database = await emptyDatabase()
    const moved = await moveStore(options(database.databaseUrl))
    const rows = new Map(moved.tables.map(({ table, rows }) => [table, rows]))
    const [acme, globex] = embedded.tenants
    expect(moved.tenantCount).toBe(2)
    expect(rows.get('"svc"."tenant"')).toBe(2)
    expect(rows.get(`"${graphName(acme)}"."GOVERNS"`)).toBeGreaterThan(0)
    const usage = [...rows].filter(([table]) => table.startsWith('"svc"."query_usage'))
    expect(usage.reduce((sum, [, count]) => sum + count, 0)).toBe(2_002)

    const store = await openStore({ ...testStoreOptions, databaseUrl: database.databaseUrl })
    try {
      await assertSecretsKey(store)
      expect(await canOpenStoredConfigs(store)).toBe(true)
      expect((await listTenants(store, {})).items.map(({ name }) => name).sort()).toEqual(['acme', 'globex'])
      // A tenant sees its own rows alone.
      const seen = await store.tenantQuery<{ tenant_id: string }>(
        globex,
        'select distinct tenant_id::text from svc.audit_log',
      )
      expect(seen).toEqual([{ tenant_id: globex }])
      await createTenant(store, { name: 'made after the move' })
    } finally {
      await store.close()
    }
  })

  test('leaves a mark, by which no store opens on the embedded data', async () => {
    await using database = await emptyDatabase()
    await moveStore(options(database.databaseUrl))
    const open = openStore({ ...testStoreOptions, dataDirectory: embedded.dataDirectory })
    expect(await refusal(open)).toContain('were moved to')
    // The same command once more does nothing.
    expect((await moveStore(options(database.databaseUrl))).tables).toEqual([])
  })

  test('goes on after a failure at each kind of step and between tables, and no store opens on what is not whole', async () => {
    await using database = await emptyDatabase()
    const passed = new Set<string>()
    const stopped: string[] = []
    // Each run takes seconds, so it stops at one table of some.
    const stopAtNew = (step: string) => {
      if (passed.has(step)) return
      passed.add(step)
      if (/ to page /.test(step) && passed.size % 25 !== 0 && !step.includes('query_usage')) return
      stopped.push(step)
      throw new Error(`stopped at ${step}`)
    }
    let openings = 0
    for (;;) {
      const before = stopped.length
      const said = await refusal(moveStore({ ...options(database.databaseUrl), onStep: stopAtNew }))
      if (said === 'none') break
      expect(stopped.length).toBe(before + 1)
      if (!['tenants', 'compared'].includes(stopped.at(-1) ?? '')) continue
      openings++
      expect(await refusal(openStore({ ...testStoreOptions, databaseUrl: database.databaseUrl }))).toContain(
        'A move from the embedded store fills this database',
      )
      expect(
        await refusal(openStore({ ...testStoreOptions, dataDirectory: embedded.dataDirectory })),
      ).toContain('are being moved to')
    }
    expect(openings).toBe(2)
    expect(stopped.slice(0, 6)).toEqual([
      ...['mark', 'journal', 'control schema', 'tenants', 'tenant schemas', 'months'],
    ])
    expect(stopped.slice(-5)).toEqual(['sequences', 'foreign keys', 'compared', 'moved', 'free'])
    expect(stopped.filter((step) => step.includes('query_usage')).length).toBeGreaterThan(1)
    expect(moveMarkOf(embedded.dataDirectory)?.state).toBe('moved')
    expect(await database.run(`select 1 from pg_namespace where nspname = 'svc_move'`)).toHaveLength(0)
  })

  test('says that the sides differ where a row was changed in the database, and does not give it free', async () => {
    await using database = await emptyDatabase()
    const tamper = async (step: string) => {
      if (step !== 'foreign keys') return
      await database.run('alter table svc.tenant disable trigger all')
      await database.run(`update svc.tenant set name = name || '!'`)
      await database.run('alter table svc.tenant enable trigger all')
    }
    const said = await refusal(moveStore({ ...options(database.databaseUrl), onStep: tamper }))
    expect(said).toContain('The two sides differ: "svc"."tenant"')
    expect(await database.run(`select 1 from pg_namespace where nspname = 'svc_move'`)).toHaveLength(1)
    // The embedded data are unchanged: a move to another empty database begins, and ends.
    await using empty = await emptyDatabase()
    expect((await moveStore(options(empty.databaseUrl))).tenantCount).toBe(2)
  })

  test('refuses a database that holds tables of others, a tenant, or the mark of another key', async () => {
    await using foreign = await emptyDatabase()
    await foreign.run('create table public.orders (id int)')
    expect(await refusal(moveStore(options(foreign.databaseUrl)))).toContain('it has public.orders')

    await using used = await emptyDatabase()
    const store = await openStore({ ...testStoreOptions, databaseUrl: used.databaseUrl })
    await createTenant(store, { name: 'initech' })
    expect(await refusal(moveStore(options(used.databaseUrl)))).toContain('A service is connected')
    await store.close()
    expect(await refusal(moveStore(options(used.databaseUrl)))).toContain('it has tenants')

    await using other = await emptyDatabase()
    const secretsKey = new Uint8Array(32).fill(9)
    const keyed = await openStore({ ...testStoreOptions, secretsKey, databaseUrl: other.databaseUrl })
    await assertSecretsKey(keyed)
    await keyed.close()
    expect(await refusal(moveStore(options(other.databaseUrl)))).toContain('another secrets key')
    expect(moveMarkOf(embedded.dataDirectory)).toBeUndefined()
  })

  test('refuses embedded data of an earlier version while a move of them has begun, and says how to begin again', async () => {
    const last = `scope = 'control' and version = (select max(version) from svc.migration where scope = 'control')`
    await using database = await emptyDatabase()
    const stop = (step: string) => {
      if (step === 'mark') throw new Error('stopped')
    }
    await refusal(moveStore({ ...options(database.databaseUrl), onStep: stop }))
    // As after an upgrade of the program.
    await onEmbedded(embedded.dataDirectory, async (sql) => {
      await sql.unsafe(`create table public.aside as select * from svc.migration where ${last}`)
      await sql.unsafe(`delete from svc.migration where ${last}`)
    })
    try {
      const said = await refusal(moveStore(options(database.databaseUrl)))
      expect(said).toContain('The embedded data are of an earlier version of covenant')
      expect(said).toContain('`covenant move --give-up`')
      expect(
        await database.run(`select from pg_namespace where nspname in ('svc', 'svc_move')`),
      ).toHaveLength(0)
    } finally {
      await onEmbedded(embedded.dataDirectory, async (sql) => {
        await sql.unsafe('insert into svc.migration select * from public.aside')
        await sql.unsafe('drop table public.aside')
      })
    }
  })

  test('refuses embedded data of a later version', async () => {
    await using database = await emptyDatabase()
    await onEmbedded(embedded.dataDirectory, async (sql) => {
      await sql`insert into svc.migration (scope, version, name, checksum) values ('control', 9999, '9999_later', 'x')`
    })
    try {
      expect(await refusal(moveStore(options(database.databaseUrl)))).toContain(
        'The embedded data cannot be moved. The database has migrations that this version does not have',
      )
    } finally {
      await onEmbedded(embedded.dataDirectory, async (sql) => {
        await sql`delete from svc.migration where version = 9999`
      })
    }
  })

  test('refuses to go on with a move of another version, and says how to begin again', async () => {
    await using database = await emptyDatabase()
    const stop = (step: string) => {
      if (step === 'journal') throw new Error('stopped')
    }
    await refusal(moveStore({ ...options(database.databaseUrl), onStep: stop }))
    await database.run(`update svc_move.move set migrations = 'x'`)
    const said = await refusal(moveStore(options(database.databaseUrl)))
    expect(said).toContain('was begun by another version of covenant')
    expect(said).toContain('`covenant move --give-up`')
  })

  test('refuses the embedded data while a store has them open', async () => {
    await using database = await emptyDatabase()
    const store = await openStore({ ...testStoreOptions, dataDirectory: embedded.dataDirectory })
    expect(await refusal(moveStore(options(database.databaseUrl)))).toContain('is in use by another process')
    await store.close()
  })

  test('refuses a database that the move of other data fills', async () => {
    await using database = await emptyDatabase()
    const stop = (step: string) => {
      if (step === 'journal') throw new Error('stopped')
    }
    await refusal(moveStore({ ...options(database.databaseUrl), onStep: stop }))
    removeMoveMark(embedded.dataDirectory)
    expect(await refusal(moveStore(options(database.databaseUrl)))).toContain('by the move of other data')
  })

  test('gives the database the months that the embedded store has, also one that is detached', async () => {
    const month = `select name, parent from svc.month_partition where parent = 'audit_log' order by starts limit 1`
    const name = await onEmbedded(embedded.dataDirectory, async (sql) => {
      const [first] = await sql.unsafe<{ name: string }[]>(month)
      await sql.unsafe(`alter table svc.audit_log detach partition svc.${first?.name}`)
      await sql.unsafe(
        `update svc.month_partition set detached_at = now(), row_count = 1, sha256 = 'x' where name = '${first?.name}'`,
      )
      return first?.name
    })
    await using database = await emptyDatabase()
    const moved = await moveStore(options(database.databaseUrl))
    expect(moved.tables.find(({ table }) => table === `"svc"."${name}"`)?.rows).toBeGreaterThan(1_999)
    const [detached] = await database.run<{ relispartition: boolean }>(
      `select relispartition from pg_class where relname = '${name}'`,
    )
    expect(detached?.relispartition).toBe(false)
  })

  test('makes a detached month as it is, also where its parent was given a column and an index since', async () => {
    const name = await onEmbedded(embedded.dataDirectory, async (sql) => {
      const [month] = await sql.unsafe<{ name: string }[]>(
        `select name from svc.month_partition where parent = 'query_usage' and detached_at is null order by starts limit 1`,
      )
      const own = `svc.${month?.name}`
      await sql.unsafe(`alter table svc.query_usage detach partition ${own}`).simple()
      // What such a month lacks and has: not the latest column, another type, and an index that no other has.
      await sql
        .unsafe(
          `alter table ${own} drop column client, alter column tool set storage external, add column former numeric(12, 2) not null default 1, add unique (query_id, former);
          create index former_only on ${own} (former) where former > 0;
          update svc.month_partition set detached_at = now(), row_count = 1, sha256 = 'x' where name = '${month?.name}'`,
        )
        .simple()
      return month?.name ?? ''
    })
    const described = `select (select string_agg(format('%s %s %s %s', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attstorage), ',' order by a.attname)
        from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
      (select string_agg(format('%s %s', a.attname, pg_get_expr(d.adbin, d.adrelid)), ',' order by a.attname)
        from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum where d.adrelid = c.oid) as defaults,
      (select string_agg(pg_get_indexdef(i.indexrelid), ',' order by i.indexrelid::regclass::text) from pg_index i where i.indrelid = c.oid) as indexes,
      (select string_agg(format('%s %s', k.conname, pg_get_constraintdef(k.oid)), ',' order by k.conname)
        from pg_constraint k where k.conrelid = c.oid and k.contype <> 'n') as constraints
      from pg_class c where c.oid = 'svc.${name}'::regclass`
    await using database = await emptyDatabase()
    const moved = await moveStore(options(database.databaseUrl))
    expect(moved.tables.find(({ table }) => table === `"svc"."${name}"`)?.rows).toBeGreaterThan(1_999)
    const [here] = await onEmbedded(embedded.dataDirectory, async (sql) => await sql.unsafe(described))
    expect(here?.columns).toContain('former numeric(12,2) t m')
    expect(here?.columns).toContain('tool text f e')
    expect(here?.indexes).toContain('former_only')
    expect(await database.run(described)).toEqual([{ ...here }])
  })

  test('says before it copies a row that the sides have other tables', async () => {
    await using database = await emptyDatabase()
    const steps: string[] = []
    const change = async (step: string) => {
      steps.push(step)
      if (step === 'months') await database.run('alter table svc.tenant add column later text')
    }
    const said = await refusal(moveStore({ ...options(database.databaseUrl), onStep: change }))
    expect(said).toContain('The two sides differ: only embedded: svc.tenant: columns')
    expect(steps.at(-1)).toBe('months')
  })

  test('a database whose owner is no superuser takes a move too', async () => {
    const role = `covenant_owner_${crypto.randomUUID().slice(0, 8)}`
    await using holder = await emptyDatabase()
    await holder.run(`create role ${role} login createrole password 'owner'`)
    {
      await using database = await emptyDatabase(role)
      await database.run(await Bun.file(new URL('../../../migrations/bootstrap.sql', import.meta.url)).text())
      for (const one of ['svc_owner', 'svc_admin', 'svc_tenant'])
        await database.run(`grant ${one} to ${role} with inherit false, set true`)
      const url = new URL(database.databaseUrl)
      url.username = role
      url.password = 'owner'
      const moved = await moveStore(options(url.href))
      expect(moved.tenantCount).toBe(2)
    }
    await holder.run(`drop owned by ${role}`)
    await holder.run(`drop role ${role}`)
  })
})
