/** What needs several database connections: the pool, cancellation, lost connections, replicas, plain users. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type AddressInfo, connect, createServer } from 'node:net'
import postgres from 'postgres'
import type { Fault } from '../../src/base/fault.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { bounded } from '../../src/server/checks.ts'
import { claimStaleIntents, openIntent } from '../../src/store/commit/commit-intents.ts'
import { recordVerdict } from '../../src/store/commit/verdicts.ts'
import { lockSpaceOf } from '../../src/store/database/lock-space.ts'
import { schemaName } from '../../src/store/database/names.ts'
import { callFunction } from '../../src/store/database/session.ts'
import { upsertNode } from '../../src/store/graph/graph.ts'
import { reconcileTenant, withReplicaLock } from '../../src/store/jobs/reconcile.ts'
import { assertSecretsKey } from '../../src/store/keys/secrets-key.ts'
import { deletePolicy, putPolicy } from '../../src/store/policy/policies.ts'
import { scopeNode } from '../../src/store/policy/policy-scope.ts'
import { openCancelChannel } from '../../src/store/query/cancel-channel.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { aborted } from '../support/aborted.ts'
import { approvedOf, committedOf, intentOf } from '../support/commits.ts'
import { eventually } from '../support/eventually.ts'
import { openTestStore, type TestStore, testSecretsKey } from '../support/store.ts'
import { loadPolicies } from '../support/store-reads.ts'

// Making a tenant's 52 label tables takes seconds on a busy machine.
setDefaultTimeout(300_000)

const server = process.env.SVC_TEST_DATABASE_URL
const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: Fault) => error.kind ?? error.message,
  )

/** Numbers that are the same in every run. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

// Skipped where no server is named: `bun run test:db` names one.
describe.skipIf(server === undefined)('store on a server', () => {
  let store: TestStore
  let tenants: TenantId[]
  /** Sees the sessions of others. */
  let superuser: postgres.Sql

  beforeAll(async () => {
    store = await openTestStore({ poolMax: 4 })
    superuser = postgres(store.databaseUrl ?? '', { max: 1, onnotice: () => {} })
    tenants = []
    for (const name of ['a', 'b', 'c']) tenants.push((await createTenant(store, { name })).id)
  })
  afterAll(async () => {
    await superuser.end()
    await store[Symbol.asyncDispose]()
  })

  const tenantAt = (index: number) => tenants[index % tenants.length] as TenantId

  /** A second replica on the same database. */
  const replica = (options = {}) =>
    openStore({
      databaseUrl: store.databaseUrl,
      secretsKey: testSecretsKey,
      migrate: true,
      poolMax: 2,
      onNotice: () => {},
      ...options,
    })

  test('200 interleaved requests of several tenants over 4 sessions never see a foreign row', async () => {
    const seed = 20_240_607
    const random = seeded(seed)
    for (const tenant of tenants)
      await store.tenantTransaction(tenant, (tx) =>
        upsertNode(tx, tenant, { label: 'Role', id: 'mark', properties: {} }),
      )
    const look = async (tenant: TenantId, controller: AbortController | undefined, kind: number) => {
      const options = controller === undefined ? {} : { signal: controller.signal }
      return store.tenantTransaction(
        tenant,
        async (tx) => {
          const read = () =>
            tx.query<{ t: string }>(
              `select tenant_id::text as t from svc.tenant
               union all select properties->>'tenant_id' from (select properties::text::jsonb as properties from "Role") r`,
            )
          const first = await read()
          await tx.query(
            `select set_config('app.tenant_id', app, false) from (select current_setting('app.tenant_id') as app) x`,
          )
          if (kind === 1) await tx.query('select 1/0')
          if (kind === 2) throw new Error('work failed')
          if (kind === 3) {
            const sleeping = tx.query('select pg_sleep(30)')
            controller?.abort(new Error('cancelled'))
            await sleeping
          }
          return [...first, ...(await read())].map((row) => row.t)
        },
        options,
      )
    }
    const results = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const tenant = tenantAt(Math.floor(random() * 3))
        const kind = random() < 0.7 ? 0 : 1 + Math.floor(random() * 3)
        const controller = kind === 3 ? new AbortController() : undefined
        const outcome = await look(tenant, controller, kind).catch(
          (error: Fault) => error.kind ?? error.message,
        )
        const wanted = [[tenant, tenant, tenant, tenant], 'internal', 'work failed', 'cancelled'][kind]
        return { index, seed, kind, outcome, wanted }
      }),
    )
    for (const { outcome, wanted, ...which } of results)
      expect({ ...which, outcome }).toEqual({ ...which, outcome: wanted as never })
    expect(new Set(results.map(({ kind }) => kind)).size).toBe(4)
    const left = await superuser`select 1 from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`
    expect(left).toHaveLength(0)
  }, 300_000)

  test('a call leaves nothing on its session: no tenant, no setting, no lock, whether or not it succeeds', async () => {
    const link = await store.openLink()
    const state = () =>
      link.sql.unsafe(
        `select current_user as role, current_setting('app.tenant_id', true) as tenant, pg_backend_pid() as session,
           (select string_agg(name || '=' || setting, ' ' order by name) from pg_settings where source = 'session') as set,
           (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks`,
      )
    const before = (await state())[0]
    const call = (name: string, ...params: string[]) =>
      callFunction(link, 10_000, `${schemaName(tenantAt(0))}.${name}`, [tenantAt(0), ...params])
    const empty = ['{}', '{}', '{}', '', '']
    expect(await call('load_policies', 'x', '[]', '[]')).not.toEqual([])
    expect(await failure(call('record_verdict', '{}', ...empty))).toBe('internal')
    expect(await failure(call('record_verdict', 'no json', ...empty))).toBe('internal')
    const [after] = await state()
    expect({ ...after, tenant: after?.tenant || null }).toEqual({ ...before, tenant: null })
    await link.discard()
  })

  test('a tenant gets a session that has served it, and another one’s only where none may be opened', async () => {
    const second = await replica()
    const session = async (index: number) => {
      const text = 'select pg_backend_pid()::text as pid'
      return (await second.tenantQuery<{ pid: string }>(tenantAt(index), text))[0]?.pid
    }
    const [a, b] = [await session(0), await session(1)]
    expect(a).not.toBe(b)
    expect([await session(0), await session(1), await session(0)]).toEqual([a, b, a])
    expect([await session(2), await session(1), await session(0), await session(2)]).toEqual([a, b, a, a])
    await second.close()
  })

  test('a fresh session without a tenant sees nothing and may do nothing', async () => {
    const link = await store.openLink()
    const rows = async (text: string) => (await link.sql.unsafe(text)).length
    expect(await rows('select 1 from svc.tenant')).toBe(0)
    expect(await rows('select 1 from svc.catalog_credential')).toBe(0)
    expect(await rows(`select 1 from g_${tenantAt(0).replaceAll('-', '_')}._ag_label_vertex`)).toBe(0)
    expect(await failure(link.sql.unsafe('insert into svc.tenant default values'))).toContain(
      'permission denied',
    )
    expect(await failure(link.sql.unsafe('create table public.x ()'))).toContain('permission denied')
    await link.sql.unsafe('reset role')
    const [user] = await link.sql.unsafe<{ name: string }[]>('select current_user as name')
    expect(user?.name).toBe('svc_tenant')
    await link.discard()
  })

  test('a cancelled statement ends on the server too', async () => {
    const controller = new AbortController()
    const running = store.tenantQuery(tenantAt(0), `select pg_sleep(60), 'cancel me'`, [], {
      signal: controller.signal,
    })
    const seen = async () =>
      (
        await superuser`select 1 from pg_stat_activity where state = 'active' and query like '%cancel me%'
        and pid <> pg_backend_pid()`
      ).length
    while ((await seen()) === 0) await Bun.sleep(5)
    controller.abort(new Error('gone'))
    expect(await failure(running)).toBe('gone')
    while ((await seen()) > 0) await Bun.sleep(5)
    expect(await store.healthy()).toBe(true)
  })

  test('a request that is cancelled while its session is being opened sends no statement', async () => {
    const fresh = await replica({ poolMax: 1, statementMs: 1_000 })
    const controller = new AbortController()
    const opening = fresh.tenantQuery(tenantAt(0), 'select pg_sleep(60)', [], { signal: controller.signal })
    controller.abort(new Error('left'))
    expect(await failure(opening)).toBe('left')
    expect(await fresh.tenantQuery(tenantAt(0), 'select 1')).toHaveLength(1)
    await fresh.close()
  })

  test('a statement past its time is refused by the server, and the session stays', async () => {
    const quick = await replica({ statementMs: 200, poolMax: 1 })
    const pid = async () =>
      (await quick.adminQuery<{ pid: number }>('select pg_backend_pid() as pid'))[0]?.pid
    const before = await pid()
    expect(await failure(quick.adminQuery('select pg_sleep(30)'))).toBe('unavailable')
    expect(await pid()).toBe(before)
    await quick.close()
  })

  test('goes on after the server ended its sessions, idle or at work', async () => {
    const other = await replica()
    const end = () => superuser`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name = 'covenant'`
    const atWork = failure(other.tenantQuery(tenantAt(0), 'select pg_sleep(30)'))
    const inTransaction = failure(
      other.tenantTransaction(tenantAt(0), async (tx) => {
        await tx.query('select 1')
        await end()
        await tx.query('select 1')
      }),
    )
    expect(await inTransaction).toBe('unavailable')
    expect(await atWork).toBe('unavailable')
    // A session may learn of its end only when it is used: that one request fails, none after it.
    await failure(other.adminQuery('select 1'))
    await failure(other.adminQuery('select 1'))
    expect(await other.healthy()).toBe(true)
    expect(await other.adminQuery('select 1 as one')).toHaveLength(1)
    await other.close()
  })

  test('a server that is not there is unavailable, not a crash', async () => {
    const databaseUrl = 'postgres://nobody@127.0.0.1:1/none'
    const opening = openStore({ databaseUrl, secretsKey: testSecretsKey, migrate: false, onNotice: () => {} })
    expect(await failure(opening)).toBe('unavailable')
  })

  test('concurrent verdicts on shared tables and principals all arrive, without a deadlock', async () => {
    const tenant = (await createTenant(store, { name: 'busy' })).id
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, index) => {
        const table = { namespace: ['n', `m${index % 3}`], name: `t${index % 5}` }
        const principal = { sub: `p${index % 4}`, roles: [] }
        return recordVerdict(
          store,
          tenant,
          approvedOf(intentOf({ table, principal, receivedAtMs: index }), committedOf()),
        )
      }),
    )
    expect(results.filter(({ recorded, ingested }) => recorded && ingested)).toHaveLength(60)
    expect((await reconcileTenant(store, tenant)).breaches).toEqual([])
    const [row] = await store.tenantQuery<{ n: string }>(tenant, `select count(*) as n from "Principal"`)
    expect(row?.n).toBe('4')
  })

  test('one commit recorded by two processes at once leaves one row', async () => {
    const other = await replica()
    const tenant = tenantAt(0)
    const record = approvedOf(intentOf())
    const both = await Promise.all([
      recordVerdict(store, tenant, record),
      recordVerdict(other, tenant, record),
    ])
    expect(both.filter(({ recorded }) => recorded)).toHaveLength(1)
    expect((await reconcileTenant(store, tenant)).breaches).toEqual([])
    await other.close()
  })

  test('two puts of one policy id that differ in kind leave one policy', async () => {
    const put = (kind: 'schema' | 'retention') =>
      putPolicy(
        store,
        tenantAt(1),
        { namespace: ['n'], name: 't' },
        {
          id: 'raced',
          kind,
          mode: 'enforce',
          name: 'raced',
          message: '',
          definitionCel: 'true',
        },
      )
    const outcomes = await Promise.all([failure(put('schema')), failure(put('retention'))])
    expect(outcomes.sort()).toEqual(['conflict', 'none'])
  })

  test('a policy that is put while it is being deleted, or the other way round, governs when it is put again', async () => {
    const tenant = tenantAt(1)
    const other = await replica()
    const table = { namespace: ['n'], name: 'both-at-once' }
    const policy = {
      id: 'both-at-once',
      kind: 'write_acl',
      mode: 'enforce',
      name: 'both',
      message: '',
      definitionCel: 'false',
    } as const
    const put = () => putPolicy(other, tenant, table, policy)
    const remove = () => deletePolicy(other, tenant, policy.id)
    const elsewhere = scopeNode({ namespace: ['n'], name: 'elsewhere' })
    const putText = `select svc.put_policy('Policy', 'WRITE_GOVERNS', '${JSON.stringify({ id: policy.id, kind: 'write_acl' })}',
      '${JSON.stringify(elsewhere)}', '{}')`
    /** Has the second begin, and end or wait for the first, before the first is committed. */
    const overlap = (first: string, second: () => Promise<unknown>) =>
      store.tenantTransaction(tenant, async (tx) => {
        await tx.query(first)
        let over = false
        const running = second().finally(() => {
          over = true
        })
        const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
        await eventually(async () => over || (await superuser.unsafe(waits)).length > 0)
        return { running }
      })
    const edges = async () =>
      (
        await store.tenantQuery<{ joined: boolean }>(
          tenant,
          `select exists (select from "Policy" p where p.id = e.start_id) as joined from "WRITE_GOVERNS" e`,
        )
      ).map(({ joined }) => joined)
    for (const [first, second] of [
      [`select svc.delete_policy('${policy.id}', '{}')`, put],
      [putText, remove],
    ] as const) {
      await put()
      await (await overlap(first, second)).running
      expect(await edges()).not.toContain(false)
      await put()
      expect(await loadPolicies(store, tenant, table)).toEqual([policy])
    }
    await other.close()
  })

  test('policies put and deleted at once on tables that they share all arrive, without a deadlock', async () => {
    const tenant = tenantAt(1)
    const policy = (index: number) => ({
      id: `at-once-${index}`,
      kind: (['schema', 'write_acl', 'retention'] as const)[index % 3] ?? 'schema',
      mode: 'enforce' as const,
      name: 'p',
      message: '',
      definitionCel: 'true',
    })
    const tableAt = (index: number) => ({ namespace: ['at-once'], name: `t${index % 2}` })
    const put = (index: number) => putPolicy(store, tenant, tableAt(index), policy(index))
    await Promise.all(Array.from({ length: 12 }, (_, index) => put(index)))
    await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        index < 12 ? deletePolicy(store, tenant, policy(index).id) : put(index),
      ),
    )
    const left = await Promise.all([0, 1].map((index) => loadPolicies(store, tenant, tableAt(index))))
    expect(
      left
        .flat()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(Array.from({ length: 12 }, (_, index) => policy(index + 12).id).sort())
  })

  test('a stale intent is claimed by one of two replicas', async () => {
    const other = await replica()
    const ids = Array.from({ length: 20 }, () => crypto.randomUUID())
    for (const commitId of ids) await openIntent(store, tenantAt(0), intentOf({ commitId }))
    await store.ownerTransaction(tenantAt(0), (tx) =>
      tx.query(
        `update svc.commit_intent set lease_until = now() - interval '1 h', upstream_until = now() - interval '1 h'`,
      ),
    )
    const claim = async (from: Store) =>
      (await claimStaleIntents(from, { limit: 15 })).map(({ intent }) => intent.commitId)
    const claimed = (await Promise.all([claim(store), claim(other)])).flat()
    claimed.push(...(await claim(store)))
    expect(claimed.sort()).toEqual(ids.sort())
    await other.close()
  })

  test('a job runs on one replica, and on the other when the first is done', async () => {
    const other = await replica()
    const entered = Promise.withResolvers<void>()
    const leave = Promise.withResolvers<void>()
    const first = withReplicaLock(store, 'hourly', async () => {
      entered.resolve()
      await leave.promise
    })
    await entered.promise
    expect(await withReplicaLock(other, 'hourly', async () => {})).toBe(false)
    leave.resolve()
    await first
    expect(await withReplicaLock(other, 'hourly', async () => {})).toBe(true)
    await other.close()
  })

  /** A way to the database that lets through of a session's answers what `passes` does, asked again for each session. */
  async function lineTo(passes: () => (answer: Buffer) => boolean) {
    const url = new URL(store.databaseUrl ?? '')
    const { port, hostname } = url
    const line = createServer((client) => {
      const isPassed = passes()
      const toServer = connect(Number(port || 5432), hostname)
      toServer.on('data', (data: Buffer) => isPassed(data) && client.write(data))
      client.on('data', (data) => toServer.write(data))
      client.on('close', () => toServer.destroy())
      toServer.on('close', () => client.destroy())
      for (const end of [client, toServer]) end.on('error', () => {})
    })
    await new Promise<void>((listening) => line.listen(0, '127.0.0.1', listening))
    url.host = `127.0.0.1:${(line.address() as AddressInfo).port}`
    return { databaseUrl: url.href, close: () => void line.close() }
  }

  test('a job whose lock’s session no longer answers is told to stop', async () => {
    let answering = true
    const line = await lineTo(() => () => answering)
    const other = await replica({ databaseUrl: line.databaseUrl })
    const work = async (signal: AbortSignal) => {
      answering = false
      await aborted(signal)
    }
    expect(await withReplicaLock(other, 'silent', work, 50)).toBe(true)
    answering = true
    await other.close()
    line.close()
  })

  test('a probe of a database that no longer answers fails, and passes again once it answers', async () => {
    let answering = true
    const line = await lineTo(() => () => answering)
    const other = await replica({ databaseUrl: line.databaseUrl, statementMs: 200 })
    const check = async (name: 'healthy' | 'checkWrites') => {
      if ((await other[name]()) === false) throw new Error('not healthy')
    }
    const probes = (['healthy', 'checkWrites'] as const).map((name) => bounded(() => check(name), 100))
    const passes = async () => {
      const outcomes = await Promise.allSettled(probes.map((probe) => probe()))
      return outcomes.every(({ status }) => status === 'fulfilled')
    }
    await eventually(passes)
    answering = false
    expect(await passes()).toBe(false)
    answering = true
    await eventually(passes)
    await other.close()
    line.close()
  })

  test('a database without room for a temporary file refuses the probe’s write, and still answers', async () => {
    const [at] = await superuser<{ name: string }[]>`select current_database() as name`
    const name = at?.name ?? ''
    await superuser`alter database ${superuser(name)} set temp_file_limit = '64kB'`
    const other = await replica()
    expect(await failure(other.checkWrites())).toBe('unavailable')
    expect(await other.healthy()).toBe(true)
    await superuser`alter database ${superuser(name)} reset temp_file_limit`
    expect(await failure(store.checkWrites())).toBe('none')
    await other.close()
  })

  test('a secrets key is the one of the database on every replica', async () => {
    await assertSecretsKey(store)
    const other = await replica({ secretsKey: new Uint8Array(32).fill(9) })
    expect(await failure(assertSecretsKey(other))).toBe('misconfigured')
    await other.close()
    const same = await replica()
    await assertSecretsKey(same)
    await same.close()
  })

  test('a session that is silent from its log-in on is given up, and its place is free again', async () => {
    let silent = false
    const line = await lineTo(() => {
      let loggedIn = false
      return (answer) => {
        const isPassed = !(silent && loggedIn)
        // ReadyForQuery.
        loggedIn ||= answer.at(-6) === 0x5a
        return isPassed
      }
    })
    const other = await replica({ databaseUrl: line.databaseUrl, poolMax: 1, statementMs: 200 })
    silent = true
    expect(await failure(other.adminQuery('select 1'))).toBe('unavailable')
    expect(await failure(other.openLink())).not.toBe('none')
    silent = false
    expect(await other.healthy()).toBe(true)
    await other.close()
    line.close()
  })

  test('a cancel channel is heard again after the server ended its session', async () => {
    const heard: string[] = []
    const channel = await openCancelChannel(store, (message) => void heard.push(message))
    const listening = async () =>
      await superuser<{ pid: number }[]>`select pid from pg_stat_activity
        where datname = current_database() and query ilike 'listen %'`
    const [before] = await listening()
    await superuser`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name = 'covenant'`
    await eventually(async () => {
      const [now] = await listening()
      return now !== undefined && now.pid !== before?.pid
    })
    await eventually(async () => (await failure(channel?.publish('now') ?? Promise.reject())) === 'none')
    await eventually(() => heard.includes('now'))
    await channel?.close()
  })

  test('replicas that start at once on an empty database migrate it once', async () => {
    const empty = `covenant_${crypto.randomUUID().replaceAll('-', '')}`
    const sql = postgres(server ?? '', { max: 1, onnotice: () => {} })
    await sql.unsafe(`create database ${empty}`)
    const url = new URL(server ?? '')
    url.pathname = `/${empty}`
    const started = await Promise.all(Array.from({ length: 4 }, () => replica({ databaseUrl: url.href })))
    expect(await Promise.all(started.map((one) => one.healthy()))).toEqual([true, true, true, true])
    await Promise.all(started.map((one) => one.close()))
    await sql.unsafe(`drop database ${empty} with (force)`)
    await sql.end()
  })

  test('a replica that starts while another one migrates waits for it, however long that takes', async () => {
    await superuser`select pg_advisory_lock(7242001)`
    let failed: string | undefined
    const starting = replica({ statementMs: 50 })
    starting.catch((error: Fault) => {
      failed = error.publicMessage
    })
    const waits = `select 1 from pg_stat_activity where wait_event = 'advisory' and datname = current_database()
      and clock_timestamp() - query_start > interval '200 ms'`
    await eventually(async () => failed !== undefined || (await superuser.unsafe(waits)).length > 0)
    await superuser`select pg_advisory_unlock(7242001)`
    expect(failed).toBeUndefined()
    await (await starting).close()
  })

  test('a user that only owns the database and may create roles suffices, once a superuser ran bootstrap.sql', async () => {
    const name = `covenant_${crypto.randomUUID().replaceAll('-', '')}`
    const sql = postgres(server ?? '', { max: 1, onnotice: () => {} })
    await sql.unsafe(`create role ${name} login createrole password '${name}'`)
    await sql.unsafe(`create database ${name} owner ${name}`)
    const url = new URL(server ?? '')
    url.pathname = `/${name}`
    const there = postgres(url.href, { max: 1, onnotice: () => {} })
    url.username = name
    url.password = name
    // Roles belong to the server and exist already here: another user made them, who must grant them.
    const open = () => replica({ databaseUrl: url.href })
    const refusal = () =>
      open().then(
        () => 'none',
        (error: Fault) => error.publicMessage,
      )
    expect(await refusal()).toContain('bootstrap.sql')
    await there
      .unsafe(await Bun.file(new URL('../../migrations/bootstrap.sql', import.meta.url)).text())
      .simple()
    expect(await refusal()).toContain('may not act as svc_owner')
    for (const role of ['svc_owner', 'svc_admin', 'svc_tenant'])
      await there.unsafe(`grant ${role} to ${name}`)
    const plain = await open()
    const { id } = await createTenant(plain, { name: 'plain' })
    expect((await recordVerdict(plain, id, approvedOf(intentOf()))).ingested).toBe(true)
    expect(await plain.healthy()).toBe(true)
    await plain.close()
    await there.end()
    await sql.unsafe(`drop database ${name} with (force)`)
    await sql.unsafe(`drop role ${name}`)
    await sql.end()
  })

  test('no statement on a tenant’s labels is counted for AGE’s paths of any length, which nothing here asks for', async () => {
    const counted = await superuser`select tgrelid::regclass from pg_trigger
      where tgname = '_age_cache_invalidate' and tgenabled <> 'D' and tgrelid::regclass::text not like 'svc_health.%'`
    expect(counted).toHaveLength(0)
  })

  test('each tenant adds to the tables for which a dump needs a lock, and the server says how many it has', async () => {
    const { tables, locks, transactions } = await lockSpaceOf(superuser)
    await createTenant(store, { name: 'one more' })
    const more = (await lockSpaceOf(superuser)).tables - tables
    expect(more).toBeGreaterThan(50)
    const [each] = await superuser<
      { max: number }[]
    >`select current_setting('max_locks_per_transaction')::int as max`
    expect(locks).toBe(Number(each?.max) * transactions)
  })

  test('look-ups by id use the index under row-level security', async () => {
    const rows = await store.tenantTransaction(tenantAt(0), async (tx) => {
      await tx.query('set local enable_seqscan = off')
      return tx.query<Record<string, string>>(
        `explain select id from "Table" t
         where agtype_access_operator(variadic array[t.properties, '"id"'::agtype]) = '"x"'::agtype`,
      )
    })
    expect(JSON.stringify(rows)).toContain('Index Cond')
  })
})
