/** Declares the metrics of the process as a service: its build, its HTTP listener, its pool, its upstreams, its disks. */

import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { type AuditMetrics, auditMetrics } from './audit-metrics.ts'

const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 90]

/** Parts of the public listener, by the path of a request. */
const httpSurfaces = [
  'gateway',
  'api',
  'admin',
  'lineage',
  'webhook',
  'graphql',
  'mcp',
  'probe',
  'other',
] as const
type HttpSurface = (typeof httpSurfaces)[number]

/** Which surface a path belongs to. */
export function surfaceOf(pathname: string): HttpSurface {
  if (pathname === '/livez' || pathname === '/healthz' || pathname === '/readyz') return 'probe'
  const [, first = '', second = ''] = pathname.split('/')
  if (first === 'v1')
    return second === 'iceberg'
      ? 'gateway'
      : second === 'lineage'
        ? 'lineage'
        : second === 'webhooks'
          ? 'webhook'
          : 'other'
  const roots = { api: 'api', admin: 'admin', webhooks: 'webhook', graphql: 'graphql', mcp: 'mcp' } as const
  return Object.hasOwn(roots, first) ? roots[first as keyof typeof roots] : 'other'
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** A method as a label; callers may send any word. */
export function methodLabel(method: string): string {
  return methods.has(method) ? method : 'other'
}

/** What an upstream is to the service. */
export type UpstreamRole = 'catalog' | 'trino'

/** `unreachable`: it did not see the request. `broken`: it may have, and no answer came. */
const upstreamOutcomes = ['2xx', '3xx', '4xx', '5xx', 'unreachable', 'broken'] as const
export type UpstreamOutcome = (typeof upstreamOutcomes)[number]

export interface ServiceMetrics extends AuditMetrics {
  readonly buildInfo: Gauge<'version' | 'runtime' | 'store'>
  /** By the part of the listener, until the head of the response is ready. */
  readonly httpRequestSeconds: Histogram<'surface' | 'method' | 'code'>
  readonly httpRequestsUnderWay: Gauge
  readonly upstreamRequestSeconds: Histogram<'upstream' | 'outcome'>
  readonly poolConnections: Gauge<'state'>
  readonly poolConnectionsMax: Gauge
  readonly poolWaiting: Gauge
  /** Borrowers that got no connection in time. */
  readonly poolRefused: Counter
  readonly diskFreeBytes: Gauge<'directory'>
  readonly diskSizeBytes: Gauge<'directory'>
}

/** The metrics of the service, in a registry. */
export function serviceMetrics(registry: Registry): ServiceMetrics {
  const registers = [registry]
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers })
  const upstreamRequestSeconds = new Histogram({
    name: 'svc_upstream_request_duration_seconds',
    help: 'Time of one request to an upstream until the head of its answer, in seconds, by upstream and outcome.',
    labelNames: ['upstream', 'outcome'],
    buckets: requestBuckets,
    registers,
  })
  const poolConnections = new Gauge({
    name: 'svc_store_connections',
    help: 'Connections of the pool to the database, by state.',
    labelNames: ['state'],
    registers,
  })
  for (const upstream of ['catalog', 'trino'] as const)
    for (const outcome of upstreamOutcomes) upstreamRequestSeconds.zero({ upstream, outcome })
  return {
    ...auditMetrics(registry),
    buildInfo: new Gauge({
      name: 'svc_build_info',
      help: 'Always 1; its labels say what runs.',
      labelNames: ['version', 'runtime', 'store'],
      registers,
    }),
    httpRequestSeconds: new Histogram({
      name: 'svc_http_request_duration_seconds',
      help: 'Time of one request on the HTTP listener until the head of its response, in seconds, by surface, method and status.',
      labelNames: ['surface', 'method', 'code'],
      buckets: requestBuckets,
      registers,
    }),
    httpRequestsUnderWay: gauge(
      'svc_http_requests_under_way',
      'Requests on the HTTP listener without a response yet.',
    ),
    upstreamRequestSeconds,
    poolConnections,
    poolConnectionsMax: gauge('svc_store_connections_max', 'Connections that the pool may open.'),
    poolWaiting: gauge('svc_store_waiting', 'Requests that wait for a connection of the pool.'),
    poolRefused: new Counter({
      name: 'svc_store_refused_total',
      help: 'Requests that got no connection of the pool in time.',
      registers,
    }),
    diskFreeBytes: new Gauge({
      name: 'svc_disk_free_bytes',
      help: 'Free bytes of the disk of a directory that the service writes to.',
      labelNames: ['directory'],
      registers,
    }),
    diskSizeBytes: new Gauge({
      name: 'svc_disk_size_bytes',
      help: 'Bytes of the disk of a directory that the service writes to.',
      labelNames: ['directory'],
      registers,
    }),
  }
}
