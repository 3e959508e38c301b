/**
 * Everything under /v1/iceberg: the client surface, and the literal paths of SPEC 4.1 and 4.2: who asks, what
 * for, and what the answer looks like.
 */

import { Elysia } from 'elysia'
import { requireSession, tenantContext } from '../auth/guard.ts'
import { jsonObject, stringifyJson } from '../base/json.ts'
import type { Session } from '../core/session.ts'
import { peerAddress } from '../http/peer-address.ts'
import { readCommitRequest, readTransactionRequest } from '../wire/iceberg/commit-request.ts'
import { isClientPath } from './client-surface/client-path.ts'
import { answerClient, type SurfaceAuth } from './client-surface/serve.ts'
import { commitTable, type TableCommitted } from './commit-table.ts'
import { commitTransaction, type TransactionCommitted, TransactionFault } from './commit-transaction.ts'
import { literalCommitPath, matchIcebergPath, prefixOf } from './iceberg-path.ts'
import type { GatewayParts } from './parts.ts'
import { faultOf, literalErrorResponse, logFault, warningHeader } from './render-error.ts'
import { type ArrivingBody, arrived, earlyBody } from './stages/arriving-body.ts'
import {
  type CommitAuth,
  type CommitCall,
  type HeadStart,
  rememberCaller,
  takeHeadStart,
} from './stages/head-start.ts'
import { openUpstream } from './stages/open-upstream.ts'
import { addTiming, countCommit, StageTimes } from './stages/stage-times.ts'

/** Everything under /v1/iceberg. Bodies are read here, never parsed by the framework. */
export function gatewayRoutes(parts: GatewayParts, auth: SurfaceAuth) {
  return new Elysia({ name: 'gateway' }).all(
    '/v1/iceberg/*',
    ({ request }) => {
      const { pathname } = new URL(request.url)
      const findSession = () => requireSession(request, auth.findSession, 'commit', prefixOf(pathname))
      return parts.commits.during(() =>
        isClientPath(pathname)
          ? answerClient(parts, request, auth)
          : answer(parts, request, findSession, auth),
      )
    },
    { parse: 'none', detail: { hide: true } },
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
  auth: CommitAuth,
): Promise<Response> {
  const startedMs = performance.now()
  const commitId = crypto.randomUUID()
  let stages = new StageTimes()
  let session: Session | undefined
  let response: Response
  let outcome = 'approved'
  try {
    const body = earlyBody(request)
    const start = body && (await headStart(parts, auth, { request, commitId, stages, body: body.body }))
    if (start === undefined) stages = stages.anew()
    session = start?.session ?? (await stages.time('session', findSession))
    response =
      start === undefined
        ? await route(parts, { request, commitId, session, findSession, stages, body }, auth)
        : commitAnswer(commitId, await commitTable(parts, start.upstream, start.commit, start))
  } catch (thrown) {
    const decisionId = thrown instanceof TransactionFault ? thrown.commitId : commitId
    const fault = thrown instanceof TransactionFault ? thrown.fault : faultOf(thrown)
    outcome = fault.kind === 'policy_denied' ? 'rejected' : fault.kind
    logFault(parts, fault, decisionId)
    response = literalErrorResponse(fault)
    if (fault.kind === 'policy_denied' || fault.kind === 'policy_engine_unavailable')
      response.headers.set('x-svc-decision-id', decisionId)
  }
  addTiming(parts, request, session, response, stages)
  countCommit(parts, stages, outcome, performance.now() - startedMs)
  return response
}

/** A head start for a request that may be a single-table commit. */
async function headStart(
  parts: GatewayParts,
  auth: CommitAuth,
  call: Omit<CommitCall, 'prefix' | 'table'>,
): Promise<HeadStart | undefined> {
  const { method, url } = call.request
  const path = literalCommitPath(method, url)
  return path && (await takeHeadStart(parts, auth, { ...call, ...path }))
}

interface LiteralRequest {
  readonly request: Request
  readonly commitId: string
  readonly session: Session | undefined
  readonly findSession: () => Promise<Session | undefined>
  readonly stages: StageTimes
  /** Where its reading has begun already. */
  readonly body: ArrivingBody | undefined
}

async function route(
  parts: GatewayParts,
  { request, commitId, session: known, findSession, stages, body: early }: LiteralRequest,
  auth: CommitAuth,
): Promise<Response> {
  const asking = tenantContext(known)
  const path = matchIcebergPath(request.method, request.url)
  const identified = await auth.identify(request.headers, peerAddress(request), asking)
  const again = async () => tenantContext(await findSession())
  const { body, session } = await arrived({ request, stages }, early, asking, again)
  const receivedAtMs = parts.clock.now()
  const { tenant } = session
  const { signal } = request
  if (path.kind === 'transaction-commit') {
    const changes = await readTransactionRequest(body.bytes)
    const upstream = await openUpstream(parts, session, path.prefix)
    const transaction = { tenant, identified, receivedAtMs, signal, stages, changes }
    return transactionAnswer(await commitTransaction(parts, upstream, transaction))
  }
  const commitRequest = await readCommitRequest(body.bytes)
  const upstream = await openUpstream(parts, session, path.prefix)
  await rememberCaller(parts, auth, request, session, upstream)
  const committed = await commitTable(parts, upstream, {
    commitId,
    tenant,
    table: path.table,
    identified,
    body,
    request: commitRequest,
    receivedAtMs,
    idempotencyKey: request.headers.get('idempotency-key') ?? undefined,
    signal,
    stages,
  })
  return commitAnswer(commitId, committed)
}

function commitAnswer(commitId: string, committed: TableCommitted): Response {
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

function transactionAnswer({ results, warnings }: TransactionCommitted): Response {
  const body = jsonObject({
    results: results.map(({ newSnapshotId, newMetadataLocation }) =>
      jsonObject({
        'new-snapshot-id': newSnapshotId ?? null,
        'new-metadata-location': newMetadataLocation,
      }),
    ),
  })
  return new Response(stringifyJson(body), {
    status: 200,
    headers: {
      'content-type': 'application/json',
      'x-svc-decision-id': results.map(({ commitId }) => commitId).join(', '),
      ...warningHeader(warnings),
    },
  })
}
