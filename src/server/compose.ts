/** All routes as one handler. */

import { type AnyElysia, Elysia } from 'elysia'

export interface Routes {
  readonly handle: (request: Request) => Promise<Response>
  /** Every method and path that is served; for the test that enumerates them. */
  readonly list: () => readonly { readonly method: string; readonly path: string }[]
}

/** Puts the route groups of the features together, in this order. */
export function composeRoutes(groups: readonly AnyElysia[]): Routes {
  const app: AnyElysia = groups.reduce<AnyElysia>((all, group) => all.use(group), new Elysia())
  return {
    handle: async (request) => await app.handle(request),
    list: () => app.routes.map(({ method, path }) => ({ method, path })),
  }
}
