/** Describes the table that a recovered commit made, as far as the current table still shows it. */

import type { CommittedTable, IntentHead } from '../../core/commit.ts'
import { committedTable, type LoadTableResult } from '../../wire/iceberg/table-metadata.ts'

/** The table at the metadata location that the commit wrote. */
export function committedAt(
  current: LoadTableResult,
  intent: IntentHead,
  metadataLocation: string,
): CommittedTable {
  if (metadataLocation === current.metadataLocation) return committedTable(current)
  return { ...committedTable(current, intent.snapshotIds.at(-1) ?? 'unknown'), metadataLocation }
}
