/** Words of Cypher that are not in the subset. A query with one of them is refused by its name. */

/** Clauses, and words that begin what is no part of the subset. */
export const refusedWords = [
  'ALTER',
  'CREATE',
  'DEALLOCATE',
  'DELETE',
  'DENY',
  'DETACH',
  'DROP',
  'DRYRUN',
  'ENABLE',
  'EXPLAIN',
  'FILTER',
  'FINISH',
  'FOREACH',
  'GRANT',
  'INSERT',
  'LET',
  'LOAD',
  'MERGE',
  'NEXT',
  'OFFSET',
  'PROFILE',
  'REALLOCATE',
  'REMOVE',
  'RENAME',
  'REVOKE',
  'SEARCH',
  'SET',
  'SHOW',
  'START',
  'STOP',
  'TERMINATE',
  'UNION',
  'USE',
  'USING',
] as const

/** Expressions that are not in the subset, as they begin. */
export const refusedExpressions = [
  'ALL',
  'ALLREDUCE',
  'ALLSHORTESTPATHS',
  'ANY',
  'CASE',
  'COUNT {',
  'COLLECT {',
  'EXISTS',
  'EXTRACT',
  'FILTER',
  'NONE',
  'NORMALIZED',
  'REDUCE',
  'SHORTESTPATH',
  'SINGLE',
] as const

const words: ReadonlySet<string> = new Set(refusedWords)
const expressions: ReadonlySet<string> = new Set(refusedExpressions)

/** The refused word that a name is where a clause could begin. */
export function refusedClause(name: string): string | undefined {
  const word = name.toUpperCase()
  return words.has(word) ? word : undefined
}

/** The refused word that a name is where an expression could begin. */
export function refusedExpression(name: string): string | undefined {
  const word = name.toUpperCase()
  return words.has(word) || expressions.has(word) ? word : undefined
}
