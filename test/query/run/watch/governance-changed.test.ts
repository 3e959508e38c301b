/** A read whose governance changes before its first rows is tried again, and shows nothing by the old governance. */

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
import { appendSnapshot, orderFields, replaceSchema } from '../../../../demo/commits.ts'
import { TableStates } from '../../../../src/catalog/table-states.ts'
import type { ChangeContext } from '../../../../src/contract/change.ts'
import { deleteContract } from '../../../../src/contract/delete-contract.ts'
import { deleteMask } from '../../../../src/contract/delete-mask.ts'
import { putContract } from '../../../../src/contract/put-contract.ts'
import { putMask } from '../../../../src/contract/put-mask.ts'
import type { SqlError } from '../../../../src/query/compile/base/sql-error.ts'
import { checkPolicies } from '../../../../src/query/compile/protect/protect.ts'
import type { QueryContext, QueryService } from '../../../../src/query/query-service.ts'
import { queryService } from '../../../../src/query/run/run.ts'
import { changeTriesMax } from '../../../../src/query/run/watch/governance-changed.ts'
import { rotateCatalogCredential } from '../../../../src/store/catalog-credential/catalog-credentials.ts'
import { listUsage } from '../../../../src/store/query/usage.ts'
import { createServiceSession, revokeServiceSession } from '../../../../src/store/session/sessions.ts'
import type { Store } from '../../../../src/store/store.ts'
import { createLogger } from '../../../../src/telemetry/log.ts'
import { actorOf } from '../../../support/actor.ts'
import { commitColumns } from '../../../support/governed.ts'
import { handPace } from '../../../support/hand-pace.ts'
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

const customer = { table: orders, column: 'customer' }
const hidden = { id: 'm', action: 'replace-with-null', exemptRoles: [] } as const
const text = 'SELECT id, customer FROM sales.orders'

let service: TestService
let foreign: TestTenant
let on: ChangeContext
let scripted: ScriptedEngine
let queries: QueryService
/** The number of loads so far, and what happens right before each. */
let loads: number
let beforeLoad: (load: number) => Promise<void>
/** What happens while the engine computes the first rows of each try, counted from 1. */
let during: (attempt: number) => Promise<unknown>

beforeAll(async () => {
  service = await startTestService()
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  on = { store: service.store, tenant: service.owner.tenant, actor: actorOf('stella'), checkPolicies }
  const body = appendSnapshot({
    ...{ snapshotId: 9_007_199_254_740_993n, parentId: undefined, sequenceNumber: 1 },
    timestampMs: Date.now(),
  })
  expect((await commit(service, body)).status).toBe(200)
  await commitColumns(service.store, foreign.tenant, orders, { id: 'long', customer: 'string' })
})
afterAll(() => service[Symbol.asyncDispose]())
beforeEach(async () => {
  await putContract(on, orders, { id: 'orders', version: 1 })
  scripted = scriptedEngine()
  // The one row says which try it came from.
  scripted.rows = async function* () {
    const attempt = scripted.asked.length
    await during(attempt)
    yield longs(BigInt(attempt))
  }
  loads = 0
  beforeLoad = async () => {}
  during = async () => {}
  queries = queryService({
    store: hooked(service.store),
    states: new TableStates(service.app.gateway.catalogs, 1_000_000),
    engines: new Map([['duckdb', { engine: async () => scripted.engine, close: async () => {} }]]),
    clock: { now: () => 0 },
    pace: handPace(),
    log: createLogger({ level: 'silent' }),
    queryMs: 60_000,
  })
})
afterEach(() => deleteMask(on, customer, 'm').catch(() => {}))

function hooked(store: Store): Store {
  return {
    ...store,
    async tenantCall(tenant, name, params) {
      if (name === 'load_read') await beforeLoad(++loads)
      return await store.tenantCall(tenant, name, params)
    },
  }
}

function contextOf(more: Partial<QueryContext> = {}): QueryContext {
  return {
    tenant: service.owner.tenant,
    principal: { sub: 'ada', roles: ['analyst'] },
    principalSource: 'session',
    reader: { stillValid: async () => true },
    surface: 'pgwire',
    catalog: 'main',
    searchPath: [],
    ...more,
  }
}

/** The tries whose rows were given, or the SQLSTATE and message after them. */
async function read(
  more: Partial<QueryContext> = {},
  client = new AbortController(),
  statement = text,
): Promise<readonly (number | string)[]> {
  const context = contextOf(more)
  const given: (number | string)[] = []
  try {
    const query = await queries.prepare(context, statement, [], { runsAtOnce: true })
    for await (const { columns } of queries.run(context, query, { signal: client.signal })) {
      const [first] = columns
      if (first?.type === 'int8') given.push(...Array.from(first.values, Number))
    }
  } catch (thrown) {
    const { sqlState, message } = thrown as SqlError
    given.push(`${sqlState} ${message}`)
  }
  return given
}

const changed = '55000 The governance of table sales.orders has changed since the query began. Run it again.'
const mask = () => putMask(on, customer, hidden)
const unmask = () => deleteMask(on, customer, 'm')
const toggle = (attempt: number) => (attempt % 2 === 1 ? mask() : unmask())
const lastUsage = async () =>
  (await listUsage(service.store, on.tenant, {}, { limit: 1 })).items[0] ?? expect.unreachable()
const closed = () => scripted.asked.map((one) => one.closed)

describe('a read whose governance changes before its first rows', () => {
  test('once, gives the rows of its second try, by the governance as it is then', async () => {
    during = async (attempt) => attempt === 1 && (await mask())
    expect(await read()).toEqual([2])
    expect(closed()).toEqual([1, 1])
    const sql = scripted.asked.map(({ statement }) => statement?.sql.includes('NULL'))
    expect(sql).toEqual([false, true])
    expect(await lastUsage()).toMatchObject({
      ...{ outcome: 'completed', rowsOut: 1, bytesScanned: 6, policies: [{ id: 'm' }] },
    })
  })

  test('twice, gives the rows of its third', async () => {
    during = async (attempt) => attempt < 3 && (await toggle(attempt))
    expect(await read()).toEqual([3])
    expect(closed()).toEqual([1, 1, 1])
  })

  test('each time, gives none and says so after a few tries', async () => {
    during = toggle
    expect(await read()).toEqual([changed])
    expect(closed()).toEqual(Array.from({ length: changeTriesMax }, () => 1))
    expect(await lastUsage()).toMatchObject({ outcome: 'failed', sqlState: '55000', rowsOut: 0 })
  })

  test('is refused where it may no longer read, as a new one', async () => {
    during = () => deleteContract(on, orders)
    expect(await read()).toEqual(['42P01 relation "sales.orders" does not exist'])
    expect(closed()).toEqual([1])
    expect(await lastUsage()).toMatchObject({ outcome: 'refused', sqlState: '42P01' })
  })

  test('is loaded by the credential that its catalog has now', async () => {
    const { store, tenant } = on
    during = async (attempt) =>
      attempt === 1 && (await rotateCatalogCredential(store, tenant, 'main', { prefix: undefined }))
    expect(await read()).toEqual([2])
  })

  test('ends at once where its client cancels meanwhile', async () => {
    const client = new AbortController()
    during = async (attempt) => {
      await toggle(attempt)
      if (attempt === 2) client.abort()
    }
    expect(await read({}, client)).toEqual(['57014 canceling statement due to user request'])
    expect(scripted.asked).toHaveLength(2)
  })

  test('of another tenant’s table of that name, is not tried again', async () => {
    during = () => putMask({ ...on, tenant: foreign.tenant }, customer, hidden)
    expect(await read()).toEqual([1])
  })
})

describe('a read that is tried again', () => {
  /** A reader by a session that is revoked right before the load of the second try. */
  async function revokedBeforeSecondLoad(isChecked: boolean) {
    const principal = { sub: 'ada', roles: [] }
    const session = await createServiceSession(service.store, on.tenant, {
      ...{ name: 'bi', principal, scopes: ['read'] as const },
    })
    let isValid = true
    during = async (attempt) => attempt === 1 && (await mask())
    // The first load is that of `prepare`, the second asks what has changed.
    beforeLoad = async (load) => {
      if (load !== 3) return
      isValid = false
      await revokeServiceSession(service.store, on.tenant, session.id)
    }
    return isChecked
      ? { sessionToCheck: () => session.id, stillValid: () => Promise.reject(new Error('not asked')) }
      : { stillValid: async () => isValid }
  }

  test.each([true, false])(
    'gives nothing to a session that was revoked before its second load (checked by the load: %s)',
    async (isChecked) => {
      const reader = await revokedBeforeSecondLoad(isChecked)
      const [answer] = await read({ reader })
      expect(answer).toStartWith('28000 ')
      expect(scripted.asked).toHaveLength(1)
    },
  )

  test('gives no columns but those that its client was sent', async () => {
    during = async (attempt) => {
      if (attempt > 1) return
      await mask()
      const wider = orderFields.map((field) =>
        field.id === 3 ? { ...field, type: 'decimal(14, 2)' } : field,
      )
      expect((await commit(service, replaceSchema(wider))).status).toBe(200)
    }
    expect(await read({}, undefined, 'SELECT id, amount, customer FROM sales.orders')).toEqual([changed])
    expect(scripted.asked).toHaveLength(1)
  })

  test('ends, and is not tried again, once it has given rows', async () => {
    scripted.rows = async function* () {
      yield longs(1n)
      await mask()
      yield longs(2n)
    }
    expect(await read()).toEqual([1, changed])
    expect(scripted.asked).toHaveLength(1)
  })

  test('loads nothing again where nothing has changed', async () => {
    expect(await read()).toEqual([1])
    expect(loads).toBe(1)
  })
})
