/** Which name somebody may have meant. */

import { expect, test } from 'bun:test'
import { nearestName } from '../../src/base/nearest-name.ts'

test.each([
  ['colum', ['table', 'column', 'limit'], 'column'],
  ['limits', ['table', 'column', 'limit'], 'limit'],
  ['x', ['table', 'column'], undefined],
  ['anything', [], undefined],
])('%s among %j means %s', (written, names, meant) => {
  expect(nearestName(written, names)).toBe(meant as never)
})
