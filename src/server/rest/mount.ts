/** Serves operations: checks access, reads the input, runs the operation. Refuses unknown paths below /admin. */

import { Elysia } from 'elysia'
import type { Logger } from 'pino'
import type { Admit } from '../../auth/admit.ts'
import { Fault } from '../../base/fault.ts'
import { givesProblem } from '../../core/gives.ts'
import type { Operation, RawContext } from '../../core/operation.ts'
import type { TenantId } from '../../core/tenant.ts'
import { respondWithFaults, wrongMethod } from '../../http/answer.ts'
import type { BoundOperation } from '../../http/declare.ts'
import { pathMatches, routerPaths } from '../../http/operation-path.ts'
import { ownNames } from '../../http/own-names.ts'
import { assertQuery, readInput } from '../../http/read-input.ts'
import { describeOperation } from './describe.ts'

/** Whether all catalogs of a tenant fold names. */
type FoldsAll = (tenant: TenantId) => Promise<boolean>

interface Route {
  readonly request: Request
}

/**
 * The routes of operations. Bodies are read here, never by the framework.
 * @param foldsAll whether all catalogs of a tenant fold names
 * @throws Error for an operation that does not declare what it gives
 */
export function operationRoutes(
  operations: readonly BoundOperation[],
  admit: Admit,
  log: Logger,
  foldsAll: FoldsAll,
) {
  const app = new Elysia({ name: 'operations' })
  for (const operation of operations) {
    requireGives(operation.declaration)
    const options = { parse: 'none', detail: describeOperation(operation.declaration) as object } as const
    const [plain = '', ...open] = routerPaths(operation.declaration.path)
    const handle = ({ request }: Route) =>
      respondWithFaults(log, () => serve(operation, admit, request, foldsAll))
    app.route(operation.declaration.method, plain, handle, options)
    for (const path of [...open, ...(operation.declaration.aliases ?? [])])
      app.route(operation.declaration.method, path, handle, { parse: 'none', detail: { hide: true } })
  }
  return app
}

function requireGives({ name, access, gives }: Operation): void {
  const isRoleDemanded = 'organization' in access || ('roles' in access && access.roles !== undefined)
  const problem = givesProblem(gives, { isRoleDemanded })
  if (problem !== undefined) throw new Error(`The operation ${name} is not served: ${problem}.`)
}

async function serve(
  { declaration: operation, parts }: BoundOperation,
  admit: Admit,
  request: Request,
  foldsAll: FoldsAll,
): Promise<Response> {
  const again = () => admit(request, operation.access)
  const caller = await again()
  const context = { parts, caller, signal: request.signal, request, again } as RawContext<unknown>
  assertQuery(operation, request)
  if ('respond' in operation) return await operation.respond(context)
  const sent = await readInput(operation, request, again)
  // Below /admin the tenant of a request is not the caller's own: there the operation itself folds names.
  const tenant = 'organization' in operation.access ? undefined : caller?.tenant
  const input = tenant === undefined ? sent : await ownNames(operation.input, sent, () => foldsAll(tenant))
  const output = await operation.run(context, input)
  if (operation.output === undefined) return new Response(null, { status: operation.status ?? 204 })
  if (operation.withoutBody !== undefined && output === undefined) return new Response(null, { status: 204 })
  return Response.json(output, { status: operation.status ?? 200 })
}

/**
 * Refuses paths below /admin that are no route. The caller is admitted first, so strangers cannot probe for routes.
 * @param admin the operations below /admin
 */
export function missingAdminRoutes(admin: readonly BoundOperation[], admit: Admit, log: Logger) {
  const missing = ({ request }: Route) =>
    respondWithFaults(log, async () => {
      await admit(request, { organization: 'internal admin' })
      const { pathname } = new URL(request.url)
      const methods = admin.flatMap(({ declaration: { method, path } }) =>
        routerPaths(path).some((one) => pathMatches(one, pathname)) ? [method] : [],
      )
      if (methods.length === 0) throw new Fault('not_found', 'There is no such route.')
      return wrongMethod(methods)
    })
  const unlisted = { parse: 'none', detail: { hide: true } } as const
  return new Elysia({ name: 'admin-missing' })
    .all('/admin', missing, unlisted)
    .all('/admin/*', missing, unlisted)
}
