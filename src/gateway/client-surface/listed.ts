/**
 * Lists what a caller may know of among what the upstream lists: a page is full of it, as long as there is any and
 * looking at it costs little. It does not decide what that is.
 */

import { Fault } from '../../base/fault.ts'
import { isJsonObject, type JsonValue, jsonObject, parseJson, stringifyJson } from '../../base/json.ts'
import { upstreamPath } from './client-path.ts'
import { pageTokenCharsMax, type QueryName, queryOf } from './pass-through.ts'
import { jsonResponse, type SurfaceRequest, subjectOf } from './surface-request.ts'

/** Entries of one request to the upstream, and requests for one page. */
export const listedMax = 200
const requestsMax = 100
export const pages = ['pageToken', 'pageSize'] as const

interface Listing {
  /** The member of the reply that holds the entries. */
  readonly member: 'identifiers' | 'namespaces'
  /** Query parameters beside those of pages. */
  readonly narrows?: readonly QueryName[]
  /**
   * Bounds of one request where looking at an entry costs much. It then gives a page that is not full, with the place
   * where to go on, and the upstream is always asked for pages.
   */
  readonly looks?: { readonly max: number; readonly atOnce: number }
  /** Whether each entry is shown; at most {@link listedMax} or `looks.atOnce` are asked for at a time. */
  readonly shows: (entries: readonly JsonValue[]) => Promise<readonly boolean[]>
}

/** Answers a list. @throws Fault `bad_request` for a token that is none, `upstream_failed` */
export async function answerListed(surface: SurfaceRequest, listing: Listing): Promise<Response> {
  const { member, narrows = [], looks } = listing
  const { pageSize, ...narrowed } = queryOf(surface, ['pageSize', ...narrows])
  const pageToken = surface.query.get('pageToken') ?? undefined
  const isPaged = looks !== undefined || pageSize !== undefined || pageToken !== undefined
  const sizeMax = pageSize === undefined ? Number.POSITIVE_INFINITY : Number(pageSize)
  const shown: JsonValue[] = []
  let looksLeft = looks?.max ?? Number.POSITIVE_INFINITY
  let place: Place | undefined = pageToken ? placeOf(pageToken) : { token: pageToken, skip: 0 }
  for (let requests = 0; place !== undefined && requests < requestsMax; requests++) {
    if (shown.length >= sizeMax || looksLeft <= 0) break
    const { token, skip }: Place = place
    const page = await pageAt(surface, { member, narrowed, token, isPaged })
    const most = { shown: sizeMax - shown.length, looks: looksLeft }
    const seen = await lookAt(page.entries.slice(skip), listing, most)
    for (const entry of seen.shown) shown.push(entry)
    looksLeft -= seen.count
    const behind: number = skip + seen.count
    if (behind < page.entries.length) place = { token, skip: behind }
    else place = page.next === undefined ? undefined : { token: page.next, skip: 0 }
  }
  const next = place === undefined ? null : tokenOf(place)
  return jsonResponse(200, stringifyJson(jsonObject({ 'next-page-token': next, [member]: shown })))
}

/** A page of the upstream, and how many of its entries are behind. */
interface Place {
  readonly token: string | undefined
  readonly skip: number
}

/** Characters of a token of ours: JSON has up to 6 bytes for a character of the upstream's, base64 makes 4 of 3. */
const placeCharsMax = Math.ceil(((pageTokenCharsMax * 6 + 32) * 4) / 3)

/** @throws Fault `upstream_failed` for a place that {@link placeOf} would refuse */
function tokenOf({ token, skip }: Place): string {
  if (token !== undefined && token.length > pageTokenCharsMax)
    throw new Fault('upstream_failed', 'The upstream catalog’s page token is too long.')
  return Buffer.from(JSON.stringify([token ?? null, skip])).toString('base64url')
}

function placeOf(text: string): Place {
  try {
    const isShort = text.length <= placeCharsMax
    const [token, skip]: unknown[] = isShort ? JSON.parse(Buffer.from(text, 'base64url').toString()) : []
    const isToken = token === null || (typeof token === 'string' && token.length <= pageTokenCharsMax)
    if (isToken && Number.isSafeInteger(skip) && Number(skip) >= 0)
      return { token: token ?? undefined, skip: Number(skip) }
  } catch {
    // Said below.
  }
  throw new Fault('bad_request', 'The query parameter pageToken is malformed.')
}

interface Asked extends Pick<Listing, 'member'> {
  readonly narrowed: Readonly<Record<string, string>>
  readonly token: string | undefined
  readonly isPaged: boolean
}

async function pageAt(
  surface: SurfaceRequest,
  { member, narrowed, token, isPaged }: Asked,
): Promise<{ readonly entries: readonly JsonValue[]; readonly next: string | undefined }> {
  const { request, upstream, path } = surface
  // An empty token asks for the first page.
  const page = isPaged || token !== undefined ? { pageToken: token ?? '', pageSize: String(listedMax) } : {}
  const { body } = await upstream.catalog.forward({
    method: 'GET',
    path: upstreamPath(path),
    query: { ...narrowed, ...page },
    mutates: false,
    whole: true,
    subject: subjectOf(surface),
    signal: request.signal,
  })
  const reply = parseJson(body as Uint8Array)
  const entries = isJsonObject(reply) ? reply.get(member) : undefined
  const next = isJsonObject(reply) ? reply.get('next-page-token') : undefined
  if (!Array.isArray(entries))
    throw new Fault('upstream_failed', 'The upstream catalog’s list cannot be read.')
  return {
    entries: entries as readonly JsonValue[],
    next: typeof next === 'string' && next !== '' ? next : undefined,
  }
}

/** The entries that are shown of the first ones, and how many are behind with them. */
async function lookAt(
  entries: readonly JsonValue[],
  { shows, looks }: Listing,
  most: { readonly shown: number; readonly looks: number },
): Promise<{ readonly shown: readonly JsonValue[]; readonly count: number }> {
  const shown: JsonValue[] = []
  const end = Math.min(entries.length, most.looks)
  const atOnce = looks?.atOnce ?? listedMax
  for (let from = 0; from < end; from += atOnce) {
    const asked = entries.slice(from, Math.min(end, from + atOnce))
    const open = await shows(asked)
    for (const [index, entry] of asked.entries()) {
      if (open[index] !== true) continue
      // Behind the last one that fits, only what is not shown may be left out of the next page.
      if (shown.length === most.shown) return { shown, count: from + index }
      shown.push(entry)
    }
  }
  return { shown, count: end }
}
