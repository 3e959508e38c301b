/** Composes the route groups of all features into one handler, with one error response and one OpenAPI document. */

import { type AnyElysia, Elysia } from 'elysia'
import { Fault, toFault } from '../base/fault.ts'
import { wrongMethod } from '../http/answer.ts'
import { errorResponse } from '../http/fault-response.ts'
import { pathMatches } from '../http/operation-path.ts'
import { type DescribedRoute, openApiDocument, type RouteDetail } from './open-api.ts'

export interface Routes {
  readonly handle: (request: Request) => Promise<Response>
  /** Every served method and path with its description, for the tests that enumerate routes. */
  readonly list: () => readonly DescribedRoute[]
}

/**
 * Composes the route groups of the features, in this order.
 * @param onFault receives each error that no feature caught; the client sees only its public message
 */
export function composeRoutes(groups: readonly AnyElysia[], onFault: (fault: Fault) => void): Routes {
  // With standardHostname, a host of up to three characters would lose part of the path.
  const root = new Elysia({ handler: { standardHostname: false } })
  root.onError({ as: 'global' }, ({ code, error, request }) => {
    if (code === 'NOT_FOUND') return missing(app, request)
    if (code === 'PARSE' || code === 'VALIDATION')
      return errorResponse(new Fault('bad_request', 'The request is malformed.'))
    const fault = toFault(error)
    onFault(fault)
    return errorResponse(fault)
  })
  // The router turns a segment that is not percent-encoded UTF-8 into null, which would pass for the name "null".
  root.onTransform({ as: 'global' }, ({ params }) => {
    for (const name in params) params[name] ??= ''
  })
  // GET /api/docs shows it.
  root.get('/api/v1/openapi.json', () => Response.json(document), { detail: { hide: true } })
  const app: AnyElysia = groups.reduce<AnyElysia>((all, group) => all.use(group), root)
  const routes = app.routes.map(({ method, path, hooks }) => ({
    method,
    path,
    detail: (hooks as { readonly detail?: RouteDetail }).detail,
  }))
  const document = openApiDocument(routes)
  return {
    handle: async (request) => await app.handle(request),
    list: () => routes,
  }
}

function missing(app: AnyElysia, request: Request): Response {
  const { pathname } = new URL(request.url)
  const routes = app.routes.filter(({ path }) => pathMatches(path, pathname))
  if (routes.length === 0) return errorResponse(new Fault('not_found', 'There is no such route.'))
  return wrongMethod(routes.map(({ method }) => method))
}
