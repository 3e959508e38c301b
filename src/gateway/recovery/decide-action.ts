/**
 * Decides whether a catalog change was made whose process died, or lost the upstream, between forward and audit. Pure:
 * it compares the intent with what the upstream shows under its names now, and with the changes audited since. Those
 * matter because a client that lost the response retries, and its retry may explain what is there now.
 */

import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { IntentHead } from '../../core/commit.ts'
import type { AuditedChanges } from '../../store/commit/audit.ts'
import { historyOf } from '../base/metadata-history.ts'
import type { IntentOutcome } from './decide.ts'
import type { TableEvidence } from './evidence.ts'

/** What exists under a name: a table's history, a view's location and versions, or a namespace's properties. */
export interface Found {
  readonly table?: Pick<TableEvidence, 'metadataLocation' | 'metadata'> & {
    readonly audited: ReadonlySet<string>
  }
  readonly viewLocation?: string
  /** When a view's remaining versions were made, by the clocks of their writers. */
  readonly versionTimes?: readonly JsonValue[]
  readonly properties?: JsonObject
}

/** How far an upstream's clock may be behind the gateway's. */
const clockSkewMs = 5 * 60_000

const committed: IntentOutcome = { kind: 'committed', metadataLocation: '' }
const notCommitted: IntentOutcome = { kind: 'not-committed' }
const undecidable = (why: string): IntentOutcome => ({ kind: 'undecidable', why })

/**
 * Decides one intent.
 * @param update the one update of the intent's request
 * @param found what is under its name now; undefined if nothing is
 * @param destination the same for the new name of a rename
 * @param since the changes of its name that were audited since the intent was opened
 * @param arrived whether a change under the new name of a rename, on the renamed base, was audited since
 * @returns `committed` with the metadata location that the action wrote, '' if it writes none
 */
export function decideAction(
  intent: IntentHead,
  update: JsonObject,
  found: Found | undefined,
  destination: Found | undefined,
  since: AuditedChanges,
  arrived = false,
): IntentOutcome {
  switch (intent.action) {
    case 'create-table':
      return decideCreation(intent, found, since)
    case 'register-table': {
      const location = update.get('metadata-location')
      if (typeof location !== 'string' || !holds(found, location) || since.same > 0) return notCommitted
      return { kind: 'committed', metadataLocation: location }
    }
    case 'drop-table':
    case 'unregister-table':
      if (found === undefined || since.created + since.removed > 0) return counted(true, found, since)
      if (isBase(intent, found)) return notCommitted
      return uuidOf(found) !== undefined && intent.baseTableUuid !== undefined
        ? committed
        : undecidable('the table under the name may be the same or another one')
    case 'rename-table':
      if (isBase(intent, destination)) return since.removed === 0 ? committed : counted(true, found, since)
      if (isBase(intent, found)) return notCommitted
      return arrived ? committed : undecidable('the table is under neither of its names')
    case 'rename-view':
      if (found === undefined && destination === undefined && since.removed === 0)
        return undecidable('the view is under neither of its names')
      return counted(true, found, since)
    case 'create-view':
    case 'register-view':
    case 'create-namespace':
      return counted(false, found, since)
    case 'drop-view':
    case 'drop-namespace':
      return counted(true, found, since)
    case 'replace-view':
      return decideReplacement(intent, update, found, since)
    case 'update-properties':
      if (found?.properties === undefined) return undecidable('the namespace no longer exists')
      return propertiesHold(found.properties, update) && since.same === 0 ? committed : notCommitted
    default:
      return undecidable('this build does not support the action of the intent')
  }
}

/**
 * Decides a creation or removal by counting: audited creations and removals must explain whether the name exists now.
 * If exactly one is missing, it was this one.
 * @param was whether something had the name before
 */
function counted(
  was: boolean,
  found: Found | undefined,
  { created, removed }: AuditedChanges,
): IntentOutcome {
  const explained = Number(was) + created - removed
  const unexplained = Number(found !== undefined) - explained
  if (unexplained === 0) return notCommitted
  // Something that was created and dropped since need not have been created by this intent.
  if (unexplained === (was ? -1 : 1) && (was || found !== undefined)) return committed
  return undecidable('the changes of the name that were audited since do not explain its state')
}

/** A changed view was changed by this replacement, unless others are audited. Then its versions decide. */
function decideReplacement(
  intent: IntentHead,
  update: JsonObject,
  found: Found | undefined,
  { alike }: AuditedChanges,
): IntentOutcome {
  if (found === undefined) return undecidable('the view no longer exists')
  if (found.viewLocation === intent.baseMetadataLocation) return notCommitted
  if (alike === 0) return committed
  const added = versionTimesAdded(update)
  if (added.length === 0) return undecidable('another replacement of the view was made since')
  return added.every((time) => found.versionTimes?.includes(time)) ? committed : notCommitted
}

/** When the versions were made that the request creates a view with, or adds to one, as their writer says. */
export function versionTimesAdded(update: JsonObject): readonly JsonValue[] {
  const updates = update.get('updates')
  const created = update.get('view-version')
  if (isJsonObject(created)) return [created.get('timestamp-ms') ?? null]
  return (Array.isArray(updates) ? (updates as readonly JsonValue[]) : [])
    .filter(isJsonObject)
    .map((one) => one.get('view-version'))
    .filter(isJsonObject)
    .map((version) => version.get('timestamp-ms') ?? null)
}

/**
 * The table was created by this intent if its first metadata file is unaudited and not older than the request. An audited
 * file is another's creation only if a creation is audited: the metadata log may no longer name the first file.
 */
function decideCreation(
  intent: IntentHead,
  found: Found | undefined,
  { created }: AuditedChanges,
): IntentOutcome {
  if (found?.table === undefined) return notCommitted
  const first = historyOf(found.table)[0]
  if (first === undefined || Number(first.timestampMs) < intent.receivedAtMs - clockSkewMs)
    return notCommitted
  if (!found.table.audited.has(first.metadataLocation))
    return { kind: 'committed', metadataLocation: first.metadataLocation }
  return created > 0 ? notCommitted : undecidable('the metadata log may no longer name the first file')
}

/** Whether this is the table that the intent was judged on. Its UUID decides, because some catalogs show no history. */
function isBase(intent: IntentHead, found: Found | undefined): boolean {
  const uuid = uuidOf(found)
  if (uuid !== undefined && intent.baseTableUuid !== undefined) return uuid === intent.baseTableUuid
  return holds(found, intent.baseMetadataLocation)
}

function uuidOf(found: Found | undefined): JsonValue | undefined {
  return found?.table?.metadata.get('table-uuid')
}

/** Whether there is a table with this metadata file in its history. */
function holds(found: Found | undefined, metadataLocation: string): boolean {
  return (
    found?.table !== undefined &&
    historyOf(found.table).some((entry) => entry.metadataLocation === metadataLocation)
  )
}

function propertiesHold(properties: JsonObject, update: JsonObject): boolean {
  const updates = update.get('updates')
  const removals = update.get('removals')
  return (
    (!(updates instanceof Map) || [...updates].every(([key, value]) => properties.get(key) === value)) &&
    (!Array.isArray(removals) ||
      (removals as readonly JsonValue[]).every((key) => typeof key !== 'string' || !properties.has(key)))
  )
}
