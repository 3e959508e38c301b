/**
 * Finds the table of a run whose trigger did not name it with certainty. It asks the gateway's own record first, then
 * the advisory name of a webhook or the table in whose territory the file lies. Both are used only if the catalog
 * confirms them.
 */

import { Fault } from '../base/fault.ts'
import { CatalogError } from '../catalog/catalog.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import { canonicalLocation } from '../core/detection.ts'
import { foldTable, nameCaseOf } from '../core/name-case.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { ancestorsOf, canonicalPath } from '../storage/canonical-path.ts'
import { NameCases } from '../storage/name-cases.ts'
import { type ClaimedRun, recordTableOfRun } from '../store/detection/claims.ts'
import { tableByPath, tableOfSnapshot } from '../store/detection/runs.ts'
import { metadataReader, parseLoadTableResult } from '../wire/iceberg/table-metadata.ts'
import type { DetectionParts } from './parts.ts'

/**
 * Returns the run with its table and credential, and stores both if they are new.
 * @throws Fault when the store fails; when a catalog does not answer, the table stays unknown
 */
export async function resolveTable(
  parts: DetectionParts,
  run: ClaimedRun,
  credential: CatalogCredential,
): Promise<ClaimedRun> {
  if (run.table !== undefined && run.credentialId !== undefined) return run
  const table =
    run.table ??
    (await tableOfSnapshot(parts.store, run.tenant, run.metadataLocation)) ??
    (await confirmed(parts, run, credential))
  await recordTableOfRun(parts.store, run, credential.id, table)
  return { ...run, credentialId: credential.id, table }
}

async function confirmed(
  parts: DetectionParts,
  run: ClaimedRun,
  credential: CatalogCredential,
): Promise<TableRef | undefined> {
  const named = run.advisory ?? (await tableByPath(parts.store, run.tenant, foldersOf(run.metadataLocation)))
  if (named === undefined) return undefined
  try {
    const advisory = await ownName(parts, run.tenant, credential, named)
    const loaded = await parts.catalogs
      .get(run.tenant, credential)
      .loadTable(advisory, { snapshots: 'refs', signal: AbortSignal.timeout(confirmMs) })
    if (loaded.status !== 'loaded') return undefined
    const { metadataLocation, metadata } = parseLoadTableResult(loaded.body)
    const log = metadataReader.optionalObjects(metadata, 'metadata-log') ?? []
    const locations = [metadataLocation, ...log.map((entry) => entry.get('metadata-file'))]
    const same = locations.some(
      (one) => typeof one === 'string' && canonicalLocation(one) === run.metadataLocation,
    )
    return same ? advisory : undefined
  } catch (error) {
    if (error instanceof CatalogError || error instanceof Fault) return undefined
    throw error
  }
}

/** The name in the form that its catalog has. @throws CatalogError, Fault where the catalog cannot be asked */
async function ownName(
  { store, catalogs }: DetectionParts,
  tenant: TenantId,
  credential: CatalogCredential,
  named: TableRef,
): Promise<TableRef> {
  const folded = foldTable(named)
  if (folded === named) return named
  const settled = await new NameCases(store, catalogs).settle(tenant, credential)
  return nameCaseOf(settled) === 'folded' ? folded : named
}

function foldersOf(location: string): readonly string[] {
  const canonical = canonicalPath(location)
  return canonical.isClear ? ancestorsOf(canonical.path) : []
}

const confirmMs = 10_000
