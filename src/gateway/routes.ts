/** The literal gateway paths of SPEC 4.1 and 4.2: who asks, what for, and what the answer looks like. */

import { Elysia } from 'elysia'
import { type FindSession, requireSession } from '../auth/guard.ts'
import { peerAddress } from '../auth/peer-address.ts'
import type { IdentifyPrincipal } from '../auth/principal-chain.ts'
import { readBody } from '../auth/read-body.ts'
import { Fault } from '../base/fault.ts'
import type { PolicyOutcome } from '../core/decision.ts'
import type { Session } from '../core/session.ts'
import { limits } from '../limits.ts'
import { parseCommitRequest } from '../wire/iceberg/commit-request.ts'
import { commitTable } from './commit-table.ts'
import { matchIcebergPath } from './iceberg-path.ts'
import type { GatewayParts } from './parts.ts'
import { faultOf, literalErrorResponse } from './render-error.ts'
import { openUpstream } from './stages/open-upstream.ts'

export interface GatewayAuth {
  readonly findSession: FindSession
  readonly identify: IdentifyPrincipal
}

/** Everything under /v1/iceberg. Bodies are read here, never parsed by the framework. */
export function gatewayRoutes(parts: GatewayParts, auth: GatewayAuth) {
  return new Elysia({ name: 'gateway' }).all(
    '/v1/iceberg/*',
    ({ request }) =>
      answer(parts, request, () => requireSession(request.headers, auth.findSession, 'commit'), auth),
    { parse: 'none' },
  )
}

/**
 * One request to a literal path, from the session on.
 * @param findSession the tenant middleware; a handler that it gave no session answers 500 (SPEC 5)
 */
export async function answer(
  parts: GatewayParts,
  request: Request,
  findSession: () => Promise<Session | undefined>,
  auth: Pick<GatewayAuth, 'identify'>,
): Promise<Response> {
  const startedMs = performance.now()
  const commitId = crypto.randomUUID()
  let response: Response
  let outcome = 'approved'
  try {
    response = await route(parts, request, commitId, await findSession(), auth)
  } catch (thrown) {
    const fault = faultOf(thrown)
    outcome = fault.kind === 'policy_denied' ? 'rejected' : fault.kind
    logFault(parts, fault, commitId)
    response = literalErrorResponse(fault)
    if (fault.kind === 'policy_denied' || fault.kind === 'policy_engine_unavailable')
      response.headers.set('x-svc-decision-id', commitId)
  }
  parts.metrics.commitDurationMs.observe({ outcome }, performance.now() - startedMs)
  return response
}

async function route(
  parts: GatewayParts,
  request: Request,
  commitId: string,
  session: Session | undefined,
  auth: Pick<GatewayAuth, 'identify'>,
): Promise<Response> {
  if (session === undefined)
    throw new Fault('tenant_context_missing', 'The request reached its handler without a tenant.')
  const path = matchIcebergPath(request.method, request.url)
  if (path.kind === 'transaction-commit')
    throw new Fault('not_implemented', 'Multi-table commits are not served yet.')

  const identified = await auth.identify(request.headers, peerAddress(request), session)
  const body = await readBody(request, limits.commitBodyBytesMax)
  const receivedAtMs = parts.clock.now()
  const commitRequest = parseCommitRequest(body.bytes)
  const upstream = await openUpstream(parts, session.tenant, path.prefix)
  const committed = await commitTable(parts, upstream, {
    commitId,
    tenant: session.tenant,
    table: path.table,
    identified,
    body,
    request: commitRequest,
    receivedAtMs,
    idempotencyKey: request.headers.get('idempotency-key') ?? undefined,
    signal: request.signal,
  })
  return new Response(committed.response.body as Uint8Array<ArrayBuffer>, {
    status: 200,
    headers: {
      'content-type': 'application/json',
      ...committed.response.headers,
      'x-svc-decision-id': commitId,
      ...warningHeader(committed.warnings),
    },
  })
}

/** Names of `warn` policies that were not true; their messages are in the decision's record. */
function warningHeader(warnings: readonly PolicyOutcome[]): Record<string, string> {
  if (warnings.length === 0) return {}
  return { 'x-svc-policy-warning': warnings.map((outcome) => encodeURIComponent(outcome.name)).join(', ') }
}

function logFault(parts: GatewayParts, fault: Fault, commitId: string): void {
  const severe = fault.kind === 'internal' || fault.kind === 'policy_engine_unavailable'
  parts.log[severe ? 'error' : 'info'](
    { faultId: fault.id, kind: fault.kind, detail: fault.detail, err: fault.cause, commitId },
    fault.publicMessage,
  )
}
