/** Writes tables with columns to the graph, as commits leave them. */

import type { Column } from '../../src/core/commit.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { openIntent } from '../../src/store/commit/commit-intents.ts'
import { recordVerdict } from '../../src/store/commit/verdicts.ts'
import type { Store } from '../../src/store/store.ts'
import { approvedOf, committedOf, intentOf } from './commits.ts'

/** Records an accepted commit that gives `table` these columns, field ids from 1 unless a name has its own. */
export async function commitColumns(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  types: Readonly<Record<string, string>>,
  receivedAtMs = 1_700_000_000_000,
): Promise<void> {
  const columns = Object.entries(types).map(
    ([name, type], index): Column => ({ fieldId: BigInt(index + 1), name, type, required: false }),
  )
  const intent = intentOf({ table, receivedAtMs })
  await openIntent(store, tenant, intent)
  const { ingested } = await recordVerdict(store, tenant, approvedOf(intent, committedOf({ columns })))
  if (!ingested) throw new Error('the columns were not ingested')
}
