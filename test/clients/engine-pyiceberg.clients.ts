/**
 * The embedded engine reads tables that PyIceberg wrote: every row of every snapshot is what PyIceberg reads.
 * PyIceberg's deletes rewrite data files, regardless of the table's properties.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { GovernedColumn } from '../../src/core/governed-table.ts'
import type { ComputeEngine } from '../../src/engine/engine.ts'
import { rowsOf, startTestEngine, tenant } from '../support/engine.ts'
import { snapshotAt } from './engine-tables.ts'
import { packageFolder } from './packages.ts'
import { startRestFixture } from './servers.ts'
import { runSession, type Step } from './sessions.ts'

interface Written {
  readonly metadata: string
  /** How many files of deletes the table has. */
  readonly deletes: number
  readonly snapshots: readonly {
    readonly id: string
    readonly operation: string
    readonly columns: readonly string[]
    readonly rows: readonly (readonly (string | null)[])[]
  }[]
}

const stack = new AsyncDisposableStack()
let warehouse: string
let engine: ComputeEngine
let steps: readonly Step[]

beforeAll(async () => {
  const fixture = stack.use(await startRestFixture())
  warehouse = fixture.folder
  const { host, close } = await startTestEngine()
  stack.defer(close)
  engine = host.engine({ tenant, key: 'pyiceberg', access: { roots: [warehouse], s3: undefined } })
  steps = await runSession({
    python: join(packageFolder('python:pyiceberg'), 'bin/python'),
    script: 'pyiceberg_tables.py',
    log: 'engine-pyiceberg',
    args: [fixture.url],
    env: {},
    seconds: 120,
  })
}, 150_000)
afterAll(() => stack.disposeAsync())

test(
  'engine-pyiceberg: partitions that changed, an evolved schema, overwrites, upserts and deletes',
  () => compare('partitioned', ['append', 'delete', 'overwrite']),
  60_000,
)
test(
  'engine-pyiceberg: the same without partitions, with compressed metadata and small row groups',
  () => compare('compressed', ['append', 'overwrite']),
  60_000,
)
test(
  'engine-pyiceberg: whole partitions that were replaced',
  () => compare('replaced', ['append', 'delete']),
  60_000,
)
test(
  'engine-pyiceberg: files without field ids, by the table’s name mapping',
  () => compare('adopted', ['append']),
  60_000,
)

test('engine-pyiceberg: PyIceberg itself writes no table of version 3', () => {
  expect(steps.find(({ step }) => step === 'version_3')).toMatchObject({ error: 'ValueError' })
})

/** @param operations those that made the table's snapshots, each at least once */
async function compare(name: string, operations: readonly string[]): Promise<void> {
  const [step] = steps.filter((each) => each.step === name)
  if (step?.value === undefined) throw new Error(`${name}: ${step?.message}`)
  const { metadata, snapshots, deletes } = step.value as Written
  expect([...new Set(snapshots.map(({ operation }) => operation))].sort()).toEqual([...operations])
  expect(deletes).toBe(0)
  for (const { id, columns, rows } of snapshots) {
    expect(rows.length).toBeGreaterThan(0)
    const snapshot = await snapshotAt(warehouse, metadata, BigInt(id))
    const served = snapshot.table.columns
    expect(served.map((column) => column.name)).toEqual([...columns])
    const sql = `SELECT ${served.map(text).join(', ')} FROM {} AS t ORDER BY id`
    const types = served.map((column) => ({ name: column.name, type: 'text' }) as const)
    expect(await rowsOf(engine, snapshot, sql, types)).toEqual(rows.map((row) => [...row]))
  }
}

/** A column in the text form that the session reports. */
function text({ name, type }: GovernedColumn): string {
  if (typeof type !== 'string') return `array_to_string("${name}", ',')`
  if (type.startsWith('timestamp')) return `CAST(epoch_us("${name}") AS VARCHAR)`
  return type === 'binary' ? `lower(hex("${name}"))` : `CAST("${name}" AS VARCHAR)`
}
