/**
 * Gives clients storage credentials that the service issues, in the form of the Iceberg REST API. Whether a filter or
 * mask keeps the caller from the table's files was asked before.
 */

import { Fault } from '../../base/fault.ts'
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonObject,
  parseJson,
  stringifyJson,
} from '../../base/json.ts'
import { namespaceKey, type TableRef } from '../../core/table-ref.ts'
import { folderPrefixesOf, type TerritoryFound, type TerritoryOwner } from '../../core/territory-owner.ts'
import type { FileSight } from '../../store/governance/protections.ts'
import { loadWriteGovernance } from '../../store/policy/policies.ts'
import { vendingModeOf } from '../../vending/settings.ts'
import type { PendingVend, VendedTable } from '../../vending/vending.ts'
import { joinMembers, topLevelMembers } from '../../wire/iceberg/members.ts'
import { delegationOf, type SurfaceRequest } from './surface-request.ts'

/** No cache may keep them. */
export const uncached = { 'cache-control': 'no-store' } as const

/** Whether the service issues the credentials of this catalog's tables. */
export function issuesCredentials({ upstream: { credential } }: Pick<SurfaceRequest, 'upstream'>): boolean {
  return vendingModeOf(credential) === 'vend'
}

/** Whether it does, and the client asks for them. */
export function isAskedToVend(surface: SurfaceRequest): boolean {
  const wished = (delegationOf(surface) ?? '').split(',').map((wish) => wish.trim())
  return wished.includes('vended-credentials') && issuesCredentials(surface)
}

/** What the index says of a table now. It is asked early, while the upstream is asked for the table. */
export function askTerritory(
  { parts, tenant }: Pick<SurfaceRequest, 'parts' | 'tenant'>,
  table: TableRef,
): Promise<TerritoryFound> {
  const asked = loadWriteGovernance(parts.store, tenant, table).then(({ territory }) => territory)
  // Where the upstream fails first, nobody waits for it.
  asked.catch(() => {})
  return asked
}

/**
 * Issues credentials for a table's territory, for writing if the session may commit.
 * @param sight by which the caller may have them
 * @throws Fault as `Vend`, and as `PendingVend`
 */
export async function vendTable(
  surface: SurfaceRequest,
  owner: TerritoryOwner,
  territory: TerritoryFound,
  sight: FileSight,
): Promise<VendedTable> {
  // A clone shares its source's files, which credentials would open raw: its folders only.
  const vended = await beginVending(surface, owner.table, folderPrefixesOf(territory, owner), sight)?.take()
  if (vended === undefined) throw new Fault('unavailable', 'The territory of the table has changed. Retry.')
  return vended
}

/**
 * Begins to issue credentials for folders of a table, as `Vend`.
 * @param territoryVersion from which the folders are; undefined where they were looked up for this request
 */
export function beginVending(
  { parts, session, identified, upstream, mayCommit }: SurfaceRequest,
  table: TableRef,
  prefixes: readonly string[],
  { untilMs }: FileSight,
  territoryVersion?: string,
): PendingVend | undefined {
  return parts.vend({
    session,
    // A session that is sent alone has the tenant's id as its principal, which tells nobody whose keys they are.
    sub: identified.source === 'session' ? session.principal.sub : identified.principal.sub,
    credential: upstream.credential,
    ...{ table, prefixes },
    ...(territoryVersion !== undefined && { territoryVersion }),
    ...(untilMs !== undefined && { untilMs }),
    // A grant is for reading.
    access: mayCommit && untilMs === undefined ? 'write' : 'read',
  })
}

/**
 * Issues credentials for a reply that is good without them.
 * @param vend as {@link vendTable}
 * @returns undefined where none can be limited to the territory, or no license covers them: `/credentials` says why
 */
export async function vendUnlessRefused(vend: () => Promise<VendedTable>): Promise<VendedTable | undefined> {
  try {
    return await vend()
  } catch (thrown) {
    const isRefusal = thrown instanceof Fault && ['policy_denied', 'forbidden'].includes(thrown.kind)
    if (!isRefusal) throw thrown
    return undefined
  }
}

/** A LoadTableResult with the credentials, in `config` too, where older clients look for them. */
export function withCredentials(
  body: Uint8Array,
  table: TableRef,
  vended: VendedTable,
): Uint8Array<ArrayBuffer> {
  const members = new Map(topLevelMembers(body))
  const location = Buffer.from(members.get('metadata-location') ?? '').toString()
  const disclosed = members.get('config')
  const config = disclosed === undefined ? undefined : parseJson(disclosed)
  const kept = isJsonObject(config) ? [...config] : []
  const added = new Map<string, JsonValue>([...kept, ...Object.entries(settingsOf(table, vended))])
  members.set('config', Buffer.from(stringifyJson(added)))
  members.set(
    'storage-credentials',
    Buffer.from(stringifyJson(storageCredentials(table, vended, schemeOf(location)))),
  )
  return joinMembers(members)
}

/** A LoadCredentialsResponse. @param location where the table's metadata file is, as the upstream writes it */
export function credentialsReply(table: TableRef, vended: VendedTable, location: string): string {
  return stringifyJson(
    jsonObject({ 'storage-credentials': storageCredentials(table, vended, schemeOf(location)) }),
  )
}

/** The `storage-credentials` of a reply. @param scheme as the table's own locations begin */
export function storageCredentials(
  table: TableRef,
  vended: VendedTable,
  scheme: string,
): readonly JsonObject[] {
  const config = jsonObject(settingsOf(table, vended))
  // Clients compare prefixes with locations by their characters.
  return vended.prefixes.map((prefix) => jsonObject({ prefix: prefix.replace(/^s3:/, scheme), config }))
}

/** As the table's own locations begin: some writers say `s3a`. */
export function schemeOf(location: string): string {
  return /^"?(s3[an]?:)/.exec(location)?.[1] ?? 's3:'
}

function settingsOf({ namespace, name }: TableRef, { issued, storage }: VendedTable) {
  const levels = encodeURIComponent(namespaceKey(namespace))
  return {
    ...storage,
    ...issued.config,
    // Relative to the catalog's address, which the client knows.
    'client.refresh-credentials-endpoint': `v1/namespaces/${levels}/tables/${name}/credentials`,
    'client.refresh-credentials-enabled': 'true',
  }
}
