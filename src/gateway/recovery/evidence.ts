/** What is known of a table on which intents are open: the evidence by which decide.ts decides them. */

import type { JsonObject } from '../../base/json.ts'
import type { IntentHead } from '../../core/commit.ts'
import { type HistoryEntry, historyOf } from '../base/metadata-history.ts'
import type { Shown } from './shows-change.ts'

export interface StaleIntent {
  readonly intent: IntentHead
  /** The updates of its request; undefined where they were not read. */
  readonly updates: readonly JsonObject[] | undefined
  /** Whether it was surely made: the upstream said so, or it belongs to a transaction of which another commit was. */
  readonly isSurelyMade?: boolean
  /** Whether a running process still works on it. */
  readonly isLeased?: boolean
}

/** What the files between two states show of the intents, by metadata location and commit id. */
export type ShownByFile = ReadonlyMap<string, ReadonlyMap<string, Shown>>

export interface TableEvidence {
  readonly metadataLocation: string
  readonly metadata: JsonObject
  /** Files that the table had before those which its metadata log still names, oldest first. */
  readonly earlier?: readonly string[]
  /** The files in the table's history that an APPROVED audit row already names, with the hash of that commit's body. */
  readonly audited: ReadonlyMap<string, string>
  /** All other open intents on the table. */
  readonly others: readonly StaleIntent[]
  /** States of the table that are known besides the current one, by metadata location. */
  readonly known?: ReadonlyMap<string, JsonObject>
  /** Whether an audited commit in this history took away snapshots or properties; undefined where that was not looked up. */
  readonly takesAway?: boolean
  /** Whether files can be read that were not: then nothing is decided by counting yet. */
  readonly isReadable?: boolean
  /** What was found in files that were read. */
  readonly shown?: ShownByFile
}

/** A file of the table. */
export interface TableFile extends HistoryEntry {
  /** The content of the file, and of the one before. */
  readonly before: JsonObject | undefined
  readonly after: JsonObject | undefined
}

/** The files that are known of a table, oldest first. */
export function filesOf(table: TableEvidence): readonly TableFile[] {
  const earlier = (table.earlier ?? []).map((metadataLocation) => ({
    metadataLocation,
    timestampMs: undefined,
  }))
  const history = [...earlier, ...historyOf(table)]
  const contentOf = (file: string | undefined) =>
    file === table.metadataLocation ? table.metadata : file && table.known?.get(file)
  return history.map((entry, index) => ({
    ...entry,
    before: contentOf(history[index - 1]?.metadataLocation) || undefined,
    after: contentOf(entry.metadataLocation) || undefined,
  }))
}
