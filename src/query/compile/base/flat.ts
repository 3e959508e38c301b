/**
 * Writes a value for DuckDB so that the expressions above it cannot see values of hidden rows. It does not decide
 * where that is needed: barrier.ts does.
 *
 * DuckDB computes a function over a whole Parquet dictionary and casts all children of a list, values of hidden rows
 * included. CASE passes both on; `list_extract` copies the chosen values only. DuckDB also knows that `list_extract`
 * may throw, so it does not move an expression that holds it below a filter.
 */

/** SQL of the same value and type. @param sql a value of any type */
export function flat(sql: string): string {
  return `list_extract([${sql}], 1)`
}
