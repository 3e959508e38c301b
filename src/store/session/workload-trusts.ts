/** Stores which workloads a tenant trusts. A change ends the sessions that were exchanged by the trust before. */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import type { SessionScope } from '../../core/session.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { KeySource, WorkloadTrust } from '../../core/workload-trust.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { storableJson, storableText } from '../database/names.ts'
import { afterUuid, isUuid, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'

/** Trusts of one tenant. */
const trustsMax = 1_000

export interface StoredTrust extends WorkloadTrust {
  readonly id: string
  readonly tenant: TenantId
  readonly version: bigint
  readonly changedAt: Date
  readonly changedBy: Actor
}

interface Row {
  readonly tenant_id: TenantId
  readonly trust_id: string
  readonly name: string
  readonly issuer: string
  readonly audience: string
  readonly subject: string
  readonly principal_sub: string
  readonly principal_roles: readonly string[]
  readonly scopes: readonly SessionScope[]
  readonly keys_url: string | null
  readonly keys: readonly object[] | null
  readonly version: string
  readonly changed_at: Date
  readonly changed_by: Actor
}

const columns = `tenant_id, trust_id, name, issuer, audience, subject, principal_sub, principal_roles, scopes, keys_url,
  keys, version::text as version, changed_at, changed_by`

function toTrust(row: Row): StoredTrust {
  return {
    id: row.trust_id,
    tenant: row.tenant_id,
    name: row.name,
    issuer: row.issuer,
    audience: row.audience,
    subject: row.subject,
    sub: row.principal_sub,
    roles: row.principal_roles,
    scopes: row.scopes,
    keySource: keySourceOf(row),
    version: BigInt(row.version),
    changedAt: row.changed_at,
    changedBy: row.changed_by,
  }
}

/** Where a row says that the keys of its issuer are. */
export function keySourceOf({
  issuer,
  keys_url: url,
  keys,
}: Pick<Row, 'issuer' | 'keys_url' | 'keys'>): KeySource {
  if (keys !== null) return { kind: 'given', keys }
  return url === null ? { kind: 'discovery', issuer } : { kind: 'address', url }
}

/**
 * Puts the trust of this name in place, and ends the sessions that were exchanged by the one before.
 * @throws Fault `conflict` where the tenant has too many
 */
export async function putWorkloadTrust(
  store: Store,
  tenant: TenantId,
  trust: WorkloadTrust,
  by: Actor,
): Promise<StoredTrust> {
  const { name, issuer, audience, subject, sub, roles, scopes, keySource } = trust
  return await store.tenantTransaction(tenant, async (tx) => {
    const [count] = await tx.query<{ readonly n: number }>(
      'select count(*)::int as n from svc.workload_trust where tenant_id = $1 and name <> $2',
      [tenant, name],
    )
    if ((count?.n ?? 0) >= trustsMax) throw new Fault('conflict', `A tenant may have ${trustsMax} trusts.`)
    const [row] = await tx.query<Row>(
      `insert into svc.workload_trust as t (tenant_id, name, issuer, audience, subject, principal_sub, principal_roles,
         scopes, keys_url, keys, changed_by)
       values ($1, $2, $3, $4, $5, $6, $7::text::jsonb, $8::text::jsonb, $9, $10::text::jsonb, $11::text::jsonb)
       on conflict (tenant_id, name) do update set issuer = excluded.issuer, audience = excluded.audience,
         subject = excluded.subject, principal_sub = excluded.principal_sub,
         principal_roles = excluded.principal_roles, scopes = excluded.scopes, keys_url = excluded.keys_url,
         keys = excluded.keys, changed_by = excluded.changed_by, changed_at = clock_timestamp(),
         version = t.version + 1
       returning ${columns}`,
      [
        ...[tenant, storableText(name), storableText(issuer), storableText(audience), storableText(subject)],
        ...[storableText(sub), storableJson(roles), storableJson(scopes)],
        keySource.kind === 'address' ? storableText(keySource.url) : null,
        keySource.kind === 'given' ? storableJson(keySource.keys) : null,
        storableJson(by),
      ],
    )
    const stored = toTrust(row as Row)
    await endExchanged(tx, tenant, stored.id)
    const { keySource: _, ...value } = trust
    await recordAdministration(tx, by, {
      action: 'put-workload-trust',
      subject: { trust: stored.id, name },
      value: { ...value, keys: keySource },
    })
    return stored
  })
}

/** Removes a trust and ends its sessions. @returns whether there was one */
export async function deleteWorkloadTrust(
  store: Store,
  tenant: TenantId,
  name: string,
  by: Actor,
): Promise<boolean> {
  return await store.tenantTransaction(tenant, async (tx) => {
    const [gone] = await tx.query<{ readonly trust_id: string }>(
      'delete from svc.workload_trust where tenant_id = $1 and name = $2 returning trust_id',
      [tenant, name],
    )
    if (gone === undefined) return false
    await endExchanged(tx, tenant, gone.trust_id)
    await recordAdministration(tx, by, {
      action: 'delete-workload-trust',
      subject: { trust: gone.trust_id, name },
    })
    return true
  })
}

/** After the change of the row: an exchange that read the row before it holds a lock on it until it has its session. */
async function endExchanged(tx: Tx, tenant: TenantId, trust: string): Promise<void> {
  await tx.query(
    `update svc.service_session set revoked_at = now()
     where tenant_id = $1 and trust_id = $2 and revoked_at is null and expires_at > now()`,
    [tenant, trust],
  )
}

/** The tenant's trusts, by id. */
export async function listWorkloadTrusts(
  store: Store,
  tenant: TenantId,
  page: PageRequest = {},
): Promise<Page<StoredTrust>> {
  const limit = pageLimit(page)
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select ${columns} from svc.workload_trust where tenant_id = $1 and trust_id > $2 order by trust_id
     limit $3::int`,
    [tenant, afterUuid(page), limit + 1],
  )
  return toPage(rows.map(toTrust), limit, ({ id }) => id)
}

/** The trust that a client names, of an active tenant with a catalog under the prefix. */
export async function findWorkloadTrust(
  store: Store,
  id: string,
  prefix: string,
): Promise<StoredTrust | undefined> {
  if (!isUuid(id)) return undefined
  const [row] = await store.adminQuery<Row>(
    `select ${columns} from svc.workload_trust w where trust_id = $1
       and exists (select 1 from svc.tenant t where t.tenant_id = w.tenant_id and t.state = 'active')
       and exists (select 1 from svc.catalog_credential c where c.tenant_id = w.tenant_id and c.nickname = $2)`,
    [id, prefix],
  )
  return row && toTrust(row)
}
