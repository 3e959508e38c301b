/** Recognises international bank account numbers in cells (ISO 13616): country format, national check, mod 97. */

import { countrySpecs, isValidIBAN } from 'ibantools'
import type { Candidate, TextForm } from '../text-form.ts'
import { type CellMatch, matchCells } from '../value-match.ts'
import type { DetectorClass } from './detector-class.ts'
import { ibanWords } from './iban-words.ts'

const form = /^(?:IBAN:? ?)?([A-Z]{2}\d{2}(?:[- ]?[A-Z0-9]){11,30})$/i

/** Judges whether a whole cell is an IBAN, written in one run or in groups. */
export function judgeIban(cell: string): CellMatch {
  if (cell.length < 15 || cell.length > 50) return 'none'
  const written = form.exec(cell)?.[1]
  if (written === undefined) return 'none'
  return isValidIBAN(written.replace(/[- ]/g, '').toUpperCase()) ? 'strong' : 'shaped'
}

/** Cuts an IBAN to its country's length, because words in capitals may follow it. */
function* ibans(text: string): Generator<Candidate> {
  for (const { index } of text.matchAll(/(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?=[ -]?[A-Z0-9])/g)) {
    const length = countrySpecs[text.slice(index, index + 2)]?.chars ?? 0
    let end = index
    for (let count = 0; count < length && end < text.length; end++) {
      if (/[A-Z0-9]/.test(text[end] ?? '')) count++
      else if (!/[ -]/.test(text[end] ?? '')) break
    }
    if (length > 0 && !/[A-Za-z0-9]/.test(text[end] ?? ' '))
      yield { value: text.slice(index, end), at: index }
  }
}

/** How IBANs stand in text. */
const text: TextForm = {
  needs: /[A-Z]{2}\d{2}/,
  candidates: ibans,
  isValue: (value) => judgeIban(value) === 'strong',
  isChecked: true,
  standsAlone: true,
}

/** The class `iban`. */
export const iban: DetectorClass = {
  words: ibanWords,
  match: (cells) => matchCells(cells, judgeIban),
  validMin: 0.8,
  hintedValidMin: 0.5,
  formSuffices: false,
  hintedByRoles: true,
  namesake: undefined,
  text,
  shownChars: 4,
}
