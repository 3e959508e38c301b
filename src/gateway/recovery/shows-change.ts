/**
 * Says whether two states of a table, one after the other, show the change of a commit. Pure. The evidence is what the
 * states hold: snapshot ids, properties, refs, schemas. No time is compared, because clocks differ and commits race.
 */

import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { IntentHead } from '../../core/commit.ts'
import { applyUpdates, isSupportedUpdate } from '../../wire/iceberg/apply-updates.ts'
import { snapshotsOf } from '../../wire/iceberg/table-metadata.ts'

/** What a commit would change. */
export interface ClaimedChange {
  readonly intent: Pick<IntentHead, 'snapshotIds' | 'manifestLists' | 'receivedAtMs'>
  /** Undefined where the request was not read or cannot be. */
  readonly updates: readonly JsonObject[] | undefined
}

/**
 * - `whole`: the later state is the earlier one with this change, and nothing else has changed
 * - `among-others`: this change was made between them, and something else has changed too
 * - `no`: the change was not made between them
 * - `lacks`: nor before them, because the later state is without it
 * - `unknown`: one of the states is not known, or the change cannot be applied
 */
export type Shown = 'whole' | 'among-others' | 'no' | 'lacks' | 'unknown'

/** @param before the state of the file before; `after` that of the file which the change may have written */
export function shownBetween(
  change: ClaimedChange,
  before: JsonObject | undefined,
  after: JsonObject | undefined,
): Shown {
  if (change.intent.snapshotIds.length > 0) {
    const now = after && snapshotsIn(after, change.intent)
    if (now === 'none') return 'lacks'
    if (before !== undefined && snapshotsIn(before, change.intent) !== 'none') return 'no'
    // Those of another request with the same ids, or a catalog wrote another list than was sent.
    return before === undefined || now !== 'own' ? 'unknown' : 'whole'
  }
  return changeBetween(change, before, after)
}

/** The same for states between which there may be others: here a snapshot of the change does not prove all of it. */
export function changeBetween(
  { intent, updates }: ClaimedChange,
  before: JsonObject | undefined,
  after: JsonObject | undefined,
): Shown {
  if (updates === undefined || !updates.every(isSupportedUpdate) || after === undefined) return 'unknown'
  const holds = effectsHold(updates, after, intent.receivedAtMs)
  if (!holds && updates.every(isKeptAsSent)) return 'lacks'
  if (before === undefined) return 'unknown'
  const observed = changedParts(before, after)
  const made = applied(before, updates, intent.receivedAtMs)
  const expected = made && changedParts(before, made)
  if (expected !== undefined && expected.size > 0 && expected.isDisjointFrom(observed)) return 'no'
  if (!holds) return 'unknown'
  if (expected !== undefined && expected.symmetricDifference(observed).size === 0) return 'whole'
  return effectsHold(updates, before, intent.receivedAtMs) ? 'no' : 'among-others'
}

/** Updates that every catalog keeps as they were sent. Of schemas and the like it may write another form. */
const keptAsSent: ReadonlySet<JsonValue | undefined> = new Set([
  ...['set-properties', 'remove-properties', 'set-snapshot-ref', 'remove-snapshot-ref', 'remove-snapshots'],
])
const isKeptAsSent = (update: JsonObject): boolean => keptAsSent.has(update.get('action'))

/**
 * Whether all snapshots of a commit are in the table.
 * - `own`: as it sent them, as far as that is known
 * - `other`: their ids are, with another manifest list: two requests of a client may share an id
 * - `none`: not all of them are
 */
export function snapshotsIn(
  metadata: JsonObject,
  { snapshotIds, manifestLists }: ClaimedChange['intent'],
): 'own' | 'other' | 'none' {
  const lists = new Map(
    snapshotsOf(metadata).map((one) => [one.get('snapshot-id'), one.get('manifest-list')]),
  )
  if (!snapshotIds.every((id) => lists.has(id))) return 'none'
  const isSame = (sent: JsonValue | undefined, kept: JsonValue | undefined) =>
    !sent || typeof kept !== 'string' || sent === kept
  return snapshotIds.every((id, index) => isSame(manifestLists?.[index], lists.get(id))) ? 'own' : 'other'
}

/** Whether applying the updates again changes nothing but timestamps and logs. */
export function effectsHold(
  updates: readonly JsonObject[],
  metadata: JsonObject,
  receivedAtMs: number,
): boolean {
  try {
    const again = applyUpdates(metadata, updates, { nowMs: receivedAtMs, again: true })
    return [...again].every(([key, value]) => volatile.has(key) || Bun.deepEquals(value, metadata.get(key)))
  } catch {
    return false
  }
}

function applied(before: JsonObject, updates: readonly JsonObject[], nowMs: number): JsonObject | undefined {
  try {
    return applyUpdates(before, updates, { nowMs })
  } catch {
    return undefined
  }
}

const volatile: ReadonlySet<JsonValue> = new Set(['last-updated-ms', 'metadata-log', 'snapshot-log'])
/** Nessie adds these to the properties of every state. */
const isCatalogsOwn = (property: string): boolean => property.startsWith('nessie.')

/** The names of the parts that differ: members of the metadata; of properties and refs, each by its own name. */
function changedParts(before: JsonObject, after: JsonObject): ReadonlySet<string> {
  const changed = new Set<string>()
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    if (volatile.has(key)) continue
    const one = before.get(key)
    const other = after.get(key)
    if (key !== 'properties' && key !== 'refs') {
      if (!isSame(one, other)) changed.add(key)
      continue
    }
    const [from, to] = [entriesOf(one), entriesOf(other)]
    for (const name of new Set([...from.keys(), ...to.keys()]))
      if (!isCatalogsOwn(name) && !isSame(from.get(name), to.get(name))) changed.add(`${key}/${name}`)
  }
  return changed
}

/** A missing member is the same as an empty one, because catalogs write either. */
function isSame(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  return Bun.deepEquals(isEmpty(one) ? null : one, isEmpty(other) ? null : other)
}

function isEmpty(value: JsonValue | undefined): boolean {
  return (
    value === undefined ||
    value === null ||
    (Array.isArray(value) && value.length === 0) ||
    (isJsonObject(value) && value.size === 0)
  )
}

function entriesOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : new Map()
}
