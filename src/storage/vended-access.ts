/**
 * Reads tables with credentials that the upstream vends. It does so where the catalog credential holds none, its kind
 * vends, and a registered storage root is on S3. They are cached in memory until shortly before they expire.
 */

import { type Clock, systemClock } from '../base/clock.ts'
import { isJsonObject, type JsonValue, parseJson } from '../base/json.ts'
import { Lru } from '../base/lru.ts'
import type { AddressRules } from '../catalog/address.ts'
import { CatalogError } from '../catalog/catalog.ts'
import type { OpenCatalogs } from '../catalog/open-catalog.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import { capabilitiesOf } from '../core/catalog-kinds.ts'
import { type TableRef, tableKey } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { limits } from '../limits.ts'
import { topLevelMembers } from '../wire/iceberg/members.ts'
import { isRestricted } from '../wire/iceberg/read-restrictions.ts'
import { reachable, s3Access, storageAccess } from './access.ts'
import { parseRoots } from './locations.ts'
import { ReadFailure } from './read-failure.ts'
import { storageRoots } from './roots.ts'
import type { StorageAccess, VendedS3 } from './storage.ts'

interface TableAccessParts {
  readonly catalogs: OpenCatalogs
  readonly addressRules: AddressRules
  readonly clock?: Clock
}

/**
 * What a credential may read of a table.
 * @param table undefined where it is unknown; then nothing is vended
 * @param refresh ignores the cache, as after a refusal
 * @throws ReadFailure where storage may not be reached or nothing usable is vended
 * @throws Fault where the upstream fails
 */
export type TableAccess = (
  tenant: TenantId,
  credential: CatalogCredential,
  table: TableRef | undefined,
  refresh?: boolean,
) => Promise<StorageAccess>

interface Vended {
  readonly s3: readonly VendedS3[]
  /** Milliseconds since the Unix epoch after which they are requested again. */
  readonly freshUntilMs: number
}

/** Makes the function, with its own cache. */
export function tableAccess({ catalogs, addressRules, clock = systemClock }: TableAccessParts): TableAccess {
  const cache = new Lru<string, Vended>(limits.vendedCredentialsCount)

  async function vend(tenant: TenantId, credential: CatalogCredential, table: TableRef): Promise<Vended> {
    const body = await loadTable(catalogs, tenant, credential, table)
    const configs = vendedConfigs(body)
    const roots = storageRoots(credential.config)
    const s3: VendedS3[] = []
    for (const { prefix, config } of configs) {
      const access = s3Access(withOwnSettings(config, credential.config))
      if (access !== undefined)
        s3.push({ prefix, s3: await reachable(access, roots, addressRules, 'that the upstream vends') })
    }
    if (s3.length === 0)
      throw new ReadFailure(
        'the catalog credential holds no storage credentials, and the upstream catalog vends none',
      )
    const expiresAtMs = Math.min(...configs.map(({ config }) => expiryOf(config)))
    const freshUntilMs = Math.min(
      expiresAtMs - limits.vendedMarginMs,
      clock.now() + limits.vendedCredentialsMs,
    )
    return { s3, freshUntilMs }
  }

  return async (tenant, credential, table, refresh = false) => {
    const own = await storageAccess(credential, addressRules)
    if (own.s3 !== undefined || table === undefined || !mayVend(credential)) return own
    const key = JSON.stringify([tenant, credential.id, credential.version, tableKey(table)])
    const cached = refresh ? undefined : cache.get(key)
    if (cached !== undefined && cached.freshUntilMs > clock.now()) return { ...own, vended: cached.s3 }
    const vended = await vend(tenant, credential, table)
    cache.set(key, vended)
    return { ...own, vended: vended.s3 }
  }
}

function mayVend({ kind, config }: CatalogCredential): boolean {
  return (
    capabilitiesOf(kind).credentialVending &&
    parseRoots(storageRoots(config)).some((root) => root.kind === 's3')
  )
}

async function loadTable(
  catalogs: OpenCatalogs,
  tenant: TenantId,
  credential: CatalogCredential,
  table: TableRef,
): Promise<Uint8Array> {
  try {
    const loaded = await catalogs
      .get(tenant, credential)
      .loadTable(table, { snapshots: 'refs', accessDelegation: 'vended-credentials' })
    if (loaded.status === 'loaded') return loaded.body
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    const passing = error.code !== 'ErrTableNotFound'
    throw new ReadFailure('the upstream catalog vends no credentials: it does not load the table', passing)
  }
  throw new ReadFailure('the upstream catalog vends no credentials: it did not send the table', true)
}

interface VendedConfig {
  readonly prefix: string
  readonly config: Readonly<Record<string, unknown>>
}

/** The vended configurations. The table's own `config` applies wherever no prefix of `storage-credentials` does. */
function vendedConfigs(body: Uint8Array): readonly VendedConfig[] {
  const members = topLevelMembers(body)
  if (isRestricted(members)) throw new ReadFailure('the upstream catalog restricts reading the table')
  const read = (name: string): JsonValue | undefined => {
    const raw = members.get(name)
    return raw === undefined ? undefined : parseJson(raw, { depthMax: limits.jsonDepthMax })
  }
  const credentials = read('storage-credentials')
  const listed = Array.isArray(credentials) ? (credentials as readonly JsonValue[]) : []
  return [
    { prefix: '', config: plain(read('config')) },
    ...listed.filter(isJsonObject).flatMap((one) => {
      const prefix = one.get('prefix')
      return typeof prefix === 'string' && /^s3/.test(prefix)
        ? [{ prefix: prefix.replace(/^s3[an]:/, 's3:'), config: plain(one.get('config')) }]
        : []
    }),
  ]
}

function plain(value: JsonValue | undefined): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? Object.fromEntries(value) : {}
}

/** Combines vended keys with the administrator's settings. Where those name the storage, the upstream's are ignored. */
function withOwnSettings(
  vended: Readonly<Record<string, unknown>>,
  own: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const region = [own['s3.region'], vended['s3.region'], vended['client.region']].find(
    // The region becomes part of a host name.
    (text) => typeof text === 'string' && /^[a-z0-9-]{1,40}$/.test(text),
  )
  const ownEndpoint = own['s3.endpoint']
  return {
    's3.access-key-id': vended['s3.access-key-id'],
    's3.secret-access-key': vended['s3.secret-access-key'],
    's3.session-token': vended['s3.session-token'],
    's3.region': region,
    's3.endpoint': ownEndpoint ?? vended['s3.endpoint'],
    // With the upstream's endpoint, a bucket in the host name would be another host than the one that is checked.
    ...(ownEndpoint !== undefined && { 's3.path-style-access': own['s3.path-style-access'] }),
  }
}

/** When credentials expire, in milliseconds since the Unix epoch. */
function expiryOf(config: Readonly<Record<string, unknown>>): number {
  const text = config['s3.session-token-expires-at-ms']
  return text === undefined ? Number.POSITIVE_INFINITY : Number(text)
}
