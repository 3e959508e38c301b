/** What a list of words of one language family, or of products, may say. Words are written together, in any case and with their marks, singular. */

export interface LanguageWords {
  /** Whom or what of: says nothing about the content. Written together with a `sure` term they still make one. */
  readonly roles?: string
  /** Words for number, which are neutral too. */
  readonly numbers?: string
  /** Of a name's parts, those that leave its meaning to the words beside them. */
  readonly neutral?: string
  /** Beside a term they say that the column holds something else of it: its type, its hash, when it changed. */
  readonly otherContent?: string
}
