/**
 * Credentials that end in the middle of a long write, by Spark, PyIceberg and Trino, against moto with its IAM enforced:
 * which clients go on with others, and that nothing is committed by the rest (docs/credentials.md).
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect, createServer, type Socket } from 'node:net'
import { type Lake, type LakeClient, startLake } from './lake.ts'
import { startTrino, type TrinoServer, trinoSql } from './trino-server.ts'

/** Seconds that credentials live at the storage. */
const roleSeconds = 20
const pauseMs = (roleSeconds + 5) * 1000

let lake: Lake
let python: LakeClient
let spark: LakeClient
let trino: TrinoServer
let slow: SlowStorage
const stack = new AsyncDisposableStack()

interface SlowStorage extends AsyncDisposable {
  readonly url: string
  /** Files whose upload was held back. */
  readonly held: string[]
}

/** Before the storage: an upload of a data file of `slow_s3` goes on when the credentials that signed it have ended. */
async function startSlowStorage(far: URL): Promise<SlowStorage> {
  const held: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const onward = connect(Number(far.port), far.hostname)
    for (const socket of [near, onward]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => near.destroy() && onward.destroy() && sockets.delete(socket))
    }
    onward.pipe(near)
    near.on('data', (chunk) => {
      const upload = /^PUT \/lake\/wh\/slow_s3\/data\/(\S+)/m.exec(chunk.toString('latin1'))?.[1]
      if (upload === undefined) return void onward.write(chunk)
      held.push(upload)
      near.pause()
      setTimeout(() => {
        onward.write(chunk)
        near.resume()
      }, pauseMs)
    })
  })
  const listening = Promise.withResolvers<void>()
  server.on('error', listening.reject)
  server.listen(0, '127.0.0.1', () => listening.resolve())
  await listening.promise
  return {
    url: `http://127.0.0.1:${(server.address() as { readonly port: number }).port}`,
    held,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

beforeAll(async () => {
  lake = stack.use(await startLake('vend', { roleSeconds }))
  slow = stack.use(await startSlowStorage(new URL(lake.storage.url)))
  const writer = await lake.logIn('writer', ['commit'])
  python = lake.python('vending-ended-python', writer)
  spark = await lake.spark('vending-ended-spark', { covenant: writer }, 500)
  const properties = lake.trinoCatalog(writer)
  trino = stack.use(
    await startTrino({
      catalogs: { covenant: properties, slow: { ...properties, 's3.endpoint': slow.url } },
    }),
  )
}, 300_000)
afterAll(() => stack.disposeAsync())

const create = async (name: string) =>
  await spark.run(
    `CREATE TABLE covenant.sales.${name}_s3 (id BIGINT NOT NULL, note STRING) USING iceberg LOCATION '${lake.place(name)}'`,
  )

test('vending-ended: one write of spark that outlasts its credentials is given others, and is committed', async () => {
  await create('late')
  // Spark's clock is its own: each task sleeps between opening its file and closing it.
  await spark.run(
    `INSERT INTO covenant.sales.late_s3 SELECT id, CAST(reflect('java.lang.Thread', 'sleep', ${pauseMs}L) AS STRING) FROM range(0, 1, 1, 1)`,
  )
  expect(await spark.run('SELECT id FROM covenant.sales.late_s3')).toEqual([[0]])
}, 200_000)

test('vending-ended: a write of pyiceberg that outlasts its credentials fails, and goes again with a loaded table', async () => {
  await create('early')
  await python.run(['load', { name: 'sales.early_s3' }])
  const location = `${lake.place('early')}/data/slow.bin`
  const seconds = pauseMs / 1000
  const { message } = await python.ask(['put_slowly', { name: 'sales.early_s3', location, seconds }])
  expect(message).toMatch(/ACCESS_DENIED|AccessDenied|403/i)
  const append = ['append', { name: 'sales.early_s3', at: 1, note: 'again' }]
  expect((await python.ask(append)).message).toMatch(/ACCESS_DENIED|AccessDenied|403/i)
  await python.run(['load', { name: 'sales.early_s3' }])
  expect(await python.run(['read', { name: 'sales.early_s3' }])).toEqual([])
  await python.run(append)
  expect(await python.run(['read', { name: 'sales.early_s3' }])).toEqual([[1, 'again']])
}, 200_000)

test('vending-ended: a write of trino that outlasts its credentials fails, and commits nothing', async () => {
  await trinoSql(
    trino.url,
    `CREATE TABLE covenant.sales.slow_s3 (id BIGINT, note VARCHAR) WITH (location = '${lake.place('slow')}')`,
  )
  const insert = `INSERT INTO slow.sales.slow_s3 VALUES (1, 'late')`
  const outcome = await trinoSql(trino.url, insert).then(
    () => 'done',
    (thrown: Error) => thrown.message,
  )
  expect(slow.held).not.toEqual([])
  expect(outcome).not.toBe('done')
  expect(await trinoSql(trino.url, 'SELECT count(*) FROM covenant.sales.slow_s3')).toEqual([[0]])
}, 300_000)
