import { expect, test } from 'bun:test'
import { parseRfc3339 } from '../../src/base/rfc3339.ts'

test.each([
  ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
  ['2026-01-02T03:04:05.678+01:30', '2026-01-02T01:34:05.678Z'],
  ['2026-01-02t03:04:05z', '2026-01-02T03:04:05.000Z'],
  ['2028-02-29T23:59:59-00:00', '2028-02-29T23:59:59.000Z'],
])('%s is a time', (text, expected) => {
  expect(parseRfc3339(text)?.toISOString()).toBe(expected)
})

test.each([
  ['has no zone', '2026-01-02T03:04:05'],
  ['has no seconds', '2026-01-02T03:04Z'],
  ['is a day', '2026-01-02'],
  ['names a day that there is not', '2026-02-29T00:00:00Z'],
  ['names an hour that there is not', '2026-01-02T25:00:00Z'],
  ['is of another form', 'Fri, 02 Jan 2026 03:04:05 GMT'],
  ['goes on', '2026-01-02T03:04:05Z and more'],
])('a text that %s is none', (_what, text) => {
  expect(parseRfc3339(text)).toBeUndefined()
})
