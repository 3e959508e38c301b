/** Defines a class of sensitive values: how its values are judged, and which words of column names point to it. */

import type { TextForm } from '../text-form.ts'
import type { ValueMatch } from '../value-match.ts'

/**
 * How strongly a term points to its class. `sure`: by itself. `generic`: by itself, unless words of another identifier
 * stand beside it (`library_card_number`). `alone`: by itself if only neutral words and roles stand beside it, else as
 * `likely`. `numbered`: beside a word for number, else as `hint`. `likely`: with matching values. `hint`: with values
 * that are convincing by themselves.
 */
export type TermGrade = 'sure' | 'generic' | 'alone' | 'numbered' | 'likely' | 'hint'

/** Where the words of a list come from: a language family, or field names of products and standards. */
type WordSource = 'english' | 'westEuropean' | 'european' | 'slavic' | 'asian' | 'products'

/** Words are separated by spaces. Each is one run of letters in the singular, in any case, with its marks. */
export interface ClassWords {
  readonly terms: Readonly<Partial<Record<WordSource, Readonly<Partial<Record<TermGrade, string>>>>>>
  /** Words that, beside a term, say that the column holds something about the value instead. */
  readonly otherContent: string
  /** Identifiers of other kinds whose values can have the form of the class. Matching values then prove nothing. */
  readonly otherIdentifiers: string
  /** Words for things that are written like values of the class. Beside a weak term, matching values prove nothing. */
  readonly lookalikes?: string
  /** Terms of three characters that are found inside a word, as longer ones are (`custssn`). */
  readonly shortInnerTerms?: string
}

export interface DetectorClass {
  readonly words: ClassWords
  /** Counts the values of the class among the cells of one column. */
  readonly match: (cells: readonly string[], countsWeak: boolean) => ValueMatch
  /**
   * Whether a value of the class belongs to nobody, because authorities publish it as an example, or only services have
   * it. It speaks neither for nor against the class.
   */
  readonly isNobodys?: (value: string) => boolean
  /** Share of the cells with the form of the class that must be valid when no name points to the class. */
  readonly validMin: number
  /** The same share when a name only hints at the class. */
  readonly hintedValidMin: number
  /** Whether the form is enough beside a sure name. */
  readonly formSuffices: boolean
  /** Whether values are so convincing that a name which only says whose they are is enough of a hint. */
  readonly hintedByRoles: boolean
  /** Other values for which people use the names of the class. A mask or a token never matches. */
  readonly namesake: RegExp | undefined
  /** How values are cut out of text. */
  readonly text: TextForm
  /** Characters at the end of a value that stay readable, as on receipts and account lists. */
  readonly shownChars: number
}
