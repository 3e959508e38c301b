/**
 * Performs a single-table commit after its body was read: steps 8 to 14 of docs/reference/gateway.md 2.1. Nothing is
 * forwarded before the commit is allowed and its intent is durable. Once the upstream has accepted, the client receives
 * its reply, whatever fails afterwards.
 */

import { CatalogError } from '../../catalog/catalog.ts'
import type { PolicyOutcome } from '../../core/decision.ts'
import { checkRequirements } from '../../wire/iceberg/check-requirements.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { CachedTable } from '../base/table-cache.ts'
import type { Upstream } from '../base/upstream.ts'
import type { Judged } from '../stages/change.ts'
import { judgeChange } from '../stages/judge.ts'
import { judgePinned, type PinnedVerdict, pinsOfCommit } from '../stages/judge-pinned.ts'
import { loadedBase, startTableLoad } from '../stages/loads.ts'
import { type OpenedCommit, openCommit, type TableCommit } from '../stages/open-commit.ts'
import type { Pins } from '../stages/pins.ts'
import { warningsOf } from '../stages/verdicts.ts'
import { type Forwarded, forwardTable } from './forward-table.ts'
import { passVerdict } from './outcomes.ts'

export interface TableCommitted {
  readonly response: Forwarded
  /** The outcomes of `warn` policies that were not true. */
  readonly warnings: readonly PolicyOutcome[]
}

/**
 * Judges one commit and, if it is allowed, forwards it and audits it.
 * @param given the commit as its speculative start opened it; otherwise it is opened here
 * @throws Fault by docs/reference/errors.md 2.1; CatalogError for the four sentinels
 */
export async function commitTable(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
  given?: OpenedCommit,
): Promise<TableCommitted> {
  const opened = given ?? (await openCommit(parts, upstream, commit))
  const { known, loads } = opened
  const pinned = known && (await judgePinned(parts, upstream, commit, known, opened))
  if (pinned === undefined)
    return await commitOn(parts, upstream, commit, opened, () => loadedBase(loads), undefined)
  try {
    return await commitPinned(parts, upstream, commit, opened, pinned)
  } catch (refusal) {
    const isConflict = refusal instanceof CatalogError && refusal.code === 'ErrCommitConflict'
    if (!isConflict || pinned.pins.length === 0) throw refusal
    const base = await rebased(parts, upstream, commit)
    if (base === undefined) throw refusal
    // The client asked for nothing that does not hold, so the conflict is the gateway's own: it is judged once more.
    const pins = await pinsAgain(parts, upstream, commit, opened, base)
    // What is sent now is another request to the catalog, which may keep its refusal of the first by the key.
    const again = { ...commit, idempotencyKey: undefined }
    return await commitOn(parts, upstream, again, opened, async () => base, pins)
  }
}

/** Forwards what was allowed on a known table, with the requirements under which that holds. */
async function commitPinned(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
  { intent }: OpenedCommit,
  { judged, pins }: PinnedVerdict,
): Promise<TableCommitted> {
  intent.declare(judged.base?.metadataLocation ?? '', 'pinned')
  const response = await forwardTable(parts, upstream, commit, intent, judged, pins)
  return { response, warnings: warningsOf(judged.verdict) }
}

/**
 * Judges the commit on a table that was loaded for it, and forwards it.
 * @param pins requirements that hold it to that table; undefined where none do
 */
async function commitOn(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
  { loads, intent, speculativeVerdict }: OpenedCommit,
  load: () => Promise<CachedTable | undefined>,
  pins: Pins | undefined,
): Promise<TableCommitted> {
  let judged: Judged
  try {
    const base = await load()
    // Written while the policies load and are evaluated.
    intent.declare(base?.metadataLocation ?? '', pins && 'pinned')
    judged = await judgeChange(parts, upstream, commit, base, loads, speculativeVerdict)
    if (judged.verdict.kind === 'allow') await intent.durable()
  } catch (error) {
    await intent.withdraw()
    throw error
  }
  await passVerdict(parts, judged, intent)
  const response = await forwardTable(parts, upstream, commit, intent, judged, pins)
  return { response, warnings: warningsOf(judged.verdict) }
}

/**
 * The table as it is after a conflict, if all that the client itself requires holds on it.
 * @returns undefined where the conflict is the client's, or that cannot be told
 */
async function rebased(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
): Promise<CachedTable | undefined> {
  try {
    const base = await startTableLoad(parts, upstream, commit)
    checkRequirements(base.metadata, commit.request.requirements)
    return base
  } catch {
    return undefined
  }
}

async function pinsAgain(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
  { loads }: OpenedCommit,
  base: CachedTable,
): Promise<Pins | undefined> {
  const governance = await loads.governance
  return governance.ok ? await pinsOfCommit(parts, upstream, commit, base, governance.value) : undefined
}
