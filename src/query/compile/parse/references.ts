/** Finds the relations that a statement names in FROM. It knows no search path and no catalog. */

import type { SelectStmt } from 'libpg-query'
import { toSqlError } from '../base/sql-error.ts'
import { parseSelect } from './parse.ts'

export interface RelationName {
  /** Undefined where the search path decides, or where a CTE of the statement is meant. */
  readonly schemaName: string | undefined
  readonly tableName: string
}

/**
 * Every relation named in FROM, at any depth, once. CTE names are among them; the caller drops names that no table
 * has.
 *
 * @throws SqlError as compileQuery, for text that is not one SELECT of listed nodes
 */
export function referencedRelations(text: string): readonly RelationName[] {
  try {
    return relationsIn(parseSelect(text))
  } catch (thrown) {
    throw toSqlError(thrown)
  }
}

/** Every relation named in FROM of a checked tree, as {@link referencedRelations}. */
export function relationsIn(tree: SelectStmt): readonly RelationName[] {
  const found = new Map<string, RelationName>()
  collect(tree, found)
  return [...found.values()]
}

function collect(node: unknown, found: Map<string, RelationName>): void {
  if (typeof node !== 'object' || node === null) return
  for (const [key, value] of Object.entries(node)) {
    if (key === 'RangeVar') {
      const { schemaname, relname } = value as { readonly schemaname?: string; readonly relname?: string }
      const name = { schemaName: schemaname, tableName: relname ?? '' }
      found.set(JSON.stringify([name.schemaName ?? null, name.tableName]), name)
    } else collect(value, found)
  }
}
