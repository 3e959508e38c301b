/** Lists the tables that a statement may name, which must be loaded before it can be compiled. It loads nothing. */

import type { SelectStmt } from 'libpg-query'
import { Lru } from '../../../base/lru.ts'
import { isPathIdentifier, type TableRef, tableKey } from '../../../core/table-ref.ts'
import { limits } from '../../../limits.ts'
import { SqlError } from '../base/sql-error.ts'
import { type RelationName, referencedRelations, relationsIn } from './references.ts'

/** Tables that these names may resolve to, along the search path. */
const statementCandidatesMax = 1_024

/** By text, on which alone the names depend. An entry weighs as much as its text. */
const cache = new Lru<string, readonly RelationName[]>(limits.namesCacheBytes)

/**
 * Every table that a statement may name, once. An unqualified name stands for a table in each schema of the search
 * path. CTE names may be among them.
 * @param source its text, or its tree where metrics were written out
 * @throws SqlError as referencedRelations; 54001 for too many
 */
export function namedRefs(source: string | SelectStmt, searchPath: readonly string[]): readonly TableRef[] {
  const names = typeof source === 'string' ? relationsOf(source) : relationsIn(source)
  const refs = new Map<string, TableRef>()
  for (const { schemaName, tableName: name } of names)
    for (const schema of schemaName === undefined ? searchPath : [schemaName]) {
      const namespace = schema.split('.')
      const ref = { namespace, name }
      if ([...namespace, name].every(isPathIdentifier)) refs.set(tableKey(ref), ref)
    }
  if (names.length > limits.statementTablesMax || refs.size > statementCandidatesMax)
    throw new SqlError(
      '54001',
      `The statement names too many tables; at most ${limits.statementTablesMax} are allowed.`,
    )
  return [...refs.values()]
}

function relationsOf(text: string): readonly RelationName[] {
  const cached = cache.get(text)
  if (cached !== undefined) return cached
  const names = referencedRelations(text)
  cache.set(text, names, text.length)
  return names
}
