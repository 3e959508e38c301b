/** Serves liveness, readiness and metrics (docs/reference/operations.md 1). */

import { Elysia } from 'elysia'
import { flag, object } from '../http/schemas.ts'
import type { DescribedOperation } from './rest/describe.ts'

export interface Health {
  /** Whether the database runs a trivial graph query. Answers within two seconds. */
  readonly healthy: () => Promise<boolean>
  /** Whether the database takes writes. Answers within two seconds. */
  readonly writable: () => Promise<boolean>
  /** Whether the directory of the journal takes files. Answers within two seconds. */
  readonly journaling: () => Promise<boolean>
  /** Whether some requests wait for a table that is locked, while others go on. Answers within two seconds. */
  readonly degraded: () => Promise<boolean>
  /** The other checks that must pass before traffic may arrive, by name. */
  readonly ready: () => Readonly<Record<string, boolean>>
}

/** A probe is not declared as an operation, because its 503 has the same body as its 200. */
function probe(operationId: string, summary: string, about: string, checks: readonly string[]): object {
  const schema = object(Object.fromEntries(checks.map((name) => [name, flag])))
  // `degraded` is the one that is good when it is false.
  const example = Object.fromEntries(checks.map((name) => [name, name !== 'degraded']))
  const content = { 'application/json': { schema, example } }
  const responses = {
    200: { description: 'Every check passed', content },
    503: { description: 'A check failed', content },
  }
  const gives = { 'x-gives': { nothing: 'service' } } as const
  return {
    operationId,
    tags: ['operations'],
    summary,
    description: `${about} It needs no session.`,
    ...gives,
    security: [],
    responses,
  } satisfies DescribedOperation
}
const liveDetail = probe('get_liveness', 'Whether the process answers', 'It asks nothing else.', ['live'])
const healthDetail = probe('get_health', 'Liveness', 'Whether the database answers.', ['database'])
const readyDetail = probe(
  'get_readiness',
  'Readiness',
  'Whether requests may be sent here, check by check.',
  ['database', 'writes', 'journal', 'policies', 'detection', 'accepting', 'degraded'],
)

/** GET /livez, which asks nothing else, GET /healthz and GET /readyz. */
export function opsRoutes(health: Health) {
  return new Elysia({ name: 'ops' })
    .get('/livez', () => Response.json({ live: true }), { detail: liveDetail })
    .get(
      '/healthz',
      async () => {
        const database = await health.healthy()
        return Response.json({ database }, { status: database ? 200 : 503 })
      },
      { detail: healthDetail },
    )
    .get(
      '/readyz',
      async () => {
        const [database, writes, journal, degraded] = await Promise.all([
          health.healthy(),
          health.writable(),
          health.journaling(),
          health.degraded(),
        ])
        const checks = { database, writes, journal, ...health.ready() }
        const status = Object.values(checks).every(Boolean) ? 200 : 503
        // What does not need the table is served, so traffic may arrive.
        return Response.json({ ...checks, degraded }, { status })
      },
      { detail: readyDetail },
    )
}

/** Starts the metrics listener, which serves GET /metrics in the Prometheus text format and nothing else. */
export function listenMetrics(options: {
  readonly hostname: string | undefined
  readonly port: number
  readonly scrape: () => Promise<{ readonly contentType: string; readonly text: string }>
}): Bun.Server<undefined> {
  return Bun.serve({
    ...(options.hostname === undefined ? {} : { hostname: options.hostname }),
    port: options.port,
    // Unless told otherwise, Bun shares the port with another process.
    reusePort: false,
    // In development mode, Bun answers an uncaught error with a page of source code.
    development: false,
    routes: {
      '/metrics': {
        GET: async () => {
          const { contentType, text } = await options.scrape()
          return new Response(text, { headers: { 'content-type': contentType } })
        },
      },
    },
    fetch: ({ url }) =>
      URL.parse(url)?.pathname === '/metrics'
        ? new Response('Method not allowed.\n', { status: 405, headers: { allow: 'GET' } })
        : new Response('Not found.\n', { status: 404 }),
  })
}
