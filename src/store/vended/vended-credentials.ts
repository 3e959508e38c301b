/**
 * Records the storage credentials that the service issued, and says which of them are still out. Their secrets are
 * never stored.
 */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import type { SessionKind } from '../../core/session.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { given } from '../database/conditions.ts'
import { nodeId, storableJson } from '../database/names.ts'
import { afterUuid, isUuid, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'

export const credentialAccesses = ['read', 'write'] as const

/** A credential as it is recorded. */
export interface NewVendedCredential {
  readonly sessionId: string
  readonly sessionKind: SessionKind
  /** Subject. */
  readonly principal: string
  /** Of the catalog credential. */
  readonly credentialId: string
  readonly table: TableRef
  readonly access: (typeof credentialAccesses)[number]
  readonly prefixes: readonly string[]
  readonly keyId: string
  /** The role for which it was issued, and the name of the role's session. */
  readonly issuedFor: string
  readonly sessionName: string
  readonly expiresAtMs: number
}

/** Days for which the record of an expired credential is kept. */
export const vendedRetentionDays = 30

/** The id of a record, or why there is none. */
export type Reserved =
  | { readonly id: string; readonly problem?: never }
  | { readonly id?: never; readonly problem: 'session-ended' | 'territory-changed' }

/**
 * Records a credential that is about to be issued, unless its session has ended. No session is revoked while it is
 * recorded, so the record is there for a later revocation.
 * @param territoryVersion from which the prefixes were taken; undefined where they were looked up for this credential
 */
export async function reserveVended(
  store: Store,
  tenant: TenantId,
  credential: Omit<NewVendedCredential, 'keyId'>,
  territoryVersion?: string,
): Promise<Reserved> {
  const { sessionId, sessionKind, principal, credentialId, table, access, prefixes } = credential
  const { issuedFor, sessionName, expiresAtMs } = credential
  const id = crypto.randomUUID()
  const [row] = await store.tenantCall<{ readonly recorded: boolean | null }>(tenant, 'reserve_vended', [
    storableJson({
      id,
      session_id: sessionId,
      session_kind: sessionKind,
      principal,
      credential_id: credentialId,
      table_id: nodeId(tableKey(table)),
      namespace: table.namespace,
      table_name: table.name,
      ...{ access, prefixes },
      issued_for: issuedFor,
      session_name: sessionName,
      expires_ms: expiresAtMs,
      ...(territoryVersion !== undefined && { territory_version: territoryVersion }),
    }),
  ])
  if (row?.recorded === true) return { id }
  return { problem: row?.recorded === null ? 'territory-changed' : 'session-ended' }
}

/**
 * Completes the record of a credential that was issued.
 * @returns false where the session has ended meanwhile: the credential must not be given out
 */
export async function completeVended(
  store: Store,
  tenant: TenantId,
  id: string,
  { keyId, expiresAtMs }: Pick<NewVendedCredential, 'keyId' | 'expiresAtMs'>,
): Promise<boolean> {
  const [row] = await store.tenantCall<{ readonly recorded: boolean }>(tenant, 'complete_vended', [
    ...[id, keyId, expiresAtMs],
  ])
  return row?.recorded === true
}

/** Removes the record of a credential that was not issued after all. */
export async function dropReserved(store: Store, tenant: TenantId, id: string): Promise<void> {
  await store.tenantQuery(
    tenant,
    `delete from svc.vended_credential where tenant_id = $1 and vended_id = $2::uuid and key_id = ''`,
    [tenant, id],
  )
}

/**
 * Deletes records of credentials that expired long ago.
 * @returns how many
 */
export async function forgetVended(store: Store, tenant: TenantId): Promise<number> {
  const rows = await store.tenantQuery(
    tenant,
    `delete from svc.vended_credential
     where tenant_id = $1 and expires_at < now() - $2::int * interval '1 day' returning 1`,
    [tenant, vendedRetentionDays],
  )
  return rows.length
}

/** A credential that has not expired yet. */
interface VendedCredential extends Omit<NewVendedCredential, 'expiresAtMs' | 'credentialId'> {
  readonly id: string
  /** Nickname; undefined where the catalog credential was removed. */
  readonly catalog: string | undefined
  readonly issuedAt: Date
  readonly expiresAt: Date
  readonly deniedAt: Date | undefined
}

interface VendedFilter extends PageRequest {
  readonly sessionId?: string | undefined
  readonly table?: TableRef | undefined
}

/** The tenant's credentials that are still out, by id. */
export async function listVended(
  store: Store,
  tenant: TenantId,
  filter: VendedFilter = {},
): Promise<Page<VendedCredential>> {
  const { sessionId, table } = filter
  if (sessionId !== undefined && !isUuid(sessionId)) return { items: [] }
  const limit = pageLimit(filter)
  const { text, params } = given(
    [tenant, afterUuid(filter), limit + 1],
    ['v.session_id = ?::uuid', sessionId],
    ['v.table_id = ?::text', table && nodeId(tableKey(table))],
  )
  const rows = await store.tenantQuery<{
    readonly vended_id: string
    readonly session_id: string
    readonly session_kind: SessionKind
    readonly principal: string
    readonly nickname: string | null
    readonly namespace: readonly string[]
    readonly table_name: string
    readonly access: NewVendedCredential['access']
    readonly prefixes: readonly string[]
    readonly key_id: string
    readonly issued_for: string
    readonly session_name: string
    readonly issued_at: Date
    readonly expires_at: Date
    readonly denied_at: Date | null
  }>(
    tenant,
    `select v.*, c.nickname from svc.vended_credential v left join svc.catalog_credential c using (tenant_id, credential_id)
     where v.tenant_id = $1 and v.vended_id > $2 and v.expires_at > clock_timestamp()${text}
     order by v.vended_id limit $3::int`,
    params,
  )
  const page = toPage(rows, limit, (row) => row.vended_id)
  return {
    ...page,
    items: page.items.map((row) => ({
      id: row.vended_id,
      sessionId: row.session_id,
      sessionKind: row.session_kind,
      principal: row.principal,
      catalog: row.nickname ?? undefined,
      table: { namespace: row.namespace, name: row.table_name },
      access: row.access,
      prefixes: row.prefixes,
      keyId: row.key_id,
      issuedFor: row.issued_for,
      sessionName: row.session_name,
      issuedAt: row.issued_at,
      expiresAt: row.expires_at,
      deniedAt: row.denied_at ?? undefined,
    })),
  }
}

/** What a session holds that has not expired yet. */
interface SessionOut {
  readonly credentials: number
  /** When the last of them expires; undefined where there is none. */
  readonly until: Date | undefined
}

/** What a session still holds, in a transaction of its tenant. */
export async function sessionOut(tx: Tx, tenant: TenantId, sessionId: string): Promise<SessionOut> {
  const [row] = await tx.query<{ readonly count: string; readonly until: Date | null }>(
    `select count(*) as count, max(expires_at) as until from svc.vended_credential
     where tenant_id = $1 and session_id = $2 and expires_at > clock_timestamp()`,
    [tenant, sessionId],
  )
  return { credentials: Number(row?.count ?? 0), until: row?.until ?? undefined }
}

/** SQL: until when the session of a row `s` holds credentials; null where it holds none. */
export const outUntilText = `(select max(v.expires_at) from svc.vended_credential v
  where v.tenant_id = s.tenant_id and v.session_id = s.session_id and v.expires_at > clock_timestamp())`

/** Where credentials of a session are to be refused. */
interface DenialTarget {
  readonly credentialId: string
  readonly issuedFor: string
}

/**
 * Marks what an ended session still holds as denied, on record before the cloud is asked.
 * @returns where to deny it; [] where it holds nothing
 * @throws Fault `not_found` for an unknown session, `conflict` for one that has not ended: it would be issued more
 */
export async function markDenied(
  store: Store,
  tenant: TenantId,
  sessionId: string,
  by: Actor,
): Promise<readonly DenialTarget[]> {
  return await store.tenantTransaction(tenant, async (tx) => {
    await assertEnded(tx, tenant, sessionId)
    const rows = await tx.query<{ readonly credential_id: string; readonly issued_for: string }>(
      `update svc.vended_credential set denied_at = coalesce(denied_at, clock_timestamp())
       where tenant_id = $1 and session_id = $2 and expires_at > clock_timestamp()
       returning credential_id, issued_for`,
      [tenant, sessionId],
    )
    await recordAdministration(tx, by, {
      action: 'deny-session',
      subject: { session: sessionId },
      value: { credentials: rows.length },
    })
    const targets = rows.map((row) => ({ credentialId: row.credential_id, issuedFor: row.issued_for }))
    return [...new Map(targets.map((target) => [target.issuedFor, target])).values()]
  })
}

/** @throws Fault `not_found` for an unknown session, `conflict` for one that has not ended */
async function assertEnded(tx: Tx, tenant: TenantId, sessionId: string): Promise<void> {
  const [session] = await tx.query<{ readonly ended: boolean }>(
    `select s.revoked_at is not null or coalesce(s.expires_at, 'infinity') <= clock_timestamp() as ended from (
       select tenant_id, session_id, revoked_at, expires_at from svc.service_session
       union all select tenant_id, session_id, revoked_at, expires_at from svc.browser_session) s
     where s.tenant_id = $1 and s.session_id = $2::uuid`,
    [tenant, isUuid(sessionId) ? sessionId : null],
  )
  if (session === undefined) throw new Fault('not_found', 'There is no such session.')
  if (!session.ended) throw new Fault('conflict', 'The session has not ended. Revoke it first.')
}

/** A table that an ended session could write to, by what is on record. */
export interface WrittenTable {
  /** With the catalog credential, its place among those of the session. */
  readonly tableId: string
  readonly table: TableRef
  readonly credentialId: string
  /** Of all that it was issued for the table, as they were recorded. */
  readonly prefixes: readonly string[]
  readonly firstIssuedAt: Date
  readonly lastExpiresAt: Date
  /** Other sessions that could write to the table in that time. */
  readonly otherWriters: number
}

/** A place in the order of a session's tables. */
type WrittenPlace = Pick<WrittenTable, 'tableId' | 'credentialId'>

/**
 * The first table at or after a place that an ended session could write to; undefined where there is none.
 * @param isAfter whether the place itself is left out
 * @throws Fault `not_found` for an unknown session, `conflict` for one that has not ended
 */
export async function writtenTable(
  store: Store,
  tenant: TenantId,
  sessionId: string,
  table: TableRef | undefined,
  { tableId, credentialId }: WrittenPlace,
  isAfter: boolean,
): Promise<WrittenTable | undefined> {
  return await store.tenantTransaction(tenant, async (tx) => {
    await assertEnded(tx, tenant, sessionId)
    const [row] = await tx.query<{
      readonly table_id: string
      readonly credential_id: string
      readonly namespace: readonly string[]
      readonly table_name: string
      readonly prefixes: readonly (readonly string[])[]
      readonly first_at: Date
      readonly last_at: Date
      readonly others: string
    }>(
      `select w.*, (select count(distinct o.session_id) from svc.vended_credential o
          where o.tenant_id = $1 and o.table_id = w.table_id and o.session_id <> $2 and o.access = 'write'
            and o.issued_at < w.last_at and o.expires_at > w.first_at) as others
       from (select v.table_id, v.credential_id, (array_agg(v.namespace))[1] as namespace,
           min(v.table_name) as table_name, jsonb_agg(distinct v.prefixes) as prefixes, min(v.issued_at) as first_at,
           max(v.expires_at) as last_at
         from svc.vended_credential v
         where v.tenant_id = $1 and v.session_id = $2 and v.access = 'write'
           and ($3::text is null or v.table_id = $3)
           and ((v.table_id, v.credential_id) > ($4, $5::uuid) or not $6 and (v.table_id, v.credential_id) = ($4, $5::uuid))
         group by v.table_id, v.credential_id order by v.table_id, v.credential_id limit 1) w`,
      [
        ...[tenant, sessionId, table === undefined ? null : nodeId(tableKey(table))],
        ...[tableId, credentialId, isAfter],
      ],
    )
    if (row === undefined) return undefined
    return {
      tableId: row.table_id,
      table: { namespace: row.namespace, name: row.table_name },
      credentialId: row.credential_id,
      prefixes: row.prefixes.flat(),
      firstIssuedAt: row.first_at,
      lastExpiresAt: row.last_at,
      otherWriters: Number(row.others),
    }
  })
}

/** The names of a role's sessions that are denied and could still act, in order. */
export async function deniedNames(
  store: Store,
  tenant: TenantId,
  issuedFor: string,
): Promise<readonly string[]> {
  const rows = await store.tenantQuery<{ readonly session_name: string }>(
    tenant,
    `select distinct session_name from svc.vended_credential
     where tenant_id = $1 and issued_for = $2 and denied_at is not null and expires_at > clock_timestamp()
     order by session_name`,
    [tenant, issuedFor],
  )
  return rows.map((row) => row.session_name)
}
