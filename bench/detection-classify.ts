/** Measures how fast one thread classifies columns, by their content. */

import { claimsOf } from './detection/claims.ts'
import { type LabelledColumn, labelledTables } from './detection/labelled-tables.ts'
import type { BenchEntry, BenchResult, BenchRun } from './entry.ts'
import { percentile } from './statistics.ts'
import { rounded } from './table.ts'

export const detectionClassify: BenchEntry = {
  name: 'detection-classify',
  about: 'cells a second that the classifiers judge',
  options: {},
  run,
}

async function* run({ smoke, seed }: BenchRun): AsyncGenerator<BenchResult> {
  const cells = smoke ? 20 : 1000
  const rounds = smoke ? 1 : 7
  const columns = labelledTables({ seed, rounds: 1, cells })
  const groups = new Map<string, readonly LabelledColumn[]>([
    ['all', columns],
    ...Map.groupBy(columns, ({ holds }) => holds[0] ?? 'none'),
  ])
  for (const [holds, group] of groups) {
    classifyAll(group)
    const rates = Array.from({ length: rounds }, () => {
      const startMs = performance.now()
      classifyAll(group)
      return (group.length * cells * 1000) / (performance.now() - startMs)
    })
    yield {
      bench: 'detection-classify',
      case: { holds, columns: group.length, cells_per_column: cells },
      figures: { cells_per_s: rounded(percentile(rates, 0.5)) },
    }
  }
}

function classifyAll(columns: readonly LabelledColumn[]): void {
  for (const column of columns) claimsOf(column)
}
