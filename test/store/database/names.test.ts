/** How values are converted before they are stored: PostgreSQL accepts the JSON, whatever texts are in it. */

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { storableJson, storableText } from '../../../src/store/database/names.ts'

const seed = 20_261_121

/** The definition, value by value. */
const byValue = (value: unknown) =>
  JSON.stringify(value, (_, inner) => {
    if (typeof inner === 'string') return storableText(inner)
    return typeof inner === 'bigint' ? inner.toString() : inner
  })

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\0', '\uD800', '\uDFFF', 'a\uDC00b', '\\u0000', '\\\\ud83d', '😀', '\u001f'),
)

test('JSON for the store has each text made storable and each bigint in digits', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(
          fc.record({ text, count: fc.oneof(fc.integer(), fc.bigInt()), absent: fc.constant(undefined) }),
        ),
        fc.dictionary(text, fc.oneof(text, fc.boolean(), fc.constant(null))),
      ),
      (value) => {
        expect(storableJson(value)).toBe(byValue(value))
      },
    ),
    { seed, numRuns: 2_000 },
  )
})

test('no JSON for the store escapes a NUL or a lone surrogate in a text', () => {
  const stored = storableJson({ text: 'a\0b\uD800', plain: '\\u0000' })
  expect(JSON.parse(stored)).toEqual({ text: 'a\uFFFDb\uFFFD', plain: '\\u0000' })
})
