/**
 * Starts a single-table commit of a returning caller speculatively, on cached session, credential, policies and table.
 * One call to the store confirms session and credential, loads the policies and makes the intent durable, while the
 * upstream loads the table. Before the store has confirmed, nothing is answered and nothing forwarded. If the caller is
 * not confirmed, the speculative work is discarded and the pipeline takes its steps in order.
 */

import { sessionCredential } from '../../auth/credentials.ts'
import type { ReadSessionKey } from '../../auth/find-session.ts'
import type { IdentifyPrincipal } from '../../auth/principal-chain.ts'
import { requireData, verifiedPart } from '../../auth/verified-principal.ts'
import { afterSending } from '../../base/turn.ts'
import type { KeyedRequest } from '../../core/idempotency.ts'
import { foldTable, nameCaseOf } from '../../core/name-case.ts'
import type { IdentifiedPrincipal } from '../../core/principal.ts'
import { type Session, throughSession } from '../../core/session.ts'
import type { TableRef } from '../../core/table-ref.ts'
import { aboutRequest } from '../../http/about-request.ts'
import { beginCommit } from '../../store/commit/begin-commit.ts'
import { assertClaimed } from '../../store/commit/idempotency-keys.ts'
import { type GovernanceRow, readWriteGovernance } from '../../store/policy/policies.ts'
import { readTerritory } from '../../store/territory/territory-rows.ts'
import { readCommitRequest } from '../../wire/iceberg/commit-request.ts'
import { locationsNamed } from '../../wire/iceberg/named-locations.ts'
import type { CommitBody } from '../base/body.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { CallerKey, ReturningCaller } from '../base/speculative-cache.ts'
import { StageTimes } from '../base/stage-times.ts'
import type { CachedTable } from '../base/table-cache.ts'
import type { Upstream } from '../base/upstream.ts'
import { knownTable } from '../stages/known-table.ts'
import { type Loads, outcomeOf, startTableLoad, tableOnce } from '../stages/loads.ts'
import {
  assertCommits,
  type OpenedCommit,
  pendingIntent,
  type TableCommit,
  tableCommit,
} from '../stages/open-commit.ts'
import { ownTable } from '../stages/own-names.ts'
import { askedPrefixes } from '../stages/territory.ts'
import { judgeCached, verdictOn } from './cached-table.ts'
import { mayBePinned } from './may-be-pinned.ts'

/** The authentication that a commit needs apart from its session. */
export interface CommitAuth {
  readonly identify: IdentifyPrincipal
  /** If absent, no commit starts speculatively. */
  readonly readSessionKey?: ReadSessionKey
}

interface CommitCall {
  readonly request: Request
  readonly prefix: string
  readonly table: TableRef
  readonly commitId: string
  readonly stages: StageTimes
  readonly body: Promise<CommitBody>
  /** See `Surface.keyedRequest`. */
  readonly keyedRequest: (identified: IdentifiedPrincipal, body: CommitBody) => KeyedRequest | undefined
  /** Whether the commit may be pinned to a table that is known. */
  readonly pins: boolean
  /** Throws a Fault if the upstream does not serve the operation. */
  readonly assertServed: (upstream: Upstream) => Promise<void>
}

/** A started commit, whose caller and policies the store has confirmed. */
export interface SpeculativeStart extends OpenedCommit {
  readonly session: Session
  readonly upstream: Upstream
  readonly commit: TableCommit
}

/**
 * Starts the commit, if its caller and its table are cached and the store confirms the caller. Never rejects.
 * @returns undefined otherwise, and after any failure: the pipeline then takes its steps, which fail in their order
 */
export async function startSpeculatively(
  parts: GatewayParts,
  auth: CommitAuth,
  asked: CommitCall,
): Promise<SpeculativeStart | undefined> {
  try {
    const key = await callerKey(auth, asked.request, asked.prefix)
    const caller = key && parts.speculative.caller(key)
    if (key === undefined || caller === undefined) return undefined
    if (!caller.session.scopes.includes('commit')) return undefined
    // The table is loaded only once the body is complete, because it may change while a slow body arrives.
    const body = await asked.stages.time('body', () => asked.body)
    const { session, credential } = caller
    const { tenant } = session
    const upstream = { credential, catalog: parts.catalogs.get(tenant, credential) }
    const table = ownTable(upstream, asked.table)
    // Whether it is this table is not known before the catalog was asked.
    if (nameCaseOf(credential) === 'unknown' && foldTable(table) !== table) return undefined
    const call = { ...asked, table }
    const recent = call.pins ? await knownTable(parts, tenant, upstream, table) : undefined
    const cached = recent ?? parts.tables.get(tenant, credential, table)
    if (cached === undefined) return undefined
    await call.assertServed(upstream)
    const start = () => startTableLoad(parts, upstream, { ...call, tenant, signal: call.request.signal })
    // Whether a table need not be loaded is known only once the body is parsed.
    const load = recent === undefined ? start() : undefined
    const commit = await readCommit(parts, auth, { ...call, upstream }, session, body)
    const known = recent && (await mayBePinned(parts, upstream, commit, recent)) ? recent : undefined
    const base = tableOnce(() => load ?? start(), commit.request)
    if (known === undefined) void base()
    const opened = await openSpeculatively(parts, { key, caller, upstream, commit, cached, known, base })
    return opened && { ...opened, session, upstream, commit }
  } catch {
    return undefined
  }
}

/** Caches the caller for the speculative start of its next commit, unless its session has no key. */
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

/** Parses and checks the request. Throws what is wrong with it. */
async function readCommit(
  parts: GatewayParts,
  auth: CommitAuth,
  { request, table, commitId, stages, upstream, keyedRequest }: CommitCall & { readonly upstream: Upstream },
  session: Session,
  body: CommitBody,
): Promise<TableCommit> {
  const identified = throughSession(
    await auth.identify(request.headers, aboutRequest(request).peer, session),
    session,
  )
  requireData(verifiedPart(identified, session))
  const commitRequest = await readCommitRequest(body.bytes)
  assertCommits({ request: commitRequest, table }, upstream)
  const receivedAtMs = parts.clock.now()
  const keyed = keyedRequest(identified, body)
  const whole = { request, commitId, tenant: session.tenant, identified, body, receivedAtMs, stages, keyed }
  return tableCommit(whole, table, commitRequest)
}

interface SpeculativeInput {
  readonly key: CallerKey
  readonly caller: ReturningCaller
  readonly upstream: Upstream
  readonly commit: TableCommit
  readonly cached: CachedTable
  readonly known: CachedTable | undefined
  readonly base: Loads['base']
}

/** @returns undefined if the store did not confirm the caller; then no intent was written */
async function openSpeculatively(
  parts: GatewayParts,
  { key, caller, upstream, commit, cached, known, base }: SpeculativeInput,
): Promise<OpenedCommit | undefined> {
  const { tenant, table, stages } = commit
  const pending = await pendingIntent(parts, upstream, commit)
  const session = { key: key.session, tenant, prefix: key.prefix, fingerprint: caller.fingerprint }
  const asked = askedPrefixes(locationsNamed(commit.request.updates))
  let confirmation: Confirmation | undefined
  pending.declare(cached.metadataLocation, known && 'pinned', async (intent) => {
    const ask = () => beginCommit(parts.store, session, intent, parts.intentTimes, asked)
    const row = await stages.time('session', () => stages.time('policies', ask))
    confirmation = { row }
    if (row === undefined) throw new Error('the session, the credential or the policies have changed')
    if (row.known != null) assertClaimed({ known: row.known })
  })
  // Both requests are sent before this thread evaluates policies.
  await afterSending()
  const assumed = parts.speculative.governance(tenant, table)
  const speculativeStages = new StageTimes()
  const assumedVerdict =
    assumed && judgeCached(parts, { ...commit, stages: speculativeStages }, cached, ok(assumed.governance))
  await pending.idle()
  const confirmed = rowOf(confirmation)
  if (confirmed === undefined) {
    parts.speculative.forgetCaller(key)
    // The store may have written the intent although its reply was lost.
    if (confirmation === undefined) await pending.withdraw()
    return undefined
  }
  if (assumed !== undefined && assumedVerdict !== undefined && confirmed.governance === assumed.text) {
    await assumedVerdict
    stages.adopt(speculativeStages)
    // The policies were assumed, the territory was not: it is what the store has just said.
    const territory = Promise.try(readTerritory, confirmed.territory)
    const governance = outcomeOf(territory.then((found) => ({ ...assumed.governance, territory: found })))
    return {
      loads: { base, governance },
      intent: pending,
      known,
      speculativeVerdict: verdictOn(cached, assumedVerdict),
    }
  }
  const governance = await outcomeOf(Promise.try(readWriteGovernance, confirmed))
  if (governance.ok && confirmed.governance !== null)
    parts.speculative.rememberGovernance(tenant, table, {
      text: confirmed.governance,
      governance: governance.value,
    })
  const verdict = judgeCached(parts, commit, cached, governance)
  const loads = { base, governance: Promise.resolve(governance) }
  return { loads, intent: pending, known, speculativeVerdict: verdictOn(cached, verdict) }
}

const ok = <T>(value: T) => ({ ok: true, value }) as const

/** What the store replied; its row is undefined if it did not confirm. */
interface Confirmation {
  readonly row: GovernanceRow | undefined
}

// A function, because the compiler does not see that a callback assigns the variable.
const rowOf = (confirmation: Confirmation | undefined) => confirmation?.row
