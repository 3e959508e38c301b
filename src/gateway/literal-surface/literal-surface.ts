/**
 * Serves the literal paths of docs/reference/gateway.md 1.1 and 4.2: two operations, POST only. The 403 and 503 of a
 * verdict are plain text.
 */

import { requestOrigin } from '../../auth/request-origin.ts'
import type { Fault } from '../../base/fault.ts'
import { jsonObject, stringifyJson } from '../../base/json.ts'
import type { Session } from '../../core/session.ts'
import type { TableRef } from '../../core/table-ref.ts'
import { aboutRequest } from '../../http/about-request.ts'
import { errorResponse, faultHeaders, faultStatus } from '../../http/fault-response.ts'
import { readCommitRequest, readTransactionRequest } from '../../wire/iceberg/commit-request.ts'
import type { CommitBody } from '../base/body.ts'
import { warningHeader } from '../base/faults.ts'
import type { GatewayParts } from '../base/parts.ts'
import { commitTable, type TableCommitted } from '../commit/commit-table.ts'
import { commitTransaction, type TransactionCommitted } from '../commit/commit-transaction.ts'
import { type Handler, runPipeline, type Surface } from '../pipeline.ts'
import { openOnCachedTable } from '../speculative/cached-table.ts'
import type { CommitAuth } from '../speculative/speculative-start.ts'
import { tableCommit } from '../stages/open-commit.ts'
import { ownChanges } from '../stages/own-names.ts'
import { type LiteralPath, matchLiteralPath } from './literal-path.ts'

/**
 * Answers one request to a literal path.
 * @param findSession the tenant middleware; a request for which it finds no session is answered 500
 *   (docs/reference/gateway.md 1.8)
 */
export async function answerLiteral(
  parts: GatewayParts,
  request: Request,
  findSession: () => Promise<Session | undefined>,
  auth: CommitAuth,
): Promise<Response> {
  return await runPipeline(parts, literalSurface, request, { ...auth, findSession })
}

const literalSurface: Surface<LiteralPath> = {
  withoutSession: () => undefined,
  match: matchLiteralPath,
  tableOf: (path) => (path.kind === 'table-commit' ? path.table : undefined),
  // The specification has step 8 load the table.
  pinsCommits: false,
  // A key is passed on. Only the client surface announces how long it keeps one.
  keyedRequest: () => undefined,
  isGated: () => true,
  takesBody: () => true,
  namesIn: (path) => (path.kind === 'table-commit' ? [...path.table.namespace, path.table.name] : []),
  withNames: (path, change) =>
    path.kind === 'table-commit' ? { ...path, table: renamedBy(path.table, change) } : path,
  // Both operations commit to single tables, which every upstream serves.
  assertServed: async () => {},
  handlerOf: async (path, body, start) =>
    path.kind === 'transaction-commit'
      ? await handlerOfTransaction(body)
      : handlerOfTable(start?.commit.request ?? (await readCommitRequest(body.bytes))),
  errorResponse: literalErrorResponse,
}

function renamedBy({ namespace, name }: TableRef, change: (name: string) => string): TableRef {
  return { namespace: namespace.map(change), name: change(name) }
}

function handlerOfTable(commitRequest: Awaited<ReturnType<typeof readCommitRequest>>): Handler<LiteralPath> {
  return async (call) => {
    const { parts, upstream, start, path } = call
    if (path.kind !== 'table-commit') throw new Error('the path of a transaction names no table')
    const commit = start?.commit ?? tableCommit(call, path.table, commitRequest)
    const opened = start ?? (await openOnCachedTable(parts, upstream, commit, false))
    return commitResponse(commit.commitId, await commitTable(parts, upstream, commit, opened))
  }
}

async function handlerOfTransaction(body: CommitBody): Promise<Handler<LiteralPath>> {
  const sent = await readTransactionRequest(body.bytes)
  return async ({ parts, upstream: opened, tenant, identified, receivedAtMs, request, stages }) => {
    const { upstream, changes } = await ownChanges(parts, tenant, opened, sent)
    const requestId = aboutRequest(request).id
    const origin = requestOrigin(identified, request.headers)
    const shared = {
      tenant,
      identified,
      receivedAtMs,
      signal: request.signal,
      stages,
      requestId,
      keyed: undefined,
    }
    return transactionResponse(await commitTransaction(parts, upstream, { ...shared, changes, origin }))
  }
}

function commitResponse(commitId: string, { response, warnings }: TableCommitted): Response {
  return new Response(response.body as Uint8Array<ArrayBuffer>, {
    status: 200,
    headers: {
      'content-type': 'application/json',
      ...response.headers,
      'x-svc-decision-id': commitId,
      ...warningHeader(warnings),
    },
  })
}

function transactionResponse({ results, warnings }: TransactionCommitted): Response {
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

/** An ErrorModel; plain text for a denial and an unavailable policy engine (docs/reference/errors.md 1.2). */
function literalErrorResponse(fault: Fault): Response {
  if (fault.kind !== 'policy_denied' && fault.kind !== 'policy_engine_unavailable')
    return errorResponse(fault)
  return new Response(fault.publicMessage, {
    status: faultStatus(fault.kind),
    headers: { 'content-type': 'text/plain; charset=utf-8', ...faultHeaders(fault) },
  })
}
