/** Normalises cells for the classifiers: bounds and trims them, unifies spaces and hyphens, and drops placeholders. */

/** Characters. The longest value of any class is a list of a few email addresses. */
const cellCharsMax = 512

const placeholders = new Set(
  '- -- --- . ? 0 n/a na nan nil none null unknown undefined missing tbd tba x xx xxx empty (null) #n/a k.a. ohne inconnu desconocido sconosciuto desconhecido onbekend'.split(
    ' ',
  ),
)

/**
 * @returns the text to judge; `''` when the cell is blank or a placeholder ("n/a"); undefined when it is longer than a
 * value of any class
 */
export function normaliseCell(value: string): string | undefined {
  if (value.length > cellCharsMax) return undefined
  // Full-width digits, no-break spaces and typographic hyphens come from spreadsheets and documents.
  const plain = isAscii(value)
    ? value
    : value
        .normalize('NFKC')
        .replace(/[\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g, '')
        .replace(/[\u2010-\u2015\u2212]/g, '-')
        .replace(foreignDigit, asciiDigit)
  const text = plain.trim()
  if (text.length > cellCharsMax) return undefined
  return placeholders.has(text.toLowerCase()) ? '' : text
}

/** Digits of other scripts: Arabic-Indic, Persian, Devanagari and others. */
const foreignDigit = /(?!\d)\p{Nd}/gu
const digit = /^\p{Nd}$/u

/** Unicode keeps the ten digits of a script together, starting at zero. */
function asciiDigit(character: string): string {
  const code = character.codePointAt(0) ?? 0
  let zero = code
  while (digit.test(String.fromCodePoint(zero - 1))) zero--
  return String((code - zero) % 10)
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7e) return false
  return true
}

const maskSigns = /[*\u2022\u25cf\u2588]/
/** What `mask-alphanum` writes for digits and for all else, and what people write. */
const maskLetters = /^(?:[xXn#]|[^\p{L}\p{N}])*$/u
const maskLetter = /[xXn#]/g
/** Characters that `show-last-4` and `show-first-4` leave. */
const shownChars = 4
const maskedMin = 3

/**
 * Whether a value looks masked: it holds asterisks or blocks, or all but four characters at an end are the letters that masks write
 * (`xxxx.xxx@xxxxx.xxx`, `nnn-nn-6789`). What is masked is no value.
 */
export function looksMasked(value: string): boolean {
  if (maskSigns.test(value)) return true
  return [value, value.slice(shownChars), value.slice(0, -shownChars)].some(
    (part) => maskLetters.test(part) && (part.match(maskLetter)?.length ?? 0) >= maskedMin,
  )
}
