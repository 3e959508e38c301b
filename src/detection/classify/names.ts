/** Says what the name of a column tells about its content: cuts it into words and looks them up in vocabulary/. */

import { classes, type SensitiveClass } from '../../core/classification.ts'
import type { TermGrade } from './classes/detector-class.ts'
import { detectorClasses } from './classes/detector-classes.ts'
import { splitWords } from './split-words.ts'
import {
  classTerms,
  lookalikes,
  neutralWords,
  numbers,
  otherContent,
  otherContentOf,
  otherIdentifiers,
  roles,
  shortInnerTerms,
  unspacedWords,
} from './vocabulary/vocabulary.ts'

/**
 * How strongly a name points to a class. `sure` is a finding by itself. `qualified` is too, unless the values are
 * plainly of another kind, because the name has unknown words beside the term. `likely` needs matching values. `hint`
 * needs values that are convincing by themselves. `contradicted` names another identifier.
 */
export type NameSignal = 'sure' | 'qualified' | 'likely' | 'hint' | 'none' | 'contradicted'

const nameCharsMax = 512
const wordsMax = 16
/** Longer words are not searched for terms inside them. */
const termCharsMax = 48
/** Characters of the shortest term that is found inside a word (`custssn`, not `japan`). */
const innerTermCharsMin = 4
const plurals = ['s', 'es', 'n', 'en']
/** Words of the longest term, as `numero de la carte de credit`. */
const termWordsMax = 6

/**
 * Reads what a dotted column path says about each class. The last part decides, joined with the parts above it while
 * it says nothing by itself (`phone.value`, `emails.element`). If these say nothing about the class, the whole path
 * may still hint at it (`payment_card.seen`).
 */
export function readNameSignals(path: string): Readonly<Record<SensitiveClass, NameSignal>> {
  const parts = path.slice(-nameCharsMax).split('.').map(wordsOf)
  const words = significantWords(parts)
  const all = parts.flat().slice(-wordsMax)
  return Object.fromEntries(
    classes.map((each) => {
      const signal = signalOf(words, each)
      if (signal !== 'none' || all.length === words.length) return [each, signal]
      return [each, findTerm(all, each) === undefined ? 'none' : 'hint']
    }),
  ) as Record<SensitiveClass, NameSignal>
}

function wordsOf(part: string): readonly string[] {
  return splitWords(part).flatMap((word) => word.split(unspacedWords).filter((piece) => piece !== ''))
}

function significantWords(parts: readonly (readonly string[])[]): readonly string[] {
  const from = parts.findLastIndex((words) => words.some((word) => !isNeutral(word)))
  return parts.slice(Math.max(from, 0)).flat().slice(-wordsMax)
}

/** Other content with digits in it (`md5`), which names are cut at. */
const numberedContent = [...otherContent.anywhere].filter((word) => /\d/.test(word))

function signalOf(words: readonly string[], each: SensitiveClass): NameSignal {
  const term = findTerm(words, each)
  if (namesAnother(words, each, term)) return 'contradicted'
  if (term === undefined) return detectorClasses[each].hintedByRoles && saysOnlyWhose(words) ? 'hint' : 'none'
  const before = words.slice(0, term.from)
  const after = words.slice(term.to)
  const around = [...before, ...after]
  if (
    around.some((word) => otherContent.anywhere.has(word) || otherContentOf[each].has(word)) ||
    numberedContent.some((run) => hasRun(before, run) || hasRun(after, run)) ||
    after.some((word) => otherContent.after.has(word)) ||
    before.some((word) => otherContent.before.has(word)) ||
    hasRun(words, 'last4') ||
    hasRun(words, 'first6')
  )
    return 'hint'
  const plain = around.every((word) => isNeutral(word) || roles.has(word))
  switch (term.grade) {
    case 'sure':
    case 'generic':
      return plain ? 'sure' : 'qualified'
    case 'alone':
      return plain ? 'sure' : 'likely'
    case 'numbered':
      if (!isNumbered(before, after)) return 'hint'
      return plain ? 'sure' : 'qualified'
    default:
      return term.grade
  }
}

/**
 * Whether the name is that of another identifier: alone, after a weaker term (`contact_order_no`, not
 * `order_contact`), or of something written like an email address.
 */
function namesAnother(words: readonly string[], each: SensitiveClass, term: Term | undefined): boolean {
  const names = (among: readonly string[], others: readonly string[]) =>
    others.some((other) => hasRun(among, other))
  const all = otherIdentifiers[each]
  if (term === undefined || term.grade === 'generic' || term.grade === 'numbered') return names(words, all)
  const after = words.slice(term.to)
  if (term.grade === 'sure') return names(after, lookalikes[each])
  return names(after, all) || names(words, lookalikes[each])
}

/** Whether `number of` stands before a term, or `number` after it that belongs to no other word. */
function isNumbered(before: readonly string[], after: readonly string[]): boolean {
  const nearest = before.findLastIndex((word) => numbers.has(word))
  if (nearest >= 0 && before.slice(nearest).every(isNeutral)) return true
  return numbers.has(after[0] ?? '') && after.every((word) => isNeutral(word) || roles.has(word))
}

function saysOnlyWhose(words: readonly string[]): boolean {
  return words.every((word) => isNeutral(word) || roles.has(word)) && words.some((word) => roles.has(word))
}

interface Term {
  readonly from: number
  readonly to: number
  readonly grade: TermGrade
}

/** Finds the longest term in the words, when joined; the last of equals. A better term beside it replaces a hint. */
function findTerm(words: readonly string[], each: SensitiveClass): Term | undefined {
  let hint: Term | undefined
  for (let length = Math.min(termWordsMax, words.length); length > 0; length--)
    for (let from = words.length - length; from >= 0; from--) {
      const written = words.slice(from, from + length).join('')
      const grade = gradeOf(written, each) ?? (length === 1 ? gradeInside(written, each) : undefined)
      const to = from + length
      if (grade === undefined || (hint !== undefined && from < hint.to && hint.from < to)) continue
      if (grade !== 'hint') return { from, to, grade }
      hint ??= { from, to, grade }
    }
  return hint
}

function gradeOf(written: string, each: SensitiveClass): TermGrade | undefined {
  const terms = classTerms[each]
  const known = terms.get(written)
  if (known !== undefined) return known
  for (const end of plurals) {
    const singular = written.endsWith(end) ? terms.get(written.slice(0, -end.length)) : undefined
    if (singular !== undefined) return singular
  }
  return undefined
}

/**
 * Grades one word that contains a term. Between roles and neutral words the term keeps its grade (`customeremail`,
 * `telefonprivat`, `billtophoneno`). Between other letters it is a hint (`pemail`, `bankkaartnr`), unless these
 * letters name another identifier (`parcelnumber`, not `cel number`).
 */
function gradeInside(word: string, each: SensitiveClass): TermGrade | undefined {
  if (word.length > termCharsMax) return undefined
  for (let from = 0; from < word.length; from++) {
    if (!isMadeOfKnown(word.slice(0, from))) continue
    for (let to = word.length; to - from >= 3; to--) {
      const part = word.slice(from, to)
      const grade = classTerms[each].get(part)
      if (grade !== 'sure' && grade !== 'generic') continue
      const isLong = part.length >= innerTermCharsMin || shortInnerTerms[each].has(part)
      if (isLong && isMadeOfKnown(word.slice(to))) return grade
    }
  }
  if (otherIdentifiers[each].some((other) => other.length > innerTermCharsMin && word.includes(other)))
    return undefined
  return innerTermsOf.get(each)?.some((term) => word.includes(term)) ? 'hint' : undefined
}

const innerTermsOf: ReadonlyMap<SensitiveClass, readonly string[]> = new Map(
  classes.map((each) => [
    each,
    [...classTerms[each]]
      .filter(
        ([term, grade]) => term.length >= innerTermCharsMin && /^(?:sure|generic|numbered)$/.test(grade),
      )
      .map(([term]) => term),
  ]),
)

/** Whether the letters consist only of roles and neutral words of two letters or more, joined. */
function isMadeOfKnown(letters: string): boolean {
  if (letters === '') return true
  for (let cut = 2; cut <= letters.length; cut++) {
    const first = letters.slice(0, cut)
    if ((roles.has(first) || neutralWords.has(first)) && isMadeOfKnown(letters.slice(cut))) return true
  }
  return false
}

function isNeutral(word: string): boolean {
  return neutralWords.has(word) || isDigits(word)
}

/** Whether one to three words, joined, are `run`. */
function hasRun(words: readonly string[], run: string): boolean {
  return words.some((_, from) =>
    [1, 2, 3].some((length) => words.slice(from, from + length).join('') === run),
  )
}

function isDigits(word: string): boolean {
  return /^\d+$/.test(word)
}
