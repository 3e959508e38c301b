/** Where a listing says that it goes on. */

import { expect, test } from 'bun:test'
import type { Fault } from '../../../src/base/fault.ts'
import {
  afterCount,
  afterPosition,
  afterUuid,
  everyItem,
  type PageRequest,
  pageLimit,
  toPage,
} from '../../../src/store/database/page.ts'

test.each([
  ['empty', [], {}],
  ['not full', ['a'], {}],
  ['exactly full', ['a', 'b'], {}],
  ['full, with a row more,', ['a', 'b', 'c'], { next: 'b' }],
] as const)('a page that is %s names a next one only where there is one', (_, rows, next) => {
  expect(toPage<string>(rows, 2, (row) => row)).toEqual({ items: rows.slice(0, 2), ...next })
})

test('a listing that ends with a full page is asked for no page behind it', async () => {
  const rows = ['a', 'b', 'c', 'd']
  const asked: (string | undefined)[] = []
  const load = async ({ after }: PageRequest) => {
    asked.push(after)
    return toPage(rows.filter((row) => row > (after ?? '')).slice(0, 3), 2, (row) => row)
  }
  expect(await Array.fromAsync(everyItem(load))).toEqual(rows)
  expect(asked).toEqual([undefined, 'b'])
})

const id = '0191c7e4-0000-7000-8000-0123456789ab'
const time = '2026-02-28T12:34:56.123456Z'

/** What a listing makes of a token; the message where it refuses it. */
function read<T>(of: (request: PageRequest) => T, after: string | undefined): T | string {
  try {
    return of({ after })
  } catch (thrown) {
    return (thrown as Fault).publicMessage
  }
}
const refused = 'The page token is not valid.'

test('a page holds one to a thousand items, a hundred where nobody says', () => {
  const limitOf = (limit: number | undefined) => {
    try {
      return pageLimit({ limit })
    } catch (thrown) {
      return (thrown as Fault).publicMessage
    }
  }
  expect([undefined, 1, 1000].map(limitOf)).toEqual([100, 1, 1000])
  for (const limit of [0, -1, 1001, 1.5, Number.NaN])
    expect(limitOf(limit)).toBe('A page holds 1 to 1000 items.')
})

test('a listing by time and id begins behind its token, and takes no other', () => {
  expect(read(afterPosition, undefined)).toEqual([undefined, undefined])
  expect(read(afterPosition, `${time}.${id}`)).toEqual([time, id])
  for (const token of [
    ...['', id, time, `${time}.`, `${time}.${id}x`, `x${time}.${id}`, `${time}.${id.slice(1)}`],
    // 36 characters that are no UUID, days and years that PostgreSQL does not know, and a time that is not exact.
    ...[
      `${time}.${'x'.repeat(36)}`,
      `2026-02-29T00:00:00.000000Z.${id}`,
      `0000-01-01T00:00:00.000000Z.${id}`,
    ],
    ...[`2026-02-28T12:34:56Z.${id}`, `${time.replace('Z', '+')}.${id}`],
  ])
    expect([token, read(afterPosition, token)]).toEqual([token, refused])
})

test('a listing by id begins behind its token, and takes no other', () => {
  expect(read(afterUuid, undefined)).toBe('00000000-0000-0000-0000-000000000000')
  expect(read(afterUuid, id)).toBe(id)
  for (const token of ['', 'x', `${id}0`, `0${id}`, id.toUpperCase()])
    expect([token, read(afterUuid, token)]).toEqual([token, refused])
})

test('a listing by number begins behind its token, and takes no other', () => {
  expect(read(afterCount, undefined)).toBeUndefined()
  for (const token of ['0', '7', '999999999999999999']) expect(read(afterCount, token)).toBe(token)
  for (const token of ['', '-1', '01', '1.5', '1000000000000000000', '1 '])
    expect([token, read(afterCount, token)]).toEqual([token, refused])
})
