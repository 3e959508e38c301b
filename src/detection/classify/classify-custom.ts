/**
 * Finds what a custom classifier looks for in a column: judges values and name as for the built-in classes, by the
 * patterns, checks and thresholds of its definition (docs/reference/detection.md 4.5). It does no I/O.
 */

import type { ColumnSample, CustomClass, Finding } from '../../core/classification.ts'
import type { ClassifierAllowance } from '../../core/classifier.ts'
import { passesCheck } from './check-digits.ts'
import { type Cells, evenly, holdsFlags, judgedMax, readCells } from './classify.ts'
import type { CompiledClassifier, CompiledPattern, StepBudget } from './compile-classifier.ts'
import { maskValue } from './mask.ts'
import { looksMasked } from './normalise-cell.ts'
import { splitWords } from './split-words.ts'
import type { TextMatch } from './text-values.ts'
import { type TextEvidence, weighMatches } from './weigh-text.ts'

/** How one value fits: `broken` has the form and fails a check. */
export type CustomMatch = 'valid' | 'broken' | 'none'

/** A classifier with what it says nothing about in the table that is scanned. */
export interface PlacedClassifier {
  readonly classifier: CompiledClassifier
  readonly allow: readonly Omit<ClassifierAllowance, 'table'>[]
}

/**
 * Finds what a column holds by a custom classifier.
 * @returns undefined where nothing points to it. Where `budget.isSpent` afterwards, the column was not judged.
 */
export function classifyByCustom(
  sample: ColumnSample,
  { classifier, allow }: PlacedClassifier,
  budget: StepBudget,
): Finding<CustomClass> | undefined {
  const here = allow.filter(({ columns }) => columns === undefined || columns.includes(sample.name))
  if (here.some(({ values }) => values === undefined)) return undefined
  const values = evenly(sample.values, judgedMax)
  if (holdsFlags(values)) return undefined
  const allowed = new Set(here.flatMap((one) => one.values ?? []))
  const column = readCells(values)
  const isNamed = matchesName(sample.name, classifier, budget)
  const evidence = weighValues(column, classifier, allowed, isNamed, budget)
  if (evidence === undefined || budget.isSpent) return undefined
  const { example, ...found } = evidence
  return {
    ...found,
    column: sample.name,
    class: classifier.name as CustomClass,
    sampled: values.length < sample.values.length ? values.length : sample.sampledCount,
    maskedSample: example === undefined ? undefined : maskValue(example, undefined),
  }
}

/** The class of a classifier whose patterns find a name; undefined where none does, or the column is allowed. */
export function isNamedByCustom(
  name: string,
  { classifier, allow }: PlacedClassifier,
  budget: StepBudget,
): CustomClass | undefined {
  const isAllowed = allow.some(
    ({ columns, values }) => values === undefined && (columns === undefined || columns.includes(name)),
  )
  return !isAllowed && matchesName(name, classifier, budget) ? (classifier.name as CustomClass) : undefined
}

/** The class of a classifier by which at least one value is valid. Where the budget is spent, one may be. */
export function customTraces(
  { values }: ColumnSample,
  { classifier }: PlacedClassifier,
  budget: StepBudget,
): CustomClass | undefined {
  const { cells, texts } = readCells(evenly(values, judgedMax))
  const has =
    cells.some((cell) => judgeValue(cell, classifier, budget) === 'valid') ||
    (classifier.inText &&
      texts.some((text) => findInside(text, classifier, new Set(), budget).kind === 'value'))
  return has || budget.isSpent ? (classifier.name as CustomClass) : undefined
}

/** Judges one value. Once the budget is spent, every value is `none`. */
export function judgeValue(value: string, { values }: CompiledClassifier, budget: StepBudget): CustomMatch {
  let match: CustomMatch = 'none'
  for (const { pattern, checks } of values) {
    if (!(budget.take(pattern, value) && pattern.regex.testExact(value))) continue
    if (checks.every((check) => passesCheck(value, check))) return 'valid'
    match = 'broken'
  }
  return match
}

function matchesName(name: string, { names }: CompiledClassifier, budget: StepBudget): boolean {
  const forms = [name.toLowerCase(), splitWords(name).join('_')]
  const found = (pattern: CompiledPattern) =>
    forms.some((form) => budget.take(pattern, form) && pattern.regex.test(form))
  return names.some(found)
}

type Evidence = Pick<Finding, 'shape' | 'confidence' | 'matched'> & { readonly example: string | undefined }

function weighValues(
  { cells, filled, texts }: Cells,
  classifier: CompiledClassifier,
  allowed: ReadonlySet<string>,
  isNamed: boolean,
  budget: StepBudget,
): Evidence | undefined {
  const { share, matches, valid_share: validShare } = classifier.thresholds
  let [valid, broken] = [0, 0]
  let example: string | undefined
  for (const cell of cells) {
    if (allowed.has(cell)) continue
    const match = judgeValue(cell, classifier, budget)
    if (match === 'broken') broken++
    if (match !== 'valid') continue
    valid++
    example ??= cell
  }
  const fits = valid > 0 && valid / filled >= share && valid / (valid + broken) >= validShare
  if (fits && isNamed) return { shape: 'name_and_value', confidence: 0.92, matched: valid, example }
  if (fits && valid >= matches) return { shape: 'value', confidence: 0.55, matched: valid, example }
  const inside = classifier.inText ? weighInside(texts, classifier, allowed, isNamed, budget) : undefined
  if (inside !== undefined) return inside
  return isNamed ? { shape: 'name', confidence: 0.65, matched: valid, example } : undefined
}

function weighInside(
  texts: readonly string[],
  classifier: CompiledClassifier,
  allowed: ReadonlySet<string>,
  isNamed: boolean,
  budget: StepBudget,
): TextEvidence | undefined {
  const isChecked = classifier.values.every(({ checks }) => checks.length > 0)
  const rules = { validMin: classifier.thresholds.valid_share, isChecked, standsAlone: isChecked }
  const find = (text: string) => findInside(text, classifier, allowed, budget)
  return weighMatches(texts, find, rules, isNamed ? 'sure' : 'none')
}

/** Words of one text that are judged. */
const wordsMax = 200
/** What stands between separators; separators that identifiers have inside stay. */
const word = /[\p{L}\p{N}]+(?:[._/-][\p{L}\p{N}]+)*/gu

function findInside(
  text: string,
  classifier: CompiledClassifier,
  allowed: ReadonlySet<string>,
  budget: StepBudget,
): TextMatch {
  let isBroken = false
  let count = 0
  for (const [value] of text.matchAll(word)) {
    if (++count > wordsMax) break
    if (allowed.has(value) || looksMasked(value)) continue
    const match = judgeValue(value, classifier, budget)
    if (match === 'valid')
      return { kind: 'value', value, isWhole: value.length === text.trim().length, isCalled: false }
    isBroken ||= match === 'broken'
  }
  return isBroken ? { kind: 'shaped' } : { kind: 'none' }
}
