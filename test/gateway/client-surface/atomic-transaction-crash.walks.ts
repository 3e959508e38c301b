import { expect, setDefaultTimeout, test } from 'bun:test'
import type { CrashPoint } from '../../../src/gateway/base/crash-points.ts'
import { expectAuditTrue } from '../../support/audit-truth.ts'
import { crashHarness } from '../../support/crash-harness.ts'
import { someInShortForm } from '../../support/long-form.ts'
import { createSecond, killByTransaction } from '../kills.ts'

// A service with its database starts for it, which takes its time on a busy machine.
setDefaultTimeout(60_000)

/** Where the process dies, at which pass, and what stands upstream of each table then. */
const kills: readonly (readonly [CrashPoint, number, number])[] = [
  ['intent-opened', 2, 0],
  ['commit-not-forwarded', 1, 0],
  ['answer-lost', 1, 1],
  ['commit-forwarded', 1, 1],
  ['commit-journaled', 2, 1],
  ['approval-recorded', 1, 1],
]

test.each(someInShortForm(kills, 2))(
  'an atomic transaction killed at %s, pass %i, is audited for every table or none, as the upstream made it',
  async (crashAt, crashAtPass, acceptedOfEach) => {
    await using harness = await crashHarness({ atomic_transactions: true })
    await createSecond(harness)
    const child = await harness.start({ crashAt, crashAtPass })
    if (crashAt === 'answer-lost') harness.catalog.faults.add({ operation: 'commit', effect: 'drop-after' })
    const { report, first, second } = await killByTransaction(harness, child, '/v1/transactions/commit')
    expect([first.length, second.length]).toEqual([acceptedOfEach, acceptedOfEach])
    expectAuditTrue(report, [...first, ...second])
  },
)
