/**
 * Seals every stored value again, by the key that seals now. A value that changes meanwhile is left as it is. It does not
 * decide when the former key may go (secrets-key.ts).
 */

import { type SealedColumn, sealedColumns } from '../database/sealed-columns.ts'
import { seal, tryUnseal } from '../database/sealing.ts'
import type { Store } from '../store.ts'
import { placeOf, type SealedValue, valuesOf } from './sealed-values.ts'

/** How a look at all values went. */
export interface SealedAgain {
  /** Values that were looked at. */
  readonly seen: number
  /** Those that the former key had sealed. */
  readonly sealed: number
  /** Those that no key opens, as where one was lost. */
  readonly unreadable: number
}

/** The columns whose values are sealed, in the order in which they are sealed again. */
const columns: readonly SealedColumn[] = Object.values(sealedColumns)

/**
 * Looks at every value once, and seals those again that only the former key opens. It can end at any time and begin
 * again from the start. @throws the signal's reason
 */
export async function sealAgain(store: Store, signal: AbortSignal): Promise<SealedAgain> {
  let [seen, sealed, unreadable] = [0, 0, 0]
  for (const column of columns)
    for await (const row of valuesOf(store, column)) {
      signal.throwIfAborted()
      seen += 1
      const outcome = await sealValue(store, column, row)
      if (outcome === 'sealed') sealed += 1
      if (outcome === 'unreadable') unreadable += 1
    }
  return { seen, sealed, unreadable }
}

async function sealValue(store: Store, column: SealedColumn, row: SealedValue) {
  const place = placeOf(column, row)
  if (tryUnseal(store.secretsKey, place, row.value) !== undefined) return 'present'
  const text = store.formerKey && tryUnseal(store.formerKey, place, row.value)
  if (text === undefined) return 'unreadable'
  const names = Object.entries(column.key)
  const same = names.map(([name, type], at) => `${name} = $${at + 3}::${type}`).join(' and ')
  await store.adminQuery(
    `update ${column.table} set ${column.column} = $1 where ${column.column} = $2 and ${same}`,
    [seal(store.secretsKey, place, text), row.value, ...names.map(([name]) => String(row[name]))],
  )
  return 'sealed'
}
