/** Text by strangers is shown without what a person would not see. */

import { expect, test } from 'bun:test'
import { cleanText } from '../../src/base/clean-text.ts'

const code = (...points: readonly number[]) => String.fromCodePoint(...points)

test('every control, bidirectional, tag and other unseen character is removed', () => {
  const unseen = [
    ...range(0x00, 0x08),
    ...range(0x0b, 0x1f),
    ...range(0x7f, 0x9f),
    ...[0xad, 0x61c, 0x180e, 0x200b, 0x200e, 0x200f, 0xfeff],
    ...range(0x202a, 0x202e),
    ...range(0x2060, 0x206f),
    ...range(0xe0000, 0xe0fff),
  ]
  for (const point of unseen) expect([point, cleanText(`a${code(point)}b`, 100)]).toEqual([point, 'ab'])
})

test('text that people write stays', () => {
  const family = code(0x1f468, 0x200d, 0x1f469, 0xfe0f)
  const persian = `می${code(0x200c)}خواهم`
  for (const text of ['Zürich\t2\n', '注文', persian, family, 'a–b “c”'])
    expect(cleanText(text, 100)).toBe(text)
})

test('a lone surrogate becomes the replacement character, and no cut makes one', () => {
  expect(cleanText('a\ud800', 100)).toBe('a\ufffd')
  expect(cleanText('ab\u{1f600}cd', 4)).toBe('ab…')
})

test('a longer text is cut and says so', () => {
  expect(cleanText('x'.repeat(11), 10)).toBe(`${'x'.repeat(9)}…`)
  expect(cleanText('x'.repeat(10), 10)).toBe('x'.repeat(10))
})

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}
