/**
 * Settles all intents of which recovery found the file that their change wrote, once a person has looked at them: each
 * with a settlement and an audit row of its own.
 */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { everyItem } from '../database/page.ts'
import type { Store } from '../store.ts'
import { auditedBodies } from './audit.ts'
import { type IntentProposal, listIntents, type OpenIntent, settleIntent } from './intent-settlements.ts'

interface ProvenIntents {
  /** Undefined: of all tables. */
  readonly table: TableRef | undefined
  readonly reason: string
}

export interface SettledIntent extends IntentProposal {
  readonly commitId: string
  readonly table: TableRef
}

type Proposed = OpenIntent & { readonly proposed: IntentProposal }

/**
 * Settles as made what is stale and has a proven file that nothing else claims: no audit row, and no other proposal.
 * @returns what was settled, by commit id; the rest stays
 * @throws Fault `bad_request` for the reason; what the store throws, after which some may be settled
 */
export async function settleProven(
  store: Store,
  tenant: TenantId,
  { table, reason }: ProvenIntents,
  actor: Actor,
): Promise<readonly SettledIntent[]> {
  const proposed: Proposed[] = []
  for await (const one of everyItem((page) => listIntents(store, tenant, { ...page, table })))
    if (one.state === 'stale' && one.proposed !== undefined) proposed.push({ ...one, proposed: one.proposed })
  const settled: SettledIntent[] = []
  for (const { intent, proposed: proposal } of await unclaimed(store, tenant, proposed)) {
    // What an earlier version proposed does not say.
    if (proposal.isProven !== true) continue
    const { metadataLocation } = proposal
    const settlement = {
      outcome: 'made',
      metadataLocation,
      reason: `${reason} (${proposal.evidence})`,
    } as const
    try {
      await settleIntent(store, tenant, intent.commitId, settlement, actor)
    } catch (thrown) {
      // Recovery, or another person, came first.
      if (thrown instanceof Fault && (thrown.kind === 'not_found' || thrown.kind === 'conflict')) continue
      throw thrown
    }
    settled.push({ commitId: intent.commitId, table: intent.table, ...proposal })
  }
  return settled
}

/** Those whose file is in no audit row and in no other proposal. */
async function unclaimed(
  store: Store,
  tenant: TenantId,
  proposed: readonly Proposed[],
): Promise<readonly Proposed[]> {
  const left: Proposed[] = []
  for (const group of Map.groupBy(proposed, ({ intent }) => tableKey(intent.table)).values()) {
    const [first] = group
    if (first === undefined) continue
    const files = group.map((one) => one.proposed.metadataLocation)
    const audited = await auditedBodies(store, tenant, first.intent.table, files)
    const isClaimed = (file: string) => audited.has(file) || files.indexOf(file) !== files.lastIndexOf(file)
    left.push(...group.filter((one) => !isClaimed(one.proposed.metadataLocation)))
  }
  return left
}
