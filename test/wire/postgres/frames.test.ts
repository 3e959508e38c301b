/** Client messages in any split and any number per chunk, and hostile lengths and counts. */

import { describe, expect, test } from 'bun:test'
import { ProtocolViolation } from '../../../src/wire/postgres/byte-reader.ts'
import { type Frame, FrameReader, passwordBytesMax } from '../../../src/wire/postgres/frame-reader.ts'
import { type FrontendMessage, formatAt } from '../../../src/wire/postgres/frontend-messages.ts'
import { frontend } from '../../../src/wire/postgres/protocol.ts'
import { readOptions, readStartupPacket } from '../../../src/wire/postgres/startup-packet.ts'
import { queryFrames } from '../../support/wire-messages.ts'
import { conversation, readAll, readStartup } from './conversation.ts'

const parse = (text: string, parameterOids: number[]): FrontendMessage => ({
  kind: 'parse',
  statement: '',
  text,
  parameterOids,
})
const expected: FrontendMessage[] = [
  { kind: 'query', text: 'select 1' },
  parse('select $1', [23, 0]),
  { kind: 'describe', target: 'statement', name: '' },
  { kind: 'sync' },
  parse('select $1, $2', [23]),
  {
    kind: 'bind',
    portal: '',
    statement: '',
    parameterFormats: [1, 0],
    parameters: [Uint8Array.of(0, 0, 0, 7), null],
    resultFormats: [1],
  },
  { kind: 'describe', target: 'portal', name: '' },
  { kind: 'execute', portal: '', rowsMax: 0 },
  { kind: 'sync' },
  { kind: 'close', target: 'statement', name: 's1' },
  { kind: 'flush' },
  { kind: 'copy' },
  { kind: 'terminate' },
]

/** Bytes with a type and a length that are whatever the test says. */
function claim(type: number, length: number, ...body: number[]): Uint8Array {
  const bytes = Buffer.alloc(5)
  bytes[0] = type
  bytes.writeInt32BE(length, 1)
  return Buffer.concat([bytes, Uint8Array.from(body)])
}

describe('messages of a client', () => {
  test('are read alike in one chunk', () => {
    expect(readAll([conversation])).toEqual(expected)
  })

  test('are read alike at every split in two', () => {
    for (let at = 0; at <= conversation.length; at++)
      expect(readAll([conversation.subarray(0, at), conversation.subarray(at)])).toEqual(expected)
  })

  test('are read alike byte by byte', () => {
    expect(readAll([...conversation].map((byte) => Uint8Array.of(byte)))).toEqual(expected)
  })

  test.each([
    ['an unknown type', claim(0x7a, 4)],
    ['a length below its own', claim(frontend.query, 3)],
    ['a negative length', claim(frontend.query, -1)],
    ['a Query of 2 GiB', claim(frontend.query, 2 ** 31 - 1)],
    ['a Sync with a body', claim(frontend.sync, 5, 0)],
    ['a Query without its zero byte', claim(frontend.query, 5, 0x61)],
    ['a Query with more behind its zero byte', claim(frontend.query, 6, 0, 0)],
    ['a Parse of 65,535 parameter types that are not there', claim(frontend.parse, 8, 0, 0, 0xff, 0xff)],
    ['a Bind of 65,535 parameters that are not there', claim(frontend.bind, 10, 0, 0, 0, 0, 0xff, 0xff)],
    ['a Bind with a format code of 2', claim(frontend.bind, 10, 0, 0, 0, 1, 0, 2)],
    ['a parameter of length -2', claim(frontend.bind, 14, 0, 0, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe)],
    [
      'a parameter longer than its message',
      claim(frontend.bind, 14, 0, 0, 0, 0, 0, 1, 0x7f, 0xff, 0xff, 0xff),
    ],
    ['a Describe of neither statement nor portal', claim(frontend.describe, 6, 0x58, 0)],
    ['an Execute without its row count', claim(frontend.execute, 5, 0)],
  ])('%s breaks the protocol', (_, bytes) => {
    expect(() => readAll([bytes])).toThrow(ProtocolViolation)
  })

  test('are seen before they are taken, and stay', () => {
    const whole = (frame: Frame) => [frame.type, Buffer.from(frame.body).toString('hex')]
    for (let at = 0; at <= conversation.length; at++) {
      const reader = new FrameReader()
      reader.phase = 'session'
      reader.push(conversation.subarray(0, at))
      const seen = [...reader.waiting()].map(whole)
      const taken = []
      for (let frame = reader.next(); frame !== undefined; frame = reader.next()) taken.push(whole(frame))
      expect(seen).toEqual(taken)
    }
  })

  test('what is kept grows with what arrives, not with what a length claims', () => {
    const reader = new FrameReader()
    reader.phase = 'session'
    reader.push(claim(frontend.bind, 8_000_000))
    expect(reader.next()).toBeUndefined()
    expect(reader.pendingBytes).toBe(5)
  })

  test('a password is the only message before the client is let in, of at most 65,535 bytes', () => {
    expect(() => readAll([queryFrames('select 1')], 'authentication')).toThrow(ProtocolViolation)
    const reader = new FrameReader()
    reader.phase = 'authentication'
    reader.push(
      Buffer.concat([claim(frontend.password, passwordBytesMax), Buffer.alloc(passwordBytesMax - 4)]),
    )
    expect(reader.next()?.body).toHaveLength(passwordBytesMax - 4)
    expect(() => readAll([claim(frontend.password, passwordBytesMax + 1)], 'authentication')).toThrow(
      ProtocolViolation,
    )
  })

  test('one format stands for all, and none for text', () => {
    expect([formatAt([], 3), formatAt([1], 3), formatAt([0, 1], 1)]).toEqual([0, 1, 1])
  })
})

/** A start-up packet with its length. */
function packet(version: number, body: string | Uint8Array): Uint8Array {
  const bytes = Buffer.concat([Buffer.alloc(8), typeof body === 'string' ? Buffer.from(body) : body])
  bytes.writeInt32BE(bytes.length)
  bytes.writeInt32BE(version, 4)
  return bytes
}

describe('start-up packets', () => {
  test('are read at every split', () => {
    const bytes = packet(0x3_0002, 'user\0ada\0_pq_.x\0on\0database\0main\0\0')
    for (let at = 0; at <= bytes.length; at++) {
      const reader = new FrameReader()
      reader.push(bytes.subarray(0, at))
      reader.next()
      if (at === bytes.length) break
      reader.push(bytes.subarray(at))
      const frame = reader.next()
      expect(readStartupPacket(frame?.body ?? new Uint8Array())).toEqual({
        kind: 'startup',
        minor: 2,
        protocolOptions: ['_pq_.x'],
        parameters: new Map([
          ['user', 'ada'],
          ['database', 'main'],
        ]),
      })
    }
  })

  test('ask for encryption, or to cancel with a key of 4 to 256 bytes', () => {
    expect(readStartup(packet(80_877_103, ''))).toEqual({ kind: 'ssl' })
    expect(readStartup(packet(80_877_104, ''))).toEqual({ kind: 'gss_encryption' })
    expect(readStartup(packet(80_877_102, Uint8Array.of(0, 0, 0, 9, 1, 2, 3, 4)))).toEqual({
      kind: 'cancel',
      processId: 9,
      key: Uint8Array.of(1, 2, 3, 4),
    })
    for (const length of [3, 257])
      expect(() => readStartup(packet(80_877_102, new Uint8Array(4 + length)))).toThrow(ProtocolViolation)
  })

  test('of another major version are told apart', () => {
    expect(readStartup(packet(0x2_0000, ''))).toEqual({ kind: 'unsupported', major: 2, minor: 0 })
  })

  test.each([
    ['longer than 10,000 bytes', claim(0, 0).map((_, index) => [0, 0, 0x27, 0x11][index] ?? 0)],
    ['shorter than a version', Uint8Array.of(0, 0, 0, 7)],
    ['of a negative length', Uint8Array.of(0xff, 0xff, 0xff, 0xff)],
    ['that is HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['without its last zero byte', packet(0x3_0000, 'user\0ada\0')],
    ['with more behind its last zero byte', packet(0x3_0000, 'user\0ada\0\0x')],
  ])('%s break the protocol', (_, bytes) => {
    expect(() => readStartup(bytes)).toThrow(ProtocolViolation)
  })

  test('carry settings in `options`', () => {
    expect(readOptions('-c a=1 -cb=2 --c-d=3 -c e=x\\ y\\\\')).toEqual([
      ['a', '1'],
      ['b', '2'],
      ['c_d', '3'],
      ['e', 'x y\\'],
    ])
    for (const text of ['-d 5', '-c', '-c a', 'a=1'])
      expect(() => readOptions(text)).toThrow(ProtocolViolation)
  })
})
