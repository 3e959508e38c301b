/** International bank account numbers in cells (ISO 13616): country format, national check, mod 97. */

import { isValidIBAN } from 'ibantools'
import type { CellMatch } from './value-match.ts'

const form = /^(?:IBAN:? ?)?([A-Z]{2}\d{2}(?:[- ]?[A-Z0-9]){11,30})$/i

/** Whether a whole cell is an IBAN, written in one run or in groups. */
export function judgeIban(cell: string): CellMatch {
  if (cell.length < 15 || cell.length > 50) return 'none'
  const iban = form.exec(cell)?.[1]
  if (iban === undefined) return 'none'
  return isValidIBAN(iban.replace(/[- ]/g, '').toUpperCase()) ? 'strong' : 'shaped'
}
