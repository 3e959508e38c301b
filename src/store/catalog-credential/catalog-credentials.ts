/**
 * Stores, finds and opens catalog credentials (docs/reference/catalogs.md 1). Only svc_admin writes them, the tenant
 * reads them, and their secrets are sealed at rest.
 */

import { Fault } from '../../base/fault.ts'
import { type Actor, operator } from '../../core/administration.ts'
import { type CatalogCredential, catalogOf, type SealedCatalogCredential } from '../../core/catalog.ts'
import { type CatalogKind, catalogKindDescriptors, isCatalogKind } from '../../core/catalog-kinds.ts'
import type { CatalogSettings } from '../../core/catalog-settings.ts'
import { nameCaseFound, nameCaseOf, nameCaseSetting } from '../../core/name-case.ts'
import { readEngineOf } from '../../core/read-engine.ts'
import { isPathIdentifier } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { storableJson } from '../database/names.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import { sealedColumns } from '../database/sealed-columns.ts'
import { seal, unseal } from '../database/sealing.ts'
import type { Store } from '../store.ts'
import { foldTerritory } from './name-case.ts'

interface NewCatalogCredential {
  readonly kind: CatalogKind
  readonly nickname: string
  readonly endpoint: string
  readonly config: Readonly<Record<string, unknown>>
}

/** A credential as it may be shown: without the fields of its config that may be secret. */
export interface ListedCatalogCredential extends NewCatalogCredential {
  readonly id: string
  readonly version: number
}

/** A row of svc.catalog_credential. */
export interface CatalogCredentialRow {
  readonly credential_id: string
  readonly version: string
  readonly catalog_kind: CatalogKind
  readonly nickname: string
  readonly endpoint: string
  readonly config: Readonly<Record<string, unknown>>
  readonly sealed: Uint8Array
}

// An allow-list, so that any other field is sealed.
const plainFields = new Set(
  Object.values(catalogKindDescriptors).flatMap(({ settings }) =>
    Object.entries(settings as CatalogSettings).flatMap(([name, { shown }]) => (shown ? [name] : [])),
  ),
)

const { place } = sealedColumns.catalogCredential

function sealConfig(
  store: Store,
  tenant: TenantId,
  nickname: string,
  config: Readonly<Record<string, unknown>>,
) {
  const entries = Object.entries(config)
  const part = (plain: boolean) =>
    storableJson(Object.fromEntries(entries.filter(([key]) => plainFields.has(key) === plain)))
  return { plain: part(true), sealed: seal(store.secretsKey, place(tenant, nickname), part(false)) }
}

/** @throws Fault `bad_request`, without the URL in its message, because the URL may hold a password */
function checkUrl(text: string): void {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw new Fault('bad_request', 'The endpoint must be an http or https URL.')
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new Fault('bad_request', 'The endpoint must be a URL without a user, password, query or fragment.')
}

function checkCredential({ kind, nickname, endpoint, config }: NewCatalogCredential): void {
  if (!isCatalogKind(kind)) throw new Fault('bad_request', 'The catalog kind is not supported.')
  if (!isPathIdentifier(nickname) || nickname.length > limits.identifierLengthMax)
    throw new Fault(
      'bad_request',
      `A nickname must be 1 to ${limits.identifierLengthMax} letters, digits, _ and -.`,
    )
  checkUrl(endpoint)
  if (config.endpoint !== undefined) checkUrl(String(config.endpoint))
  readEngineOf(config)
  if (storableJson(config).length > limits.apiBodyBytesMax)
    throw new Fault('bad_request', 'The configuration is too large.')
}

/**
 * Adds a credential, or replaces the one of this nickname with its secrets. `version` rises.
 * @param by who does; the operator where the caller has the store at hand
 * @throws Fault `bad_request` for a bad nickname, kind, URL or configuration; `not_found` for an unknown tenant
 */
export async function putCatalogCredential(
  store: Store,
  tenant: TenantId,
  credential: NewCatalogCredential,
  by: Actor = operator(),
): Promise<{ readonly id: string; readonly version: number }> {
  checkCredential(credential)
  if (nameCaseOf(credential) === 'folded') await foldTerritory(store, tenant, credential)
  const { plain, sealed } = sealConfig(store, tenant, credential.nickname, credential.config)
  return await store.adminTransaction(async (tx) => {
    const [row] = await tx.query<CatalogCredentialRow>(
      `insert into svc.catalog_credential as c (tenant_id, credential_id, nickname, catalog_kind, endpoint, config, sealed)
       select tenant_id, $2, $3, $4, $5, $6::text::jsonb, $7 from svc.tenant where tenant_id = $1
       on conflict (tenant_id, nickname) do update set catalog_kind = excluded.catalog_kind, endpoint = excluded.endpoint,
         config = excluded.config, sealed = excluded.sealed, version = c.version + 1, updated_at = now()
       returning credential_id, version`,
      [tenant, crypto.randomUUID(), credential.nickname, credential.kind, credential.endpoint, plain, sealed],
    )
    if (row === undefined) throw new Fault('not_found', 'There is no such tenant.')
    const { kind, nickname, endpoint, config } = credential
    const version = Number(row.version)
    // Names of fields only, because any value may be a secret.
    const value = { catalog_kind: kind, endpoint, version, fields: Object.keys(config).toSorted() }
    await recordAdministration(
      tx,
      by,
      { action: 'put-catalog', subject: { catalog: nickname }, value },
      tenant,
    )
    return { id: row.credential_id, version }
  })
}

/** The configuration after a change. What was found out of the names holds for as long as the catalog is the same. */
function changedConfig(
  credential: CatalogCredential,
  changes: Readonly<Record<string, unknown>>,
): NewCatalogCredential['config'] {
  const config = { ...credential.config, ...changes }
  if (nameCaseSetting in changes || catalogOf({ ...credential, config }) !== catalogOf(credential)) {
    const { [nameCaseFound]: _, ...known } = config
    return known
  }
  return config
}

/**
 * Replaces some fields of a credential's configuration, for example a rotated secret. Other fields stay.
 * @param changes fields to set; undefined removes a field
 * @param check a further check of the whole credential, which throws where it fails
 * @returns the new version, or undefined where there is no such credential
 */
export async function rotateCatalogCredential(
  store: Store,
  tenant: TenantId,
  nickname: string,
  changes: Readonly<Record<string, unknown>>,
  check: (credential: NewCatalogCredential) => void = () => {},
  by: Actor = operator(),
): Promise<number | undefined> {
  let rotated: NewCatalogCredential | undefined
  const version = await store.adminTransaction(async (tx) => {
    const [row] = await tx.query<CatalogCredentialRow>(
      `select * from svc.catalog_credential where tenant_id = $1 and nickname = $2 for update`,
      [tenant, nickname],
    )
    if (row === undefined) return undefined
    const credential = open(store, tenant, row)
    rotated = { ...credential, config: changedConfig(credential, changes) }
    const { config } = rotated
    checkCredential(rotated)
    check(rotated)
    const { plain, sealed } = sealConfig(store, tenant, nickname, config)
    const [changed] = await tx.query<CatalogCredentialRow>(
      `update svc.catalog_credential set config = $3::text::jsonb, sealed = $4, version = version + 1, updated_at = now()
       where tenant_id = $1 and nickname = $2 returning version`,
      [tenant, nickname, plain, sealed],
    )
    const version = Number(changed?.version)
    const value = { version, fields: Object.keys(changes).toSorted() }
    await recordAdministration(
      tx,
      by,
      { action: 'change-catalog', subject: { catalog: nickname }, value },
      tenant,
    )
    return version
  })
  if (rotated !== undefined && nameCaseOf(rotated) === 'folded') await foldTerritory(store, tenant, rotated)
  return version
}

/** Removes a credential. @returns whether there was one */
export async function removeCatalogCredential(
  store: Store,
  tenant: TenantId,
  nickname: string,
  by: Actor = operator(),
): Promise<boolean> {
  return await store.adminTransaction(async (tx) => {
    const removed = await tx.query(
      'delete from svc.catalog_credential where tenant_id = $1 and nickname = $2 returning 1',
      [tenant, nickname],
    )
    if (removed.length === 0) return false
    await recordAdministration(tx, by, { action: 'remove-catalog', subject: { catalog: nickname } }, tenant)
    return true
  })
}

/**
 * The tenant's credential with the {prefix} of a URL, opened.
 * @throws Fault `misconfigured` where its secrets cannot be opened
 */
export async function findCatalogCredential(
  store: Store,
  tenant: TenantId,
  nickname: string,
): Promise<CatalogCredential | undefined> {
  if (!isPathIdentifier(nickname)) return undefined
  const [row] = await store.tenantQuery<CatalogCredentialRow>(
    tenant,
    `select credential_id, version, catalog_kind, nickname, endpoint, config, sealed
     from svc.catalog_credential where tenant_id = $1 and nickname = $2`,
    [tenant, nickname],
  )
  return row && open(store, tenant, row)
}

/** Whether the tenant has a credential with the {prefix} of a URL. */
export async function hasCatalogCredential(
  store: Store,
  tenant: TenantId,
  nickname: string,
): Promise<boolean> {
  if (!isPathIdentifier(nickname)) return false
  const rows = await store.tenantQuery(
    tenant,
    'select 1 from svc.catalog_credential where tenant_id = $1 and nickname = $2',
    [tenant, nickname],
  )
  return rows.length === 1
}

/**
 * The credential of this id, opened. Recovery finds the upstream of an intent by it.
 * @throws Fault `misconfigured` where its secrets cannot be opened
 */
export async function findCatalogCredentialById(
  store: Store,
  tenant: TenantId,
  id: string,
): Promise<CatalogCredential | undefined> {
  const [row] = await store.tenantQuery<CatalogCredentialRow>(
    tenant,
    `select credential_id, version, catalog_kind, nickname, endpoint, config, sealed
     from svc.catalog_credential where tenant_id = $1 and credential_id = $2`,
    [tenant, id],
  )
  return row && open(store, tenant, row)
}

/** The credential of a row, still sealed. */
export function toSealedCredential(row: CatalogCredentialRow): SealedCatalogCredential {
  return {
    id: row.credential_id,
    version: Number(row.version),
    kind: row.catalog_kind,
    nickname: row.nickname,
    endpoint: row.endpoint,
    config: row.config,
    sealed: row.sealed,
  }
}

/** Opens a sealed credential. @throws Fault `misconfigured` where its secrets cannot be opened */
export function openCredential(
  store: Store,
  tenant: TenantId,
  { sealed, ...credential }: SealedCatalogCredential,
): CatalogCredential {
  const text = unseal(store, place(tenant, credential.nickname), sealed)
  return { ...credential, config: { ...credential.config, ...(JSON.parse(text) as object) } }
}

function open(store: Store, tenant: TenantId, row: CatalogCredentialRow): CatalogCredential {
  return openCredential(store, tenant, toSealedCredential(row))
}

/** The tenant's credentials by nickname, without their secrets. */
export async function listCatalogCredentials(
  store: Store,
  tenant: TenantId,
  page: PageRequest = {},
): Promise<Page<ListedCatalogCredential>> {
  const limit = pageLimit(page)
  const rows = await store.tenantQuery<CatalogCredentialRow>(
    tenant,
    `select credential_id, version, catalog_kind, nickname, endpoint, config from svc.catalog_credential
     where tenant_id = $1 and nickname collate "C" > $2 order by nickname collate "C" limit $3::int`,
    [tenant, page.after ?? '', limit + 1],
  )
  const listed = rows.map((row) => ({
    id: row.credential_id,
    version: Number(row.version),
    kind: row.catalog_kind,
    nickname: row.nickname,
    endpoint: row.endpoint,
    config: row.config,
  }))
  return toPage(listed, limit, ({ nickname }) => nickname)
}

/** The tenants that have catalogs, in one statement for all, each with a text that is another one after a change of them. */
export async function tenantsWithCatalogs(store: Store): Promise<ReadonlyMap<TenantId, string>> {
  const rows = await store.adminQuery<{ readonly tenant_id: TenantId; readonly versions: string }>(
    `select tenant_id, string_agg(credential_id || ':' || version, ' ' order by credential_id) as versions
     from svc.catalog_credential group by tenant_id`,
  )
  return new Map(rows.map((row) => [row.tenant_id, row.versions]))
}

/** The kinds that any tenant uses. Start-up refuses a kind that has no live adapter. */
export async function listCatalogKinds(store: Store): Promise<readonly CatalogKind[]> {
  const rows = await store.adminQuery<CatalogCredentialRow>(
    'select distinct catalog_kind from svc.catalog_credential order by 1',
  )
  return rows.map((row) => row.catalog_kind)
}

/** The catalogs of all tenants that register no storage roots, each without its secrets. At most 1,000. */
export async function listCatalogsWithoutRoots(
  store: Store,
): Promise<
  readonly (Pick<CatalogCredential, 'kind' | 'nickname' | 'config'> & { readonly tenant: TenantId })[]
> {
  const rows = await store.adminQuery<CatalogCredentialRow & { readonly tenant_id: TenantId }>(
    `select tenant_id, catalog_kind, nickname, config from svc.catalog_credential
     where jsonb_typeof(config -> 'storage_roots') is distinct from 'array' or config -> 'storage_roots' = '[]'
     order by tenant_id, nickname collate "C" limit 1000`,
  )
  return rows.map(({ tenant_id, catalog_kind, nickname, config }) => ({
    ...{ tenant: tenant_id, kind: catalog_kind, nickname, config },
  }))
}

export interface WebhookSecret {
  readonly credentialId: string
  readonly secret: string
}

/**
 * The webhook secrets of a tenant's catalogs of one kind, for a request whose tenant is not proven yet. There are
 * none where the tenant does not exist or is suspended.
 * @throws Fault `misconfigured` where a secret cannot be opened
 */
export async function findWebhookSecrets(
  store: Store,
  tenant: TenantId,
  kind: CatalogKind,
): Promise<readonly WebhookSecret[]> {
  const rows = await store.adminQuery<CatalogCredentialRow>(
    `select c.credential_id, c.version, c.catalog_kind, c.nickname, c.endpoint, c.config, c.sealed
     from svc.catalog_credential c join svc.tenant t on t.tenant_id = c.tenant_id and t.state = 'active'
     where c.tenant_id = $1 and c.catalog_kind = $2 order by c.nickname limit 1000`,
    [tenant, kind],
  )
  return rows.flatMap((row) => {
    const secret = open(store, tenant, row).config.webhook_secret
    return typeof secret === 'string' && secret !== '' ? [{ credentialId: row.credential_id, secret }] : []
  })
}

/** Whether the store's key opens a stored configuration; also where none is stored. */
export async function canOpenStoredConfigs(store: Store): Promise<boolean> {
  // Some may be older than the key, where an earlier one was lost.
  const rows = await store.adminQuery<{ tenant_id: TenantId; nickname: string; sealed: Uint8Array }>(
    'select tenant_id, nickname, sealed from svc.catalog_credential order by updated_at desc limit 100',
  )
  const opens = ({ tenant_id, nickname, sealed }: (typeof rows)[number]) => {
    try {
      unseal(store, place(tenant_id, nickname), sealed)
      return true
    } catch {
      return false
    }
  }
  return rows.length === 0 || rows.some(opens)
}
