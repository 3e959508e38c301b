/** Handles the operations that change nothing. Replies pass as raw bytes, unless they may hold configuration. */

import { Fault } from '../../base/fault.ts'
import { inNextTurn } from '../../base/turn.ts'
import { accessCommand } from '../../core/access-hint.ts'
import { keyLifetime } from '../../core/idempotency.ts'
import { type TableRef, tableName } from '../../core/table-ref.ts'
import { type FileSight, sightOfTable } from '../../store/governance/protections.ts'
import { vendingModeOf } from '../../vending/settings.ts'
import { topLevelMembers } from '../../wire/iceberg/members.ts'
import { isRestricted } from '../../wire/iceberg/read-restrictions.ts'
import { discloseReply, planMembers, tableMembers } from '../base/disclosure.ts'
import { upstreamPath } from './client-path.ts'
import { commitsAtomically } from './commits-atomically.ts'
import { feedLoaded } from './feed-loaded.ts'
import { LoadVend } from './load-vend.ts'
import { noteRawRead } from './note-raw-read.ts'
import { assertOneViewName } from './one-view-name.ts'
import { defaultOperations, endpointOf, type OperationId, operations, planOperations } from './operations.ts'
import { passThrough, type QueryName, queryOf } from './pass-through.ts'
import { assertPlannedInside } from './planned-files.ts'
import { cancelOwn, planOwn, wantsScans, withPlanning } from './planning.ts'
import { isTrusted, readBySql, restrictedTable } from './restrictions.ts'
import { isAskedToSign, signingOf, withSigning } from './signing.ts'
import {
  delegationOf,
  disclosureFor,
  jsonResponse,
  objectOf,
  plansScans,
  purposeDemanded,
  readDisclosureOf,
  type SurfaceRequest,
  subjectOf,
  tableRefOf,
} from './surface-request.ts'
import { assertOpen, assertViewOpen } from './uncontracted.ts'
import {
  askTerritory,
  credentialsReply,
  isAskedToVend,
  issuesCredentials,
  uncached,
  vendTable,
  vendUnlessRefused,
  withCredentials,
} from './vend.ts'

/**
 * getConfig: lists what the client surface serves, without addresses, prefixes or secrets. `commitTransaction` is
 * always served but listed only if it is atomic, because clients expect that. The lifetime of keys is the gateway's own,
 * whatever the upstream keeps.
 */
export async function getConfig({ upstream, request }: SurfaceRequest): Promise<Response> {
  const isAtomic = await commitsAtomically(upstream, request.signal)
  const { endpoints } = await upstream.catalog.offer({ signal: request.signal })
  const mode = vendingModeOf(upstream.credential)
  const unlisted: ReadonlySet<OperationId> = new Set([
    'getConfig',
    'getToken',
    ...(isAtomic ? [] : (['commitTransaction'] as const)),
    ...(mode === 'none' || mode === 'sign' ? (['loadCredentials'] as const) : []),
  ])
  const served = operations.filter(
    ({ id, treatment, method, path }) =>
      (treatment !== 'refused' || (id === 'signRequest' && mode === 'sign')) &&
      !unlisted.has(id) &&
      (treatment === 'own' ||
        (id === 'loadCredentials' && mode === 'vend') ||
        (planOperations.has(id) && plansScans(upstream)) ||
        id === 'signRequest' ||
        (endpoints?.includes(endpointOf({ method, path })) ?? defaultOperations.has(id))),
  )
  return jsonResponse(
    200,
    JSON.stringify({
      defaults: {},
      overrides: {},
      'idempotency-key-lifetime': keyLifetime,
      endpoints: served.map(endpointOf),
    }),
  )
}

/** reportMetrics: accepts client metrics and discards them. */
export async function reportMetrics(surface: SurfaceRequest): Promise<Response> {
  await assertOpen(surface)
  return jsonResponse(204, null)
}

/** tableExists */
export async function tableExists(surface: SurfaceRequest): Promise<Response> {
  await assertOpen(surface)
  return await passThrough(surface)
}

/** loadTable: conditional, with the snapshots that the client chose, without the upstream's configuration. */
export async function loadTable(surface: SurfaceRequest): Promise<Response> {
  const { request, upstream } = surface
  const table = tableRefOf(surface)
  const { snapshots } = queryOf(surface, ['snapshots'])
  await using vend = isAskedToVend(surface) ? new LoadVend(surface, table) : undefined
  const read = await readDisclosureOf(surface, table)
  const { sight: asked, ...disclosure } = read
  // Without its files the metadata passes, as it does where masks apply.
  if (asked.demands !== undefined && ((await isTrusted(surface)) || delegationOf(surface) !== undefined))
    throw purposeDemanded(asked.demands)
  const vends = !disclosure.masked && vend !== undefined
  if (vends) vend.begin(asked)
  const signs = !disclosure.masked && isAskedToSign(surface)
  // A masked response differs from others for the same metadata, so it is neither conditional nor has an ETag. One with
  // credentials goes out of date before its metadata does.
  const isConditional = !disclosure.masked && !vends && !signs
  const ifNoneMatch = isConditional ? (request.headers.get('if-none-match') ?? undefined) : undefined
  const loaded = await upstream.catalog.loadTable(table, {
    signal: request.signal,
    ifNoneMatch,
    snapshots: snapshots === 'refs' || snapshots === 'all' ? snapshots : undefined,
    accessDelegation: disclosure.vended ? delegationOf(surface) : undefined,
  })
  if (loaded.status === 'not-modified') {
    noteConfirmed(surface, table, ifNoneMatch)
    noteRawRead(surface, table, 'load', asked)
    return new Response(null, { status: 304, headers: { etag: ifNoneMatch ?? '' } })
  }
  if (snapshots !== 'refs') noteLoaded(surface, table, loaded.body)
  const placed = await feedLoaded(surface, table, loaded.body)
  const { owner, isOutside, isOutsideRoots } = placed
  const { sight, ...own } = disclosureFor(read, owner.tableUuid)
  const shown = { ...own, vended: own.vended && !isOutsideRoots && !(await isOutside()) }
  const disclosed = await discloseReply(loaded.body, tableMembers, shown)
  const { masked } = disclosed
  if (masked && (await isTrusted(surface))) {
    const restricted = await restrictedTable(surface, table, loaded.body, disclosed.body)
    noteRawRead(surface, table, 'load', sight, { protection: 'told' })
    return restricted
  }
  const body =
    !masked && !isOutsideRoots && wantsScans(surface) ? withPlanning(disclosed.body) : disclosed.body
  const vended = vends && !masked ? await vendUnlessRefused(() => vend.take(placed)) : undefined
  if (!masked) noteRawRead(surface, table, 'load', sight)
  if (!masked && (vended !== undefined || shown.vended)) noteRawRead(surface, table, 'credentials', sight)
  if (vended !== undefined) return jsonResponse(200, withCredentials(body, table, vended), uncached)
  const signing =
    signs && !masked && !isOutsideRoots ? await signingOf(surface, owner, loaded.body, sight) : undefined
  if (signing !== undefined) return jsonResponse(200, withSigning(body, table, signing), uncached)
  return jsonResponse(
    200,
    body,
    loaded.etag === undefined || !isConditional || masked ? {} : { etag: loaded.etag },
  )
}

/** Keeps what a client loaded, because its next commit can be pinned to it. */
function noteLoaded({ parts, tenant, upstream }: SurfaceRequest, table: TableRef, body: Uint8Array): void {
  const { catalog, credential } = upstream
  if (catalog.checksRequirements) inNextTurn(() => parts.tables.loaded(tenant, credential, table, body))
}

function noteConfirmed(
  { parts, tenant, upstream }: SurfaceRequest,
  table: TableRef,
  etag: string | undefined,
): void {
  if (etag !== undefined) parts.tables.confirmed(tenant, upstream.credential, table, etag)
}

/** loadView: like loadTable, but unconditional. */
export async function loadView(surface: SurfaceRequest): Promise<Response> {
  const body = await completeReply(surface, ['referenced-by']).catch(async (thrown: unknown) => {
    await assertViewOpen(surface)
    throw thrown
  })
  await assertViewOpen(surface, body)
  await assertOneViewName(surface, tableRefOf(surface), body)
  const disclosed = await discloseReply(body, tableMembers, { vended: false, masked: false, whole: true })
  return jsonResponse(200, disclosed.body)
}

/** viewExists */
export async function viewExists(surface: SurfaceRequest): Promise<Response> {
  await assertViewOpen(surface)
  return await passThrough(surface)
}

/** loadCredentials, if the catalog vends them, nothing is masked and the table's folders are its own. */
export async function loadCredentials(surface: SurfaceRequest): Promise<Response> {
  const { upstream } = surface
  const mode = vendingModeOf(upstream.credential)
  if (mode === 'none' || mode === 'sign')
    throw new Fault('not_acceptable', 'This catalog does not vend credentials.')
  const table = tableRefOf(surface)
  const asked = issuesCredentials(surface) ? askTerritory(surface, table) : undefined
  const { loaded, sight } = await assertUnmasked(surface)
  const { owner, territory, isOutside, isOutsideRoots } = await feedLoaded(surface, table, loaded)
  assertUnmaskedBy(sightOfTable(sight, owner.tableUuid), table)
  if (asked !== undefined) {
    const vended = await vendTable(surface, owner, await territory(asked), sight)
    noteRawRead(surface, table, 'credentials', sight)
    const location = Buffer.from(topLevelMembers(loaded).get('metadata-location') ?? '').toString()
    return jsonResponse(200, credentialsReply(table, vended, location), uncached)
  }
  if (isOutsideRoots) throw outsideRoots(table)
  if (await isOutside()) throw outsideTerritory(table)
  if (sight.untilMs !== undefined)
    throw new Fault(
      'policy_denied',
      'policy denied: access to the table is granted for a time, and credentials of the upstream catalog may last longer. Read it by SQL, or plan the scan',
    )
  const body = await completeReply(surface, ['planId', 'referenced-by'])
  const disclosed = await discloseReply(body, [], { vended: true, masked: false })
  noteRawRead(surface, table, 'credentials', sight)
  return jsonResponse(200, disclosed.body)
}

/** Scan planning, only if nothing is masked, because it names the table's files, and only of files that are its own. */
export async function planScan(surface: SurfaceRequest): Promise<Response> {
  const isOwn = plansScans(surface.upstream)
  const isCancel = surface.request.method === 'DELETE'
  if (isOwn && isCancel) return cancelOwn(surface)
  const { loaded, sight } = await assertUnmasked(surface)
  if (isCancel) return await passThrough(surface)
  const table = tableRefOf(surface)
  const { owner, isOutside, isOutsideRoots } = await feedLoaded(surface, table, loaded)
  assertUnmaskedBy(sightOfTable(sight, owner.tableUuid), table)
  if (isOutsideRoots) throw outsideRoots(table)
  if (isOwn) {
    if (await isOutside()) throw outsideTerritory(table)
    return await planOwn(surface, { owner, loaded, sight })
  }
  const disclosure = await readDisclosureOf(surface, table)
  const shown = { ...disclosure, vended: disclosure.vended && !(await isOutside()) }
  const reply = await completeReply(surface, [])
  await assertPlannedInside(surface, owner, reply)
  const { body } = await discloseReply(reply, planMembers, shown)
  noteRawRead(surface, table, 'plan', sight)
  if (shown.vended) noteRawRead(surface, table, 'credentials', sight)
  return jsonResponse(200, body)
}

/** The refusal for a table of which some folder is below no storage root, or whose catalog has none. */
function outsideRoots(table: TableRef): Fault {
  return new Fault(
    'policy_denied',
    `policy denied: a folder of ${tableName(table)} is outside of the storage roots of its catalog, so its files are not given out. An administrator can register it in storage_roots`,
  )
}

/** The refusal to vend for a table of which some folder is not its own. Names no other table. */
function outsideTerritory(table: TableRef): Fault {
  return new Fault(
    'policy_denied',
    `policy denied: a folder of ${tableName(table)} is outside of its territory, so its files are not given out`,
  )
}

/**
 * Loads the table, because only the reply to a load shows whether the upstream restricts reading.
 * @returns the upstream's reply, and the sight on which that rests
 * @throws Fault `policy_denied` if a filter or mask applies, or the upstream restricts reading
 */
async function assertUnmasked(
  surface: SurfaceRequest,
): Promise<{ readonly loaded: Uint8Array; readonly sight: FileSight }> {
  const table = tableRefOf(surface)
  const { sight } = await readDisclosureOf(surface, table)
  assertUnmaskedBy(sight, table)
  const { request, upstream } = surface
  const loaded = await upstream.catalog.loadTable(table, { signal: request.signal, snapshots: 'refs' })
  if (loaded.status !== 'loaded' || isRestricted(topLevelMembers(loaded.body)))
    throw new Fault(
      'policy_denied',
      `policy denied: the upstream catalog restricts reading ${tableName(table)}, so its files are not given out`,
    )
  return { loaded: loaded.body, sight }
}

/** @throws Fault `policy_denied` */
function assertUnmaskedBy({ masked, demands }: FileSight, table: TableRef): void {
  if (demands !== undefined) throw purposeDemanded(demands)
  if (masked)
    throw new Fault(
      'policy_denied',
      `policy denied: row filters or column masks of ${tableName(table)} apply, so its files are not given out. ${readBySql} Access for a time: ${accessCommand({ table })}`,
    )
}

async function completeReply(surface: SurfaceRequest, queryNames: readonly QueryName[]): Promise<Uint8Array> {
  const { request, upstream, path } = surface
  const body = request.method === 'POST' ? surface.body : undefined
  if (body !== undefined) objectOf(body)
  const response = await upstream.catalog.forward({
    method: request.method as 'GET' | 'POST',
    path: upstreamPath(path),
    query: queryOf(surface, queryNames),
    body: body?.bytes,
    accessDelegation: issuesCredentials(surface) ? undefined : delegationOf(surface),
    idempotencyKey: request.headers.get('idempotency-key') ?? undefined,
    mutates: false,
    whole: true,
    subject: subjectOf(surface),
    signal: request.signal,
  })
  return response.body as Uint8Array
}
