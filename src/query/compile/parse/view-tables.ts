/**
 * Finds the tables that the SQL text of a view reads. Engines write it in dialects of their own; what is not understood
 * has no answer, so that nobody takes it for a text that reads nothing.
 */

import type { Node, SelectStmt } from 'libpg-query'
import type { TableRef } from '../../../core/table-ref.ts'
import { parseSelect } from './parse.ts'

/** What names in the text stand for that do not say it themselves. */
interface ViewPlace {
  readonly namespace: readonly string[]
  /** Names of the view's own catalog, with which a name may begin. */
  readonly catalogs: readonly string[]
}

/** @returns undefined where the text is not understood */
export function tablesOfView(text: string, place: ViewPlace): readonly TableRef[] | undefined {
  try {
    const found: TableRef[] = []
    collect(parseSelect(withPlainQuotes(text)), place, new Map(), found)
    return found
  } catch {
    return undefined
  }
}

/** Names in backticks as names in double quotes. */
function withPlainQuotes(text: string): string {
  return text.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`/g, (quoted) =>
    quoted.startsWith('`') ? `"${quoted.slice(1, -1).replaceAll('``', '`').replaceAll('"', '""')}"` : quoted,
  )
}

/**
 * @param ctes names that are queries of the text here and no tables, each with how often it is one; as before at the
 *   end, because a copy for each part of a text takes quadratic time
 */
function collect(tree: unknown, place: ViewPlace, ctes: Map<string, number>, found: TableRef[]): void {
  if (typeof tree !== 'object' || tree === null) return
  if ('RangeVar' in tree) {
    const { catalogname, schemaname, relname = '' } = (tree as Extract<Node, { RangeVar: unknown }>).RangeVar
    if (catalogname === undefined && schemaname === undefined && (ctes.get(relname) ?? 0) > 0) return
    const inOwn = catalogname === undefined || place.catalogs.includes(catalogname)
    const levels = [...(inOwn ? [] : [catalogname]), ...(schemaname?.split('.') ?? [])]
    found.push({ namespace: schemaname === undefined ? place.namespace : levels, name: relname })
    return
  }
  const { withClause, ...others } = tree as SelectStmt
  const entered: string[] = []
  for (const each of withClause?.ctes ?? []) {
    const cte = 'CommonTableExpr' in each ? each.CommonTableExpr : undefined
    const name = cte?.ctename ?? ''
    // Only a recursive query sees its own name; in another the name is a table's.
    if (withClause?.recursive === true) count(ctes, name, 1)
    collect(cte?.ctequery, place, ctes, found)
    if (withClause?.recursive !== true) count(ctes, name, 1)
    entered.push(name)
  }
  for (const value of Object.values(others)) collect(value, place, ctes, found)
  for (const name of entered) count(ctes, name, -1)
}

function count(ctes: Map<string, number>, name: string, by: 1 | -1): void {
  ctes.set(name, (ctes.get(name) ?? 0) + by)
}
