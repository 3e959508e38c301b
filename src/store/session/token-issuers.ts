/**
 * Stores the issuers whose bearer tokens name people of a tenant (docs/reference/identity.md 3.3). Only svc_admin writes
 * them, because each change raises a number of the tenant.
 */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type TokenIssuer, tokenIssuersMax } from '../../core/token-issuer.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { storableJson, storableText } from '../database/names.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'
import { keySourceOf } from './workload-trusts.ts'

export interface StoredIssuer extends TokenIssuer {
  readonly tenant: TenantId
  readonly changedAt: Date
  readonly changedBy: Actor
}

interface Row {
  readonly tenant_id: TenantId
  readonly name: string
  readonly issuer: string
  readonly audience: string
  readonly authorized_parties: readonly string[] | null
  readonly keys_url: string | null
  readonly keys: readonly object[] | null
  readonly organization_claim: string
  readonly roles_claim: string | null
  readonly subject_prefix: string
  readonly changed_at: Date
  readonly changed_by: Actor
}

const columns = `tenant_id, name, issuer, audience, authorized_parties, keys_url, keys, organization_claim,
  roles_claim, subject_prefix, changed_at, changed_by`

function toIssuer(row: Row): StoredIssuer {
  return {
    tenant: row.tenant_id,
    name: row.name,
    issuer: row.issuer,
    audience: row.audience,
    authorizedParties: row.authorized_parties ?? undefined,
    keySource: keySourceOf(row),
    organizationClaim: row.organization_claim,
    rolesClaim: row.roles_claim ?? undefined,
    subjectPrefix: row.subject_prefix,
    changedAt: row.changed_at,
    changedBy: row.changed_by,
  }
}

/**
 * Puts the issuer of this name in place.
 * @throws Fault `conflict` where the tenant has too many, or has the issuer under another name
 */
export async function putTokenIssuer(
  store: Store,
  tenant: TenantId,
  put: TokenIssuer,
  by: Actor,
): Promise<StoredIssuer> {
  const {
    name,
    issuer,
    audience,
    authorizedParties,
    keySource,
    organizationClaim,
    rolesClaim,
    subjectPrefix,
  } = put
  return await store.adminTransaction(async (tx) => {
    await raiseVersion(tx, tenant)
    const others = await tx.query<{ readonly issuer: string }>(
      'select issuer from svc.token_issuer where tenant_id = $1 and name <> $2',
      [tenant, storableText(name)],
    )
    if (others.length >= tokenIssuersMax)
      throw new Fault('conflict', `A tenant may have ${tokenIssuersMax} issuers.`)
    if (others.some((other) => other.issuer === issuer))
      throw new Fault('conflict', 'The tenant has this issuer under another name.')
    const [row] = await tx.query<Row>(
      `insert into svc.token_issuer (tenant_id, name, issuer, audience, keys_url, keys, organization_claim, roles_claim,
         subject_prefix, changed_by, authorized_parties)
       values ($1, $2, $3, $4, $5, $6::text::jsonb, $7, $8, $9, $10::text::jsonb, $11::text::jsonb)
       on conflict (tenant_id, name) do update set issuer = excluded.issuer, audience = excluded.audience,
         keys_url = excluded.keys_url, keys = excluded.keys, organization_claim = excluded.organization_claim,
         roles_claim = excluded.roles_claim, subject_prefix = excluded.subject_prefix,
         authorized_parties = excluded.authorized_parties, changed_by = excluded.changed_by,
         changed_at = clock_timestamp()
       returning ${columns}`,
      [
        ...[tenant, storableText(name), storableText(issuer), storableText(audience)],
        keySource.kind === 'address' ? storableText(keySource.url) : null,
        keySource.kind === 'given' ? storableJson(keySource.keys) : null,
        ...[storableText(organizationClaim), rolesClaim === undefined ? null : storableText(rolesClaim)],
        ...[storableText(subjectPrefix), storableJson(by)],
        authorizedParties === undefined ? null : storableJson(authorizedParties),
      ],
    )
    const { keySource: keys, ...value } = put
    const change = { action: 'put-token-issuer', subject: { name }, value: { ...value, keys } } as const
    await recordAdministration(tx, by, change, tenant)
    return toIssuer(row as Row)
  })
}

/** It locks the tenant's row too, so that two changes do not both find room for one more. */
async function raiseVersion(tx: Tx, tenant: TenantId): Promise<void> {
  await tx.query('update svc.tenant set issuers_version = issuers_version + 1 where tenant_id = $1', [tenant])
}

/** Removes an issuer: its tokens name nobody any more. @returns whether there was one */
export async function deleteTokenIssuer(
  store: Store,
  tenant: TenantId,
  name: string,
  by: Actor,
): Promise<boolean> {
  return await store.adminTransaction(async (tx) => {
    await raiseVersion(tx, tenant)
    const gone = await tx.query(
      'delete from svc.token_issuer where tenant_id = $1 and name = $2 returning 1',
      [tenant, storableText(name)],
    )
    if (gone.length === 0) return false
    await recordAdministration(tx, by, { action: 'delete-token-issuer', subject: { name } }, tenant)
    return true
  })
}

/** The tenant's issuers, by name. They are few. */
export async function tokenIssuersOf(store: Store, tenant: TenantId): Promise<readonly StoredIssuer[]> {
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select ${columns} from svc.token_issuer where tenant_id = $1 order by name collate "C"`,
    [tenant],
    { readOnly: true },
  )
  return rows.map(toIssuer)
}

/** A tenant's issuer, with the organization that its tokens must name. */
interface IssuerOfOrganization extends StoredIssuer {
  readonly organizationId: string
}

/** Tenants that trust one issuer; more are not looked at. */
const sharersMax = 1_000

/** The issuers of this `iss` of all active tenants that have an organization. */
export async function tokenIssuersNamed(
  store: Store,
  issuer: string,
): Promise<readonly IssuerOfOrganization[]> {
  const rows = await store.adminQuery<Row & { readonly organization_id: string }>(
    `select i.*, t.organization_id from svc.token_issuer i join svc.tenant t on t.tenant_id = i.tenant_id
     where i.issuer = $1 and t.state = 'active' and t.organization_id is not null limit $2::int`,
    [storableText(issuer), sharersMax],
  )
  return rows.map((row) => ({ ...toIssuer(row), organizationId: row.organization_id }))
}
