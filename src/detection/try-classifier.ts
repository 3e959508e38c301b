/**
 * Tries a custom classifier before it counts: on values that the request posts, or on a sample of a table. Neither makes
 * findings, and no value is kept.
 */

import { Fault } from '../base/fault.ts'
import type { Finding } from '../core/classification.ts'
import { type ActiveClassifier, classifierLimits } from '../core/classifier.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { credentialByRoot } from '../storage/access.ts'
import { admitLocation, parseRoots } from '../storage/locations.ts'
import { ReadFailure } from '../storage/read-failure.ts'
import type { TableAccess } from '../storage/vended-access.ts'
import { findCatalogCredentialById } from '../store/catalog-credential/catalog-credentials.ts'
import { readSettings } from '../store/contract/read-settings.ts'
import { lastPlaceOf } from '../store/detection/run-list.ts'
import { type CustomMatch, classifyByCustom, judgeValue } from './classify/classify-custom.ts'
import { StepBudget } from './classify/compile-classifier.ts'
import { normaliseCell } from './classify/normalise-cell.ts'
import type { DetectionParts } from './parts.ts'
import { currentMetadata } from './rescan-table.ts'
import { placeClassifier } from './scan/classify-samples.ts'
import type { ScanTask } from './scan/scan-snapshot.ts'
import { territoryToRead } from './territory-to-read.ts'
import type { ScanOutcome } from './worker-protocol.ts'

export interface TrialParts extends Pick<DetectionParts, 'store' | 'catalogs'> {
  readonly access: TableAccess
  /** Scans in a worker, after the scans that wait. One trial of a tenant at a time: a second is a Fault `unavailable`. */
  readonly scan: (tenant: TenantId, task: ScanTask) => Promise<ScanOutcome>
}

interface TriedValues {
  readonly column: string
  readonly values: readonly string[]
  /** Whose allow-lists hold. */
  readonly table: TableRef | undefined
}

/** What the classifier says of a sample. */
export interface Trial {
  /** What it would find in the column of posted values, or in the columns of the table. */
  readonly findings: readonly Finding[]
  /** Of each posted value. */
  readonly matches: readonly CustomMatch[]
}

/** Tries a classifier on values. @throws Fault `unprocessable` where its patterns cost too much for them */
export function tryOnValues(one: ActiveClassifier, { column, values, table }: TriedValues): Trial {
  const budget = new StepBudget(classifierLimits.trialStepsMax)
  const placed = placeClassifier(one, table)
  const matches = values.map((value) => judgeValue(normaliseCell(value) ?? '', placed.classifier, budget))
  const sample = { name: column, values, sampledCount: values.length }
  const finding = classifyByCustom(sample, placed, budget)
  if (budget.isSpent)
    throw new Fault(
      'unprocessable',
      'The patterns cost too much for so many values. Try fewer or shorter ones, or repeat less in the patterns.',
    )
  return { findings: finding === undefined ? [] : [finding], matches }
}

/**
 * Tries a classifier on the files that the table's current snapshot added, as a scan samples them.
 * @throws Fault `not_found` where detection knows no snapshot, `unprocessable` where the files cannot be read,
 * `unavailable` where the catalog does not answer
 */
export async function tryOnTable(
  parts: TrialParts,
  tenant: TenantId,
  one: ActiveClassifier,
  table: TableRef,
): Promise<Trial> {
  const { store } = parts
  const last = await lastPlaceOf(store, tenant, table)
  if (last === undefined) throw new Fault('not_found', 'No snapshot of this table is known to detection.')
  const { credentialId, metadataLocation } = (await currentMetadata(parts, tenant, table)) ?? last
  const credential =
    (credentialId && (await findCatalogCredentialById(store, tenant, credentialId))) ||
    (await credentialByRoot(store, tenant, metadataLocation))
  if (credential === undefined) throw unreadable('No catalog credential may read it.')
  const outcome = await readable(async () => {
    const access = await parts.access(tenant, credential, table)
    admitLocation(metadataLocation, parseRoots(access.roots))
    const territory = await territoryToRead(store, tenant, table, credential)
    const how = { isLast: true, isRescan: true, classifiers: [one], table }
    return await parts.scan(tenant, { metadataLocation, access, territory, ...how })
  })
  const reason = outcome.kind === 'failed' ? outcome.reason : outcome.result.reason
  if (outcome.kind === 'failed' || reason !== '') throw unreadable(`${reason}.`)
  const found = outcome.result.findings
    .map(({ finding }) => finding)
    .filter((each) => each.class === one.name)
  const { findingSamples } = await readSettings(store, tenant)
  const findings = findingSamples === 'nobody' ? found.map(withoutSample) : found
  return { findings, matches: [] }
}

function withoutSample(finding: Finding): Finding {
  return { ...finding, maskedSample: undefined }
}

async function readable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    throw thrown instanceof ReadFailure ? unreadable(`${thrown.reason}.`) : thrown
  }
}

function unreadable(reason: string): Fault {
  return new Fault('unprocessable', `The table could not be sampled: ${reason}`)
}
