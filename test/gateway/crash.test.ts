/** One kill of each kind of commit. The files `*crash.walks.ts` kill at every point, crash.soak.test.ts at random. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { setProperties } from '../../demo/commits.ts'
import { expectAuditTrue } from '../support/audit-truth.ts'
import { crashHarness } from '../support/crash-harness.ts'
import { bodies, killCommitAt, killCreationAt, killKeyedAt, killTransactionAt, send } from './kills.ts'

setDefaultTimeout(300_000)

test('a commit that adds a snapshot is audited once when the process is killed before its audit', () =>
  killCommitAt('commit-forwarded', bodies['a commit that adds a snapshot']))

test('a transaction killed before its second audit is audited for both tables, each once', () =>
  killTransactionAt('commit-forwarded', 1))

test('a creation killed before its audit is audited once', () =>
  killCreationAt('commit-forwarded', ['create-table']))

test('a commit killed between forward and answer is made and audited once, although it is sent again by its key', () =>
  killKeyedAt('commit-forwarded', true))

test('a commit killed between acceptance and audit is audited with its own file, however short the metadata log', async () => {
  await using harness = await crashHarness()
  const upstream = async (properties: Readonly<Record<string, string>>) => {
    const body = setProperties(properties)
    expect((await harness.upstream('POST', '/namespaces/sales/tables/orders', body)).status).toBe(200)
    return (await harness.accepted()).at(-1) ?? ''
  }
  await upstream({ 'write.metadata.previous-versions-max': '1' })
  const child = await harness.start({ crashAt: 'commit-journaled' })
  expect(await send(harness, child, setProperties({ owner: 'ops' }))).toBeUndefined()
  await child.process.exited
  const made = (await harness.accepted()).at(-1) ?? ''
  // The property is overwritten, and the log loses the file.
  for (const owner of ['a', 'b', 'c']) expect(await upstream({ owner })).not.toBe(made)
  expect(await harness.accepted()).not.toContain(made)
  expectAuditTrue(await harness.settle(), [made])
})
