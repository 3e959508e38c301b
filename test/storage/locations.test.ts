/** The locations that a scan may read: canonical forms and the boundary of a root. */

import { expect, test } from 'bun:test'
import { isBelow, parseLocation, parseRoots, rootMatchLength } from '../../src/storage/locations.ts'

const below = (location: string, root: string) => {
  const parsed = parseLocation(location)
  return parsed !== undefined && parseRoots([root]).some((one) => isBelow(parsed, one))
}

test.each([
  ['s3://lake/db/t/v1', 's3://lake/db', true],
  ['s3a://lake/db/t/v1', 's3://lake/db/', true],
  ['s3://lake/db/t/v1', 's3n://lake', true],
  ['s3://lake/dbother/v1', 's3://lake/db', false],
  ['s3://lake/db', 's3://lake/db', false],
  ['s3://lake2/db/v1', 's3://lake/db', false],
  ['s3://lake/db/../x/v1', 's3://lake/db', false],
  ['s3://lake/db/./v1', 's3://lake/db', false],
  ['file:///data/t/v1', 'file:///data', true],
  ['/data/t/v1', 'file:///data/', true],
  ['file:/data/t/v1', '/data', true],
  ['file:///data//t/v1', '/data/t', true],
  ['file:///data/%2e%2e/etc/passwd', '/data', false],
  ['file:///data/%2E./etc/passwd', '/data', false],
  ['file:///data/..%2fetc/passwd', '/data', false],
  ['file://host/data/t', '/data', false],
  ['/data/a\u0000b', '/data', false],
  ['/data/t/v1', 's3://data', false],
  ['data/t/v1', '/data', false],
  ['http://lake/db/v1', 's3://lake', false],
  ['s3:///db/v1', 's3://lake', false],
  ['', '/data', false],
])('%s below %s: %p', (location, root, expected) => {
  expect(below(location, root)).toBe(expected)
})

test('the longest root wins, and a root that is none covers nothing', () => {
  expect(rootMatchLength('s3://lake/db/t/v1', ['s3://lake', 's3://lake/db'])).toBe('s3://lake/db'.length)
  expect(rootMatchLength('s3://lake/db/t/v1', ['', '..', 'ftp://x', '/'])).toBe(0)
})
