import { expect, setDefaultTimeout, test } from 'bun:test'
import { createTable, setProperties } from '../../../demo/commits.ts'
import type { CrashPoint } from '../../../src/gateway/base/crash-points.ts'
import { expectAuditTrue } from '../../support/audit-truth.ts'
import { crashHarness } from '../../support/crash-harness.ts'

// A service with its database starts for it, which takes its time on a busy machine.
setDefaultTimeout(60_000)

/** Where the process dies, at which pass, and what stands upstream of each table then. */
const kills: readonly (readonly [CrashPoint, number, number])[] = [
  ['intent-opened', 2, 0],
  ['commit-not-forwarded', 1, 0],
  ['answer-lost', 1, 1],
  ['commit-forwarded', 1, 1],
  ['approval-recorded', 1, 1],
]

test.each(kills)(
  'an atomic transaction killed at %s, pass %i, is audited for every table or none, as the upstream made it',
  async (crashAt, crashAtPass, acceptedOfEach) => {
    await using harness = await crashHarness({ atomic_transactions: true })
    expect((await harness.upstream('POST', '/namespaces/sales/tables', createTable('second'))).status).toBe(
      200,
    )
    const child = await harness.start({ crashAt, crashAtPass })
    if (crashAt === 'answer-lost') harness.catalog.faults.add({ operation: 'commit', effect: 'drop-after' })
    const changes = ['orders', 'second'].map((name) => ({
      identifier: { namespace: ['sales'], name },
      ...JSON.parse(setProperties({ owner: name })),
    }))
    const sent = fetch(new URL('/v1/iceberg/main/v1/transactions/commit', child.ready.url), {
      method: 'POST',
      body: JSON.stringify({ 'table-changes': changes }),
      headers: { 'x-svc-session': harness.owner().secret },
    })
    expect(await sent.then(({ status }) => status).catch(() => 'died')).toBe('died')
    await child.process.exited
    const report = await harness.settle()
    const [first, second] = [await harness.accepted('orders'), await harness.accepted('second')]
    expect([first.length, second.length]).toEqual([acceptedOfEach, acceptedOfEach])
    expectAuditTrue(report, [...first, ...second])
  },
)
