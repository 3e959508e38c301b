/** Searches the tables that may be read by the words of their names, descriptions, columns and tags. */

import type { Principal } from '../core/principal.ts'
import { tableKey, tableName } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { nodeId } from '../store/database/names.ts'
import { listReadableTables } from '../store/governance/readable-tables.ts'
import type { Store } from '../store/store.ts'
import { type DescribedTable, described } from './describe-table.ts'

interface TableSearch {
  /** Words that must all be found; absent: every table. */
  readonly query?: string | undefined
  /** A tag that one of its columns must have. */
  readonly tag?: string | undefined
  /** Keys of tables: no others are found. */
  readonly only?: ReadonlySet<string> | undefined
  readonly limit: number
  readonly after?: string | undefined
}

interface FoundTable {
  readonly table: DescribedTable
  /** The places where words were found, each once. */
  readonly matched: readonly string[]
}

interface TableMatches {
  readonly found: readonly FoundTable[]
  /** Where the search goes on; absent where every table was looked at. */
  readonly next?: string
}

/** Words of a query, and tables that one search looks at. */
const wordsMax = 8
const pageCount = 200
const tablesMax = 2_000

/**
 * Finds tables in the order of their ids. It may find fewer than `limit` and still go on at `next`.
 * @throws Fault as `listReadableTables`
 */
export async function searchTables(
  store: Store,
  tenant: TenantId,
  { query = '', tag, only, limit, after }: TableSearch,
  principal: Principal,
): Promise<TableMatches> {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, wordsMax)
  const found: FoundTable[] = []
  let from = after
  for (let seen = 0; seen < tablesMax; seen += pageCount) {
    const page = { limit: pageCount, ...(from !== undefined && { after: from }) }
    const { items, next } = await listReadableTables(store, tenant, principal, page)
    const wanted = only === undefined ? items : items.filter(({ ref }) => only.has(tableKey(ref)))
    for (const table of wanted.map(described)) {
      const matched = matchedPlaces(table, words, tag)
      if (matched === undefined) continue
      if (found.length === limit) return { found, next: positionAfter(found) }
      found.push({ table, matched })
    }
    if (next === undefined) return { found }
    from = next
  }
  return { found, ...(from !== undefined && { next: from }) }
}

/** The position behind the last table found. */
export function positionAfter(found: readonly FoundTable[]): string {
  const last = found.at(-1)
  return last === undefined ? '' : nodeId(tableKey(last.table.ref))
}

/** @returns undefined where a word or the tag is not found */
function matchedPlaces(
  table: DescribedTable,
  words: readonly string[],
  tag: string | undefined,
): readonly string[] | undefined {
  if (tag !== undefined && !table.columns.some(({ tags }) => tags.includes(tag))) return undefined
  const places = placesOf(table)
  const matched = new Set<string>(tag === undefined ? [] : ['tag'])
  for (const word of words) {
    const place = places.find(([, text]) => text.toLowerCase().includes(word))
    if (place === undefined) return undefined
    matched.add(place[0])
  }
  return [...matched]
}

function placesOf({ ref, contract, description = '', columns }: DescribedTable) {
  const texts = [
    ['name', tableName(ref)],
    ['contract', contract?.id ?? ''],
    ['description', description],
    ['column', columns.map(({ name }) => name).join('\n')],
    ['tag', columns.flatMap(({ tags }) => tags).join('\n')],
    ['column description', columns.map((column) => column.description ?? '').join('\n')],
  ] as const
  return texts
}
