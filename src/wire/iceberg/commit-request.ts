/**
 * Parses CommitTableRequest and CommitTransactionRequest of Iceberg REST (docs/reference/gateway.md 1.6, 3.1). Checks
 * their shape only: requirements and updates of unknown types pass, and `apply-updates.ts` interprets them.
 */

import { Fault } from '../../base/fault.ts'
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  parseJsonInTurns,
} from '../../base/json.ts'
import { isPathIdentifier, type TableRef, tableKey, tableName } from '../../core/table-ref.ts'
import { limits } from '../../limits.ts'
import { fieldReader } from './fields.ts'

/** Both arrays as sent; each requirement has a string `type`, each update a string `action`. */
export interface CommitRequest {
  readonly identifier?: TableRef
  readonly requirements: readonly JsonObject[]
  readonly updates: readonly JsonObject[]
}

/** One entry of `table-changes`, whose identifier is required. */
export interface TableChange extends CommitRequest {
  readonly identifier: TableRef
}

const reader = fieldReader((what) => new Fault('bad_request', `Invalid commit request: ${what}.`))

/**
 * @param body a CommitTableRequest as JSON
 * @throws Fault bad_request where the body is not JSON or not of the shape
 */
export function parseCommitRequest(body: Uint8Array): CommitRequest {
  return commitRequest(parseJson(body, { depthMax: limits.jsonDepthMax }))
}

/**
 * As {@link parseCommitRequest}, but yields to other requests in between, because a body has up to 16 MiB.
 * @throws Fault as {@link parseCommitRequest}
 */
export async function readCommitRequest(body: Uint8Array): Promise<CommitRequest> {
  return commitRequest(await parseJsonInTurns(body, { depthMax: limits.jsonDepthMax }))
}

/**
 * @param body a CommitTransactionRequest as JSON
 * @returns its changes in the order sent: at least one, at most `limits.transactionTablesMax`, and no table twice,
 *   because policies judge each change against the table before the transaction
 * @throws Fault bad_request where the body is not JSON, has another shape, or an identifier does not match the
 *   pattern (docs/reference/gateway.md 3.1)
 */
export async function readTransactionRequest(body: Uint8Array): Promise<readonly TableChange[]> {
  const value = await parseJsonInTurns(body, { depthMax: limits.jsonDepthMax })
  const entries = reader.objects(objectOf(value), 'table-changes')
  if (entries.length === 0) throw reader.fault('`table-changes` is empty')
  if (entries.length > limits.transactionTablesMax)
    throw reader.fault(`\`table-changes\` has more than ${limits.transactionTablesMax} entries`)
  const changes = entries.map(tableChange)
  const seen = new Set<string>()
  for (const { identifier } of changes) {
    const key = tableKey(identifier)
    if (seen.has(key)) throw reader.fault(`\`table-changes\` names ${tableName(identifier)} twice`)
    seen.add(key)
  }
  return changes
}

/** @throws Fault bad_request where the body names another table than `table`, which is the path's */
export function assertIdentifierMatches(request: CommitRequest, table: TableRef): void {
  const { identifier } = request
  if (identifier !== undefined && tableKey(identifier) !== tableKey(table))
    throw reader.fault(`\`identifier\` names another table than the path, ${tableName(table)}`)
}

/**
 * @returns the snapshot ids of the `add-snapshot` updates, in their order
 * @throws Fault bad_request where such an update has no snapshot id
 */
export function snapshotIdsAdded(request: CommitRequest): readonly bigint[] {
  return request.updates
    .filter((update) => update.get('action') === 'add-snapshot')
    .map((update) => reader.integer(reader.object(update, 'snapshot'), 'snapshot-id'))
}

/** Of a request that adds more snapshots, the manifest lists are not remembered. */
const manifestListsMax = 16

/**
 * The manifest lists of the snapshots that a request adds, in their order; '' for one that names none.
 * @returns undefined where it adds none or very many
 */
export function manifestListsAdded(request: CommitRequest): readonly string[] | undefined {
  const snapshots = request.updates.filter((update) => update.get('action') === 'add-snapshot')
  if (snapshots.length === 0 || snapshots.length > manifestListsMax) return undefined
  return snapshots.map((update) => {
    const snapshot = update.get('snapshot')
    const list = isJsonObject(snapshot) ? snapshot.get('manifest-list') : undefined
    return typeof list === 'string' ? list : ''
  })
}

function objectOf(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) throw reader.fault('the body must be an object')
  return value
}

function commitRequest(value: JsonValue): CommitRequest {
  const body = objectOf(value)
  const identifier = reader.optionalObject(body, 'identifier')
  const requirements = reader.objects(body, 'requirements')
  const updates = reader.objects(body, 'updates')
  for (const requirement of requirements) reader.string(requirement, 'type')
  for (const update of updates) reader.string(update, 'action')
  return { ...(identifier && { identifier: tableRef(identifier) }), requirements, updates }
}

function tableChange(body: JsonObject): TableChange {
  const request = commitRequest(body)
  const { identifier } = request
  if (identifier === undefined) throw reader.fault('`identifier` is missing')
  for (const part of [...identifier.namespace, identifier.name])
    if (!isPathIdentifier(part) || part.length > limits.identifierLengthMax)
      throw reader.fault('a namespace entry or name of `identifier` does not match ^[a-zA-Z0-9_-]+$')
  return { ...request, identifier }
}

function tableRef(identifier: JsonObject): TableRef {
  const namespace = reader.strings(identifier, 'namespace')
  if (namespace.length === 0) throw reader.fault('`namespace` is empty')
  return { namespace, name: reader.string(identifier, 'name') }
}

/** The new name in the one update of a rename; undefined if it is no rename. */
export function renameDestination(update: JsonObject): TableRef | undefined {
  const destination = update.get('destination')
  if (!isJsonObject(destination)) return undefined
  const namespace = destination.get('namespace')
  const name = destination.get('name')
  if (!Array.isArray(namespace) || typeof name !== 'string') return undefined
  return { namespace: namespace.map(String), name }
}
