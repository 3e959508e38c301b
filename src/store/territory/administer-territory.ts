/**
 * Administers a tenant's territory: its mode, grants, releases and hand-overs. Every change leaves a row in the
 * administration log.
 */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Territory } from '../../core/territory.ts'
import type { ManifestMode } from '../../core/territory-owner.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import type { Param, Tx } from '../database/session.ts'
import type { Store } from '../store.ts'
import { type SweepRow, sweepsText } from './sweeps.ts'
import { territoryTableId } from './territory-rows.ts'

/**
 * Switches the mode.
 * @throws Fault `conflict` for `enforce` before every catalog has been swept: tables that are not in the index yet
 *   would be nobody's
 */
export async function putTerritoryMode(
  store: Store,
  tenant: TenantId,
  mode: Territory['mode'],
  by: Actor,
): Promise<void> {
  await store.tenantTransaction(tenant, async (tx) => {
    const unswept = (await tx.query<SweepRow>(sweepsText, [tenant])).filter((row) => row.finished_at === null)
    if (mode === 'enforce' && unswept.length > 0)
      throw new Fault(
        'conflict',
        `The first sweep has not finished for: ${unswept.map(({ nickname }) => nickname).join(', ')}. Wait for it.`,
      )
    await tx.query('update svc.territory_state set mode = $2, version = version + 1 where tenant_id = $1', [
      tenant,
      mode,
    ])
    await recordAdministration(tx, by, { action: 'put-territory-mode', subject: {}, value: { mode } })
  })
}

/** Says when the manifests that commits bring are checked. */
export async function putManifestMode(
  store: Store,
  tenant: TenantId,
  mode: ManifestMode,
  by: Actor,
): Promise<void> {
  await store.tenantTransaction(tenant, async (tx) => {
    await tx.query('update svc.territory_state set manifests = $2 where tenant_id = $1', [tenant, mode])
    await recordAdministration(tx, by, { action: 'put-territory-manifests', subject: {}, value: { mode } })
  })
}

/** A table of a catalog, as administration names it. */
export interface TerritoryTable {
  /** From `catalogOf`. */
  readonly catalog: string
  readonly credentialId: string
  /** Nickname of the catalog credential, for the log. */
  readonly nickname: string
  readonly table: TableRef
}

const lockText = `select pg_advisory_xact_lock(hashtextextended('territory ' || $1::text, 0))`
const subjectOf = ({ nickname, table }: TerritoryTable) => ({ catalog: nickname, table })

/**
 * Grants a prefix to a table, and strikes the conflicts that the grant settles.
 * @param ancestors of the prefix, with itself
 * @throws Fault `conflict` where any of it is another table's territory
 */
export async function grantTerritory(
  store: Store,
  tenant: TenantId,
  to: TerritoryTable,
  { prefix, ancestors }: { readonly prefix: string; readonly ancestors: readonly string[] },
  by: Actor,
): Promise<void> {
  const tableId = territoryTableId(to.table)
  await store.tenantTransaction(tenant, async (tx) => {
    await tx.query(lockText, [tenant])
    const [met] = await tx.query<{ readonly other: readonly unknown[] | null }>(
      'select svc.territory_overlap($1, $2, null, $3, $4::text::jsonb) as other',
      [tableId, to.catalog, prefix, JSON.stringify(ancestors)],
    )
    if (met?.other !== null)
      throw new Fault(
        'conflict',
        'The prefix overlaps the territory of another table, so it cannot be granted.',
      )
    await tx.query(
      `insert into svc.territory (tenant_id, prefix, kind, catalog, credential_id, table_id, namespace, table_name)
       values ($1, $2, 'granted', $3, $4, $5, $6::text::jsonb, $7)
       on conflict (tenant_id, table_id, md5(catalog), md5(prefix), kind) where released_at is null do nothing`,
      [
        tenant,
        prefix,
        to.catalog,
        to.credentialId,
        tableId,
        JSON.stringify(to.table.namespace),
        to.table.name,
      ],
    )
    await tx.query(
      'delete from svc.territory_conflict where tenant_id = $1 and table_id = $2 and catalog = $3 and starts_with(prefix, $4)',
      [tenant, tableId, to.catalog, prefix],
    )
    await recordAdministration(tx, by, {
      action: 'grant-territory',
      subject: subjectOf(to),
      value: { prefix },
    })
  })
}

/**
 * Releases the territory of a dropped table, or one prefix that was granted to any table.
 * @param prefix the granted prefix; undefined for all that a dropped table has
 * @throws Fault `conflict` where the table is there; `not_found` where there is nothing to release
 */
export async function releaseTerritory(
  store: Store,
  tenant: TenantId,
  of: TerritoryTable,
  prefix: string | undefined,
  by: Actor,
): Promise<number> {
  return await store.tenantTransaction(tenant, async (tx) => {
    await tx.query(lockText, [tenant])
    if (prefix === undefined) await assertDropped(tx, tenant, of)
    const released = await tx.query(
      `update svc.territory set released_at = clock_timestamp()
       where ${ofTable} and ($4::text is null or (prefix = $4 and kind = 'granted')) returning 1`,
      [...tableParams(tenant, of), prefix ?? null],
    )
    if (released.length === 0) throw new Fault('not_found', 'The table has no such territory.')
    await recordAdministration(tx, by, {
      action: 'release-territory',
      subject: subjectOf(of),
      ...(prefix !== undefined && { value: { prefix } }),
    })
    return released.length
  })
}

/**
 * Gives the territory of a dropped table to another name or catalog, as for a table that moves between catalogs.
 * @param tableUuid must be that of the territory
 * @throws Fault `conflict` where the old name is there or the uuid is another; `not_found` where it has no territory
 */
export async function handOverTerritory(
  store: Store,
  tenant: TenantId,
  from: TerritoryTable,
  to: TerritoryTable,
  tableUuid: string,
  by: Actor,
): Promise<number> {
  return await store.tenantTransaction(tenant, async (tx) => {
    await tx.query(lockText, [tenant])
    await assertDropped(tx, tenant, from)
    const others = await tx.query(
      `select from svc.territory where ${ofTable} and table_uuid is distinct from $4 and kind <> 'granted' limit 1`,
      [...tableParams(tenant, from), tableUuid],
    )
    if (others.length > 0)
      throw new Fault('conflict', 'The territory is of a table with another uuid, so it is not handed over.')
    await tx.query(
      `delete from svc.territory h where h.tenant_id = $1 and h.table_id = $2 and h.catalog = $3 and h.released_at is null
         and exists (select from svc.territory d where d.tenant_id = $1 and d.table_id = $4 and d.catalog = $5
           and d.prefix = h.prefix and d.kind = h.kind and d.released_at is null)`,
      [...tableParams(tenant, from), territoryTableId(to.table), to.catalog],
    )
    const moved = await tx.query(
      `update svc.territory set table_id = $4, catalog = $5, credential_id = $6, namespace = $7::text::jsonb,
         table_name = $8, dropped_at = null, seen_at = clock_timestamp()
       where ${ofTable} returning 1`,
      [
        ...tableParams(tenant, from),
        territoryTableId(to.table),
        to.catalog,
        to.credentialId,
        JSON.stringify(to.table.namespace),
        to.table.name,
      ],
    )
    await tx.query(
      `update svc.territory set source = source || $4::text::jsonb
       where tenant_id = $1 and source ->> 'table_id' = $2 and source ->> 'catalog' = $3`,
      [
        ...tableParams(tenant, from),
        JSON.stringify({ catalog: to.catalog, table_id: territoryTableId(to.table), ...to.table }),
      ],
    )
    await recordAdministration(tx, by, {
      action: 'hand-over-territory',
      subject: subjectOf(from),
      value: { ...subjectOf(to), table_uuid: tableUuid },
    })
    return moved.length
  })
}

const ofTable = 'tenant_id = $1 and table_id = $2 and catalog = $3 and released_at is null'
const tableParams = (tenant: TenantId, { catalog, table }: TerritoryTable): readonly Param[] => [
  tenant,
  territoryTableId(table),
  catalog,
]

/** @throws Fault `not_found` without territory, `conflict` where the table is not known to be gone */
async function assertDropped(tx: Tx, tenant: TenantId, of: TerritoryTable): Promise<void> {
  const rows = await tx.query<{ readonly dropped: boolean }>(
    `select dropped_at is not null as dropped from svc.territory where ${ofTable}`,
    tableParams(tenant, of),
  )
  if (rows.length === 0) throw new Fault('not_found', 'The table has no such territory.')
  if (rows.some(({ dropped }) => !dropped))
    throw new Fault(
      'conflict',
      'The table is not known to be dropped. Drop it through the gateway, or wait for the next sweep of its catalog.',
    )
}
