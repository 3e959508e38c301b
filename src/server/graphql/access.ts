/** Checks a field against the access that its REST operation declares, in the order in which REST does. */

import { requireRole } from '../../auth/verified-principal.ts'
import { Fault } from '../../base/fault.ts'
import type { Caller } from '../../core/operation.ts'
import type { GraphParts, NamedAccess } from './context.ts'

/** @throws Fault `forbidden` */
export function requireAccess(
  { licensed }: Pick<GraphParts, 'licensed'>,
  { session, principal }: Caller,
  { scope, capability, roles }: NamedAccess,
): void {
  if (!session.scopes.includes(scope))
    throw new Fault('forbidden', `The session lacks the scope \`${scope}\`.`)
  if (capability !== undefined) licensed.require(capability)
  if (roles !== undefined) requireRole(principal, ...roles)
}

/** The access of an operation of a list. @throws Error where the list has none of the name */
export function accessOf(
  operations: readonly { readonly name: string; readonly access: unknown }[],
  name: string,
): NamedAccess {
  const found = operations.find((one) => one.name === name)?.access
  if (typeof found !== 'object' || found === null || !('scope' in found))
    throw new Error(`${name} is no operation of a session`)
  return found as NamedAccess
}
