/** Operations that change the catalog: each becomes a commit or an action, which the gate judges. */

import { Fault } from '../../base/fault.ts'
import type { JsonObject, JsonValue } from '../../base/json.ts'
import { assertNames } from '../../catalog/catalog.ts'
import type { CatalogAction } from '../../core/commit.ts'
import type { TableRef } from '../../core/table-ref.ts'
import { readCommitRequest, readTransactionRequest } from '../../wire/iceberg/commit-request.ts'
import { fieldReader } from '../../wire/iceberg/fields.ts'
import { topLevelMembers, withStringMember } from '../../wire/iceberg/members.ts'
import { tableMembers } from '../base/disclosure.ts'
import { assertName } from '../base/path.ts'
import { type ActionCommit, type ActionCommitted, commitAction } from '../commit/commit-action.ts'
import { commitTable } from '../commit/commit-table.ts'
import { commitTransaction, TransactionFault } from '../commit/commit-transaction.ts'
import { openOnCachedTable } from '../speculative/cached-table.ts'
import { tableCommit } from '../stages/open-commit.ts'
import { assertNamespaceAbsent } from './assert-namespace-absent.ts'
import { upstreamPath } from './client-path.ts'
import {
  answer,
  delegationOf,
  discloseAccepted,
  disclosureOf,
  nameOf,
  objectOf,
  type SurfaceRequest,
  subjectOf,
  verdictHeaders,
} from './surface-request.ts'

/** Of answers to commits, which are echoed, and of views, which nothing masks. */
const unmasked = { vended: false, masked: false, whole: true } as const

const reader = fieldReader((what) => new Fault('bad_request', `Invalid request: ${what}.`))

/** updateTable: the commit of docs/reference/gateway.md 2. */
export async function updateTable(surface: SurfaceRequest): Promise<Response> {
  const { parts, upstream, commitId, body, start } = surface
  const commit = start?.commit ?? tableCommit(surface, nameOf(surface), await readCommitRequest(body.bytes))
  const opening = start ?? (await openOnCachedTable(parts, upstream, commit))
  const { response, warnings } = await commitTable(parts, upstream, commit, opening)
  const { etag } = response.headers
  const stripped = await discloseAccepted(response.body, tableMembers, unmasked)
  return answer(200, withLocation(stripped.body, response.result.metadataLocation), {
    ...(etag !== undefined && { etag }),
    ...verdictHeaders(commitId, warnings),
  })
}

/**
 * commitTransaction: the commit of docs/reference/gateway.md 3, with the answers that the Iceberg REST specification
 * has.
 * @throws Fault `commit_unknown` for whatever fails once a commit was accepted: no client may then clean up
 */
export async function commitTables(surface: SurfaceRequest): Promise<Response> {
  const { parts, upstream, request, tenant, identified, receivedAtMs, stages, body } = surface
  const changes = await readTransactionRequest(body.bytes)
  try {
    const transaction = { tenant, identified, receivedAtMs, signal: request.signal, stages, changes }
    const { results, warnings } = await commitTransaction(parts, upstream, transaction)
    return answer(204, null, verdictHeaders(results.map(({ commitId }) => commitId).join(', '), warnings))
  } catch (thrown) {
    if (!(thrown instanceof TransactionFault) || thrown.acceptedCount === 0) throw thrown
    const { fault } = thrown
    throw new Fault('commit_unknown', fault.publicMessage, { cause: fault })
  }
}

/** Nessie's answer names an address of its own, which clients cannot reach and must not learn. */
function withLocation(body: Uint8Array, metadataLocation: string): Uint8Array {
  const named = topLevelMembers(body).get('metadata-location')
  if (named === undefined || Buffer.from(named).toString() === JSON.stringify(metadataLocation)) return body
  return withStringMember(body, 'metadata-location', metadataLocation)
}

type Action = Pick<ActionCommit, 'action' | 'table'> &
  Partial<Pick<ActionCommit, 'destination' | 'purge' | 'staged' | 'baseMetadataLocation'>> & {
    /** What policies see in the one update, beside its action. */
    readonly update: JsonObject
    readonly creates?: boolean
    readonly query?: Readonly<Record<string, string>>
    readonly body?: Uint8Array
  }

/** createTable, staged or not; its answer may hold vended credentials. */
export async function createTable(surface: SurfaceRequest): Promise<Response> {
  const { bytes, object } = read(surface)
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
  return await tableAnswer(surface, action)
}

/** registerTable: what the metadata file holds is not known before. */
export async function registerTable(surface: SurfaceRequest): Promise<Response> {
  const { bytes, object } = read(surface)
  reader.string(object, 'metadata-location')
  flag(object, 'overwrite')
  const table = bodyName(surface, object)
  return await tableAnswer(surface, { action: 'register-table', table, update: object, body: bytes })
}

async function tableAnswer(surface: SurfaceRequest, action: Action): Promise<Response> {
  const disclosure = await disclosureOf(surface, action.table)
  const { response, warnings } = await change(surface, action, disclosure.vended)
  const { etag } = response.headers
  const { body, masked } = await discloseAccepted(response.body, tableMembers, disclosure)
  return answer(200, body, {
    ...(etag !== undefined && !masked && { etag }),
    ...verdictHeaders(surface.commitId, warnings),
  })
}

/** dropTable, with or without a purge of its files. */
export async function dropTable(surface: SurfaceRequest): Promise<Response> {
  const requested = surface.query.get('purgeRequested')
  if (requested !== null && !/^(true|false)$/i.test(requested))
    throw new Fault('bad_request', 'The query parameter purgeRequested must be true or false.')
  const purge = requested?.toLowerCase() === 'true'
  return await emptyAnswer(surface, {
    action: 'drop-table',
    table: nameOf(surface),
    update: new Map([['purge-requested', purge]]),
    purge,
    query: { purgeRequested: String(purge) },
  })
}

/** unregisterTable: a drop that leaves all files, and tells where the metadata is. */
export async function unregisterTable(surface: SurfaceRequest): Promise<Response> {
  const action = { action: 'unregister-table', table: nameOf(surface), update: new Map() } as const
  const disclosure = await disclosureOf(surface, action.table)
  const { response, warnings } = await change(surface, action)
  const { body } = await discloseAccepted(response.body, tableMembers, { ...disclosure, vended: false })
  return answer(200, body, verdictHeaders(surface.commitId, warnings))
}

/** renameTable and renameView: judged under both names. */
export async function rename(
  surface: SurfaceRequest,
  action: 'rename-table' | 'rename-view',
): Promise<Response> {
  const { bytes, object } = read(surface)
  const table = identifier(reader.object(object, 'source'))
  const destination = identifier(reader.object(object, 'destination'))
  // The path names neither, so the adapter cannot check them.
  for (const { namespace, name } of [table, destination])
    assertNames(surface.upstream.catalog.kind, namespace, name)
  return await emptyAnswer(surface, { action, table, destination, update: object, body: bytes })
}

/** createView and registerView. */
export async function createView(
  surface: SurfaceRequest,
  action: 'create-view' | 'register-view',
): Promise<Response> {
  const { bytes, object } = read(surface)
  if (action === 'register-view') reader.string(object, 'metadata-location')
  return await viewAnswer(surface, {
    action,
    table: bodyName(surface, object),
    update: object,
    creates: true,
    body: bytes,
  })
}

/** replaceView: the view as it is now is looked at first, so that a lost answer can be cleared up. */
export async function replaceView(surface: SurfaceRequest): Promise<Response> {
  const { bytes, object } = read(surface)
  const table = nameOf(surface)
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
  const members = topLevelMembers(await new Response(current.body as Uint8Array<ArrayBuffer>).bytes())
  const location: unknown = JSON.parse(Buffer.from(members.get('metadata-location') ?? '""').toString())
  return await viewAnswer(surface, {
    action: 'replace-view',
    table,
    update: object,
    baseMetadataLocation: String(location),
    body: bytes,
  })
}

async function viewAnswer(surface: SurfaceRequest, action: Action): Promise<Response> {
  const { response, warnings } = await change(surface, action)
  const { body } = await discloseAccepted(response.body, tableMembers, unmasked)
  return answer(200, body, verdictHeaders(surface.commitId, warnings))
}

/** dropView. */
export async function dropView(surface: SurfaceRequest): Promise<Response> {
  return await emptyAnswer(surface, { action: 'drop-view', table: nameOf(surface), update: new Map() })
}

/** createNamespace; one that is there already is 409, whatever policies say of it. */
export async function createNamespace(surface: SurfaceRequest): Promise<Response> {
  const { bytes, object } = read(surface)
  const namespace = levels(reader.strings(object, 'namespace'))
  await assertNamespaceAbsent(surface, namespace)
  return await namespaceAnswer(surface, {
    action: 'create-namespace',
    table: { namespace, name: '' },
    update: object,
    body: bytes,
  })
}

/** updateProperties of a namespace. */
export async function updateProperties(surface: SurfaceRequest): Promise<Response> {
  const { bytes, object } = read(surface)
  return await namespaceAnswer(surface, {
    action: 'update-properties',
    table: nameOf(surface),
    update: object,
    body: bytes,
  })
}

async function namespaceAnswer(surface: SurfaceRequest, action: Action): Promise<Response> {
  const { response, warnings } = await change(surface, action)
  return answer(200, response.body, verdictHeaders(surface.commitId, warnings))
}

/** dropNamespace. */
export async function dropNamespace(surface: SurfaceRequest): Promise<Response> {
  const update = new Map([['namespace', surface.path.namespace]])
  return await emptyAnswer(surface, { action: 'drop-namespace', table: nameOf(surface), update })
}

async function emptyAnswer(surface: SurfaceRequest, action: Action): Promise<Response> {
  const { warnings } = await change(surface, action)
  return answer(204, null, verdictHeaders(surface.commitId, warnings))
}

async function change(surface: SurfaceRequest, action: Action, vended = false): Promise<ActionCommitted> {
  const { parts, upstream, request, path, tenant, identified, receivedAtMs, commitId, stages } = surface
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
    forward: {
      method: request.method as 'POST' | 'DELETE',
      path: upstreamPath(path),
      ...(action.query && { query: action.query }),
      body: action.body,
      idempotencyKey: idempotencyKeyOf(request),
      accessDelegation: vended ? delegationOf(surface) : undefined,
      subject: subjectOf(surface),
    },
  })
}

/** The request's members with the action's name, which no member of the request can take. */
function named(action: CatalogAction, update: JsonObject): JsonObject {
  return new Map<string, JsonValue>([...update, ['action', action]])
}

function read({ body }: SurfaceRequest): { readonly bytes: Uint8Array; readonly object: JsonObject } {
  return { bytes: body.bytes, object: objectOf(body) }
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

/** A flag must be a bool: an upstream might read more than we do. */
function flag(from: JsonObject, key: string): boolean {
  const value = from.get(key) ?? false
  if (typeof value !== 'boolean') throw reader.fault(`\`${key}\` must be true or false`)
  return value
}

function idempotencyKeyOf(request: Request): string | undefined {
  return request.headers.get('idempotency-key') ?? undefined
}
