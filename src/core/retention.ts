/** The kinds of history, each of which is kept for a time of its own. */

export const historyKinds = [
  'audit',
  'usage',
  'lineage',
  'detection-runs',
  'lineage-bodies',
  'commit-bodies',
  'graph-snapshots',
] as const
export type HistoryKind = (typeof historyKinds)[number]

/** Bounds of a setting in days: recovery and the comparison of audit log and graph look at the last days. */
export const keepDaysMin = 30
export const keepDaysMax = 36_500
