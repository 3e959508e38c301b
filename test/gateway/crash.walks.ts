/** A commit is audited once if the upstream accepted it, else not at all, at whichever point the service is killed. */

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type CrashPoint, crashPoints } from '../../src/gateway/base/crash-points.ts'
import { expectAuditTrue } from '../support/audit-truth.ts'
import { crashHarness } from '../support/crash-harness.ts'
import { bodies, killCommitAt, killDenialAt, send } from './kills.ts'

setDefaultTimeout(300_000)

const rejectionPoints: ReadonlySet<CrashPoint> = new Set(['rejection-not-recorded', 'rejection-recorded'])

test.each(crashPoints.filter((point) => !rejectionPoints.has(point) && point !== 'answer-lost'))(
  'a commit is audited once if the upstream accepted it, else not at all, when the process is killed at %s',
  (crashAt) => killCommitAt(crashAt, bodies['a commit that only sets properties']),
)

test('a commit that adds a snapshot is audited once when the process is killed before its audit', () =>
  killCommitAt('commit-forwarded', bodies['a commit that adds a snapshot']))

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
