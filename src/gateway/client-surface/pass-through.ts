/** Forwards operations that change nothing and whose replies hold no configuration. Which of them a caller may use is judged before. */

import { Fault } from '../../base/fault.ts'
import { namespaceLevels, upstreamPath } from './client-path.ts'
import { jsonResponse, type SurfaceRequest, subjectOf } from './surface-request.ts'

/**
 * Forwards an operation whose reply holds no configuration.
 * @param queryNames the query parameters that it supports
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
  return request.method === 'GET' ? jsonResponse(response.status, response.body) : jsonResponse(204, null)
}

/** Characters of a page token of an upstream. */
export const pageTokenCharsMax = 4_096

/** The query parameters that are forwarded, each with its check. */
const queryRules = {
  pageToken: (text: string) => text.length <= pageTokenCharsMax,
  pageSize: (text: string) => /^[1-9]\d{0,8}$/.test(text),
  parent: (text: string) => namespaceLevels(text).length > 0,
  snapshots: (text: string) => text === 'all' || text === 'refs',
  planId: (text: string) => /^[A-Za-z0-9._~-]{1,1024}$/.test(text),
  'referenced-by': (text: string) => text.length <= 4_096,
} as const
export type QueryName = keyof typeof queryRules

/** The named parameters of a request. @throws Fault `bad_request` */
export function queryOf(
  { query }: SurfaceRequest,
  names: readonly QueryName[],
): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {}
  for (const name of names) {
    const value = query.get(name)
    if (value === null || (value === '' && name === 'parent')) continue
    if (!queryRules[name](value)) throw new Fault('bad_request', `The query parameter ${name} is malformed.`)
    kept[name] = value
  }
  return kept
}
