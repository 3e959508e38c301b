/**
 * A creation that is not there may have been made and dropped again. Where the audit shows a drop of its name since, it
 * stays undecidable, because the audit does not tell what was dropped.
 */

import type { CatalogAction, IntentHead } from '../../core/commit.ts'
import { auditedChanges } from '../../store/commit/audit.ts'
import type { ClaimedIntent } from '../../store/commit/commit-intents.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { IntentOutcome } from './decide.ts'

/** Creations of tables; decide-action.ts counts those of views and namespaces. */
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
