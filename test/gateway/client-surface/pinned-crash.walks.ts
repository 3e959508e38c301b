/** Pinned commits whose service is killed at each point, also on their second way after a conflict of the gateway's own. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { appendSnapshot, createTable, firstSnapshotId } from '../../../demo/commits.ts'
import type { CrashPoint } from '../../../src/gateway/base/crash-points.ts'
import { findAudit } from '../../../src/store/commit/audit.ts'
import { listDecisions } from '../../../src/store/commit/decision-list.ts'
import { expectAuditTrue } from '../../support/audit-truth.ts'
import { crashHarness } from '../../support/crash-harness.ts'
import { someInShortForm } from '../../support/long-form.ts'
import { sendToSurface } from '../kills.ts'

setDefaultTimeout(300_000)

// The policy of the harness on sales.orders reads properties, which nothing pins.
const path = '/namespaces/sales/tables/pinned'
const body = appendSnapshot({
  snapshotId: firstSnapshotId,
  sequenceNumber: 1,
  timestampMs: 1_800_000_000_000,
  manifestList: 'file:///nowhere/snap.avro',
})

/** The points that both ways pass; after a conflict the second pass of the first three is the second way's. */
const kills: readonly (readonly [CrashPoint, number, boolean])[] = [
  ['intent-not-opened', 1, false],
  ['intent-opened', 1, false],
  ['commit-not-forwarded', 1, false],
  ['commit-forwarded', 1, true],
  ['commit-journaled', 1, true],
  ['approval-recorded', 1, true],
  ['intent-not-opened', 2, false],
  ['intent-opened', 2, false],
  ['commit-not-forwarded', 2, false],
]

test.each(someInShortForm(kills, 2))(
  'a pinned commit killed at %s, pass %i, is audited as pinned if the upstream made it, else not',
  async (crashAt, crashAtPass, isMade) => {
    await using harness = await crashHarness()
    await harness.upstream('POST', '/namespaces/sales/tables', createTable('pinned'))
    const child = await harness.start({ crashAt, crashAtPass })
    const { status } = await sendToSurface(harness, child, 'GET', path)
    expect(status).toBe(200)
    const location = await folder(harness)
    // The conflict is the gateway's own, because all that the client requires holds.
    if (crashAtPass === 2) harness.catalog.faults.add({ operation: 'commit', effect: 'conflict' })
    await sendToSurface(harness, child, 'POST', path, body.replace('file:///nowhere', location)).catch(
      () => {},
    )
    await child.process.exited
    expect(child.process.signalCode).toBe('SIGKILL')
    const report = await harness.settle(async (store, tenant) => {
      for (const { commitId } of (await listDecisions(store, tenant, { limit: 10 })).items)
        expect((await findAudit(store, tenant, commitId))?.baseHeld).toBe('pinned')
    })
    const accepted = await harness.accepted('pinned')
    expect(accepted).toHaveLength(isMade ? 1 : 0)
    expectAuditTrue(report, accepted)
  },
)

async function folder(harness: Awaited<ReturnType<typeof crashHarness>>): Promise<string> {
  const loaded = (await (await harness.upstream('GET', path)).json()) as { metadata: { location: string } }
  return loaded.metadata.location
}
