/** A cursor that is open at one replica ends when another replica changes what it read, over one PostgreSQL. */

import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import postgres from 'postgres'
import { AccessTokens } from '../../../src/auth/access-token.ts'
import { systemClock } from '../../../src/base/clock.ts'
import { TableStates } from '../../../src/catalog/table-states.ts'
import type { ChangeContext } from '../../../src/contract/change.ts'
import { deleteMask } from '../../../src/contract/delete-mask.ts'
import { putMask } from '../../../src/contract/put-mask.ts'
import { limits } from '../../../src/limits.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { queryService } from '../../../src/query/run/run.ts'
import { type Pgwire, startPgwire } from '../../../src/server/pgwire/start-pgwire.ts'
import {
  readGovernanceVersion,
  subscribeToGovernanceVersions,
} from '../../../src/store/governance/governance-versions.ts'
import { openStore, type Store } from '../../../src/store/store.ts'
import { createLogger } from '../../../src/telemetry/log.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { actorOf } from '../../support/actor.ts'
import { eventually } from '../../support/eventually.ts'
import { type HandPace, handPace } from '../../support/hand-pace.ts'
import { type Lake, startLake } from '../../support/lake.ts'
import { longs, scriptedEngine } from '../../support/scripted-engine.ts'
import { openTestStore, type TestStore, testStoreOptions } from '../../support/store.ts'
import { frames, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(300_000)

const note = { table: { namespace: ['sales'], name: 'orders' }, column: 'note' }
const mask = { id: 'open', action: 'replace-with-null', exemptRoles: [] } as const
const governed =
  'E 55000 The governance of table sales.orders has changed since the query began. Run it again.'

// Skipped where no server is named: `bun run test:db` names one.
describe.skipIf(process.env.SVC_TEST_DATABASE_URL === undefined)('a replica', () => {
  const stack = new AsyncDisposableStack()
  let lake: Lake
  let here: TestStore
  let there: Store
  let pace: HandPace
  let replica: Pgwire
  let client: WireClient
  let on: ChangeContext
  /** What the replica was notified of. */
  let heard: bigint[]

  beforeAll(async () => {
    here = stack.use(await openTestStore())
    lake = stack.use(await startLake({ store: here }))
    on = { store: here, tenant: lake.tenant, actor: actorOf('stella'), checkPolicies }
    there = await openStore({ ...testStoreOptions, databaseUrl: here.databaseUrl })
    stack.defer(() => there.close())
    subscribeToGovernanceVersions(there, (_, version) => heard.push(version))
    const scripted = scriptedEngine()
    scripted.rows = async function* () {
      for (let value = 1n; ; value++) yield longs(value)
    }
    pace = handPace()
    const log = createLogger({ level: 'silent' })
    replica = await startPgwire({
      hostname: '127.0.0.1',
      port: 0,
      tls: undefined,
      allowPlaintext: false,
      store: there,
      tokens: new AccessTokens(there),
      verifyToken: undefined,
      claims: { organization: 'org_id', roles: undefined },
      queries: queryService({
        store: there,
        states: new TableStates(lake.app.gateway.catalogs, 1_000_000),
        engines: new Map([['duckdb', { engine: async () => scripted.engine, close: async () => {} }]]),
        clock: systemClock,
        pace,
        log,
      }),
      systemCatalog: undefined,
      explain: async () => Promise.reject(new Error('nothing is explained here')),
      metrics: createMetrics(),
      log,
      clock: systemClock,
    })
    stack.defer(async () => void (await replica.stop(5_000)))
  })
  afterAll(() => stack.disposeAsync())
  beforeEach(async () => {
    heard = []
    const { PGUSER: user, PGPASSWORD: password, PGDATABASE: database } = lake.env
    client = await WireClient.logIn({ port: replica.port }, { user, database, password })
    await client.ask(frames.query('BEGIN'))
    await client.ask(frames.query('DECLARE c CURSOR FOR SELECT id FROM sales.orders'))
    expect(await client.ask(frames.query('FETCH c'))).toContain('D 1')
  })
  afterEach(async () => {
    client.close()
    await deleteMask(on, note, 'open')
  })

  test('hears of a mask that another one saves', async () => {
    await putMask(on, note, mask)
    const version = await readGovernanceVersion(here, lake.tenant)
    await eventually(() => heard.includes(version))
    expect(await client.ask(frames.query('FETCH c'))).toContain(governed)
  })

  test('that has lost every connection when the mask is saved gives no row two seconds later', async () => {
    const superuser = postgres(here.databaseUrl ?? '', { max: 1, onnotice: () => {} })
    await superuser`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'covenant'`
    await superuser.end()
    await eventually(() => here.healthy())
    heard = []
    await putMask(on, note, mask)
    await eventually(() => there.healthy())
    expect(heard).toEqual([])
    pace.advance(limits.governanceStaleMs + 1)
    expect(await client.ask(frames.query('FETCH c'))).toContain(governed)
  })
})
