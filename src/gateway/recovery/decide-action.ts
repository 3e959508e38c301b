/**
 * What became of a catalog change whose process died, or lost the upstream, between forward and audit. Pure:
 * from the intent, what the upstream shows under its names now, and what was audited of its name since: a client that
 * lost the answer asks again, and what that made explains what is there, or no longer is.
 */

import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { IntentHead } from '../../core/commit.ts'
import type { AuditedChanges } from '../../store/commit/audit.ts'
import { historyOf } from '../base/metadata-history.ts'
import type { IntentOutcome, TableEvidence } from './decide.ts'

/** What is there under a name: a table's history, a view's metadata location and versions, a namespace's properties. */
export interface Found {
  readonly table?: Pick<TableEvidence, 'metadataLocation' | 'metadata' | 'audited'>
  readonly viewLocation?: string
  /** When the versions that a view still has were made, as who made them says. */
  readonly versionTimes?: readonly JsonValue[]
  readonly properties?: JsonObject
}

/** How far an upstream's clock may be behind ours. */
const clockSkewMs = 5 * 60_000

const committed: IntentOutcome = { kind: 'committed', metadataLocation: '' }
const notCommitted: IntentOutcome = { kind: 'not-committed' }
const undecidable = (why: string): IntentOutcome => ({ kind: 'undecidable', why })

/**
 * @param update the one update of the intent's request
 * @param found what its name shows now; undefined where nothing is there
 * @param destination the same for the new name of a rename
 * @param since what was audited of its name since the intent was opened
 * @param arrived whether the audit shows a change under the new name since, on the base of a rename
 * @returns `committed` with the metadata location that the action wrote, '' where it writes none
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
      return decideCreation(intent, found)
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
        : undecidable('what has the name now may be the table or another')
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
      return undecidable('the intent is of an unknown action')
  }
}

/**
 * Of a creation or removal: whether the audited ones bring the name from what it was to what it is, or leave one out.
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
  // What was made and dropped since need not have been made by this creation.
  if (unexplained === (was ? -1 : 1) && (was || found !== undefined)) return committed
  return undecidable('what was audited of the name since does not explain what is there')
}

/** A view that moved did so by this replacement, unless others of it are audited: then its versions tell. */
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

function versionTimesAdded(update: JsonObject): readonly JsonValue[] {
  const updates = update.get('updates')
  return (Array.isArray(updates) ? (updates as readonly JsonValue[]) : [])
    .filter(isJsonObject)
    .map((one) => one.get('view-version'))
    .filter(isJsonObject)
    .map((version) => version.get('timestamp-ms') ?? null)
}

/** A creation writes the first metadata file, after it was received, and nothing else explains it. */
function decideCreation(intent: IntentHead, found: Found | undefined): IntentOutcome {
  if (found?.table === undefined) return notCommitted
  const first = historyOf(found.table)[0]
  if (first === undefined || found.table.audited.has(first.metadataLocation)) return notCommitted
  if (Number(first.timestampMs) < intent.receivedAtMs - clockSkewMs) return notCommitted
  return { kind: 'committed', metadataLocation: first.metadataLocation }
}

/** Whether the table that the intent was judged on is there; not every catalog shows its history. */
function isBase(intent: IntentHead, found: Found | undefined): boolean {
  const uuid = uuidOf(found)
  if (uuid !== undefined && intent.baseTableUuid !== undefined) return uuid === intent.baseTableUuid
  return holds(found, intent.baseMetadataLocation)
}

function uuidOf(found: Found | undefined): JsonValue | undefined {
  return found?.table?.metadata.get('table-uuid')
}

/** Whether a table with this metadata file in its history is there. */
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
