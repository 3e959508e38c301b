/** Cuts column names into words, and folds letters to the form in which words are compared. It knows no vocabulary. */

/** Letters that Unicode does not decompose, with their usual spelling in plain letters. */
const plainLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  ø: 'o',
  Ø: 'O',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ı: 'i',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
  þ: 'th',
  ð: 'd',
}
const plainLetter = new RegExp(`[${Object.keys(plainLetters).join('')}]`, 'g')

/** Removes marks (`é` is `e`, `ł` is `l`) and folds full-width and other forms. The case stays. */
export function foldLetters(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(plainLetter, (letter) => plainLetters[letter] as string)
}

const numberWords = new Map(
  'zero one two three four five six seven eight nine'.split(' ').map((word, digit) => [word, String(digit)]),
)

/** The place between a letter of Latin and a letter of another script. */
const scriptChange =
  /(\p{Script=Latin})(?=(?!\p{Script=Latin})\p{L})|((?!\p{Script=Latin})\p{L})(?=\p{Script=Latin})/gu

/** Cuts `billingCardNo2`, `IBANCode` or `Téléphone_client` into plain lower-case words; number words become digits. */
export function splitWords(name: string): readonly string[] {
  return foldLetters(name)
    .replace(/(\p{Ll})(?=\p{Lu})|(\p{L})(?=\d)|(\d)(?=\p{L})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$& ')
    .replace(scriptChange, '$& ')
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .split(/[^\p{L}\d]+/u)
    .filter((word) => word !== '')
    .map((word) => numberWords.get(word) ?? word)
}
