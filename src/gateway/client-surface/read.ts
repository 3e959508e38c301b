/** Operations that change nothing: passed on as raw bytes, save where an answer may hold configuration. */

import { Fault } from '../../base/fault.ts'
import { tableName } from '../../core/table-ref.ts'
import { topLevelMembers } from '../../wire/iceberg/members.ts'
import { isRestricted } from '../../wire/iceberg/read-restrictions.ts'
import { discloseAnswer, planMembers, tableMembers } from '../base/disclosure.ts'
import { namespaceLevels, upstreamPath } from './client-path.ts'
import { defaultOperations, endpointOf, type OperationId, operations } from './operations.ts'
import {
  answer,
  delegationOf,
  disclosureOf,
  nameOf,
  objectOf,
  type SurfaceRequest,
  subjectOf,
} from './surface-request.ts'

/**
 * The configuration of the client surface itself: what is served, and no address, prefix or secret.
 * `commitTransaction` is served but not listed: clients take it to be atomic, which it is not. No
 * `idempotency-key-lifetime` is promised, whatever the upstream keeps: a repeat is judged like any other commit, and
 * a governed table has moved on since the first.
 */
export async function getConfig({ upstream, request }: SurfaceRequest): Promise<Response> {
  const { endpoints } = await upstream.catalog.offer({ signal: request.signal })
  const { credentialVending } = upstream.catalog.capabilities()
  const unlisted: ReadonlySet<OperationId> = new Set([
    'getConfig',
    'getToken',
    'commitTransaction',
    ...(credentialVending ? [] : (['loadCredentials'] as const)),
  ])
  const served = operations.filter(
    ({ id, treatment, method, path }) =>
      treatment !== 'refused' &&
      !unlisted.has(id) &&
      (treatment === 'own' ||
        (endpoints?.includes(endpointOf({ method, path })) ?? defaultOperations.has(id))),
  )
  return answer(
    200,
    JSON.stringify({
      defaults: {},
      overrides: {},
      endpoints: served.map(endpointOf),
    }),
  )
}

/** Client metrics are taken and let go. */
export async function reportMetrics(): Promise<Response> {
  return answer(204, null)
}

/**
 * An operation whose answer holds no configuration.
 * @param queryNames the parameters that it takes
 */
export async function passThrough(
  surface: SurfaceRequest,
  queryNames: readonly QueryName[] = [],
): Promise<Response> {
  const { request, upstream, path } = surface
  const response = await upstream.catalog.forward({
    method: request.method as 'GET' | 'HEAD' | 'DELETE',
    path: upstreamPath(path),
    query: queryOf(surface, queryNames),
    mutates: false,
    subject: subjectOf(surface),
    signal: request.signal,
  })
  return request.method === 'GET' ? answer(response.status, response.body) : answer(204, null)
}

/** loadTable: conditional, with the client's choice of snapshots, stripped of the upstream's configuration. */
export async function loadTable(surface: SurfaceRequest): Promise<Response> {
  const { request, upstream } = surface
  const table = nameOf(surface)
  const { snapshots } = queryOf(surface, ['snapshots'])
  const disclosure = await disclosureOf(surface, table)
  // A masked answer differs from others of the same metadata: it is neither conditional nor named by an ETag.
  const ifNoneMatch = disclosure.masked ? undefined : (request.headers.get('if-none-match') ?? undefined)
  const loaded = await upstream.catalog.loadTable(table, {
    signal: request.signal,
    ifNoneMatch,
    snapshots: snapshots === 'refs' || snapshots === 'all' ? snapshots : undefined,
    accessDelegation: disclosure.vended ? delegationOf(surface) : undefined,
  })
  if (loaded.status === 'not-modified')
    return new Response(null, { status: 304, headers: { etag: ifNoneMatch ?? '' } })
  const { body, masked } = await discloseAnswer(loaded.body, tableMembers, disclosure)
  return answer(200, body, loaded.etag === undefined || masked ? {} : { etag: loaded.etag })
}

/** loadView: as loadTable, without conditions. */
export async function loadView(surface: SurfaceRequest): Promise<Response> {
  const body = await wholeAnswer(surface, ['referenced-by'])
  const disclosed = await discloseAnswer(body, tableMembers, { vended: false, masked: false, whole: true })
  return answer(200, disclosed.body)
}

/** loadCredentials, where the catalog vends and nothing is masked. */
export async function loadCredentials(surface: SurfaceRequest): Promise<Response> {
  const { upstream } = surface
  if (!upstream.catalog.capabilities().credentialVending)
    throw new Fault('not_acceptable', 'This catalog does not vend credentials.')
  await assertUnmasked(surface)
  const body = await wholeAnswer(surface, ['planId', 'referenced-by'])
  const disclosed = await discloseAnswer(body, [], { vended: true, masked: false })
  return answer(200, disclosed.body)
}

/** Scan planning, which names the files of a table: only where nothing is masked. */
export async function planScan(surface: SurfaceRequest): Promise<Response> {
  await assertUnmasked(surface)
  if (surface.request.method === 'DELETE') return await passThrough(surface)
  const disclosure = await disclosureOf(surface, nameOf(surface))
  const { body } = await discloseAnswer(await wholeAnswer(surface, []), planMembers, disclosure)
  return answer(200, body)
}

/**
 * @throws Fault `policy_denied` where a filter or mask applies, or the upstream restricts reading; only its answer to a
 *   load says that
 */
async function assertUnmasked(surface: SurfaceRequest): Promise<void> {
  const table = nameOf(surface)
  const { masked } = await disclosureOf(surface, table)
  if (masked)
    throw new Fault(
      'policy_denied',
      `policy denied: row filters or column masks of ${tableName(table)} apply, so its files are not given out`,
    )
  const { request, upstream } = surface
  const loaded = await upstream.catalog.loadTable(table, { signal: request.signal, snapshots: 'refs' })
  if (loaded.status !== 'loaded' || isRestricted(topLevelMembers(loaded.body)))
    throw new Fault(
      'policy_denied',
      `policy denied: the upstream catalog restricts reading ${tableName(table)}, so its files are not given out`,
    )
}

async function wholeAnswer(surface: SurfaceRequest, queryNames: readonly QueryName[]): Promise<Uint8Array> {
  const { request, upstream, path } = surface
  const body = request.method === 'POST' ? surface.body : undefined
  if (body !== undefined) objectOf(body)
  const response = await upstream.catalog.forward({
    method: request.method as 'GET' | 'POST',
    path: upstreamPath(path),
    query: queryOf(surface, queryNames),
    body: body?.bytes,
    accessDelegation: delegationOf(surface),
    idempotencyKey: request.headers.get('idempotency-key') ?? undefined,
    mutates: false,
    subject: subjectOf(surface),
    signal: request.signal,
  })
  try {
    return await new Response(response.body as Uint8Array<ArrayBuffer>).bytes()
  } catch (cause) {
    throw new Fault('upstream_failed', 'The upstream catalog broke off its response.', { cause })
  }
}

/** Query parameters that are passed on, each by its rule. */
const queryRules = {
  pageToken: (text: string) => text.length <= 4_096,
  pageSize: (text: string) => /^[1-9]\d{0,8}$/.test(text),
  parent: (text: string) => namespaceLevels(text).length > 0,
  snapshots: (text: string) => text === 'all' || text === 'refs',
  planId: (text: string) => /^[A-Za-z0-9._~-]{1,1024}$/.test(text),
  'referenced-by': (text: string) => text.length <= 4_096,
} as const
export type QueryName = keyof typeof queryRules

function queryOf({ query }: SurfaceRequest, names: readonly QueryName[]): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {}
  for (const name of names) {
    const value = query.get(name)
    if (value === null || (value === '' && name === 'parent')) continue
    if (!queryRules[name](value)) throw new Fault('bad_request', `The query parameter ${name} is malformed.`)
    kept[name] = value
  }
  return kept
}
