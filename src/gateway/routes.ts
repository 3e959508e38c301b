/** Mounts the gateway under /v1/iceberg: each request goes to the client surface or to the literal paths. */

import { Elysia } from 'elysia'
import { requireSession } from '../auth/guard.ts'
import type { GatewayParts } from './base/parts.ts'
import { prefixOf } from './base/path.ts'
import { isClientPath } from './client-surface/client-path.ts'
import { answerClient, type SurfaceAuth } from './client-surface/client-surface.ts'
import { answerLiteral } from './literal-surface/literal-surface.ts'

/** The routes under /v1/iceberg. The pipeline reads bodies; the framework never does. */
export function gatewayRoutes(parts: GatewayParts, auth: SurfaceAuth) {
  return new Elysia({ name: 'gateway' }).all(
    '/v1/iceberg/*',
    ({ request }) => {
      const { pathname } = new URL(request.url)
      const findSession = () => requireSession(request, auth.findSession, 'commit', prefixOf(pathname))
      return parts.commits.during(() =>
        isClientPath(pathname)
          ? answerClient(parts, request, auth)
          : answerLiteral(parts, request, findSession, auth),
      )
    },
    { parse: 'none', detail: { hide: true } },
  )
}
