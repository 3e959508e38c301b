/**
 * Runs the classifiers and Presidio's pattern recognizers on the same columns, for the table of
 * docs/detection-quality.md: `bun bench/detection/compare-presidio.ts PYTHON [TITLE]`. PYTHON needs the package
 * presidio-analyzer. With TITLE, only data sets whose title holds it are compared.
 */

import { classes, type SensitiveClass } from '../../src/core/classification.ts'
import { fieldColumns } from '../../test/detection/field/field-data.ts'
import { knownColumns } from '../../test/detection/known-schemas.ts'
import { claimsOf } from './claims.ts'
import { type LabelledColumn, labelledTables } from './labelled-tables.ts'
import { messyColumns, messySeeds } from './messy-tables.ts'
import { type Claim, type Score, score } from './score.ts'

/** Share of the cells that must match, as for the classifiers: of whole cells, and of values inside text. */
const wholeShare = 0.3
const insideShare = 0.04
const thresholds = [0.01, 0.4]
const cells = 60

const messy = (seeds: readonly number[]) => seeds.flatMap((seed) => messyColumns({ seed, cells }))

const dataSets: Readonly<Record<string, readonly LabelledColumn[]>> = {
  'held-out columns, seeds 11 to 16': [11, 12, 13, 14, 15, 16].flatMap((seed) =>
    fieldColumns({ seed, cells }),
  ),
  'known schemas, seeds 1 to 3': [1, 2, 3].flatMap((seed) => knownColumns({ seed, cells })),
  'labelled tables, seed 1': labelledTables({ seed: 1, rounds: 4, cells }),
  'messy tables, held-out seeds': messy(messySeeds.heldOut),
  'messy tables, unseen seeds': messy(messySeeds.unseen),
}

type Shares = Readonly<Record<SensitiveClass, readonly number[]>>

async function presidioShares(
  python: string,
  columns: readonly LabelledColumn[],
): Promise<readonly Shares[]> {
  const script = new URL('presidio.py', import.meta.url).pathname
  const child = Bun.spawn([python, script], { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
  const output = child.stdout.text()
  for (const { values } of columns) child.stdin.write(`${JSON.stringify({ values })}\n`)
  await child.stdin.end()
  const lines = (await output).trimEnd().split('\n')
  if ((await child.exited) !== 0 || lines.length !== columns.length)
    throw new Error(`Presidio answered ${lines.length} of ${columns.length} columns`)
  return lines.map((line) => JSON.parse(line) as Shares)
}

async function compare(python: string, wanted: string): Promise<void> {
  for (const [title, columns] of Object.entries(dataSets)) {
    if (!title.includes(wanted)) continue
    const rateMin = title.startsWith('messy') ? insideShare : wholeShare
    const shares = await presidioShares(python, columns)
    const byColumn = new Map(columns.map((column, index) => [column, shares[index]]))
    const presidio = (threshold: number) => (column: LabelledColumn) =>
      classes.flatMap((each): readonly Claim[] =>
        (byColumn.get(column)?.[each][threshold] ?? 0) >= rateMin ? [{ class: each, confidence: 0 }] : [],
      )
    const contestants: readonly (readonly [string, (column: LabelledColumn) => readonly Claim[]])[] = [
      ['Covenant', claimsOf],
      // Without names, because Presidio sees none.
      ['Covenant, names withheld', (column) => claimsOf({ ...column, name: 'c' })],
      ...thresholds.map((least, index) => [`Presidio, score ≥ ${least}`, presidio(index)] as const),
    ]
    console.log(`\n${title}: ${columns.length} columns of ${cells} cells\n`)
    console.log('| class | by | positives | precision | recall | F1 |\n|---|---|---|---|---|---|')
    const rows = [
      ...contestants.map(([by, claims]) => ({ by, scope: 'any', scores: score(columns, claims).scores })),
      { by: 'Covenant, alerts', scope: 'alert', scores: score(columns, claimsOf).scores },
    ]
    for (const each of classes)
      for (const { by, scope, scores } of rows) {
        const found = scores.find((one) => one.class === each && one.scope === scope)
        if (found !== undefined) console.log(tableRow(by, found))
      }
  }
}

function tableRow(by: string, { class: scored, positives, precision, recall, f1 }: Score): string {
  const figures = [precision, recall, f1].map((figure) => figure.toFixed(3))
  return `| ${[scored, by, positives, ...figures].join(' | ')} |`
}

await compare(process.argv[2] ?? 'python3', process.argv[3] ?? '')
