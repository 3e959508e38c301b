/** Time zones: names and offsets. What statements mean in them is compared with PostgreSQL in test/query. */

import { expect, test } from 'bun:test'
import { instantOfLocal, offsetText, timeZone, zoneNamed } from '../../src/core/time-zone.ts'

const at = (text: string) => Date.parse(`${text}Z`) / 1_000
const zone = (name: string) => timeZone(name) as NonNullable<ReturnType<typeof timeZone>>

test.each([
  ['europe/berlin', 'Europe/Berlin'],
  ['US/Eastern', 'US/Eastern'],
  ['America/Argentina/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
  ['gmt', 'UTC'],
  ['Etc/UTC', 'UTC'],
  ['+00:00', 'UTC'],
])('%s is the zone %s', (text, name) => {
  expect(zoneNamed(text)).toBe(name)
})

test.each([
  'CET',
  'EST',
  'PST8PDT',
  '+02',
  '-5',
  'Mars/Olympus',
  'SystemV/AST4',
  '',
  "x'/y",
  'Europe/Berlin/x/y',
])('%j is no zone, because it is none or may be read in two ways', (text) => {
  expect(zoneNamed(text)).toBeUndefined()
})

test.each([
  ['America/New_York', '2024-03-10T06:59:59', '-05'],
  ['America/New_York', '2024-03-10T07:00:00', '-04'],
  ['America/New_York', '9999-07-01T00:00:00', '-04'],
  ['America/New_York', '9999-12-31T23:59:59', '-05'],
  ['Australia/Lord_Howe', '2024-01-01T00:00:00', '+11'],
  ['Australia/Lord_Howe', '2024-06-01T00:00:00', '+10:30'],
  ['Europe/Berlin', '1800-01-01T00:00:00', '+00:53:28'],
  ['Asia/Kathmandu', '2024-01-01T00:00:00', '+05:45'],
  ['America/St_Johns', '2024-01-01T00:00:00', '-03:30'],
])('%s at %s is %s ahead', (name, instant, offset) => {
  expect(offsetText(zone(name).offsetAt(at(instant)))).toBe(offset)
})

test.each([
  ['America/New_York', '2024-03-10T02:30:00', '2024-03-10T07:30:00'],
  ['America/New_York', '2024-11-03T01:30:00', '2024-11-03T06:30:00'],
  ['Europe/Berlin', '2024-10-27T02:30:00', '2024-10-27T01:30:00'],
  ['Pacific/Apia', '2011-12-30T12:00:00', '2011-12-30T22:00:00'],
])('clocks in %s that show %s mean %s', (name, local, instant) => {
  expect(instantOfLocal(zone(name), at(local))).toBe(at(instant))
})
