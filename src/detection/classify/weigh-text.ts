/** Weighs values inside the texts of one column: how many texts hold one, and what name and density add to that. */

import type { Finding, SensitiveClass } from '../../core/classification.ts'
import { detectorClasses } from './classes/detector-classes.ts'
import type { NameSignal } from './names.ts'
import { findInText, type TextMatch } from './text-values.ts'

export interface TextEvidence {
  readonly shape: Extract<Finding['shape'], 'value_in_text' | 'name_and_value_in_text'>
  readonly confidence: 0.6 | 0.86 | 0.88
  readonly matched: number
  readonly example: string
}

/** Fewer texts may hold a value by chance. A column of which a tenth is dirty has more. */
const matchesMin = 3
const shareMin = 0.04
/** Share of the texts from which their number speaks as a name does. */
const denseShareMin = 0.5
const denseMatchesMin = 10
/** Classes without a check digit need so many, or words before them that call them what they are. */
const uncheckedMatchesMin = 30

/**
 * Weighs the texts of a column.
 * @param texts from `readableText`, blank ones left out
 * @returns undefined where too few hold a value, or where too much of the form breaks its rules
 */
export function weighText(
  texts: readonly string[],
  each: SensitiveClass,
  signal: NameSignal,
): TextEvidence | undefined {
  const { validMin, text: form } = detectorClasses[each]
  return weighMatches(texts, (text) => findInText(text, each), { ...form, validMin }, signal)
}

/** What tells values from other things of their form, in text. */
interface TextRules {
  readonly validMin: number
  readonly isChecked: boolean
  readonly standsAlone: boolean
}

/** As {@link weighText}, with whatever finds a value in a text. */
export function weighMatches(
  texts: readonly string[],
  find: (text: string) => TextMatch,
  { validMin, isChecked, standsAlone }: TextRules,
  signal: NameSignal,
): TextEvidence | undefined {
  let [matched, inside, called, broken] = [0, 0, 0, 0]
  let example = ''
  for (const text of texts) {
    const match = find(text)
    if (match.kind === 'shaped') broken++
    if (match.kind !== 'value') continue
    // The name of another identifier speaks against what only has the form.
    if (signal === 'contradicted' && (match.isWhole || !(match.isCalled || isChecked))) continue
    matched++
    if (!match.isWhole) inside++
    if (match.isCalled) called++
    if (example === '') example = match.value
  }
  if (matched < matchesMin || matched / texts.length < shareMin) return undefined
  if (matched / (matched + broken) < validMin) return undefined
  if (signal === 'sure' || signal === 'qualified' || signal === 'likely')
    return { shape: 'name_and_value_in_text', confidence: 0.88, matched, example }
  const isSurely = called * 2 >= matched || matched >= uncheckedMatchesMin || standsAlone
  const isDense = inside / texts.length >= denseShareMin && inside >= denseMatchesMin && isSurely
  return { shape: 'value_in_text', confidence: isDense ? 0.86 : 0.6, matched, example }
}
