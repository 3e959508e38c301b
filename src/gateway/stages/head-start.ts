/**
 * The beginning of a single-table commit by a caller that has been here before. What such a commit rests on is known
 * already but for its confirmation, so everything is asked at once: the upstream for the table, and the store, in
 * one call, whether session and credential still hold, for the policies, and to make the intent durable. Nothing
 * is answered or forwarded before the store has confirmed; until then the upstream is at most asked to load.
 */

import { sessionCredential } from '../../auth/credentials.ts'
import type { ReadSessionKey } from '../../auth/find-session.ts'
import type { IdentifyPrincipal } from '../../auth/principal-chain.ts'
import { afterSending } from '../../base/turn.ts'
import type { Session } from '../../core/session.ts'
import type { TableRef } from '../../core/table-ref.ts'
import { peerAddress } from '../../http/peer-address.ts'
import type { Body } from '../../http/read-body.ts'
import { beginCommit } from '../../store/begin-commit.ts'
import { type GovernanceRow, readWriteGovernance } from '../../store/policies.ts'
import {
  assertIdentifierMatches,
  readCommitRequest,
  snapshotIdsAdded,
} from '../../wire/iceberg/commit-request.ts'
import type { CallerKey, KnownCaller } from '../foretold.ts'
import type { GatewayParts } from '../parts.ts'
import type { CachedTable } from '../table-cache.ts'
import { intentOf, type TableCommit } from './forward-commit.ts'
import { DeclaredIntent } from './intent.ts'
import { baseOf, foretell, type Loads, settle, startTableLoad } from './judge.ts'
import type { Upstream } from './open-upstream.ts'
import { StageTimes } from './stage-times.ts'

/** What of the authentication a commit takes once its session is known or foretold. */
export interface CommitAuth {
  readonly identify: IdentifyPrincipal
  /** Absent: no commit has a head start. */
  readonly readSessionKey?: ReadSessionKey
}

export interface CommitCall {
  readonly request: Request
  readonly prefix: string
  readonly table: TableRef
  readonly commitId: string
  readonly stages: StageTimes
  readonly body: Promise<Body>
  /** @throws where the upstream does not serve the operation */
  readonly assertServed?: (upstream: Upstream) => Promise<void>
}

/** What of a commit has been begun. */
export interface Opening {
  readonly loads: Loads
  readonly declared: DeclaredIntent
}

export interface HeadStart extends Opening {
  /** Confirmed. */
  readonly session: Session
  readonly upstream: Upstream
  readonly commit: TableCommit
}

/**
 * Begins the commit, if its caller and its table are known and still as they were.
 * @returns undefined otherwise, and for whatever fails: the commit then goes step by step, and fails in its order.
 *   Never rejects
 */
export async function takeHeadStart(
  parts: GatewayParts,
  auth: CommitAuth,
  call: CommitCall,
): Promise<HeadStart | undefined> {
  try {
    const key = await callerKey(auth, call.request, call.prefix)
    const caller = key && parts.foretold.caller(key)
    if (key === undefined || caller === undefined) return undefined
    if (!caller.session.scopes.includes('commit')) return undefined
    // A table that was asked for while the body came slowly would not be the one that the commit applies to.
    const body = await call.stages.time('body', () => call.body)
    const { session, credential } = caller
    const known = parts.tables.get(session.tenant, credential, call.table)
    if (known === undefined) return undefined
    const upstream = { credential, catalog: parts.catalogs.get(session.tenant, credential) }
    await call.assertServed?.(upstream)
    const { tenant } = session
    const load = startTableLoad(parts, upstream, { ...call, tenant, signal: call.request.signal })
    const commit = await readCommit(parts, auth, call, session, body)
    const opening = await begin(parts, { key, caller, upstream, commit, known, load })
    return opening && { ...opening, session, upstream, commit }
  } catch {
    return undefined
  }
}

/** What the next commit of this caller begins with; does nothing for a session that has no key. */
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
  parts.foretold.rememberCaller(key, { session, credential, fingerprint: registered.fingerprint })
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
  body: Body,
): Promise<TableCommit> {
  const identified = await auth.identify(request.headers, peerAddress(request), session)
  const commitRequest = await readCommitRequest(body.bytes)
  assertIdentifierMatches(commitRequest, table)
  snapshotIdsAdded(commitRequest)
  return {
    commitId,
    tenant: session.tenant,
    table,
    identified,
    body,
    request: commitRequest,
    receivedAtMs: parts.clock.now(),
    idempotencyKey: request.headers.get('idempotency-key') ?? undefined,
    signal: request.signal,
    stages,
  }
}

interface Beginning {
  readonly key: CallerKey
  readonly caller: KnownCaller
  readonly upstream: Upstream
  readonly commit: TableCommit
  readonly known: CachedTable
  /** Under way. */
  readonly load: Promise<CachedTable>
}

/** @returns undefined where the store did not confirm the caller; then no intent was written */
async function begin(
  parts: GatewayParts,
  { key, caller, upstream, commit, known, load }: Beginning,
): Promise<Opening | undefined> {
  const { tenant, table, stages } = commit
  const base = baseOf(load, commit.request)
  const declared = new DeclaredIntent(parts, tenant, await intentOf(upstream, commit), stages)
  const session = { key: key.session, tenant, prefix: key.prefix, fingerprint: caller.fingerprint }
  let answer: { readonly row: GovernanceRow | undefined } | undefined
  declared.declare(known.metadataLocation, async (intent) => {
    const ask = () => beginCommit(parts.store, session, intent, parts.intentTimes)
    const row = await stages.time('session', () => stages.time('policies', ask))
    answer = { row }
    if (row === undefined) throw new Error('the caller is not as it was')
  })
  // Both questions are sent before this thread turns to the verdict.
  await afterSending()
  const guess = parts.foretold.governance(tenant, table)
  const apart = new StageTimes()
  const guessed =
    guess && foretell(parts, { ...commit, stages: apart }, known, { ok: true, value: guess.governance })
  await declared.settled()
  const confirmed = rowOf(answer)
  if (confirmed === undefined) {
    parts.foretold.forgetCaller(key)
    // An answer that was lost may have been one.
    if (answer === undefined) await declared.withdraw()
    return undefined
  }
  if (guess !== undefined && confirmed.governance === guess.text) {
    const governance = Promise.resolve({ ok: true, value: guess.governance } as const)
    await guessed
    stages.adopt(apart)
    return { loads: { base, governance, known, foretold: guessed }, declared }
  }
  const governance = await settle(Promise.try(readWriteGovernance, confirmed))
  if (governance.ok && confirmed.governance !== null)
    parts.foretold.rememberGovernance(tenant, table, {
      text: confirmed.governance,
      governance: governance.value,
    })
  const foretold = foretell(parts, commit, known, governance)
  return { loads: { base, governance: Promise.resolve(governance), known, foretold }, declared }
}

// Its assignment in a callback is not seen by the compiler.
const rowOf = (answer: { readonly row: GovernanceRow | undefined } | undefined) => answer?.row
