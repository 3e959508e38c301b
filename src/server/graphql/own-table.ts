/** Names of tables in arguments, in the form that the tenant's catalogs have for them, as on the REST API (http/own-names.ts). */

import { foldTable } from '../../core/name-case.ts'
import type { TableRef } from '../../core/table-ref.ts'
import { foldsAllNames } from '../../store/catalog-credential/name-case.ts'
import type { GraphContext } from './context.ts'

/** In lower case where all catalogs of the tenant fold names. */
export async function ownTable(
  { store, caller }: Pick<GraphContext, 'store' | 'caller'>,
  ref: TableRef,
): Promise<TableRef> {
  const folded = foldTable(ref)
  return folded !== ref && (await foldsAllNames(store, caller.tenant)) ? folded : ref
}
