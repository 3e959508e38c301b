/** Measures how well columns are classified on labelled tables. The result depends on the seed, not on the machine. */

import { claimsOf } from './detection/claims.ts'
import { labelledTables } from './detection/labelled-tables.ts'
import { score } from './detection/score.ts'
import type { BenchEntry, BenchResult, BenchRun } from './entry.ts'
import { rounded } from './table.ts'

export const detectionQuality: BenchEntry = {
  name: 'detection-quality',
  about: 'precision and recall of the classifiers, on labelled tables',
  options: { mistakes: { type: 'boolean', about: 'name each column that is missed or found wrongly' } },
  run,
  conclude: (results) => {
    const low = results.filter(({ figures }) => (figures.f1 ?? 0) < f1Min || figures.false_alerts !== 0)
    const names = low.map(({ case: { class: scored, scope } }) => `${scored} (${scope})`).join(', ')
    return low.length === 0
      ? { line: `Every class: F1 at least ${f1Min}, no false alert.`, failed: false }
      : { line: `F1 below ${f1Min}, or a false alert: ${names}.`, failed: true }
  },
}

const f1Min = 0.97

async function* run({ smoke, seed, flags, note }: BenchRun): AsyncGenerator<BenchResult> {
  const columns = labelledTables({ seed, rounds: smoke ? 1 : 4, cells: smoke ? 20 : 120 })
  const { scores, mistakes } = score(columns, claimsOf)
  if (flags.values.mistakes === true)
    for (const { scope, class: scored, what, column, kind } of mistakes)
      note(`  ${scope} ${scored} ${what}: ${column} (${kind})`)
  for (const { class: scored, scope, positives, precision, recall, f1, falseAlerts } of scores)
    yield {
      bench: 'detection-quality',
      case: { class: scored, scope, columns: columns.length, positives },
      figures: {
        precision: rounded(precision),
        recall: rounded(recall),
        f1: rounded(f1),
        false_alerts: falseAlerts,
      },
    }
}
