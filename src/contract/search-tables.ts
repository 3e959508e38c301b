/**
 * Searches the tables that may be read by the words of their names, descriptions, columns and tags, as their reader sees
 * them. What fits best comes first; without words the tables come by their ids.
 */

import { Fault } from '../base/fault.ts'
import type { Principal } from '../core/principal.ts'
import { tableKey, tableName } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { nodeId } from '../store/database/names.ts'
import { listReadableTables } from '../store/governance/readable-tables.ts'
import { type AskedWord, type PlacedText, rankTexts, wordsIn } from '../store/search/rank-texts.ts'
import type { Store } from '../store/store.ts'
import { type DescribedTable, described } from './describe-table.ts'

interface TableSearch {
  /** Words of which one must be found; none: every table. */
  readonly words: readonly AskedWord[]
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
  /** Where a search goes on behind it. */
  readonly position: string
}

interface TableMatches {
  readonly found: readonly FoundTable[]
  /** Where the search goes on; undefined where every table was looked at. */
  readonly next: string | undefined
}

/** Tables that one search reads at once, and those among which it finds the best. */
const pageCount = 200
const tablesMax = 2_000

/** Where a search goes on: the id behind which its tables begin, and how many of their matches were shown. */
type Position = readonly [from: string, shown: number]

/**
 * Finds tables, the best first among 2,000. It may find fewer than `limit` and still go on.
 * @throws Fault as `listReadableTables`
 */
export async function searchTables(
  store: Store,
  tenant: TenantId,
  { words, tag, only, limit, after }: TableSearch,
  principal: Principal,
): Promise<TableMatches> {
  const [from, shown] = readPosition(after)
  const tables: DescribedTable[] = []
  let next: string | undefined = from
  for (let seen = 0; seen < tablesMax && next !== undefined; seen += pageCount) {
    const page = await listReadableTables(store, tenant, principal, { limit: pageCount, after: next })
    const wanted = page.items.filter(({ ref }) => only === undefined || only.has(tableKey(ref)))
    tables.push(...wanted.map(described).filter((table) => hasTag(table, tag)))
    next = page.next
    if (words.length === 0 && tables.length > limit) break
  }
  const ofTag = tag === undefined ? [] : ['tag']
  if (words.length === 0) {
    const found = tables.slice(0, limit).map((table) => {
      const position = writePosition(nodeId(tableKey(table.ref)), 0)
      return { table, matched: ofTag, position }
    })
    const end = next === undefined ? undefined : writePosition(next, 0)
    return { found, next: tables.length > limit ? found.at(-1)?.position : end }
  }
  const ranks = await rankTexts(store, tenant, tables.map(textsOf), words)
  const found = ranks.slice(shown, shown + limit).flatMap(({ index, places }, at) => {
    const table = tables[index]
    const matched = [...new Set([...ofTag, ...places])]
    return table === undefined ? [] : [{ table, matched, position: writePosition(from, shown + at + 1) }]
  })
  const isMore = ranks.length > shown + limit
  return {
    found,
    next: isMore ? found.at(-1)?.position : next === undefined ? undefined : writePosition(next, 0),
  }
}

const writePosition = (...position: Position) => JSON.stringify(position)

/** @throws Fault `bad_request` */
function readPosition(after: string | undefined): Position {
  if (after === undefined) return ['', 0]
  const parts = /^\["((?:[^"\\]|\\.)*)",(\d{1,9})\]$/.exec(after)
  if (parts === null) throw new Fault('bad_request', '`after` is not a cursor of this search.')
  return [JSON.parse(`"${parts[1]}"`) as string, Number(parts[2])]
}

const hasTag = ({ columns }: DescribedTable, tag: string | undefined) =>
  tag === undefined || columns.some(({ tags }) => tags.includes(tag))

function textsOf({ ref, contract, description = '', columns }: DescribedTable): readonly PlacedText[] {
  return [
    { place: 'name', weight: 'A', text: wordsIn(tableName(ref)) },
    { place: 'contract', weight: 'B', text: wordsIn(contract?.id ?? '') },
    { place: 'description', weight: 'C', text: description },
    { place: 'column', weight: 'B', text: columns.map(({ name }) => wordsIn(name)).join('\n') },
    { place: 'tag', weight: 'B', text: columns.flatMap(({ tags }) => tags.map(wordsIn)).join('\n') },
    {
      place: 'column description',
      weight: 'D',
      text: columns.map((one) => one.description ?? '').join('\n'),
    },
  ]
}
