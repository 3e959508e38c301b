/** Recognises international bank account numbers in cells (ISO 13616): country format, national check, mod 97. */

import { isValidIBAN } from 'ibantools'
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

/** The class `iban`. */
export const iban: DetectorClass = {
  words: ibanWords,
  match: (cells) => matchCells(cells, judgeIban),
  validMin: 0.8,
  hintedValidMin: 0.5,
  formSuffices: false,
  hintedByRoles: true,
  namesake: undefined,
  shownChars: 4,
}
