/** Declares the operations on ring 2: its mode, and the snapshots that it quarantined. */

import { Type } from '@sinclair/typebox'
import { tenantOperationsOf } from '../../auth/administration/tenant-operations.ts'
import { Fault } from '../../base/fault.ts'
import { manifestModes } from '../../core/territory-owner.ts'
import { actorMembers, actorView } from '../../http/actor-view.ts'
import { pageView, tablePageRequest } from '../../http/page-view.ts'
import {
  described,
  maybe,
  object,
  oneOf,
  pageInput,
  pageOf,
  tableFilter,
  tableIdentifier,
  text,
  time,
  uuid,
} from '../../http/schemas.ts'
import { limits } from '../../limits.ts'
import type { Store } from '../../store/store.ts'
import { putManifestMode } from '../../store/territory/administer-territory.ts'
import { quarantineCauses } from '../../store/territory/manifest-checks.ts'
import {
  findQuarantine,
  type ListedQuarantine,
  listQuarantine,
  releaseSnapshot,
} from '../../store/territory/quarantine.ts'

const pair = tenantOperationsOf<{ readonly store: Store }>()
const tag = 'territory'
const reading = { scope: 'read', roles: ['steward', 'administrator', 'owner'] } as const
const releasing = { scope: 'admin', roles: ['steward', 'administrator'] } as const
const administering = { scope: 'admin', roles: ['administrator', 'owner'] } as const
const unknown = { not_found: 'The tenant has no such quarantined snapshot.' }

const quarantined = object({
  id: uuid,
  table: tableIdentifier,
  catalog: maybe(described(text, 'absent where its credential was removed')),
  snapshot_id: described(text, 'a 64-bit number'),
  commit_id: described(uuid, 'the commit that added the snapshot, or registered the table'),
  cause: described(oneOf(quarantineCauses), '`unchecked`: its manifests are more than a check reads'),
  detail: described(text, 'the first file outside, or the bound'),
  found_at: time,
  release: maybe(object({ reason: text, released_at: time, released_by: object(actorMembers) })),
})

function view({ release, snapshotId, ...one }: ListedQuarantine) {
  return {
    id: one.id,
    table: one.table,
    catalog: one.catalog,
    snapshot_id: String(snapshotId),
    commit_id: one.commitId,
    cause: one.cause,
    detail: one.detail,
    found_at: one.foundAt,
    release: release && {
      reason: release.reason,
      released_at: release.at,
      released_by: actorView(release.by),
    },
  }
}

export const quarantineOperations = [
  pair({
    name: 'put_territory_manifests',
    tag,
    summary: 'Says when the manifests that commits bring are checked',
    description:
      '`off`: never. `audit`: after the commit, and before it for callers whom a row filter or column mask restricts. `enforce`: before it for every caller. The tenant’s territory must be enforced for any of them to refuse.',
    method: 'PUT',
    path: '/territory/manifests',
    access: administering,
    gives: { nothing: 'own input' },
    input: { mode: oneOf(manifestModes) },
    examples: [{ input: { mode: 'enforce' } }],
    run: async ({ parts, tenant, actor }, { mode }) =>
      await putManifestMode(parts.store, tenant, mode, await actor()),
  }),
  pair({
    name: 'list_quarantined_snapshots',
    tag,
    summary: 'Snapshots that may not be read, and those that were released',
    method: 'GET',
    path: '/territory/quarantine',
    access: reading,
    gives: { overseen: ['existence'] },
    input: { ...tableFilter, ...pageInput },
    output: pageOf(quarantined),
    run: async ({ parts, tenant }, page) =>
      pageView(await listQuarantine(parts.store, tenant, tablePageRequest(page)), view),
  }),
  pair({
    name: 'show_quarantined_snapshot',
    tag,
    summary: 'A quarantined snapshot',
    method: 'GET',
    path: '/territory/quarantine/{id}',
    access: reading,
    gives: { overseen: ['existence'] },
    input: { id: uuid },
    output: quarantined,
    faults: unknown,
    run: async ({ parts, tenant }, { id }) => {
      const found = await findQuarantine(parts.store, tenant, id)
      if (found === undefined) throw new Fault('not_found', unknown.not_found)
      return view(found)
    },
  }),
  pair({
    name: 'release_snapshot',
    tag,
    summary: 'Releases a quarantined snapshot for reads',
    description: 'Files outside the table’s territory stay refused. Grant their folder to the table first.',
    method: 'POST',
    path: '/territory/quarantine/{id}/release',
    access: releasing,
    gives: { overseen: ['existence'] },
    input: {
      id: uuid,
      reason: Type.String({ minLength: 1, maxLength: limits.decisionReasonCharsMax }),
    },
    output: quarantined,
    faults: { not_found: 'The tenant has no such snapshot in quarantine, or it was released.' },
    examples: [
      {
        input: {
          id: '8a6e0804-2bd0-4672-b79d-d97027f9071a',
          reason: 'The folder was granted to the table; the import was agreed.',
        },
      },
    ],
    run: async ({ parts, tenant, actor }, { id, reason }) => {
      if (reason.trim() === '') throw new Fault('bad_request', 'A release needs a reason.')
      const released = await releaseSnapshot(parts.store, tenant, id, reason, await actor())
      if (released === undefined) throw new Fault('not_found', unknown.not_found)
      return view(released)
    },
  }),
].flat()
