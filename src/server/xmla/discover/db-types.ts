/** The type numbers of OLE DB, by which clients know what a key or a measure is. */

import type { SqlType } from '../../../core/sql-type.ts'

const text = 130
const double = 5
const date = 7
const numbers: Partial<Record<SqlType, number>> = {
  bool: 11,
  int2: 2,
  int4: 3,
  int8: 20,
  // Decimals become doubles in cells, because clients take no other type for them.
  numeric: double,
  float4: double,
  float8: double,
  date,
  timestamp: date,
  timestamptz: date,
}

/** The number of a type; a type that OLE DB does not have is text. */
export function dbTypeOf(type: SqlType): number {
  return numbers[type] ?? text
}
