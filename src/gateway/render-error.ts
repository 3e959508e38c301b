/** Failures and warnings of the gateway in HTTP (SPEC 7). Only the literal paths answer 403 and 503 in text. */

import { Fault, type FaultKind, toFault } from '../base/fault.ts'
import { CatalogError, type CatalogErrorCode } from '../catalog/catalog.ts'
import type { PolicyOutcome } from '../core/decision.ts'
import { errorModel } from '../wire/iceberg/error-model.ts'
import type { GatewayParts } from './parts.ts'

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
  commit_unknown: 502,
  policy_engine_unavailable: 503,
  unavailable: 503,
} satisfies Record<FaultKind, number>

/** ErrorModel types that Iceberg clients know; SPEC 7 gives statuses only. */
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
  commit_unknown: 'CommitStateUnknownException',
  policy_engine_unavailable: 'ServiceUnavailableException',
  unavailable: 'ServiceUnavailableException',
} satisfies Record<FaultKind, string>

const sentinels = {
  ErrTableNotFound: { kind: 'not_found', type: 'NoSuchTableException' },
  ErrCommitConflict: { kind: 'conflict', type: 'CommitFailedException' },
  ErrCredentialsExpired: { kind: 'unauthenticated', type: 'NotAuthorizedException' },
  ErrAdapterStub: { kind: 'upstream_failed', type: 'BadGatewayException' },
} satisfies Record<CatalogErrorCode, { kind: FaultKind; type: string }>

/** Seconds after which a client may try a 503 again. */
const retryAfterSeconds = 1

/** Any thrown value as a Fault; the four sentinels become the kinds that SPEC 7 gives them. */
export function faultOf(thrown: unknown): Fault {
  if (!(thrown instanceof CatalogError)) return toFault(thrown)
  const { kind, type } = sentinels[thrown.code]
  return new Fault(kind, thrown.publicMessage, { cause: thrown, type })
}

/** The Iceberg ErrorModel answer, in JSON. */
export function errorResponse(fault: Fault): Response {
  const status = statuses[fault.kind]
  return new Response(errorModel(status, fault.type ?? types[fault.kind], fault.publicMessage), {
    status,
    headers: { 'content-type': 'application/json', ...extraHeaders(fault) },
  })
}

/** As {@link errorResponse}, but a denial and an unavailable policy engine are plain text (SPEC 7). */
export function literalErrorResponse(fault: Fault): Response {
  if (fault.kind !== 'policy_denied' && fault.kind !== 'policy_engine_unavailable')
    return errorResponse(fault)
  return new Response(fault.publicMessage, {
    status: statuses[fault.kind],
    headers: { 'content-type': 'text/plain; charset=utf-8', ...extraHeaders(fault) },
  })
}

function extraHeaders(fault: Fault): Record<string, string> {
  if (statuses[fault.kind] === 503) return { 'retry-after': String(retryAfterSeconds) }
  if (fault.kind === 'method_not_allowed') return { allow: 'POST' }
  if (fault.kind === 'unauthenticated') return { 'www-authenticate': 'Bearer realm="covenant"' }
  return {}
}

/** Names of `warn` policies that were not true; their messages are in the decision's record. */
export function warningHeader(warnings: readonly PolicyOutcome[]): Record<string, string> {
  if (warnings.length === 0) return {}
  return { 'x-svc-policy-warning': warnings.map((outcome) => encodeURIComponent(outcome.name)).join(', ') }
}

/** Logs a failed request; only defects and an unavailable policy engine are errors of ours. */
export function logFault({ log }: Pick<GatewayParts, 'log'>, fault: Fault, commitId: string): void {
  const severe = fault.kind === 'internal' || fault.kind === 'policy_engine_unavailable'
  log[severe ? 'error' : 'info'](
    { faultId: fault.id, kind: fault.kind, detail: fault.detail, err: fault.cause, commitId },
    fault.publicMessage,
  )
}
