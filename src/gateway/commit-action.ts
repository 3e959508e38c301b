/**
 * What changes a catalog without being a commit, by the same steps as a commit: verdict, durable intent,
 * forward, audit. Once the upstream accepted, the answer is its answer.
 */

import { jsonObject, stringifyJson } from '../base/json.ts'
import type { ForwardedResponse, ForwardRequest } from '../catalog/catalog.ts'
import { catalogOf } from '../core/catalog.ts'
import { type CommitIntent, writesMetadata } from '../core/commit.ts'
import type { PolicyOutcome } from '../core/decision.ts'
import { bodyOf } from '../http/read-body.ts'
import { committedTable, parseLoadTableResult } from '../wire/iceberg/table-metadata.ts'
import type { GatewayParts } from './parts.ts'
import { type SettledAction, settleAction } from './recovery/settle-action.ts'
import { DeclaredIntent } from './stages/intent.ts'
import { assertAllowed, warningsOf } from './stages/judge.ts'
import { type ActionChange, judgeAction } from './stages/judge-action.ts'
import type { Upstream } from './stages/open-upstream.ts'
import { recordApproval, recordRejection, surelyNotCommitted } from './stages/record.ts'

export interface ActionCommit extends ActionChange {
  readonly commitId: string
  /** A staged creation leaves nothing upstream; the commit that follows it is judged and audited. */
  readonly staged: boolean
  /** Where what the action replaces lies now; '' where nothing does or it is a table, which is loaded. */
  readonly baseMetadataLocation: string
  readonly forward: Omit<ForwardRequest, 'mutates'>
}

export interface ActionCommitted {
  readonly response: ForwardedResponse & { readonly body: Uint8Array }
  readonly warnings: readonly PolicyOutcome[]
}

/**
 * Judges one action and, if it is allowed, passes it on and audits it.
 * @throws Fault by SPEC 7; CatalogError for the four sentinels
 */
export async function commitAction(
  parts: GatewayParts,
  upstream: Upstream,
  commit: ActionCommit,
): Promise<ActionCommitted> {
  const { action, tenant, stages } = commit
  const judged = await judgeAction(parts, upstream, commit)
  const { verdict } = judged
  const baseMetadataLocation = judged.base?.metadataLocation ?? commit.baseMetadataLocation
  const tableUuid = judged.base?.metadata.get('table-uuid')
  const withoutBase = {
    ...(await intentOf(upstream, commit)),
    ...(typeof tableUuid === 'string' && { baseTableUuid: tableUuid }),
  }
  if (verdict.kind === 'deny')
    await stages.time('record', () =>
      recordRejection(
        parts,
        tenant,
        { ...withoutBase, table: judged.table, baseMetadataLocation },
        judged,
        verdict.reason,
      ),
    )
  if (verdict.kind === 'unavailable')
    parts.metrics.commitRejected.inc({ reason: 'policy_engine_unavailable' })
  assertAllowed(verdict)

  const warnings = warningsOf(verdict)
  const forwarded = () => stages.time('forward', () => forward(upstream, commit))
  if (commit.staged) return { response: await forwarded(), warnings }
  const declared = new DeclaredIntent(parts, tenant, withoutBase, stages)
  declared.declare(baseMetadataLocation)
  await declared.durable()
  parts.passCrashPoint('commit-not-forwarded')
  const { response, committed } = await forwardDeclared(parts, upstream, commit, declared, forwarded)
  parts.passCrashPoint('commit-forwarded')
  const read = () => committed ?? committedTable(parseLoadTableResult(response.body))
  const made = writesMetadata(action) ? read : undefined
  const mayRepeat = commit.forward.idempotencyKey !== undefined
  await stages.time('record', () => recordApproval(parts, tenant, declared.intent, judged, made, mayRepeat))
  return { response, warnings }
}

/** @throws what the catalog throws, save where what is there now shows that the change was made */
async function forwardDeclared(
  parts: GatewayParts,
  upstream: Upstream,
  commit: ActionCommit,
  declared: DeclaredIntent,
  forwarded: () => Promise<ActionCommitted['response']>,
): Promise<SettledAction> {
  try {
    return { response: await forwarded() }
  } catch (error) {
    if (surelyNotCommitted(error)) {
      await declared.withdraw()
      throw error
    }
    parts.passCrashPoint('answer-lost')
    const registers = commit.request.updates[0]?.get('metadata-location')
    const settled = await settleAction(parts, upstream, {
      intent: declared.intent,
      destination: commit.destination,
      registers: typeof registers === 'string' ? registers : undefined,
    })
    if (settled !== undefined) return settled
    parts.log.error({ err: error, commitId: commit.commitId }, 'commit state unknown; its intent stays')
    throw error
  }
}

/** What is kept of the request is what was judged: a replay judges the same. */
async function intentOf(
  upstream: Upstream,
  commit: ActionCommit,
): Promise<Omit<CommitIntent, 'baseMetadataLocation'>> {
  const { requirements, updates } = commit.request
  const { bytes, sha256 } = await bodyOf(Buffer.from(stringifyJson(jsonObject({ requirements, updates }))))
  return {
    commitId: commit.commitId,
    action: commit.action,
    table: commit.table,
    credentialId: upstream.credential.id,
    catalog: catalogOf(upstream.credential),
    principal: commit.identified.principal,
    principalSource: commit.identified.source,
    bodySha256: sha256,
    body: Bun.zstdCompressSync(bytes as Uint8Array<ArrayBuffer>),
    snapshotIds: [],
    receivedAtMs: commit.receivedAtMs,
  }
}

async function forward({ catalog }: Upstream, commit: ActionCommit): Promise<ActionCommitted['response']> {
  const response = await catalog.forward({ ...commit.forward, mutates: true })
  const body = response.body instanceof Uint8Array ? response.body : await new Response(response.body).bytes()
  return { ...response, body }
}
