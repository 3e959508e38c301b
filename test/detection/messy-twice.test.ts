import { expect, setDefaultTimeout, test } from 'bun:test'
import { messyTwice } from './messy-twice.ts'

setDefaultTimeout(120_000)

test('a messy table has the same tags, made empty and filled afterwards or in one transaction (a sixth of its columns)', async () => {
  const { named, later, once } = await messyTwice(3, 6)
  expect(later).toEqual(once)
  expect(later.length).toBeGreaterThan(15)
  // Its name alone had said more.
  expect(named.filter((tag) => !later.includes(tag)).map((tag) => tag.replace(/#\d+/, ''))).toEqual([
    'ssn  sensitive.us_ssn',
  ])
})
