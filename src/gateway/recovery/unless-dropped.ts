/**
 * A creation that is nowhere to be seen may have been made, and dropped again: that something of its name was dropped
 * since is all that is left to tell, and leaves it open what.
 */

import type { CatalogAction, IntentHead } from '../../core/commit.ts'
import { auditedChanges } from '../../store/audit.ts'
import type { ClaimedIntent } from '../../store/commit-intents.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { IntentOutcome } from './decide.ts'

/** Those of tables: what else is made is counted in decide-action. */
const creations: ReadonlySet<CatalogAction> = new Set(['create-table', 'register-table'])

/** What was decided; `undecidable` for a creation that is not there and may have been. */
export async function unlessDropped(
  { store }: GatewayParts,
  { tenant, intent, openedAt }: ClaimedIntent,
  outcome: IntentOutcome,
): Promise<IntentOutcome> {
  if (outcome.kind !== 'not-committed' || !creates(intent)) return outcome
  if ((await auditedChanges(store, tenant, intent, openedAt)).removed === 0) return outcome
  return { kind: 'undecidable', why: 'what it would have made may have been dropped since' }
}

function creates({ action = 'update-table', baseMetadataLocation }: IntentHead): boolean {
  return creations.has(action) || (action === 'update-table' && baseMetadataLocation === '')
}
