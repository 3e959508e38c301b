/**
 * Defines the lists of words for a language family or for products. Words are joined, singular, and may have marks.
 */

export interface LanguageWords {
  /** Words for the owner of a value. They say nothing about the content, and leave a `sure` term `sure`. */
  readonly roles?: string
  /** Words for number, which say nothing about the content either. */
  readonly numbers?: string
  /** Words that leave a name's meaning to the words beside them. */
  readonly neutral?: string
  /** Words that, beside a term, say that the column holds something about the value: its type, its hash. */
  readonly otherContent?: string
}
