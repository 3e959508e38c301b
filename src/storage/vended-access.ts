/**
 * Reading by credentials that the upstream vends with a table: where the catalog credential holds none, its kind
 * vends, and a registered storage root is on S3. They are kept in memory until shortly before they end.
 */

import { type Clock, systemClock } from '../base/clock.ts'
import { isJsonObject, type JsonValue, parseJson } from '../base/json.ts'
import { Lru } from '../base/lru.ts'
import type { AddressRules } from '../catalog/address.ts'
import { CatalogError } from '../catalog/catalog.ts'
import type { CatalogPool } from '../catalog/open-catalog.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import { capabilitiesOf } from '../core/catalog-kinds.ts'
import { type TableRef, tableKey } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { limits } from '../limits.ts'
import { topLevelMembers } from '../wire/iceberg/members.ts'
import { isRestricted } from '../wire/iceberg/read-restrictions.ts'
import { reachable, s3Access, storageAccess, storageRoots } from './access.ts'
import { parseRoots } from './locations.ts'
import { ReadFailure } from './read-failure.ts'
import type { StorageAccess, VendedS3 } from './storage.ts'

export interface TableAccessParts {
  readonly catalogs: CatalogPool
  readonly addressRules: AddressRules
  readonly clock?: Clock
}

/**
 * What may be read of a table by a credential.
 * @param table undefined where it is not known: then nothing is vended
 * @param anew asks the upstream whatever is kept, as after a refusal
 * @throws ReadFailure where storage may not be reached or nothing usable is vended
 * @throws Fault where the upstream fails
 */
export type TableAccess = (
  tenant: TenantId,
  credential: CatalogCredential,
  table: TableRef | undefined,
  anew?: boolean,
) => Promise<StorageAccess>

interface Vended {
  readonly s3: readonly VendedS3[]
  /** Milliseconds since the Unix epoch after which they are asked for anew. */
  readonly freshUntilMs: number
}

/** Makes it, with a cache of its own. */
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
    const endsMs = Math.min(...configs.map(({ config }) => endOf(config)))
    const keptMs = Math.min(endsMs - limits.vendedMarginMs, clock.now() + limits.vendedCredentialsMs)
    return { s3, freshUntilMs: keptMs }
  }

  return async (tenant, credential, table, anew = false) => {
    const own = await storageAccess(credential, addressRules)
    if (own.s3 !== undefined || table === undefined || !mayVend(credential)) return own
    const key = JSON.stringify([tenant, credential.id, credential.version, tableKey(table)])
    const known = anew ? undefined : cache.get(key)
    if (known !== undefined && known.freshUntilMs > clock.now()) return { ...own, vended: known.s3 }
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
  catalogs: CatalogPool,
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

/** The table's own configuration stands for every location that no prefix of `storage-credentials` covers. */
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

/** Where the administrator named storage, the upstream does not say where it is. */
function withOwnSettings(
  vended: Readonly<Record<string, unknown>>,
  own: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const region = [own['s3.region'], vended['s3.region'], vended['client.region']].find(
    // It becomes part of a host name.
    (text) => typeof text === 'string' && /^[a-z0-9-]{1,40}$/.test(text),
  )
  const ownEndpoint = own['s3.endpoint']
  return {
    's3.access-key-id': vended['s3.access-key-id'],
    's3.secret-access-key': vended['s3.secret-access-key'],
    's3.session-token': vended['s3.session-token'],
    's3.region': region,
    's3.endpoint': ownEndpoint ?? vended['s3.endpoint'],
    // The bucket in a host name that the upstream chose would be another host than the one that is checked.
    ...(ownEndpoint !== undefined && { 's3.path-style-access': own['s3.path-style-access'] }),
  }
}

/** When credentials end, in milliseconds since the Unix epoch. */
function endOf(config: Readonly<Record<string, unknown>>): number {
  const text = config['s3.session-token-expires-at-ms']
  return text === undefined ? Number.POSITIVE_INFINITY : Number(text)
}
