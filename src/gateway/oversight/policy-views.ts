/** What policies are bound to, and their changes, in the form of the API. */

import { Fault } from '../../base/fault.ts'
import type { PolicyScope } from '../../core/policy.ts'
import type { TableRef } from '../../core/table-ref.ts'
import { actorView } from '../../http/actor-view.ts'
import { described, list, maybe, nonEmpty, tableIdentifier } from '../../http/schemas.ts'
import type { BoundPolicy } from '../../store/policy/find-policy.ts'
import type { PolicyChange } from '../../store/policy/policy-history.ts'
import { namedScope } from '../../store/policy/policy-scope.ts'
import { policyView } from './views.ts'

/** One of these names what a policy is bound to. */
export const scopeMembers = {
  table: maybe(tableIdentifier),
  namespace: maybe(
    described(
      list(nonEmpty),
      'its levels: every table in it and below it, also those to come; none: every table of the tenant',
    ),
  ),
  tag: maybe(described(nonEmpty, 'every table that carries it, itself or by a column')),
}

/** @throws Fault `bad_request` where it names none, or more than one */
export function askedScope({
  table,
  namespace,
  tag,
}: {
  readonly table?: TableRef | undefined
  readonly namespace?: readonly string[] | undefined
  readonly tag?: string | undefined
}): PolicyScope {
  const named = [
    ...(table === undefined ? [] : [table]),
    ...(namespace === undefined ? [] : [{ namespace }]),
    ...(tag === undefined ? [] : [{ tag }]),
  ]
  const [scope] = named
  if (scope === undefined || named.length > 1)
    throw new Fault('bad_request', 'Name exactly one of `table`, `namespace` and `tag`.')
  return scope
}

/** A policy with what it is bound to. */
export function boundPolicyView({ policy, scopes, hasMoreScopes }: BoundPolicy) {
  return { ...policyView(policy), scopes: scopes.map(namedScope), more_scopes: hasMoreScopes || undefined }
}

/** A change of a policy; its actor and scope are absent where they were not recorded. */
export function policyChangeView({ at, actor, scope, unbinds, before, after }: PolicyChange) {
  return {
    at,
    action: after === undefined ? ('delete' as const) : unbinds ? ('unbind' as const) : ('put' as const),
    actor: actor && actorView(actor),
    request_id: actor?.requestId,
    scope: scope && namedScope(scope),
    before: before && policyView(before),
    after: after && policyView(after),
  }
}
