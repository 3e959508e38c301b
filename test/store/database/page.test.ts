/** Where a listing says that it goes on. */

import { expect, test } from 'bun:test'
import { everyItem, type PageRequest, toPage } from '../../../src/store/database/page.ts'

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
