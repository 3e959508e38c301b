/** Measures how well columns are classified on labelled tables. The result depends on the seeds, not on the machine. */

import { claimsOf } from './detection/claims.ts'
import { type LabelledColumn, labelledTables } from './detection/labelled-tables.ts'
import { messyColumns, messySeeds } from './detection/messy-tables.ts'
import { score } from './detection/score.ts'
import type { BenchEntry, BenchResult, BenchRun } from './entry.ts'
import { rounded } from './table.ts'

export const detectionQuality: BenchEntry = {
  name: 'detection-quality',
  about: 'precision and recall of the classifiers, on labelled and on messy tables',
  options: {
    mistakes: {
      type: 'boolean',
      about:
        'name each column that is missed or found wrongly, and take the messy tables of the tuning seeds',
    },
  },
  run,
  conclude: (results) => {
    const low = results.filter(
      ({ figures, case: { tables, scope } }) =>
        (figures.f1 ?? 0) < (f1Min[`${tables} ${scope}`] ?? 1) || figures.false_alerts !== 0,
    )
    const names = low
      .map(({ case: { tables, class: scored, scope } }) => `${scored} (${tables}, ${scope})`)
      .join(', ')
    return low.length === 0
      ? { line: 'Every class keeps its least F1, and there is no false alert.', failed: false }
      : { line: `F1 too low, or a false alert: ${names}.`, failed: true }
  },
}

const f1Min: Readonly<Record<string, number>> = {
  'labelled any': 0.97,
  'labelled alert': 0.97,
  'messy any': 0.97,
  'messy alert': 0.95,
}

async function* run({ smoke, seed, flags, note }: BenchRun): AsyncGenerator<BenchResult> {
  const named = flags.values.mistakes === true
  // Nobody looks at the mistakes of held-out seeds, so that they stay held out.
  const seeds = smoke ? messySeeds.tuning.slice(0, 1) : named ? messySeeds.tuning : messySeeds.heldOut
  const sets: Readonly<Record<string, readonly LabelledColumn[]>> = {
    labelled: labelledTables({ seed, rounds: smoke ? 1 : 4, cells: smoke ? 20 : 120 }),
    messy: seeds.flatMap((each) => messyColumns({ seed: each, cells: smoke ? 20 : 60 })),
  }
  for (const [tables, columns] of Object.entries(sets)) {
    const { scores, mistakes } = score(columns, claimsOf)
    if (named)
      for (const { scope, class: scored, what, column, kind } of mistakes)
        note(`  ${tables} ${scope} ${scored} ${what}: ${column} (${kind})`)
    for (const { class: scored, scope, positives, precision, recall, f1, falseAlerts } of scores)
      yield {
        bench: 'detection-quality',
        case: { tables, class: scored, scope, columns: columns.length, positives },
        figures: {
          precision: rounded(precision),
          recall: rounded(recall),
          f1: rounded(f1),
          false_alerts: falseAlerts,
        },
      }
  }
}
