/** Statements from text to rows and usage record, on a scripted engine. */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { appendSnapshot, orderFields, removeSnapshots, replaceSchema } from '../../../demo/commits.ts'
import { systemClock } from '../../../src/base/clock.ts'
import { TableStates } from '../../../src/catalog/table-states.ts'
import type { ChangeContext } from '../../../src/contract/change.ts'
import { deleteContract } from '../../../src/contract/delete-contract.ts'
import { deleteMask } from '../../../src/contract/delete-mask.ts'
import { deleteRowFilter } from '../../../src/contract/delete-row-filter.ts'
import { putContract } from '../../../src/contract/put-contract.ts'
import { putMask } from '../../../src/contract/put-mask.ts'
import { putRowFilter } from '../../../src/contract/put-row-filter.ts'
import type { TableRef } from '../../../src/core/table-ref.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { EngineError } from '../../../src/engine/engine-error.ts'
import type { SqlError } from '../../../src/query/compile/base/sql-error.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import type { PreparedQuery, QueryContext, QueryService } from '../../../src/query/query-service.ts'
import { queryService, type RunParts } from '../../../src/query/run/run.ts'
import { putCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { pinTable, unpinTable } from '../../../src/store/contract/pins.ts'
import { putReadSettings } from '../../../src/store/contract/read-settings.ts'
import { type ListedUsage, listUsage } from '../../../src/store/query/usage.ts'
import { createLogger } from '../../../src/telemetry/log.ts'
import { actorOf } from '../../support/actor.ts'
import { failingStore } from '../../support/failing-store.ts'
import { batches, longs, type ScriptedEngine, scriptedEngine } from '../../support/scripted-engine.ts'
import {
  addTenant,
  commit,
  orders,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../support/service.ts'

setDefaultTimeout(300_000)

const canary = 'CANARY-5e1f'
const first = 9_007_199_254_740_993n
let service: TestService
let foreign: TestTenant
let on: ChangeContext
let scripted: ScriptedEngine
let queries: QueryService
let lines: string[]

describe.each([true, false])('with work that starts early: %p', (isSpeculative) => {
  beforeAll(async () => {
    service = await startTestService()
    foreign = await addTenant(service.store, 'foreign', service.catalog.url)
    on = { store: service.store, tenant: service.owner.tenant, actor: actorOf('stella'), checkPolicies }
    await snapshot(first, undefined, 1)
    await putContract(on, orders, { id: 'orders', version: 4 })
  })
  afterAll(() => service[Symbol.asyncDispose]())
  beforeEach(() => {
    scripted = scriptedEngine()
    lines = []
    queries = build()
  })

  /** A query service with a log and an engine of its own. */
  function build(change: Partial<RunParts> = {}): QueryService {
    return queryService({
      store: service.store,
      states: new TableStates(service.app.gateway.catalogs, 1_000_000),
      engines: new Map([['duckdb', { engine: async () => scripted.engine, close: async () => {} }]]),
      clock: systemClock,
      isSpeculative,
      log: createLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } }),
      ...change,
    })
  }

  async function snapshot(snapshotId: bigint, parentId: bigint | undefined, sequenceNumber: number) {
    const body = appendSnapshot({ snapshotId, parentId, sequenceNumber, timestampMs: Date.now() })
    const response = await commit(service, body)
    expect({ status: response.status, text: response.ok ? '' : await response.text() }).toMatchObject({
      status: 200,
    })
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
    readonly error?: SqlError
    readonly queryId?: string
  }

  /** Prepares and runs to the end. */
  async function ran(
    text: string,
    change: Partial<QueryContext> = {},
    parameters: string[] = [],
  ): Promise<Ran> {
    let rows = 0
    let queryId: string | undefined
    try {
      const query = await queries.prepare(context(change), text)
      const signal = new AbortController().signal
      const run = queries.run(context(change), query, { parameters, signal })
      queryId = run.queryId
      for await (const batch of run) rows += batch.rowCount
      return { rows, queryId }
    } catch (error) {
      return { rows, error: error as SqlError, ...(queryId !== undefined && { queryId }) }
    }
  }

  async function usage(tenant: TenantId = service.owner.tenant): Promise<readonly ListedUsage[]> {
    return (await listUsage(service.store, tenant, {}, { limit: 1000 })).items
  }
  const lastUsage = async () => (await usage())[0]
  const open = () => scripted.asked.filter(({ closed }) => closed === 0).length
  const lastSql = () => scripted.asked.at(-1)?.statement?.sql ?? ''

  describe('a run', () => {
    test('is of the time zone of its session, also where the same text ran in another', async () => {
      const text = "SELECT id FROM sales.orders WHERE '2024-07-01'::timestamptz = '2024-06-30 22:00+00'"
      const sqls: string[] = []
      for (const timeZone of [undefined, 'Europe/Berlin', undefined, 'Asia/Tokyo']) {
        expect((await ran(text, { timeZone })).error).toBeUndefined()
        sqls.push(lastSql())
      }
      const [utc = '', berlin = '', again, tokyo] = sqls
      expect(again).toBe(utc)
      expect(utc).toContain('2024-07-01 00:00:00+00')
      expect(berlin).toContain('2024-06-30 22:00:00+00')
      expect(tokyo).toContain('2024-06-30 15:00:00+00')
    })

    test('reads the current snapshot, gives its rows and is recorded before its end is seen', async () => {
      scripted.rows = () => batches([longs(1n, 2n), longs(3n)])
      const text = "SELECT id FROM sales.orders WHERE customer = 'secret-literal'"
      const query = await queries.prepare(context(), text)
      const before = (await usage()).length
      const run = queries.run(context(), query, { signal: new AbortController().signal })
      const rows = run[Symbol.asyncIterator]()
      expect([(await rows.next()).done, (await rows.next()).done]).toEqual([false, false])
      expect((await usage()).length).toBe(before)
      const end = rows.next()
      const seen = await end.then(async () => (await usage()).length)
      expect(seen).toBe(before + 1)

      expect(lastSql()).toContain(`"orders@${first}"`)
      expect(scripted.asked[0]?.tables[0]?.metadataLocation).toContain('/metadata/')
      expect(scripted.asked[0]?.run).toMatchObject({ queryId: run.queryId, principal: 'ada' })
      expect(scripted.asked[0]?.statement?.columns).toMatchObject([{ name: 'c1', type: 'int8' }])
      expect(scripted.asked[0]?.closed).toBe(1)
      const record = await lastUsage()
      expect(record).toMatchObject({
        queryId: run.queryId,
        principal: 'ada',
        principalSource: 'session',
        surface: 'pgwire',
        catalog: 'main',
        engine: 'duckdb',
        contracts: [{ id: 'orders', version: 4 }],
        reads: [{ ...orders, columns: ['id', 'customer'], snapshot_id: String(first) }],
        policies: [],
        rowsOut: 3,
        bytesOut: 24,
        bytesScanned: 3,
        queueMs: 1,
        runMs: 2,
        outcome: 'completed',
        sqlState: undefined,
      })
      expect(record?.fingerprint).toMatch(/^[0-9a-f]{16}$/)
      expect(JSON.stringify(record) + lines.join('')).not.toContain('secret-literal')
    })

    test('says what governs its rows, as its record does, and only once it has given rows', async () => {
      scripted.rows = () => batches([longs(1n), longs(2n)])
      const query = await queries.prepare(context(), 'SELECT id, customer FROM sales.orders')
      const run = queries.run(context(), query, { signal: new AbortController().signal })
      expect(() => run.applied()).toThrow('The query has given no rows yet.')
      const rows = run[Symbol.asyncIterator]()
      await rows.next()
      const early = run.applied()
      for (let done = false; !done; ) done = (await rows.next()).done === true
      const { contracts, reads, policies } = (await lastUsage()) ?? {}
      expect(early).toEqual({ contracts, reads, policies } as typeof early)
      expect(run.applied()).toEqual(early)
      expect(early.contracts).toEqual([{ id: 'orders', version: 4 }])
      expect(early.reads).toMatchObject([{ ...orders, columns: ['id', 'customer'] }])
    })

    test('says nothing of what governs a statement that was refused', async () => {
      const query = await queries.prepare(context(), 'SELECT id FROM sales.orders WHERE id = $1')
      const run = queries.run(context(), query, { parameters: ['x'], signal: new AbortController().signal })
      await expect(run[Symbol.asyncIterator]().next()).rejects.toMatchObject({ sqlState: '22P02' })
      expect(() => run.applied()).toThrow('The query has given no rows yet.')
    })

    test('finds unqualified names along the search path', async () => {
      expect((await ran('SELECT id FROM orders')).error?.sqlState).toBe('42P01')
      expect((await ran('SELECT id FROM orders', { searchPath: ['none', 'sales'] })).error).toBeUndefined()
    })

    test('inlines its parameters, and refuses one that is none of its type before the engine is asked', async () => {
      const text = 'SELECT id FROM sales.orders WHERE id = $1'
      expect((await ran(text, {}, ['42'])).error).toBeUndefined()
      expect(lastSql()).toContain('42')
      const asked = scripted.asked.length
      expect((await ran(text, {}, ['forty'])).error?.sqlState).toBe('22P02')
      expect(scripted.asked.length).toBe(asked)
      expect(await lastUsage()).toMatchObject({ outcome: 'refused', sqlState: '22P02' })
      expect((await ran(text)).error?.sqlState).toBe('42P02')
    })

    test('compiles a parameter where the engine needs a literal by its value, in each run', async () => {
      const text = 'SELECT string_agg(customer, $1) FROM sales.orders'
      const query = await queries.prepare(context(), text)
      const separators = ['; ', "'", '; ']
      for (const separator of separators) {
        const signal = new AbortController().signal
        for await (const _ of queries.run(context(), query, { parameters: [separator], signal }));
        expect(lastSql()).toContain(`, '${separator.replace("'", "''")}')`)
      }
      const asked = scripted.asked.length
      expect((await ran('SELECT id FROM sales.orders WHERE customer ~ $1', {}, ['('])).error?.sqlState).toBe(
        '2201B',
      )
      expect((await ran(text)).error?.sqlState).toBe('42P02')
      expect(scripted.asked.length).toBe(asked)
    })

    test('refuses what a long parameter makes too large before the engine is asked', async () => {
      const text = "SELECT id FROM sales.orders WHERE $1 || id::text <> ''"
      expect((await ran(text, {}, ['x'.repeat(1_000)])).error).toBeUndefined()
      const asked = scripted.asked.length
      expect((await ran(text, {}, ['x'.repeat(600_000)])).error?.sqlState).toBe('54001')
      expect(scripted.asked.length).toBe(asked)
      const alone = 'SELECT id FROM sales.orders WHERE id::text <> $1'
      expect((await ran(alone, {}, ['x'.repeat(600_000)])).error).toBeUndefined()
    })

    test('draws another salt each time', async () => {
      await putMask(
        on,
        { table: orders, column: 'id' },
        { id: 's', action: 'sha-256-query-local', exemptRoles: [] },
      )
      const texts = new Set<string>()
      for (let index = 0; index < 3; index++) {
        expect((await ran('SELECT id FROM sales.orders')).error).toBeUndefined()
        texts.add(lastSql())
      }
      expect(texts.size).toBe(3)
      await deleteMask(on, { table: orders, column: 'id' }, 's')
    })

    test('that was prepared with other columns is refused', async () => {
      const query = await queries.prepare(context(), 'SELECT id FROM sales.orders')
      const stale = { ...query, columns: [{ name: 'id', type: 'text' as const }] }
      const run = queries.run(context(), stale, { signal: new AbortController().signal })
      const error = await run[Symbol.asyncIterator]()
        .next()
        .catch((thrown: SqlError) => thrown)
      expect(error).toMatchObject({
        sqlState: '0A000',
        publicMessage: 'cached plan must not change result type',
      })
      expect(open()).toBe(0)
    })
  })

  describe('a change of what governs a table', () => {
    const text = 'SELECT customer FROM sales.orders'

    test('is seen by the next run of a statement that was prepared before it', async () => {
      const query = await queries.prepare(context(), text)
      const sqlNow = async () => {
        for await (const _ of queries.run(context(), query, { signal: new AbortController().signal }));
        return lastSql()
      }
      const plain = await sqlNow()
      expect(await sqlNow()).toBe(plain)
      await putRowFilter(on, { table: orders }, { id: 'f', expression: 'id > 77', exemptRoles: ['officer'] })
      expect(await sqlNow()).toContain('77')
      expect(await lastUsage()).toMatchObject({
        policies: [{ id: 'f', kind: 'row_filter', table: orders }],
      })
      await putMask(
        on,
        { table: orders, column: 'customer' },
        { id: 'm', action: 'replace-with-null', exemptRoles: [] },
      )
      expect(await sqlNow()).toContain('NULL')
      expect(await lastUsage()).toMatchObject({
        policies: [
          { id: 'f' },
          { id: 'm', kind: 'column_mask', column: 'customer', action: 'replace-with-null' },
        ],
      })
      await deleteRowFilter(on, { table: orders }, 'f')
      await deleteMask(on, { table: orders, column: 'customer' }, 'm')
      expect(await sqlNow()).toBe(plain)
    })

    test('is seen by every run but the one of the request that prepared it', async () => {
      const [asked, other] = [context(), context()]
      const text = 'SELECT count(*) FROM sales.orders'
      const [query, same] = [
        await queries.prepare(asked, text, [], { runsAtOnce: true }),
        await queries.prepare(asked, text, [], { runsAtOnce: true }),
      ]
      await putRowFilter(on, { table: orders }, { id: 'late', expression: 'id > 41', exemptRoles: [] })
      const filtered = async (run: QueryContext, prepared: PreparedQuery) => {
        for await (const _ of queries.run(run, prepared, { signal: new AbortController().signal }));
        return lastSql().includes('41')
      }
      expect([await filtered(asked, query), await filtered(asked, query)]).toEqual([false, true])
      expect([await filtered(other, same), await filtered(asked, same)]).toEqual([true, true])
      await deleteRowFilter(on, { table: orders }, 'late')
    })

    test('is seen through the roles of the principal that runs it', async () => {
      await putRowFilter(on, { table: orders }, { id: 'f', expression: 'id > 77', exemptRoles: ['officer'] })
      const roles = (...names: string[]) => ({ principal: { sub: 'ada', roles: names } })
      await ran(text, roles('officer'))
      expect(lastSql()).not.toContain('77')
      await ran(text, roles())
      expect(lastSql()).toContain('77')
      await deleteRowFilter(on, { table: orders }, 'f')
    })

    test('a contract that ended refuses the next run; the tenant may opt in to reading without one', async () => {
      const query = await queries.prepare(context(), text)
      await deleteContract(on, orders)
      const run = queries.run(context(), query, { signal: new AbortController().signal })
      const error = await run[Symbol.asyncIterator]()
        .next()
        .catch((thrown: SqlError) => thrown)
      expect(error).toMatchObject({ sqlState: '42P01' })
      expect(open()).toBe(0)
      expect(await lastUsage()).toMatchObject({
        queryId: run.queryId,
        outcome: 'refused',
        sqlState: '42P01',
        reads: [{ ...orders, columns: [] }],
      })
      await putReadSettings(service.store, foreign.tenant, actorOf('x'), { uncontracted: 'readable' })
      expect((await ran(text)).error?.sqlState).toBe('42P01')
      await putReadSettings(service.store, on.tenant, actorOf('stella'), { uncontracted: 'readable' })
      expect((await ran(text)).error).toBeUndefined()
      await putReadSettings(service.store, on.tenant, actorOf('stella'), { uncontracted: 'to_writers' })
      expect((await ran(text)).error?.sqlState).toBe('42P01')
      await putContract(on, orders, { id: 'orders', version: 4 })
    })
  })

  describe('what ends a query early', () => {
    const text = 'SELECT id FROM sales.orders'

    test('is told to the tripwire where the engine ended it, once it is on record', async () => {
      const heard: (readonly [string, string | undefined, Promise<string | undefined>])[] = []
      queries = build({
        tripwire: {
          enqueue: ({ attempt }, { sqlState }) => {
            heard.push([sqlState, attempt?.engine, lastUsage().then((record) => record?.sqlState)])
          },
        },
      })
      await ran('SELECT id FROM sales.nothing')
      expect(heard).toEqual([])
      scripted.rows = () =>
        batches([longs(1n)], () => {
          throw new EngineError('22012', 'division by zero')
        })
      expect((await ran(text)).error?.sqlState).toBe('22012')
      expect(heard.map(([sqlState, engine]) => [sqlState, engine])).toEqual([['22012', 'duckdb']])
      expect(await heard[0]?.[2]).toBe('22012')
    })

    test.each([
      ['an error of the engine that quotes a value', () => new Error(`bad value ${canary}`), 'XX000'],
      [
        'a failure that it named',
        () => new EngineError('22012', 'division by zero', { cause: new Error(canary) }),
        '22012',
      ],
      ['something that is no error', () => canary, 'XX000'],
    ])('%s reaches neither the client nor the log', async (_, thrown, sqlState) => {
      scripted.rows = () =>
        batches([longs(1n)], () => {
          throw thrown()
        })
      const { error, rows } = await ran(text)
      expect({ rows, error }).toMatchObject({ rows: 1, error: { sqlState } })
      expect(`${error?.message} ${error?.publicMessage} ${error?.detail}`).not.toContain(canary)
      expect(lines.join('')).toContain('a query did not complete')
      expect(lines.join('')).not.toContain(canary)
      expect(await lastUsage()).toMatchObject({ outcome: 'failed', sqlState, rowsOut: 1 })
      expect(JSON.stringify(await lastUsage())).not.toContain(canary)
      expect(scripted.asked[0]?.closed).toBe(1)
    })

    test('a failure to open is recorded with the engine’s SQLSTATE', async () => {
      scripted.opening = () => Promise.reject(new EngineError('53300', 'too many queries'))
      expect((await ran(text)).error?.sqlState).toBe('53300')
      expect(await lastUsage()).toMatchObject({
        outcome: 'failed',
        sqlState: '53300',
        engine: 'duckdb',
        rowsOut: 0,
      })
    })

    const never = () => new Promise<never>(() => {})

    test.each([
      ['in mid-stream, by an engine that does not listen', { rows: () => batches([longs(1n)], never) }, 1],
      ['while it opens, by an engine that does not listen', { opening: never }, 0],
    ])('a cancel %s', async (_, script: Partial<ScriptedEngine>, rowsOut) => {
      Object.assign(scripted, script)
      const query = await queries.prepare(context(), text)
      const controller = new AbortController()
      const run = queries.run(context(), query, { signal: controller.signal })
      const rows = run[Symbol.asyncIterator]()
      if (rowsOut > 0) await rows.next()
      const end = rows.next().catch((thrown: SqlError) => thrown)
      await waitUntil(() => scripted.asked.length === 1)
      controller.abort()
      expect(await end).toMatchObject({ sqlState: '57014' })
      expect(scripted.asked[0]?.run.signal.aborted).toBe(true)
      expect(await lastUsage()).toMatchObject({
        queryId: run.queryId,
        outcome: 'cancelled',
        sqlState: '57014',
        rowsOut,
      })
      if (rowsOut > 0) expect(scripted.asked[0]?.closed).toBe(1)
    })

    test('a session that opens after its query was cancelled is closed', async () => {
      const opened = Promise.withResolvers<void>()
      scripted.opening = () => opened.promise
      const query = await queries.prepare(context(), text)
      const controller = new AbortController()
      const end = queries
        .run(context(), query, { signal: controller.signal })
        [Symbol.asyncIterator]()
        .next()
        .catch((thrown: SqlError) => thrown)
      await waitUntil(() => scripted.asked.length === 1)
      controller.abort()
      expect(await end).toMatchObject({ sqlState: '57014' })
      opened.resolve()
      await waitUntil(() => scripted.asked[0]?.closed === 1)
    })

    test('a client that stops pulling stops the engine', async () => {
      let returned = 0
      scripted.rows = async function* () {
        try {
          for (;;) yield longs(1n)
        } finally {
          returned++
        }
      }
      const query = await queries.prepare(context(), text)
      for await (const _ of queries.run(context(), query, { signal: new AbortController().signal })) break
      expect([returned, scripted.asked[0]?.closed]).toEqual([1, 1])
      expect(await lastUsage()).toMatchObject({ outcome: 'cancelled', sqlState: '57014', rowsOut: 1 })
    })

    test('the time limit', async () => {
      queries = build({ queryMs: 200 })
      scripted.rows = () => batches([], never)
      expect((await ran(text)).error).toMatchObject({
        sqlState: '57014',
        publicMessage: 'canceling statement due to statement timeout',
      })
      expect(await lastUsage()).toMatchObject({ outcome: 'failed', sqlState: '57014' })
    })
  })

  describe('a refused statement', () => {
    test.each([
      ['no SQL', 'SELEKT 1', '42601'],
      ['a write', 'DELETE FROM sales.orders', '0A000'],
      ['an unknown table', 'SELECT 1 FROM sales.none', '42P01'],
      ['an unknown column', 'SELECT none FROM sales.orders', '42703'],
    ])('is recorded: %s', async (_, text, sqlState) => {
      const before = (await usage()).length
      expect((await ran(text)).error).toMatchObject({ sqlState })
      expect((await usage()).length).toBe(before + 1)
      expect(await lastUsage()).toMatchObject({ outcome: 'refused', sqlState, rowsOut: 0, principal: 'ada' })
      expect(scripted.asked.length).toBe(0)
    })

    test('names a catalog that the tenant does not have', async () => {
      expect((await ran('SELECT 1', { catalog: 'other' })).error?.sqlState).toBe('3D000')
      expect((await ran('SELECT 1', { catalog: "o'; --" })).error?.sqlState).toBe('3D000')
      expect(await lastUsage()).toMatchObject({ outcome: 'refused', catalog: undefined })
    })
  })

  describe('a foreign tenant', () => {
    test('has neither the table, nor the contract, nor the usage of another with the same catalog', async () => {
      const { error } = await ran('SELECT id FROM sales.orders', { tenant: foreign.tenant })
      expect(error?.sqlState).toBe('42P01')
      const own = await usage(foreign.tenant)
      expect(own.map(({ outcome, sqlState }) => [outcome, sqlState])).toEqual([['refused', '42P01']])
      expect((await usage()).some(({ queryId }) => queryId === own[0]?.queryId)).toBe(false)
    })
  })

  describe('when a part is not there', () => {
    const text = 'SELECT id FROM sales.orders'

    test('a usage record that cannot be written fails the query after its last row', async () => {
      queries = build({ store: failingStore(service.store, /svc\.record_usage/) })
      scripted.rows = () => batches([longs(1n)])
      const { rows, error } = await ran(text)
      expect({ rows, sqlState: error?.sqlState }).toEqual({ rows: 1, sqlState: '58030' })
      expect((await ran('SELEKT')).error?.sqlState).toBe('42601')
      expect(lines.join('')).toContain('the usage of a query was not recorded')
    })

    test('a query that fails after rows it gave tells of the record that cannot be written', async () => {
      queries = build({ store: failingStore(service.store, /svc\.record_usage/) })
      const end = () => Promise.reject(new EngineError('22012', 'division by zero'))
      scripted.rows = () => batches([longs(1n)], end)
      const { rows, error } = await ran(text)
      expect({ rows, sqlState: error?.sqlState }).toEqual({ rows: 1, sqlState: '58030' })
    })

    test('a run is put on record once, and ends that record with its own', async () => {
      scripted.rows = () => batches([longs(1n), longs(2n)])
      const run = queries.run(context(), await queries.prepare(context(), text), {
        signal: new AbortController().signal,
      })
      const underWay = () =>
        service.store.tenantQuery<{ usage: { rows_out: number; outcome: string } }>(
          service.owner.tenant,
          'select usage from svc.query_under_way where query_id = $1',
          [run.queryId],
        )
      for await (const { rowCount } of run) {
        expect(rowCount).toBe(1)
        await Promise.all([run.putOnRecord(), run.putOnRecord()])
        expect(await underWay()).toMatchObject([
          { usage: { rows_out: 1, outcome: 'failed', sqlstate: '57P01' } },
        ])
      }
      expect(await underWay()).toEqual([])
      expect(await lastUsage()).toMatchObject({ queryId: run.queryId, outcome: 'completed', rowsOut: 2 })
    })

    test('a run that cannot be put on record says so, and not why', async () => {
      queries = build({ store: failingStore(service.store, /insert into svc\.query_under_way/) })
      const run = queries.run(context(), await queries.prepare(context(), text), {
        signal: new AbortController().signal,
      })
      expect(await run.putOnRecord().catch((error) => error)).toMatchObject({
        sqlState: '58030',
        message: 'The usage of the query could not be recorded.',
      })
    })

    test('governance that cannot be loaded refuses, and no engine is asked', async () => {
      queries = build({ store: failingStore(service.store, /svc\.load_read/) })
      expect((await ran(text)).error?.sqlState).toBe('58000')
      expect(scripted.asked.length).toBe(0)
      expect(await lastUsage()).toMatchObject({ outcome: 'failed', sqlState: '58000' })
    })

    test('an engine that cannot be had refuses, without a word of why', async () => {
      queries = build({ engines: new Map() })
      const missing = await ran(text)
      expect(missing.error).toMatchObject({ sqlState: '58000' })
      const engine = () => Promise.reject(new Error(canary))
      queries = build({ engines: new Map([['duckdb', { engine, close: async () => {} }]]) })
      expect((await ran(text)).error).toMatchObject({ sqlState: 'XX000', message: 'The query failed.' })
      expect(lines.join('')).not.toContain(canary)
    })

    test('the engine is the one that the catalog’s credential names', async () => {
      const { catalog, store, owner } = service
      const endpoint = catalog.url
      const config = { warehouse: 'dev', credential: 'gateway:s3cret', read_engine: 'trino' }
      const named = { nickname: 'trino', kind: 'alpha', endpoint, config } as const
      await putCatalogCredential(store, owner.tenant, named)
      expect((await ran(text, { catalog: 'trino' })).error).toMatchObject({ sqlState: '58000' })
      const kind = {
        engine: async () => ({ ...scripted.engine, dialect: 'trino' as const }),
        close: async () => {},
      }
      queries = build({ engines: new Map([['trino', kind]]) })
      expect((await ran(text, { catalog: 'trino' })).error).toBeUndefined()
      expect(await lastUsage()).toMatchObject({ engine: 'trino', catalog: 'trino' })
      expect((await ran(text)).error).toMatchObject({ sqlState: '58000' })
      const wrong = { ...named, config: { ...config, read_engine: 'spark' } }
      expect(await putCatalogCredential(store, owner.tenant, wrong).catch((fault) => fault)).toMatchObject({
        kind: 'bad_request',
      })
    })
  })

  describe('snapshots and schemas', () => {
    const text = 'SELECT * FROM sales.orders'
    const names = async () => (await queries.prepare(context(), text)).columns.map(({ name }) => name)
    const change = { table: orders as TableRef, actor: actorOf('stella'), atMs: 0 }

    test('a pinned table is read as of its pin, with the pin’s schema and today’s policies', async () => {
      await pinTable(service.store, on.tenant, change, { snapshotId: first, schemaId: 0n, catalog: 'main' })
      const renamed = orderFields.map((field) =>
        field.name === 'customer' ? { ...field, name: 'client' } : field,
      )
      const status = async (body: string) => (await commit(service, body)).status
      expect(await status(replaceSchema([...renamed, { id: 5, name: 'region', type: 'string' }]))).toBe(200)
      await snapshot(first + 1n, first, 2)
      await putRowFilter(on, { table: orders }, { id: 'f', expression: "client <> 'x'", exemptRoles: [] })

      expect(await names()).toEqual(orderFields.map(({ name }) => name))
      expect((await ran(text)).error).toBeUndefined()
      expect(lastSql()).toContain(`"orders@${first}"`)
      expect(lastSql()).toContain('_b."customer"')
      expect(await lastUsage()).toMatchObject({ reads: [{ snapshot_id: String(first), pinned: true }] })

      await unpinTable(service.store, on.tenant, change)
      expect(await names()).toEqual([...renamed.map(({ name }) => name), 'region'])
      expect((await ran(text)).error).toBeUndefined()
      expect(lastSql()).toContain(`"orders@${first + 1n}"`)
      expect(lastSql()).toContain('_b."client"')
    })

    test('a column that no commit through the gateway brought is not served', async () => {
      const known = await names()
      const { metadata } = (await upstreamOrders('GET')) as { metadata: { 'current-schema-id': number } }
      const fields = [
        ...orderFields,
        { id: 5, name: 'region', type: 'string' },
        { id: 6, name: 'sly', type: 'string' },
      ]
      await upstreamOrders('POST', replaceSchema(fields, metadata['current-schema-id']))
      expect(await names()).toEqual(['id', 'customer', 'amount', 'placed_at', 'region'])
      expect(known).not.toContain('sly')
      // The filter on what the graph calls client still guards the column that is customer again.
      expect((await ran('SELECT id FROM sales.orders')).error).toBeUndefined()
      expect(lastSql()).toContain('_b."customer"')
    })

    test('a pin whose snapshot is gone refuses', async () => {
      await pinTable(service.store, on.tenant, change, { snapshotId: first, schemaId: 0n, catalog: 'main' })
      await upstreamOrders('POST', removeSnapshots([first]))
      expect((await ran(text)).error?.sqlState).toBe('55000')
      expect(await lastUsage()).toMatchObject({ outcome: 'refused', sqlState: '55000' })
      await unpinTable(service.store, on.tenant, change)
    })
  })

  /** Past the gateway, as a writer that goes around it. */
  async function upstreamOrders(method: string, body?: string): Promise<unknown> {
    const token = await fetch(`${service.catalog.url}/v1/oauth/tokens`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: 'gateway',
        client_secret: 's3cret',
      }),
    })
    const { access_token } = (await token.json()) as { access_token: string }
    const response = await fetch(`${service.catalog.url}/v1/dev/namespaces/sales/tables/orders`, {
      method,
      headers: { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
    })
    expect(response.status).toBe(200)
    return await response.json()
  }

  async function waitUntil(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise((resolve) => setImmediate(resolve))
  }
})
