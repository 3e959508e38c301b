/**
 * DuckDB's form of a value that lets nothing else through. Does not decide where it is needed: barrier.ts does.
 *
 * DuckDB computes a function over a whole Parquet dictionary, and casts all children of a list, hidden rows'
 * values included. CASE hands both on. `list_extract` copies the chosen values alone, so nothing above it can
 * see more. DuckDB also knows that it may throw, so it keeps what holds it above the filters below.
 */

/** The same value and type; @param sql of a value of any type */
export function flat(sql: string): string {
  return `list_extract([${sql}], 1)`
}
