/** Keeps the partitions of history by month ahead of time (docs/operations.md). */

import type { Store } from '../store.ts'

/** Makes the partitions of this month and the next three that are missing. @returns how many it made */
export async function keepMonths(store: Store): Promise<number> {
  const [row] = await store.adminQuery<{ readonly made: number }>('select svc.keep_months() as made')
  return row?.made ?? 0
}
