/** A commit is audited once if the upstream accepted it, else not at all, at whichever point the service is killed. */

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { setProperties } from '../../demo/commits.ts'
import { type CrashPoint, crashPoints } from '../../src/gateway/base/crash-points.ts'
import { expectAuditTrue } from '../support/audit-truth.ts'
import { crashHarness } from '../support/crash-harness.ts'
import { someInShortForm } from '../support/long-form.ts'
import { bodies, killCommitAt, killDenialAt, send } from './kills.ts'

setDefaultTimeout(300_000)

const rejectionPoints: ReadonlySet<CrashPoint> = new Set(['rejection-not-recorded', 'rejection-recorded'])

test.each(
  someInShortForm(
    crashPoints.filter((point) => !rejectionPoints.has(point) && point !== 'answer-lost'),
    2,
  ),
)(
  'a commit is audited once if the upstream accepted it, else not at all, when the process is killed at %s',
  (crashAt) => killCommitAt(crashAt, bodies['a commit that only sets properties']),
)

describe.each(Object.entries(bodies))('%s', (_what, body) => {
  test('is audited once when the upstream accepted it but dropped the connection before the answer', async () => {
    await using harness = await crashHarness()
    const child = await harness.start()
    harness.catalog.faults.add({ operation: 'commit', effect: 'drop-after' })
    // The table shows that the commit was made, so that no client cleans up after it.
    expect(await send(harness, child, body)).toBe(200)
    child.process.kill('SIGKILL')
    await child.process.exited
    const report = await harness.settle()
    expect(await harness.accepted()).toHaveLength(1)
    expectAuditTrue(report, await harness.accepted())
  })

  test.each([
    ['answer-lost', 'drop-after', 1],
    ['commit-forwarded', 'drop-after', 1],
    ['answer-lost', 'drop-before', 0],
  ] as const)(
    'is audited once if the upstream accepted it when the process is killed at %s after %s',
    async (crashAt, effect, acceptedCount) => {
      await using harness = await crashHarness()
      const child = await harness.start({ crashAt })
      harness.catalog.faults.add({ operation: 'commit', effect })
      expect(await send(harness, child, body)).toBeUndefined()
      await child.process.exited
      const report = await harness.settle()
      expect(await harness.accepted()).toHaveLength(acceptedCount)
      expectAuditTrue(report, await harness.accepted())
    },
  )
})

test.each([...rejectionPoints])(
  'a denied commit reaches no upstream when the process is killed at %s',
  (crashAt) => killDenialAt(crashAt),
)

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
