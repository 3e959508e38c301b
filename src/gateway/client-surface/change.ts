/** Handles the operations that change the catalog: each becomes a commit or an action, which policies judge. */

import { requestOrigin } from '../../auth/request-origin.ts'
import { Fault } from '../../base/fault.ts'
import type { JsonObject, JsonValue } from '../../base/json.ts'
import { assertNames } from '../../catalog/catalog.ts'
import { catalogOf } from '../../core/catalog.ts'
import type { CatalogAction } from '../../core/commit.ts'
import { claimOf } from '../../core/idempotency.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TerritoryOwner } from '../../core/territory-owner.ts'
import { aboutRequest } from '../../http/about-request.ts'
import { readCommitRequest, readTransactionRequest } from '../../wire/iceberg/commit-request.ts'
import { fieldReader } from '../../wire/iceberg/fields.ts'
import { topLevelMembers, withStringMember } from '../../wire/iceberg/members.ts'
import { tableMembers } from '../base/disclosure.ts'
import { assertName } from '../base/path.ts'
import { type ActionCommit, type ActionCommitted, commitAction } from '../commit/commit-action.ts'
import { commitAtomically } from '../commit/commit-atomically.ts'
import { commitTable } from '../commit/commit-table.ts'
import { commitTransaction } from '../commit/commit-transaction.ts'
import { TransactionFault } from '../commit/judge-transaction.ts'
import { openOnCachedTable } from '../speculative/cached-table.ts'
import { tableCommit } from '../stages/open-commit.ts'
import { ownChanges } from '../stages/own-names.ts'
import { assertNamespaceAbsent } from './assert-namespace-absent.ts'
import { assertPresent } from './assert-present.ts'
import { upstreamPath } from './client-path.ts'
import { commitsAtomically } from './commits-atomically.ts'
import { noteMade, noteRawRead } from './note-raw-read.ts'
import { assertOneViewName, noteViewName } from './one-view-name.ts'
import { ownBody } from './own-body.ts'
import { assertNotTrusted } from './restrictions.ts'
import { isAskedToSign, signingOf, withSigning } from './signing.ts'
import {
  delegationOf,
  discloseAccepted,
  disclosureOf,
  jsonResponse,
  newDisclosureOf,
  objectOf,
  type SurfaceRequest,
  subjectOf,
  tableRefOf,
  verdictHeaders,
} from './surface-request.ts'
import { askTerritory, isAskedToVend, uncached, vendTable, withCredentials } from './vend.ts'
import { loadedView } from './views.ts'

/** For responses to commits, which return what the client sent, and for views, which are never masked. */
const unmasked = { vended: false, masked: false, whole: true } as const

const reader = fieldReader((what) => new Fault('bad_request', `Invalid request: ${what}.`))

/** updateTable: the single-table commit of docs/reference/gateway.md 2. */
export async function updateTable(surface: SurfaceRequest): Promise<Response> {
  const { parts, upstream, commitId, body, start } = surface
  const commit =
    start?.commit ?? tableCommit(surface, tableRefOf(surface), await readCommitRequest(body.bytes))
  const opened = start ?? (await openOnCachedTable(parts, upstream, commit, true))
  const { response, warnings } = await commitTable(parts, upstream, commit, opened)
  const { etag } = response.headers
  const stripped = await discloseAccepted(response.body, tableMembers, unmasked)
  return jsonResponse(200, withLocation(stripped.body, response.result.metadataLocation), {
    ...(etag !== undefined && { etag }),
    ...verdictHeaders(commitId, warnings),
  })
}

/**
 * commitTransaction: the commit of docs/reference/gateway.md 3, with the responses of the Iceberg REST specification.
 * It is atomic if the catalog is.
 * @throws Fault `commit_unknown` for any failure after one commit was accepted, because no client may then clean up
 */
export async function commitTables(surface: SurfaceRequest): Promise<Response> {
  const { parts, request, tenant, identified, receivedAtMs, stages, body, keyed } = surface
  const sent = await readTransactionRequest(body.bytes)
  const { upstream, changes } = await ownChanges(parts, tenant, surface.upstream, sent)
  const requestId = aboutRequest(request).id
  const origin = requestOrigin(identified, request.headers)
  const shared = { tenant, identified, receivedAtMs, signal: request.signal, stages, keyed }
  const transaction = { ...shared, changes, requestId, origin }
  if (await commitsAtomically(upstream, request.signal)) {
    const { commitIds, warnings } = await commitAtomically(parts, upstream, { ...transaction, body })
    return jsonResponse(204, null, verdictHeaders(commitIds.join(', '), warnings))
  }
  try {
    const { results, warnings } = await commitTransaction(parts, upstream, transaction)
    return jsonResponse(
      204,
      null,
      verdictHeaders(results.map(({ commitId }) => commitId).join(', '), warnings),
    )
  } catch (thrown) {
    if (!(thrown instanceof TransactionFault) || thrown.acceptedCount === 0) throw thrown
    const { fault } = thrown
    throw new Fault('commit_unknown', fault.publicMessage, { cause: fault })
  }
}

/** Replaces the location in Nessie's reply, because clients cannot reach that address and must not learn it. */
function withLocation(body: Uint8Array, metadataLocation: string): Uint8Array {
  const named = topLevelMembers(body).get('metadata-location')
  if (named === undefined || Buffer.from(named).toString() === JSON.stringify(metadataLocation)) return body
  return withStringMember(body, 'metadata-location', metadataLocation)
}

type Action = Pick<ActionCommit, 'action' | 'table'> &
  Partial<Pick<ActionCommit, 'destination' | 'purge' | 'staged' | 'baseMetadataLocation'>> & {
    /** What policies see in the one update, apart from its action. */
    readonly update: JsonObject
    readonly creates?: boolean
    readonly query?: Readonly<Record<string, string>>
    readonly body?: Uint8Array
  }

/** createTable, staged or not; its response may hold vended credentials. */
export async function createTable(sent: SurfaceRequest): Promise<Response> {
  const { surface, bytes, object } = await ownBody(sent)
  const table = bodyName(surface, object)
  const staged = flag(object, 'stage-create')
  const action = {
    action: 'create-table',
    table,
    update: object,
    creates: true,
    staged,
    body: bytes,
  } as const
  return await tableResponse(surface, action)
}

/** registerTable: the content of the metadata file is unknown until the upstream has read it. */
export async function registerTable(sent: SurfaceRequest): Promise<Response> {
  const { surface, bytes, object } = await ownBody(sent)
  reader.string(object, 'metadata-location')
  flag(object, 'overwrite')
  const table = bodyName(surface, object)
  return await tableResponse(surface, { action: 'register-table', table, update: object, body: bytes })
}

async function tableResponse(surface: SurfaceRequest, action: Action): Promise<Response> {
  const disclosure = await newDisclosureOf(surface, action.table)
  if (disclosure.masked) await assertNotTrusted(surface, action.table)
  const { response, warnings, withheld } = await change(surface, action, disclosure.vended)
  const { etag } = response.headers
  const shut = { ...disclosure, vended: false, masked: true }
  const disclosed = withheld || disclosure.denied ? shut : disclosure
  const { body, masked } = await discloseAccepted(response.body, tableMembers, disclosed)
  if (!masked) noteMade(surface, action, disclosed)
  const headers = verdictHeaders(surface.commitId, warnings)
  const owner = () => ownerOf(surface, action.table, response.body)
  if (!masked && isAskedToVend(surface)) {
    const vended = await unlessFailed(surface, action.table, async () =>
      vendTable(surface, owner(), await askTerritory(surface, action.table), disclosure.sight),
    )
    const whole = vended === undefined ? body : withCredentials(body, action.table, vended)
    if (vended !== undefined) noteRawRead(surface, action.table, 'credentials', disclosure.sight)
    return jsonResponse(200, whole, { ...uncached, ...headers })
  }
  if (!masked && isAskedToSign(surface)) {
    const signing = await unlessFailed(surface, action.table, () =>
      signingOf(surface, owner(), response.body),
    )
    const whole = signing === undefined ? body : withSigning(body, action.table, signing)
    return jsonResponse(200, whole, { ...uncached, ...headers })
  }
  return jsonResponse(200, body, {
    ...(etag !== undefined && !masked && { etag }),
    ...headers,
  })
}

/** What leads to the files of a table that was made. Never throws: the client must learn that it was made. */
async function unlessFailed<T>(
  { parts, commitId }: SurfaceRequest,
  table: TableRef,
  give: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await give()
  } catch (err) {
    parts.log.warn({ err, table, commitId }, 'a new table was answered without access to its files')
    return undefined
  }
}

/** The table that the upstream made, or would make. */
function ownerOf({ upstream }: SurfaceRequest, table: TableRef, reply: Uint8Array): TerritoryOwner {
  const metadata = topLevelMembers(reply).get('metadata')
  const uuid = metadata && topLevelMembers(metadata).get('table-uuid')
  const tableUuid: unknown = uuid && JSON.parse(Buffer.from(uuid).toString())
  const catalog = catalogOf(upstream.credential)
  return { catalog, table, tableUuid: typeof tableUuid === 'string' ? tableUuid : undefined }
}

/** dropTable, with or without a purge of its files. */
export async function dropTable(surface: SurfaceRequest): Promise<Response> {
  const requested = surface.query.get('purgeRequested')
  if (requested !== null && !/^(true|false)$/i.test(requested))
    throw new Fault('bad_request', 'The query parameter purgeRequested must be true or false.')
  const purge = requested?.toLowerCase() === 'true'
  return await emptyResponse(surface, {
    action: 'drop-table',
    table: tableRefOf(surface),
    update: new Map([['purge-requested', purge]]),
    purge,
    query: { purgeRequested: String(purge) },
  })
}

/** unregisterTable: a drop that leaves all files and returns the metadata location. */
export async function unregisterTable(surface: SurfaceRequest): Promise<Response> {
  const action = { action: 'unregister-table', table: tableRefOf(surface), update: new Map() } as const
  const disclosure = await disclosureOf(surface, action.table)
  const { response, warnings } = await change(surface, action)
  const { body } = await discloseAccepted(response.body, tableMembers, { ...disclosure, vended: false })
  return jsonResponse(200, body, verdictHeaders(surface.commitId, warnings))
}

/** renameTable and renameView: judged under both names. */
export async function rename(
  sent: SurfaceRequest,
  action: 'rename-table' | 'rename-view',
): Promise<Response> {
  const { surface, bytes, object } = await ownBody(sent)
  const table = identifier(reader.object(object, 'source'))
  const destination = identifier(reader.object(object, 'destination'))
  // The path names neither, so the adapter cannot check them.
  for (const { namespace, name } of [table, destination])
    assertNames(surface.upstream.catalog.kind, namespace, name)
  if (action === 'rename-view') await assertOneViewName(surface, table, await loadedView(surface, table))
  return await emptyResponse(surface, { action, table, destination, update: object, body: bytes })
}

/** createView and registerView. */
export async function createView(
  sent: SurfaceRequest,
  action: 'create-view' | 'register-view',
): Promise<Response> {
  const { surface, bytes, object } = await ownBody(sent)
  if (action === 'register-view') reader.string(object, 'metadata-location')
  return await viewResponse(surface, {
    action,
    table: bodyName(surface, object),
    update: object,
    creates: true,
    body: bytes,
  })
}

/** replaceView: loads the current view first, so that recovery can resolve a lost reply. */
export async function replaceView(sent: SurfaceRequest): Promise<Response> {
  const { surface, bytes, object } = await ownBody(sent)
  const table = tableRefOf(surface)
  const named = reader.optionalObject(object, 'identifier')
  if (named !== undefined && !Bun.deepEquals(identifier(named), table))
    throw reader.fault('`identifier` names another view than the path')
  const current = await surface.upstream.catalog.forward({
    method: 'GET',
    path: upstreamPath(surface.path),
    mutates: false,
    subject: subjectOf(surface),
    signal: surface.request.signal,
  })
  const loaded = await new Response(current.body as Uint8Array<ArrayBuffer>).bytes()
  await assertOneViewName(surface, table, loaded)
  const members = topLevelMembers(loaded)
  const location: unknown = JSON.parse(Buffer.from(members.get('metadata-location') ?? '""').toString())
  return await viewResponse(surface, {
    action: 'replace-view',
    table,
    update: object,
    baseMetadataLocation: String(location),
    body: bytes,
  })
}

async function viewResponse(surface: SurfaceRequest, action: Action): Promise<Response> {
  const { response, warnings } = await change(surface, action)
  await noteViewName(surface, action.table, response.body)
  const { body } = await discloseAccepted(response.body, tableMembers, unmasked)
  return jsonResponse(200, body, verdictHeaders(surface.commitId, warnings))
}

/** dropView: judged as the action drop-view. */
export async function dropView(surface: SurfaceRequest): Promise<Response> {
  const table = tableRefOf(surface)
  await assertOneViewName(surface, table, await assertPresent(surface))
  return await emptyResponse(surface, { action: 'drop-view', table, update: new Map() })
}

/** createNamespace: a namespace that exists is 409, whatever policies say. */
export async function createNamespace(sent: SurfaceRequest): Promise<Response> {
  const { surface, bytes, object } = await ownBody(sent)
  const namespace = levels(reader.strings(object, 'namespace'))
  await assertNamespaceAbsent(surface, namespace)
  return await namespaceResponse(surface, {
    action: 'create-namespace',
    table: { namespace, name: '' },
    update: object,
    body: bytes,
  })
}

/** updateProperties, of a namespace. */
export async function updateProperties(surface: SurfaceRequest): Promise<Response> {
  const { bytes } = surface.body
  const object = objectOf(surface.body)
  return await namespaceResponse(surface, {
    action: 'update-properties',
    table: tableRefOf(surface),
    update: object,
    body: bytes,
  })
}

async function namespaceResponse(surface: SurfaceRequest, action: Action): Promise<Response> {
  const { response, warnings } = await change(surface, action)
  return jsonResponse(200, response.body, verdictHeaders(surface.commitId, warnings))
}

/** dropNamespace: judged as the action drop-namespace. */
export async function dropNamespace(surface: SurfaceRequest): Promise<Response> {
  await assertPresent(surface)
  const update = new Map([['namespace', surface.path.namespace]])
  return await emptyResponse(surface, { action: 'drop-namespace', table: tableRefOf(surface), update })
}

async function emptyResponse(surface: SurfaceRequest, action: Action): Promise<Response> {
  const { warnings } = await change(surface, action)
  return jsonResponse(204, null, verdictHeaders(surface.commitId, warnings))
}

async function change(surface: SurfaceRequest, action: Action, vended = false): Promise<ActionCommitted> {
  const { parts, upstream, request, path, tenant, identified, receivedAtMs, commitId, stages, keyed } =
    surface
  return await commitAction(parts, upstream, {
    commitId,
    tenant,
    identified,
    action: action.action,
    table: action.table,
    destination: action.destination,
    purge: action.purge ?? false,
    staged: action.staged ?? false,
    baseMetadataLocation: action.baseMetadataLocation ?? '',
    request: {
      requirements: action.creates === true ? [new Map([['type', 'assert-create']])] : [],
      updates: [named(action.action, action.update)],
    },
    receivedAtMs,
    signal: request.signal,
    stages,
    claim: claimOf(keyed, [commitId]),
    requestId: aboutRequest(request).id,
    origin: requestOrigin(identified, request.headers),
    forward: {
      method: request.method as 'POST' | 'DELETE',
      path: upstreamPath(path),
      ...(action.query && { query: action.query }),
      body: action.body,
      idempotencyKey: request.headers.get('idempotency-key') ?? undefined,
      accessDelegation: vended ? delegationOf(surface) : undefined,
      subject: subjectOf(surface),
    },
  })
}

/** The request's members with the action's name, which no member of the request can override. */
function named(action: CatalogAction, update: JsonObject): JsonObject {
  return new Map<string, JsonValue>([...update, ['action', action]])
}

function bodyName({ path }: SurfaceRequest, body: JsonObject): TableRef {
  const name = reader.string(body, 'name')
  assertName('name', name)
  return { namespace: path.namespace, name }
}

function identifier(from: JsonObject): TableRef {
  const name = reader.string(from, 'name')
  assertName('name', name)
  return { namespace: levels(reader.strings(from, 'namespace')), name }
}

function levels(namespace: readonly string[]): readonly string[] {
  if (namespace.length === 0) throw reader.fault('`namespace` is empty')
  for (const level of namespace) assertName('namespace', level)
  return namespace
}

/** Accepts only a bool, because an upstream might accept other values as true. */
function flag(from: JsonObject, key: string): boolean {
  const value = from.get(key) ?? false
  if (typeof value !== 'boolean') throw reader.fault(`\`${key}\` must be true or false`)
  return value
}
