/**
 * Keeps a creation undecided that may have been made and dropped since. If the audit shows a drop of its name, nothing
 * shows what was dropped.
 */

import type { CatalogAction, IntentHead } from '../../core/commit.ts'
import { auditedChanges } from '../../store/commit/audit.ts'
import type { ClaimedIntent } from '../../store/commit/commit-intents.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { IntentOutcome } from './decide.ts'

/** Creations of tables. For views and namespaces, decide-action.ts counts creations and drops. */
const creations: ReadonlySet<CatalogAction> = new Set(['create-table', 'register-table'])

/** The outcome, but `undecidable` for a missing creation whose name was dropped since. */
export async function unlessDropped(
  { store }: GatewayParts,
  { tenant, intent, openedAt }: ClaimedIntent,
  outcome: IntentOutcome,
): Promise<IntentOutcome> {
  if (outcome.kind !== 'not-committed' || !creates(intent)) return outcome
  if ((await auditedChanges(store, tenant, intent, openedAt)).removed === 0) return outcome
  return { kind: 'undecidable', why: 'the table may have been created and dropped since' }
}

function creates({ action = 'update-table', baseMetadataLocation }: IntentHead): boolean {
  return creations.has(action) || (action === 'update-table' && baseMetadataLocation === '')
}
