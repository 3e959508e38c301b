/** Defines a legal query as a tool would write it. */

export interface CorpusQuery {
  readonly tool: 'Tableau' | 'Power BI' | 'Metabase' | 'Superset' | 'Looker' | 'DBeaver' | 'Grafana'
  readonly sql: string
  readonly parameters?: readonly (string | null)[]
}

/** Queries of one tool. */
export function of(
  tool: CorpusQuery['tool'],
  statements: readonly (string | readonly [string, ...(string | null)[]])[],
): CorpusQuery[] {
  return statements.map((each) => {
    if (typeof each === 'string') return { tool, sql: each }
    const [sql, ...parameters] = each
    return { tool, sql, parameters }
  })
}
