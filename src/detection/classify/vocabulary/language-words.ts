/** What a list of words of one language family, or of products, may say. Words are written together, in any case and with their marks, singular. */

import type { SensitiveClass } from '../../../core/classification.ts'

/**
 * `sure` by itself; `generic` too, but not beside the words of another identifier (`library_card_number`); `alone` only with nothing but neutral words and roles beside it, else as `likely`; `numbered` only
 * beside a word for number, else as `hint`; `likely` with values; `hint` with values that stand for themselves.
 */
export type TermGrade = 'sure' | 'generic' | 'alone' | 'numbered' | 'likely' | 'hint'

export interface LanguageWords {
  readonly terms: Readonly<Record<SensitiveClass, Partial<Readonly<Record<TermGrade, string>>>>>
  /** Whom or what of: says nothing about the content. Written together with a `sure` term they still make one. */
  readonly roles?: string
  /** Words for number, which are neutral too. */
  readonly numbers?: string
  /** Of a name's parts, those that leave its meaning to the words beside them. */
  readonly neutral?: string
  /** Beside a term they say that the column holds something else of it: its type, its hash, when it changed. */
  readonly otherContent?: string
  /** Kinds of cards that pay nothing. */
  readonly otherCards?: string
}
