/** Column names cut into words, and letters folded to the form in which words are compared. No vocabulary. */

/** Letters that Unicode does not take apart, as they are written where they are missing. */
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

/** Text without marks (`é` is `e`, `ł` is `l`), in full-width and other forms too; case stays. */
export function foldLetters(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(plainLetter, (letter) => plainLetters[letter] as string)
}

const numberWords = new Map(
  'zero one two three four five six seven eight nine'.split(' ').map((word, digit) => [word, String(digit)]),
)

/** Between letters of Latin and of another script. */
const scriptChange =
  /(\p{Script=Latin})(?=(?!\p{Script=Latin})\p{L})|((?!\p{Script=Latin})\p{L})(?=\p{Script=Latin})/gu

/** `billingCardNo2`, `IBANCode`, `Téléphone_client` to lower-case words without marks; number words are digits. */
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
