/** Declares the operations on ring 2: its mode, and the snapshots that it quarantined. */

import { Type } from '@sinclair/typebox'
import {
  readerOf,
  type TenantContext,
  tenantOperationsOf,
} from '../../auth/administration/tenant-operations.ts'
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
import { tableFileKinds } from '../../storage/territory-guard.ts'
import { forWhom, givesWritten, showsWritten } from '../../store/governance/written-values.ts'
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
  detail: described(text, `the first file outside, or the bound; the file’s path ${forWhom}`),
  found_at: time,
  release: maybe(object({ reason: text, released_at: time, released_by: object(actorMembers) })),
})

/** What kind of file a detail names, without its path. */
function kindOf(detail: string): string {
  const kinds = tableFileKinds.filter((kind) => detail.startsWith(`${kind} `))
  return kinds.toSorted((a, b) => b.length - a.length)[0] ?? 'file'
}

/** @param isShown whether the path of the file is */
function view({ release, snapshotId, ...one }: ListedQuarantine, isShown: boolean) {
  return {
    id: one.id,
    table: one.table,
    catalog: one.catalog,
    snapshot_id: String(snapshotId),
    commit_id: one.commitId,
    cause: one.cause,
    detail: isShown || one.cause !== 'outside' ? one.detail : kindOf(one.detail),
    found_at: one.foundAt,
    release: release && {
      reason: release.reason,
      released_at: release.at,
      released_by: actorView(release.by),
    },
  }
}

async function viewFor(
  context: TenantContext<{ readonly store: Store }>,
  found: ListedQuarantine,
): Promise<ReturnType<typeof view>> {
  const { parts, tenant } = context
  const shown = await showsWritten(parts.store, tenant, await readerOf(context), [found.table])
  return view(found, shown(found.table))
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
    gives: givesWritten,
    input: { ...tableFilter, ...pageInput },
    output: pageOf(quarantined),
    run: async (context, page) => {
      const { store } = context.parts
      const found = await listQuarantine(store, context.tenant, tablePageRequest(page))
      const tables = found.items.map(({ table }) => table)
      const shown = await showsWritten(store, context.tenant, await readerOf(context), tables)
      return pageView(found, (one) => view(one, shown(one.table)))
    },
  }),
  pair({
    name: 'show_quarantined_snapshot',
    tag,
    summary: 'A quarantined snapshot',
    method: 'GET',
    path: '/territory/quarantine/{id}',
    access: reading,
    gives: givesWritten,
    input: { id: uuid },
    output: quarantined,
    faults: unknown,
    run: async (context, { id }) => {
      const found = await findQuarantine(context.parts.store, context.tenant, id)
      if (found === undefined) throw new Fault('not_found', unknown.not_found)
      return await viewFor(context, found)
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
    gives: givesWritten,
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
    run: async (context, { id, reason }) => {
      const { parts, tenant, actor } = context
      if (reason.trim() === '') throw new Fault('bad_request', 'A release needs a reason.')
      const released = await releaseSnapshot(parts.store, tenant, id, reason, await actor())
      if (released === undefined) throw new Fault('not_found', unknown.not_found)
      return await viewFor(context, released)
    },
  }),
].flat()
