/** Names the contract that is proposed for a table. */

import { type TableRef, tableName } from '../../core/table-ref.ts'

/** Characters of an id (change.ts). */
const idCharsMax = 255

/** `namespace.table`; a longer one ends with a digest of it. */
export function contractIdOf(table: TableRef): string {
  const name = tableName(table)
  if (name.length <= idCharsMax) return name
  const digest = new Bun.CryptoHasher('sha256').update(name).digest('hex').slice(0, 16)
  return `${name.slice(0, idCharsMax - digest.length - 1)}.${digest}`
}
