/**
 * Performs a change of the catalog that is not a commit, by the steps of a commit: verdict, durable intent, forward,
 * audit. Once the upstream has accepted, the client receives its reply.
 */

import { jsonObject, stringifyJson } from '../../base/json.ts'
import type { ForwardedResponse, ForwardRequest } from '../../catalog/catalog.ts'
import { catalogOf } from '../../core/catalog.ts'
import {
  type CatalogAction,
  type CommitIntent,
  type CommittedTable,
  writesMetadata,
} from '../../core/commit.ts'
import type { PolicyOutcome } from '../../core/decision.ts'
import type { KeyClaim } from '../../core/idempotency.ts'
import { storageRoots } from '../../storage/roots.ts'
import {
  committedTable,
  type LoadTableResult,
  parseLoadTableResult,
} from '../../wire/iceberg/table-metadata.ts'
import { bodyOfText } from '../base/body.ts'
import type { GatewayParts } from '../base/parts.ts'
import { PendingIntent } from '../base/pending-intent.ts'
import type { Upstream } from '../base/upstream.ts'
import { showsAction } from '../recovery/after-refusal.ts'
import { type ResolvedAction, resolveLostAction } from '../recovery/lost-action.ts'
import type { Judged } from '../stages/change.ts'
import { type ActionChange, judgeAction } from '../stages/judge-action.ts'
import { warningsOf } from '../stages/verdicts.ts'
import { assertAnswersCreation } from './answers-change.ts'
import { feedReply, refusedLocation } from './feed-reply.ts'
import { forwardDurable, passVerdict } from './outcomes.ts'
import { acceptedChange, noteAccepted, recordApproval } from './record.ts'

export interface ActionCommit extends ActionChange {
  /** The metadata location that a replace-view replaces; '' for other actions. A table's location is loaded. */
  readonly baseMetadataLocation: string
  readonly forward: Omit<ForwardRequest, 'mutates'>
  /** Set where the request may be repeated by its Idempotency-Key. */
  readonly claim?: KeyClaim | undefined
}

export interface ActionCommitted {
  readonly response: ForwardedResponse & { readonly body: Uint8Array }
  /** Whether nothing that leads to the table's files may be disclosed, because some are not in its territory. */
  readonly withheld: boolean
  readonly warnings: readonly PolicyOutcome[]
}

/**
 * Judges one action and, if it is allowed, forwards it and audits it.
 * @throws Fault by docs/reference/errors.md 2.1; CatalogError for the four sentinels
 */
export async function commitAction(
  parts: GatewayParts,
  upstream: Upstream,
  commit: ActionCommit,
): Promise<ActionCommitted> {
  const { action, tenant, stages } = commit
  const judged = await judgeAction(parts, upstream, commit)
  const base = judged.base?.metadataLocation ?? commit.baseMetadataLocation
  const intent = new PendingIntent(parts, tenant, await intentOf(upstream, commit, judged), stages)
  await passVerdict(parts, judged, intent, base)

  const warnings = warningsOf(judged.verdict)
  const send = () => forward(upstream, commit)
  if (commit.staged) {
    const response = await stages.time('forward', send)
    // Nothing was made yet, so a default location in another table's territory is refused like one that was asked for.
    const verdict = refusedLocation(commit.table, await feedReply(parts, upstream, commit, response.body))
    if (verdict !== undefined) await passVerdict(parts, { ...judged, verdict }, intent, base)
    return { response, warnings, withheld: false }
  }
  intent.declare(base)
  await intent.durable()
  const { response, committed } = await forwardDurable<ResolvedAction>(parts, intent, {
    send: async () => {
      const response = await send()
      const made = action === 'create-table' ? parsed(response.body) : undefined
      if (made) assertAnswersCreation(commit.table, commit.request.updates[0] ?? new Map(), made.metadata)
      return { response }
    },
    resolve: () => resolveLostAction(parts, upstream, lostAction(intent, commit)),
    wasMade: () =>
      showsAction(parts, upstream, tenant, intent.intent, commit.request.updates[0] ?? new Map()),
  })
  const made = writesMetadata(action) ? (committed ?? committedOf(parts, commit, response.body)) : undefined
  const mayRepeat = commit.forward.idempotencyKey !== undefined
  const renamedTo = action === 'rename-table' ? commit.destination : undefined
  const change = acceptedChange(intent, { ...judged, renamedTo }, made, mayRepeat)
  noteAccepted(parts, change)
  await recordApproval(parts, intent, change)
  const stray = makesTable.has(action) ? await feedReply(parts, upstream, commit, response.body) : undefined
  return { response, warnings, withheld: stray?.isEnforced === true }
}

const makesTable: ReadonlySet<CatalogAction> = new Set(['create-table', 'register-table'])

/** A reply, or undefined where it cannot be read. */
function parsed(reply: Uint8Array): LoadTableResult | undefined {
  try {
    return parseLoadTableResult(reply)
  } catch {
    return undefined
  }
}

/** The table that the action made, by the upstream's reply; undefined if the reply cannot be read. */
function committedOf(
  { log }: GatewayParts,
  { commitId }: ActionCommit,
  reply: Uint8Array,
): CommittedTable | undefined {
  try {
    return committedTable(parseLoadTableResult(reply))
  } catch (err) {
    log.error({ err, commitId }, 'the reply to an accepted change cannot be read')
    return undefined
  }
}

function lostAction({ intent }: PendingIntent, { request, destination }: ActionCommit) {
  const registers = request.updates[0]?.get('metadata-location')
  return { intent, destination, registers: typeof registers === 'string' ? registers : undefined }
}

/** Stores the request that was judged, so that a replay judges the same one. */
async function intentOf(
  upstream: Upstream,
  commit: ActionCommit,
  { base }: Judged,
): Promise<Omit<CommitIntent, 'baseMetadataLocation'>> {
  const { requirements, updates } = commit.request
  const { bytes, sha256 } = await bodyOfText(stringifyJson(jsonObject({ requirements, updates })))
  const tableUuid = base?.metadata.get('table-uuid')
  return {
    commitId: commit.commitId,
    action: commit.action,
    table: commit.table,
    credentialId: upstream.credential.id,
    catalog: catalogOf(upstream.credential),
    ...(storageRoots(upstream.credential.config).length === 0 && { storageUnread: true as const }),
    principal: commit.identified.principal,
    principalSource: commit.identified.source,
    bodySha256: sha256,
    body: Bun.zstdCompressSync(bytes as Uint8Array<ArrayBuffer>),
    snapshotIds: [],
    receivedAtMs: commit.receivedAtMs,
    ...(commit.requestId !== undefined && { requestId: commit.requestId }),
    origin: commit.origin,
    ...(commit.claim && { claim: commit.claim }),
    ...(typeof tableUuid === 'string' && { baseTableUuid: tableUuid }),
  }
}

async function forward({ catalog }: Upstream, commit: ActionCommit): Promise<ActionCommitted['response']> {
  const response = await catalog.forward({ ...commit.forward, mutates: true })
  const body = response.body instanceof Uint8Array ? response.body : await new Response(response.body).bytes()
  return { ...response, body }
}
