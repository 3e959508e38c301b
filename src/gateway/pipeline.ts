/**
 * The one entry point of the gateway: the ordered steps of docs/reference/gateway.md 2.1 that every request takes, on
 * either surface. A surface says what its paths mean, what an operation does and how a failure is worded; only the
 * order is kept here.
 */

import { tenantContext } from '../auth/guard.ts'
import { Fault } from '../base/fault.ts'
import type { Session } from '../core/session.ts'
import type { TableRef } from '../core/table-ref.ts'
import { peerAddress } from '../http/peer-address.ts'
import { type CommitBody, noBody } from './base/body.ts'
import { faultOf, logFault } from './base/faults.ts'
import type { GatewayParts } from './base/parts.ts'
import { addTiming, countCommit, StageTimes } from './base/stage-times.ts'
import type { Upstream } from './base/upstream.ts'
import { TransactionFault } from './commit/commit-transaction.ts'
import {
  type CommitAuth,
  rememberCaller,
  type SpeculativeStart,
  startSpeculatively,
} from './speculative/speculative-start.ts'
import type { WholeRequest } from './stages/open-commit.ts'
import { openUpstream } from './stages/open-upstream.ts'
import { type ArrivingBody, startBody, wholeBody } from './stages/read-body.ts'

/** A request past session, path, principal, body and credential: what every operation works with. */
export interface PipelineRequest<Path> extends WholeRequest {
  readonly parts: GatewayParts
  readonly path: Path
  readonly upstream: Upstream
  /** Whether the session has the scope `commit`. */
  readonly mayCommit: boolean
  /** What of a single-table commit has been begun speculatively. */
  readonly start: SpeculativeStart | undefined
}

/** Does what an operation asks for. */
export type Handler<Path> = (ask: PipelineRequest<Path>) => Promise<Response>

/** What the surfaces differ in. */
export interface Surface<Path extends { readonly prefix: string }> {
  /** The answer of a route that runs without a session; undefined for all others. */
  readonly withoutSession: (request: Request) => Promise<Response> | undefined
  /** The operation that a request asks for, or the answer to a method that its path does not take. @throws Fault */
  readonly match: (method: string, url: string) => Path | Response
  /** The table of a single-table commit; undefined for every other operation. */
  readonly tableOf: (path: Path) => TableRef | undefined
  /** Whether an operation needs the scope `commit`, rests on a verdict and is counted; undefined for no operation. */
  readonly isGated: (path: Path | undefined) => boolean
  readonly takesBody: (path: Path) => boolean
  /** @throws Fault `not_acceptable` where the upstream does not serve the operation */
  readonly assertServed: (upstream: Upstream, path: Path, signal: AbortSignal) => Promise<void>
  /** The operation. What it throws comes before the credential is looked at: here a surface may parse the body. */
  readonly handlerOf: (
    path: Path,
    body: CommitBody,
    start: SpeculativeStart | undefined,
  ) => Promise<Handler<Path>>
  readonly errorResponse: (fault: Fault) => Response
}

/** How the pipeline finds the session and the principal. */
export interface Caller extends CommitAuth {
  /**
   * The tenant middleware; undefined where the route was mounted without it (docs/reference/gateway.md 1.8). @throws
   * Fault
   */
  readonly findSession: () => Promise<Session | undefined>
}

/** Answers one request. Every failure becomes the surface's answer to it; the first failing step decides. */
export async function runPipeline<Path extends { readonly prefix: string }>(
  parts: GatewayParts,
  surface: Surface<Path>,
  request: Request,
  caller: Caller,
): Promise<Response> {
  const passage: Passage = {
    commitId: crypto.randomUUID(),
    stages: new StageTimes(),
    session: undefined,
    gated: surface.isGated(undefined),
  }
  let outcome = 'approved'
  let response: Response
  try {
    const open = surface.withoutSession(request)
    if (open !== undefined) return await open
    const matched = tryMatch(surface, request)
    const arriving = request.method === 'POST' ? startBody(request) : undefined
    const call = { parts, surface, request, caller, passage, matched, arriving }
    const ready = (await startEarly(call)) ?? (await takeSteps(call))
    if (ready instanceof Response) return ready
    response = await ready.handle(ready.request)
  } catch (thrown) {
    const decisionId = thrown instanceof TransactionFault ? thrown.commitId : passage.commitId
    const fault = thrown instanceof TransactionFault ? thrown.fault : faultOf(thrown)
    outcome = fault.kind === 'policy_denied' ? 'rejected' : fault.kind
    logFault(parts, fault, decisionId)
    response = surface.errorResponse(fault)
    if (passage.gated && isVerdict(fault)) response.headers.set('x-svc-decision-id', decisionId)
  }
  if (passage.gated) countCommit(parts, passage.stages, outcome)
  addTiming(parts, request, passage.session, response, passage.stages)
  return response
}

/** What the answer needs to know of a request, however far it came. */
interface Passage {
  readonly commitId: string
  stages: StageTimes
  session: Session | undefined
  gated: boolean
}

interface Call<Path extends { readonly prefix: string }> {
  readonly parts: GatewayParts
  readonly surface: Surface<Path>
  readonly request: Request
  readonly caller: Caller
  readonly passage: Passage
  readonly matched: Matched<Path>
  readonly arriving: ArrivingBody | undefined
}

interface Ready<Path> {
  readonly handle: Handler<Path>
  readonly request: PipelineRequest<Path>
}

/**
 * Steps 1 to 7 of docs/reference/gateway.md 2.1.
 * @returns the answer to a method that the path does not take, or the operation with all that it needs
 */
async function takeSteps<Path extends { readonly prefix: string }>(
  call: Call<Path>,
): Promise<Ready<Path> | Response> {
  const { parts, surface, request, caller, passage, matched, arriving } = call
  const { commitId, stages } = passage
  const findSession = async () => tenantContext(await caller.findSession())
  const found = await stages.time('session', findSession)
  passage.session = found

  if (!matched.ok) throw matched.thrown
  const { path } = matched
  if (path instanceof Response) return path
  passage.gated = surface.isGated(path)
  if (passage.gated) assertMayCommit(found)

  const identified = await caller.identify(request.headers, peerAddress(request), found)

  const takesBody = request.method === 'POST' && surface.takesBody(path)
  const { body, session } = takesBody
    ? await wholeBody({ request, stages }, arriving, found, findSession)
    : { body: noBody, session: found }
  passage.session = session
  if (passage.gated) assertMayCommit(session)
  const receivedAtMs = parts.clock.now()

  const handle = await surface.handlerOf(path, body, undefined)

  const upstream = await openUpstream(parts, session, path.prefix)
  if (surface.tableOf(path)) await rememberCaller(parts, caller, request, session, upstream)
  await surface.assertServed(upstream, path, request.signal)
  const whole = { request, commitId, tenant: session.tenant, identified, body, receivedAtMs, stages }
  const mayCommit = session.scopes.includes('commit')
  return { handle, request: { ...whole, parts, path, upstream, mayCommit, start: undefined } }
}

type Matched<Path> =
  | { readonly ok: true; readonly path: Path | Response }
  | { readonly ok: false; readonly thrown: unknown }

/** What the path names; its failure waits until the session has been found. */
function tryMatch<Path extends { readonly prefix: string }>(
  surface: Surface<Path>,
  { method, url }: Request,
): Matched<Path> {
  try {
    return { ok: true, path: surface.match(method, url) }
  } catch (thrown) {
    return { ok: false, thrown }
  }
}

/**
 * The same for a single-table commit that starts speculatively: the store has confirmed what the steps would find.
 * @returns undefined where it does not: then the steps are taken
 */
async function startEarly<Path extends { readonly prefix: string }>(
  call: Call<Path>,
): Promise<Ready<Path> | undefined> {
  const { parts, surface, request, caller, passage, matched, arriving } = call
  const { commitId, stages } = passage
  const path = matched.ok && !(matched.path instanceof Response) ? matched.path : undefined
  const table = path && surface.tableOf(path)
  const start =
    path && table && arriving
      ? await startSpeculatively(parts, caller, {
          ...{ request, commitId, stages, table, prefix: path.prefix, body: arriving.body },
          assertServed: (upstream) => surface.assertServed(upstream, path, request.signal),
        })
      : undefined
  if (path === undefined || start === undefined) {
    passage.stages = stages.restarted()
    return undefined
  }
  passage.session = start.session
  passage.gated = surface.isGated(path)
  assertMayCommit(start.session)
  const { upstream } = start
  const { tenant, identified, body, receivedAtMs } = start.commit
  const handle = await surface.handlerOf(path, body, start)
  const whole = { request, commitId, tenant, identified, body, receivedAtMs, stages }
  return { handle, request: { ...whole, parts, path, upstream, mayCommit: true, start } }
}

/** @throws Fault `forbidden` */
function assertMayCommit({ scopes }: Session): void {
  if (!scopes.includes('commit')) throw new Fault('forbidden', 'The session lacks the scope `commit`.')
}

function isVerdict({ kind }: Fault): boolean {
  return kind === 'policy_denied' || kind === 'policy_engine_unavailable'
}
