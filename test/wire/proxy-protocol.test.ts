/** The PROXY protocol header: both versions, at every split point, hostile ones, and random bytes. */

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type ProxyHeader, ProxyHeaderError, ProxyHeaderReader } from '../../src/wire/proxy-protocol.ts'
import { binaryHeader, ipv4Header, ipv6Header, proxySignature, textHeader } from '../support/proxy-headers.ts'

const none = new Uint8Array()
const behind = Buffer.from('\0\0\0\x08\x04\xd2\x16\x2f and more', 'latin1')

/** Reads pieces one after another. @returns the header, with the bytes behind it of all pieces */
function read(...pieces: readonly Uint8Array[]): ProxyHeader | undefined {
  const reader = new ProxyHeaderReader()
  for (const [index, piece] of pieces.entries()) {
    const header = reader.push(piece)
    if (header !== undefined)
      return { ...header, rest: Buffer.concat([header.rest, ...pieces.slice(index + 1)]) }
  }
  return undefined
}

const refusal = (bytes: Uint8Array) => {
  try {
    return read(bytes) === undefined ? 'waits' : 'taken'
  } catch (error) {
    if (error instanceof ProxyHeaderError) return error.message
    throw error
  }
}

const tls = Buffer.from([0x20, 0x00, 0x02, 0x01, 0x02])
const headers: [name: string, header: Buffer, address: string | undefined][] = [
  ['version 1, IPv4', textHeader('203.0.113.7'), '203.0.113.7'],
  ['version 1, IPv6', textHeader('2001:DB8:0::7'), '2001:db8::7'],
  ['version 1, IPv4 mapped to IPv6', textHeader('::ffff:203.0.113.7'), '203.0.113.7'],
  [
    'version 1, the longest',
    textHeader('1111:2222:3333:4444:5555:6666:7777:8888'),
    '1111:2222:3333:4444:5555:6666:7777:8888',
  ],
  ['version 1 of an unknown client', Buffer.from('PROXY UNKNOWN\r\n'), undefined],
  [
    'version 1 of an unknown client with addresses',
    Buffer.from('PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n'),
    undefined,
  ],
  ['version 2, IPv4', ipv4Header('203.0.113.7'), '203.0.113.7'],
  ['version 2, IPv4 with extensions', ipv4Header('203.0.113.7', Buffer.concat([tls, tls])), '203.0.113.7'],
  ['version 2, IPv6', ipv6Header('20010db8000000000000000000000007'), '2001:db8::7'],
  ['version 2, IPv4 mapped to IPv6', ipv6Header('00000000000000000000ffffcb007107'), '203.0.113.7'],
  ['version 2 of a health check', binaryHeader(0x20, 0x00, none), undefined],
  ['version 2 of a health check with addresses', binaryHeader(0x20, 0x11, Buffer.alloc(12)), undefined],
  ['version 2 without a family', binaryHeader(0x21, 0x00, tls), undefined],
  ['version 2 of a Unix socket', binaryHeader(0x21, 0x31, Buffer.alloc(216)), undefined],
]

describe('a header', () => {
  test.each(headers)('of %s names its client, wherever its bytes are split', (_, header, address) => {
    const bytes = Buffer.concat([header, behind])
    for (let at = 0; at <= bytes.length; at++)
      expect(read(bytes.subarray(0, at), bytes.subarray(at))).toEqual({ address, rest: behind })
    expect(read(...[...bytes].map((byte) => Uint8Array.of(byte)))).toEqual({ address, rest: behind })
    for (let at = 0; at < header.length; at++) expect(read(header.subarray(0, at))).toBeUndefined()
  })

  test('may have extensions of 64 KiB, which are not held', () => {
    const header = ipv4Header('203.0.113.7', new Uint8Array(65_523))
    expect(header).toHaveLength(16 + 65_535)
    const pieces = Array.from({ length: header.length }, (_, at) => header.subarray(at, at + 1))
    expect(read(...pieces, behind)).toEqual({ address: '203.0.113.7', rest: behind })
  })
})

describe('a connection is refused', () => {
  const text = (line: string) => Buffer.from(line, 'latin1')
  const one = 'the header of version 1 is malformed'
  const absent = 'the connection does not begin with a PROXY protocol header'
  const refused: [name: string, bytes: Uint8Array, message: string][] = [
    ['that begins with a start-up packet', Buffer.from('0000000804d2162f', 'hex'), absent],
    ['that begins with TLS', Buffer.from('160301', 'hex'), absent],
    ['with another letter case', text('proxy TCP4 1.2.3.4 1.2.3.4 1 2\r\n'), absent],
    ['with a signature that ends otherwise', Buffer.from('0d0a0d0a000d0a515549540d', 'hex'), absent],
    ['with a family that there is not', text('PROXY TCP5 1.2.3.4 1.2.3.4 1 2\r\n'), one],
    ['with UNKNOWN misspelt', text('PROXY UNKNOWNS\r\n'), one],
    ['with addresses of the other family', text('PROXY TCP4 ::1 ::1 1 2\r\n'), one],
    ['with IPv4 in a family of IPv6', text('PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n'), one],
    ['with octets above 255', text('PROXY TCP4 1.2.3.256 1.2.3.4 1 2\r\n'), one],
    ['with octets in octal', text('PROXY TCP4 1.2.3.010 1.2.3.4 1 2\r\n'), one],
    ['with a host name', text('PROXY TCP4 localhost 1.2.3.4 1 2\r\n'), one],
    ['with an IPv6 zone', text('PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n'), one],
    ['with a port above 65535', text('PROXY TCP4 1.2.3.4 1.2.3.4 65536 2\r\n'), one],
    ['with a port that is no number', text('PROXY TCP4 1.2.3.4 1.2.3.4 -1 2\r\n'), one],
    ['with two spaces', text('PROXY TCP4  1.2.3.4 1.2.3.4 1 2\r\n'), one],
    ['with a word too many', text('PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n'), one],
    ['with a zero byte', text('PROXY TCP4 1.2.3.4\0 1.2.3.4 1 2\r\n'), one],
    ['with an empty line', text('PROXY \r\n'), one],
    [
      'without an end of the line within 107 bytes',
      text(`PROXY UNKNOWN ${'x'.repeat(93)}`),
      'the header of version 1 is too long',
    ],
    [
      'with the end of the line too late',
      text(`PROXY UNKNOWN ${'x'.repeat(92)}\r\n`),
      'the header of version 1 is too long',
    ],
    [
      'of version 3',
      binaryHeader(0x31, 0x11, new Uint8Array(12)),
      'the header has an unknown version or command',
    ],
    [
      'with an unknown command',
      binaryHeader(0x22, 0x11, new Uint8Array(12)),
      'the header has an unknown version or command',
    ],
    ['of a datagram', binaryHeader(0x21, 0x12, new Uint8Array(12)), 'the header names no TCP connection'],
    [
      'of an unknown family',
      binaryHeader(0x21, 0x41, new Uint8Array(36)),
      'the header names no TCP connection',
    ],
    [
      'with less than an IPv4 address',
      binaryHeader(0x21, 0x11, new Uint8Array(11)),
      'the header of version 2 is too short',
    ],
    [
      'with less than an IPv6 address',
      binaryHeader(0x21, 0x21, new Uint8Array(35)),
      'the header of version 2 is too short',
    ],
  ]
  test.each(refused)('%s', (_, bytes, message) => {
    expect(refusal(bytes)).toBe(message)
  })
})

describe('random bytes', () => {
  const seed = 20_112_026
  const octet = fc.integer({ min: 0, max: 255 })
  const pieces = (bytes: Uint8Array, cuts: readonly number[]) => {
    const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
    return at.slice(1).map((end, index) => bytes.subarray(at[index], end))
  }
  const cuts = fc.array(fc.nat(), { maxLength: 6 })

  test('behind a header come out whole, however they are cut', () => {
    fc.assert(
      fc.property(
        fc.tuple(octet, octet, octet, octet),
        fc.uint8Array({ maxLength: 300 }),
        fc.uint8Array({ maxLength: 50 }),
        cuts,
        fc.boolean(),
        (octets, extensions, rest, cutAt, isText) => {
          const address = octets.join('.')
          const header = isText ? textHeader(address) : ipv4Header(address, extensions)
          const found = read(...pieces(Buffer.concat([header, rest]), cutAt))
          expect(found?.address).toBe(address)
          expect(Buffer.from(found?.rest ?? [])).toEqual(Buffer.from(rest))
        },
      ),
      { seed, numRuns: 500 },
    )
  })

  test('are taken alike however they are cut, and fail by the one error alone', () => {
    const prefix = fc.constantFrom(
      none,
      proxySignature,
      Buffer.from('PROXY '),
      Buffer.from('PROXY TCP4 '),
      Buffer.concat([proxySignature, Buffer.from([0x21, 0x11, 0])]),
    )
    const outcome = (parts: readonly Uint8Array[]) => {
      try {
        const header = read(...parts)
        return header === undefined
          ? 'waits'
          : `${header.address} ${Buffer.from(header.rest).toString('hex')}`
      } catch (error) {
        if (error instanceof ProxyHeaderError) return 'refused'
        throw error
      }
    }
    fc.assert(
      fc.property(prefix, fc.uint8Array({ maxLength: 400 }), cuts, (start, random, cutAt) => {
        const bytes = Buffer.concat([start, random])
        expect(outcome(pieces(bytes, cutAt))).toBe(outcome([bytes]))
      }),
      { seed, numRuns: 2_000 },
    )
  })
})
