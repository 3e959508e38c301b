/** The spooling protocol: segments inside a reply, at the coordinator and in storage. */

import { expect, test } from 'bun:test'
import { zstdCompressSync } from 'node:zlib'
import { limits } from '../../../src/limits.ts'
import { eventually } from '../../support/eventually.ts'
import {
  answer,
  ask,
  bigintColumn,
  failureOf,
  finished,
  type ScriptedTrino,
  scriptTrino,
} from './scripted-trino.ts'

interface Served {
  readonly bytes: Uint8Array
  readonly metadata: Readonly<Record<string, number>>
}

function plain(...values: number[]): Served {
  const bytes = Buffer.from(JSON.stringify(values.map((value) => [value])))
  return { bytes, metadata: { rowOffset: 0, rowsCount: values.length, segmentSize: bytes.length } }
}

function zstd(...values: number[]): Served {
  const { bytes, metadata } = plain(...values)
  const compressed = zstdCompressSync(bytes)
  return {
    bytes: compressed,
    metadata: { ...metadata, segmentSize: compressed.length, uncompressedSize: bytes.length },
  }
}

const inline = ({ bytes, metadata }: Served) => ({
  type: 'inline',
  data: Buffer.from(bytes).toString('base64'),
  metadata,
})
const spooled = ({ metadata }: Served, base: string, name: string, headers?: object) => ({
  type: 'spooled',
  uri: `${base}/spooled/${name}?token=1`,
  ackUri: `${base}/spooled/ack/${name}?token=2`,
  metadata,
  ...(headers && { headers }),
})
const data = (encoding: string, ...segments: object[]) =>
  answer({ columns: [bigintColumn], data: { encoding, metadata: {}, segments } })

/** One answer with segments, then the end; `files` are served below /spooled/. */
function spooling(
  encoding: string,
  segments: (trino: ScriptedTrino) => object[],
  files: Readonly<Record<string, Served>> = {},
): ScriptedTrino {
  return scriptTrino(
    [
      (trino) => answer({ nextUri: trino.next(1) }),
      (trino) => ({ ...data(encoding, ...segments(trino)), nextUri: trino.next(2) }),
      finished,
    ],
    (request) => {
      const file = files[new URL(request.url).pathname.replace('/spooled/', '')]
      return file === undefined ? new Response('', { status: 404 }) : new Response(file.bytes)
    },
  )
}

test.each(['json', 'json+zstd'])('reads inline and spooled segments of %s in order', async (encoding) => {
  const make = encoding === 'json' ? plain : zstd
  const file = make(2, 3)
  await using trino = spooling(
    encoding,
    ({ url }) => [inline(make(1)), spooled(file, url, 'a'), inline(make(4))],
    { a: file },
  )
  expect((await ask(trino.url)).rows).toEqual([['1'], ['2'], ['3'], ['4']])
})

test('a small segment of json+zstd may stand uncompressed', async () => {
  await using trino = spooling('json+zstd', () => [inline(plain(1))])
  expect((await ask(trino.url)).rows).toEqual([['1']])
})

test('acknowledges a segment that was read', async () => {
  const file = plain(1)
  await using trino = spooling('json', ({ url }) => [spooled(file, url, 'a')], { a: file })
  await ask(trino.url)
  await eventually(async () => trino.seen.some(({ path }) => path === '/spooled/ack/a'))
})

test('storage gets the headers of the segment, and no credentials of the coordinator', async () => {
  const file = plain(1)
  await using storage = scriptTrino([], () => new Response(file.bytes))
  const headers = { 'x-amz-server-side-encryption-customer-key': ['secret'] }
  await using trino = spooling('json', () => [spooled(file, storage.url, 'a', headers)])
  const config = { 'trino.segment-origins': `https://other.example, ${storage.url}` }
  expect((await ask(trino.url, { config })).rows).toEqual([['1']])
  const [request] = storage.seen
  expect(request?.headers.get('x-amz-server-side-encryption-customer-key')).toBe('secret')
  for (const name of ['authorization', 'x-trino-user']) expect(request?.headers.has(name)).toBe(false)
})

test('storage that is not allowed is not asked', async () => {
  const file = plain(1)
  await using storage = scriptTrino([], () => new Response(file.bytes))
  await using trino = spooling('json', () => [spooled(file, storage.url, 'a')])
  expect(await failureOf(ask(trino.url))).toMatchObject({ code: '08006' })
  expect(storage.seen).toEqual([])
})

const one = plain(1)
const packed = zstd(1)
const refused: readonly (readonly [string, string, object])[] = [
  ['an encoding that was not offered', 'json+lz4', inline(one)],
  ['an encoding of no name', '', inline(one)],
  ['fewer rows than told', 'json', inline({ ...one, metadata: { ...one.metadata, rowsCount: 2 } })],
  ['more rows than told', 'json', inline({ ...one, metadata: { ...one.metadata, rowsCount: 0 } })],
  ['another length than told', 'json', inline({ ...one, metadata: { ...one.metadata, segmentSize: 9 } })],
  ['no length', 'json', inline({ ...one, metadata: { rowsCount: 1 } })],
  ['no metadata', 'json', { type: 'inline', data: '' }],
  ['an unknown kind', 'json', { ...inline(one), type: 'remote' }],
  [
    'bytes that are not compressed',
    'json+zstd',
    inline({ ...one, metadata: { ...one.metadata, uncompressedSize: 5 } }),
  ],
  [
    'more than it was said to hold',
    'json+zstd',
    inline({ ...packed, metadata: { ...packed.metadata, uncompressedSize: 3 } }),
  ],
  [
    'less than it was said to hold',
    'json+zstd',
    inline({ ...packed, metadata: { ...packed.metadata, uncompressedSize: 99 } }),
  ],
  [
    'a size above the bound',
    'json+zstd',
    inline({ ...packed, metadata: { ...packed.metadata, uncompressedSize: limits.trinoAnswerBytesMax + 1 } }),
  ],
  [
    'a header that would be another',
    'json',
    { ...inline(one), type: 'spooled', uri: 'http://x/', ackUri: 'http://x/', headers: { a: ['b\r\nc: d'] } },
  ],
  [
    'a header that names the host',
    'json',
    { ...inline(one), type: 'spooled', uri: 'http://x/', ackUri: 'http://x/', headers: { Host: ['x'] } },
  ],
]

test.each(refused)('a segment with %s is an error, never rows', async (_, encoding, segment) => {
  await using trino = spooling(encoding, () => [segment])
  expect(await failureOf(ask(trino.url))).toMatchObject({ code: '08006' })
})

test('a spooled segment that is gone, or cut short, is an error', async () => {
  for (const files of [{}, { a: { ...one, bytes: one.bytes.slice(1) } }]) {
    await using trino = spooling('json', ({ url }) => [spooled(one, url, 'a')], files)
    expect(await failureOf(ask(trino.url))).toMatchObject({ code: '08006' })
  }
})
