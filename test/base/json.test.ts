/** Strict JSON: what it accepts equals JSON.parse, and everything that RFC 8259 or we refuse is a clear Fault. */

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Fault } from '../../src/base/fault.ts'
import {
  isJsonObject,
  type JsonValue,
  parseJson,
  parseJsonInTurns,
  stringifyJson,
} from '../../src/base/json.ts'
import { roundsOf } from '../support/long-form.ts'

const seed = 20_240_717

function faultOf(run: () => unknown): Fault {
  try {
    run()
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown
    throw thrown
  }
  throw new Error('no fault was thrown')
}

function expectInvalid(input: Uint8Array | string, message: string | RegExp): void {
  const fault = faultOf(() => parseJson(input))
  expect(fault.kind).toBe('bad_request')
  expect(fault.publicMessage).toMatch(message)
  expect(fault.publicMessage.length).toBeLessThan(200)
}

/** What JSON.parse makes of the same text: objects plain, every number a double. */
function plain(value: JsonValue): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (isJsonObject(value)) {
    const object = {}
    for (const [key, member] of value)
      Object.defineProperty(object, key, {
        value: plain(member),
        enumerable: true,
        configurable: true,
        writable: true,
      })
    return object
  }
  return Array.isArray(value) ? value.map(plain) : value
}

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))

describe('parseJson', () => {
  test('gives what JSON.parse gives for any value, with any white space', () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 8, stringUnit: 'binary' }),
        fc.constantFrom('', ' ', '\t', '\n  '),
        (text, indent) => {
          fc.pre(text.isWellFormed() && !/\d{19}/.test(text))
          const spaced = JSON.stringify(JSON.parse(text), undefined, indent)
          const expected: unknown = JSON.parse(spaced)
          expect(plain(parseJson(spaced))).toEqual(expected)
          expect(plain(parseJson(Buffer.from(spaced)))).toEqual(expected)
        },
      ),
      { seed, numRuns: 500 },
    )
  })

  test('refuses or accepts any mangled text as JSON.parse does, and never throws anything but a Fault', () => {
    let refused = 0
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 4 }),
        fc.nat(),
        fc.constantFrom('', ...'{}[]:,"\\0-1.eE+ tfnu/\u0000\u001f\u00e9'),
        (text, where, put) => {
          const at = where % (text.length + 1)
          const mangled = text.slice(0, at) + put + text.slice(at + 1)
          let reference: unknown
          let valid = true
          try {
            reference = JSON.parse(mangled)
          } catch {
            valid = false
          }
          try {
            const value = parseJson(mangled)
            expect(valid).toBe(true)
            expect(JSON.stringify(plain(value))).toBe(JSON.stringify(reference))
          } catch (thrown) {
            if (!(thrown instanceof Fault)) throw thrown
            refused++
            if (valid)
              expect(thrown.publicMessage).toMatch(
                /duplicate key|surrogate|outside 64 bits|number too large|deeper/,
              )
          }
        },
      ),
      { seed, numRuns: roundsOf(5_000) },
    )
    expect(refused).toBeGreaterThan(roundsOf(500))
  })

  test('makes objects Maps in which no key is special', () => {
    const value = parseJson('{"__proto__":{"a":1},"constructor":"x","":null}')
    expect(value).toEqual(
      new Map<string, JsonValue>([
        ['__proto__', new Map([['a', 1n]])],
        ['constructor', 'x'],
        ['', null],
      ]),
    )
    expect(({} as { a?: unknown }).a).toBeUndefined()
  })

  test('keeps every int64 exact and refuses the next integer on either side', () => {
    expect(parseJson('[9223372036854775807,-9223372036854775808,9007199254740993]')).toEqual([
      9223372036854775807n,
      -9223372036854775808n,
      9007199254740993n,
    ])
    expectInvalid('[9223372036854775808]', 'an integer outside 64 bits at byte 1')
    expectInvalid('-9223372036854775809', 'an integer outside 64 bits at byte 0')
    expectInvalid('1'.repeat(1_000_000), 'an integer outside 64 bits at byte 0')
  })

  test('keeps a number with fraction or exponent a double', () => {
    expect(parseJson('[1.0,1e2,-2.5E-1,0.1,1e-400,-0.0]')).toEqual([1, 100, -0.25, 0.1, 0, -0])
  })

  test('reads an integer minus zero as zero', () => {
    expect(parseJson('-0')).toBe(0n)
  })

  test('refuses a number too large for a double', () => {
    expectInvalid('1e400', 'a number too large at byte 0')
    expectInvalid('[-1.5e309]', 'a number too large at byte 1')
  })

  test.each(['01', '-01', '00', '-', '1.', '1.e3', '1e', '1e+', '+1', '.5', '0x10', '1_000'])(
    'refuses the number %s',
    (text) => expectInvalid(text, /malformed number|expected a value|content after/),
  )

  test.each(['NaN', 'Infinity', '-Infinity', 'undefined', 'nul', 'truee', "'a'", '// c\n1'])(
    'refuses %s',
    (text) => expectInvalid(text, /^Invalid JSON: /),
  )

  test.each(['', ' ', '[', '{', '[1', '{"a"', '{"a":', '{"a":1', '"a', '"\\', '"\\u12', '[1,', '{"a":1,'])(
    'refuses the text %j that ends too early',
    (text) => expectInvalid(text, /ends|unknown escape/),
  )

  test.each([
    ['[1,]', 3],
    ['{"a":1,}', 7],
    ['[,1]', 1],
    ['{,}', 1],
    ['{"a" 1}', 5],
    ['[1 2]', 3],
    ['{a:1}', 1],
    ['1 1', 2],
    ['{}]', 2],
    ['"é" x', 5],
  ])('says at which byte %j goes wrong', (text, byte) => expectInvalid(text, `at byte ${byte}.`))

  test('refuses a duplicate key at the top, nested, and when only an escape makes it equal', () => {
    expectInvalid('{"a":1,"b":2,"a":1}', 'duplicate key "a" at byte 13')
    expectInvalid('{"x":[{"k":{},"k":{}}]}', 'duplicate key "k" at byte 14')
    expectInvalid('{"a":1,"\\u0061":2}', 'duplicate key "a" at byte 7')
    expectInvalid('{"\\u0061":1,"a":2}', 'duplicate key "a"')
    expectInvalid('{"":1,"":2}', 'duplicate key ""')
    const long = 'k'.repeat(100_000)
    expectInvalid(`{"${long}":1,"${long}":2}`, 'duplicate key at byte')
  })

  test('allows the same key in different objects', () => {
    expect(parseJson('[{"a":1},{"a":{"a":2}}]')).toEqual([
      new Map([['a', 1n]]),
      new Map([['a', new Map([['a', 2n]])]]),
    ])
  })

  test('tells keys of equal length and ends apart', () => {
    const keys = ['abc', 'acc', 'adc', 'abc2', 'a', 'c', 'ac']
    const text = `{${keys.map((key, i) => `"${key}":${i}`).join(',')}}`
    expect(plain(parseJson(`[${text},${text}]`))).toEqual(JSON.parse(`[${text},${text}]`))
  })

  test.each(['[', '{"a":'])('refuses 100,000 levels of %s without a stack overflow', (open) =>
    expectInvalid(open.repeat(100_000), 'nesting deeper than 128 levels'),
  )

  test('accepts depth up to the limit given and refuses one more', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
    expect(parseJson(nested(3), { depthMax: 3 })).toEqual([[[]]])
    expect(faultOf(() => parseJson(nested(4), { depthMax: 3 })).publicMessage).toContain('deeper than 3')
    expect(stringifyJson(parseJson(nested(1_000), { depthMax: 1_000 }))).toBe(nested(1_000))
    expect(() => parseJson('1', { depthMax: 1_001 })).toThrow(RangeError)
  })

  test('refuses bytes that are not UTF-8 and says where', () => {
    expectInvalid(bytes('"a', [0xff], '"'), 'not UTF-8 at byte 2')
    expectInvalid(bytes('"é', [0xc3], '"'), 'not UTF-8 at byte 3')
    expectInvalid(bytes('"', [0xc0, 0x80], '"'), 'not UTF-8 at byte 1')
    expectInvalid(bytes('"', [0xed, 0xa0, 0x80], '"'), 'not UTF-8 at byte 1')
    expectInvalid(bytes('"', [0xf0, 0x9f, 0x92]), 'not UTF-8 at byte 1')
  })

  test('accepts a replacement character that was really sent', () => {
    expect(parseJson(Buffer.from('"\ufffd"'))).toBe('\ufffd')
  })

  test('refuses a byte order mark and UTF-16', () => {
    expectInvalid(bytes([0xef, 0xbb, 0xbf], '{}'), 'expected a value at byte 0')
    expectInvalid(Buffer.from('\ufeff{}', 'utf16le'), /Invalid JSON/)
  })

  test('refuses lone surrogates, escaped or raw, and reads pairs', () => {
    expectInvalid('"\\ud800"', 'a lone surrogate at byte 1')
    expectInvalid('"\\udc00"', 'a lone surrogate at byte 1')
    expectInvalid('"\\ud83d\\u0041"', 'a lone surrogate at byte 1')
    expectInvalid('"\\udca9\\ud83d"', 'a lone surrogate at byte 1')
    expectInvalid('"\ud800"', 'lone surrogate')
    expect(parseJson('"\\ud83d\\udca9 💩"')).toBe('💩 💩')
  })

  test('refuses each control character inside a string and white space of other kinds outside', () => {
    for (let code = 0; code < 0x20; code++) {
      const control = String.fromCharCode(code)
      expectInvalid(`["a${control}"]`, 'a control character inside a string at byte 3')
      expectInvalid(`["\\n${control}"]`, 'a control character inside a string at byte 4')
      expectInvalid(`{"a${control}":1}`, 'a control character inside a string at byte 3')
    }
    expectInvalid('\u00a01', 'expected a value')
    expectInvalid('\f1', 'expected a value')
  })

  test('reads every escape and refuses others', () => {
    expect(parseJson('"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u0000"')).toBe('"\\/\b\f\n\r\t\u00e9\0')
    for (const text of ['"\\x41"', '"\\u 041"', '"\\u00g0"', '"\\U0041"', '"\\\n"'])
      expectInvalid(text, 'an unknown escape')
  })

  test('reads a string of a million escapes', () => {
    expect(parseJson(`"${'\\n'.repeat(1_000_000)}"`)).toBe('\n'.repeat(1_000_000))
  })

  test('does not quote the body in its message', () => {
    const fault = faultOf(() => parseJson('{"password":"hunter2" oops}'))
    expect(fault.publicMessage).not.toContain('hunter2')
  })
})

describe('stringifyJson', () => {
  test('gives back the text of integers and of whole doubles apart', () => {
    expect(stringifyJson([9223372036854775807n, -1n, 1, -0, 1e21, 0.5, true, null])).toBe(
      '[9223372036854775807,-1,1.0,-0.0,1e+21,0.5,true,null]',
    )
    expect(
      stringifyJson(
        new Map<string, JsonValue>([
          ['"é', []],
          ['__proto__', new Map()],
        ]),
      ),
    ).toBe('{"\\"é":[],"__proto__":{}}')
  })

  test('refuses numbers that JSON does not have', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => stringifyJson([value])).toThrow(RangeError)
  })

  test('gives for any value a text that parses to an equal value', () => {
    const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom(null, true, false),
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.string({ unit: 'binary' }),
        fc.array(tie('value'), { maxLength: 5 }),
        fc
          .uniqueArray(fc.tuple(fc.string({ unit: 'binary' }), tie('value')), {
            selector: ([key]) => key,
            maxLength: 5,
          })
          .map((entries): JsonValue => new Map(entries)),
      ),
    }))
    fc.assert(
      fc.property(value, (original) => {
        expect(parseJson(stringifyJson(original))).toEqual(original)
      }),
      { seed, numRuns: 500 },
    )
  })
})

describe('parseJsonInTurns', () => {
  const long = JSON.stringify('x'.repeat(70_000))

  test('gives for a large text what parseJson gives, or the same Fault, wherever it is mangled', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.json({ maxDepth: 6 }), { minLength: 1, maxLength: 4 }),
        fc.nat(),
        fc.constantFrom('', '', ...'{}[]:,"\\0-1.eE+ tfnu/'),
        fc.constantFrom<(texts: string) => string>(
          (items) => `[${items}]`,
          (items) => `{"a":{"b":[${items}],"b2":{}},"c":[]}`,
          (items) => `{"deep":[[[[[${items}]]]]]}`,
        ),
        async (texts, where, put, wrap) => {
          const whole = wrap(texts.flatMap((text) => [long, text]).join(','))
          // Near the end of a turn, where all but the long strings is.
          const at = Math.min(whole.length, 70_000 + (where % (whole.length - 70_000)))
          const mangled = put === '' ? whole : whole.slice(0, at) + put + whole.slice(at + 1)
          const input = Buffer.from(mangled)
          const outcome = async (parse: () => JsonValue | Promise<JsonValue>) => {
            try {
              return stringifyJson(await parse())
            } catch (thrown) {
              if (!(thrown instanceof Fault)) throw thrown
              return thrown.publicMessage
            }
          }
          expect(await outcome(() => parseJsonInTurns(input))).toBe(await outcome(() => parseJson(input)))
        },
      ),
      { seed, numRuns: 300 },
    )
  })

  test('refuses a duplicate key and nesting that is too deep, at every level', async () => {
    for (const inner of ['{"a":1,"a":2}', '['.repeat(200)])
      for (const [before, after] of [
        ['', ''],
        ['[', ']'],
        ['{"x":[{"y":', '}]}'],
        ['[[[[[[', ']]]]]]'],
      ]) {
        const text = Buffer.from(`${before}[${long},${inner}]${after}`)
        const fault = await parseJsonInTurns(text).catch((thrown: Fault) => thrown)
        expect((fault as Fault).publicMessage).toBe(faultOf(() => parseJson(text)).publicMessage)
      }
  })

  test('lets others have their turn about every 16 KiB', async () => {
    const snapshot = '{"snapshot-id":9007199254740993,"summary":{"operation":"append"}}'
    const text = `{"metadata":{"snapshots":[${Array(20_000).fill(snapshot).join(',')}]}}`
    let turns = 0
    let done = false
    const count = () => {
      turns++
      if (!done) setImmediate(count)
    }
    setImmediate(count)
    const value = await parseJsonInTurns(Buffer.from(text))
    done = true
    expect(stringifyJson(value)).toBe(text)
    expect(turns).toBeGreaterThanOrEqual(Math.floor(text.length / (128 * 1024)))
  })
})

test('members of all objects together have a bound where one is given', () => {
  const text = '{"a": [{"b": 1}, {"c": {}}], "d": 2}'
  expect(parseJson(text, { membersMax: 4 })).toEqual(parseJson(text))
  expect(() => parseJson(text, { membersMax: 3 })).toThrow('Invalid JSON: more than 3 members at byte 29.')
})
