/**
 * Query results as columns, which engines produce and every read surface encodes. A batch is a few thousand rows, so
 * nothing is allocated per row on the way to the wire.
 */

import type { VariableWidth } from './variable-width.ts'

/** One column of a batch. A NULL row also has a value, which is meaningless. */
export type ColumnVector = ColumnValues & {
  /** One bit a row, least significant first, set where the row is not NULL; undefined where no row is NULL. */
  readonly validity?: Uint8Array | undefined
}

type ColumnValues =
  /** 0 or 1 a row. */
  | { readonly type: 'bool'; readonly values: Uint8Array }
  | { readonly type: 'int2'; readonly values: Int16Array }
  | { readonly type: 'int4'; readonly values: Int32Array }
  | { readonly type: 'int8'; readonly values: BigInt64Array }
  | { readonly type: 'float4'; readonly values: Float32Array }
  | { readonly type: 'float8'; readonly values: Float64Array }
  /** Unscaled: the value is `values[row] / 10 ** scale`, with one scale for all rows or one for each. */
  | {
      readonly type: 'numeric'
      readonly values: BigInt64Array | readonly bigint[]
      readonly scale: number | Uint16Array
    }
  /** Days since 1970-01-01; the least and greatest int32 are -infinity and infinity. */
  | { readonly type: 'date'; readonly values: Int32Array }
  /** Microseconds since midnight. */
  | { readonly type: 'time'; readonly values: BigInt64Array }
  /** Microseconds since 1970-01-01 00:00 (UTC where `timestamptz`); the least and greatest int64 are infinities. */
  | { readonly type: 'timestamp' | 'timestamptz'; readonly values: BigInt64Array }
  | {
      readonly type: 'interval'
      readonly months: Int32Array
      readonly days: Int32Array
      /** Microseconds. */
      readonly micros: BigInt64Array
    }
  /** Text is UTF-8. */
  | ({ readonly type: 'text' | 'varchar' | 'json' | 'jsonb' | 'bytea' } & VariableWidth)
  /** In canonical form with hyphens, in lower case. */
  | { readonly type: 'uuid'; readonly values: readonly string[] }
  /** Row `r` holds the elements from `offsets[r]` to before `offsets[r + 1]`. */
  | { readonly type: 'array'; readonly offsets: Uint32Array; readonly elements: ColumnVector }

export interface ResultBatch {
  readonly rowCount: number
  /** In the order of the result's columns, each of that column's type. */
  readonly columns: readonly ColumnVector[]
}

/** The scale of a numeric column in a row. */
export function scaleAt(scale: number | Uint16Array, row: number): number {
  return typeof scale === 'number' ? scale : (scale[row] ?? 0)
}

/** Whether a column is NULL in a row. */
export function isNull({ validity }: ColumnVector, row: number): boolean {
  return validity !== undefined && ((validity[row >> 3] ?? 0) & (1 << (row & 7))) === 0
}
