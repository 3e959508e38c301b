/**
 * Gives clients what they need to have their requests to storage signed: a ticket for one table, in the settings of both
 * families of clients. Whether a filter or mask keeps the caller from the table's files was asked before.
 */

import { createHash } from 'node:crypto'
import { isPerson } from '../../auth/people.ts'
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonObject,
  parseJson,
  stringifyJson,
} from '../../base/json.ts'
import { namespaceKey, type TableRef } from '../../core/table-ref.ts'
import { isQuarantined, type TerritoryOwner } from '../../core/territory-owner.ts'
import { limits } from '../../limits.ts'
import type { FileSight } from '../../store/governance/protections.ts'
import { loadWriteGovernance, type WriteGovernance } from '../../store/policy/policies.ts'
import { type SignSettings, vendingModeOf, vendingSettings } from '../../vending/settings.ts'
import { sealTicket } from '../../vending/sign/ticket.ts'
import { joinMembers, topLevelMembers } from '../../wire/iceberg/members.ts'
import { currentSnapshotId, snapshotsOf } from '../../wire/iceberg/table-metadata.ts'
import { delegationOf, purposeOf, type SurfaceRequest } from './surface-request.ts'

/** Milliseconds for which a sign ticket is valid at most. */
const signTicketMs = 24 * 3_600_000

/** Where a client sends the ticket that has no place for it in its path. */
export const ticketHeader = 'x-svc-sign-ticket'

interface Signing {
  readonly settings: SignSettings
  readonly ticket: string
  /** The same for every ticket of a session for a table. Not a secret, and no credential. */
  readonly key: string
}

/** Whether the service signs for this catalog, and the client asks for it. */
export function isAskedToSign(surface: SurfaceRequest): boolean {
  const wished = (delegationOf(surface) ?? '').split(',').map((wish) => wish.trim())
  return wished.includes('remote-signing') && vendingModeOf(surface.upstream.credential) === 'sign'
}

/**
 * A ticket for the table: for its territory where the session may commit, else for the files of the pinned snapshot, or
 * of the current one. One that rests on a grant of access is for reading, and ends with it.
 * @param reply the upstream's LoadTableResult
 * @param sight by which the caller may have it
 * @returns undefined where there is none: no license covers it, the session is a person's, or nobody may read the snapshot
 * @throws Fault of the store
 */
export async function signingOf(
  surface: SurfaceRequest,
  owner: TerritoryOwner,
  reply: Uint8Array,
  { untilMs = Number.POSITIVE_INFINITY }: Pick<FileSight, 'untilMs'> = {},
): Promise<Signing | undefined> {
  const { parts, tenant, session, identified, upstream, path, mayCommit } = surface
  const settings = vendingSettings(upstream.credential)
  if (settings.mode !== 'sign' || session.kind !== 'service' || !isLicensed(parts.licensed)) return undefined
  const members = topLevelMembers(reply)
  const metadata = snapshotPart(members.get('metadata'))
  const { table } = owner
  let snapshotId: bigint | undefined
  let manifestList: string | undefined
  const writes = mayCommit && untilMs === Number.POSITIVE_INFINITY
  if (!writes) {
    const governance = await loadWriteGovernance(parts.store, tenant, table)
    snapshotId = governance.pinnedSnapshotId ?? currentSnapshotId(metadata)
    if (snapshotId !== undefined) {
      if (snapshotRefusal(governance, owner, snapshotId) !== undefined) return undefined
      const list = snapshotsOf(metadata)
        .find((snapshot) => snapshot.get('snapshot-id') === snapshotId)
        ?.get('manifest-list')
      if (typeof list !== 'string') return undefined
      manifestList = list
    }
  }
  const file = members.get('metadata-location')
  const metadataFile: unknown = file === undefined ? '' : JSON.parse(Buffer.from(file).toString())
  const ticket = sealTicket(parts.store.secretsKey, {
    tenant,
    sessionId: session.sessionId,
    credentialId: upstream.credential.id,
    prefix: path.prefix,
    ...{ namespace: table.namespace, name: table.name, tableUuid: owner.tableUuid },
    access: writes ? 'write' : 'read',
    sub: identified.principal.sub,
    email: identified.principal.email,
    roles: identified.principal.roles,
    source: isPerson(identified, session) ? identified.source : 'session',
    verified: identified.verified,
    purpose: purposeOf(surface),
    snapshotId: snapshotId === undefined ? undefined : String(snapshotId),
    manifestList,
    metadataFile: typeof metadataFile === 'string' ? metadataFile : '',
    expiresAtMs: Math.min(
      parts.clock.now() + signTicketMs,
      session.expiresAtMs ?? Number.POSITIVE_INFINITY,
      untilMs,
    ),
  })
  const key = createHash('sha256')
    .update(JSON.stringify([session.sessionId, table]))
    .digest('hex')
  return { settings, ticket, key: key.slice(0, 32) }
}

/**
 * Why a reader may not have the files of a snapshot, completing "the snapshot …". Undefined where nothing keeps them.
 * @param snapshotId undefined where the table has none
 */
export function snapshotRefusal(
  { territory, pinnedSnapshotId }: Pick<WriteGovernance, 'territory' | 'pinnedSnapshotId'>,
  owner: TerritoryOwner,
  snapshotId: bigint | undefined,
): string | undefined {
  if (pinnedSnapshotId !== undefined && pinnedSnapshotId !== snapshotId)
    return 'is not the one that the table is pinned to'
  // Where the tenant observes, SQL reads such a snapshot too.
  return territory.mode === 'enforce' && isQuarantined(territory, owner, snapshotId)
    ? 'is quarantined'
    : undefined
}

/** Whether the license names vending. */
export function isLicensed(licensed: SurfaceRequest['parts']['licensed']): boolean {
  try {
    licensed.require('vending')
    return true
  } catch {
    return false
  }
}

/** The members of table metadata that name its snapshot. */
export function snapshotPart(metadata: Uint8Array | undefined): JsonObject {
  const members = topLevelMembers(metadata ?? Buffer.from('{}'))
  const names = ['current-snapshot-id', 'snapshots'] as const
  return new Map(
    names.flatMap((name) => {
      const value = members.get(name)
      return value === undefined ? [] : [[name, parseJson(value, { depthMax: limits.jsonDepthMax })] as const]
    }),
  )
}

/** A LoadTableResult with the settings of both families of clients, and `remote-signing-config` for later ones. */
export function withSigning(
  body: Uint8Array,
  { namespace, name }: TableRef,
  { settings, ticket, key }: Signing,
): Uint8Array<ArrayBuffer> {
  const members = new Map(topLevelMembers(body))
  const disclosed = members.get('config')
  const config = disclosed === undefined ? undefined : parseJson(disclosed)
  const { endpoint, isPathStyle, region } = settings
  // Relative to the catalog's address, which the client knows. Clients share what they send beside it among the
  // catalogs of a process, so the ticket is in the path.
  const path = `v1/namespaces/${encodeURIComponent(namespaceKey(namespace))}/tables/${name}/sign/${ticket}`
  const added = new Map<string, JsonValue>([
    ...(isJsonObject(config) ? config : []),
    ...Object.entries({
      's3.remote-signing-enabled': 'true',
      's3.endpoint': endpoint.href.replace(/\/$/, ''),
      's3.path-style-access': String(isPathStyle),
      's3.region': region,
      'client.region': region,
      'signer.endpoint': path,
      's3.signer': 'S3V4RestSigner',
      's3.signer.endpoint': path,
      // PyIceberg shares one connection, and its signer, among all tables with equal settings of the connection. It
      // ignores a token without keys, so this keeps the tables apart.
      's3.session-token': key,
    }),
  ])
  // A list of values for each header: so says the REST specification, and Iceberg 1.12 is the first client to read it.
  const later = jsonObject({ properties: new Map(), headers: jsonObject({ [ticketHeader]: [ticket] }) })
  members.set('config', Buffer.from(stringifyJson(added)))
  members.set('remote-signing-config', Buffer.from(stringifyJson(later)))
  return joinMembers(members)
}
