/**
 * Finds values of a class inside text: log lines, URLs, JSON lines, XML, CSV, free text. Candidates are cut out by form
 * and judged by the rules of whole cells, so that nothing counts here that would not count alone.
 */

import type { SensitiveClass } from '../../core/classification.ts'
import { detectorClasses } from './classes/detector-classes.ts'
import { looksMasked } from './normalise-cell.ts'
import { splitWords } from './split-words.ts'

/** What one text holds of a class. `shaped`: something of the form that breaks the rules, and nothing that keeps them. */
export type TextMatch =
  | { readonly kind: 'value'; readonly value: string; readonly isWhole: boolean; readonly isCalled: boolean }
  | { readonly kind: 'shaped' }
  | { readonly kind: 'none' }

/** Characters of a text that are looked at. */
const textCharsMax = 1_024
/** Candidates of one text. */
const candidatesMax = 20
/** Characters before a candidate in which the text may say what it is. */
const beforeChars = 24

const none: TextMatch = { kind: 'none' }
const shaped: TextMatch = { kind: 'shaped' }

/** A text as the finders read it: bounded, and without the escapes of URLs. */
export function readableText(text: string): string {
  const start = text.length > textCharsMax ? text.slice(0, textCharsMax) : text
  return start.includes('%')
    ? start.replace(/%([2-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : start
}

const words = new Map<
  SensitiveClass,
  { readonly own: ReadonlySet<string>; readonly other: ReadonlySet<string> }
>()

/** Words that call a value what it is, and words that call it something else. */
function wordsOf(each: SensitiveClass) {
  const known = words.get(each)
  if (known !== undefined) return known
  const { terms, otherIdentifiers } = detectorClasses[each].words
  const own = Object.values(terms).flatMap((grades) =>
    Object.values(grades).flatMap((list) => list.split(' ')),
  )
  const made = { own: new Set(own), other: new Set(otherIdentifiers.split(' ')) }
  words.set(each, made)
  return made
}

/** Finds the first value of a class in a text from `readableText`. */
export function findInText(text: string, each: SensitiveClass): TextMatch {
  const { isNobodys, text: form } = detectorClasses[each]
  const { needs, candidates, isValue } = form
  if (!needs.test(text)) return none
  let result: TextMatch = none
  let count = 0
  for (const { value, at } of candidates(text)) {
    if (++count > candidatesMax) break
    const called = callOf(text, at, each)
    if (called === 'other' || isNobodys?.(value) === true) continue
    if (looksMasked(value) || !isValue(value)) result = shaped
    else
      return {
        kind: 'value',
        value,
        isWhole: value.length === text.trim().length,
        isCalled: called === 'own',
      }
  }
  return result
}

/** What the words right before a candidate call it. */
function callOf(text: string, at: number, each: SensitiveClass): 'own' | 'other' | undefined {
  const before = /[\p{L}_ -]+[ :=#"'>(]{0,4}$/u.exec(text.slice(Math.max(at - beforeChars, 0), at))?.[0]
  if (before === undefined) return undefined
  const { own, other } = wordsOf(each)
  const near = splitWords(before).slice(-2)
  if (near.some((word) => own.has(word))) return 'own'
  return near.some((word) => other.has(word)) ? 'other' : undefined
}
