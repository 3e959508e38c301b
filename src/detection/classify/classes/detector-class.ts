/** What a class of sensitive values is made of: how values are judged, and which words of column names tell it. */

import type { ValueMatch } from '../value-match.ts'

/**
 * `sure` by itself; `generic` too, but not beside the words of another identifier (`library_card_number`); `alone` only
 * with nothing but neutral words and roles beside it, else as `likely`; `numbered` only beside a word for number, else as
 * `hint`; `likely` with values; `hint` with values that stand for themselves.
 */
export type TermGrade = 'sure' | 'generic' | 'alone' | 'numbered' | 'likely' | 'hint'

/** Whose words a list holds: those of a language family, or field names of products and standards. */
export type WordSource = 'english' | 'westEuropean' | 'european' | 'slavic' | 'asian' | 'products'

/** Words are parted by spaces; each is written together, singular, in any case and with its marks. */
export interface ClassWords {
  readonly terms: Readonly<Partial<Record<WordSource, Readonly<Partial<Record<TermGrade, string>>>>>>
  /** Beside a term they say that the column holds something else of it. */
  readonly otherContent: string
  /** Identifiers of other kinds whose values can have the form of the class: values alone then prove nothing. */
  readonly otherIdentifiers: string
  /** What is written like a value of the class and is none: beside a weaker term too, values prove nothing. */
  readonly lookalikes?: string
  /** Terms of three characters that are found inside a word, as longer ones are (`custssn`). */
  readonly shortInnerTerms?: string
}

export interface DetectorClass {
  readonly words: ClassWords
  /** Counts the values of the class among the cells of one column. */
  readonly match: (cells: readonly string[], countsWeak: boolean) => ValueMatch
  /** Of the cells with the form of the class, the share that must be valid where no name speaks for them. */
  readonly validMin: number
  /** The same where a name only hints at them. */
  readonly hintedValidMin: number
  /** Whether the form is enough beside a sure name. */
  readonly formSuffices: boolean
  /** Whether values stand for themselves so well that whom they are of may be all that the name says. */
  readonly hintedByRoles: boolean
  /** What the names of the class are used for elsewhere. A mask or a token is none of these. */
  readonly namesake: RegExp | undefined
  /** Characters of a value that stay readable at its end, as receipts and account lists print them. */
  readonly shownChars: number
}
