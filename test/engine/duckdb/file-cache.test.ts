/** The file cache over an S3 endpoint fetches a file once, holds whole files only, and never exceeds its size. */

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { IcebergWriter } from '../../../demo/lake/iceberg-writer.ts'
import { FileCache, type ReadScope } from '../../../src/engine/duckdb/file-cache.ts'
import { columns, failure, rowsOf, runBy, snapshotOf, startTestEngine, tenant } from '../../support/engine.ts'

const objects = new Map<string, Uint8Array>()
const asked: string[] = []
/** Answers for such files are held back while it is set. */
let holding:
  | {
      readonly suffix: string
      readonly reached: PromiseWithResolvers<void>
      readonly go: PromiseWithResolvers<void>
    }
  | undefined
const hold = (suffix: string) => {
  holding = { suffix, reached: Promise.withResolvers(), go: Promise.withResolvers() }
  return holding
}
let server: Bun.Server<undefined>
beforeAll(() => {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const path = decodeURIComponent(new URL(request.url).pathname).slice(1)
      const object = objects.get(path)
      if (object === undefined) return new Response('<Code>NoSuchKey</Code>', { status: 404 })
      if (request.method === 'HEAD') return new Response(object)
      asked.push(path)
      if (holding !== undefined && path.endsWith(holding.suffix)) {
        holding.reached.resolve()
        await holding.go.promise
      }
      const [, from = '0', to = '0'] = /bytes=(\d+)-(\d+)/.exec(request.headers.get('range') ?? '') ?? []
      return new Response(object.slice(Number(from), Number(to) + 1), { status: 206 })
    },
  })
})
afterAll(() => server.stop(true))
const folders: string[] = []
afterEach(() => {
  asked.length = 0
  holding = undefined
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const scope = (key: string): ReadScope => ({
  key,
  access: {
    roots: ['s3://lake/t'],
    s3: {
      endpoint: server.url.origin,
      region: 'eu-central-1',
      accessKeyId: 'KEY',
      secretAccessKey: 'secret',
      sessionToken: undefined,
      virtualHosted: false,
    },
  },
})
const dropped: string[] = []
async function cacheOf(bytesMax: number): Promise<FileCache> {
  const folder = mkdtempSync(join(tmpdir(), 'cache-'))
  folders.push(folder)
  dropped.length = 0
  return FileCache.open(join(folder, 'files'), bytesMax, (path) => dropped.push(path))
}
function put(name: string, size: number) {
  objects.set(`lake/t/${name}`, new Uint8Array(size).fill(name.charCodeAt(0)))
  return { location: `s3://lake/t/${name}`, sizeBytes: size }
}
const never = new AbortController().signal

test('a file is fetched once for all who want it, and kept', async () => {
  const cache = await cacheOf(1_000)
  const file = put('a', 100)
  const pins = await Promise.all([1, 2, 3].map(() => cache.pin(scope('x'), file, never)))
  expect(new Set(pins.map(({ path }) => path)).size).toBe(1)
  expect(readFileSync(pins[0]?.path ?? '', 'latin1')).toBe('a'.repeat(100))
  expect(statSync(pins[0]?.path ?? '').mode & 0o222).toBe(0)
  for (const pin of pins) pin.release()
  ;(await cache.pin(scope('x'), file, never)).release()
  expect(asked).toEqual(['lake/t/a'])
  expect(cache.bytes).toBe(100)
})

test('two scopes never share a file', async () => {
  const cache = await cacheOf(1_000)
  const file = put('a', 100)
  const [one, other] = [await cache.pin(scope('x'), file, never), await cache.pin(scope('y'), file, never)]
  expect(one.path).not.toBe(other.path)
  expect(asked).toHaveLength(2)
})

test('the least recently used files make room, those in use never', async () => {
  const cache = await cacheOf(250)
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => put(name, 100))
  if (!a || !b || !c || !d) throw new Error('four files')
  const pinned = await cache.pin(scope('x'), a, never)
  const second = await cache.pin(scope('x'), b, never)
  second.release()
  const third = await cache.pin(scope('x'), c, never)
  expect(dropped).toEqual([second.path])
  expect((await failure(cache.pin(scope('x'), d, never))).code).toBe('53000')
  expect(readFileSync(pinned.path).length + readFileSync(third.path).length).toBe(200)
  expect(cache.bytes).toBe(200)
})

test('a file of another length than its manifest says is not kept', async () => {
  const cache = await cacheOf(1_000)
  const file = put('a', 100)
  expect((await failure(cache.pin(scope('x'), { ...file, sizeBytes: 99 }, never))).message).toContain(
    'not as long',
  )
  expect(cache.bytes).toBe(0)
  expect(readdirSync(cache.folder)).toEqual([])
})

test('who is cancelled leaves at once; the file still comes for the others', async () => {
  const cache = await cacheOf(1_000)
  const file = put('a', 100)
  const held = hold('a')
  const controller = new AbortController()
  const [leaving, staying] = [
    cache.pin(scope('x'), file, controller.signal),
    cache.pin(scope('x'), file, never),
  ]
  const left = failure(leaving)
  controller.abort(new Error('gone'))
  expect((await left).message).toBe('gone')
  held.go.resolve()
  expect(readFileSync((await staying).path).length).toBe(100)
})

test('a fetch that nobody waits for is given up, and may be asked for again', async () => {
  const cache = await cacheOf(1_000)
  const file = put('a', 100)
  const held = hold('a')
  const controller = new AbortController()
  const left = failure(cache.pin(scope('x'), file, controller.signal))
  controller.abort(new Error('gone'))
  expect((await left).message).toBe('gone')
  expect(cache.bytes).toBe(0)
  held.go.resolve()
  holding = undefined
  expect(readFileSync((await cache.pin(scope('x'), file, never)).path).length).toBe(100)
})

test('a failed fetch is not remembered', async () => {
  const cache = await cacheOf(1_000)
  const file = put('a', 100)
  objects.delete('lake/t/a')
  expect((await failure(cache.pin(scope('x'), file, never))).message).toBe('a file is not there')
  put('a', 100)
  expect((await cache.pin(scope('x'), file, never)).path).toContain(cache.folder)
})

test('a table on S3 is read, its files once', async () => {
  const engine = await startTestEngine()
  const writer = new IcebergWriter({
    fields: [{ id: 1, name: 'id', type: 'long' }],
    location: 's3://lake/t/s3 table',
    put: (location, bytes) => {
      objects.set(location.slice('s3://'.length), bytes)
    },
  })
  await writer.append([{ rows: [{ id: 1 }, { id: 2 }] }, { rows: [{ id: 3 }] }])
  const reader = engine.host.engine({ tenant, ...scope('s3') })
  const sum = () =>
    rowsOf(reader, snapshotOf(writer), 'SELECT sum(id)::BIGINT FROM {} AS b', columns('s int8'))
  expect(await sum()).toEqual([[6n]])
  expect(await sum()).toEqual([[6n]])
  expect(asked.filter((path) => path.endsWith('.parquet'))).toHaveLength(2)
  // The metadata, too: it never changes.
  expect(asked.filter((path) => path.endsWith('.metadata.json'))).toHaveLength(1)
  await engine.close()
})

test.each(['.metadata.json', '.avro', '.parquet', '.puffin'])(
  'a query that waits for a %s of storage is cancelled at once',
  async (suffix) => {
    const engine = await startTestEngine()
    const writer = new IcebergWriter({
      fields: [{ id: 1, name: 'id', type: 'long' }],
      location: `s3://lake/t/slow${suffix}`,
      formatVersion: 3,
      put: (location, bytes) => {
        objects.set(location.slice('s3://'.length), bytes)
      },
    })
    const { files } = await writer.append([{ rows: [{ id: 1 }] }])
    await writer.delete({ kind: 'vector', dataFile: files[0] ?? '', positions: [0] })
    const reader = engine.host.engine({ tenant, ...scope('slow') })
    const controller = new AbortController()
    const held = hold(suffix)
    const pending = failure(reader.open([snapshotOf(writer)], runBy(tenant, controller.signal)))
    await held.reached.promise
    controller.abort()
    expect((await pending).code).toBe('57014')
    expect(engine.host.load().running).toBe(0)
    held.go.resolve()
    await engine.close()
  },
)
