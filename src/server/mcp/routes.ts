/** The route of the Model Context Protocol. */

import { Elysia } from 'elysia'
import type { Logger } from 'pino'
import { respondWithFaults } from '../../http/answer.ts'
import { mcpPath } from './server.ts'

/** Serves the protocol with `serve`, which checks the caller itself. */
export function mcpRoutes(serve: (request: Request) => Promise<Response>, log: Logger) {
  const options = { parse: 'none', detail: { hide: true } } as const
  return new Elysia({ name: 'mcp' }).all(
    mcpPath,
    ({ request }: { readonly request: Request }) => respondWithFaults(log, () => serve(request)),
    options,
  )
}
