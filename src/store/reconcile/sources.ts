/**
 * Stores the PostgreSQL databases with which tables are compared. Passwords are sealed, as those of catalog credentials
 * are; only svc_admin writes the rows.
 */

import { Fault } from '../../base/fault.ts'
import { Secret } from '../../base/secret.ts'
import type { Actor } from '../../core/administration.ts'
import { isPathIdentifier } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { storableText } from '../database/names.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import { sealedColumns } from '../database/sealed-columns.ts'
import { seal, unseal } from '../database/sealing.ts'
import type { Store } from '../store.ts'

export const tlsModes = ['verify', 'off'] as const

/** A source as it may be shown. */
export interface ListedSource {
  readonly name: string
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  readonly tls: (typeof tlsModes)[number]
}

export interface Source extends ListedSource {
  readonly password: Secret
}

interface Row {
  readonly name: string
  readonly host: string
  readonly port: number
  readonly database_name: string
  readonly user_name: string
  readonly tls: ListedSource['tls']
}

const columns = 'name, host, port, database_name, user_name, tls'
const { place } = sealedColumns.reconciliationSource

function toListed({ database_name: database, user_name: user, ...row }: Row): ListedSource {
  return { ...row, database, user }
}

/** Adds a source, or replaces the one of this name. @throws Fault `not_found` for an unknown tenant */
export async function putSource(
  store: Store,
  tenant: TenantId,
  { name, host, port, database, user, tls, password }: Source,
  by: Actor,
): Promise<void> {
  await store.adminTransaction(async (tx) => {
    const rows = await tx.query(
      `insert into svc.reconciliation_source as s (tenant_id, ${columns}, sealed)
       select tenant_id, $2, $3, $4::int, $5, $6, $7, $8 from svc.tenant where tenant_id = $1
       on conflict (tenant_id, name) do update set host = excluded.host, port = excluded.port,
         database_name = excluded.database_name, user_name = excluded.user_name, tls = excluded.tls,
         sealed = excluded.sealed, updated_at = clock_timestamp()
       returning 1`,
      [
        ...[tenant, name, storableText(host), port, storableText(database), storableText(user), tls],
        seal(store.secretsKey, place(tenant, name), password.reveal()),
      ],
    )
    if (rows.length === 0) throw new Fault('not_found', 'There is no such tenant.')
    const change = { subject: { source: name }, value: { host, port, database, user, tls } }
    await recordAdministration(tx, by, { action: 'put-reconciliation-source', ...change }, tenant)
  })
}

/** Removes a source. @throws Fault `not_found` */
export async function removeSource(store: Store, tenant: TenantId, name: string, by: Actor): Promise<void> {
  await store.adminTransaction(async (tx) => {
    const rows = await tx.query(
      'delete from svc.reconciliation_source where tenant_id = $1 and name = $2 returning 1',
      [tenant, name],
    )
    if (rows.length === 0) throw new Fault('not_found', 'There is no such source.')
    const change = { action: 'remove-reconciliation-source', subject: { source: name } } as const
    await recordAdministration(tx, by, change, tenant)
  })
}

/** A source, opened. @throws Fault `misconfigured` where its password cannot be opened */
export async function findSource(store: Store, tenant: TenantId, name: string): Promise<Source | undefined> {
  if (!isPathIdentifier(name)) return undefined
  const [row] = await store.tenantQuery<Row & { readonly sealed: Uint8Array | null }>(
    tenant,
    `select ${columns}, sealed from svc.reconciliation_source where tenant_id = $1 and name = $2`,
    [tenant, name],
  )
  if (row === undefined) return undefined
  const { sealed, ...listed } = row
  if (sealed === null)
    throw new Fault(
      'misconfigured',
      'The password of this source was lost with a secrets key: save it again.',
    )
  return { ...toListed(listed), password: new Secret(unseal(store, place(tenant, name), sealed)) }
}

/** A tenant's sources by name, without passwords. */
export async function listSources(
  store: Store,
  tenant: TenantId,
  page: PageRequest = {},
): Promise<Page<ListedSource>> {
  const limit = pageLimit(page)
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select ${columns} from svc.reconciliation_source
     where tenant_id = $1 and name collate "C" > $2 order by name collate "C" limit $3::int`,
    [tenant, page.after ?? '', limit + 1],
  )
  const listed = toPage(rows, limit, ({ name }) => name)
  return { ...listed, items: listed.items.map(toListed) }
}
