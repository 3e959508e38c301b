/** What differs between engines in writing SQL; everything else is written once. */

import type { IcebergType } from '../../core/iceberg-type.ts'
import type { MaskAction } from '../../core/mask.ts'
import type { DialectName, NumericSize, SqlType } from '../../core/sql-type.ts'
import type { FunctionDef, Template } from '../functions/definition.ts'
import type { LiteralExpr } from '../ir.ts'
import { notSupported } from '../sql-error.ts'

export interface Dialect {
  readonly name: DialectName
  readonly typeName: (type: SqlType, size?: NumericSize | undefined) => string
  readonly literal: (literal: LiteralExpr) => string
  /** A conversion with PostgreSQL's meaning of written SQL. */
  readonly cast: (sql: string, from: SqlType, to: SqlType, size?: NumericSize | undefined) => string
  /** A raw column as its served type. */
  readonly raw: (sql: string, type: IcebergType) => string
  /** @param salt SQL of the query's salt, as bytes */
  readonly mask: (action: MaskAction, sql: string, type: IcebergType, salt: string) => string
  readonly template: (def: { readonly duckdb: Template; readonly trino: Template }) => Template
  /** What a call's groups are told by, where not by its result. */
  readonly groupKey: (def: FunctionDef) => Template | undefined
  readonly array: (elements: readonly string[], type: SqlType) => string
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

/** An identifier in double quotes: ours, or a physical name. */
export function quoteIdentifier(name: string): string {
  if (name === '' || name.includes('\0') || !name.isWellFormed()) throw new RangeError('not an identifier')
  return `"${name.replaceAll('"', '""')}"`
}

/** A text literal; neither engine knows escapes inside plain quotes. */
export function quoteText(text: string): string {
  if (text.includes('\0')) throw new RangeError('not text')
  return `'${text.replaceAll("'", "''")}'`
}

/**
 * A numeric literal, exactly.
 *
 * @throws SqlError 0A000 for one of more digits than a decimal of the engines holds
 */
export function decimal(value: string, size: NumericSize | undefined): string {
  if (size === undefined) throw notSupported('A numeric of more than 38 digits')
  return `CAST(${quoteText(value)} AS DECIMAL(${size[0]},${size[1]}))`
}

/** Digits, sign and point as both engines read them; negative numbers in parentheses. */
export function plainNumber(value: string): string {
  if (!/^-?\d+$/.test(value)) throw new RangeError('not a number')
  return value.startsWith('-') ? `(${value})` : value
}
