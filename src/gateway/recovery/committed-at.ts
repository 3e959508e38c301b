/** Describes the table that a recovered commit made, as far as the current table still shows it. */

import type { CommittedTable, IntentHead } from '../../core/commit.ts'
import { committedTable, type LoadTableResult } from '../../wire/iceberg/table-metadata.ts'
import { historyOf } from '../base/metadata-history.ts'

/** The table at the metadata location that the commit wrote. */
export function committedAt(
  current: LoadTableResult,
  intent: IntentHead,
  metadataLocation: string,
): CommittedTable {
  if (metadataLocation === current.metadataLocation) return committedTable(current)
  const history = historyOf(current)
  const index = history.findIndex((entry) => entry.metadataLocation === metadataLocation)
  const previousLocation = index > 0 ? history[index - 1]?.metadataLocation : undefined
  const committed = committedTable(current, intent.snapshotIds.at(-1) ?? 'unknown')
  return { ...committed, metadataLocation, previousLocation }
}
