/** Defines what differs between engines in writing SQL. Everything else is written once. */

import type { IcebergType } from '../../../core/iceberg-type.ts'
import type { DialectName, NumericSize, ScalarType, SqlType } from '../../../core/sql-type.ts'
import type { FunctionDef, Template } from '../base/function-definition.ts'
import type { NestedDialect } from './nested-dialect.ts'

export interface Dialect {
  readonly name: DialectName
  readonly typeName: (type: SqlType, size?: NumericSize | undefined) => string
  /** A literal of a type whose literals differ between engines. @param value PostgreSQL's text form */
  readonly literal: (value: string, type: ScalarType) => string
  /** A conversion of written SQL with PostgreSQL's meaning. */
  readonly cast: (sql: string, from: SqlType, to: SqlType, size?: NumericSize | undefined) => string
  /** A raw column as its PostgreSQL type. */
  readonly raw: (sql: string, type: IcebergType) => string
  /** The same value behind a barrier, where the engine needs one; see flat.ts. */
  readonly flat: (sql: string) => string
  /** Text with each digit as `n`, and all but digits and punctuation as `x`. */
  readonly maskedText: (sql: string) => string
  /** A raw column truncated to its year or month, in its PostgreSQL type. */
  readonly truncated: (unit: 'year' | 'month', sql: string, type: IcebergType) => string
  /** A raw column's hash in its own type. @param salt SQL of bytes that are hashed before the value */
  readonly sha256: (sql: string, type: IcebergType, salt: string | undefined) => string
  readonly nested: NestedDialect
  readonly template: (def: { readonly duckdb: Template; readonly trino: Template }) => Template
  /** SQL of the key by which a call's groups are formed, where it is not the result. */
  readonly groupKey: (def: FunctionDef) => Template | undefined
  readonly list: (elements: readonly string[]) => string
  /** The right side of IN as one constant, where that is faster; its result is undefined where it cannot be one. */
  readonly members?: (texts: readonly (string | null)[], type: SqlType) => string | undefined
  /** Undefined where the engine cannot keep the subquery's order. */
  readonly arraySubquery: ((query: string) => string) | undefined
  /** @param numbered whether a second column numbers the rows */
  readonly series: (args: readonly string[], type: SqlType, alias: string, numbered: boolean) => string
  /** Elements of arrays side by side. @param numbered whether a last column numbers the rows */
  readonly unnest: (arrays: readonly string[], alias: string, numbered: boolean) => string
  readonly limit: (limit: string | undefined, offset: string | undefined) => string
  /** Whether FILTER may stand before OVER. */
  readonly filtersWindows: boolean
  /** Whether substitutes for aggregates that skip NULL need a FILTER to do so. */
  readonly filtersNulls: boolean
  /** Whether the engine has DISTINCT ON with PostgreSQL's meaning. */
  readonly distinctOn: boolean
  /** Whether grouping sets may hold more than columns. */
  readonly groupsExpressions: boolean
}

/** What masks need of an engine, be it one that reads or one that writes. */
export type MaskDialect = Pick<
  Dialect,
  'typeName' | 'literal' | 'list' | 'maskedText' | 'truncated' | 'sha256'
>
