/** What follows an engine's error after the client has its response: at most a metric and a log line, no value. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { duckdbParquet } from '../../../demo/lake/duckdb-parquet.ts'
import type { Field } from '../../../demo/lake/table-fields.ts'
import type { GovernedTable } from '../../../src/core/governed-table.ts'
import { tableKey } from '../../../src/core/table-ref.ts'
import { newTenantId } from '../../../src/core/tenant.ts'
import type { ComputeEngine, CopiedRun, CopiedStatement, TableSnapshot } from '../../../src/engine/engine.ts'
import { EngineError } from '../../../src/engine/engine-error.ts'
import { type CompiledQuery, compileQuery } from '../../../src/query/compile/compile.ts'
import type { SqlPart } from '../../../src/query/compile/emit/render.ts'
import { Attempt, type Load } from '../../../src/query/run/attempt/attempt.ts'
import { runError } from '../../../src/query/run/attempt/run-error.ts'
import { Tripwire, type TripwireBounds } from '../../../src/query/run/tripwire.ts'
import type { Store } from '../../../src/store/store.ts'
import { createLogger } from '../../../src/telemetry/log.ts'
import { createMetrics, type Metrics } from '../../../src/telemetry/metrics.ts'
import { rejectsWhenAborted } from '../../support/aborted.ts'
import { governed, snapshotOf, startTestEngine, type TestEngine, tenant } from '../../support/engine.ts'
import { eventually } from '../../support/eventually.ts'
import { batches, longs, type ScriptedEngine, scriptedEngine } from '../../support/scripted-engine.ts'

const canary = 'CANARY-77d1'
const fields: readonly Field[] = [
  { id: 1, name: 'id', type: 'long' },
  { id: 2, name: 'owner', type: 'string' },
  { id: 3, name: 'name', type: 'string' },
]
const contract = { id: 'c', version: 1 }
const filter = (expression: string) => ({
  policyId: 'f',
  origin: { kind: 'table' } as const,
  expression,
})
const people: GovernedTable = {
  ...governed(fields, 'people'),
  contract,
  rowFilters: [filter(`owner = 'bob'`)],
}

let metrics: Metrics
let lines: string[]
let scripted: ScriptedEngine
let asked: CopiedStatement[]
let answer: (statement: CopiedStatement) => Promise<CopiedRun>

beforeEach(() => {
  metrics = createMetrics()
  lines = []
  asked = []
  answer = async () => ({ outcome: 'same' })
  scripted = scriptedEngine()
  scripted.rows = () =>
    batches([longs(1n)], () => {
      throw new EngineError('22012', 'division by zero', { cause: new Error(canary) })
    })
})

/** The scripted engine, with what it says of copies. */
const withCopies = (): ComputeEngine => ({
  ...scripted.engine,
  async runOnCopies(statement) {
    asked.push(statement)
    return await answer(statement)
  },
})

function tripwire(engine: ComputeEngine = withCopies(), bounds: Partial<TripwireBounds> = {}): Tripwire {
  return new Tripwire({
    engines: enginesOf(engine),
    metrics,
    log: createLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } }),
    bounds: { delayMs: 0, ...bounds },
  })
}

const enginesOf = (engine: ComputeEngine) =>
  new Map([['duckdb', { engine: async () => engine, close: async () => {} }] as const])

function loadOf(
  text: string,
  snapshot: TableSnapshot = { table: people, metadataLocation: 'm', snapshotId: 1n },
): Load {
  const { table, metadataLocation, snapshotId } = snapshot
  const credential = { id: '', nickname: 'main', kind: 'rest', endpoint: '', config: {}, version: 1 }
  const compiled = compileQuery({
    text,
    principal: { sub: 'ada', roles: [] },
    tables: [table],
    searchPath: ['s'],
  })
  return {
    compiled,
    loaded: {
      credential,
      tables: [table],
      governances: new Map(),
      sessionId: undefined,
      snapshots: new Map([[tableKey(table.ref), { metadataLocation, snapshotId, pinned: false }]]),
    } as unknown as Load['loaded'],
  }
}

/** Runs to its end, as a client would have it, and tells the tripwire of its error. */
async function failed(
  wire: Tripwire,
  load: Load = loadOf('SELECT 1 / id FROM people'),
  engine = withCopies(),
  of = tenant,
) {
  const context = {
    tenant: of,
    principal: { sub: 'ada', roles: [] },
    principalSource: 'session',
    surface: 'pgwire',
    catalog: 'main',
    searchPath: [],
    reader: { stillValid: async () => true },
  } as const
  const log = createLogger({ level: 'silent' })
  const run = { context, queryId: crypto.randomUUID(), parameters: [] }
  const attempt = new Attempt({ engines: enginesOf(engine), store: {} as Store, log }, load, run)
  try {
    while (!(await attempt.next()).done);
    return undefined
  } catch (thrown) {
    const failure = runError(thrown)
    const progress = { startedAtMs: 0, startMs: 0, rowsOut: 0, bytesOut: 0, fingerprint: 'f1f1' }
    wire.enqueue({ ...progress, queryId: run.queryId, attempt }, failure)
    return failure
  } finally {
    await attempt.end()
  }
}

async function count(name: 'tripwireRuns' | 'tripwireSkipped', label: string): Promise<number> {
  const { values } = await metrics[name].get()
  return values.find(({ labels }) => Object.values(labels).includes(label))?.value ?? Number.NaN
}

describe('an error of the engine over a governed table', () => {
  test('is looked into after the client has its answer, which waits for nothing of it', async () => {
    const answered = Promise.withResolvers<CopiedRun>()
    answer = () => answered.promise
    const wire = tripwire()
    expect(await failed(wire)).toMatchObject({ sqlState: '22012' })
    expect(asked).toEqual([])
    await eventually(async () => asked.length === 1)
    expect(asked[0]).toMatchObject({ failed: '22012', hides: true, run: { tenant, principal: 'ada' } })
    answered.resolve({ outcome: 'same' })
    await eventually(async () => (await count('tripwireRuns', 'same')) === 1)
    await wire.end()
  })

  test('that the copy has, too, is counted and nothing is said of it', async () => {
    const wire = tripwire()
    await failed(wire)
    await eventually(async () => (await count('tripwireRuns', 'same')) === 1)
    expect(lines).toEqual([])
  })

  test('that the copy does not have is counted and logged by query, fingerprint and SQLSTATEs', async () => {
    answer = async () => ({ outcome: 'different', copied: 'whole' })
    const wire = tripwire()
    await failed(wire, loadOf(`SELECT 1 / id FROM people WHERE name = '${canary}'`))
    await eventually(async () => (await count('tripwireRuns', 'different')) === 1)
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        level: 'error',
        queryId: asked[0]?.run.queryId,
        fingerprint: 'f1f1',
        sqlState: '22012',
        copied: 'whole',
      },
    ])
    expect(lines.join('') + (await metrics.registry.metrics())).not.toContain(canary)
  })

  test('that the statement itself does not have again is counted and not logged', async () => {
    answer = async () => ({ outcome: 'unsteady' })
    await failed(tripwire())
    await eventually(async () => (await count('tripwireRuns', 'unsteady')) === 1)
    expect(lines).toEqual([])
  })

  test('is run again with the same salt and parameters, over copies by their names alone', async () => {
    await failed(tripwire())
    await eventually(async () => asked.length === 1)
    const opened = { relation: () => 'RAW', hasDeletes: () => false }
    const { copies, sql } = asked[0]?.writeCopied(opened, (id) => `COPY_${id}`) ?? {
      copies: new Map(),
      sql: '',
    }
    expect([...copies.values()]).toEqual([expect.stringMatching(/FROM RAW AS _b WHERE .*owner/)])
    expect(sql).toContain('FROM COPY_t1 AS t1')
    expect(sql).not.toContain('RAW')
    expect(asked[0]?.write(opened)).toContain('RAW')
  })
})

test.each([
  ['a cancelled query', '57014'],
  ['a lack of memory', '53000'],
  ['a file that cannot be read', '58030'],
] as const)('%s says nothing of values and is not looked into', async (_, code) => {
  scripted.rows = () =>
    batches([], () => {
      throw new EngineError(code, 'it ended')
    })
  const wire = tripwire()
  await failed(wire)
  scripted.rows = () =>
    batches([], () => {
      throw new EngineError('22003', 'it ended')
    })
  await failed(wire)
  await eventually(async () => asked.length > 0)
  expect(asked.map((statement) => statement.failed)).toEqual(['22003'])
})

test('an engine that makes no copies is left alone', async () => {
  const wire = tripwire(scripted.engine)
  await failed(wire, undefined, scripted.engine)
  await wire.end()
  expect([await count('tripwireRuns', 'same'), await count('tripwireSkipped', 'failed')]).toEqual([0, 0])
})

describe('its bounds', () => {
  test('one look at a time, a few that wait, and those beyond are dropped and counted', async () => {
    const held = Promise.withResolvers<CopiedRun>()
    answer = () => held.promise
    const wire = tripwire(withCopies(), { queueMax: 2 })
    await failed(wire)
    await eventually(async () => asked.length === 1)
    for (let each = 0; each < 4; each++) await failed(wire)
    expect(await count('tripwireSkipped', 'queue_full')).toBe(2)
    expect(asked.length).toBe(1)
    held.resolve({ outcome: 'same' })
    await eventually(async () => (await count('tripwireRuns', 'same')) === 3)
  })

  test('an error of a tenant is looked into before the backlog of another tenant', async () => {
    const held = Promise.withResolvers<CopiedRun>()
    answer = () => held.promise
    const wire = tripwire(withCopies(), { queueMax: 2 })
    await failed(wire)
    await eventually(async () => asked.length === 1)
    for (let each = 0; each < 2; each++) await failed(wire)
    const foreign = newTenantId()
    await failed(wire, undefined, undefined, foreign)
    held.resolve({ outcome: 'same' })
    await eventually(async () => asked.length === 4)
    expect(asked.map(({ run }) => run.tenant === foreign)).toEqual([false, false, true, false])
    expect(await count('tripwireSkipped', 'queue_full')).toBe(0)
  })

  test('a copy that is too large, and a look that fails, are counted', async () => {
    answer = async () => ({ outcome: 'too_large' })
    const wire = tripwire()
    await failed(wire)
    await eventually(async () => (await count('tripwireSkipped', 'too_large')) === 1)
    answer = async () => {
      throw new EngineError('53000', 'no memory', { cause: new Error(canary) })
    }
    await failed(wire)
    await eventually(async () => (await count('tripwireSkipped', 'failed')) === 1)
    expect(lines.join('')).not.toContain(canary)
  })

  test('it tries again while the engine has no idle place, until its time is up', async () => {
    answer = async () => (asked.length < 4 ? { outcome: 'busy' } : { outcome: 'same' })
    const wire = tripwire()
    await failed(wire)
    await eventually(async () => (await count('tripwireRuns', 'same')) === 1)
    expect(asked.length).toBe(4)
    answer = async () => ({ outcome: 'busy' })
    const late = tripwire(withCopies(), { lookMs: 20 })
    await failed(late)
    await eventually(async () => (await count('tripwireSkipped', 'late')) === 1)
  })

  test('its end stops the look under way and drops what waits', async () => {
    answer = ({ run }) => rejectsWhenAborted(run.signal)
    const wire = tripwire()
    await failed(wire)
    await eventually(async () => asked.length === 1)
    await failed(wire)
    await wire.end()
    expect(await count('tripwireSkipped', 'stopped')).toBe(2)
    await failed(wire)
    expect(asked.length).toBe(1)
  })
})

describe('on DuckDB', () => {
  let engine: TestEngine
  let snapshot: TableSnapshot
  beforeAll(async () => {
    engine = await startTestEngine()
    const writer = engine.table('people', { fields })
    const rows = `SELECT i AS id, if(i % 3 = 2, 'eve', 'bob') AS owner, if(i % 3 = 2, 'SECRET-${canary}', 'n' || i % 5) AS name FROM range(3000) AS r(i)`
    const bytes = await duckdbParquet(rows, '{id: 1, owner: 2, name: 3}')
    await writer.append([{ rows: [], recordCount: 3_000, bytes }])
    snapshot = snapshotOf(writer, { table: people })
  })
  afterAll(() => engine.close())

  /** The form that let hidden values through: no barrier between the filter and what can fail. */
  function withoutBarrier(load: Load, pattern: string): Load {
    const parts = (at: GovernedTable): readonly SqlPart[] => [
      'SELECT count(*) AS c1 FROM (SELECT name AS c3 FROM ',
      { slot: 'relation', table: at },
      ` AS _b WHERE owner = 'bob') AS t1 WHERE ('X' LIKE ${pattern} ESCAPE '\\')`,
    ]
    const compiled: CompiledQuery = { ...load.compiled, emit: () => parts(snapshot.table) }
    return { ...load, compiled }
  }

  const breaking = (text: string) =>
    `SELECT count(*) FROM people WHERE 'X' LIKE replace(name, '${text}', '\\')`

  test('an error by a hidden value is reported, without any value', async () => {
    const load = withoutBarrier(
      loadOf(breaking(`SECRET-${canary}`), snapshot),
      `replace(t1.c3, 'SECRET-${canary}', '\\')`,
    )
    expect(await failed(tripwire(engine.engine), load, engine.engine)).toMatchObject({ sqlState: '22025' })
    await eventually(async () => (await count('tripwireRuns', 'different')) === 1)
    expect(lines.length).toBe(1)
    expect(lines.join('')).not.toContain(canary)
  })

  test('what the compiler writes does not fail by it, and an error by a visible value is the same on the copy', async () => {
    const wire = tripwire(engine.engine)
    expect(await failed(wire, loadOf(breaking(`SECRET-${canary}`), snapshot), engine.engine)).toBeUndefined()
    expect(await failed(wire, loadOf(breaking('n3'), snapshot), engine.engine)).toBeDefined()
    await eventually(async () => (await count('tripwireRuns', 'same')) === 1)
    expect(lines).toEqual([])
  })

  test('every mention of a table has a copy of its own', async () => {
    const load = loadOf(
      'SELECT 1 / (a.id - a.id) FROM people a JOIN people b ON a.id = b.id WHERE b.name IS NOT NULL',
      snapshot,
    )
    expect(await failed(tripwire(engine.engine), load, engine.engine)).toMatchObject({ sqlState: '22012' })
    await eventually(async () => (await count('tripwireRuns', 'same')) === 1)
  })
})
