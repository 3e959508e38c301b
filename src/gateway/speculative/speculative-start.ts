/**
 * A speculative start: the beginning of a single-table commit by a caller that has committed to the table before. All
 * that it rests on is kept in memory and only has to be confirmed, so everything is asked at once: the upstream for the
 * table, and the store, in one call, whether session and credential still hold, for the policies, and to make the
 * intent durable. Nothing is answered or forwarded before the store has confirmed; until then the upstream is asked to
 * load at most. What is not confirmed is dropped, and the commit is taken step by step.
 */

import { sessionCredential } from '../../auth/credentials.ts'
import type { ReadSessionKey } from '../../auth/find-session.ts'
import type { IdentifyPrincipal } from '../../auth/principal-chain.ts'
import { afterSending } from '../../base/turn.ts'
import type { Session } from '../../core/session.ts'
import type { TableRef } from '../../core/table-ref.ts'
import { peerAddress } from '../../http/peer-address.ts'
import { beginCommit } from '../../store/commit/begin-commit.ts'
import { type GovernanceRow, readWriteGovernance } from '../../store/policy/policies.ts'
import { readCommitRequest } from '../../wire/iceberg/commit-request.ts'
import type { CommitBody } from '../base/body.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { CallerKey, ReturningCaller } from '../base/speculative-cache.ts'
import { StageTimes } from '../base/stage-times.ts'
import type { CachedTable } from '../base/table-cache.ts'
import type { Upstream } from '../base/upstream.ts'
import { baseOf, outcomeOf, startTableLoad } from '../stages/loads.ts'
import {
  assertCommits,
  type Opening,
  pendingIntent,
  type TableCommit,
  tableCommit,
} from '../stages/open-commit.ts'
import { judgeCached, verdictOn } from './cached-table.ts'

/** The authentication that a request needs beside its session. */
export interface CommitAuth {
  readonly identify: IdentifyPrincipal
  /** Absent: no commit is started speculatively. */
  readonly readSessionKey?: ReadSessionKey
}

export interface CommitCall {
  readonly request: Request
  readonly prefix: string
  readonly table: TableRef
  readonly commitId: string
  readonly stages: StageTimes
  readonly body: Promise<CommitBody>
  /** @throws where the upstream does not serve the operation */
  readonly assertServed: (upstream: Upstream) => Promise<void>
}

/** All of it confirmed by the store. */
export interface SpeculativeStart extends Opening {
  readonly session: Session
  readonly upstream: Upstream
  readonly commit: TableCommit
}

/**
 * Begins the commit, if its caller and its table are cached and have not changed.
 * @returns undefined otherwise, and for whatever fails: the commit then goes step by step, and fails in its order.
 *   Never rejects
 */
export async function startSpeculatively(
  parts: GatewayParts,
  auth: CommitAuth,
  call: CommitCall,
): Promise<SpeculativeStart | undefined> {
  try {
    const key = await callerKey(auth, call.request, call.prefix)
    const caller = key && parts.speculative.caller(key)
    if (key === undefined || caller === undefined) return undefined
    if (!caller.session.scopes.includes('commit')) return undefined
    // The table is loaded only once the body is whole: while a body comes slowly the table may change.
    const body = await call.stages.time('body', () => call.body)
    const { session, credential } = caller
    const cached = parts.tables.get(session.tenant, credential, call.table)
    if (cached === undefined) return undefined
    const upstream = { credential, catalog: parts.catalogs.get(session.tenant, credential) }
    await call.assertServed(upstream)
    const { tenant } = session
    const load = startTableLoad(parts, upstream, { ...call, tenant, signal: call.request.signal })
    const commit = await readCommit(parts, auth, call, session, body)
    const opening = await begin(parts, { key, caller, upstream, commit, cached, load })
    return opening && { ...opening, session, upstream, commit }
  } catch {
    return undefined
  }
}

/** Keeps what a speculative start of this caller's next commit needs; does nothing for a session that has no key. */
export async function rememberCaller(
  parts: GatewayParts,
  auth: CommitAuth,
  request: Request,
  session: Session,
  { credential }: Upstream,
): Promise<void> {
  const { registered } = session
  if (registered?.credential === undefined || registered.credential.id !== credential.id) return
  const key = await callerKey(auth, request, registered.prefix)
  if (key === undefined) return
  parts.speculative.rememberCaller(key, { session, credential, fingerprint: registered.fingerprint })
}

async function callerKey(
  { readSessionKey }: CommitAuth,
  request: Request,
  prefix: string,
): Promise<CallerKey | undefined> {
  const credential = sessionCredential(request)
  const read = credential === undefined ? undefined : await readSessionKey?.(credential)
  return read && { ...read, prefix }
}

/** @throws what is wrong with the request itself */
async function readCommit(
  parts: GatewayParts,
  auth: CommitAuth,
  { request, table, commitId, stages }: CommitCall,
  session: Session,
  body: CommitBody,
): Promise<TableCommit> {
  const identified = await auth.identify(request.headers, peerAddress(request), session)
  const commitRequest = await readCommitRequest(body.bytes)
  assertCommits({ request: commitRequest, table })
  const receivedAtMs = parts.clock.now()
  const whole = { request, commitId, tenant: session.tenant, identified, body, receivedAtMs, stages }
  return tableCommit(whole, table, commitRequest)
}

interface Beginning {
  readonly key: CallerKey
  readonly caller: ReturningCaller
  readonly upstream: Upstream
  readonly commit: TableCommit
  readonly cached: CachedTable
  /** Under way. */
  readonly load: Promise<CachedTable>
}

/** @returns undefined where the store did not confirm the caller; then no intent was written */
async function begin(
  parts: GatewayParts,
  { key, caller, upstream, commit, cached, load }: Beginning,
): Promise<Opening | undefined> {
  const { tenant, table, stages } = commit
  const base = baseOf(load, commit.request)
  const pending = await pendingIntent(parts, upstream, commit)
  const session = { key: key.session, tenant, prefix: key.prefix, fingerprint: caller.fingerprint }
  let answer: { readonly row: GovernanceRow | undefined } | undefined
  pending.declare(cached.metadataLocation, async (intent) => {
    const ask = () => beginCommit(parts.store, session, intent, parts.intentTimes)
    const row = await stages.time('session', () => stages.time('policies', ask))
    answer = { row }
    if (row === undefined) throw new Error('the session, the credential or the policies have changed')
  })
  // Both questions are sent before this thread turns to the verdict.
  await afterSending()
  const assumed = parts.speculative.governance(tenant, table)
  const apart = new StageTimes()
  const onAssumed =
    assumed && judgeCached(parts, { ...commit, stages: apart }, cached, held(assumed.governance))
  await pending.idle()
  const confirmed = rowOf(answer)
  if (confirmed === undefined) {
    parts.speculative.forgetCaller(key)
    // The store may have written the intent although its answer was lost.
    if (answer === undefined) await pending.withdraw()
    return undefined
  }
  if (assumed !== undefined && onAssumed !== undefined && confirmed.governance === assumed.text) {
    await onAssumed
    stages.adopt(apart)
    const governance = Promise.resolve(held(assumed.governance))
    return { loads: { base, governance }, intent: pending, speculativeVerdict: verdictOn(cached, onAssumed) }
  }
  const governance = await outcomeOf(Promise.try(readWriteGovernance, confirmed))
  if (governance.ok && confirmed.governance !== null)
    parts.speculative.rememberGovernance(tenant, table, {
      text: confirmed.governance,
      governance: governance.value,
    })
  const verdict = judgeCached(parts, commit, cached, governance)
  const loads = { base, governance: Promise.resolve(governance) }
  return { loads, intent: pending, speculativeVerdict: verdictOn(cached, verdict) }
}

const held = <T>(value: T) => ({ ok: true, value }) as const

// The compiler does not see that a callback assigns it.
const rowOf = (answer: { readonly row: GovernanceRow | undefined } | undefined) => answer?.row
