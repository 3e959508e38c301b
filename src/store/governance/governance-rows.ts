/** Parses the result of svc.governance (`migrations/functions/reads.sql`): rows with their table, column and tag. */

import { Fault } from '../../base/fault.ts'
import { type Properties, parseAgtype } from '../graph/graph.ts'

/** Kinds of which every tenant's sentinel has a row. */
export const governanceKinds = [
  'table',
  'contract',
  'pin',
  'filter',
  'column-filter',
  'tag-filter',
  'column',
  'mask',
  'tag',
  'tag-mask',
] as const
export type GovernanceKind = (typeof governanceKinds)[number] | UnplacedKind
/** Kinds that are attached to nothing; their properties name the tables that they concern. */
const unplacedKinds = ['setting', 'source', 'spelling', 'reveal', 'grant'] as const
type UnplacedKind = (typeof unplacedKinds)[number]

/**
 * What a row is attached to: a table, a column of it, a tag of the table, or a tag of a column, which may be inherited
 * from the table. Ids are node ids; '' for none.
 */
interface Place {
  readonly level: 'none' | 'table' | 'column' | 'table-tag' | 'tag'
  readonly tableId: string
  readonly columnId: string
  readonly tag: string
}

export interface PlacedRow extends Place {
  readonly kind: GovernanceKind
  readonly properties: Properties
  /** Whether the table still has the column. */
  readonly current: boolean
}

type StoredKind = Exclude<GovernanceKind, 'column-filter'> | 'dropped-column'
/** `subject` is the graph id of what the row is attached to; '' for none. */
type StoredRow = readonly [kind: StoredKind, subject: string, id: string, properties: Properties]

const nowhere: Place = { level: 'none', tableId: '', columnId: '', tag: '' }

/**
 * The rows of a result. A row that is attached to several places is repeated for each of them.
 * @throws Fault `unavailable` for a row that is attached to nothing, because it would be left out
 */
export function readGovernanceRows(text: string): readonly PlacedRow[] {
  const stored = parseAgtype(`[${text}]`) as readonly StoredRow[]
  const places = new Map<string, readonly Place[]>()
  const at = (id: string): readonly Place[] => {
    const found = places.get(id)
    if (found !== undefined) return found
    throw new Fault('unavailable', 'The filters and masks of the table could not be loaded. Retry.', {
      detail: 'a row that is attached to nothing',
    })
  }
  /** The place itself; for a tag of a table also its columns, dropped ones too. */
  const inherited = (place: Place): readonly Place[] => {
    if (place.level !== 'table') return [place]
    const columns = [...places.values()].flat().filter((one) => one.level === 'column')
    return [place, ...columns.filter(({ tableId }) => tableId === place.tableId)]
  }
  const placed = stored.map((row) => ({ row, here: undefined as readonly Place[] | undefined }))
  // Tables come before their columns, and columns before their tags.
  for (const kinds of [['table'], ['column', 'dropped-column'], ['tag']])
    for (const entry of placed) {
      const [kind, subject, id] = entry.row
      if (!kinds.includes(kind)) continue
      const subjects = subject === '' ? [nowhere] : at(subject)
      entry.here = placesOf(entry.row, kind === 'tag' ? subjects.flatMap(inherited) : subjects)
      places.set(id, [...(places.get(id) ?? []), ...entry.here])
    }
  return placed.flatMap(({ row: [kind, subject, , properties], here }) =>
    (here ?? (unplacedKinds.some((one) => one === kind) ? [nowhere] : governed(at(subject)))).map(
      (place) => ({
        ...place,
        kind: kindAt(kind, place),
        properties,
        current: kind === 'column',
      }),
    ),
  )
}

/** Filters and masks of a table's tag are on the columns that inherit it. */
function governed(places: readonly Place[]): readonly Place[] {
  return places.filter(({ level }) => level !== 'table-tag')
}

/** The places of a table, column or tag that is attached to these places. */
function placesOf([kind, , , properties]: StoredRow, subjects: readonly Place[]): readonly Place[] {
  const { id, table_id: tableId, name } = properties
  return subjects.map((subject): Place => {
    if (kind === 'table') return { ...nowhere, level: 'table', tableId: String(id) }
    if (kind === 'tag') {
      const level = subject.level === 'table' ? 'table-tag' : 'tag'
      return { ...subject, level, tag: String(name ?? '') }
    }
    const column = { ...subject, level: 'column', columnId: String(id) } as const
    return kind === 'column' ? column : { ...column, tableId: String(tableId) }
  })
}

function kindAt(kind: StoredKind, { level }: Place): GovernanceKind {
  if (kind === 'dropped-column') return 'column'
  return kind === 'filter' && level === 'column' ? 'column-filter' : kind
}
