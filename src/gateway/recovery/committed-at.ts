/** What a recovered commit made of a table, as far as the current table still shows it. */

import type { CommittedTable, IntentHead } from '../../core/commit.ts'
import { committedTable, type LoadTableResult } from '../../wire/iceberg/table-metadata.ts'

/** What was committed, at the place in the history that the commit made. */
export function committedAt(
  current: LoadTableResult,
  intent: IntentHead,
  metadataLocation: string,
): CommittedTable {
  if (metadataLocation === current.metadataLocation) return committedTable(current)
  return { ...committedTable(current, intent.snapshotIds.at(-1) ?? 'unknown'), metadataLocation }
}
