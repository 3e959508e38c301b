import { describe, expect, test } from 'bun:test'
import { UnsecuredJWT } from 'jose'
import { appendSnapshot, firstSnapshotId, setProperties } from '../../demo/commits.ts'
import { type CrashPoint, crashPoints } from '../../src/gateway/base/crash-points.ts'
import { expectAuditTrue } from '../support/audit-truth.ts'
import { type Child, type CrashHarness, crashHarness } from '../support/crash-harness.ts'

const rejectionPoints: ReadonlySet<CrashPoint> = new Set(['rejection-not-recorded', 'rejection-recorded'])

const bodies = {
  'a commit that adds a snapshot': appendSnapshot({
    snapshotId: firstSnapshotId,
    sequenceNumber: 1,
    timestampMs: 1_800_000_000_000,
  }),
  'a commit that only sets properties': setProperties({ owner: 'ops' }),
}
const forbidden = setProperties({ forbidden: 'yes' })

/** The status, or undefined where the service died before it answered. */
async function send(harness: CrashHarness, child: Child, body: string): Promise<number | undefined> {
  try {
    const response = await fetch(
      new URL('/v1/iceberg/main/namespaces/sales/tables/orders', child.ready.url),
      {
        method: 'POST',
        body,
        headers: {
          'x-svc-session': harness.owner().secret,
          authorization: `Bearer ${new UnsecuredJWT({ sub: 'spark' }).encode()}`,
        },
      },
    )
    return response.status
  } catch {
    return undefined
  }
}

async function killAt(crashAt: CrashPoint, body: string): Promise<void> {
  await using harness = await crashHarness()
  const child = await harness.start({ crashAt })
  expect(await send(harness, child, body)).toBeUndefined()
  await child.process.exited
  expect(child.process.signalCode).toBe('SIGKILL')
  const report = await harness.settle()
  const accepted = await harness.accepted()
  expect(accepted).toHaveLength(crashAt === 'commit-forwarded' || crashAt === 'approval-recorded' ? 1 : 0)
  expectAuditTrue(report, accepted)
}

test.each(crashPoints.filter((point) => !rejectionPoints.has(point) && point !== 'answer-lost'))(
  'a commit is audited once if the upstream accepted it, else not at all, when the process is killed at %s',
  (crashAt) => killAt(crashAt, bodies['a commit that only sets properties']),
)

test('a commit that adds a snapshot is audited once when the process is killed before its audit', () =>
  killAt('commit-forwarded', bodies['a commit that adds a snapshot']))

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
  async (crashAt) => {
    await using harness = await crashHarness()
    const child = await harness.start({ crashAt })
    expect(await send(harness, child, forbidden)).toBeUndefined()
    await child.process.exited
    const report = await harness.settle()
    expect(await harness.accepted()).toEqual([])
    expect(report.rejected).toBe(crashAt === 'rejection-recorded' ? 1 : 0)
    expectAuditTrue(report, [])
  },
)
