/**
 * Refuses a view that its catalog shows under a second name, by its `view-uuid`, as stages/one-name.ts does for tables. A
 * namespace has no id, so only the folding of names makes its spellings one.
 */

import { Fault } from '../../base/fault.ts'
import { isJsonObject, parseJson } from '../../base/json.ts'
import { catalogOf } from '../../core/catalog.ts'
import type { TableRef } from '../../core/table-ref.ts'
import { takeTableName } from '../../store/territory/territory-rows.ts'
import { topLevelMembers } from '../../wire/iceberg/members.ts'
import { assertOneName } from '../stages/one-name.ts'
import type { SurfaceRequest } from './surface-request.ts'
import { loadedView } from './views.ts'

/** The id of a view; undefined where the reply has none. */
function viewUuidOf(loaded: Uint8Array): string | undefined {
  const metadata = topLevelMembers(loaded).get('metadata')
  const value = metadata === undefined ? undefined : parseJson(metadata)
  const uuid = isJsonObject(value) ? value.get('view-uuid') : undefined
  return typeof uuid === 'string' && uuid !== '' ? uuid : undefined
}

function ownerOf({ upstream: { credential } }: SurfaceRequest, table: TableRef, tableUuid: string) {
  return { catalog: catalogOf(credential), credentialId: credential.id, table, tableUuid, roots: [] }
}

/**
 * @param loaded the upstream's reply to a load of the view
 * @throws as `assertOneName`, where the view is known under another name
 */
export async function assertOneViewName(
  surface: SurfaceRequest,
  view: TableRef,
  loaded: Uint8Array,
): Promise<void> {
  const { parts, upstream, tenant, identified, mayCommit, request } = surface
  const uuid = viewUuidOf(loaded)
  if (uuid === undefined) return
  const owner = ownerOf(surface, view, uuid)
  const first = await takeTableName(parts.store, tenant, 'view', owner)
  if (first === undefined) return
  const asker = { tenant, identified, mayCommit, signal: request.signal }
  const known = { kind: 'view', fed: { owner, folders: [] }, first, source: 'load' } as const
  await assertOneName(parts, upstream, asker, known, async (name) => {
    const now = await loadedView(surface, name).catch((thrown: unknown) => {
      if (thrown instanceof Fault && thrown.kind === 'not_found') return undefined
      throw thrown
    })
    return now && viewUuidOf(now)
  })
}

/** Keeps the name of a view that was made. Never throws: the client must learn that it was made. */
export async function noteViewName(
  surface: SurfaceRequest,
  view: TableRef,
  reply: Uint8Array,
): Promise<void> {
  const { parts, tenant, commitId } = surface
  try {
    const uuid = viewUuidOf(reply)
    if (uuid !== undefined) await takeTableName(parts.store, tenant, 'view', ownerOf(surface, view, uuid))
  } catch (err) {
    parts.log.warn({ err, view, commitId }, 'the name of a new view could not be kept')
  }
}
