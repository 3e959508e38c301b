/**
 * Judges the files that a scan plan of the upstream names by the storage roots and the territory of their table. The upstream opens whatever
 * manifests a snapshot names, with its own rights, and a plan tells what stands in them. Reads no storage.
 */

import { Fault } from '../../base/fault.ts'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../base/json.ts'
import { tableName } from '../../core/table-ref.ts'
import { territoryOf } from '../../core/territory-owner.ts'
import { noteOutside, type ReadOwner } from '../../storage/read-territory.ts'
import { rootPrefixes, storageRoots } from '../../storage/roots.ts'
import { TerritoryFailure, type TerritoryGuard, territoryGuard } from '../../storage/territory-guard.ts'
import { loadWriteGovernance } from '../../store/policy/policies.ts'
import { topLevelMembers } from '../../wire/iceberg/members.ts'
import type { SurfaceRequest } from './surface-request.ts'

/**
 * @param reply the upstream's, to a request for a plan, its result or its tasks
 * @throws Fault `policy_denied` for a file outside of the storage roots, or of its territory where the tenant enforces it; `upstream_failed` where the
 *   reply cannot be read; of the store
 */
export async function assertPlannedInside(
  { parts, tenant, upstream }: SurfaceRequest,
  owner: ReadOwner,
  reply: Uint8Array,
): Promise<void> {
  const { territory } = await loadWriteGovernance(parts.store, tenant, owner.table)
  const guard = territoryGuard(territoryOf(territory, owner))
  const roots = rootPrefixes(storageRoots(upstream.credential.config))
  const bounds = territoryGuard({ mode: 'enforce', version: '', prefixes: roots })
  try {
    const members = topLevelMembers(reply)
    admitPlanned(bounds, members)
    admitPlanned(guard, members)
  } catch (thrown) {
    if (!(thrown instanceof TerritoryFailure)) throw thrown
    throw new Fault(
      'policy_denied',
      `policy denied: the snapshot of ${tableName(owner.table)} names files outside of its territory, so no scan is planned`,
      { cause: thrown },
    )
  }
  if (guard.outside.length > 0) await noteOutside(parts.store, tenant, owner, guard.outside)
}

function admitPlanned(guard: TerritoryGuard, reply: ReadonlyMap<string, Uint8Array>): void {
  for (const task of listOf(reply.get('file-scan-tasks')))
    guard.admit('data file', pathOf(task.get('data-file')))
  for (const file of listOf(reply.get('delete-files'))) guard.admit('delete file', pathOf(file))
}

function listOf(raw: Uint8Array | undefined): readonly JsonObject[] {
  const value = raw === undefined ? null : parsed(raw)
  if (value === null) return []
  if (!Array.isArray(value)) throw unreadable()
  return (value as readonly JsonValue[]).map((one) => {
    if (!isJsonObject(one)) throw unreadable()
    return one
  })
}

function parsed(raw: Uint8Array): JsonValue {
  try {
    return parseJson(raw)
  } catch (cause) {
    throw unreadable(cause)
  }
}

function pathOf(file: JsonValue | undefined): string {
  const path = isJsonObject(file) ? file.get('file-path') : undefined
  if (typeof path !== 'string') throw unreadable()
  return path
}

function unreadable(cause?: unknown): Fault {
  const message = 'The upstream catalog’s scan plan does not say which files it names.'
  return new Fault('upstream_failed', message, { cause })
}
