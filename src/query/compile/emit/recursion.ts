/**
 * Writes recursive queries for DuckDB, which has no bounds of its own for them. Each level counts itself where rows are
 * kept as they come (UNION ALL). With UNION each level brings a new row, so that the bound on rows is one on levels.
 */

import { isArray, type SqlType } from '../../../core/sql-type.ts'
import type { OutputColumn, SetOperation } from '../base/ir.ts'
import { recursionBounds } from '../base/recursion-bounds.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { isString } from '../base/types.ts'
import type { Dialect } from './dialect.ts'

/** The two terms as written, and the alias by which the recursive one reads the query itself. */
interface Terms {
  readonly base: string
  /** @param more further columns */
  readonly step: (more: readonly string[]) => string
  readonly alias: string
}

const fails = "error('recursion out of bounds')"

/**
 * The query of a recursive CTE. Its name inside is the CTE's own.
 * @throws SqlError 0A000 where the engine has no such recursion
 */
export function emitRecursion(
  dialect: Dialect,
  { recursive: id = '', all }: SetOperation,
  columns: readonly OutputColumn[],
  { base, step, alias }: Terms,
): string {
  if (dialect.name !== 'duckdb')
    throw new SqlError('0A000', 'WITH RECURSIVE is not supported on this engine.', undefined, {
      hint: 'Join the levels that there are, or read the table with the embedded engine.',
    })
  if (alias === '') throw notSupported('This recursive query')
  const { levelsMax, rowsMax, valueBytesMax } = recursionBounds
  const plain = columns.map((column, index) => typedColumn(dialect, column, `u.c${index + 1}`))
  const bounded = plain.map((sql, index) =>
    isLong(columns[index]?.type ?? 'text')
      ? `CASE WHEN strlen(CAST(${sql} AS VARCHAR)) > ${valueBytesMax} THEN ${fails} ELSE ${sql} END`
      : sql,
  )
  const list = (values: readonly string[]) => values.map((sql, index) => `${sql} AS c${index + 1}`).join(', ')
  const level = `CASE WHEN ${alias}.level >= ${levelsMax} THEN ${fails} ELSE ${alias}.level + 1 END AS level`
  const first = `SELECT ${list(plain)}${all ? ', 1 AS level' : ''} FROM (${base}) AS u`
  const next = `SELECT ${list(bounded)}${all ? ', u.level AS level' : ''} FROM (${step(all ? [level] : [])}) AS u`
  const union = `WITH RECURSIVE ${id} AS (${first} UNION ${all ? 'ALL ' : ''}${next})`
  const names = columns.map((_, index) => `g.c${index + 1} AS c${index + 1}`).join(', ')
  // A condition is kept whatever columns are read. LIMIT ends the recursion early.
  const rows = `SELECT *, row_number() OVER () AS n FROM (SELECT * FROM ${id} LIMIT ${rowsMax + 1}) AS l`
  return `${union} SELECT ${names} FROM (${rows}) AS g WHERE CASE WHEN g.n > ${rowsMax} THEN ${fails} ELSE TRUE END`
}

/** DuckDB gives a column the type that it has in the base. */
function typedColumn(dialect: Dialect, { type, size, shape }: OutputColumn, sql: string): string {
  if (type === 'numeric' && size === undefined && shape !== 'double') return sql
  const name = type === 'numeric' && size === undefined ? 'DOUBLE' : dialect.typeName(type, size)
  return `CAST(${sql} AS ${name})`
}

function isLong(type: SqlType): boolean {
  return isArray(type) || isString(type) || type === 'bytea' || type === 'json' || type === 'jsonb'
}
