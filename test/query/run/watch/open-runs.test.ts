/** An open run ends when anything from which it was loaded changes, and at no other change. */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { appendSnapshot, orderFields, replaceSchema } from '../../../../demo/commits.ts'
import { Fault } from '../../../../src/base/fault.ts'
import { TableStates } from '../../../../src/catalog/table-states.ts'
import type { ChangeContext } from '../../../../src/contract/change.ts'
import { deleteContract } from '../../../../src/contract/delete-contract.ts'
import { deleteMask } from '../../../../src/contract/delete-mask.ts'
import { deleteRowFilter } from '../../../../src/contract/delete-row-filter.ts'
import { deleteTag } from '../../../../src/contract/delete-tag.ts'
import { putContract } from '../../../../src/contract/put-contract.ts'
import { putMask } from '../../../../src/contract/put-mask.ts'
import { putRowFilter } from '../../../../src/contract/put-row-filter.ts'
import { putTag } from '../../../../src/contract/put-tag.ts'
import type { ResultBatch } from '../../../../src/core/result-batch.ts'
import { limits } from '../../../../src/limits.ts'
import type { SqlError } from '../../../../src/query/compile/base/sql-error.ts'
import { checkPolicies } from '../../../../src/query/compile/protect/protect.ts'
import type { QueryContext, QueryRun, QueryService } from '../../../../src/query/query-service.ts'
import { queryService, type RunParts } from '../../../../src/query/run/run.ts'
import {
  putCatalogCredential,
  removeCatalogCredential,
  rotateCatalogCredential,
} from '../../../../src/store/catalog-credential/catalog-credentials.ts'
import { pinTable, unpinTable } from '../../../../src/store/contract/pins.ts'
import { putReadSettings } from '../../../../src/store/contract/read-settings.ts'
import { listUsage } from '../../../../src/store/query/usage.ts'
import { createServiceSession, revokeServiceSession } from '../../../../src/store/session/sessions.ts'
import type { Store } from '../../../../src/store/store.ts'
import { resumeTenant, suspendTenant } from '../../../../src/store/tenant/tenants.ts'
import { createLogger } from '../../../../src/telemetry/log.ts'
import { actorOf } from '../../../support/actor.ts'
import { eventually } from '../../../support/eventually.ts'
import { commitColumns } from '../../../support/governed.ts'
import { type HandPace, handPace } from '../../../support/hand-pace.ts'
import { longs, type ScriptedEngine, scriptedEngine } from '../../../support/scripted-engine.ts'
import {
  addTenant,
  commit,
  orders,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../../support/service.ts'

setDefaultTimeout(300_000)

const first = 9_007_199_254_740_993n
const customers = { namespace: ['sales'], name: 'customers' }
const customer = { table: orders, column: 'customer' }
const change = { table: orders, actor: actorOf('stella'), atMs: 0 }
const everyone = { exemptRoles: [] }
const hidden = { id: 'm', action: 'replace-with-null', ...everyone } as const

let service: TestService
let foreign: TestTenant
let on: ChangeContext
let scripted: ScriptedEngine
let pace: HandPace
let nowMs: number
let queries: QueryService
/** What the store was asked, by the names of its calls, once a run was open. */
let asked: string[]
/** What the store fails with. */
let failure: Fault | undefined
/** Whether notifications are lost. */
let isDeaf: boolean

beforeAll(async () => {
  service = await startTestService()
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  on = { store: service.store, tenant: service.owner.tenant, actor: actorOf('stella'), checkPolicies }
  const body = appendSnapshot({
    snapshotId: first,
    parentId: undefined,
    sequenceNumber: 1,
    timestampMs: Date.now(),
  })
  expect((await commit(service, body)).status).toBe(200)
  await commitColumns(service.store, on.tenant, customers, { id: 'long', name: 'string' })
  await commitColumns(service.store, foreign.tenant, orders, { id: 'long', customer: 'string' })
})
afterAll(() => service[Symbol.asyncDispose]())
beforeEach(async () => {
  await putContract(on, orders, { id: 'orders', version: 1 })
  scripted = scriptedEngine()
  scripted.rows = async function* () {
    for (let value = 1n; ; value++) yield longs(value)
  }
  pace = handPace()
  nowMs = 0
  asked = []
  failure = undefined
  isDeaf = false
  queries = build()
})

function build(more: Partial<RunParts> = {}): QueryService {
  return queryService({
    store: watched(service.store),
    states: new TableStates(service.app.gateway.catalogs, 1_000_000),
    engines: new Map([['duckdb', { engine: async () => scripted.engine, close: async () => {} }]]),
    clock: { now: () => nowMs },
    pace,
    log: createLogger({ level: 'silent' }),
    ...more,
  })
}

function watched(store: Store): Store {
  return {
    ...store,
    async tenantCall(tenant, name, params) {
      asked.push(name)
      if (failure !== undefined && name === 'load_read') throw failure
      return await store.tenantCall(tenant, name, params)
    },
    async tenantQuery(tenant, text, params, options) {
      if (text.includes('governance_version')) {
        asked.push('governance_version')
        if (failure !== undefined) throw failure
      }
      return await store.tenantQuery(tenant, text, params, options)
    },
    subscribe: (listener) => store.subscribe((message) => isDeaf || listener(message)),
  }
}

interface Opened {
  readonly run: QueryRun
  readonly rows: AsyncIterator<ResultBatch>
  /** Whether there was a batch, or the SQLSTATE and message. */
  next(): Promise<string>
  close(): Promise<void>
}

const told = ({ sqlState, message }: SqlError) => `${sqlState} ${message}`

/** A run that has given its first batch. */
async function opened(
  more: Partial<QueryContext> = {},
  text = 'SELECT id, customer FROM sales.orders',
): Promise<Opened> {
  const context: QueryContext = {
    tenant: service.owner.tenant,
    principal: { sub: 'ada', roles: ['analyst'] },
    principalSource: 'session',
    reader: { stillValid: async () => true },
    surface: 'pgwire',
    catalog: 'main',
    searchPath: [],
    ...more,
  }
  const query = await queries.prepare(context, text)
  const run = queries.run(context, query, { signal: new AbortController().signal })
  const rows = run[Symbol.asyncIterator]()
  const next = () => rows.next().then(({ done }) => (done ? 'end' : 'rows'), told)
  expect(await next()).toBe('rows')
  asked = []
  return { run, rows, next, close: async () => void (await rows.return?.()) }
}

const isClosed = () => scripted.asked.every(({ closed }) => closed === 1)
const governed = '55000 The governance of table sales.orders has changed since the query began. Run it again.'
const catalogChanged = '55000 The credential of the catalog has changed since the query began. Run it again.'
const revoked = '28000 The credential that the query runs with was revoked or has expired.'

/** Each with what makes it ready before the run is opened, and what is done after it. */
const changes: readonly (readonly [
  what: string,
  made: () => Promise<unknown>,
  undo: () => Promise<unknown>,
  before?: () => Promise<unknown>,
])[] = [
  ['a mask is saved', () => putMask(on, customer, hidden), () => deleteMask(on, customer, 'm')],
  [
    'a mask is lifted',
    () => deleteMask(on, customer, 'm'),
    async () => {},
    () => putMask(on, customer, hidden),
  ],
  [
    'a row filter is saved',
    () => putRowFilter(on, { table: orders }, { id: 'f', expression: 'id > 1', ...everyone }),
    () => deleteRowFilter(on, { table: orders }, 'f'),
  ],
  [
    'a masked tag is put on a column',
    () => putTag(on, orders, 'customer', 'pii'),
    async () => {
      await deleteTag(on, orders, 'customer', 'pii')
      await deleteMask(on, { tag: 'pii' }, 'm')
    },
    () => putMask(on, { tag: 'pii' }, hidden),
  ],
  [
    'the table is pinned',
    () => pinTable(service.store, on.tenant, change, { snapshotId: first, schemaId: 0n, catalog: 'main' }),
    () => unpinTable(service.store, on.tenant, change),
  ],
  ['its contract is ended', () => deleteContract(on, orders), async () => {}],
  [
    'the opt-in is withdrawn by which it was read',
    () => putReadSettings(service.store, on.tenant, actorOf('stella'), { uncontracted: 'to_writers' }),
    async () => {},
    async () => {
      await putReadSettings(service.store, on.tenant, actorOf('stella'), { uncontracted: 'readable' })
      await deleteContract(on, orders)
    },
  ],
]

describe('a run ends at its next batch', () => {
  test.each(changes)(
    'after %s, in the engine too, and says so in its usage record',
    async (_, made, undo, before) => {
      await before?.()
      const { next } = await opened()
      await made()
      expect(await next()).toBe(governed)
      expect(isClosed()).toBe(true)
      const { items } = await listUsage(service.store, on.tenant, {}, { limit: 1 })
      expect(items[0]).toMatchObject({ outcome: 'failed', sqlState: '55000', rowsOut: 1 })
      await undo()
    },
  )

  test('after the credential of its catalog is rotated or removed', async () => {
    const { store } = service
    await putCatalogCredential(store, on.tenant, {
      nickname: 'second',
      kind: 'alpha',
      endpoint: service.catalog.url,
      config: { endpoint: service.catalog.url, warehouse: 'dev', credential: 'gateway:s3cret' },
    })
    const [one, other] = [await opened({ catalog: 'second' }), await opened({ catalog: 'main' })]
    await rotateCatalogCredential(store, on.tenant, 'second', { prefix: 'p' })
    expect([await one.next(), await other.next()]).toEqual([catalogChanged, 'rows'])
    await rotateCatalogCredential(store, on.tenant, 'second', { prefix: undefined })
    const again = await opened({ catalog: 'second' })
    await removeCatalogCredential(store, on.tenant, 'second')
    expect([await again.next(), await other.next()]).toEqual([catalogChanged, 'rows'])
    await other.close()
  })

  test('after the session of its reader is revoked, and not another’s', async () => {
    const session = { name: 'bi', principal: { sub: 'ada', roles: [] }, scopes: ['read'] } as const
    const [mine, other] = [
      await createServiceSession(service.store, on.tenant, session),
      await createServiceSession(service.store, on.tenant, session),
    ]
    const reader = {
      sessionToCheck: () => mine.id,
      stillValid: () => Promise.reject(new Error('not to be asked')),
    }
    const { next } = await opened({ reader })
    await revokeServiceSession(service.store, on.tenant, other.id)
    expect(await next()).toBe('rows')
    await revokeServiceSession(service.store, on.tenant, mine.id)
    expect(await next()).toBe(revoked)
    expect(isClosed()).toBe(true)
  })

  test('after its tenant is suspended, whatever its credential depends on', async () => {
    let isValid = true
    const { next } = await opened({ reader: { stillValid: async () => isValid } })
    isValid = false
    await suspendTenant(service.store, on.tenant)
    expect(await next()).toBe(revoked)
    await resumeTenant(service.store, on.tenant)
  })

  test('from the moment at which its reader’s credential expires', async () => {
    const { next } = await opened({ reader: { stillValid: async () => true, expiresAtMs: 1_000 } })
    nowMs = 999
    expect(await next()).toBe('rows')
    nowMs = 1_000
    expect(await next()).toBe(revoked)
    expect(asked).toEqual(['record_usage'])
  })
})

describe('a run goes on, without a word to the store,', () => {
  test('while nothing changes', async () => {
    const { next, run, close } = await opened()
    for (let turn = 0; turn < 100; turn++) {
      expect(await next()).toBe('rows')
      expect(run.confirm()).toBeUndefined()
    }
    expect(asked).toEqual([])
    await close()
  })

  test('after a mask on the table of that name of another tenant', async () => {
    const theirs = { ...on, tenant: foreign.tenant }
    const { next, close } = await opened()
    await putMask(theirs, customer, hidden)
    expect([await next(), asked]).toEqual(['rows', []])
    await deleteMask(theirs, customer, 'm')
    await close()
  })

  test('after a commit to its table that changes its columns', async () => {
    const { next, close } = await opened()
    const wider = replaceSchema([...orderFields, { id: 9, name: 'added', type: 'string', required: false }])
    expect((await commit(service, wider)).status).toBe(200)
    expect([await next(), asked]).toEqual(['rows', []])
    await close()
  })
})

test('a change of the tenant’s that is none of a run’s costs it one load, and no more', async () => {
  const { next, run, close } = await opened()
  await putMask(on, { table: customers, column: 'name' }, hidden)
  expect([await next(), await next(), run.confirm()]).toEqual(['rows', 'rows', undefined])
  expect(asked).toEqual(['load_read'])
  await deleteMask(on, { table: customers, column: 'name' }, 'm')
  await close()
})

test('a mask from which the reader is exempt does not end a run', async () => {
  const { next, close } = await opened()
  await putMask(on, customer, { ...hidden, exemptRoles: ['analyst'] })
  expect(await next()).toBe('rows')
  await deleteMask(on, customer, 'm')
  await close()
})

describe('rows of a batch that was pulled before', () => {
  test('are not to be given after a change, and the engine is let go without another pull', async () => {
    const { run, next } = await opened()
    expect(run.confirm()).toBeUndefined()
    await putMask(on, customer, hidden)
    expect(await run.confirm()?.catch(told)).toBe(governed)
    await eventually(isClosed)
    expect(await run.confirm()?.catch(told)).toBe(governed)
    expect(await next()).toBe(governed)
    await deleteMask(on, customer, 'm')
  })

  test('are recorded as of a run that failed, where their reader leaves then', async () => {
    const { run, close } = await opened()
    await putMask(on, customer, hidden)
    await run.confirm()?.catch(told)
    await close()
    const { items } = await listUsage(service.store, on.tenant, {}, { limit: 1 })
    expect(items[0]).toMatchObject({ outcome: 'failed', sqlState: '55000', queryId: run.queryId })
    await deleteMask(on, customer, 'm')
  })
})

describe('where no notification arrives', () => {
  beforeEach(() => {
    isDeaf = true
    queries = build()
  })

  test('a run that goes on asks for the version behind its back within a second, once for all runs', async () => {
    const [one, other] = [await opened(), await opened()]
    await putMask(on, customer, hidden)
    pace.advance(limits.governanceAskMs + 1)
    // What was known when they were asked for is recent enough.
    expect([await one.next(), await other.next()]).toEqual(['rows', 'rows'])
    await eventually(async () => (await one.next()) === governed)
    expect(asked.filter((call) => call === 'governance_version')).toHaveLength(1)
    expect(await other.next()).toBe(governed)
    await deleteMask(on, customer, 'm')
  })

  test('no row is given two seconds after the version was last known: it is waited for', async () => {
    const { run, next } = await opened()
    await putMask(on, customer, hidden)
    pace.advance(limits.governanceStaleMs + 1)
    expect(await run.confirm()?.catch(told)).toBe(governed)
    expect(asked).toEqual(['governance_version', 'load_read'])
    expect(await next()).toBe(governed)
    await deleteMask(on, customer, 'm')
  })

  test('a run over which nothing has changed goes on after that, without a load', async () => {
    const { next, close } = await opened()
    pace.advance(limits.governanceStaleMs + 1)
    expect([await next(), await next(), asked]).toEqual(['rows', 'rows', ['governance_version']])
    await close()
  })
})

describe('a store that does not answer', () => {
  const gone = new Fault('unavailable', 'The database is not available.')

  test('for a moment ends nothing, and is no verdict', async () => {
    const { next, close } = await opened()
    pace.advance(limits.governanceStaleMs + 1)
    failure = gone
    const rows = next()
    await pace.slept()
    await pace.slept()
    failure = undefined
    expect(await rows).toBe('rows')
    await close()
  })

  test('for longer ends what cannot be told to stand, and says to retry', async () => {
    const { next } = await opened()
    failure = gone
    expect(await next()).toBe('rows')
    pace.advance(limits.governanceStaleMs + 1)
    expect(await next()).toBe('58000 The governance of the tables could not be checked. Retry.')
    expect(isClosed()).toBe(true)
  })
})

describe('a run that is left open', () => {
  const timedOut = '57014 canceling statement due to statement timeout'

  test('ends when its time is over, engine and all, and gives no more rows of what was pulled', async () => {
    queries = build({ queryMs: 1_000 })
    const { run, next } = await opened()
    await eventually(isClosed)
    expect(await run.confirm()?.catch(told)).toBe(timedOut)
    expect(await next()).toBe(timedOut)
  })

  test('ends when nobody has asked for its rows for too long', async () => {
    queries = build({ queryIdleMs: 50 })
    const { run, next } = await opened()
    await eventually(isClosed)
    const idle = '57014 canceling statement because its rows were not fetched in time'
    expect(await run.confirm()?.catch(told)).toBe(idle)
    expect(await next()).toBe(idle)
  })
})
