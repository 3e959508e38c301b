/**
 * Recognises telephone numbers in the cells of one column, by the numbering plans of libphonenumber. A national number
 * is valid only in some country, so the whole column decides in which country its numbers are read.
 */

import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { matchesOf, type TextForm } from '../text-form.ts'
import { type CellMatch, matchCells, type ValueMatch } from '../value-match.ts'
import type { DetectorClass } from './detector-class.ts'
import { phoneWords } from './phone-words.ts'

/** E.164 allows 15 digits; extensions come on top. */
const cellCharsMax = 40
const digitsMin = 7
const digitsMax = 15
/** Cells that are tried to choose the country. */
const probesMax = 16
/** Share of the probes that must be valid in the country that is chosen. */
const probesValidMin = 0.5

/** Of several equally good countries, the first is chosen. */
const countries: readonly CountryCode[] =
  'US GB DE FR ES IT PT NL BE AT CH IE PL SE DK NO FI CZ GR RO HU TR BR MX AR CO CL IN CN JP KR AU NZ ZA SG AE IL'.split(
    ' ',
  ) as CountryCode[]

/** These countries write no 0 before the national number. In all others a number without it is incomplete. */
const withoutTrunk: ReadonlySet<CountryCode | undefined> = new Set<CountryCode>(
  'ES IT PT PL DK NO CZ GR BR MX AR CO CL IN CN SG'.split(' ') as CountryCode[],
)

const form = /^(?:tel:)?\+?[(\d][\d ()./-]*\d\)?(?: ?(?:x|ext\.?|extension|;ext=|#|durchwahl) ?\d{1,7})?$/i
/**
 * Other things in digits and separators: dates, IPv4 addresses, versions, SSNs, ZIP+4, IRS employer numbers, ranges.
 */
const otherForms: readonly RegExp[] = [
  /^\d{4}[-./ ]\d{1,2}[-./ ]\d{1,2}(?: \d+)?$/,
  /^\d{1,2}[-./]\d{1,2}[-./]\d{2,4}$/,
  /^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/,
  /^\d+\.\d+$/,
  /^\d{3}[- ]\d{2}[- ]\d{4}$/,
  /^\d{5}-\d{4}$/,
  // With a trunk prefix (a leading 0) it may be a telephone number.
  /^[1-9]\d-\d{7}$/,
  /^97[89]-/,
]
const northAmerican = /^(?:1[-. ]?)?(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}(?:$|[^\d])/
const trunkPrefix = /^\(?0/
const separators = /[ ()./-]/
/** Shorter subscriber numbers, without an area, cannot be told from other numbers. */
const bareDigitsMin = 8
const bareDigits = /^\d+$/

interface Candidate {
  readonly cell: string
  readonly international: boolean
  readonly separated: boolean
}

/**
 * Counts telephone numbers among normalised cells. A strong cell is valid and written as a telephone number:
 * international, North American, or with separators and the trunk prefix that its country uses. A weak cell has valid
 * digits only. A shaped cell is written as one but invalid in the plan: 555-0100, or a number of an old plan.
 * @param countsWeak false skips cells of digits alone, because they are weak at most
 */
export function matchPhones(cells: readonly string[], countsWeak: boolean): ValueMatch {
  const candidates = new Map<string, Candidate>()
  for (const cell of cells) {
    const unread = (countsWeak || !bareDigits.test(cell)) && !candidates.has(cell)
    const candidate = unread ? readCandidate(cell) : undefined
    if (candidate !== undefined) candidates.set(cell, candidate)
  }
  const country = chooseCountry([...candidates.values()])
  const verdicts = new Map<string, CellMatch>()
  return matchCells(cells, (cell) => {
    const candidate = candidates.get(cell)
    if (candidate === undefined) return 'none'
    const known = verdicts.get(cell)
    if (known !== undefined) return known
    const verdict = judge(candidate, country)
    verdicts.set(cell, verdict)
    return verdict
  })
}

function readCandidate(cell: string): Candidate | undefined {
  if (cell.length < digitsMin || cell.length > cellCharsMax || !form.test(cell)) return undefined
  if (otherForms.some((other) => other.test(cell))) return undefined
  const number = cell.replace(/^tel:/i, '').replace(/^00(?=[1-9])/, '+')
  const digits = number.replace(/(?:x|ext|#|durchwahl).*$/i, '').replace(/\D/g, '').length
  if (digits < digitsMin || digits > digitsMax) return undefined
  return { cell: number, international: number.startsWith('+'), separated: separators.test(number) }
}

/** Chooses the country in which the fewest probes are invalid; the first of equals. */
function chooseCountry(candidates: readonly Candidate[]): CountryCode | undefined {
  const national = candidates.filter(({ international }) => !international)
  const step = Math.max(1, Math.floor(national.length / probesMax))
  const probes = national.filter((_, index) => index % step === 0).slice(0, probesMax)
  let best: CountryCode | undefined
  let invalidMax = Math.floor(probes.length * (1 - probesValidMin))
  for (const country of countries) {
    let invalid = 0
    for (const probe of probes) {
      const match = judge(probe, country)
      if (match !== 'strong' && match !== 'weak' && ++invalid > invalidMax) break
    }
    if (invalid > invalidMax) continue
    best = country
    invalidMax = invalid - 1
    if (invalid === 0) break
  }
  return best
}

function judge({ cell, international, separated }: Candidate, country: CountryCode | undefined): CellMatch {
  if (!isValidIn(cell, country)) return international || separated ? 'shaped' : 'none'
  if (international) return 'strong'
  if (!separated) return 'weak'
  const fromCountry = northAmerican.test(cell)
    ? country === 'US'
    : country !== 'US' && (trunkPrefix.test(cell) || withoutTrunk.has(country))
  return fromCountry ? 'strong' : 'shaped'
}

function isValidIn(cell: string, country: CountryCode | undefined): boolean {
  if (cell.length < bareDigitsMin && bareDigits.test(cell)) return false
  const options = country === undefined ? {} : { defaultCountry: country }
  return parsePhoneNumberFromString(cell, { ...options, extract: false })?.isValid() === true
}

/** How telephone numbers stand in text. */
const text: TextForm = {
  needs: /\d[\d ()./-]{5,}\d/,
  candidates: (text) =>
    matchesOf(
      text,
      /(?<![\w.+-])(?:\+[1-9][\d ()./-]{6,18}\d|\(\d{3}\) ?\d{3}-\d{4}|[2-9]\d\d[-.]\d{3}[-.]\d{4})(?![\w-])/g,
    ),
  isValue: (value) =>
    parsePhoneNumberFromString(value, { defaultCountry: 'US', extract: false })?.isValid() === true,
  isChecked: false,
  standsAlone: false,
}

/** The class `phone`. */
export const phone: DetectorClass = {
  words: phoneWords,
  match: matchPhones,
  validMin: 0.8,
  hintedValidMin: 0.6,
  formSuffices: true,
  hintedByRoles: true,
  namesake: undefined,
  text,
  shownChars: 2,
}
