/** What differs between engines in writing SQL; everything else is written once. */

import type { IcebergType } from '../../core/iceberg-type.ts'
import type { DialectName, NumericSize, ScalarType, SqlType } from '../../core/sql-type.ts'
import type { FunctionDef, Template } from '../functions/definition.ts'

export interface Dialect {
  readonly name: DialectName
  readonly typeName: (type: SqlType, size?: NumericSize | undefined) => string
  /** A literal of a type whose literals differ between engines, from PostgreSQL's text form. */
  readonly literal: (value: string, type: ScalarType) => string
  /** A conversion with PostgreSQL's meaning of written SQL. */
  readonly cast: (sql: string, from: SqlType, to: SqlType, size?: NumericSize | undefined) => string
  /** A raw column as its served type. */
  readonly raw: (sql: string, type: IcebergType) => string
  /** The same value behind a barrier, where the engine needs one; see barrier.ts. */
  readonly flat: (sql: string) => string
  /** Text with each digit as `n`, and all but digits and punctuation as `x`. */
  readonly maskedText: (sql: string) => string
  /** A raw column, in its served type, at the start of its year or month. */
  readonly truncated: (unit: 'year' | 'month', sql: string, type: IcebergType) => string
  /** A raw column's hash in its own type. @param salt SQL of bytes that are hashed before it, where there are any */
  readonly sha256: (sql: string, type: IcebergType, salt: string | undefined) => string
  readonly template: (def: { readonly duckdb: Template; readonly trino: Template }) => Template
  /** What a call's groups are told by, where not by its result. */
  readonly groupKey: (def: FunctionDef) => Template | undefined
  readonly list: (elements: readonly string[]) => string
  /** Undefined where the engine cannot keep its order. */
  readonly arraySubquery: ((query: string) => string) | undefined
  readonly series: (args: readonly string[], type: SqlType, alias: string) => string
  readonly unnest: (array: string, alias: string) => string
  readonly limit: (limit: string | undefined, offset: string | undefined) => string
  /** Whether FILTER may stand before OVER. */
  readonly filtersWindows: boolean
  /** Whether substitutes for aggregates that skip NULL must be told to. */
  readonly filtersNulls: boolean
  /** Whether grouping sets may hold more than columns. */
  readonly groupsExpressions: boolean
}
