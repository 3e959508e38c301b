/** Multi-table commits of iceberg-go through the client surface, at a catalog that is said to be atomic. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { TableRef } from '../../src/core/table-ref.ts'
import { type AtomicFixture, startAtomicFixture } from './atomic-fixture.ts'
import { goClient } from './go-module.ts'
import { loadTable } from './iceberg-api.ts'
import { runClient } from './processes.ts'

let fixture: AtomicFixture
let client: ReturnType<typeof goClient>
const stack = new AsyncDisposableStack()
beforeAll(async () => {
  client = stack.use(goClient())
  fixture = stack.use(await startAtomicFixture())
}, 240_000)
afterAll(() => stack.disposeAsync())

/** What came of setting a property of both in one transaction. */
async function transact(both: readonly TableRef[]): Promise<string> {
  const command = ['go', 'run', '-C', client.folder, '.', ...both.map(({ name }) => name)]
  const env = { URI: fixture.gateway.catalogUri(), SESSION: fixture.gateway.secret }
  const { output } = await runClient('go-transactions', command, { env, seconds: 500 })
  const outcome = /^OUTCOME (.*)$/m.exec(output)?.[1]
  if (outcome === undefined) throw new Error(`the client came to no outcome:\n${output.slice(-2000)}`)
  return outcome
}

const ownersOf = async (both: readonly TableRef[]) =>
  await Promise.all(
    both.map(async (table) => (await loadTable(fixture.direct, table)).metadata.properties.owner),
  )

test('go: a transaction of two tables is forwarded as one, and audited for each table', async () => {
  const both = await fixture.newTables()
  const before = fixture.forwarded().length
  expect(await transact(both)).toBe('committed')
  expect(fixture.forwarded()).toHaveLength(before + 1)
  expect(await ownersOf(both)).toEqual(both.map(({ name }) => name))
  for (const table of both) {
    const { 'metadata-location': metadataLocation } = await loadTable(fixture.direct, table)
    expect(await fixture.gateway.audit(table)).toMatchObject([{ decision: 'APPROVED', metadataLocation }])
  }
}, 540_000)

test('go: a transaction with a denied table changes none, and its client reads the reason', async () => {
  const both = await fixture.newTables()
  await fixture.gateway.govern(both[1], {
    id: `never-${both[1].name}`,
    definitionCel: 'false',
    message: 'frozen',
  })
  const before = fixture.forwarded().length
  expect(await transact(both)).toMatch(/policy denied: sales\.second_\d+: .*frozen/)
  expect(fixture.forwarded()).toHaveLength(before)
  expect(await ownersOf(both)).toEqual([undefined, undefined])
}, 540_000)
