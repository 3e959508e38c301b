/**
 * Takes tags away for which nothing stands any more: at once after a scan that said so, and by a job once the grace time of
 * values that are gone is over. The job asks the catalog for the current metadata file and has it scanned first, so that no
 * tag falls by what was known days ago.
 */

import { tableKey } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { type WithdrawalOutcome, withdrawTag } from '../store/contract/withdraw-tag.ts'
import { claimDueWithdrawals, type DueWithdrawal, requestRecheck } from '../store/detection/withdrawals.ts'
import type { DetectionParts } from './parts.ts'
import { currentMetadata } from './rescan-table.ts'

type WithdrawParts = Pick<DetectionParts, 'store' | 'catalogs' | 'log' | 'metrics'>

/** Findings that one round looks at. */
const dueMax = 200

/** Takes the tags of classifications away. One that fails is logged and has no outcome; the job looks at it again. */
export async function withdrawTags(
  { store, log, metrics }: Pick<WithdrawParts, 'store' | 'log' | 'metrics'>,
  tenant: TenantId,
  classificationIds: readonly string[],
  inTurn: (work: () => Promise<WithdrawalOutcome>) => Promise<WithdrawalOutcome> = (work) => work(),
): Promise<readonly WithdrawalOutcome[]> {
  const outcomes: WithdrawalOutcome[] = []
  for (const id of classificationIds)
    try {
      const outcome = await inTurn(() => withdrawTag(store, tenant, id))
      metrics.detectionWithdrawals.inc({ outcome })
      outcomes.push(outcome)
    } catch (err) {
      log.warn({ err }, 'a tag for which nothing stands could not be taken away')
    }
  return outcomes
}

/** One round of the job. What fails is logged and looked at again in an hour. @param wake called where a scan was asked for */
export async function withdrawDue(
  parts: WithdrawParts,
  wake: () => void,
  signal: AbortSignal,
): Promise<void> {
  const rechecked = new Set<string>()
  for (const due of await claimDueWithdrawals(parts.store, dueMax)) {
    signal.throwIfAborted()
    const [outcome] = await withdrawTags(parts, due.tenant, [due.classificationId])
    if (outcome === 'stands' && (await recheck(parts, due, rechecked))) wake()
  }
}

async function recheck(
  parts: WithdrawParts,
  { tenant, table, place }: DueWithdrawal,
  rechecked: Set<string>,
): Promise<boolean> {
  const key = `${tenant} ${table === undefined ? '' : tableKey(table)}`
  if (table === undefined || rechecked.has(key)) return false
  rechecked.add(key)
  try {
    const current = await currentMetadata(parts, tenant, table, place)
    if (current === undefined) return false
    await requestRecheck(parts.store, tenant, table, current)
    return true
  } catch (err) {
    parts.log.warn({ err }, 'a table whose values may be gone could not be asked for')
    return false
  }
}
