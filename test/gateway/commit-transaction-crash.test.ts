import { expect, setDefaultTimeout, test } from 'bun:test'
import { createTable, setProperties } from '../../demo/commits.ts'
import type { CrashPoint } from '../../src/gateway/base/crash-points.ts'
import { expectAuditTrue } from '../support/audit-truth.ts'
import { crashHarness } from '../support/crash-harness.ts'

// A service with its database starts for it, which takes its time on a busy machine.
setDefaultTimeout(60_000)

/** Between and within the forwards; what stands upstream of the second table when the process dies there. */
const secondPasses: readonly (readonly [CrashPoint, number])[] = [
  ['intent-not-opened', 0],
  ['intent-opened', 0],
  ['commit-not-forwarded', 0],
  ['commit-forwarded', 1],
  ['approval-recorded', 1],
]

test.each(secondPasses)(
  'a transaction killed at the second pass of %s is audited for the tables that the upstream accepted, each once',
  async (crashAt, acceptedOfSecond) => {
    await using harness = await crashHarness()
    expect((await harness.upstream('POST', '/namespaces/sales/tables', createTable('second'))).status).toBe(
      200,
    )
    const child = await harness.start({ crashAt, crashAtPass: 2 })
    const changes = ['orders', 'second'].map((name) => ({
      identifier: { namespace: ['sales'], name },
      ...JSON.parse(setProperties({ owner: name })),
    }))
    const sent = fetch(new URL('/v1/iceberg/main/transactions/commit', child.ready.url), {
      method: 'POST',
      body: JSON.stringify({ 'table-changes': changes }),
      headers: { 'x-svc-session': harness.owner().secret },
    })
    expect(await sent.then(({ status }) => status).catch(() => 'died')).toBe('died')
    await child.process.exited
    const report = await harness.settle()
    const [first, second] = [await harness.accepted('orders'), await harness.accepted('second')]
    expect(first).toHaveLength(1)
    expect(second).toHaveLength(acceptedOfSecond)
    expectAuditTrue(report, [...first, ...second])
  },
)
