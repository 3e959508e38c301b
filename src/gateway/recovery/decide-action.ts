/**
 * What became of a catalog change whose process died, or lost the upstream, between forward and audit. Pure:
 * from the intent, and what the upstream shows under its names now.
 */

import type { JsonObject, JsonValue } from '../../base/json.ts'
import type { CommitIntent } from '../../core/commit.ts'
import { historyOf, type IntentOutcome, type TableEvidence } from './decide.ts'

/** What is there under a name: a table's history, a view's metadata location, a namespace's properties. */
export interface Found {
  readonly table?: Pick<TableEvidence, 'metadataLocation' | 'metadata' | 'audited'>
  readonly viewLocation?: string
  readonly properties?: JsonObject
}

/** An upstream's clock may be behind ours by so much. */
const clockSkewMs = 5 * 60_000

const committed: IntentOutcome = { kind: 'committed', metadataLocation: '' }
const notCommitted: IntentOutcome = { kind: 'not-committed' }
const undecidable = (why: string): IntentOutcome => ({ kind: 'undecidable', why })

/**
 * @param update the one update of the intent's request
 * @param found what its name shows now; undefined where nothing is there
 * @param destination the same for the new name of a rename
 * @returns `committed` with the metadata location that the action wrote, '' where it writes none
 */
export function decideAction(
  intent: CommitIntent,
  update: JsonObject,
  found: Found | undefined,
  destination: Found | undefined,
): IntentOutcome {
  switch (intent.action) {
    case 'create-table':
      return decideCreation(intent, found)
    case 'register-table': {
      const location = update.get('metadata-location')
      if (typeof location !== 'string' || !holds(found, location)) return notCommitted
      return { kind: 'committed', metadataLocation: location }
    }
    case 'drop-table':
    case 'unregister-table':
      if (found === undefined) return committed
      if (isBase(intent, found)) return notCommitted
      return uuidOf(found) !== undefined && intent.baseTableUuid !== undefined
        ? committed
        : undecidable('what has the name now may be the table or another')
    case 'rename-table':
      if (isBase(intent, destination)) return committed
      if (isBase(intent, found)) return notCommitted
      return undecidable('the table is under neither of its names')
    case 'rename-view':
      if (found !== undefined) return notCommitted
      return destination === undefined ? undecidable('the view is under neither of its names') : committed
    case 'create-view':
    case 'register-view':
    case 'create-namespace':
      return found === undefined ? notCommitted : committed
    case 'drop-view':
    case 'drop-namespace':
      return found === undefined ? committed : notCommitted
    case 'replace-view':
      if (found === undefined) return undecidable('the view no longer exists')
      return found.viewLocation === intent.baseMetadataLocation ? notCommitted : committed
    case 'update-properties':
      if (found?.properties === undefined) return undecidable('the namespace no longer exists')
      return propertiesHold(found.properties, update) ? committed : notCommitted
    default:
      return undecidable('the intent is of an unknown action')
  }
}

/** A creation writes the first metadata file, after it was received, and nothing else explains it. */
function decideCreation(intent: CommitIntent, found: Found | undefined): IntentOutcome {
  if (found?.table === undefined) return notCommitted
  const first = historyOf(found.table)[0]
  if (first === undefined || found.table.audited.has(first.metadataLocation)) return notCommitted
  if (Number(first.timestampMs) < intent.receivedAtMs - clockSkewMs) return notCommitted
  return { kind: 'committed', metadataLocation: first.metadataLocation }
}

/** Whether the table that the intent was judged on is there; not every catalog shows its history. */
function isBase(intent: CommitIntent, found: Found | undefined): boolean {
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
