/** What svc.governance says (`migrations/functions/reads.sql`), as rows with the table, column and tag that each is about. */

import { Fault } from '../../base/fault.ts'
import { type Properties, parseAgtype } from '../graph/graph.ts'

/** Kinds that every tenant's sentinel has one of. */
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
export type GovernanceKind = (typeof governanceKinds)[number] | 'setting'

/** Where something is: at a table, at a column of one, at a tag of a column. Ids are the nodes' own; '' for none. */
interface Place {
  readonly level: 'none' | 'table' | 'column' | 'tag'
  readonly tableId: string
  readonly columnId: string
  readonly tag: string
}

export interface PlacedRow extends Place {
  readonly kind: GovernanceKind
  readonly properties: Properties
  /** Of a column: whether the table has it now. */
  readonly current: boolean
}

type StoredKind = Exclude<GovernanceKind, 'column-filter'> | 'dropped-column'
/** Kind, id of what it is about, its own id, properties; an id of the graph is '' where there is none. */
type StoredRow = readonly [kind: StoredKind, subject: string, id: string, properties: Properties]

const nowhere: Place = { level: 'none', tableId: '', columnId: '', tag: '' }

/**
 * The rows of an answer; one that is about several is there for each of them.
 * @throws Fault `unavailable` for one that is about nothing: it would be left out
 */
export function readGovernanceRows(text: string): readonly PlacedRow[] {
  const stored = parseAgtype(`[${text}]`) as readonly StoredRow[]
  const places = new Map<string, readonly Place[]>()
  const at = (id: string): readonly Place[] => {
    const found = places.get(id)
    if (found !== undefined) return found
    throw new Fault('unavailable', 'The filters and masks of the table could not be loaded. Retry.', {
      detail: 'a policy that is about nothing',
    })
  }
  const placed = stored.map((row) => ({ row, here: undefined as readonly Place[] | undefined }))
  // What others are about comes before them.
  for (const kinds of [['table'], ['column', 'dropped-column'], ['tag']])
    for (const entry of placed) {
      const [kind, subject, id] = entry.row
      if (!kinds.includes(kind)) continue
      entry.here = placesOf(entry.row, subject === '' ? [nowhere] : at(subject))
      places.set(id, [...(places.get(id) ?? []), ...entry.here])
    }
  return placed.flatMap(({ row: [kind, subject, , properties], here }) =>
    (here ?? (kind === 'setting' ? [nowhere] : at(subject))).map((place) => ({
      ...place,
      kind: kindAt(kind, place),
      properties,
      current: kind === 'column',
    })),
  )
}

/** Where a table, column or tag is that is at these places. */
function placesOf([kind, , , properties]: StoredRow, subjects: readonly Place[]): readonly Place[] {
  const { id, table_id: tableId, name } = properties
  return subjects.map((subject): Place => {
    if (kind === 'table') return { ...nowhere, level: 'table', tableId: String(id) }
    if (kind === 'tag') return { ...subject, level: 'tag', tag: String(name ?? '') }
    const column = { ...subject, level: 'column', columnId: String(id) } as const
    return kind === 'column' ? column : { ...column, tableId: String(tableId) }
  })
}

function kindAt(kind: StoredKind, { level }: Place): GovernanceKind {
  if (kind === 'dropped-column') return 'column'
  return kind === 'filter' && level === 'column' ? 'column-filter' : kind
}
