/** Multi-table commits of Iceberg's Java client through the client surface, at a catalog that is said to be atomic. */

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { TableRef } from '../../src/core/table-ref.ts'
import { countIntents } from '../../src/store/commit/commit-intents.ts'
import { type AtomicFixture, startAtomicFixture } from './atomic-fixture.ts'
import { loadTable } from './iceberg-api.ts'
import { packageFolder } from './packages.ts'
import { runClient } from './processes.ts'

let fixture: AtomicFixture
beforeAll(async () => {
  fixture = await startAtomicFixture()
}, 120_000)
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => {
  fixture.gate.interfere = () => undefined
})

/** What came of an append to both in one transaction. */
async function transact(
  both: readonly TableRef[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const jars = join(packageFolder('maven:iceberg-java'), 'lib/*')
  const source = join(import.meta.dir, 'scripts/Transactions.java')
  // The machine's own Java, because the pinned one cannot compile.
  const { output } = await runClient(
    'java-transactions',
    ['java', '-cp', jars, source, ...both.map(({ name }) => name)],
    { env: { URI: fixture.gateway.catalogUri(), SESSION: fixture.gateway.secret, ...env }, seconds: 120 },
  )
  const outcome = /^OUTCOME (.*)$/m.exec(output)?.[1]
  if (outcome === undefined) throw new Error(`the client came to no outcome:\n${output.slice(-2000)}`)
  return outcome
}

const snapshotsOf = async (both: readonly TableRef[]) =>
  await Promise.all(
    both.map(async (table) => (await loadTable(fixture.direct, table)).metadata.snapshots?.length ?? 0),
  )

test('java: a transaction of two tables is forwarded as one, and audited for each table', async () => {
  const both = await fixture.newTables()
  const before = fixture.forwarded().length
  expect(await transact(both)).toBe('committed')
  expect(fixture.forwarded().slice(before)).toEqual(['/v1/transactions/commit'])
  expect(await snapshotsOf(both)).toEqual([1, 1])
  for (const table of both) {
    const { 'metadata-location': metadataLocation } = await loadTable(fixture.direct, table)
    expect(await fixture.gateway.audit(table)).toMatchObject([{ decision: 'APPROVED', metadataLocation }])
  }
}, 200_000)

test('java: a transaction with a denied table changes none, and its client reads the reason', async () => {
  const both = await fixture.newTables()
  await fixture.gateway.govern(both[1], {
    id: `never-${both[1].name}`,
    definitionCel: 'false',
    message: 'frozen',
  })
  const before = fixture.forwarded().length
  expect(await transact(both)).toMatch(/^ForbiddenException: .*policy denied: sales\.second_\d+: .*frozen/)
  expect(fixture.forwarded().length).toBe(before)
  expect(await snapshotsOf(both)).toEqual([0, 0])
}, 200_000)

test('java: a transaction in which one table has moved on is a conflict, and changes none', async () => {
  const both = await fixture.newTables()
  expect(await transact(both, { MEANWHILE: both[1].name })).toStartWith('CommitFailedException: ')
  expect(await snapshotsOf(both)).toEqual([0, 1])
  expect((await countIntents(fixture.gateway.store)).open).toBe(0)
}, 200_000)

test('java: a transaction whose answer was lost is committed for its client, and audited', async () => {
  const both = await fixture.newTables()
  fixture.gate.interfere = (_request, path) => (path.endsWith('/transactions/commit') ? 'fail' : undefined)
  expect(await transact(both)).toBe('committed')
  expect(await snapshotsOf(both)).toEqual([1, 1])
  for (const table of both)
    expect(await fixture.gateway.audit(table)).toMatchObject([{ decision: 'APPROVED' }])
}, 200_000)
