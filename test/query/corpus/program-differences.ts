/** What programs write and the service does not give as PostgreSQL does, each with the words of docs/sql.md for it. */

interface ProgramDifference {
  /** In the statement's text. */
  readonly written: RegExp
  /** The SQLSTATE of the service; undefined where it gives the rows of another type. */
  readonly state?: string
  readonly listed: string
}

export const programDifferences: readonly ProgramDifference[] = [
  { written: / @\? /, state: '0A000', listed: '`@?` of JSON' },
  { written: /jsonb_path_query_first/, state: '42704', listed: '`jsonb_path_query`' },
  { written: /"tags" !?= \$1/, state: '0A000', listed: 'arrays of arrays' },
  { written: /UNNEST\(ARRAY\[ROW\(/, state: '0A000', listed: 'arrays of rows' },
  { written: /select row \(/, listed: '| `SELECT (a, b)` | text,' },
]
