/** The words of column names that tell a class: those of all languages and products, folded and ready to look up. */

import { classes, type SensitiveClass } from '../../../core/classification.ts'
import type { ClassWords, TermGrade } from '../classes/detector-class.ts'
import { detectorClasses } from '../classes/detector-classes.ts'
import { foldLetters } from '../split-words.ts'
import { asian } from './asian.ts'
import { english } from './english.ts'
import { european } from './european.ts'
import type { LanguageWords } from './language-words.ts'
import { products } from './products.ts'
import { slavic } from './slavic.ts'
import { westEuropean } from './west-european.ts'

const languages: readonly LanguageWords[] = [english, westEuropean, european, slavic, asian, products]

function words(text = ''): readonly string[] {
  return foldLetters(text)
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .split(/\s+/)
    .filter((word) => word !== '')
}

function wordsOf(list: keyof LanguageWords): readonly string[] {
  return languages.flatMap((each) => words(each[list]))
}

/** From the weakest, so that a word of two grades has the stronger one. */
const grades = [
  'hint',
  'likely',
  'numbered',
  'alone',
  'generic',
  'sure',
] as const satisfies readonly TermGrade[]

function termsOf({ terms }: ClassWords): ReadonlyMap<string, TermGrade> {
  return new Map(
    grades.flatMap((grade) =>
      Object.values(terms).flatMap((lists) => words(lists[grade]).map((word) => [word, grade] as const)),
    ),
  )
}

function ofEachClass<T>(read: (words: ClassWords) => T): Readonly<Record<SensitiveClass, T>> {
  return Object.fromEntries(classes.map((each) => [each, read(detectorClasses[each].words)])) as Record<
    SensitiveClass,
    T
  >
}

export const classTerms = ofEachClass(termsOf)

export const roles: ReadonlySet<string> = new Set(wordsOf('roles'))
export const numbers: ReadonlySet<string> = new Set(wordsOf('numbers'))
export const neutralWords: ReadonlySet<string> = new Set([...wordsOf('neutral'), ...numbers])

/** Beside a term they make the column something else than the values of the class. */
export const otherContent: Readonly<Record<'anywhere' | 'after' | 'before', ReadonlySet<string>>> = {
  anywhere: new Set(wordsOf('otherContent')),
  // Before a term, most of these are whose it is: `carrier_phone`.
  after: new Set(
    words(`id ids uuid guid name code idx index ref seq size user provider carrier operator issuer holder issuing host
      network app platform city area region country state box server`),
  ),
  before: new Set(words('last4 without non missing')),
}

/** The same, for one class. */
export const otherContentOf = ofEachClass((own) => new Set(words(own.otherContent)))

/** Terms that are found inside a word although they are short. */
export const shortInnerTerms = ofEachClass((own) => new Set(words(own.shortInnerTerms)))

/** What is written like a value of the class and is none, so that beside a weaker term too its values prove nothing. */
export const lookalikes = ofEachClass((own) => words(own.lookalikes))

/** Identifiers of other kinds whose values can have the form of the class: values alone then prove nothing. */
export const otherIdentifiers = ofEachClass((own) => [
  ...words(own.lookalikes),
  ...words(own.otherIdentifiers),
])

/** Scripts written without spaces, whose names are cut at the words that are known. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u

/** Cuts a name of such a script, in the middle or not, at every known word; undefined where none is known. */
export const knownUnspaced = new RegExp(
  `(${[
    ...new Set([
      ...classes.flatMap((each) => [...classTerms[each].keys()]),
      ...[roles, neutralWords, otherContent.anywhere].flatMap((each) => [...each]),
      ...classes.flatMap((each) => otherIdentifiers[each]),
    ]),
  ]
    .filter((word) => unspaced.test(word))
    .toSorted((one, other) => other.length - one.length)
    .join('|')})`,
  'u',
)
