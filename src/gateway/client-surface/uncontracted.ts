/**
 * Keeps tables without an active contract from callers to whom the tenant's setting denies them
 * (docs/reference/contracts.md). A table that does not exist has no contract either, so both get one answer.
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
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import { opensUncontracted } from '../../core/uncontracted.ts'
import { readSettings } from '../../store/contract/read-settings.ts'
import { loadGoverned } from '../../store/governance/load-governed.ts'
import { sightOf } from '../stages/masked.ts'
import { ownTable } from '../stages/own-names.ts'
import { upstreamPath } from './client-path.ts'
import { passThrough, queryOf } from './pass-through.ts'
import {
  isDenied,
  jsonResponse,
  type SurfaceRequest,
  subjectOf,
  tableRefOf,
  withoutContract,
} from './surface-request.ts'

/** Before an operation that tells something of the table in the path. @throws Fault `policy_denied`, `unavailable` */
export async function assertOpen(surface: SurfaceRequest): Promise<void> {
  const { parts, tenant, identified, mayCommit } = surface
  const table = tableRefOf(surface)
  if (isDenied(await sightOf(parts, tenant, table, identified), mayCommit)) throw withoutContract(table)
}

/** Tables of one request to the upstream, and requests for one page. */
const listedMax = 200
const requestsMax = 100
const pages = ['pageToken', 'pageSize'] as const

/** listTables: a page is full of tables that the caller may have, as long as there are any. */
export async function listTables(surface: SurfaceRequest): Promise<Response> {
  const { parts, tenant, mayCommit } = surface
  const { uncontracted } = await readSettings(parts.store, tenant)
  if (opensUncontracted(uncontracted, mayCommit)) return await passThrough(surface, pages)
  const { pageSize, pageToken } = queryOf(surface, pages)
  const sizeMax = pageSize === undefined ? Number.POSITIVE_INFINITY : Number(pageSize)
  let place: Place | undefined = pageToken ? placeOf(pageToken) : { token: pageToken, skip: 0 }
  const identifiers: JsonObject[] = []
  for (
    let requests = 0;
    place !== undefined && identifiers.length < sizeMax && requests < requestsMax;
    requests++
  ) {
    const { token, skip }: Place = place
    const page = await tablesAt(surface, token, pageSize !== undefined || pageToken !== undefined)
    const open = await openAmong(surface, page.identifiers.slice(skip))
    const taken = open.slice(0, sizeMax - identifiers.length)
    identifiers.push(...taken.map(({ identifier }) => identifier))
    const last = taken.length < open.length ? taken.at(-1) : undefined
    if (last !== undefined) place = { token, skip: skip + last.index + 1 }
    else place = page.next === undefined ? undefined : { token: page.next, skip: 0 }
  }
  const next = place === undefined ? null : tokenOf(place)
  return jsonResponse(200, stringifyJson(jsonObject({ 'next-page-token': next, identifiers })))
}

/** A page of the upstream, and how many of its tables are behind. */
interface Place {
  readonly token: string | undefined
  readonly skip: number
}

function tokenOf({ token, skip }: Place): string {
  return Buffer.from(JSON.stringify([token ?? null, skip])).toString('base64url')
}

function placeOf(text: string): Place {
  try {
    const [token, skip]: unknown[] = JSON.parse(Buffer.from(text, 'base64url').toString())
    if ((token === null || typeof token === 'string') && Number.isSafeInteger(skip) && Number(skip) >= 0)
      return { token: token ?? undefined, skip: Number(skip) }
  } catch {
    // Said below.
  }
  throw new Fault('bad_request', 'The query parameter pageToken is malformed.')
}

async function tablesAt(
  surface: SurfaceRequest,
  token: string | undefined,
  isPaged: boolean,
): Promise<{ readonly identifiers: readonly JsonObject[]; readonly next: string | undefined }> {
  const { request, upstream, path } = surface
  const { body } = await upstream.catalog.forward({
    method: 'GET',
    path: upstreamPath(path),
    // An empty token asks for the first page.
    query: isPaged || token !== undefined ? { pageToken: token ?? '', pageSize: String(listedMax) } : {},
    mutates: false,
    whole: true,
    subject: subjectOf(surface),
    signal: request.signal,
  })
  const reply = parseJson(body as Uint8Array)
  const listed = isJsonObject(reply) ? reply.get('identifiers') : undefined
  const next = isJsonObject(reply) ? reply.get('next-page-token') : undefined
  if (!Array.isArray(listed) || !listed.every((one: JsonValue) => isJsonObject(one)))
    throw new Fault('upstream_failed', 'The upstream catalog’s list of tables cannot be read.')
  return {
    identifiers: listed as readonly JsonObject[],
    next: typeof next === 'string' && next !== '' ? next : undefined,
  }
}

/** Those with an active contract. */
async function openAmong(
  { parts, tenant, upstream }: SurfaceRequest,
  identifiers: readonly JsonObject[],
): Promise<readonly { readonly identifier: JsonObject; readonly index: number }[]> {
  const refs = identifiers.map((identifier) => {
    const ref = refOf(identifier)
    return ref && ownTable(upstream, ref)
  })
  const contracted = new Set<string>()
  for (let from = 0; from < refs.length; from += listedMax) {
    const asked = refs.slice(from, from + listedMax).flatMap((ref) => ref ?? [])
    for (const [key, { contract }] of (await loadGoverned(parts.store, tenant, asked)).governances)
      if (contract !== undefined) contracted.add(key)
  }
  return identifiers.flatMap((identifier, index) => {
    const ref = refs[index]
    return ref !== undefined && contracted.has(tableKey(ref)) ? [{ identifier, index }] : []
  })
}

function refOf(identifier: JsonObject): TableRef | undefined {
  const [levels, name] = [identifier.get('namespace'), identifier.get('name')]
  return Array.isArray(levels) && typeof name === 'string'
    ? { namespace: levels.map(String), name }
    : undefined
}
