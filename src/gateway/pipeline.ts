/**
 * The gateway's entry point: runs the ordered steps of docs/reference/gateway.md 2.1 for a request on either surface.
 * Matching paths, handling operations and wording failures is left to the surfaces.
 */

import { tenantContext } from '../auth/guard.ts'
import { requireData, verifiedPart } from '../auth/verified-principal.ts'
import { Fault } from '../base/fault.ts'
import { timeOrderedId } from '../base/time-ordered-id.ts'
import type { KeyedRequest } from '../core/idempotency.ts'
import { foldName, nameCaseOf } from '../core/name-case.ts'
import type { IdentifiedPrincipal } from '../core/principal.ts'
import { type Session, throughSession } from '../core/session.ts'
import type { TableRef } from '../core/table-ref.ts'
import { aboutRequest } from '../http/about-request.ts'
import { activeSpan } from '../telemetry/tracing.ts'
import { type CommitBody, noBody } from './base/body.ts'
import { faultOf, logFault } from './base/faults.ts'
import type { GatewayParts } from './base/parts.ts'
import { addTiming, countCommit, StageTimes } from './base/stage-times.ts'
import type { Upstream } from './base/upstream.ts'
import { TransactionFault } from './commit/judge-transaction.ts'
import {
  type CommitAuth,
  rememberCaller,
  type SpeculativeStart,
  startSpeculatively,
} from './speculative/speculative-start.ts'
import type { WholeRequest } from './stages/open-commit.ts'
import { openUpstream } from './stages/open-upstream.ts'
import { settleNames } from './stages/own-names.ts'
import { type ArrivingBody, startBody, wholeBody } from './stages/read-body.ts'

/** A request whose session, path, principal, body and credential were checked. Every handler receives one. */
export interface PipelineRequest<Path> extends WholeRequest {
  readonly parts: GatewayParts
  readonly path: Path
  readonly upstream: Upstream
  readonly session: Session
  /** Whether the session has the scope `commit`. */
  readonly mayCommit: boolean
  /** The speculative start of a single-table commit, if it had one. */
  readonly start: SpeculativeStart | undefined
}

/** Performs an operation. */
export type Handler<Path> = (request: PipelineRequest<Path>) => Promise<Response>

/** What each surface defines for itself. */
export interface Surface<Path extends { readonly prefix: string }> {
  /** The response of a route that needs no session; undefined for every other route. */
  readonly withoutSession: (request: Request) => Promise<Response> | undefined
  /** The operation of a request, or the response to an unsupported method. Throws a Fault for an invalid path. */
  readonly match: (method: string, url: string) => Path | Response
  /** The table of a single-table commit; undefined for every other operation. */
  readonly tableOf: (path: Path) => TableRef | undefined
  /** Whether a single-table commit may be pinned to a table that is known, instead of loading it. */
  readonly pinsCommits: boolean
  /** Whether an operation needs the scope `commit` and a verdict, and is counted. No path: before one is matched. */
  readonly isGated: (path: Path | undefined) => boolean
  readonly takesBody: (path: Path) => boolean
  /**
   * The Idempotency-Key of a request that the surface answers again by it; undefined for every other request.
   * @throws Fault `bad_request` for a malformed key
   */
  readonly keyedRequest: (
    request: Request,
    path: Path,
    identified: IdentifiedPrincipal,
    body: CommitBody,
  ) => KeyedRequest | undefined
  /** The names in the path, and the path with each of them changed. */
  readonly namesIn: (path: Path) => readonly string[]
  readonly withNames: (path: Path, change: (name: string) => string) => Path
  /** Throws a Fault `not_acceptable` if the upstream does not serve the operation. */
  readonly assertServed: (upstream: Upstream, path: Path, signal: AbortSignal) => Promise<void>
  /** The operation's handler. Called before the credential is looked up, so a body that it cannot parse fails first. */
  readonly handlerOf: (
    path: Path,
    body: CommitBody,
    start: SpeculativeStart | undefined,
  ) => Promise<Handler<Path>>
  readonly errorResponse: (fault: Fault) => Response
}

/** How the pipeline finds the session and the principal. */
interface PipelineAuth extends CommitAuth {
  /** The tenant middleware; undefined if the route was mounted without it (docs/reference/gateway.md 1.8). */
  readonly findSession: () => Promise<Session | undefined>
}

/** Answers one request. The first step that fails decides, and the surface words its error response. */
export async function runPipeline<Path extends { readonly prefix: string }>(
  parts: GatewayParts,
  surface: Surface<Path>,
  request: Request,
  caller: PipelineAuth,
): Promise<Response> {
  const progress: Progress = {
    commitId: timeOrderedId(),
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
    const call = { parts, surface, request, caller, progress, matched, arriving }
    const ready = (await takeSpeculativeSteps(call)) ?? (await takeSteps(call))
    if (ready instanceof Response) return ready
    response = await ready.handle(ready.request)
    if (response.headers.has(replayedHeader)) outcome = 'replayed'
  } catch (thrown) {
    const decisionId = thrown instanceof TransactionFault ? thrown.commitId : progress.commitId
    const fault = thrown instanceof TransactionFault ? thrown.fault : faultOf(thrown)
    outcome = fault.kind === 'policy_denied' ? 'rejected' : fault.kind
    logFault(parts, fault, decisionId)
    response = surface.errorResponse(fault)
    if (progress.gated && isVerdict(fault)) response.headers.set('x-svc-decision-id', decisionId)
  }
  if (progress.gated) countCommit(parts, progress.stages, outcome)
  trace(progress, outcome)
  addTiming(parts, request, progress.session, response, progress.stages)
  return response
}

/** Set on an answer that repeats an earlier one, by its Idempotency-Key. */
export const replayedHeader = 'x-svc-replayed'

/** What the response needs from a request, whichever step failed. */
interface Progress {
  readonly commitId: string
  stages: StageTimes
  session: Session | undefined
  gated: boolean
}

/** Adds the stages to the span of the request, if there is one. A commit is named by what is found of it in the audit. */
function trace({ gated, stages, session, commitId }: Progress, outcome: string): void {
  const span = activeSpan()
  if (span === undefined) return
  const { startMs } = stages
  const attributes = {
    'covenant.tenant.id': session?.tenant,
    'covenant.commit.id': gated ? commitId : undefined,
    'covenant.outcome': outcome,
  }
  span.add(
    { name: gated ? 'commit' : 'catalog request', startMs, endMs: performance.now(), attributes },
    stages.parts(),
  )
}

interface Call<Path extends { readonly prefix: string }> {
  readonly parts: GatewayParts
  readonly surface: Surface<Path>
  readonly request: Request
  readonly caller: PipelineAuth
  readonly progress: Progress
  readonly matched: Matched<Path>
  readonly arriving: ArrivingBody | undefined
}

interface Ready<Path> {
  readonly handle: Handler<Path>
  readonly request: PipelineRequest<Path>
}

/**
 * Steps 1 to 7 of docs/reference/gateway.md 2.1.
 * @returns the response to an unsupported method, or the handler with its request
 */
async function takeSteps<Path extends { readonly prefix: string }>(
  call: Call<Path>,
): Promise<Ready<Path> | Response> {
  const { parts, surface, request, caller, progress, matched, arriving } = call
  const { commitId, stages } = progress
  const findSession = async () => tenantContext(await caller.findSession())
  const found = await stages.time('session', findSession)
  progress.session = found

  if (!matched.ok) throw matched.thrown
  const { path } = matched
  if (path instanceof Response) return path
  progress.gated = surface.isGated(path)
  if (progress.gated) assertMayCommit(found)

  const identified = throughSession(
    await caller.identify(request.headers, aboutRequest(request).peer, found),
    found,
  )
  requireData(verifiedPart(identified, found))

  const takesBody = request.method === 'POST' && surface.takesBody(path)
  const { body, session } = takesBody
    ? await wholeBody({ request, stages }, arriving, found, findSession)
    : { body: noBody, session: found }
  progress.session = session
  if (progress.gated) assertMayCommit(session)
  const receivedAtMs = parts.clock.now()

  const keyed = surface.keyedRequest(request, path, identified, body)
  const handle = await surface.handlerOf(path, body, undefined)

  const opened = await openUpstream(parts, session, path.prefix)
  const upstream = await settleNames(parts, session.tenant, opened, surface.namesIn(path))
  const own = ownPath(surface, upstream, path)
  if (surface.tableOf(own)) await rememberCaller(parts, caller, request, session, upstream)
  await surface.assertServed(upstream, own, request.signal)
  const whole = { request, commitId, tenant: session.tenant, identified, body, receivedAtMs, stages, keyed }
  const mayCommit = session.scopes.includes('commit')
  return {
    handle,
    request: { ...whole, parts, path: own, upstream, session, mayCommit, start: undefined },
  }
}

/** The path with the names that its catalog has. */
function ownPath<Path extends { readonly prefix: string }>(
  surface: Surface<Path>,
  { credential }: Upstream,
  path: Path,
): Path {
  return nameCaseOf(credential) === 'folded' ? surface.withNames(path, foldName) : path
}

type Matched<Path> =
  | { readonly ok: true; readonly path: Path | Response }
  | { readonly ok: false; readonly thrown: unknown }

/**
 * Matches the path. A failure is thrown only after the session was found, apart from a wrong method of a literal path,
 * which comes first (docs/reference/gateway.md 1.8).
 */
function tryMatch<Path extends { readonly prefix: string }>(
  surface: Surface<Path>,
  { method, url }: Request,
): Matched<Path> {
  try {
    return { ok: true, path: surface.match(method, url) }
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.kind === 'method_not_allowed') throw thrown
    return { ok: false, thrown }
  }
}

/**
 * Replaces the steps for a single-table commit that starts speculatively, once the store has confirmed its caller.
 * @returns undefined if there is no speculative start or it was not confirmed: then the steps are taken
 */
async function takeSpeculativeSteps<Path extends { readonly prefix: string }>(
  call: Call<Path>,
): Promise<Ready<Path> | undefined> {
  const { parts, surface, request, caller, progress, matched, arriving } = call
  const { commitId, stages } = progress
  const path = matched.ok && !(matched.path instanceof Response) ? matched.path : undefined
  const table = path && surface.tableOf(path)
  const start =
    path && table && arriving
      ? await startSpeculatively(parts, caller, {
          ...{ request, commitId, stages, table, prefix: path.prefix, body: arriving.body },
          pins: surface.pinsCommits,
          keyedRequest: (identified, body) => surface.keyedRequest(request, path, identified, body),
          assertServed: (upstream) => surface.assertServed(upstream, path, request.signal),
        })
      : undefined
  if (path === undefined || start === undefined) {
    progress.stages = stages.restarted()
    return undefined
  }
  progress.session = start.session
  progress.gated = surface.isGated(path)
  assertMayCommit(start.session)
  const { upstream } = start
  const { tenant, identified, body, receivedAtMs, claim: keyed } = start.commit
  const handle = await surface.handlerOf(path, body, start)
  const whole = { request, commitId, tenant, identified, body, receivedAtMs, stages, keyed }
  return {
    handle,
    request: {
      ...{ ...whole, parts, upstream, session: start.session, mayCommit: true, start },
      path: ownPath(surface, upstream, path),
    },
  }
}

/** Throws a Fault `forbidden`. */
function assertMayCommit({ scopes }: Session): void {
  if (!scopes.includes('commit')) throw new Fault('forbidden', 'The session lacks the scope `commit`.')
}

function isVerdict({ kind }: Fault): boolean {
  return kind === 'policy_denied' || kind === 'policy_engine_unavailable'
}
