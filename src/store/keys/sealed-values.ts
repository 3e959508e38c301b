/** Goes through the values of a sealed column, a batch at a time. It opens none. */

import type { SealedColumn } from '../database/sealed-columns.ts'
import type { Store } from '../store.ts'

/** Values that are read at once. */
const batchSize = 100

/** A value, and the columns of its key as text. */
export type SealedValue = Readonly<Record<string, string>> & { readonly value: Uint8Array }

/** The place to which a value is bound. */
export function placeOf({ key, place }: SealedColumn, row: SealedValue): readonly string[] {
  return place(...Object.keys(key).map((name) => String(row[name])))
}

/** Every value of a column, in the order of its key. */
export async function* valuesOf(
  store: Store,
  { table, column, key, where }: SealedColumn,
): AsyncGenerator<SealedValue> {
  const names = Object.keys(key)
  // By the table's columns, not by the texts that are shown of them.
  const list = names.map((name) => `t.${name}`).join(', ')
  const shown = names.map((name) => `t.${name}::text as ${name}`).join(', ')
  const after = `(${list}) > (${Object.values(key).map((type, at) => `$${at + 1}::${type}`)})`
  let last: SealedValue | undefined
  do {
    const conditions = [...(where === undefined ? [] : [where]), ...(last === undefined ? [] : [after])]
    const rows: readonly SealedValue[] = await store.adminQuery<SealedValue>(
      `select ${shown}, ${column} as value from ${table} t
       ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`} order by ${list} limit ${batchSize}`,
      last === undefined ? [] : names.map((name) => String(last?.[name])),
    )
    yield* rows
    last = rows.length < batchSize ? undefined : rows.at(-1)
  } while (last !== undefined)
}
