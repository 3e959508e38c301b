/** Changes of the Iceberg surface whose service is killed, or whose answer is lost. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import type { FaultEffect } from '../../../demo/catalog/faults.ts'
import { createTable, orderFields, schemaOf } from '../../../demo/commits.ts'
import type { CrashPoint } from '../../../src/gateway/base/crash-points.ts'
import { crashHarness } from '../../support/crash-harness.ts'
import { someInShortForm } from '../../support/long-form.ts'
import { killCreationAt, killKeyedAt, sendToSurface } from '../kills.ts'

setDefaultTimeout(300_000)

const kills: readonly (readonly [CrashPoint, string[]])[] = [
  ['commit-not-forwarded', []],
  ['commit-forwarded', ['create-table']],
]

test.each(someInShortForm(kills, 2))(
  'a creation killed at %s is audited if the upstream made it, else not',
  (crashAt, actions) => killCreationAt(crashAt, actions),
)

const keyedKills: readonly (readonly [CrashPoint, boolean])[] = [
  ['intent-not-opened', false],
  ['intent-opened', false],
  ['commit-not-forwarded', false],
  ['commit-forwarded', true],
  ['commit-journaled', true],
  ['approval-recorded', true],
]

test.each(someInShortForm(keyedKills, 2))(
  'a commit killed at %s and sent again by its key is made once',
  (crashAt, isMade) => killKeyedAt(crashAt, isMade),
)

const table = (name: string) => ({ namespace: ['sales'], name })
const version = { 'version-id': 1, 'timestamp-ms': 1, 'schema-id': 0, summary: {}, representations: [] }
const view = { name: 'v', schema: schemaOf(orderFields), 'view-version': version, properties: {} }

const changes: readonly (readonly [action: string, method: string, path: string, body?: unknown])[] = [
  ['create-namespace', 'POST', '/namespaces', { namespace: ['n'], properties: {} }],
  ['update-properties', 'POST', '/namespaces/sales/properties', { updates: { k: 'v' }, removals: ['x'] }],
  ['create-table', 'POST', '/namespaces/sales/tables', JSON.parse(createTable('fresh'))],
  ['rename-table', 'POST', '/tables/rename', { source: table('old'), destination: table('new') }],
  ['drop-table', 'DELETE', '/namespaces/sales/tables/gone'],
  ['create-view', 'POST', '/namespaces/sales/views', view],
  ['rename-view', 'POST', '/views/rename', { source: table('v1'), destination: table('v2') }],
  ['drop-view', 'DELETE', '/namespaces/sales/views/v3'],
  ['drop-namespace', 'DELETE', '/namespaces/empty'],
]

/** The changes that what is there afterwards proves: they are answered as made. */
const proven = new Set(['rename-table', 'drop-table'])

const losses: readonly (readonly [FaultEffect, string, string[], ReadonlySet<string>])[] = [
  ['drop-after', 'are all audited, once', changes.map(([action]) => action), proven],
  ['drop-before', 'are not audited', [], new Set()],
]

test.each(losses)('changes whose answer was lost by %s %s', async (effect, _what, actions, told) => {
  await using harness = await crashHarness()
  for (const name of ['old', 'gone'])
    await harness.upstream('POST', '/namespaces/sales/tables', createTable(name))
  for (const name of ['v1', 'v3'])
    await harness.upstream('POST', '/namespaces/sales/views', JSON.stringify({ ...view, name }))
  await harness.upstream('POST', '/namespaces', '{"namespace":["empty"]}')
  const child = await harness.start()
  for (const [action, method, path, body] of changes) {
    harness.catalog.faults.add({ operation: 'other', effect })
    const text = body === undefined ? undefined : JSON.stringify(body)
    expect((await sendToSurface(harness, child, method, path, text)).status).toBe(
      told.has(action) ? 204 : 502,
    )
  }
  child.process.kill('SIGKILL')
  await child.process.exited
  const report = await harness.settle()
  expect(report.undecided).toBe(0)
  expect(report.actions.toSorted()).toEqual(actions.toSorted())
})
