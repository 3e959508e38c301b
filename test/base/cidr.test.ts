/** CIDR notation: which texts are ranges and which are not. */

import { expect, test } from 'bun:test'
import { parseCidr } from '../../src/base/cidr.ts'

test.each([
  ['10.0.0.0/8', 'ipv4', '10.0.0.0', 8],
  ['192.0.2.7', 'ipv4', '192.0.2.7', 32],
  ['::/0', 'ipv6', '::', 0],
  ['fd00::/8', 'ipv6', 'fd00::', 8],
  ['::ffff:10.0.0.1', 'ipv6', '::ffff:10.0.0.1', 128],
] as const)('%s is a range', (text, family, address, prefixLength) => {
  expect(parseCidr(text)).toEqual({ family, address, prefixLength })
})

test.each([
  '',
  '/8',
  '10.0.0/8',
  '10.0.0.0/33',
  '10.0.0.0/-1',
  '10.0.0.0/08',
  '10.0.0.0/8/8',
  '10.0.0.0/',
  '010.0.0.1',
  '::/129',
  'fe80::1%eth0',
  'host',
])('%p is not', (text) => {
  expect(parseCidr(text)).toBeUndefined()
})
