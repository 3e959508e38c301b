/**
 * Finds the classes of a column: judges the values and the name separately, then together (docs/reference/detection.md
 * 4.1). It does no I/O.
 */

import { type ColumnSample, classes, type Finding, type SensitiveClass } from '../../core/classification.ts'
import { detectorClasses } from './classes/detector-classes.ts'
import { maskValue } from './mask.ts'
import { type NameSignal, readNameSignals } from './names.ts'
import { looksMasked, normaliseCell } from './normalise-cell.ts'
import { holdsOtherKind } from './other-kind.ts'
import { findInText, readableText } from './text-values.ts'
import { weighText } from './weigh-text.ts'

/** At most this many values of a column are judged; their share is exact enough. */
export const judgedMax = 2000
/** Share of the non-blank cells that must match. */
const rateMin = 0.3
/** Fewer matches may be chance when no name points to the class. */
const unnamedMatchesMin = 3

/** Share of the cells with the form of the class that must be valid beside a name that is more than a hint. */
const namedValidMin = 0.5

const confidences = { name: 0.65, value: 0.55, name_and_value: 0.92 } as const

/**
 * Finds what a column holds, by its name and a sample of its values: at most one finding for each class. It finds
 * nothing when nothing points to a class, or when the column holds flags. Values are matched as whole cells; a path
 * inside JSON is a sample of its own. Of more than 2,000 values, 2,000 evenly spaced ones are judged, and `sampled`
 * says so.
 * @returns findings with the confidences of docs/reference/detection.md 4.1; `maskedSample` never holds a value
 */
export function classifyColumn(sample: ColumnSample): readonly Finding<SensitiveClass>[] {
  const values = evenly(sample.values, judgedMax)
  const sampled = values.length < sample.values.length ? values.length : sample.sampledCount
  if (holdsFlags(values)) return []
  const column = readCells(values)
  const signals = readNameSignals(sample.name)
  return classes.flatMap((each) => {
    const whole = weigh(column, each, signals[each])
    // What whole cells show stands; a name alone gives way to a name and values inside text.
    const evidence =
      whole === undefined || whole.shape === 'name'
        ? (weighText(column.texts, each, signals[each]) ?? whole)
        : whole
    if (evidence === undefined) return []
    const { shape, confidence, matched, example } = evidence
    return {
      column: sample.name,
      class: each,
      shape,
      confidence,
      matched,
      sampled,
      maskedSample: matched === 0 || example === undefined ? undefined : maskValue(example, each),
    }
  })
}

/** The classes that a name says by itself, where a column has no values. */
export function classesOfName(name: string): readonly SensitiveClass[] {
  return classifyColumn({ name, values: [], sampledCount: 0 }).map((finding) => finding.class)
}

/** The classes of which at least one value stands among these, alone or inside text, whatever the column is called. */
export function tracesOf(values: readonly string[]): readonly SensitiveClass[] {
  const { cells, texts } = readCells(evenly(values, judgedMax))
  return classes.filter((each) => {
    const { match, isNobodys } = detectorClasses[each]
    const { strong, weak } = match(
      cells.filter((cell) => isNobodys?.(cell) !== true),
      true,
    )
    return strong + weak > 0 || texts.some((text) => findInText(text, each).kind === 'value')
  })
}

/** Fewer cells prove nothing. */
const flagsMin = 3
const flag = /^(?:[01yntfj]|true|false|yes|no|on|off|ja|nein|nee|oui|non|si|sí|sim|não|nao)$/iu

/** Whether a column only says yes or no (`Y`, `false`, `1`). Its name then speaks of values stored elsewhere. */
export function holdsFlags(values: readonly string[]): boolean {
  const filled = values.filter((value) => value.trim() !== '')
  return filled.length >= flagsMin && filled.every((value) => flag.test(value.trim()))
}

export interface Cells {
  readonly cells: readonly string[]
  /** Non-blank cells, of which the matches are a share. A value that is too long to judge, or masked, matches nothing. */
  readonly filled: number
  /** The non-blank values as text in which values may stand. */
  readonly texts: readonly string[]
}

/** Reads the values of a column as cells and as texts. */
export function readCells(values: readonly string[]): Cells {
  const normalised = values.map(normaliseCell)
  return {
    cells: normalised.filter(
      (cell): cell is string => cell !== undefined && cell !== '' && !looksMasked(cell),
    ),
    filled: normalised.filter((cell) => cell !== '').length,
    texts: values.filter((_, index) => normalised[index] !== '').map(readableText),
  }
}

interface Evidence {
  readonly shape: keyof typeof confidences
  readonly confidence: Finding['confidence']
  readonly matched: number
  readonly example: string | undefined
}

function evidenceOf(shape: Evidence['shape'], matched: number, example: string | undefined): Evidence {
  return { shape, confidence: confidences[shape], matched, example }
}

function weigh(column: Cells, each: SensitiveClass, signal: NameSignal): Evidence | undefined {
  const classifier = detectorClasses[each]
  if (signal === 'contradicted') return undefined
  const isSure = signal === 'sure' || signal === 'qualified'
  const countsWeak = isSure || signal === 'likely'
  const cells = column.cells.filter((cell) => classifier.isNobodys?.(cell) !== true)
  const { strong, weak, shaped, example } = classifier.match(cells, countsWeak)
  const filled = Math.max(column.filled - (column.cells.length - cells.length), 1)
  const validShare = (valid: number) => valid / Math.max(valid + shaped, 1)
  if (signal !== 'none') {
    const formSuffices = isSure && classifier.formSuffices
    const validMin = signal === 'hint' ? classifier.hintedValidMin : namedValidMin
    const valid = countsWeak ? strong + weak : strong
    const matched = formSuffices ? valid + shaped : valid
    const fits = formSuffices || validShare(valid) >= validMin
    if (matched > 0 && matched / filled >= rateMin && fits)
      return evidenceOf('name_and_value', matched, example)
    if (isSure && !holdsOtherKind(cells, each, signal === 'qualified'))
      return evidenceOf('name', matched, example)
  }
  return strong >= unnamedMatchesMin &&
    strong / filled >= rateMin &&
    validShare(strong) >= classifier.validMin
    ? evidenceOf('value', strong, example)
    : undefined
}

/** At most `max` of the items, evenly spaced. */
export function evenly<T>(items: readonly T[], max: number): readonly T[] {
  if (items.length <= max) return items
  return Array.from({ length: max }, (_, index) => items[Math.floor((index * items.length) / max)] as T)
}
