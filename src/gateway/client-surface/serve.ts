/** The client surface: who asks, for which operation, and what its handler's failure looks like. */

import { wrongMethod } from '../../auth/answer.ts'
import { type FindSession, requireSession } from '../../auth/guard.ts'
import type { IssueToken } from '../../auth/oauth-token.ts'
import { peerAddress } from '../../auth/peer-address.ts'
import { type Body, readBody } from '../../auth/read-body.ts'
import { Fault } from '../../base/fault.ts'
import type { Session } from '../../core/session.ts'
import { limits } from '../../limits.ts'
import { errorResponse } from '../../wire/iceberg/fault-response.ts'
import { TransactionFault } from '../commit-transaction.ts'
import { prefixOf } from '../iceberg-path.ts'
import type { GatewayParts } from '../parts.ts'
import { faultOf, logFault } from '../render-error.ts'
import { arrived, earlyBody } from '../stages/arriving-body.ts'
import { type CommitAuth, rememberCaller, takeHeadStart } from '../stages/head-start.ts'
import { openUpstream, type Upstream } from '../stages/open-upstream.ts'
import { addTiming, countCommit, StageTimes } from '../stages/stage-times.ts'
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
import { assertName, type ClientPath, matchClientPath, tableCommitPath } from './client-path.ts'
import { endpointOf, type OperationId, operations, type Treatment } from './operations.ts'
import {
  getConfig,
  loadCredentials,
  loadTable,
  loadView,
  passThrough,
  planScan,
  reportMetrics,
} from './read.ts'
import { answer, type SurfaceRequest } from './surface-request.ts'

export interface SurfaceAuth extends CommitAuth {
  readonly findSession: FindSession
  /** Absent: tokens are not issued, and the route answers 501. */
  readonly issueToken?: IssueToken | undefined
}

type Handle = (surface: SurfaceRequest) => Promise<Response>

const refuse: Handle = async () => {
  throw new Fault(
    'not_acceptable',
    'This operation is not served here: it would lead past policies and masks.',
  )
}
const pages = ['pageToken', 'pageSize'] as const

const handlers = {
  getConfig,
  getToken: refuse,
  listNamespaces: (surface) => passThrough(surface, [...pages, 'parent']),
  createNamespace,
  loadNamespaceMetadata: (surface) => passThrough(surface),
  namespaceExists: (surface) => passThrough(surface),
  dropNamespace,
  updateProperties,
  listTables: (surface) => passThrough(surface, pages),
  createTable,
  listFunctions: (surface) => passThrough(surface, pages),
  loadFunction: (surface) => passThrough(surface),
  planTableScan: planScan,
  fetchPlanningResult: planScan,
  cancelPlanning: planScan,
  fetchScanTasks: planScan,
  registerTable,
  loadTable,
  updateTable,
  dropTable,
  tableExists: (surface) => passThrough(surface),
  unregisterTable,
  loadCredentials,
  signRequest: refuse,
  renameTable: (surface) => rename(surface, 'rename-table'),
  reportMetrics,
  commitTransaction: commitTables,
  listViews: (surface) => passThrough(surface, pages),
  createView: (surface) => createView(surface, 'create-view'),
  loadView,
  replaceView,
  dropView,
  viewExists: (surface) => passThrough(surface),
  renameView: (surface) => rename(surface, 'rename-view'),
  registerView: (surface) => createView(surface, 'register-view'),
} satisfies Record<OperationId, Handle>

const treatments = new Map<OperationId, Treatment>(operations.map(({ id, treatment }) => [id, treatment]))
const endpoints = new Map<OperationId, string>(operations.map((one) => [one.id, endpointOf(one)]))

const noBody: Body = { bytes: new Uint8Array(0), sha256: new Bun.CryptoHasher('sha256').digest('hex') }

/** Answers one request below /v1/iceberg/{prefix}/v1. Every failure is an Iceberg ErrorModel. */
export async function answerClient(
  parts: GatewayParts,
  request: Request,
  auth: SurfaceAuth,
): Promise<Response> {
  const startedMs = performance.now()
  const commitId = crypto.randomUUID()
  const { pathname, searchParams } = new URL(request.url)
  let stages = new StageTimes()
  let session: Session | undefined
  let gated = false
  let outcome = 'approved'
  let response: Response
  try {
    if (pathname.endsWith('/v1/oauth/tokens')) return await token(request, pathname, auth.issueToken)
    const commitPath = tableCommitPath(request.method, pathname)
    const early = request.method === 'POST' ? earlyBody(request) : undefined
    const start =
      commitPath &&
      early &&
      (await takeHeadStart(parts, auth, {
        ...{ request, commitId, stages, body: early.body },
        prefix: commitPath.prefix,
        table: { namespace: commitPath.namespace, name: commitPath.name },
        assertServed: (upstream) => assertServed(upstream, commitPath, request.signal),
      }))
    if (start === undefined) stages = stages.anew()
    const findSession = () => requireAnyScope(request, auth.findSession, prefixOf(pathname))
    session = start?.session ?? (await stages.time('session', findSession))
    const match = matchClientPath(request.method, pathname)
    if (match.kind === 'method-not-allowed') return wrongMethod(match.allow)
    const { path } = match
    const treatment = treatments.get(path.operation)
    gated = treatment === 'gated'
    if (gated) assertCommits(session)
    const identified =
      start?.commit.identified ?? (await auth.identify(request.headers, peerAddress(request), session))
    const whole =
      request.method === 'POST' && treatment !== 'refused' && start === undefined
        ? await arrived({ request, stages }, early, session, findSession)
        : { body: start?.commit.body ?? noBody, session }
    session = whole.session
    if (gated) assertCommits(session)
    const upstream = start?.upstream ?? (await openUpstream(parts, session, path.prefix))
    if (start === undefined) {
      if (commitPath !== undefined) await rememberCaller(parts, auth, request, session, upstream)
      await assertServed(upstream, path, request.signal)
    }
    response = await handlers[path.operation]({
      parts,
      upstream,
      request,
      path,
      query: searchParams,
      tenant: session.tenant,
      identified,
      mayCommit: session.scopes.includes('commit'),
      stages,
      commitId,
      body: whole.body,
      start,
    })
  } catch (thrown) {
    const decisionId = thrown instanceof TransactionFault ? thrown.commitId : commitId
    const fault = thrown instanceof TransactionFault ? thrown.fault : faultOf(thrown)
    outcome = fault.kind === 'policy_denied' ? 'rejected' : fault.kind
    logFault(parts, fault, decisionId)
    response = errorResponse(fault)
    if (gated && (fault.kind === 'policy_denied' || fault.kind === 'policy_engine_unavailable'))
      response.headers.set('x-svc-decision-id', decisionId)
  }
  if (gated) countCommit(parts, stages, outcome, performance.now() - startedMs)
  addTiming(parts, request, session, response, stages)
  return response
}

/** @throws Fault `forbidden` */
function assertCommits({ scopes }: Session): void {
  if (!scopes.includes('commit')) throw new Fault('forbidden', 'The session lacks the scope `commit`.')
}

/** A session that may commit may also read what it commits to. */
async function requireAnyScope(request: Request, findSession: FindSession, prefix: string): Promise<Session> {
  try {
    return await requireSession(request, findSession, 'commit', prefix)
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.kind !== 'forbidden') throw thrown
    return await requireSession(request, findSession, 'read', prefix)
  }
}

/** Refuses what the upstream says that it does not serve, before anything is judged. */
async function assertServed({ catalog }: Upstream, path: ClientPath, signal: AbortSignal): Promise<void> {
  const { operation } = path
  const treatment = treatments.get(operation)
  // A multi-table commit is forwarded as commits of single tables.
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
  const [prefix = '', ...rest] = pathname.slice('/v1/iceberg/'.length).split('/')
  if (rest.length !== 3) throw new Fault('not_found', 'The path names no operation of the Iceberg REST API.')
  assertName('prefix', prefix)
  const { bytes } = await readBody(request, limits.apiBodyBytesMax)
  const form = new URLSearchParams(Buffer.from(bytes).toString('utf8'))
  const { status, body, headers } = await issueToken(form, prefix, request.headers.get('authorization'))
  return answer(status, body, headers)
}
