/** Reads and changes how long history is kept: a tenant's settings, and the installation's. Removes nothing itself. */

import type { Actor } from '../../core/administration.ts'
import { type HistoryKind, historyKinds } from '../../core/retention.ts'
import type { TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { storableJson } from '../database/names.ts'
import type { Store } from '../store.ts'

/** Who said how long: the tenant, the installation's administrator, or nobody. */
export const retentionSources = ['tenant', 'installation', 'built-in'] as const

export interface Retention {
  readonly kind: HistoryKind
  /** Undefined: for good. */
  readonly keepDays: number | undefined
  readonly source: (typeof retentionSources)[number]
}

interface Row {
  readonly kind: HistoryKind
  readonly keep_days: number | null
  readonly source: Retention['source']
}

/** How long each kind of a tenant's history is kept. */
export async function listRetention(store: Store, tenant: TenantId): Promise<readonly Retention[]> {
  const rows = await store.tenantQuery<Row>(
    tenant,
    'select kind, keep_days, source from svc.retention(array(select jsonb_array_elements_text($1::text::jsonb)))',
    [JSON.stringify(historyKinds)],
  )
  return rows.map(({ kind, keep_days, source }) => ({ kind, keepDays: keep_days ?? undefined, source }))
}

/** @param keepDays undefined: for good */
export async function putRetention(
  store: Store,
  tenant: TenantId,
  kind: HistoryKind,
  keepDays: number | undefined,
  by: Actor,
): Promise<void> {
  await store.tenantTransaction(tenant, async (tx) => {
    await tx.query(
      `insert into svc.retention_setting as s (tenant_id, kind, keep_days) values ($1, $2, $3::int)
       on conflict (tenant_id, kind) do update set keep_days = excluded.keep_days`,
      [tenant, kind, keepDays ?? null],
    )
    await recordAdministration(tx, by, {
      action: 'put-retention',
      subject: { kind },
      value: { keep_days: keepDays ?? null },
    })
  })
}

/** Leaves a kind to the installation's setting. @returns whether the tenant had one of its own */
export async function deleteRetention(
  store: Store,
  tenant: TenantId,
  kind: HistoryKind,
  by: Actor,
): Promise<boolean> {
  return await store.tenantTransaction(tenant, async (tx) => {
    const deleted = await tx.query(
      'delete from svc.retention_setting where tenant_id = $1 and kind = $2 returning 1',
      [tenant, kind],
    )
    if (deleted.length > 0)
      await recordAdministration(tx, by, { action: 'delete-retention', subject: { kind } })
    return deleted.length > 0
  })
}

/** A setting of the installation, with who made it: the rows are their own log. */
interface RetentionDefault {
  readonly kind: HistoryKind
  readonly keepDays: number | undefined
  readonly at: Date
  readonly by: Actor
}

/** The installation's settings, for tenants without their own. */
export async function listRetentionDefaults(store: Store): Promise<readonly RetentionDefault[]> {
  const rows = await store.adminQuery<Row & { readonly set_at: Date; readonly set_by: Actor }>(
    `select distinct on (kind) kind, keep_days, set_at, set_by from svc.retention_default order by kind, default_seq desc`,
  )
  return rows.map((row) => ({
    kind: row.kind,
    keepDays: row.keep_days ?? undefined,
    at: row.set_at,
    by: row.set_by,
  }))
}

/** @param keepDays undefined: for good */
export async function putRetentionDefault(
  store: Store,
  kind: HistoryKind,
  keepDays: number | undefined,
  by: Actor,
): Promise<void> {
  await store.adminQuery(
    `insert into svc.retention_default (kind, keep_days, set_by) values ($1, $2::int, $3::text::jsonb)`,
    [kind, keepDays ?? null, storableJson(by)],
  )
}
