/** Collects the words of column names that point to a class, of all languages and products, folded for look-up. */

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

/** From the weakest to the strongest, so that a word of two grades gets the stronger one. */
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

/** Words that, beside a term, say that the column holds something else than values of the class. */
export const otherContent: Readonly<Record<'anywhere' | 'after' | 'before', ReadonlySet<string>>> = {
  anywhere: new Set(wordsOf('otherContent')),
  // Before a term, most of these words only name the owner: `carrier_phone`.
  after: new Set(
    words(`id ids uuid guid name code idx index ref seq size user provider carrier operator issuer holder issuing host
      network app platform city area region country state box server`),
  ),
  before: new Set(words('last4 without non missing')),
}

/** The same, for each class. */
export const otherContentOf = ofEachClass((own) => new Set(words(own.otherContent)))

/** Terms that are found inside a word although they are short. */
export const shortInnerTerms = ofEachClass((own) => new Set(words(own.shortInnerTerms)))

/** Words for things that are written like values of the class. Beside a weak term, matching values prove nothing. */
export const lookalikes = ofEachClass((own) => words(own.lookalikes))

/** Identifiers of other kinds whose values can have the form of the class. Matching values then prove nothing. */
export const otherIdentifiers = ofEachClass((own) => [
  ...words(own.lookalikes),
  ...words(own.otherIdentifiers),
])

/** Scripts that are written without spaces. Names in them are cut at words of the vocabulary. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u

/** Matches every vocabulary word in a name of such a script; undefined when the vocabulary has none. */
export const unspacedWords = new RegExp(
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
