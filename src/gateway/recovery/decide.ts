/**
 * Decides whether commits were made whose process died, or lost the upstream, between forward and audit. Pure: it
 * compares the intents with the files of the table and with the audited commits.
 *
 * The evidence is what the files hold (shows-change.ts). Where their content is not known: a snapshot of the commit is
 * in the table; another commit of its transaction was made; a file bears the timestamp of the snapshot; the snapshots'
 * sequence numbers; one commit and one file are left. When a commit was received is no evidence. In doubt the intent stays, and an alert reports it.
 */

import type { IntentHead } from '../../core/commit.ts'
import { assignFiles, type FileClaim, type Fit } from './assign-files.ts'
import { filesOf, type StaleIntent, type TableEvidence, type TableFile } from './evidence.ts'
import { type Place, placeOf, sharesSnapshot, snapshotOf, twinOf } from './place-intent.ts'

export type IntentOutcome =
  | { readonly kind: 'committed'; readonly metadataLocation: string }
  | { readonly kind: 'not-committed' }
  | {
      readonly kind: 'undecidable'
      readonly why: string
      /** Whether it was made, only its file is not certain. */
      readonly isMade?: boolean
      /** The one file that it may have written, where there is one. */
      readonly proposed?: Proposal
    }

/** What a person may settle an undecided intent by. */
export interface Proposal {
  readonly metadataLocation: string
  readonly evidence: string
  /** Whether the file can be no other change's. */
  readonly isProven: boolean
}

/**
 * Decides intents on one table together, with what is known of all others on it.
 * @param table undefined if the table does not exist now
 * @returns one outcome per intent, by commit id
 */
export function decideIntents(
  stale: readonly StaleIntent[],
  table: TableEvidence | undefined,
): ReadonlyMap<string, IntentOutcome> {
  if (table === undefined) return new Map(stale.map((one) => [one.intent.commitId, withoutTable(one)]))
  const files = filesOf(table)
  const open = files.filter(({ metadataLocation }) => !table.audited.has(metadataLocation))
  const all = [...stale, ...table.others]
  const places = all.map((one) => placeOf(one, all, files, open, table))
  const assigned = assignPlaces(places, files.length, table)
  const taken = new Set(assigned.files.values())
  const outcomes = new Map<string, IntentOutcome>()
  for (const place of places.slice(0, stale.length)) {
    const { intent, isSurelyMade } = place.one
    const index = assigned.files.get(intent.commitId)
    const isSettled = !assigned.mixed.has(intent.commitId) || !hasLeasedTwin(place, places)
    const file = isSettled && index !== undefined ? open[index]?.metadataLocation : place.unchanged
    if (file !== undefined) outcomes.set(intent.commitId, { kind: 'committed', metadataLocation: file })
    else if (
      isSettled &&
      !isSurelyMade &&
      assigned.none.has(intent.commitId) &&
      isExcluded(place, taken) &&
      !mayHaveCreated(place, table)
    )
      outcomes.set(intent.commitId, { kind: 'not-committed' })
    else outcomes.set(intent.commitId, doubtOf(place, places, taken, open))
  }
  return outcomes
}

/** Whether every file after the base is another's, by its content or because another commit is known to have written it. */
function isExcluded({ isReached, unread }: Place, taken: ReadonlySet<number>): boolean {
  return isReached && unread.every((index) => taken.has(index))
}

/**
 * Whether a commit on no table shows, and no audited commit sent the same: the metadata log may no longer name the first
 * file.
 */
function mayHaveCreated({ one: { intent }, isShown }: Place, { audited }: TableEvidence): boolean {
  return isShown && intent.baseMetadataLocation === '' && ![...audited.values()].includes(intent.bodySha256)
}

function withoutTable({ intent, isSurelyMade }: StaleIntent): IntentOutcome {
  return intent.baseMetadataLocation === '' && !isSurelyMade
    ? { kind: 'not-committed' }
    : { kind: 'undecidable', why: 'the table no longer exists', ...(isSurelyMade && { isMade: true }) }
}

interface Assigned {
  readonly files: ReadonlyMap<string, number>
  readonly none: ReadonlySet<string>
  readonly mixed: ReadonlySet<string>
}

/** Assigns the files; where their content is not known, by counting what is left. */
function assignPlaces(places: readonly Place[], count: number, table: TableEvidence): Assigned {
  const first = assignFiles(places.map((place) => claimOf(place, place.isMade)))
  const taken = new Set(first.files.values())
  const left = places.filter(
    ({ one: { intent } }) => !first.files.has(intent.commitId) && !first.none.has(intent.commitId),
  )
  if (table.isReadable || left.some(({ one }) => one.isLeased)) return first
  const maker = count === 1 && taken.size === 0 ? loneMaker(left, table) : undefined
  if (maker !== undefined) return { ...first, files: new Map([[maker.one.intent.commitId, 0]]) }
  const counted = new Set(left.filter(({ isMade, mayHold, fits }) => isMade || (mayHold && isUnread(fits))))
  const open = new Set(left.flatMap(({ fits }) => [...fits.keys()]).filter((index) => !taken.has(index)))
  if (!left.every(({ isReached }) => isReached)) return first
  // One that is not counted may have written a file, too, whose effects were undone.
  if (counted.size !== open.size || counted.size < left.length) return first
  const second = assignFiles(places.map((place) => claimOf(place, place.isMade || counted.has(place))))
  const inSequence = bySequence(
    [...counted],
    [...open].sort((a, b) => a - b),
    table,
  )
  return { ...second, files: new Map([...second.files, ...inSequence]) }
}

function claimOf({ one: { intent }, fits }: Place, isMade: boolean): FileClaim {
  const files = [...fits].map(([index, fit]) => [index, fit === 'whole' ? 'whole' : 'maybe'] as const)
  return { id: intent.commitId, twin: twinOf(intent), files: new Map<number, Fit>(files), isMade }
}

const isUnread = (fits: Place['fits']) =>
  fits.size > 0 && [...fits.values()].every((fit) => fit === 'unknown')

/** Snapshots are numbered in the order of their commits, so files that are left are in the order of these numbers. */
function bySequence(
  counted: readonly Place[],
  open: readonly number[],
  table: TableEvidence,
): ReadonlyMap<string, number> {
  const numbered = counted.map((place) => ({
    place,
    number: sequenceNumber(table.metadata, place.one.intent),
  }))
  const numbers = new Set(numbered.map(({ number }) => number))
  if (numbers.size < counted.length || numbers.has(0n) || !counted.every(({ fits }) => isUnread(fits)))
    return new Map()
  numbered.sort((a, b) => Number(a.number - b.number))
  // The number is checked where a snapshot has a parent.
  const haveParents = numbered
    .slice(1)
    .every(({ place }) => snapshotOf(table.metadata, place.one.intent)?.has('parent-snapshot-id'))
  const pairs = haveParents ? numbered.map(({ place }, at) => [place, open[at] ?? -1] as const) : []
  if (!pairs.every(([{ fits }, index]) => fits.has(index))) return new Map()
  return new Map(pairs.map(([{ one }, index]) => [one.intent.commitId, index]))
}

/**
 * The one commit that can have written the file of a catalog without a metadata log: it made the current snapshot, or
 * surely made what the table holds, and no other commit is known that could have come after it.
 */
function loneMaker(left: readonly Place[], { metadata }: TableEvidence): Place | undefined {
  const current = metadata.get('current-snapshot-id')
  const makers = left.filter(({ isShown, mayHold, one }) => {
    const isLast = isShown && one.intent.snapshotIds.at(-1) === current
    return isLast || mayHold || one.isSurelyMade
  })
  const [maker] = makers
  const isMade = maker !== undefined && (maker.isShown || (maker.one.isSurelyMade && maker.mayHold))
  return makers.length === 1 && isMade && maker.fits.has(0) ? maker : undefined
}

function sequenceNumber(metadata: TableEvidence['metadata'], intent: IntentHead): bigint {
  const number = snapshotOf(metadata, intent)?.get('sequence-number')
  return typeof number === 'bigint' ? number : 0n
}

/** Whether a running process works on the same request of the same client. */
function hasLeasedTwin({ one }: Place, places: readonly Place[]): boolean {
  const twin = twinOf(one.intent)
  return places.some(({ one: other }) => other !== one && other.isLeased && twinOf(other.intent) === twin)
}

function doubtOf(
  place: Place,
  places: readonly Place[],
  taken: ReadonlySet<number>,
  open: readonly TableFile[],
): IntentOutcome {
  const { one, isReached, isShown } = place
  // What another one may have brought shows nothing of this one.
  const isAlone = places.every(
    (other) =>
      other === place ||
      (twinOf(other.one.intent) !== twinOf(one.intent) &&
        !(other.isShown && sharesSnapshot(other.one.intent, one.intent))),
  )
  const proposed = proposalOf(place, taken, open)
  return {
    kind: 'undecidable',
    why: why(),
    ...((one.isSurelyMade || (isShown && isAlone)) && { isMade: true as const }),
    ...(proposed && { proposed }),
  }

  function why(): string {
    if (places.some((other) => other !== place && other.one.isLeased))
      return 'other commits on the table are still in progress'
    if (!isReached) return 'the metadata log no longer reaches back to the base'
    return `${open.length} commits on the table are not audited`
  }
}

/** The one file that is left for a commit, and what speaks for it; undefined where there are several or nothing does. */
function proposalOf(
  { one, fits, isReached, isShown, mayHold }: Place,
  taken: ReadonlySet<number>,
  open: readonly TableFile[],
): Proposal | undefined {
  const left = [...fits].filter(([index]) => !taken.has(index))
  const shown = left.filter(([, fit]) => fit !== 'unknown')
  const [only, ...others] = shown.length > 0 ? shown : left
  const file = only && open[only[0]]
  if (only === undefined || file === undefined || others.length > 0) return undefined
  const { metadataLocation } = file
  const proposed = (evidence: string, isProven: boolean) => ({ metadataLocation, evidence, isProven })
  if (only[1] === 'whole') return proposed('the file holds this change and no other', true)
  if (only[1] === 'among-others') return proposed('the file holds this change, and another', true)
  // Without the base, files that are no longer known may have been its.
  if (!isReached) return undefined
  if (isShown || one.isSurelyMade)
    return proposed('the change was made, and no other file is left for it', true)
  return mayHold
    ? proposed('the table holds what the change sets, and no other file is left for it', false)
    : undefined
}
