/** Reading texts and addresses of a catalog credential's settings: what is a problem, and that none quotes a value. */

import { expect, test } from 'bun:test'
import { settingsReader } from '../../src/catalog/settings-reader.ts'

test('a text is read, and one that is absent, null or empty is none', () => {
  const { text, problems } = settingsReader({ region: 'eu-1', none: null, empty: '' })
  expect(['region', 'none', 'empty', 'absent'].map(text)).toEqual(['eu-1', undefined, undefined, undefined])
  expect(problems).toEqual([])
})

test.each([['hunter2\n'], ['\u0000hunter2'], ['hunter2\u007f'], [['hunter2']], [2], [true]])(
  'what is no text without control characters is a problem that does not quote it: %p',
  (value) => {
    const { text, problems } = settingsReader({ password: value })
    expect(text('password')).toBeUndefined()
    expect(problems).toEqual(['The password must be a string without control characters.'])
  },
)

test('an address is a URL without its last slash, and one that cannot be used is a problem by the name it was given', () => {
  const { address, problems } = settingsReader({})
  expect(address('https://catalog.example/api/', 'uri')?.pathname).toBe('/api')
  expect(address(undefined, 'uri')).toBeUndefined()
  expect(problems).toEqual([])
  expect(address('https://user:hunter2@catalog.example', 'uri')).toBeUndefined()
  expect(problems).toEqual(['The uri must not hold credentials.'])
})
