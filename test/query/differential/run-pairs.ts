/** Runs many pairs from one seed. Pair `n` is independent of earlier pairs, so a run can start at any pair. */

import type { Random } from '../fuzz.ts'
import { cases, type GovernanceCase } from './cases.ts'
import type { FileName } from './file-names.ts'
import type { Comparison, Pair } from './pairs.ts'
import { randomOfPair, statementOf } from './statements.ts'

export interface PairsRun {
  readonly seed: number
  /** Index of the first pair. */
  readonly from: number
  readonly count: number
  readonly pairOf: (random: Random, index: number) => Promise<Pair>
  /** Called after each. */
  readonly onPair?: (index: number) => void
  /** Told of each difference at once: a run that is ended has told of those that it found. */
  readonly onDifference?: (told: string) => void
}

export interface PairsResult {
  readonly kinds: Readonly<Record<Comparison['kind'], number>>
  /** Pairs in which the twin fails, too. */
  readonly failed: number
  /** Seed, index, statement and outcomes of what hidden values explain, or nothing does. */
  readonly differences: readonly string[]
  /** The same of pairs in which a visible value fails in one of the two. */
  readonly reordered: readonly string[]
}

/** Of a run that finds many, the first are enough. */
const differencesMax = 25

/** One of the cases, and one of its files. */
export function anyCase(random: Random): readonly [GovernanceCase, FileName] {
  const governance = random.pick(cases)
  return [governance, random.pick(governance.files)]
}

export async function runPairs({
  seed,
  from,
  count,
  pairOf,
  onPair,
  onDifference,
}: PairsRun): Promise<PairsResult> {
  const kinds = { equal: 0, leak: 0, unlike: 0, order: 0, presence: 0 }
  const differences: string[] = []
  const reordered: string[] = []
  let failed = 0
  for (let index = from; index < from + count && differences.length < differencesMax; index++) {
    const random = randomOfPair(seed, index)
    const pair = await pairOf(random, index)
    const statement = statementOf(random)
    const compared = await pair.compare(statement)
    kinds[compared.kind]++
    if (compared.failed) failed++
    const told = `seed ${seed}, pair ${index}: ${compared.kind} under ${pair.name}\n${statement.text}\n${compared.difference}`
    if (compared.kind !== 'equal') onDifference?.(told)
    if (compared.kind === 'order') reordered.push(told)
    else if (compared.kind !== 'equal') differences.push(told)
    onPair?.(index)
  }
  return { kinds, failed, differences, reordered }
}
