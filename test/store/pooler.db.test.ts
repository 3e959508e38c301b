/**
 * A pooler between the service and its database, a real PgBouncer. One that moves connections between sessions is
 * refused when the service starts; in session mode, set up as docs/operations.md says, everything works.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import postgres from 'postgres'
import type { Fault } from '../../src/base/fault.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { openCancelChannel } from '../../src/store/query/cancel-channel.ts'
import { createServiceSession, findServiceSession } from '../../src/store/session/sessions.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { hasProgram } from '../clients/programs.ts'
import { eventually } from '../support/eventually.ts'
import { type PgBouncer, type PgBouncerOptions, startPgBouncer } from '../support/pgbouncer.ts'
import { openTestStore, type TestStore, testSecretsKey } from '../support/store.ts'

setDefaultTimeout(300_000)

const server = process.env.SVC_TEST_DATABASE_URL
/** All that a connection sends when it starts, which an operator may tell PgBouncer to ignore. */
const ignored =
  'ignore_startup_parameters = role, search_path, default_transaction_isolation, default_transaction_read_only, statement_timeout, lock_timeout, idle_in_transaction_session_timeout, client_connection_check_interval'

/** The `[pgbouncer]` section that the page for operators gives. */
function recipe(): readonly string[] {
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  const [, section = ''] = /```ini\n\[databases\][^[]*\[pgbouncer\]\n([^`]*)```/.exec(page) ?? []
  return section.split('\n').filter((line) => /^\w+ = /.test(line) && !/^(?:listen|auth)/.test(line))
}

// Skipped where no server is named, as by `bun run test:db`, or PgBouncer is not installed; it says so.
describe.skipIf(server === undefined || !hasProgram('pgbouncer'))('a store behind PgBouncer', () => {
  let store: TestStore
  let tenant: TenantId
  let foreign: TenantId
  /** Sees the statements of others. */
  let superuser: postgres.Sql
  beforeAll(async () => {
    store = await openTestStore()
    superuser = postgres(store.databaseUrl ?? '', { max: 1, onnotice: () => {} })
    tenant = (await createTenant(store, { name: 'acme' })).id
    foreign = (await createTenant(store, { name: 'foreign' })).id
  })
  afterAll(async () => {
    await superuser.end()
    await store[Symbol.asyncDispose]()
  })

  function bounce(options: Pick<PgBouncerOptions, 'mode' | 'settings'>): Promise<PgBouncer> {
    const { port, username, password, pathname } = new URL(store.databaseUrl ?? '')
    const users = { [username]: decodeURIComponent(password) }
    return startPgBouncer({ serverPort: Number(port), database: pathname.slice(1), users, ...options })
  }

  function open(
    through: PgBouncer,
    options: { readonly poolMax?: number; readonly statementMs?: number } = {},
  ) {
    const url = new URL(store.databaseUrl ?? '')
    url.host = `127.0.0.1:${through.port}`
    const usual = { secretsKey: testSecretsKey, migrate: true, poolMax: 4, onNotice: () => {} }
    return openStore({ ...usual, databaseUrl: url.href, ...options })
  }

  const refusal = (opening: Promise<Store>) =>
    opening.then(
      async (opened) => {
        await opened.close()
        return 'it started'
      },
      (thrown: Fault) => `${thrown.kind}: ${thrown.publicMessage}`,
    )

  for (const [mode, settings] of [
    ['transaction', []],
    ['transaction', [ignored]],
    ['transaction', [ignored, 'default_pool_size = 1']],
    ['transaction', [ignored, 'default_pool_size = 20', 'min_pool_size = 10']],
    ['transaction', [ignored, 'default_pool_size = 20', 'server_round_robin = 1']],
    ['statement', [ignored]],
  ] as const)
    test(`in mode ${mode} is refused by name (${settings.join('; ').replace(ignored, 'settings ignored') || 'as it comes'})`, async () => {
      await using through = await bounce({ mode, settings })
      expect(await refusal(open(through))).toMatch(/^misconfigured: .*pooler.*pool_mode = session/)
    })

  test('is refused also while others use the pooler', async () => {
    await using through = await bounce({ mode: 'transaction', settings: [ignored, 'default_pool_size = 6'] })
    const url = new URL(store.databaseUrl ?? '')
    url.host = `127.0.0.1:${through.port}`
    const others = Array.from({ length: 8 }, () => postgres(url.href, { max: 1, fetch_types: false }))
    let over = false
    const busy = others.map(async (sql) => {
      while (!over) await sql.unsafe('select 1').simple()
    })
    try {
      for (let time = 0; time < 5; time++)
        expect(await refusal(open(through))).toContain('pool_mode = session')
    } finally {
      over = true
      await Promise.all(busy)
      await Promise.all(others.map((sql) => sql.end()))
    }
  })

  describe('in session mode, as the documentation says', () => {
    let through: PgBouncer
    let pooled: Store
    beforeAll(async () => {
      expect(recipe()).toContain('pool_mode = session')
      through = await bounce({ mode: 'session', settings: recipe() })
      pooled = await open(through)
    })
    afterAll(async () => {
      await pooled.close()
      await through[Symbol.asyncDispose]()
    })

    const settings = `select current_user::text as role, current_setting('app.tenant_id') as tenant,
      current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
      current_setting('default_transaction_isolation') as isolation,
      current_setting('idle_in_transaction_session_timeout') as idle,
      current_setting('client_connection_check_interval') as interval`

    test('each transaction has the role and the settings that it has without a pooler', async () => {
      const here = (of: Store) => of.tenantQuery(tenant, settings)
      const direct = await openStore({
        ...{ secretsKey: testSecretsKey, migrate: true, onNotice: () => {} },
        databaseUrl: store.databaseUrl,
      })
      const expected = await here(direct)
      await direct.close()
      for (let time = 0; time < 12; time++) expect(await here(pooled)).toEqual(expected)
      const roles = await Promise.all(
        Array.from({ length: 12 }, () => pooled.tenantQuery<{ role: string }>(tenant, settings)),
      )
      expect(roles.flat().map(({ role }) => role)).toEqual(Array(12).fill('svc_tenant'))
    })

    test('sessions are found, also by many requests at once, and a foreign tenant’s rows are not', async () => {
      const principal = { sub: 'service:reader', roles: [] }
      const made = await Promise.all(
        [tenant, foreign].map((of) =>
          createServiceSession(pooled, of, { name: 'reader', principal, scopes: ['read'] }),
        ),
      )
      const found = await Promise.all(
        Array.from({ length: 100 }, async (_, index) => {
          const session = await findServiceSession(pooled, made[index % 2]?.secret ?? '')
          const rows = await pooled.tenantQuery<{ id: string }>(
            index % 2 === 0 ? tenant : foreign,
            'select tenant_id::text as id from svc.tenant',
          )
          return [session?.tenant, ...rows.map(({ id }) => id)]
        }),
      )
      expect(found).toEqual(
        Array.from({ length: 100 }, (_, index) => Array(2).fill(index % 2 ? foreign : tenant)),
      )
    })

    test('a statement past its time is ended by the server, and one that is cancelled too', async () => {
      const short = await open(through, { statementMs: 100 })
      const kind = (work: Promise<unknown>) =>
        work.then(
          () => 'none',
          (thrown: Fault) => thrown.kind,
        )
      expect(await kind(short.tenantQuery(tenant, 'select pg_sleep(60)'))).toBe('unavailable')
      await short.close()
      const controller = new AbortController()
      const long = pooled
        .tenantQuery(tenant, 'select pg_sleep(61)', [], { signal: controller.signal })
        .catch(() => {})
      const running = `select 1 from pg_stat_activity where query like '%pg_sleep(61)%' and pid <> pg_backend_pid() and state = 'active'`
      await eventually(async () => (await superuser.unsafe(running)).length > 0)
      controller.abort()
      await long
      await eventually(async () => (await superuser.unsafe(running)).length === 0)
    })

    test('notifications arrive', async () => {
      const heard: string[] = []
      const channel = await openCancelChannel(pooled, (message) => void heard.push(message))
      await eventually(async () => {
        await channel?.publish('now')
        return heard.includes('now')
      })
      await channel?.close()
    })

    test('a connection that it closes gives its session back without settings, locks or statements', async () => {
      const url = new URL(store.databaseUrl ?? '')
      url.host = `127.0.0.1:${through.port}`
      await (await open(through)).close()
      const sql = postgres(url.href, { max: 1, fetch_types: false })
      const left = await sql
        .unsafe(
          `select current_setting('role') as role, (select count(*)::int from pg_prepared_statements) as statements,
          (select count(*)::int from pg_listening_channels()) as channels`,
        )
        .simple()
      expect([...left].map((row) => ({ ...(row as object) })) as unknown).toEqual([
        { role: 'none', statements: 0, channels: 0 },
      ])
      await sql.end()
    })
  })
})
