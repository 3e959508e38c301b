/** Says how the values of a class are cut out of text. Each class defines its own form; text-values.ts reads by it. */

export interface Candidate {
  readonly value: string
  /** Where it begins in the text. */
  readonly at: number
}

export interface TextForm {
  /** Quickly says no for most texts. */
  readonly needs: RegExp
  readonly candidates: (text: string) => Iterable<Candidate>
  readonly isValue: (candidate: string) => boolean
  /** Whether check digits tell values from other things of the form, whatever the column is called. */
  readonly isChecked: boolean
  /** Whether a value needs no words before it, nor many of its kind, to be taken for one. */
  readonly standsAlone: boolean
}

/** Everything of a form that a text holds. */
export function* matchesOf(text: string, form: RegExp): Generator<Candidate> {
  for (const { 0: value, index } of text.matchAll(form)) yield { value, at: index }
}
