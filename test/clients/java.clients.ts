/** Multi-table commits of Iceberg's Java client through the client surface, at a catalog that is said to be atomic. */

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { TableRef } from '../../src/core/table-ref.ts'
import { countIntents } from '../../src/store/commit/commit-intents.ts'
import { type Gate, openGate } from './gate.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { createTable, loadTable, type Target } from './iceberg-api.ts'
import { packageFolder } from './packages.ts'
import { runClient } from './processes.ts'
import { startRestFixture } from './servers.ts'

let gate: Gate
let gateway: Gateway
let direct: Target
let tables = 0
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  const fixture = stack.use(await startRestFixture())
  gate = stack.use(openGate(fixture.url))
  direct = { base: `${fixture.url}/v1` }
  // The fixture writes table after table, which nobody races here.
  const config = { warehouse: 'w', atomic_transactions: true }
  gateway = stack.use(await startGateway({ kind: 'alpha', url: gate.url, config }))
}, 120_000)
afterAll(() => stack.disposeAsync())
afterEach(() => {
  gate.interfere = () => undefined
})

async function newTables(): Promise<readonly [TableRef, TableRef]> {
  const [first, second] = [`first_${++tables}`, `second_${tables}`].map((name) => ({
    namespace: ['sales'],
    name,
  }))
  if (first === undefined || second === undefined) throw new Error('there are two names')
  for (const table of [first, second]) await createTable(direct, table)
  return [first, second]
}

/** What came of an append to both in one transaction. */
async function transact(
  both: readonly TableRef[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const jars = join(packageFolder('maven:iceberg-rest'), 'lib/*')
  const source = join(import.meta.dir, 'scripts/Transactions.java')
  // The machine's own Java, because the pinned one cannot compile.
  const { output } = await runClient(
    'java-transactions',
    ['java', '-cp', jars, source, ...both.map(({ name }) => name)],
    { env: { URI: gateway.catalogUri(), SESSION: gateway.secret, ...env }, seconds: 120 },
  )
  const outcome = /^OUTCOME (.*)$/m.exec(output)?.[1]
  if (outcome === undefined) throw new Error(`the client came to no outcome:\n${output.slice(-2000)}`)
  return outcome
}

const snapshotsOf = async (both: readonly TableRef[]) =>
  await Promise.all(
    both.map(async (table) => (await loadTable(direct, table)).metadata.snapshots?.length ?? 0),
  )

/** Commits that reached the catalog. */
const forwarded = () =>
  gate.passed.filter(({ method, path }) => method === 'POST' && path.endsWith('/commit'))

test('java: a transaction of two tables is forwarded as one, and audited for each table', async () => {
  const both = await newTables()
  const before = forwarded().length
  expect(await transact(both)).toBe('committed')
  expect(
    forwarded()
      .slice(before)
      .map(({ path }) => path),
  ).toEqual(['/v1/transactions/commit'])
  expect(await snapshotsOf(both)).toEqual([1, 1])
  for (const table of both) {
    const { 'metadata-location': metadataLocation } = await loadTable(direct, table)
    expect(await gateway.audit(table)).toMatchObject([{ decision: 'APPROVED', metadataLocation }])
  }
}, 200_000)

test('java: a transaction with a denied table changes none, and its client reads the reason', async () => {
  const both = await newTables()
  await gateway.govern(both[1], { id: `never-${both[1].name}`, definitionCel: 'false', message: 'frozen' })
  const before = forwarded().length
  expect(await transact(both)).toMatch(/^ForbiddenException: .*policy denied: sales\.second_\d+: .*frozen/)
  expect(forwarded().length).toBe(before)
  expect(await snapshotsOf(both)).toEqual([0, 0])
}, 200_000)

test('java: a transaction in which one table has moved on is a conflict, and changes none', async () => {
  const both = await newTables()
  expect(await transact(both, { MEANWHILE: both[1].name })).toStartWith('CommitFailedException: ')
  expect(await snapshotsOf(both)).toEqual([0, 1])
  expect((await countIntents(gateway.store)).open).toBe(0)
}, 200_000)

test('java: a transaction whose answer was lost is committed for its client, and audited', async () => {
  const both = await newTables()
  gate.interfere = (_request, path) => (path.endsWith('/transactions/commit') ? 'fail' : undefined)
  expect(await transact(both)).toBe('committed')
  expect(await snapshotsOf(both)).toEqual([1, 1])
  for (const table of both) expect(await gateway.audit(table)).toMatchObject([{ decision: 'APPROVED' }])
}, 200_000)
