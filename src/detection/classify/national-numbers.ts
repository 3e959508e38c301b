/**
 * Checks of identity numbers that are put together in ways of their own, so that no weights describe them. Each takes
 * letters and digits alone, in upper case. It says whether a number may exist, and not whether it was given to somebody.
 */

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** Italian tax code of a person: letters of the name, date of birth, sex, place, and a letter that checks all. */
const codiceFiscale = /^[A-Z]{6}\d{2}[ABCDEHLMPRST]\d{2}[A-Z]\d{3}[A-Z]$/
/** Where two persons would have one code, letters take the place of digits, from the right. */
const lettersForDigits = 'LMNPQRSTUV'
const digitPlaces = [6, 7, 9, 10, 12, 13, 14]
/** What a character counts in the first, third, fifth place and so on: digits as the letters A to J. */
const oddValues = [
  1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
]

/** Whether a text is an Italian codice fiscale (decree of the Ministry of Finance of 12 March 1974). */
export function isCodiceFiscale(text: string): boolean {
  const digits = [...text]
    .map((character, index) =>
      digitPlaces.includes(index) && lettersForDigits.includes(character)
        ? String(lettersForDigits.indexOf(character))
        : character,
    )
    .join('')
  if (!codiceFiscale.test(digits)) return false
  // The day of birth, of a woman 40 more.
  const written = Number(digits.slice(9, 11))
  const day = written > 40 ? written - 40 : written
  if (day < 1 || day > 31) return false
  const sum = [...text.slice(0, 15)].reduce((total, character, index) => {
    const value = /\d/.test(character) ? Number(character) : letters.indexOf(character)
    return total + (index % 2 === 0 ? (oddValues[value] as number) : value)
  }, 0)
  return letters[sum % 26] === text[15]
}

/** Sex, year, month (also fictitious ones), department, municipality, order, and a key of two digits. */
const nir = /^[1-478]\d{2}(?:0[1-9]|1[0-2]|[2-9]\d)(?:\d{2}|2[AB])\d{3}\d{3}\d{2}$/

/** Whether a text is a French NIR, the number of social security, with its key (INSEE). */
export function isNir(text: string): boolean {
  if (!nir.test(text)) return false
  // The departments of Corsica count as 19 and 18.
  const number = BigInt(text.slice(0, 13).replace('2A', '19').replace('2B', '18'))
  return 97 - Number(number % 97n) === Number(text.slice(13))
}

/** Whether a text is a Turkish identity number, with its two check digits. */
export function isTckn(text: string): boolean {
  if (!/^[1-9]\d{10}$/.test(text)) return false
  const digits = [...text].map(Number)
  const sumOf = (places: readonly number[]) =>
    places.reduce((sum, place) => sum + (digits[place] as number), 0)
  const tenth = (sumOf([0, 2, 4, 6, 8]) * 7 - sumOf([1, 3, 5, 7]) + 100) % 10
  return digits[9] === tenth && digits[10] === sumOf([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) % 10
}

/** Letters that HM Revenue & Customs uses; the suffix is A to D. There is no check digit. */
const nino = /^[ABCEGHJ-PRSTW-Z][ABCEGHJ-NPRSTW-Z]\d{6}[A-D]$/
const unusedPrefixes = ['BG', 'GB', 'NK', 'KN', 'TN', 'NT', 'ZZ']

/** Whether a text may be a British National Insurance number (HMRC, NIM39110). */
export function isNino(text: string): boolean {
  return nino.test(text) && !unusedPrefixes.includes(text.slice(0, 2))
}
