/**
 * Looks for what a transaction made that was forwarded as one: its reply names no metadata files, or was lost. All of
 * its tables were changed or none, so one table that shows its commit proves those of the others.
 */

import { inParallel } from '../../base/in-parallel.ts'
import type { CommitIntent } from '../../core/commit.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Upstream } from '../base/upstream.ts'
import { committedAt } from './committed-at.ts'
import { decideIntents } from './decide.ts'
import { lookAtTable, staleIntent } from './look.ts'
import { logLostReply, type ResolvedCommit, repeatUntilFound } from './lost-commit.ts'

/** By commit id. A commit that is not in it was made, but the table does not show which file it wrote. */
export type MadeCommits = ReadonlyMap<string, ResolvedCommit>

/**
 * Repeats the look until every table shows its commit, or the time is up. Never throws.
 * @param intents durable, owned by this process, each on another table
 * @param accepted whether the upstream said that it made the transaction
 * @returns what was found by then; undefined if nothing shows that the transaction was made
 */
export async function findTransactionMade(
  parts: GatewayParts,
  upstream: Upstream,
  tenant: TenantId,
  intents: readonly CommitIntent[],
  accepted: boolean,
): Promise<MadeCommits | undefined> {
  const [first] = intents
  if (first === undefined) throw new Error('a transaction without a table')
  let found: MadeCommits = new Map()
  await repeatUntilFound(parts, first, async (signal) => {
    found = await look(parts, upstream, tenant, intents, accepted || found.size > 0, signal)
    return found.size === intents.length ? found : undefined
  })
  if (!accepted && found.size === 0) return undefined
  if (!accepted) logLostReply(parts, first)
  return found
}

async function look(
  parts: GatewayParts,
  { catalog }: Upstream,
  tenant: TenantId,
  intents: readonly CommitIntent[],
  isSurelyMade: boolean,
  signal: AbortSignal,
): Promise<MadeCommits> {
  const mine = new Set(intents.map(({ commitId }) => commitId))
  const looks = await inParallel(intents, limits.transactionLoadsMax, async (intent) => {
    const now = await lookAtTable(parts, catalog, tenant, intent.table, mine, { signal, othersWaitMs: 0 })
    return { intent, now, stale: await staleIntent(intent, now?.result.metadata, async () => intent.body) }
  })
  const decide = (sure: boolean): MadeCommits => {
    const made = new Map<string, ResolvedCommit>()
    for (const { intent, now, stale } of looks) {
      const outcome = decideIntents([{ ...stale, isSurelyMade: sure }], now?.evidence).get(intent.commitId)
      if (now !== undefined && outcome?.kind === 'committed')
        made.set(intent.commitId, {
          now,
          committed: committedAt(now.result, intent, outcome.metadataLocation),
        })
    }
    return made
  }
  const made = decide(isSurelyMade)
  return isSurelyMade || made.size === 0 ? made : decide(true)
}
