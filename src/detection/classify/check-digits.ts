/** The checks that a custom classifier may declare for its values: check digits and letters, a closed list. */

import type { ClassifierCheck, ClassifierCheckKind } from '../../core/classifier.ts'
import { isCodiceFiscale, isNino, isNir, isTckn } from './national-numbers.ts'

type Check = (characters: string, check: ClassifierCheck) => boolean

/** Whether a value passes a check. Separators are left out; what the check cannot read fails it. */
export function passesCheck(value: string, check: ClassifierCheck): boolean {
  const characters = value.toUpperCase().replace(/[^0-9A-Z]/g, '')
  return characters !== '' && checks[check.kind](characters, check)
}

const checks: Readonly<Record<ClassifierCheckKind, Check>> = {
  luhn: (digits) => isNumber(digits) && luhnSum(digits) % 10 === 0,
  // ISO 13616: the first four characters count last.
  mod97: (text) => text.length > 4 && mod97(text.slice(4) + text.slice(0, 4)) === 1,
  // ISO 7064, as LEI and others are checked.
  mod97_10: (text) => mod97(text) === 1,
  mod10: (digits, { weights = [] }) => weightedSum(digits, weights) % 10 === 0,
  mod11: (digits, { weights = [] }) => weightedSum(digits, weights) % 11 === 0,
  mod11_digit: (text, { weights = [], ten = 'none' }) => {
    const due = (11 - (weightedSum(text, weights) % 11)) % 11
    const written = due < 10 ? String(due) : { zero: '0', x: 'X', none: undefined }[ten]
    return written !== undefined && text[weights.length] === written
  },
  mod11_10: (digits) => isNumber(digits) && mod11And10(digits),
  verhoeff: (digits) => isNumber(digits) && verhoeff(digits) === 0,
  letter: (text, { alphabet = '' }) => {
    const number = text.slice(0, -1)
    return isNumber(number) && alphabet[Number(BigInt(number) % BigInt(alphabet.length))] === text.at(-1)
  },
  codice_fiscale: isCodiceFiscale,
  nir: isNir,
  tckn: isTckn,
  nino: isNino,
  not_repeated: (text) => new Set(text).size > 1,
}

function isNumber(text: string): boolean {
  return /^\d+$/.test(text)
}

/** From the right, every second digit is doubled, and the digits of the result are added. */
function luhnSum(digits: string): number {
  return [...digits].toReversed().reduce((sum, digit, index) => {
    const value = Number(digit) * ((index % 2) + 1)
    return sum + (value > 9 ? value - 9 : value)
  }, 0)
}

/** Letters are two digits: A is 10, Z is 35. */
function mod97(text: string): number {
  return [...text].reduce((rest, character) => {
    const value = Number.parseInt(character, 36)
    return (rest * (value > 9 ? 100 : 10) + value) % 97
  }, 0)
}

/** Never negative; NaN, which passes no check, where a digit is missing. */
function weightedSum(digits: string, weights: readonly number[]): number {
  const sum = weights.reduce((total, weight, index) => total + weight * digitAt(digits, index), 0)
  return Math.abs(sum)
}

function digitAt(text: string, index: number): number {
  const code = text.charCodeAt(index) - 48
  return code >= 0 && code <= 9 ? code : Number.NaN
}

/** ISO 7064 MOD 11,10, with the check digit last. */
function mod11And10(digits: string): boolean {
  let product = 10
  for (const digit of digits.slice(0, -1)) {
    const sum = (Number(digit) + product) % 10 || 10
    product = (sum * 2) % 11
  }
  return (product + Number(digits.at(-1))) % 10 === 1
}

/** The dihedral group of order ten: 0 to 4 turn, 5 to 9 turn and mirror. */
function combine(a: number, b: number): number {
  const turned = a < 5 ? (a + b) % 5 : (a - b + 10) % 5
  return a < 5 === b < 5 ? turned : turned + 5
}

const permuted = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4]

/** Zero for a number whose last digit is right. A digit is permuted once for each place from the right. */
function verhoeff(digits: string): number {
  return [...digits].toReversed().reduce((rest, digit, index) => {
    let value = Number(digit)
    for (let times = 0; times < index % 8; times++) value = permuted[value] as number
    return combine(rest, value)
  }, 0)
}
