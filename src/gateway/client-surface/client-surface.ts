/**
 * Serves the Iceberg client surface, /v1/iceberg/{prefix}/v1: maps the operations of the Iceberg REST API to handlers.
 * Every failure is an Iceberg ErrorModel.
 */

import { type FindSession, requireSession } from '../../auth/guard.ts'
import type { IssueToken } from '../../auth/oauth-token.ts'
import { Fault } from '../../base/fault.ts'
import type { Session } from '../../core/session.ts'
import { aboutRequest } from '../../http/about-request.ts'
import { wrongMethod } from '../../http/answer.ts'
import { errorResponse, refusalResponse } from '../../http/fault-response.ts'
import { vendingModeOf } from '../../vending/settings.ts'
import { readForm } from '../base/body.ts'
import { keyedRequest } from '../base/keyed-request.ts'
import type { GatewayParts } from '../base/parts.ts'
import { assertName, icebergRoot, prefixOf } from '../base/path.ts'
import type { Upstream } from '../base/upstream.ts'
import { runPipeline, type Surface } from '../pipeline.ts'
import type { CommitAuth } from '../speculative/speculative-start.ts'
import { answerKeyed } from './answer-keyed.ts'
import {
  commitTables,
  createNamespace,
  createTable,
  createView,
  dropNamespace,
  dropTable,
  dropView,
  registerTable,
  rename,
  replaceView,
  unregisterTable,
  updateProperties,
  updateTable,
} from './change.ts'
import { type ClientPath, matchClientPath } from './client-path.ts'
import { endpointOf, type OperationId, operations, planOperations, type Treatment } from './operations.ts'
import {
  getConfig,
  loadCredentials,
  loadTable,
  loadView,
  planScan,
  reportMetrics,
  tableExists,
  viewExists,
} from './read.ts'
import { signRoute } from './sign-route.ts'
import { jsonResponse, plansScans, type SurfaceRequest, tableRefOf } from './surface-request.ts'
import {
  listFunctions,
  listNamespaces,
  listTables,
  listViews,
  loadFunction,
  readNamespace,
} from './uncontracted.ts'

export interface SurfaceAuth extends CommitAuth {
  readonly findSession: FindSession
  /** If absent, no tokens are issued and the route answers 501. */
  readonly issueToken?: IssueToken | undefined
}

type Handle = (surface: SurfaceRequest) => Promise<Response>

const refuse: Handle = async () => {
  throw new Fault(
    'not_acceptable',
    'The gateway does not serve this operation, because it would bypass policies and masks.',
  )
}
const handlers = {
  getConfig,
  getToken: refuse,
  listNamespaces,
  createNamespace,
  loadNamespaceMetadata: readNamespace,
  namespaceExists: readNamespace,
  dropNamespace,
  updateProperties,
  listTables,
  createTable,
  listFunctions,
  loadFunction,
  planTableScan: planScan,
  fetchPlanningResult: planScan,
  cancelPlanning: planScan,
  fetchScanTasks: planScan,
  registerTable,
  loadTable,
  updateTable,
  dropTable,
  tableExists,
  unregisterTable,
  loadCredentials,
  signRequest: refuse,
  renameTable: (surface) => rename(surface, 'rename-table'),
  reportMetrics,
  commitTransaction: commitTables,
  listViews,
  createView: (surface) => createView(surface, 'create-view'),
  loadView,
  replaceView,
  dropView,
  viewExists,
  renameView: (surface) => rename(surface, 'rename-view'),
  registerView: (surface) => createView(surface, 'register-view'),
} satisfies Record<OperationId, Handle>

const treatments = new Map<OperationId, Treatment>(operations.map(({ id, treatment }) => [id, treatment]))
const endpoints = new Map<OperationId, string>(operations.map((one) => [one.id, endpointOf(one)]))

/** Answers one request under /v1/iceberg/{prefix}/v1. */
export async function answerClient(
  parts: GatewayParts,
  request: Request,
  auth: SurfaceAuth,
): Promise<Response> {
  const { pathname } = new URL(request.url)
  const findSession = () => requireAnyScope(request, auth.findSession, prefixOf(pathname))
  return await runPipeline(parts, clientSurface(parts, auth.issueToken), request, { ...auth, findSession })
}

function clientSurface(parts: GatewayParts, issueToken: IssueToken | undefined): Surface<ClientPath> {
  return {
    withoutSession: (request) => {
      const { pathname } = new URL(request.url)
      if (pathname.endsWith('/v1/oauth/tokens')) return token(request, pathname, issueToken)
      return signRoute(parts, request, pathname)
    },
    match: (method, url) => {
      const match = matchClientPath(method, new URL(url).pathname)
      return match.kind === 'matched' ? match.path : wrongMethod(match.allow)
    },
    tableOf: (path) => (path.operation === 'updateTable' ? tableRefOf({ path }) : undefined),
    pinsCommits: true,
    keyedRequest: (request, path, identified, body) =>
      isGated(path) ? keyedRequest(request, identified, body) : undefined,
    isGated: (path) => path !== undefined && isGated(path),
    takesBody: ({ operation }) => treatments.get(operation) !== 'refused',
    namesIn: ({ namespace, name }) => [...namespace, name],
    withNames: (path, change) => ({
      ...path,
      namespace: path.namespace.map(change),
      name: change(path.name),
    }),
    assertServed,
    // The handler parses the body, after the upstream was found to serve the operation.
    handlerOf:
      async ({ operation }) =>
      (call) =>
        answerKeyed(
          { ...call, query: new URL(call.request.url).searchParams },
          handlers[operation],
          clientErrorResponse,
        ),
    errorResponse: clientErrorResponse,
  }
}

const isGated = ({ operation }: ClientPath) => treatments.get(operation) === 'gated'

/** The upstream's refusals keep their status, so that clients know that nothing was committed, and when to try again. */
function clientErrorResponse(fault: Fault): Response {
  return fault.refusal === undefined ? errorResponse(fault) : refusalResponse(fault, fault.refusal)
}

const isForbidden = (thrown: unknown) => thrown instanceof Fault && thrown.kind === 'forbidden'

/** Accepts the scope `commit` or `read`, because a client that may commit may also read. */
async function requireAnyScope(request: Request, findSession: FindSession, prefix: string): Promise<Session> {
  try {
    return await requireSession(request, findSession, 'commit', prefix)
  } catch (thrown) {
    if (!isForbidden(thrown)) throw thrown
  }
  try {
    return await requireSession(request, findSession, 'read', prefix)
  } catch (thrown) {
    if (!isForbidden(thrown)) throw thrown
    throw new Fault('forbidden', 'The session lacks the scope `read` or the scope `commit`.', {
      cause: thrown,
    })
  }
}

/** Refuses an operation that the upstream does not offer, before anything is judged. */
async function assertServed(upstream: Upstream, path: ClientPath, signal: AbortSignal): Promise<void> {
  const { catalog, credential } = upstream
  const { operation } = path
  const treatment = treatments.get(operation)
  // A multi-table commit is forwarded as commits of single tables.
  if (operation === 'loadCredentials' && vendingModeOf(credential) !== 'pass-through') return
  if (planOperations.has(operation) && plansScans(upstream)) return
  if (treatment === 'own' || treatment === 'refused' || operation === 'commitTransaction') return
  const offer = await catalog.offer({ signal })
  if (offer.endpoints?.includes(endpoints.get(operation) ?? '') ?? true) return
  throw new Fault('not_acceptable', `The upstream catalog does not serve ${operation}.`)
}

async function token(
  request: Request,
  pathname: string,
  issueToken: IssueToken | undefined,
): Promise<Response> {
  if (request.method !== 'POST') return wrongMethod(['POST'])
  if (issueToken === undefined) throw new Fault('not_implemented', 'This service does not issue tokens.')
  const [prefix = '', ...rest] = pathname.slice(icebergRoot.length).split('/')
  if (rest.length !== 3) throw new Fault('not_found', 'The path names no operation of the Iceberg REST API.')
  assertName('prefix', prefix)
  const form = await readForm(request)
  const authorization = request.headers.get('authorization')
  const requestId = aboutRequest(request).id
  const { status, body, headers } = await issueToken(form, prefix, authorization, requestId)
  return jsonResponse(status, body, headers)
}
