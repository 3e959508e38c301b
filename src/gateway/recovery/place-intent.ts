/** Finds out which files of a table an open intent may have written. Pure. */

import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { IntentHead } from '../../core/commit.ts'
import { listOf } from '../base/metadata-history.ts'
import type { StaleIntent, TableEvidence, TableFile } from './evidence.ts'
import {
  type ClaimedChange,
  changeBetween,
  effectsHold,
  type Shown,
  shownBetween,
  snapshotsIn,
} from './shows-change.ts'

/** What a file shows of a commit that may have written it. */
type FileFit = Exclude<Shown, 'no' | 'lacks'>

/** One intent, with the files that it may have written, by their index among those that no audited commit wrote. */
export interface Place {
  readonly one: StaleIntent
  /** Whether the files reach back to its base. */
  readonly isReached: boolean
  /** The files after its base of which it is not known that it did not write them. */
  readonly unread: readonly number[]
  readonly fits: ReadonlyMap<number, FileFit>
  /** Whether it surely wrote one of these files. */
  readonly isMade: boolean
  /** Whether its snapshot is in the table, and no audited commit brought it. */
  readonly isShown: boolean
  /** Whether the table holds what it sets, where no snapshot shows that it was made. */
  readonly mayHold: boolean
  /** The current file, for a commit that was surely made and changed nothing. */
  readonly unchanged: string | undefined
}

/** @param all the intent with all others on the table; `files` of the table, `open` those that no audited commit wrote */
export function placeOf(
  one: StaleIntent,
  all: readonly StaleIntent[],
  files: readonly TableFile[],
  open: readonly TableFile[],
  table: TableEvidence,
): Place {
  const { intent, updates, isSurelyMade = false } = one
  const base = intent.baseMetadataLocation
  const from = base === '' ? 0 : files.findLastIndex((file) => file.metadataLocation === base) + 1
  const isReached = base === '' || from > 0
  const within = [...open.entries()].filter(([, file]) => !isReached || files.indexOf(file) >= from)
  const fits = new Map<number, FileFit>()
  const lacking = new Set<number>()
  for (const [index, file] of within) {
    const shown = shownIn(file, { intent, updates }, files.length, table)
    if (shown === 'lacks') lacking.add(index)
    else if (shown !== 'no') fits.set(index, shown)
  }
  // The current state alone does not show what was undone before.
  const unread = within
    .map(([index]) => index)
    .filter((index) => table.shown === undefined || fits.get(index) === 'unknown')
  const inTable = (of: IntentHead) => (of.snapshotIds.length > 0 ? snapshotsIn(table.metadata, of) : 'none')
  const hasOwn = inTable(intent) === 'own'
  const isGone = !isSurelyMade && table.takesAway === false && lacksAllOf(one, table.metadata, all)
  const first =
    inTable(intent) === 'none'
      ? -1
      : open.findIndex(({ after }) => after && snapshotsIn(after, intent) !== 'none')
  for (const [index, shown] of fits)
    if (shown === 'unknown' && (isGone || (first >= 0 && index > first))) fits.delete(index)
  // A client that lost the reply sends the same body again, and it was made once.
  const isShown = hasOwn && ![...table.audited.values()].includes(intent.bodySha256)
  const holdsAt = (metadata: JsonObject | undefined) =>
    metadata !== undefined && updates !== undefined && effectsHold(updates, metadata, intent.receivedAtMs)
  const mayHold = intent.snapshotIds.length === 0 && holdsAt(table.metadata)
  const stamped = isShown
    ? stampedOf(fits, open, stampOf(table.metadata, intent), areStamped(files, table))
    : undefined
  // What changes nothing may have written no file. Of several with one snapshot, the catalog made one.
  const changes = !holdsAt(base === table.metadataLocation ? table.metadata : table.known?.get(base))
  const sharing = isShown
    ? all.filter(
        (other) => other === one || (sharesSnapshot(other.intent, intent) && inTable(other.intent) === 'own'),
      )
    : []
  const areTwins = sharing.every((other) => twinOf(other.intent) === twinOf(intent))
  const maker = sharing.find((other) => other.isSurelyMade) ?? (areTwins ? sharing[0] : undefined)
  const wrote = isShown ? maker === one : isSurelyMade && changes
  // Of schemas and the like a catalog may write another form. What was surely made is in one of these files all the same,
  // unless that lacks what every catalog keeps.
  if (fits.size === 0 && isSurelyMade && changes)
    for (const [index] of within) if (!lacking.has(index)) fits.set(index, 'unknown')
  return {
    one,
    isReached,
    unread,
    fits: stamped ?? fits,
    isMade: wrote && fits.size > 0 && (isReached || stamped !== undefined),
    isShown,
    mayHold,
    unchanged: isSurelyMade && mayHold && base === table.metadataLocation ? base : undefined,
  }
}

/**
 * Whether the table lacks what the commit would have added, and no open commit takes that away: then no file whose content
 * is not known was its. A value may have been replaced, so that proves nothing.
 */
function lacksAllOf(
  { intent, updates }: StaleIntent,
  metadata: JsonObject,
  all: readonly StaleIntent[],
): boolean {
  const actions = new Set(all.flatMap((other) => (other.updates ?? []).map((update) => update.get('action'))))
  if (intent.snapshotIds.length > 0)
    return !actions.has('remove-snapshots') && snapshotsIn(metadata, intent) === 'none'
  const properties = metadata.get('properties')
  return (
    !actions.has('remove-properties') &&
    (updates ?? []).some((update) => {
      const set = update.get('action') === 'set-properties' ? update.get('updates') : undefined
      return (
        isJsonObject(set) && [...set.keys()].some((key) => !isJsonObject(properties) || !properties.has(key))
      )
    })
  )
}

/** What a file shows of a change, by its content or as was found by reading. */
function shownIn(
  file: TableFile,
  change: ClaimedChange & Pick<StaleIntent, 'intent'>,
  count: number,
  table: TableEvidence,
): Shown {
  const { commitId, baseMetadataLocation } = change.intent
  const given = table.shown?.get(file.metadataLocation)?.get(commitId)
  if (given !== undefined) return given
  const shown = shownBetween(change, file.before, file.after)
  // A catalog without a metadata log does not say whether the base is the file before.
  const base = table.known?.get(baseMetadataLocation)
  if (shown !== 'unknown' || count > 1 || base === undefined) return shown
  return changeBetween(change, base, file.after) === 'whole' ? 'whole' : 'unknown'
}

/** The one file that bears the timestamp of the snapshot, where the content of the files does not tell. */
function stampedOf(
  fits: Place['fits'],
  open: readonly TableFile[],
  stamp: JsonValue | undefined,
  areStamped: boolean,
): Place['fits'] | undefined {
  if ([...fits.values()].some((fit) => fit !== 'unknown')) return undefined
  const stamped = areStamped ? [...fits.keys()].filter((index) => open[index]?.timestampMs === stamp) : []
  const [only] = stamped
  return stamped.length === 1 && only !== undefined ? new Map([[only, 'unknown']]) : undefined
}

/** Whether the catalog shows that it gives a file the timestamp of its snapshot, as Iceberg does: each recent snapshot has its file. */
function areStamped(files: readonly TableFile[], { metadata }: TableEvidence): boolean {
  const stamps = new Set(files.map(({ timestampMs }) => timestampMs))
  const since = Math.min(...[...stamps].filter((stamp) => typeof stamp === 'bigint').map(Number))
  const recent = listOf(metadata.get('snapshots'))
    .map((snapshot) => snapshot.get('timestamp-ms'))
    .filter((stamp) => typeof stamp === 'bigint' && stamp >= since)
  // One may be a coincidence.
  return recent.length > 1 && recent.every((stamp) => stamps.has(stamp))
}

/** Whether two commits add a snapshot of the same id. */
export function sharesSnapshot(one: IntentHead, other: IntentHead): boolean {
  return one.snapshotIds.some((id) => other.snapshotIds.includes(id))
}

/** Equal for intents whose rows would say the same: one client sent one body twice. */
export function twinOf({ bodySha256, principal, commitId }: IntentHead): string {
  return bodySha256 === '' ? commitId : JSON.stringify([bodySha256, principal.sub])
}

/** The snapshot that an intent added last, if the table has it. */
export function snapshotOf(metadata: JsonObject, intent: IntentHead): JsonObject | undefined {
  const id = intent.snapshotIds.at(-1)
  return listOf(metadata.get('snapshots')).find((snapshot) => snapshot.get('snapshot-id') === id)
}

function stampOf(metadata: JsonObject, intent: IntentHead): JsonValue | undefined {
  return snapshotOf(metadata, intent)?.get('timestamp-ms')
}
