/** Multi-table commits of iceberg-go through the client surface, at a catalog that is said to be atomic. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { TableRef } from '../../src/core/table-ref.ts'
import { type Gate, openGate } from './gate.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { createTable, loadTable, type Target } from './iceberg-api.ts'
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
  const config = { atomic_transactions: true }
  gateway = stack.use(await startGateway({ kind: 'alpha', url: gate.url, config }))
}, 120_000)
afterAll(() => stack.disposeAsync())

async function newTables(): Promise<readonly [TableRef, TableRef]> {
  const [first, second] = [`first_${++tables}`, `second_${tables}`]
  const both = [
    { namespace: ['sales'], name: first },
    { namespace: ['sales'], name: second },
  ] as const
  for (const table of both) await createTable(direct, table)
  return both
}

/** What came of setting a property of both in one transaction. */
async function transact(both: readonly TableRef[]): Promise<string> {
  const folder = join(import.meta.dir, 'go')
  const command = ['go', 'run', '-C', folder, '.', ...both.map(({ name }) => name)]
  const env = { URI: gateway.catalogUri(), SESSION: gateway.secret }
  const { output } = await runClient('go-transactions', command, { env, seconds: 500 })
  const outcome = /^OUTCOME (.*)$/m.exec(output)?.[1]
  if (outcome === undefined) throw new Error(`the client came to no outcome:\n${output.slice(-2000)}`)
  return outcome
}

const ownersOf = async (both: readonly TableRef[]) =>
  await Promise.all(both.map(async (table) => (await loadTable(direct, table)).metadata.properties.owner))

/** Commits that reached the catalog. */
const forwarded = () =>
  gate.passed.filter(({ method, path }) => method === 'POST' && path.endsWith('/commit')).length

test('go: a transaction of two tables is forwarded as one, and audited for each table', async () => {
  const both = await newTables()
  const before = forwarded()
  expect(await transact(both)).toBe('committed')
  expect(forwarded()).toBe(before + 1)
  expect(await ownersOf(both)).toEqual(both.map(({ name }) => name))
  for (const table of both) {
    const { 'metadata-location': metadataLocation } = await loadTable(direct, table)
    expect(await gateway.audit(table)).toMatchObject([{ decision: 'APPROVED', metadataLocation }])
  }
}, 540_000)

test('go: a transaction with a denied table changes none, and its client reads the reason', async () => {
  const both = await newTables()
  await gateway.govern(both[1], { id: `never-${both[1].name}`, definitionCel: 'false', message: 'frozen' })
  const before = forwarded()
  expect(await transact(both)).toMatch(/policy denied: sales\.second_\d+: .*frozen/)
  expect(forwarded()).toBe(before)
  expect(await ownersOf(both)).toEqual([undefined, undefined])
}, 540_000)
