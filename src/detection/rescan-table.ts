/** Queues a scan of a table's current snapshot, by the metadata file that its catalog names now. */

import { Fault } from '../base/fault.ts'
import { CatalogError } from '../catalog/catalog.ts'
import type { Actor } from '../core/administration.ts'
import { capabilitiesOf } from '../core/catalog-kinds.ts'
import { overseesTables } from '../core/oversight.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { credentialByRoot } from '../storage/access.ts'
import { findCatalogCredentialById } from '../store/catalog-credential/catalog-credentials.ts'
import {
  type CurrentMetadata,
  lastPlaceOf,
  type PlaceOfScan,
  requestRescan,
} from '../store/detection/run-list.ts'
import { findReadableTable } from '../store/governance/readable-tables.ts'
import { parseLoadTableResult } from '../wire/iceberg/table-metadata.ts'
import type { DetectionParts } from './parts.ts'
import { runView, sightsOfRuns } from './run-view.ts'

const loadMs = 10_000

/**
 * @param actor the verified principal, whom the attempt names, with its session
 * @throws Fault `not_found` when no snapshot is known or the actor may not see the table, `conflict` when a scan of it
 * waits or runs, `unavailable` when the catalog does not say which metadata file is current
 */
export async function rescanTable(
  parts: Pick<DetectionParts, 'store' | 'catalogs'>,
  tenant: TenantId,
  table: TableRef,
  actor: Actor,
) {
  if (!overseesTables(actor) && (await findReadableTable(parts.store, tenant, actor, table)) === undefined)
    throw unknown()
  const current = await currentMetadata(parts, tenant, table)
  const run = await requestRescan(parts.store, tenant, table, actor, current)
  if (run === undefined) throw unknown()
  return runView(run, (await sightsOfRuns(parts.store, tenant, actor, [run]))(run))
}

/**
 * Undefined where the table's catalog was removed or cannot be asked: then the newest known snapshot is taken.
 * @param place of a scan under an earlier name, for a table that has none under its own
 */
export async function currentMetadata(
  { store, catalogs }: Pick<DetectionParts, 'store' | 'catalogs'>,
  tenant: TenantId,
  table: TableRef,
  place?: PlaceOfScan,
): Promise<CurrentMetadata | undefined> {
  const last = (await lastPlaceOf(store, tenant, table)) ?? place
  if (last === undefined) return undefined
  const credential =
    (last.credentialId && (await findCatalogCredentialById(store, tenant, last.credentialId))) ||
    (await credentialByRoot(store, tenant, last.metadataLocation))
  if (credential === undefined || !capabilitiesOf(credential.kind).live) return undefined
  try {
    const loaded = await catalogs
      .get(tenant, credential)
      .loadTable(table, { snapshots: 'refs', signal: AbortSignal.timeout(loadMs) })
    if (loaded.status !== 'loaded') throw unasked()
    return {
      credentialId: credential.id,
      metadataLocation: parseLoadTableResult(loaded.body).metadataLocation,
    }
  } catch (thrown) {
    if (thrown instanceof CatalogError || thrown instanceof Fault) throw unasked({ cause: thrown })
    throw thrown
  }
}

function unknown(): Fault {
  return new Fault('not_found', 'No snapshot of this table is known to detection.')
}

function unasked(options: { readonly cause?: unknown } = {}): Fault {
  return new Fault(
    'unavailable',
    'The catalog did not say which snapshot of this table is current. Ask for the rescan again later.',
    options,
  )
}
