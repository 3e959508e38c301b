/**
 * Parses and writes strict JSON for untrusted bodies: exact integers, no duplicate keys, bounded depth, valid UTF-8.
 * Objects become Maps, so `__proto__` is an ordinary key and policies read them without conversion. Integers become
 * bigint, other numbers stay doubles.
 */

import type { Fault } from './fault.ts'
import { int64Max, int64Min } from './int64.ts'
import { decodeJson, invalidJson, wellFormedJson } from './json-input.ts'
import { threadTurn } from './thread-turns.ts'

export type JsonValue = null | boolean | string | number | bigint | readonly JsonValue[] | JsonObject
export type JsonObject = ReadonlyMap<string, JsonValue>

/** The greatest depth that `stringifyJson` and recursive readers of parsed values must handle. */
const depthMaxCeiling = 1_000
const depthMaxDefault = 128

/** Whether a value of a parsed document is an object. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return value instanceof Map
}

/** An object of these members; a member whose value is undefined is left out. */
export function jsonObject(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const object = new Map<string, JsonValue>()
  for (const [key, value] of Object.entries(members)) if (value !== undefined) object.set(key, value)
  return object
}

/**
 * Parses one JSON text (RFC 8259), more strictly than the RFC. It refuses duplicate keys, lone surrogates, a byte order
 * mark, integers outside int64 and numbers too large for a double. An integer is a number without fraction and
 * exponent; `-0` is the integer 0, `1.0` and `1e2` are doubles.
 * @param input UTF-8 bytes, or a string already decoded
 * @param options.depthMax levels of arrays and objects, at most 1,000; 128 where absent
 * @param options.membersMax members of all objects together; no bound where absent
 * @returns the value; its strings may share memory with the whole decoded text
 * @throws Fault `bad_request` that says what is wrong and at which byte of the (UTF-8) text
 */
export function parseJson(input: Uint8Array | string, options: JsonBounds = {}): JsonValue {
  return scannerOf(input, options).document()
}

/**
 * As {@link parseJson}, for a text that may be large. It yields to the event loop after every part, so that other
 * requests do not wait for the whole.
 * @throws Fault as {@link parseJson} does
 */
export async function parseJsonInTurns(input: Uint8Array, options: JsonBounds = {}): Promise<JsonValue> {
  if (input.length <= turnLength) return parseJson(input, options)
  const turns = scannerOf(input, options).turns()
  let turn = turns.next()
  for (; !turn.done; turn = turns.next()) await threadTurn()
  return turn.value
}

/** Bounds of a text beside its length. */
type JsonBounds = Readonly<{ depthMax?: number; membersMax?: number }>

function scannerOf(input: Uint8Array | string, { depthMax = depthMaxDefault, membersMax }: JsonBounds) {
  if (depthMax > depthMaxCeiling) throw new RangeError(`parseJson: depthMax above ${depthMaxCeiling}`)
  const text = typeof input === 'string' ? wellFormedJson(input) : decodeJson(input)
  return new Scanner(text, depthMax, membersMax)
}

/**
 * Writes a value as JSON without white space. `parseJson` of the result gives an equal value, so a double with a whole
 * value keeps a fraction (`1.0`).
 * @throws RangeError for NaN and infinities, which JSON does not have
 */
export function stringifyJson(value: JsonValue): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') return stringifyDouble(value)
  if (value === null || typeof value !== 'object') return String(value)
  let text = ''
  if (isJsonObject(value)) {
    for (const [key, member] of value)
      text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${stringifyJson(member)}`
    return `{${text}}`
  }
  for (const item of value) text += `${text === '' ? '' : ','}${stringifyJson(item)}`
  return `[${text}]`
}

function stringifyDouble(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`stringifyJson: ${value} is not JSON`)
  if (Object.is(value, -0)) return '-0.0'
  const text = String(value)
  return Number.isInteger(value) && !text.includes('e') ? `${text}.0` : text
}

/** Characters that are parsed in one turn: about half a millisecond. */
const turnLength = 16 * 1024
/** A turn may end between members of this many outer levels; deeper values are small in every large document. */
const turnLevels = 4

const keyQuotedMax = 64
/** A power of two. */
const keySlots = 256

/** The digits that a double always holds exactly, and the most digits of an int64. */
const exactDigits = 15
const int64Digits = 19

/** Most integers of Iceberg metadata are small ids. Sharing them saves an allocation each. */
const smallIntegers = Array.from({ length: 1_024 }, (_, i) => BigInt(i))

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

const escapes = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

/** One pass over one text. `charCodeAt` past the end is NaN, which no comparison below accepts. */
class Scanner {
  #at = 0
  #keyAt = 0
  #turnEnd = 0
  /**
   * Keys seen, by a cheap hash, because documents repeat few keys often. A repeated string is already hashed for the
   * Map.
   */
  readonly #keys: (string | undefined)[] = new Array(keySlots)
  #members = 0

  constructor(
    readonly text: string,
    readonly depthMax: number,
    readonly membersMax = Number.POSITIVE_INFINITY,
  ) {}

  document(): JsonValue {
    const value = this.#value(this.depthMax)
    if (!Number.isNaN(this.#peek())) throw this.#invalid('content after the end of the value')
    return value
  }

  /** As `document`, but yields after each part; the caller decides when to continue. */
  *turns(): Generator<undefined, JsonValue> {
    this.#turnEnd = turnLength
    const value = yield* this.#valueInTurns(this.depthMax, turnLevels)
    if (!Number.isNaN(this.#peek())) throw this.#invalid('content after the end of the value')
    return value
  }

  *#valueInTurns(levelsLeft: number, turnsLeft: number): Generator<undefined, JsonValue> {
    if (this.#at >= this.#turnEnd) {
      this.#turnEnd = this.#at + turnLength
      yield
    }
    const code = this.#peek()
    if (turnsLeft === 0 || levelsLeft === 0) return this.#value(levelsLeft)
    if (code === OPEN_ARRAY) {
      const items: JsonValue[] = []
      if (this.#opens(CLOSE_ARRAY))
        do items.push(yield* this.#valueInTurns(levelsLeft - 1, turnsLeft - 1))
        while (this.#goesOn(CLOSE_ARRAY))
      return items
    }
    if (code !== OPEN_OBJECT) return this.#value(levelsLeft)
    const members = new Map<string, JsonValue>()
    if (!this.#opens(CLOSE_OBJECT)) return members
    for (let count = 1; ; count++) {
      const key = this.#memberKey()
      const keyAt = this.#keyAt
      members.set(key, yield* this.#valueInTurns(levelsLeft - 1, turnsLeft - 1))
      if (members.size !== count) throw this.#duplicate(key, keyAt)
      if (!this.#goesOn(CLOSE_OBJECT)) return members
    }
  }

  /** The next character's code after white space, not consumed. */
  #peek(): number {
    const text = this.text
    let at = this.#at
    let code = text.charCodeAt(at)
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = text.charCodeAt(++at)
    this.#at = at
    return code
  }

  #value(levelsLeft: number): JsonValue {
    const code = this.#peek()
    if (code === QUOTE) return this.#string()
    if ((code >= ZERO && code <= NINE) || code === MINUS) return this.#number(code)
    if (code === OPEN_OBJECT) return this.#object(levelsLeft)
    if (code === OPEN_ARRAY) return this.#array(levelsLeft)
    if (code === 0x74) return this.#literal('true', true)
    if (code === 0x66) return this.#literal('false', false)
    if (code === 0x6e) return this.#literal('null', null)
    throw this.#unexpected('a value')
  }

  #literal<T extends JsonValue>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.#at)) throw this.#unexpected('a value')
    this.#at += word.length
    return value
  }

  #object(levelsLeft: number): JsonObject {
    if (levelsLeft === 0) throw this.#invalid(`nesting deeper than ${this.depthMax} levels`)
    const members = new Map<string, JsonValue>()
    if (!this.#opens(CLOSE_OBJECT)) return members
    for (let count = 1; ; count++) {
      const key = this.#memberKey()
      const keyAt = this.#keyAt
      members.set(key, this.#value(levelsLeft - 1))
      // A set that did not add an entry shows a duplicate key, which saves a second hash.
      if (members.size !== count) throw this.#duplicate(key, keyAt)
      if (!this.#goesOn(CLOSE_OBJECT)) return members
    }
  }

  /** Skips the opening of an array or object, or a whole empty one. Returns whether anything is in it. */
  #opens(close: number): boolean {
    this.#at++
    if (this.#peek() !== close) return true
    this.#at++
    return false
  }

  /** Skips the character after a member or item. Returns whether another one follows. */
  #goesOn(close: number): boolean {
    const code = this.#peek()
    this.#at++
    if (code === COMMA) return true
    if (code === close) return false
    throw this.#unexpected(close === CLOSE_OBJECT ? '"," or "}"' : '"," or "]"', this.#at - 1)
  }

  /** Reads a key, which begins at `#keyAt`, and skips its colon. */
  #memberKey(): string {
    if (this.#peek() !== QUOTE) throw this.#unexpected('a key')
    this.#keyAt = this.#at
    if (++this.#members > this.membersMax) throw this.#invalid(`more than ${this.membersMax} members`)
    const key = this.#key()
    if (this.#peek() !== COLON) throw this.#unexpected('":"')
    this.#at++
    return key
  }

  #duplicate(key: string, keyAt: number): Fault {
    const shown = key.length > keyQuotedMax ? '' : ` ${JSON.stringify(key)}`
    return this.#invalid(`duplicate key${shown}`, keyAt)
  }

  #array(levelsLeft: number): readonly JsonValue[] {
    if (levelsLeft === 0) throw this.#invalid(`nesting deeper than ${this.depthMax} levels`)
    const items: JsonValue[] = []
    if (!this.#opens(CLOSE_ARRAY)) return items
    do items.push(this.#value(levelsLeft - 1))
    while (this.#goesOn(CLOSE_ARRAY))
    return items
  }

  /** The end of the run of characters from `at` on that need no decoding. */
  #plainEnd(at: number): number {
    const text = this.text
    let end = at
    let code = text.charCodeAt(end)
    while (code >= 0x20 && code !== QUOTE && code !== BACKSLASH) code = text.charCodeAt(++end)
    return end
  }

  #key(): string {
    const text = this.text
    const start = this.#at + 1
    const end = this.#plainEnd(start)
    if (text.charCodeAt(end) !== QUOTE || end === start) return this.#string()
    this.#at = end + 1
    const length = end - start
    const slot = (length * 31 + text.charCodeAt(start) * 7 + text.charCodeAt(end - 1)) & (keySlots - 1)
    const seen = this.#keys[slot]
    if (seen !== undefined && seen.length === length && text.startsWith(seen, start)) return seen
    const key = text.slice(start, end)
    this.#keys[slot] = key
    return key
  }

  #string(): string {
    const text = this.text
    const start = this.#at + 1
    let end = this.#plainEnd(start)
    let value = text.slice(start, end)
    while (text.charCodeAt(end) === BACKSLASH) {
      this.#at = end
      value += this.#escape()
      const next = this.#at
      end = this.#plainEnd(next)
      value += text.slice(next, end)
    }
    this.#at = end
    if (end === text.length) throw this.#invalid('the text ends inside a string')
    if (text.charCodeAt(end) !== QUOTE) throw this.#invalid('a control character inside a string')
    this.#at = end + 1
    return value
  }

  /** One escape, or two where they form a surrogate pair. */
  #escape(): string {
    const start = this.#at
    const letter = this.text.charAt(start + 1)
    if (letter !== 'u') {
      const character = escapes.get(letter)
      if (character === undefined) throw this.#invalid('an unknown escape')
      this.#at += 2
      return character
    }
    const first = this.#codeUnit()
    if (first < 0xd800 || first > 0xdfff) return String.fromCharCode(first)
    if (first < 0xdc00 && this.text.startsWith('\\u', this.#at)) {
      const second = this.#codeUnit()
      if (second >= 0xdc00 && second <= 0xdfff) return String.fromCharCode(first, second)
    }
    throw this.#invalid('a lone surrogate', start)
  }

  #codeUnit(): number {
    const hex = this.text.slice(this.#at + 2, this.#at + 6)
    if (!/^[0-9a-fA-F]{4}$/.test(hex)) throw this.#invalid('an unknown escape')
    this.#at += 6
    return Number.parseInt(hex, 16)
  }

  #number(first: number): bigint | number {
    const text = this.text
    const start = this.#at
    const digitsStart = first === MINUS ? start + 1 : start
    let at = digitsStart
    let code = text.charCodeAt(at)
    let whole = 0
    while (code >= ZERO && code <= NINE) {
      whole = whole * 10 + (code - ZERO)
      code = text.charCodeAt(++at)
    }
    const digits = at - digitsStart
    if (digits === 0 || (digits > 1 && text.charCodeAt(digitsStart) === ZERO))
      throw this.#invalid('a malformed number')
    this.#at = at
    if (code === POINT || code === 0x65 || code === 0x45) return this.#double(start)
    if (digits <= exactDigits) {
      if (first === MINUS) return BigInt(-whole)
      return smallIntegers[whole] ?? BigInt(whole)
    }
    const value = digits > int64Digits ? undefined : BigInt(text.slice(start, at))
    if (value === undefined || value < int64Min || value > int64Max)
      throw this.#invalid('an integer outside 64 bits', start)
    return value
  }

  /** Reads a number with fraction or exponent, whose integer part was already skipped. */
  #double(start: number): number {
    const text = this.text
    if (text.charCodeAt(this.#at) === POINT) this.#digits(this.#at + 1, start)
    const code = text.charCodeAt(this.#at)
    if (code === 0x65 || code === 0x45) {
      const sign = text.charCodeAt(this.#at + 1)
      this.#digits(this.#at + (sign === MINUS || sign === 0x2b ? 2 : 1), start)
    }
    const value = Number(text.slice(start, this.#at))
    if (!Number.isFinite(value)) throw this.#invalid('a number too large', start)
    return value
  }

  /** Skips the digits at `from`, at least one. */
  #digits(from: number, numberStart: number): void {
    let at = from
    let code = this.text.charCodeAt(at)
    while (code >= ZERO && code <= NINE) code = this.text.charCodeAt(++at)
    if (at === from) throw this.#invalid('a malformed number', numberStart)
    this.#at = at
  }

  #unexpected(wanted: string, at = this.#at): Fault {
    return this.#invalid(at >= this.text.length ? `the text ends before ${wanted}` : `expected ${wanted}`, at)
  }

  #invalid(what: string, at = this.#at): Fault {
    return invalidJson(what, Buffer.byteLength(this.text.slice(0, at)))
  }
}
