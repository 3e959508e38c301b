/** Recognises payment card numbers in cells: issuer ranges, lengths and the Luhn check digit (ISO/IEC 7812-1). */

import { matchesOf, type TextForm } from '../text-form.ts'
import { type CellMatch, matchCells } from '../value-match.ts'
import { creditCardWords } from './credit-card-words.ts'
import type { DetectorClass } from './detector-class.ts'
import { testCardNumbers } from './test-card-numbers.ts'

/** Bounds of the leading digits, and the lengths of the whole number. */
interface IssuerRange {
  readonly from: string
  readonly to: string
  readonly lengths: readonly number[]
}

const upToNineteen = [16, 17, 18, 19]
const maestro = [12, 13, 14, 15, 16, 17, 18, 19]

const issuerRanges: readonly IssuerRange[] = [
  // Visa
  { from: '4', to: '4', lengths: [13, 16, 19] },
  // Mastercard
  { from: '51', to: '55', lengths: [16] },
  { from: '2221', to: '2720', lengths: [16] },
  // American Express
  { from: '34', to: '34', lengths: [15] },
  { from: '37', to: '37', lengths: [15] },
  // Discover
  { from: '6011', to: '6011', lengths: upToNineteen },
  { from: '644', to: '649', lengths: upToNineteen },
  { from: '65', to: '65', lengths: upToNineteen },
  // UnionPay
  { from: '62', to: '62', lengths: upToNineteen },
  { from: '81', to: '81', lengths: upToNineteen },
  // Diners Club
  { from: '300', to: '305', lengths: [14, 16, 17, 18, 19] },
  { from: '3095', to: '3095', lengths: [14, 16, 17, 18, 19] },
  { from: '36', to: '36', lengths: [14, 15, 16, 17, 18, 19] },
  { from: '38', to: '39', lengths: [14, 16, 17, 18, 19] },
  // JCB
  { from: '3528', to: '3589', lengths: upToNineteen },
  // Maestro
  { from: '5018', to: '5018', lengths: maestro },
  { from: '5020', to: '5020', lengths: maestro },
  { from: '5038', to: '5038', lengths: maestro },
  { from: '5893', to: '5893', lengths: maestro },
  { from: '6304', to: '6304', lengths: maestro },
  { from: '6759', to: '6759', lengths: maestro },
  { from: '6761', to: '6763', lengths: maestro },
  // Mir and Troy
  { from: '2200', to: '2204', lengths: upToNineteen },
  { from: '9792', to: '9792', lengths: [16] },
]

/** Digits in one run, in fours, or as American Express and Diners Club print them; one kind of separator. */
const form = /^(?:\d{12,19}|\d{4}([-. ])\d{4}\1\d{4}\1\d{1,4}(?:\1\d{1,3})?|\d{4}([-. ])\d{6}\2\d{4,5})$/

/**
 * Judges whether a whole cell is a card number. One number in ten passes Luhn by chance, so a cell of the right form
 * that fails Luhn speaks against its column (`shaped`).
 */
export function judgeCreditCard(cell: string): CellMatch {
  if (cell.length < 12 || cell.length > 23 || !form.test(cell)) return 'none'
  const digits = cell.replace(/[-. ]/g, '')
  return isOfIssuer(digits) && passesLuhn(digits) ? 'strong' : 'shaped'
}

function isOfIssuer(digits: string): boolean {
  return issuerRanges.some(({ from, to, lengths }) => {
    const prefix = digits.slice(0, from.length)
    return prefix >= from && prefix <= to && lengths.includes(digits.length)
  })
}

function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let index = 0; index < digits.length; index++) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - 48
    const doubled = digit * 2
    sum += index % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** `pan` and `ccn` also stand for India's tax number, angles and cost centres, all shorter than a card number. */
const namesake = /^(?!.*x{2})[-+]?[\p{L}\d][\p{L}\d .,/-]{0,10}$/iu

/** How card numbers stand in text. */
const text: TextForm = {
  needs: /\d{4}[ -]?\d{4}/,
  candidates: (text) =>
    matchesOf(text, /(?<![\d.-]|\p{L})\d{4}(?:(?:[ -]\d{4}){3}|[ -]\d{6}[ -]\d{5}|\d{9,15})(?![\d-]|\.\d)/gu),
  isValue: (value) => judgeCreditCard(value) === 'strong',
  isChecked: true,
  standsAlone: true,
}

/** The class `credit_card`. */
export const creditCard: DetectorClass = {
  words: creditCardWords,
  match: (cells) => matchCells(cells, judgeCreditCard),
  isNobodys: (value) => testCardNumbers.has(value.replace(/[-. ]/g, '')),
  validMin: 0.8,
  hintedValidMin: 0.5,
  formSuffices: false,
  hintedByRoles: false,
  namesake,
  text,
  shownChars: 4,
}
