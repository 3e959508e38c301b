/** The lineage graph and the events of a run as JSON. */

import { Fault } from '../base/fault.ts'
import type { TenantId } from '../core/tenant.ts'
import { pageOf } from '../http/page-query.ts'
import { listRunEvents, type StoredEvent } from '../store/lineage.ts'
import {
  type LineageEdge,
  type LineageNode,
  lineageAround,
  lineageDirections,
} from '../store/lineage-graph.ts'
import { isUuid } from '../store/page.ts'
import type { Store } from '../store/store.ts'
import { nodeName, parseNodeName } from './node-name.ts'

/** GET /api/v1/lineage/graph. @throws Fault `bad_request`, `not_found` */
export async function graphAnswer(store: Store, tenant: TenantId, request: Request): Promise<Response> {
  const query = new URL(request.url).searchParams
  const start = parseNodeName(required(query, 'node'))
  const asked = query.get('direction') ?? 'both'
  const direction = lineageDirections.find((one) => one === asked)
  if (direction === undefined)
    throw new Fault('bad_request', `direction must be one of ${lineageDirections.join(', ')}.`)
  const page = await lineageAround(store, tenant, {
    start,
    direction,
    ...depthOf(query),
    ...pageOf(request),
    signal: request.signal,
  })
  if (page === undefined) throw new Fault('not_found', 'The lineage graph has no such node.')
  const nodes = new Map<string, LineageNode>([[nodeName(start), start]])
  for (const { from, to } of page.items) for (const node of [from, to]) nodes.set(nodeName(node), node)
  return Response.json({
    node: nodeName(start),
    nodes: [...nodes].map(([name, node]) => ({ node: name, ...node })),
    edges: page.items.map(edgeJson),
    ...(page.next !== undefined && { next: page.next }),
  })
}

function edgeJson({ from, to, ...edge }: LineageEdge) {
  return { ...edge, from: nodeName(from), to: nodeName(to) }
}

const runPath = /^\/api\/v1\/lineage\/runs\/(.+)\/([^/]+)$/

/** GET /api/v1/lineage/runs/{producer}/{runId}. @throws Fault `bad_request`, `not_found` */
export async function runAnswer(store: Store, tenant: TenantId, request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url)
  const [, encoded = '', id = ''] = runPath.exec(pathname) ?? []
  const producer = decoded(encoded)
  const runId = id.toLowerCase()
  if (producer === '' || !isUuid(runId))
    throw new Fault('bad_request', 'The path is /api/v1/lineage/runs/{producer}/{runId}; runId is a UUID.')
  const run = { producer, runId }
  const page = await listRunEvents(store, tenant, { ...run, ...pageOf(request) })
  if (page.items.length === 0 && !searchParams.has('after'))
    throw new Fault('not_found', 'There is no event of such a run.')
  return Response.json({
    ...run,
    events: page.items.map(eventJson),
    ...(page.next !== undefined && { next: page.next }),
  })
}

/** Only strict UTF-8 is received, so the text's bytes are the body's. */
function eventJson({ body, ...event }: StoredEvent) {
  return { ...event, body: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body) }
}

function decoded(text: string): string {
  try {
    const producer = decodeURIComponent(text)
    return producer.includes('\0') ? '' : producer
  } catch {
    return ''
  }
}

function required(query: URLSearchParams, name: string): string {
  const value = query.get(name)
  if (value === null || value === '')
    throw new Fault('bad_request', `The query parameter ${name} is required.`)
  return value
}

function depthOf(query: URLSearchParams): { readonly depth?: number } {
  const text = query.get('depth')
  if (text === null) return {}
  if (!/^\d{1,6}$/.test(text)) throw new Fault('bad_request', '`depth` must be a whole number.')
  return { depth: Number(text) }
}
