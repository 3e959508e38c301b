/** Values of JSON as text for a terminal. */

import { expect, test } from 'bun:test'
import { cellText, fieldsText, listText, shownText } from '../../src/admin/text-table.ts'

test('control characters and those that turn the direction of writing are shown, not obeyed', () => {
  expect(shownText('a\u001b[2Jb\nc\u202ed\u009b')).toBe('a\\u001b[2Jb\\u000ac\\u202ed\\u009b')
  const items = [{ 'na\u001bme': 'x\u0007', table: { namespace: ['a\r'], name: 'b' } }]
  expect(listText(items)).toBe('NA\\U001BME  TABLE\nx\\u0007     a\\u000d.b'.replace('\\U001B', '\\U001B'))
  expect(fieldsText({ 'k\u001b': { deep: { er: '\u001b' } } })).not.toContain('\u001b')
})

test('a cell is one line: tables by name, lists with commas, what is absent a dash', () => {
  expect(cellText({ namespace: ['a', 'b'], name: 'c' })).toBe('a.b.c')
  expect(cellText([{ id: 1, on: true }, undefined])).toBe('id=1 on=yes, -')
  expect(cellText([])).toBe('-')
})

test('a list has the columns that are named, by their paths, and cuts long cells but the last', () => {
  const items = [
    { a: { b: 'x'.repeat(100) }, c: 'y'.repeat(100) },
    { a: {}, c: 2 },
  ]
  const [head = '', first = '', second = ''] = listText(items, ['long=a.b', 'c']).split('\n')
  expect(head).toBe(`${'LONG'.padEnd(72)}  C`)
  expect(first).toBe(`${'x'.repeat(71)}…  ${'y'.repeat(100)}`)
  expect(second).toBe(`${'-'.padEnd(72)}  2`)
  expect(listText([])).toBe('None.')
})

test('an object is lines, with its lists of objects as tables below', () => {
  const value = { id: 'x', made_by: 'ann', none: null, parts: [{ n: 1 }, { n: 2 }] }
  expect(fieldsText(value)).toBe('id       x\nmade by  ann\n\nparts:\n  N\n  1\n  2')
})
