/** What the name of a column says about its content: names cut into words, words looked up (vocabulary.ts). */

import { classes, type SensitiveClass } from '../../core/classification.ts'
import {
  classWords,
  neutralWords,
  otherContent,
  otherContentOf,
  otherIdentifiers,
  roles,
} from './vocabulary.ts'

/**
 * `sure` is a finding by itself; `likely` needs values beside it; `hint` needs values that stand for themselves;
 * `contradicted` names another identifier.
 */
export type NameSignal = 'sure' | 'likely' | 'hint' | 'none' | 'contradicted'

const nameCharsMax = 512
const wordsMax = 16
/** Characters of the longest word that is looked into. */
const termCharsMax = 48
const plurals = ['s', 'es', 'n', 'en']
/** Words of the longest term, as `numero de la carte de credit`. */
const termWordsMax = 6

/**
 * What a dotted column path says about each class. Its last part counts, with the parts above it as long as it says
 * nothing by itself (`phone.value`, `emails.element`).
 */
export function readNameSignals(path: string): Readonly<Record<SensitiveClass, NameSignal>> {
  const words = significantWords(path)
  return Object.fromEntries(classes.map((each) => [each, signalOf(words, each)])) as Record<
    SensitiveClass,
    NameSignal
  >
}

function significantWords(path: string): readonly string[] {
  const parts = path.slice(-nameCharsMax).split('.')
  let words: readonly string[] = []
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    words = [...splitWords(part), ...words]
    if (words.some((word) => !neutralWords.has(word) && !isDigits(word))) break
  }
  return words.slice(-wordsMax)
}

const numberWords = new Map(
  'zero one two three four five six seven eight nine'.split(' ').map((word, digit) => [word, String(digit)]),
)

/** `billingCardNo2`, `IBANCode`, `Téléphone_client` to lower-case words without marks; number words are digits. */
export function splitWords(name: string): readonly string[] {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replaceAll('ß', 'ss')
    .replaceAll('ø', 'o')
    .replace(/(\p{Ll})(?=\p{Lu})|(\p{L})(?=\d)|(\d)(?=\p{L})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$& ')
    .toLowerCase()
    .split(/[^\p{L}\d]+/u)
    .filter((word) => word !== '')
    .map((word) => numberWords.get(word) ?? word)
}

function signalOf(words: readonly string[], each: SensitiveClass): NameSignal {
  const term = findTerm(words, each)
  if (term?.grade !== 'sure' && otherIdentifiers[each].some((other) => hasRun(words, other)))
    return 'contradicted'
  if (term === undefined) return 'none'
  const before = words.slice(0, term.from)
  const after = words.slice(term.to)
  const around = [...before, ...after]
  if (
    around.some((word) => otherContent.anywhere.has(word) || otherContentOf[each].has(word)) ||
    after.some((word) => otherContent.after.has(word)) ||
    before.some((word) => otherContent.before.has(word)) ||
    hasRun(words, 'last4') ||
    hasRun(words, 'first6')
  )
    return 'none'
  if (term.grade === 'alone')
    return around.every((word) => neutralWords.has(word) || roles.has(word) || isDigits(word))
      ? 'sure'
      : 'likely'
  return term.grade
}

interface Term {
  readonly from: number
  readonly to: number
  readonly grade: 'sure' | 'alone' | 'hint'
}

/** The longest run of words that, written together, is a term of the class; the last of equally long ones. */
function findTerm(words: readonly string[], each: SensitiveClass): Term | undefined {
  for (let length = Math.min(termWordsMax, words.length); length > 0; length--)
    for (let from = words.length - length; from >= 0; from--) {
      const written = words.slice(from, from + length).join('')
      const grade = gradeOf(written, each) ?? (length === 1 ? gradeWithRole(written, each) : undefined)
      if (grade !== undefined) return { from, to: from + length, grade }
    }
  return undefined
}

function gradeOf(written: string, each: SensitiveClass): Term['grade'] | undefined {
  const terms = classWords[each]
  const known = terms.get(written)
  if (known !== undefined) return known
  for (const end of plurals) {
    const singular = written.endsWith(end) ? terms.get(written.slice(0, -end.length)) : undefined
    if (singular !== undefined) return singular
  }
  return undefined
}

/** One word made of a role and a term: `customeremail`, `privattelefon`, `telefonprivat`. */
function gradeWithRole(word: string, each: SensitiveClass): 'sure' | undefined {
  if (word.length > termCharsMax) return undefined
  const isTerm = (part: string) => classWords[each].get(part) === 'sure'
  for (let cut = 2; cut <= word.length - 2; cut++) {
    const [first, second] = [word.slice(0, cut), word.slice(cut)]
    if ((roles.has(first) && isTerm(second)) || (roles.has(second) && isTerm(first))) return 'sure'
  }
  return undefined
}

function hasRun(words: readonly string[], run: string): boolean {
  return words.some((_, from) => words[from] === run || words.slice(from, from + 2).join('') === run)
}

function isDigits(word: string): boolean {
  return /^\d+$/.test(word)
}
