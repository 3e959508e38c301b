/** Shows a tenant's territory: its mode, the sweeps of its catalogs, its prefixes and its conflicts. */

import { Fault } from '../../base/fault.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Territory } from '../../core/territory.ts'
import type { ManifestMode, TerritoryKind } from '../../core/territory-owner.ts'
import type { UnusableNames } from '../../core/unusable-names.ts'
import { given } from '../database/conditions.ts'
import { afterUuid, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Store } from '../store.ts'
import { type SweepRow, sweepsText } from './sweeps.ts'
import { type ConflictReason, type ConflictSource, territoryTableId } from './territory-rows.ts'

interface Sweep {
  /** Nickname of the catalog credential. */
  readonly catalog: string
  readonly startedAt: Date | undefined
  /** Undefined where no sweep of this catalog has finished yet. */
  readonly finishedAt: Date | undefined
  readonly tables: number
  readonly failed: number
  readonly problem: string | undefined
  /** Names that the catalog lists and the service cannot address; undefined where there are none. */
  readonly unusable: UnusableNames | undefined
}

interface TerritoryState extends Pick<Territory, 'mode' | 'version'> {
  readonly manifests: ManifestMode
  readonly conflicts: number
  /** Snapshots in quarantine, and commits whose manifests are still to be checked. */
  readonly quarantined: number
  readonly checks: number
  /** Why the last try of one of these could not check them. */
  readonly checkProblem: string | undefined
  readonly sweeps: readonly Sweep[]
}

interface StateRow {
  readonly mode: Territory['mode']
  readonly version: string
  readonly manifests: ManifestMode
  readonly conflicts: string
  readonly quarantined: string
  readonly checks: string
  readonly problem: string | null
}

/** The tenant's mode and version, how many conflicts are listed, and the sweep of each catalog. */
export async function territoryState(store: Store, tenant: TenantId): Promise<TerritoryState> {
  return await store.tenantTransaction(tenant, async (tx) => {
    const [state] = await tx.query<StateRow>(
      `select mode, version, manifests,
         (select count(*) from svc.territory_conflict f where f.tenant_id = s.tenant_id) as conflicts,
         (select count(*) from svc.snapshot_quarantine q where q.tenant_id = s.tenant_id and q.released_at is null)
           as quarantined,
         (select count(*) from svc.manifest_check m where m.tenant_id = s.tenant_id) as checks,
         (select reason from svc.manifest_check m where m.tenant_id = s.tenant_id and reason <> ''
           order by due_at desc limit 1) as problem
       from svc.territory_state s where tenant_id = $1`,
      [tenant],
    )
    if (state === undefined) throw new Fault('not_found', 'The tenant has no territory.')
    const rows = await tx.query<SweepRow>(sweepsText, [tenant])
    return {
      mode: state.mode,
      version: state.version,
      manifests: state.manifests,
      conflicts: Number(state.conflicts),
      quarantined: Number(state.quarantined),
      checks: Number(state.checks),
      checkProblem: state.problem ?? undefined,
      sweeps: rows.map(({ nickname, started_at, finished_at, tables, failed, problem, unusable }) => ({
        catalog: nickname,
        startedAt: started_at ?? undefined,
        finishedAt: finished_at ?? undefined,
        tables: Number(tables ?? 0),
        failed: Number(failed ?? 0),
        problem: problem ?? undefined,
        unusable: unusable ?? undefined,
      })),
    }
  })
}

interface HeldPrefix {
  readonly prefix: string
  readonly kind: TerritoryKind
  readonly table: TableRef
  readonly tableUuid: string | undefined
  /** Nickname; undefined where the credential that brought it was removed. */
  readonly catalog: string | undefined
  /** Of a derived prefix, the table whose files the clone shares. */
  readonly source: TableRef | undefined
  readonly since: Date
  /** Set while the table is known to be gone. */
  readonly droppedAt: Date | undefined
}

interface TableFilter extends PageRequest {
  readonly table?: TableRef | undefined
}

/** The prefixes of the tenant's tables that were not released, by id. */
export async function listTerritory(
  store: Store,
  tenant: TenantId,
  filter: TableFilter,
): Promise<Page<HeldPrefix>> {
  const limit = pageLimit(filter)
  const { text, params } = given(
    [tenant, afterUuid(filter), limit + 1],
    ['t.table_id = ?::text', filter.table && territoryTableId(filter.table)],
  )
  const rows = await store.tenantQuery<{
    readonly territory_id: string
    readonly prefix: string
    readonly kind: TerritoryKind
    readonly namespace: readonly string[]
    readonly table_name: string
    readonly table_uuid: string | null
    readonly nickname: string | null
    readonly source: TableRef | null
    readonly since: Date
    readonly dropped_at: Date | null
  }>(
    tenant,
    `select t.territory_id, t.prefix, t.kind, t.namespace, t.table_name, t.table_uuid, c.nickname, t.source, t.since, t.dropped_at
     from svc.territory t left join svc.catalog_credential c using (tenant_id, credential_id)
     where t.tenant_id = $1 and t.released_at is null and t.territory_id > $2${text}
     order by t.territory_id limit $3::int`,
    params,
  )
  const page = toPage(rows, limit, (row) => row.territory_id)
  return {
    ...page,
    items: page.items.map((row) => ({
      prefix: row.prefix,
      kind: row.kind,
      table: { namespace: row.namespace, name: row.table_name },
      tableUuid: row.table_uuid ?? undefined,
      catalog: row.nickname ?? undefined,
      source: row.source === null ? undefined : { namespace: row.source.namespace, name: row.source.name },
      since: row.since,
      droppedAt: row.dropped_at ?? undefined,
    })),
  }
}

interface ListedConflict {
  readonly table: TableRef
  readonly catalog: string | undefined
  readonly prefix: string
  readonly reason: ConflictReason
  readonly source: ConflictSource
  /** Undefined where it is nobody's. */
  readonly owner: TableRef | undefined
  readonly foundAt: Date
  readonly lastSeenAt: Date
  readonly seen: number
}

/** The tenant's conflicts, by id. */
export async function listConflicts(
  store: Store,
  tenant: TenantId,
  filter: TableFilter,
): Promise<Page<ListedConflict>> {
  const limit = pageLimit(filter)
  const { text, params } = given(
    [tenant, afterUuid(filter), limit + 1],
    ['f.table_id = ?::text', filter.table && territoryTableId(filter.table)],
  )
  const rows = await store.tenantQuery<{
    readonly conflict_id: string
    readonly namespace: readonly string[]
    readonly table_name: string
    readonly nickname: string | null
    readonly prefix: string
    readonly reason: ConflictReason
    readonly source: ConflictSource
    readonly owner: TableRef | null
    readonly found_at: Date
    readonly last_seen_at: Date
    readonly seen: string
  }>(
    tenant,
    `select f.*, c.nickname from svc.territory_conflict f left join svc.catalog_credential c using (tenant_id, credential_id)
     where f.tenant_id = $1 and f.conflict_id > $2${text}
     order by f.conflict_id limit $3::int`,
    params,
  )
  const page = toPage(rows, limit, (row) => row.conflict_id)
  return {
    ...page,
    items: page.items.map((row) => ({
      table: { namespace: row.namespace, name: row.table_name },
      catalog: row.nickname ?? undefined,
      prefix: row.prefix,
      reason: row.reason,
      source: row.source,
      owner: row.owner ?? undefined,
      foundAt: row.found_at,
      lastSeenAt: row.last_seen_at,
      seen: Number(row.seen),
    })),
  }
}
