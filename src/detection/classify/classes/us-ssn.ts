/** Recognises United States social security numbers in cells, by the rules of the Social Security Administration. */

import { matchesOf, type TextForm } from '../text-form.ts'
import { type CellMatch, matchCells } from '../value-match.ts'
import type { DetectorClass } from './detector-class.ts'
import { usSsnWords } from './us-ssn-words.ts'

const separated = /^(\d{3})([- ])(\d{2})\2(\d{4})$/
/** Numeric columns lose leading zeros, so numbers of the areas 001 to 099 have seven or eight digits. */
const bare = /^\d{7,9}$/
/** Weak, because versions and other numbers have dots too. */
const dotted = /^(\d{3})\.(\d{2})\.(\d{4})$/

/**
 * Judges whether a whole cell is an SSN: area 001–899 except 666, group 01–99, serial 0001–9999. Since 2011 no
 * stricter rule holds. Without separators, or with dots, it is weak: nine of ten nine-digit numbers match.
 */
export function judgeUsSsn(cell: string): CellMatch {
  if (cell.length > 11 || cell.length < 7) return 'none'
  const parts = separated.exec(cell)
  if (parts !== null) return isValidSsn(`${parts[1]}${parts[3]}${parts[4]}`) ? 'strong' : 'shaped'
  const digits = cell.replace(dotted, '$1$2$3')
  if (!bare.test(digits)) return 'none'
  return isValidSsn(digits.padStart(9, '0')) ? 'weak' : 'none'
}

function isValidSsn(digits: string): boolean {
  const area = digits.slice(0, 3)
  return (
    area !== '000' &&
    area !== '666' &&
    area < '900' &&
    digits.slice(3, 5) !== '00' &&
    digits.slice(5) !== '0000'
  )
}

/** Identity and insurance numbers of other countries. */
const namesake =
  /^(?:[A-Z]{0,2}[- ]?(?!\d{9}$|\d{3}([- ])\d{2}\1\d{4}$)\d(?:[ ./-]?\d){6,15}[ -]?[A-Z]?(?:[ -]?\d{3})?|[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z])$/i

/** Printed by the Social Security Administration, or in advertisements, and voided by it for that. */
const voidedSsns = new Set(
  `078051120 219099999 042103580 062360749 095073645 128036045 135016629 141186941 165167999 165187999 165207999
  165227999 165247999 189092294 212097694 212099999 306302348 308125070 468288779 549241889`.split(/\s+/),
)

/** How numbers stand in text. */
const text: TextForm = {
  needs: /\d-\d\d-\d/,
  candidates: (text) => matchesOf(text, /(?<![\d-]|\d[./])\d{3}-\d{2}-\d{4}(?![\d-])/g),
  isValue: (value) => judgeUsSsn(value) === 'strong',
  isChecked: false,
  standsAlone: false,
}

/** The class `us_ssn`. */
export const usSsn: DetectorClass = {
  words: usSsnWords,
  match: (cells) => matchCells(cells, judgeUsSsn),
  isNobodys: (value) => voidedSsns.has(value.replace(/[-. ]/g, '').padStart(9, '0')),
  // Nine in ten random numbers of that form are valid.
  validMin: 0.96,
  hintedValidMin: 0.96,
  formSuffices: false,
  hintedByRoles: false,
  namesake,
  text,
  shownChars: 2,
}
