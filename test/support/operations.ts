/** Makes a handler of the operations of one feature, without the rest of the service. */

import { type AdmitParts, admitter } from '../../src/auth/admit.ts'
import type { Operation } from '../../src/core/operation.ts'
import type { Session, SessionScope } from '../../src/core/session.ts'
import { bind } from '../../src/http/declare.ts'
import { operationRoutes } from '../../src/server/rest/mount.ts'
import { createLogger } from '../../src/telemetry/log.ts'

const log = createLogger({ level: 'silent', destination: { write: () => {} } })

/** Looks up no session, and names no internal admin organization. */
const nobody: AdmitParts = {
  findSession: async () => undefined,
  identify: () => Promise.reject(new Error('not reached')),
  licensed: { require: () => {} },
  internalAdminOrgId: undefined,
  findCreator: async () => undefined,
}

/**
 * Serves operations with the parts that they take.
 * @param middleware in place of the tenant middleware
 */
export function serveOperations<Parts>(
  operations: readonly Operation<Parts>[],
  parts: Parts,
  auth: Partial<AdmitParts> = {},
  middleware?: (request: Request, scope: SessionScope) => Promise<Session | undefined>,
): (request: Request) => Promise<Response> {
  const admit = admitter({ ...nobody, ...auth }, middleware)
  const routes = operationRoutes(bind(operations, parts), admit, log, async () => false)
  return async (request) => await routes.handle(request)
}
