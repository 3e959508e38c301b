/**
 * Plans scans for clients of a catalog whose credentials or signatures are the service's own (planTableScan and its
 * like of the Iceberg REST API). Each request asks again whether filters, masks, the pin, the quarantine and the
 * territory let its caller have the files. A plan is made at once, and its pages are plan tasks.
 */

import { Fault } from '../../base/fault.ts'
import { isJsonObject, type JsonValue, jsonObject, parseJson, stringifyJson } from '../../base/json.ts'
import { tableKey, tableName } from '../../core/table-ref.ts'
import { folderPrefixesOf, type TerritoryOwner } from '../../core/territory-owner.ts'
import { filesMatching } from '../../engine/iceberg/prune-predicate.ts'
import { type ScanTasks, scanTasks } from '../../engine/iceberg/scan-tasks.ts'
import { canonicalPath } from '../../storage/canonical-path.ts'
import { givenOut } from '../../storage/roots.ts'
import type { FileSight } from '../../store/governance/protections.ts'
import { loadWriteGovernance } from '../../store/policy/policies.ts'
import { openPlanTask, type PlanTask, sealPlanTask } from '../../vending/plan/plan-task.ts'
import { vendingSettings } from '../../vending/settings.ts'
import { presignGet } from '../../vending/sign/presign-s3.ts'
import { joinMembers, topLevelMembers } from '../../wire/iceberg/members.ts'
import { currentSnapshotId } from '../../wire/iceberg/table-metadata.ts'
import { noteRawRead } from './note-raw-read.ts'
import { filterOf, readPlanRequest, readPlanTask } from './plan-request.ts'
import { isAskedToSign, isLicensed, snapshotPart, snapshotRefusal } from './signing.ts'
import { snapshotPlan } from './snapshot-plans.ts'
import { jsonResponse, objectOf, plansScans, type SurfaceRequest, tableRefOf } from './surface-request.ts'
import {
  isAskedToVend,
  schemeOf,
  storageCredentials,
  uncached,
  vendTable,
  vendUnlessRefused,
} from './vend.ts'

/** A table whose files may be planned for the caller. */
interface PlannableTable {
  readonly owner: TerritoryOwner
  /** The upstream's reply to loadTable. */
  readonly loaded: Uint8Array
  readonly sight: FileSight
}

/** Most files of one page. */
const pageFiles = 1_000
/** Milliseconds for which a plan and its presigned addresses are valid. */
const planMs = 900_000

/** Answers the planning operations of a table whose files the caller may have. */
export async function planOwn(surface: SurfaceRequest, table: PlannableTable): Promise<Response> {
  const { parts, path, session } = surface
  parts.licensed.require('vending')
  if (session.kind !== 'service') throw new Fault('forbidden', 'Scans are planned for service sessions only.')
  switch (path.operation) {
    case 'planTableScan':
      return await plan(surface, table)
    case 'fetchPlanningResult': {
      const task = parts.clientFiles.plans.get(path.planId)?.task
      if (task === undefined || !isOwnTask(surface, table, task)) throw noPlan()
      return await page(surface, table, task)
    }
    default:
      return await nextPage(surface, table)
  }
}

/** Ends a plan: none of its pages is answered by this process any more. */
export function cancelOwn(surface: SurfaceRequest): Response {
  const { planId } = surface.path
  const { plans } = surface.parts.clientFiles
  const task = plans.get(planId)?.task
  if (task === undefined || !isCallers(surface, task)) throw noPlan()
  plans.set(planId, { task, isCancelled: true })
  return jsonResponse(204, null)
}

async function plan(surface: SurfaceRequest, table: PlannableTable): Promise<Response> {
  const { parts, session, tenant, identified, upstream } = surface
  const wanted = readPlanRequest(objectOf(surface.body))
  const members = topLevelMembers(table.loaded)
  const { pinnedSnapshotId } = await loadWriteGovernance(parts.store, tenant, table.owner.table)
  const snapshotId = pinnedSnapshotId ?? currentSnapshotId(snapshotPart(members.get('metadata')))
  if (wanted.snapshotId !== undefined && wanted.snapshotId !== snapshotId)
    throw new Fault(
      'policy_denied',
      `policy denied: scans of ${tableName(table.owner.table)} are planned for its ${pinnedSnapshotId === undefined ? 'current' : 'pinned'} snapshot only`,
    )
  const planId = crypto.randomUUID()
  if (snapshotId === undefined)
    return jsonResponse(200, stringifyJson(completed(planId, undefined)), uncached)
  const task: PlanTask = {
    ...{ planId, tenant, sessionId: session.sessionId, credentialId: upstream.credential.id },
    table: tableKey(table.owner.table),
    tableUuid: table.owner.tableUuid,
    sub: identified.principal.sub,
    metadataLocation: metadataLocationOf(members),
    snapshotId: String(snapshotId),
    filter: wanted.filter,
    caseSensitive: wanted.caseSensitive,
    useSnapshotSchema: wanted.useSnapshotSchema,
    from: 0,
    expiresAtMs: Math.min(
      parts.clock.now() + planMs,
      ...[session.expiresAtMs, table.sight.untilMs].filter((ms) => ms !== undefined),
    ),
  }
  const response = await page(surface, table, task)
  parts.clientFiles.plans.set(planId, { task, isCancelled: false })
  return response
}

async function nextPage(surface: SurfaceRequest, table: PlannableTable): Promise<Response> {
  const text = readPlanTask(objectOf(surface.body))
  const task = openPlanTask(surface.parts.store, text)
  if (task === undefined || !isOwnTask(surface, table, task))
    throw new Fault('not_found', 'There is no such plan task, or it has expired. Plan the scan again.')
  return await page(surface, table, task)
}

/** Whether a plan is the caller's, of this table, and neither expired nor cancelled. */
function isOwnTask(surface: SurfaceRequest, { owner }: PlannableTable, task: PlanTask): boolean {
  const isCancelled = surface.parts.clientFiles.plans.get(task.planId)?.isCancelled === true
  return isCallers(surface, task) && !isCancelled && task.tableUuid === owner.tableUuid
}

function isCallers(surface: SurfaceRequest, task: PlanTask): boolean {
  const { tenant, session, upstream, identified, parts } = surface
  return (
    task.tenant === tenant &&
    task.sessionId === session.sessionId &&
    task.credentialId === upstream.credential.id &&
    task.sub === identified.principal.sub &&
    task.table === tableKey(tableRefOf(surface)) &&
    task.expiresAtMs > parts.clock.now()
  )
}

/** One page of a plan, with the task that leads to the next. */
async function page(
  surface: SurfaceRequest,
  { owner, loaded, sight }: PlannableTable,
  task: PlanTask,
): Promise<Response> {
  const { parts, tenant, upstream } = surface
  const { table } = owner
  const settings = vendingSettings(upstream.credential)
  const governance = await loadWriteGovernance(parts.store, tenant, table)
  const snapshotId = BigInt(task.snapshotId)
  const refusal = snapshotRefusal(governance, owner, snapshotId)
  if (refusal !== undefined)
    throw new Fault(
      'policy_denied',
      `policy denied: the snapshot of the plan ${refusal}. Plan the scan again`,
    )
  const prefixes = givenOut(folderPrefixesOf(governance.territory, owner), upstream.credential.config)
  const { metadataLocation } = task
  const planned = await snapshotPlan(surface, { table, metadataLocation, snapshotId, prefixes })
  const [snapshotSchema, currentSchema] = planned.schemas
  const schema = (task.useSnapshotSchema ? snapshotSchema : currentSchema) ?? new Map()
  const names = { schema, caseSensitive: task.caseSensitive }
  const files = filesMatching(planned, filterOf(task.filter), names)
  const presigns = settings.mode === 'sign' && !isAskedToSign(surface)
  const nowMs = parts.clock.now()
  const lifetimeSeconds = Math.floor((task.expiresAtMs - nowMs) / 1_000)
  const addressOf = (location: string): string => {
    if (!presigns) return location
    const canonical = canonicalPath(location)
    if (!canonical.isClear || lifetimeSeconds < 1) throw noPlan()
    return presignGet(settings, canonical.path, { atMs: nowMs, lifetimeSeconds })
  }
  const tasks = scanTasks(planned, files.slice(task.from, task.from + pageFiles), addressOf)
  if (presigns && tasks.namesPaths)
    throw new Fault(
      'not_acceptable',
      'The snapshot has position delete files, which name data files by their paths, so presigned addresses cannot stand for these. Have requests signed instead (X-Iceberg-Access-Delegation: remote-signing).',
    )
  noteRawRead(surface, table, 'plan', sight, { snapshotId: task.snapshotId })
  const from = task.from + pageFiles
  const next = from < files.length ? [sealPlanTask(parts.store.secretsKey, { ...task, from })] : undefined
  if (surface.path.operation === 'fetchScanTasks')
    return jsonResponse(200, stringifyJson(jsonObject(tasksMembers(tasks, next))), uncached)
  const vended = isAskedToVend(surface)
    ? await vendUnlessRefused(() => vendTable(surface, owner, governance.territory, sight))
    : undefined
  if (vended !== undefined) noteRawRead(surface, table, 'credentials', sight)
  const scheme = schemeOf(metadataLocationOf(topLevelMembers(loaded)))
  const credentials = vended && storageCredentials(table, vended, scheme)
  return jsonResponse(200, stringifyJson(completed(task.planId, credentials, tasks, next)), uncached)
}

function completed(
  planId: string,
  credentials: readonly JsonValue[] | undefined,
  tasks: ScanTasks = { tasks: [], deletes: [], namesPaths: false },
  next?: readonly string[],
): JsonValue {
  return jsonObject({
    status: 'completed',
    'plan-id': planId,
    ...tasksMembers(tasks, next),
    'storage-credentials': credentials === undefined || credentials.length === 0 ? undefined : credentials,
  })
}

function tasksMembers({ tasks, deletes }: ScanTasks, next: readonly string[] | undefined) {
  return {
    'delete-files': deletes.length === 0 ? undefined : deletes,
    'file-scan-tasks': tasks,
    'plan-tasks': next,
  }
}

/** Whether clients are told to have scans planned, not merely allowed to. */
export function wantsScans({ parts, upstream, session }: SurfaceRequest): boolean {
  const { credential } = upstream
  const isWanted = plansScans(upstream) && credential.config['vending.scan-planning'] === 'server'
  return isWanted && session.kind === 'service' && isLicensed(parts.licensed)
}

/** A LoadTableResult that tells the client to have its scans planned. */
export function withPlanning(body: Uint8Array): Uint8Array<ArrayBuffer> {
  const members = new Map(topLevelMembers(body))
  const disclosed = members.get('config')
  const config = disclosed === undefined ? undefined : parseJson(disclosed)
  const added = new Map<string, JsonValue>([
    ...(isJsonObject(config) ? config : []),
    ['scan-planning-mode', 'server'],
  ])
  members.set('config', Buffer.from(stringifyJson(added)))
  return joinMembers(members)
}

function metadataLocationOf(members: ReadonlyMap<string, Uint8Array>): string {
  const raw = members.get('metadata-location')
  const value = raw === undefined ? undefined : parseJson(raw)
  if (typeof value === 'string') return value
  throw new Fault('upstream_failed', 'The upstream catalog names no metadata file of the table.')
}

function noPlan(): Fault {
  return new Fault('not_found', 'There is no such plan, or it has ended. Plan the scan again.')
}
