/** The budget of bytes that a principal's agents may scan within 24 hours. */

import { SqlError } from '../../query/compile/base/sql-error.ts'
import { scannedSince } from '../../store/query/agent-usage.ts'
import { mcpBounds } from './bounds.ts'
import type { ToolContext } from './tool.ts'

const dayMs = 86_400_000
const GiB = 1_024 ** 3

/**
 * Refuses a query once the budget is used up. Queries that run at the same time may exceed it together.
 * @throws SqlError 53400
 */
export async function assertBudgetLeft({
  parts: { store, clock },
  caller: { tenant, principal },
}: Pick<ToolContext, 'parts' | 'caller'>): Promise<void> {
  const since = new Date(clock.now() - dayMs)
  if ((await scannedSince(store, tenant, principal.sub, since)) < mcpBounds.scannedBytesADay) return
  throw new SqlError(
    '53400',
    `Your agents have scanned ${mcpBounds.scannedBytesADay / GiB} GiB within 24 hours, which is all that they may.`,
  )
}
