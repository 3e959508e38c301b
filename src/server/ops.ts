/** Liveness, readiness and metrics (SPEC 4.5). */

import { Elysia } from 'elysia'
import { answer, flag, type Operation, object } from '../base/json-schema.ts'

export interface Health {
  /** Database reachable and a trivial graph query answered. */
  readonly healthy: () => Promise<boolean>
  /** Everything else that must stand before traffic may come: name → whether it does. */
  readonly ready: () => Readonly<Record<string, boolean>>
}

const probe = (summary: string, checks: readonly string[]): Operation => {
  const body = object(Object.fromEntries(checks.map((name) => [name, flag])))
  const responses = { 200: answer('Every check holds', body), 503: answer('One does not', body) }
  return { tags: ['operations'], summary, security: [], responses }
}
const healthDetail = probe('Liveness', ['database'])
const readyDetail = probe('Readiness', ['database', 'policies', 'detection', 'accepting'])

/** GET /healthz and GET /readyz. */
export function opsRoutes(health: Health) {
  return new Elysia({ name: 'ops' })
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
        const checks = { database: await health.healthy(), ...health.ready() }
        return Response.json(checks, { status: Object.values(checks).every(Boolean) ? 200 : 503 })
      },
      { detail: readyDetail },
    )
}

/** The metrics listener: GET /metrics in the Prometheus text format, and nothing else. */
export function listenMetrics(options: {
  readonly hostname: string | undefined
  readonly port: number
  readonly scrape: () => Promise<{ readonly contentType: string; readonly text: string }>
}): Bun.Server<undefined> {
  return Bun.serve({
    ...(options.hostname === undefined ? {} : { hostname: options.hostname }),
    port: options.port,
    // As for the public listener: what is thrown is nobody's to read.
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
