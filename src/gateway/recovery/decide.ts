/**
 * Decides whether commits were made whose process died, or lost the upstream, between forward and audit. Pure: it
 * compares the intents with the current table and with the audited commits.
 *
 * The evidence, strongest first: a snapshot of the commit exists; another commit of its transaction was made; the
 * commit's updates would change nothing; the number of metadata files since the base that no audited commit explains. In doubt the intent stays, and an alert reports it.
 */

import type { JsonObject, JsonValue } from '../../base/json.ts'
import type { IntentHead } from '../../core/commit.ts'
import { type HistoryEntry, historyOf, listOf } from '../base/metadata-history.ts'

export type IntentOutcome =
  | { readonly kind: 'committed'; readonly metadataLocation: string }
  | { readonly kind: 'not-committed' }
  | { readonly kind: 'undecidable'; readonly why: string }

export interface StaleIntent {
  readonly intent: IntentHead
  /** Whether applying the commit's updates to the current table would change nothing. */
  readonly effectsHold: boolean
  /** Whether it was surely made: it belongs to a transaction of which another table's commit was. */
  readonly isSurelyMade?: boolean
}

export interface TableEvidence {
  readonly metadataLocation: string
  readonly metadata: JsonObject
  /** Files that the table had before those which its metadata log still names, by the audit, oldest first. */
  readonly earlier?: readonly string[]
  /** The locations in the table's history that an APPROVED audit row already names. */
  readonly audited: ReadonlySet<string>
  /** Whether other intents on the table belong to running processes. */
  readonly othersInFlight: boolean
}

/**
 * Decides all stale intents on one table together, because each accepted commit explains one metadata file.
 * @param table undefined if the table does not exist now
 * @returns one outcome per intent, by commit id
 */
export function decideIntents(
  stale: readonly StaleIntent[],
  table: TableEvidence | undefined,
): ReadonlyMap<string, IntentOutcome> {
  if (table === undefined) return new Map(stale.map((one) => [one.intent.commitId, withoutTable(one)]))

  const earlier = (table.earlier ?? []).map((metadataLocation) => ({
    metadataLocation,
    timestampMs: undefined,
  }))
  const history = [...earlier, ...historyOf(table)]
  const decided = new Map<string, IntentOutcome>()
  const open: StaleIntent[] = []
  for (const one of stale) {
    const since = entriesSince(history, one.intent.baseMetadataLocation)
    const unexplained = since?.filter((entry) => !table.audited.has(entry.metadataLocation))
    if (unexplained?.length === 0 && !one.isSurelyMade)
      decided.set(one.intent.commitId, { kind: 'not-committed' })
    else open.push(one)
  }
  for (const [commitId, outcome] of decideOpen(open, history, table)) decided.set(commitId, outcome)
  return decided
}

function withoutTable({ intent, isSurelyMade }: StaleIntent): IntentOutcome {
  return intent.baseMetadataLocation === '' && !isSurelyMade
    ? { kind: 'not-committed' }
    : { kind: 'undecidable', why: 'the table no longer exists' }
}

/** Entries after the base; undefined if the history no longer reaches back to it. */
function entriesSince(history: readonly HistoryEntry[], base: string): readonly HistoryEntry[] | undefined {
  if (base === '') return history
  const index = history.findLastIndex((entry) => entry.metadataLocation === base)
  return index < 0 ? undefined : history.slice(index + 1)
}

function decideOpen(
  open: readonly StaleIntent[],
  history: readonly HistoryEntry[],
  table: TableEvidence,
): ReadonlyMap<string, IntentOutcome> {
  const outcomes = new Map<string, IntentOutcome>()
  const reach = open.map(({ intent }) => entriesSince(history, intent.baseMetadataLocation))
  const complete = reach.every((entries) => entries !== undefined)
  const longest = reach.reduce<readonly HistoryEntry[]>(
    (most, entries) => ((entries?.length ?? 0) > most.length ? (entries ?? []) : most),
    [],
  )
  let unexplained = longest.filter((entry) => !table.audited.has(entry.metadataLocation))

  const snapshots = snapshotsOf(table.metadata)
  const proven = open
    .filter(
      ({ intent }) => intent.snapshotIds.length > 0 && intent.snapshotIds.every((id) => snapshots.has(id)),
    )
    .sort((a, b) => Number(sequenceNumber(snapshots, a.intent) - sequenceNumber(snapshots, b.intent)))
  const likely = open
    .filter((one) => !proven.includes(one))
    .filter((one) => one.isSurelyMade || (one.intent.snapshotIds.length === 0 && one.effectsHold))
    .sort((a, b) => a.intent.receivedAtMs - b.intent.receivedAtMs)

  const take = (intent: IntentHead, entry: HistoryEntry | undefined) => {
    // Two intents may name one snapshot, because a client that lost the response sends the same body again.
    if (entry === undefined) return
    unexplained = unexplained.filter((other) => other !== entry)
    outcomes.set(intent.commitId, { kind: 'committed', metadataLocation: entry.metadataLocation })
  }

  // A metadata file has the timestamp of the snapshot that it was written for, which identifies its commit.
  for (const { intent } of proven) {
    const stamped = unexplained.filter((entry) => entry.timestampMs === timestampOf(snapshots, intent))
    if (stamped.length === 1) take(intent, stamped[0])
  }
  // A catalog without a metadata log (Nessie) shows one file and one snapshot. If one commit made that snapshot,
  // the file is the only one that it can have written.
  if (history.length === 1 && !table.othersInFlight) {
    const current = table.metadata.get('current-snapshot-id')
    const makers = proven.filter(({ intent }) => intent.snapshotIds.at(-1) === current)
    const [maker] = makers
    if (makers.length === 1 && maker && !table.audited.has(table.metadataLocation))
      take(maker.intent, history[0])
  }
  placeSurelyMade()
  const countable = complete && !table.othersInFlight
  const unplaced = proven.filter(isUnplaced)
  const uncounted = likely.filter(isUnplaced)
  const explainedByAll = unexplained.length === unplaced.length + uncounted.length
  // A pinned commit may have come after others that bypass the gateway, so it is not the next of its base.
  const isNext = unplaced.every(({ intent }) => intent.baseHeld === undefined)
  if (countable && (isNext || explainedByAll)) for (const { intent } of unplaced) take(intent, unexplained[0])
  if (countable && explainedByAll) for (const { intent } of uncounted) take(intent, unexplained[0])

  for (const { intent, isSurelyMade } of open) {
    if (outcomes.has(intent.commitId)) continue
    outcomes.set(
      intent.commitId,
      countable && unexplained.length === 0 && !isSurelyMade
        ? { kind: 'not-committed' }
        : { kind: 'undecidable', why: doubt() },
    )
  }
  return outcomes

  function isUnplaced({ intent }: StaleIntent): boolean {
    return !outcomes.has(intent.commitId)
  }

  /** Places the one commit that must have written a file, if only one file can be it. */
  function placeSurelyMade(): void {
    const sure = [...proven, ...likely.filter((one) => one.isSurelyMade)].filter(isUnplaced)
    const [only] = sure
    if (sure.length === 1 && only?.isSurelyMade) take(only.intent, onlyFileOf(only))
  }

  function onlyFileOf({ intent, effectsHold }: StaleIntent): HistoryEntry | undefined {
    if (complete && unexplained.length === 1) return unexplained[0]
    if (!effectsHold) return undefined
    // A commit that changes nothing may write no file.
    if (intent.baseMetadataLocation === table.metadataLocation) return history.at(-1)
    const isAlone = history.length === 1 && open.length === 1 && !table.othersInFlight
    return isAlone && !table.audited.has(table.metadataLocation) ? history[0] : undefined
  }

  function doubt(): string {
    if (table.othersInFlight) return 'other commits on the table are still in progress'
    if (!complete) return 'the metadata log no longer reaches back to the base'
    return `${unexplained.length} commits on the table are not audited`
  }
}

function snapshotsOf(metadata: JsonObject): ReadonlyMap<JsonValue, JsonObject> {
  return new Map(
    listOf(metadata.get('snapshots')).map((snapshot) => [snapshot.get('snapshot-id') ?? null, snapshot]),
  )
}

function lastSnapshot(
  snapshots: ReadonlyMap<JsonValue, JsonObject>,
  intent: IntentHead,
): JsonObject | undefined {
  return snapshots.get(intent.snapshotIds.at(-1) ?? null)
}

function sequenceNumber(snapshots: ReadonlyMap<JsonValue, JsonObject>, intent: IntentHead): bigint {
  const number = lastSnapshot(snapshots, intent)?.get('sequence-number')
  return typeof number === 'bigint' ? number : 0n
}

function timestampOf(
  snapshots: ReadonlyMap<JsonValue, JsonObject>,
  intent: IntentHead,
): JsonValue | undefined {
  return lastSnapshot(snapshots, intent)?.get('timestamp-ms')
}
