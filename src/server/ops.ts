/** Liveness, readiness and metrics (SPEC 4.5). */

import { Elysia } from 'elysia'

export interface Health {
  /** Database reachable and a trivial graph query answered. */
  readonly healthy: () => Promise<boolean>
  /** Everything else that must stand before traffic may come: name → whether it does. */
  readonly ready: () => Readonly<Record<string, boolean>>
}

/** GET /healthz and GET /readyz. */
export function opsRoutes(health: Health) {
  return new Elysia({ name: 'ops' })
    .get('/healthz', async () => {
      const database = await health.healthy()
      return Response.json({ database }, { status: database ? 200 : 503 })
    })
    .get('/readyz', async () => {
      const checks = { database: await health.healthy(), ...health.ready() }
      return Response.json(checks, { status: Object.values(checks).every(Boolean) ? 200 : 503 })
    })
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
