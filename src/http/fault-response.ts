/**
 * Turns Faults into HTTP responses with an Iceberg ErrorModel body. Holds the one table from kinds to statuses
 * (docs/reference/errors.md 2).
 */

import type { Fault, FaultKind, UpstreamRefusal } from '../base/fault.ts'
import { errorModel } from '../wire/iceberg/error-model.ts'

const statuses = {
  bad_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  policy_denied: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  conflict: 409,
  gone: 410,
  payload_too_large: 413,
  unprocessable: 422,
  tenant_context_missing: 500,
  misconfigured: 500,
  internal: 500,
  not_implemented: 501,
  upstream_failed: 502,
  upstream_forbidden: 502,
  commit_unknown: 502,
  policy_engine_unavailable: 503,
  unavailable: 503,
  overloaded: 503,
} satisfies Record<FaultKind, number>

/** ErrorModel types that Iceberg clients know; docs/reference/errors.md 2 gives statuses only. */
const types = {
  bad_request: 'BadRequestException',
  unauthenticated: 'NotAuthorizedException',
  forbidden: 'ForbiddenException',
  policy_denied: 'ForbiddenException',
  not_found: 'NotFoundException',
  method_not_allowed: 'MethodNotAllowedException',
  not_acceptable: 'UnsupportedOperationException',
  conflict: 'CommitFailedException',
  gone: 'GoneException',
  payload_too_large: 'PayloadTooLargeException',
  unprocessable: 'UnprocessableEntityException',
  tenant_context_missing: 'InternalServerError',
  misconfigured: 'InternalServerError',
  internal: 'InternalServerError',
  not_implemented: 'UnsupportedOperationException',
  upstream_failed: 'BadGatewayException',
  upstream_forbidden: 'BadGatewayException',
  commit_unknown: 'CommitStateUnknownException',
  policy_engine_unavailable: 'ServiceUnavailableException',
  unavailable: 'ServiceUnavailableException',
  overloaded: 'ServiceUnavailableException',
} satisfies Record<FaultKind, string>

/** Seconds after which a client may try a 503 again. */
const retryAfterSeconds = 1

/** The HTTP status of a kind. */
export function faultStatus(kind: FaultKind): number {
  return statuses[kind]
}

/** The Iceberg ErrorModel response, in JSON. */
export function errorResponse(fault: Fault): Response {
  const status = statuses[fault.kind]
  return new Response(
    errorModel(status, fault.type ?? types[fault.kind], fault.publicMessage, fault.members),
    {
      status,
      headers: { 'content-type': 'application/json', ...faultHeaders(fault) },
    },
  )
}

/** ErrorModel types of an upstream's refusals that name none. */
const refusalTypes: Readonly<Record<number, string>> = {
  403: types.forbidden,
  405: types.method_not_allowed,
  406: types.not_acceptable,
  413: types.payload_too_large,
  422: types.unprocessable,
  429: 'TooManyRequestsException',
  501: types.not_implemented,
}

/** The refusal of an upstream as it is, in JSON: clients act on its status, and wait as long as it says. */
export function refusalResponse(fault: Fault, { status, type, retryAfter }: UpstreamRefusal): Response {
  const named = type ?? refusalTypes[status] ?? types.bad_request
  return new Response(errorModel(status, named, fault.publicMessage, fault.members), {
    status,
    headers: {
      'content-type': 'application/json',
      ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
    },
  })
}

/** Headers that go with a kind, whatever the body's form: Retry-After, Allow, WWW-Authenticate. */
export function faultHeaders(fault: Fault): Record<string, string> {
  if (statuses[fault.kind] === 503) return { 'retry-after': String(retryAfterSeconds) }
  if (fault.kind === 'method_not_allowed') return { allow: 'POST' }
  if (fault.kind === 'unauthenticated') return { 'www-authenticate': 'Bearer realm="covenant"' }
  return {}
}
