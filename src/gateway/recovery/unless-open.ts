/**
 * Keeps undecided what does not show, but may still be made: a change that the upstream may still work on, and a
 * creation that may have been made and dropped since. If the audit shows a drop of its name, nothing shows what was
 * dropped.
 */

import type { CatalogAction, IntentHead } from '../../core/commit.ts'
import { auditedChanges } from '../../store/commit/audit.ts'
import type { ClaimedIntent } from '../../store/commit/commit-intents.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { IntentOutcome } from './decide.ts'

/** Creations of tables. For views and namespaces, decide-action.ts counts creations and drops. */
const creations: ReadonlySet<CatalogAction> = new Set(['create-table', 'register-table'])

/** The outcome, but `undecidable` for what may still be made, and for a missing creation whose name was dropped since. */
export async function unlessOpen(
  { store }: GatewayParts,
  { tenant, intent, openedAt, hasEnded }: ClaimedIntent,
  outcome: IntentOutcome,
): Promise<IntentOutcome> {
  if (outcome.kind !== 'not-committed') return outcome
  if (!hasEnded) return { kind: 'undecidable', why: 'the upstream may still be working on it' }
  if (!creates(intent)) return outcome
  if ((await auditedChanges(store, tenant, intent, openedAt)).removed === 0) return outcome
  return { kind: 'undecidable', why: 'the table may have been created and dropped since' }
}

function creates({ action = 'update-table', baseMetadataLocation }: IntentHead): boolean {
  return creations.has(action) || (action === 'update-table' && baseMetadataLocation === '')
}
