/**
 * The engine may start speculatively from a statement's previous run. A change between two runs is still in the next
 * result, and discarded work is neither seen nor left behind.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { appendSnapshot } from '../../../../demo/commits.ts'
import { systemClock } from '../../../../src/base/clock.ts'
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
import { EngineError } from '../../../../src/engine/engine-error.ts'
import type { SqlError } from '../../../../src/query/compile/base/sql-error.ts'
import { checkPolicies } from '../../../../src/query/compile/protect/protect.ts'
import type { QueryContext, QueryService } from '../../../../src/query/query-service.ts'
import { queryService, type RunParts } from '../../../../src/query/run/run.ts'
import {
  putCatalogCredential,
  removeCatalogCredential,
  rotateCatalogCredential,
} from '../../../../src/store/catalog-credential/catalog-credentials.ts'
import { pinTable, unpinTable } from '../../../../src/store/contract/pins.ts'
import { putReadSettings } from '../../../../src/store/contract/read-settings.ts'
import { listUsage } from '../../../../src/store/query/usage.ts'
import { createLogger } from '../../../../src/telemetry/log.ts'
import { actorOf } from '../../../support/actor.ts'
import { failingStore } from '../../../support/failing-store.ts'
import { batches, longs, type ScriptedEngine, scriptedEngine } from '../../../support/scripted-engine.ts'
import { addTenant, commit, orders, startTestService, type TestService } from '../../../support/service.ts'

setDefaultTimeout(300_000)

const text = 'SELECT id, customer FROM sales.orders'
const first = 9_007_199_254_740_993n
let snapshots = 0
let service: TestService
let on: ChangeContext
let scripted: ScriptedEngine
let queries: QueryService

beforeAll(async () => {
  service = await startTestService()
  on = { store: service.store, tenant: service.owner.tenant, actor: actorOf('stella'), checkPolicies }
  await newSnapshot()
  await putContract(on, orders, { id: 'orders', version: 1 })
})
afterAll(() => service[Symbol.asyncDispose]())
beforeEach(async () => {
  scripted = scriptedEngine()
  queries = build()
  await warm()
})

function build(change: Partial<RunParts> = {}): QueryService {
  return queryService({
    store: service.store,
    states: new TableStates(service.app.gateway.catalogs, 1_000_000),
    engines: new Map([['duckdb', { engine: async () => scripted.engine, close: async () => {} }]]),
    clock: systemClock,
    log: createLogger({ level: 'silent' }),
    ...change,
  })
}

async function newSnapshot(): Promise<bigint> {
  const snapshotId = first + BigInt(snapshots)
  const body = appendSnapshot({
    snapshotId,
    parentId: snapshots === 0 ? undefined : snapshotId - 1n,
    sequenceNumber: ++snapshots,
    timestampMs: Date.now(),
  })
  expect((await commit(service, body)).status).toBe(200)
  return snapshotId
}

const context = (change: Partial<QueryContext> = {}): QueryContext => ({
  tenant: service.owner.tenant,
  principal: { sub: 'ada', roles: ['analyst'] },
  principalSource: 'session',
  reader: { stillValid: async () => true },
  surface: 'pgwire',
  catalog: 'main',
  searchPath: [],
  ...change,
})

interface Ran {
  readonly rows: number
  /** What the engine ran for these rows. */
  readonly sql: string | undefined
  readonly error: SqlError | undefined
}

/** As a Query message: loaded once, by the request that runs it. */
async function ran(change: Partial<QueryContext> = {}, signal = new AbortController().signal): Promise<Ran> {
  let rows = 0
  try {
    const asked = context(change)
    const query = await queries.prepare(asked, text, [], { runsAtOnce: true, signal })
    for await (const batch of queries.run(asked, query, { signal })) rows += batch.rowCount
    return { rows, sql: scripted.asked.at(-1)?.statement?.sql, error: undefined }
  } catch (error) {
    return { rows, sql: undefined, error: error as SqlError }
  }
}

/** Enough runs that the next one begins on a guess. */
async function warm(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) expect((await ran()).error).toBeUndefined()
}

const open = () => scripted.asked.filter(({ closed }) => closed === 0).length
const lastUsage = async () => (await listUsage(service.store, on.tenant, {}, { limit: 1 })).items[0]
async function waitUntil(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

/** Runs while the answer of the store is held back until `meanwhile` has passed. */
function heldBack(meanwhile: () => Promise<void>): Partial<RunParts> {
  const { store } = service
  return {
    store: {
      ...store,
      async tenantCall(tenant, name, params) {
        const rows = await store.tenantCall<never>(tenant, name, params)
        if (name === 'load_read') await meanwhile()
        return rows
      },
    },
  }
}

describe('a run on a guess that is right', () => {
  test('has one session, begun before the load has come, and its rows', async () => {
    let hold = async () => {}
    queries = build(heldBack(() => hold()))
    await warm()
    scripted.rows = () => batches([longs(1n), longs(2n, 3n)])
    const before = scripted.asked.length
    hold = () =>
      waitUntil(() => scripted.asked.at(-1)?.statement !== undefined && scripted.asked.length > before)
    expect(await ran()).toMatchObject({ rows: 3, error: undefined })
    expect([scripted.asked.length - before, open()]).toEqual([1, 0])
    expect(await lastUsage()).toMatchObject({ outcome: 'completed', rowsOut: 3, bytesScanned: 3, queueMs: 1 })
  })

  test.each([
    ['row', () => batches([longs(1n)]), 'row'],
    [
      'error of the engine',
      () => batches([], () => Promise.reject(new EngineError('22012', 'division by zero'))),
      '22012',
    ],
  ])('gives no %s before the load has come', async (_, rows, outcome) => {
    const held = Promise.withResolvers<void>()
    let hold = async () => {}
    queries = build(heldBack(() => hold()))
    await warm()
    scripted.rows = rows
    const before = scripted.asked.length
    const query = await build().prepare(context(), text)
    hold = () => held.promise
    let seen: string | undefined
    const next = queries
      .run(context(), query, { signal: new AbortController().signal })
      [Symbol.asyncIterator]()
      .next()
      .then(
        () => 'row',
        ({ sqlState }: SqlError) => sqlState,
      )
      .then((what) => {
        seen = what
      })
    await waitUntil(() => scripted.asked.length > before && scripted.asked.at(-1)?.statement !== undefined)
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(seen).toBeUndefined()
    held.resolve()
    await next
    expect(seen).toBe(outcome)
  })
})

describe('between two runs of a warm statement', () => {
  const change = { table: orders, actor: actorOf('stella'), atMs: 0 }
  const everyone = { exemptRoles: [] }

  test('a row filter that is added, and removed, is in the very next answer', async () => {
    await putRowFilter(on, { table: orders }, { id: 'f', expression: 'id > 77', ...everyone })
    expect((await ran()).sql).toContain('77')
    await warm()
    await putRowFilter(on, { table: orders }, { id: 'f', expression: 'id > 78', ...everyone })
    expect((await ran()).sql).toContain('78')
    await warm()
    await deleteRowFilter(on, { table: orders }, 'f')
    expect((await ran()).sql).not.toContain('78')
    expect(open()).toBe(0)
  })

  test('a mask that is added, changed, lifted for a role, and removed', async () => {
    const column = { table: orders, column: 'customer' }
    await putMask(on, column, { id: 'm', action: 'replace-with-null', ...everyone })
    expect((await ran()).sql).toContain('NULL')
    await warm()
    await putMask(on, column, { id: 'm', action: 'show-last-4', ...everyone })
    expect((await ran()).sql).toContain('4')
    await warm()
    await putMask(on, column, { id: 'm', action: 'show-last-4', exemptRoles: ['analyst'] })
    const bare = (await ran()).sql
    await warm()
    await deleteMask(on, column, 'm')
    expect((await ran()).sql).toBe(bare as string)
  })

  test('a tag whose mask applies, put on a column and taken off', async () => {
    await putMask(on, { tag: 'pii' }, { id: 't', action: 'replace-with-null', ...everyone })
    const plain = (await ran()).sql
    await warm()
    await putTag(on, orders, 'customer', 'pii')
    expect((await ran()).sql).toContain('NULL')
    await warm()
    await deleteTag(on, orders, 'customer', 'pii')
    expect((await ran()).sql).toBe(plain as string)
    await deleteMask(on, { tag: 'pii' }, 't')
  })

  test('a role of the principal', async () => {
    await putRowFilter(on, { table: orders }, { id: 'f', expression: 'id > 77', exemptRoles: ['officer'] })
    const officer = { principal: { sub: 'ada', roles: ['officer'] } }
    for (let turn = 0; turn < 3; turn++) expect((await ran(officer)).sql).not.toContain('77')
    expect((await ran()).sql).toContain('77')
    expect((await ran(officer)).sql).not.toContain('77')
    await deleteRowFilter(on, { table: orders }, 'f')
  })

  test('a contract’s version, its end, and the tenant’s opting in and out', async () => {
    await putContract(on, orders, { id: 'orders', version: 2 })
    await ran()
    expect(await lastUsage()).toMatchObject({ contracts: [{ id: 'orders', version: 2 }] })
    await warm()
    await deleteContract(on, orders)
    expect((await ran()).error?.sqlState).toBe('42P01')
    expect(open()).toBe(0)
    await putReadSettings(service.store, on.tenant, actorOf('stella'), { uncontracted: 'readable' })
    await warm()
    await putReadSettings(service.store, on.tenant, actorOf('stella'), { uncontracted: 'to_writers' })
    expect((await ran()).error?.sqlState).toBe('42P01')
    expect(open()).toBe(0)
    await putContract(on, orders, { id: 'orders', version: 1 })
  })

  test('a new snapshot, a pin and the end of the pin', async () => {
    const old = (await ran()).sql?.match(/@(\d+)"/)?.[1]
    const now = await newSnapshot()
    expect((await ran()).sql).toContain(`"orders@${now}"`)
    await warm()
    await pinTable(service.store, on.tenant, change, {
      snapshotId: BigInt(old ?? 0),
      schemaId: 0n,
      catalog: 'main',
    })
    expect((await ran()).sql).toContain(`"orders@${old}"`)
    await warm()
    await unpinTable(service.store, on.tenant, change)
    expect((await ran()).sql).toContain(`"orders@${now}"`)
    expect(open()).toBe(0)
  })

  test('the catalog credential: rotated, without rights, of another engine, removed', async () => {
    const { store, catalog } = service
    const original = {
      nickname: 'main',
      kind: 'alpha' as const,
      endpoint: catalog.url,
      config: { endpoint: catalog.url, warehouse: 'dev', credential: 'gateway:s3cret' },
    }
    await rotateCatalogCredential(store, on.tenant, 'main', { credential: 'gateway:wrong' })
    expect((await ran()).error?.sqlState).toBe('58000')
    expect(open()).toBe(0)
    await rotateCatalogCredential(store, on.tenant, 'main', { credential: 'gateway:s3cret' })
    await warm()
    await rotateCatalogCredential(store, on.tenant, 'main', { read_engine: 'trino' })
    expect((await ran()).error?.sqlState).toBe('58000')
    await rotateCatalogCredential(store, on.tenant, 'main', { read_engine: undefined })
    await warm()
    await removeCatalogCredential(store, on.tenant, 'main')
    expect((await ran()).error?.sqlState).toBe('3D000')
    expect(open()).toBe(0)
    await putCatalogCredential(store, on.tenant, original)
  })

  test('a foreign tenant with the same text, catalog and principal is answered by its own', async () => {
    const foreign = await addTenant(service.store, 'stranger', service.catalog.url)
    const before = scripted.asked.length
    expect((await ran({ tenant: foreign.tenant })).error?.sqlState).toBe('42P01')
    expect((await ran({ principal: { sub: 'bob', roles: [] } })).error).toBeUndefined()
    expect(scripted.asked.slice(before).map(({ run }) => run.principal)).toEqual(['bob'])
  })

  test('a store that has gone away refuses, and says nothing of what the engine has', async () => {
    let down = /never/
    const refusing = () => failingStore(service.store, down).tenantCall
    queries = build({
      store: { ...service.store, tenantCall: (tenant, name, params) => refusing()(tenant, name, params) },
    })
    await warm()
    down = /svc\.load_read/
    scripted.rows = () => batches([], () => Promise.reject(new EngineError('22012', 'division by zero')))
    expect((await ran()).error?.sqlState).toBe('58000')
    expect(open()).toBe(0)
    expect(await lastUsage()).toMatchObject({ outcome: 'failed', sqlState: '58000', rowsOut: 0 })
  })

  test('an upstream that does not answer refuses', async () => {
    const states = new TableStates(service.app.gateway.catalogs, 1_000_000)
    let down = false
    const load: TableStates['load'] = (...asked) =>
      down ? Promise.reject(new Error('gone')) : states.load(...asked)
    queries = build({ states: Object.assign(Object.create(states), { load }) })
    await warm()
    down = true
    expect(await ran()).toMatchObject({ rows: 0, error: { sqlState: 'XX000' } })
    expect(open()).toBe(0)
  })
})

test('without speculation neither the engine nor the upstream is asked before the store has answered', async () => {
  let asked = 0
  let isLoaded = false
  const states = new TableStates(service.app.gateway.catalogs, 1_000_000)
  const load: TableStates['load'] = (...args) => {
    expect(isLoaded).toBe(true)
    asked++
    return states.load(...args)
  }
  const held = heldBack(async () => {
    const before = scripted.asked.length
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect([scripted.asked.length, asked]).toEqual([before, runs])
    isLoaded = true
  })
  queries = build({ ...held, states: Object.assign(Object.create(states), { load }), isSpeculative: false })
  let runs = 0
  for (; runs < 4; runs++) {
    isLoaded = false
    expect(await ran()).toMatchObject({ error: undefined })
  }
  expect(asked).toBe(4)
})

describe('the upstream, which is asked before the store has answered', () => {
  interface Asks {
    readonly parts: Partial<RunParts>
    /** Loads that the upstream was asked for, and those that it has answered. */
    asked: number
    answered: number
    /** What happens before the store hears what it is asked. */
    first: () => Promise<void>
  }

  function watched(): Asks {
    const { store } = service
    const states = new TableStates(service.app.gateway.catalogs, 1_000_000)
    const load: TableStates['load'] = async (...args) => {
      asks.asked++
      const state = await states.load(...args)
      asks.answered++
      return state
    }
    const asks: Asks = {
      asked: 0,
      answered: 0,
      first: async () => {},
      parts: {
        states: Object.assign(Object.create(states), { load }),
        store: {
          ...store,
          async tenantCall(tenant, name, params) {
            if (name === 'load_read') await asks.first()
            return await store.tenantCall<never>(tenant, name, params)
          },
        },
      },
    }
    return asks
  }

  test('is asked once where the store says what it said before', async () => {
    const asks = watched()
    queries = build(asks.parts)
    await warm()
    asks.asked = 0
    asks.first = () => waitUntil(() => asks.asked > 0)
    expect((await ran()).error).toBeUndefined()
    expect(asks.asked).toBe(1)
  })

  test('is not asked ahead for a statement that is not known', async () => {
    const asks = watched()
    queries = build(asks.parts)
    let ahead = -1
    asks.first = async () => {
      ahead = asks.asked
    }
    expect((await ran()).error).toBeUndefined()
    expect([ahead, asks.asked]).toEqual([0, 1])
  })

  test('does not answer for what is governed otherwise now: rows taken away before their filter stay away', async () => {
    await putRowFilter(on, { table: orders }, { id: 'f', expression: 'id > 77', exemptRoles: [] })
    const asks = watched()
    queries = build(asks.parts)
    await warm()
    asks.asked = 0
    asks.answered = 0
    let now = 0n
    asks.first = async () => {
      asks.first = async () => {}
      await waitUntil(() => asks.answered > 0)
      now = await newSnapshot()
      await deleteRowFilter(on, { table: orders }, 'f')
    }
    const { sql } = await ran()
    expect(sql).toContain(`"orders@${now}"`)
    expect(sql).not.toContain('77')
    expect(asks.asked).toBe(2)
    expect(open()).toBe(0)
  })

  test('does not answer for another credential', async () => {
    const asks = watched()
    queries = build(asks.parts)
    await warm()
    asks.asked = 0
    asks.first = async () => {
      asks.first = async () => {}
      await rotateCatalogCredential(service.store, on.tenant, 'main', { credential: 'gateway:wrong' })
    }
    expect((await ran()).error?.sqlState).toBe('58000')
    expect(asks.asked).toBe(2)
    await rotateCatalogCredential(service.store, on.tenant, 'main', { credential: 'gateway:s3cret' })
  })
})

describe('a speculative run that is discarded', () => {
  const never = () => new Promise<never>(() => {})

  test('is ended before another session is asked for, and what it scanned counts', async () => {
    await putRowFilter(on, { table: orders }, { id: 'f', expression: 'id > 77', exemptRoles: [] })
    const before = scripted.asked.length
    const opened: number[] = []
    let isFirst = true
    scripted.opening = async () => {
      opened.push(scripted.asked.slice(before).filter(({ closed }) => closed === 0).length)
    }
    scripted.rows = () => {
      const rows = isFirst ? batches([longs(1n)], never) : batches([longs(2n)])
      isFirst = false
      return rows
    }
    expect(await ran()).toMatchObject({ rows: 1, error: undefined })
    expect(opened).toEqual([1, 1])
    expect([scripted.asked.length - before, open()]).toEqual([2, 0])
    expect(scripted.asked[before]?.run.signal.aborted).toBe(true)
    expect(await lastUsage()).toMatchObject({ outcome: 'completed', rowsOut: 1, bytesScanned: 6 })
    await deleteRowFilter(on, { table: orders }, 'f')
  })

  test('is not made for a statement whose load changed last time', async () => {
    await newSnapshot()
    await ran()
    await newSnapshot()
    const before = scripted.asked.length
    await ran()
    expect(scripted.asked.length - before).toBe(1)
  })

  test('is never made with an engine that is not the embedded one', async () => {
    const config = { warehouse: 'dev', credential: 'gateway:s3cret', read_engine: 'trino' }
    await putCatalogCredential(service.store, on.tenant, {
      nickname: 'far',
      kind: 'alpha',
      endpoint: service.catalog.url,
      config,
    })
    const asked: string[] = []
    const loads: string[] = []
    const trino = { engine: async () => scripted.engine, close: async () => {} }
    queries = build({
      engines: new Map([['trino', trino]]),
      ...heldBack(async () => {
        loads.push(`${scripted.asked.length}`)
      }),
    })
    const before = scripted.asked.length
    for (let turn = 0; turn < 4; turn++) {
      expect((await ran({ catalog: 'far' })).error).toBeUndefined()
      asked.push(`${before + turn}`)
    }
    expect(loads).toEqual(asked)
  })

  test.each(['while it loads', 'between its load and its run'])(
    'ends when its client leaves %s',
    async (when) => {
      let hold = async () => {}
      queries = build(heldBack(() => hold()))
      await warm()
      const before = scripted.asked.length
      scripted.rows = () => batches([], never)
      const client = new AbortController()
      if (when === 'while it loads') {
        hold = never
        void ran({}, client.signal)
      } else {
        const { signal } = client
        await queries.prepare(context(), text, [], { runsAtOnce: true, signal })
      }
      await waitUntil(() => scripted.asked.length > before && scripted.asked.at(-1)?.statement !== undefined)
      client.abort()
      await waitUntil(() => open() === 0)
      expect(scripted.asked.at(-1)?.run.signal.aborted).toBe(true)
    },
  )

  test('whose run never comes, or is another’s, ends by itself', async () => {
    scripted.rows = () => batches([], never)
    const asked = context()
    const abandoned = await queries.prepare(asked, text, [], { runsAtOnce: true })
    const taken = queries.run(context(), abandoned, { signal: new AbortController().signal })
    expect(taken.columns).toEqual(abandoned.columns)
    await waitUntil(() => open() === 0)
    await queries.prepare(asked, text, [], { runsAtOnce: true })
    await waitUntil(() => open() === 0)
  })

  test('whose run is missed ends at once, and no later run has it', async () => {
    scripted.rows = () => batches([], never)
    const [asked, missed] = [context(), new AbortController()]
    const before = scripted.asked.length
    const query = await queries.prepare(asked, text, [], { runsAtOnce: true, runMissed: missed.signal })
    await waitUntil(() => scripted.asked.length > before)
    missed.abort()
    await waitUntil(() => open() === 0)
    scripted.rows = () => batches([])
    const later = queries.run(asked, query, { signal: new AbortController().signal })
    for await (const _ of later);
    expect(scripted.asked.length).toBeGreaterThan(before + 1)
  })

  test('whose run was missed while it was loaded ends at once', async () => {
    scripted.rows = () => batches([], never)
    const [asked, runMissed] = [context(), AbortSignal.abort()]
    const before = scripted.asked.length
    const query = await queries.prepare(asked, text, [], { runsAtOnce: true, runMissed })
    await waitUntil(() => scripted.asked.length > before)
    scripted.rows = () => batches([longs(1n)])
    const later = queries.run(asked, query, { signal: new AbortController().signal })
    let rows = 0
    for await (const batch of later) rows += batch.rowCount
    expect(rows).toBe(1)
    await waitUntil(() => open() === 0)
  })
})
