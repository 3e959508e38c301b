/** Writes a run with a decided finding to the store, as detection would. */

import type { TableRef } from '../../src/core/table-ref.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { claimRuns } from '../../src/store/detection/claims.ts'
import { addClassifier } from '../../src/store/detection/classifiers.ts'
import { decideFinding, listFindings } from '../../src/store/detection/findings.ts'
import { finishRun } from '../../src/store/detection/results.ts'
import { enqueueHits, enqueueUnscanned, setEventAside } from '../../src/store/detection/runs.ts'
import type { Store } from '../../src/store/store.ts'
import { actorOf } from './actor.ts'

export const emptyReport = {
  snapshotIds: [],
  tableUuid: undefined,
  filesAdded: 0,
  filesScanned: 0,
  filesLeftOut: 0,
  filesUnsupported: 0,
  filesFailed: 0,
  bytesRead: 0,
  valuesSampled: 0,
  columns: 0,
  findingsLeftOut: 0,
  problems: [],
}

/** Leaves one finding about a column of a table. Nothing else may be waiting in the queue. */
export async function recordFinding(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  { fieldId, columnName }: { readonly fieldId: bigint; readonly columnName: string },
): Promise<void> {
  const metadataLocation = `s3://${table.name}/v${fieldId}.metadata.json`
  await enqueueHits(store, tenant, [{ tenant, source: 'storage-event', metadataLocation, table }])
  const [claim] = await claimRuns(store, { limit: 1, leaseMs: 60_000, triesMax: 3 })
  if (claim?.tenant !== tenant) throw new Error('another tenant had something in the queue')
  const finding = {
    column: columnName,
    class: columnName === 'email' ? 'email' : 'us_ssn',
    shape: 'name',
    confidence: 0.65,
    matched: 0,
    sampled: 0,
    maskedSample: undefined,
  } as const
  const findings = [{ finding, fieldId, columnName }]
  await finishRun(store, claim, { findings, report: emptyReport, reason: '', alert: false })
}

/** Leaves rows in every table of detection. Nothing else may be waiting in the queue. */
export async function seedDetection(store: Store, tenant: TenantId): Promise<void> {
  const table = { namespace: ['seed'], name: 'seed' }
  await recordFinding(store, tenant, table, { fieldId: 1n, columnName: 'ssn' })
  const [listed] = (await listFindings(store, tenant)).items
  await store.tenantTransaction(tenant, (tx) =>
    decideFinding(tx, tenant, listed?.id ?? '', {
      decision: 'reject',
      reason: 'seed',
      actor: actorOf('seed'),
    }),
  )
  await setEventAside(store, tenant, { id: 'seed', reason: 'seed', sealed: new Uint8Array(1) })
  await enqueueUnscanned(store, tenant, 10)
  await addClassifier(store, tenant, 'seed', { names: ['seed'] }, actorOf('seed'))
}
