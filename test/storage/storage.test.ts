/** S3 reads: ranges and errors, and the process's own credentials are never sent for a tenant. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openStorage } from '../../src/storage/storage.ts'

const content = Buffer.from('0123456789')
/** Bytes of the endless answer that were asked for. */
let endlessBytes = 0
const endless = () => {
  endlessBytes = 0
  return new ReadableStream({
    pull(controller) {
      const chunk = Buffer.from('<Error><Code>SlowDown</Code></Error>'.padEnd(64 * 1024))
      endlessBytes += chunk.length
      if (endlessBytes > 256 * 1024 * 1024) controller.close()
      else controller.enqueue(chunk)
    },
  })
}
const seen: { url: string; authorization: string; token: string | null; range: string | null }[] = []
let server: Bun.Server<undefined>
beforeAll(() => {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { headers } = request
      const range = headers.get('range')
      seen.push({
        url: new URL(request.url).pathname,
        authorization: headers.get('authorization') ?? '',
        token: headers.get('x-amz-security-token'),
        range,
      })
      if (request.url.includes('denied'))
        return new Response('<Error><Code>AccessDenied</Code></Error>', { status: 403 })
      if (request.url.includes('ended'))
        return new Response('<Error><Code>ExpiredToken</Code></Error>', { status: 400 })
      if (request.url.includes('none'))
        return new Response('<Error><Code>NoSuchKey</Code></Error>', { status: 404 })
      if (request.url.includes('endless')) return new Response(endless(), { status: 500 })
      if (request.url.includes('broken')) return new Response('oh', { status: 500 })
      const [, from, to] = /bytes=(\d+)-(\d+)/.exec(range ?? '') ?? []
      return from === undefined
        ? new Response(content)
        : new Response(content.subarray(Number(from), Number(to) + 1), { status: 206 })
    },
  })
})
afterAll(() => server.stop(true))

const storage = () =>
  openStorage({
    roots: ['s3://lake/t'],
    s3: {
      endpoint: server.url.origin,
      region: 'eu-central-1',
      accessKeyId: 'TENANTKEY',
      secretAccessKey: 'tenant',
      sessionToken: undefined,
      virtualHosted: false,
    },
  })

test('reads ranges and counts their bytes', async () => {
  const from = storage()
  const file = await from.open('s3://lake/t/a.parquet')
  expect(file.size).toBe(10)
  expect(Buffer.from(await file.read(2, 5)).toString()).toBe('234')
  expect(seen.at(-1)?.range).toBe('bytes=2-4')
  expect(from.bytesRead).toBe(3)
  expect(await file.read(5, 11).catch((thrown: Error) => thrown.message)).toContain('ends before')
})

test('a local file that is being opened while storage closes is closed, too', async () => {
  const from = openStorage({ roots: [new URL('.', import.meta.url).pathname], s3: undefined })
  const opening = from.open(import.meta.path).then(
    () => undefined,
    (thrown: Error) => thrown.message,
  )
  await from.close()
  expect(await opening).toBe('storage was closed')
})

test.each([
  ['none', 'a file is not there', false],
  ['denied', 'storage refused access', false],
  ['ended', 'storage refused access', true],
  ['broken', 'storage failed', true],
])('an object that is %s gives a reason', async (name, reason, passing) => {
  const thrown = await storage()
    .open(`s3://lake/t/${name}`)
    .then(
      () => undefined,
      (error: { reason: string; passing: boolean }) => error,
    )
  expect(thrown?.reason).toStartWith(reason)
  expect(thrown?.passing).toBe(passing)
})

test('an answer without end that says why is read in its beginning only', async () => {
  const failure = await storage()
    .open('s3://lake/t/endless')
    .catch((thrown: Error) => thrown)
  expect(failure).toMatchObject({ reason: 'storage failed (SlowDown)', passing: true })
  expect(endlessBytes).toBeLessThan(128 * 1024 * 1024)
})

test("sends the tenant's credentials only, whatever the environment holds", async () => {
  seen.length = 0
  const ambient = {
    key: 'AMBIENTKEY',
    secret: 'ambient',
    token: 'ambient-token',
    endpoint: 'http://127.0.0.1:9',
  }
  const child = Bun.spawn(
    [
      process.execPath,
      new URL('../detection/fixtures/read-s3.ts', import.meta.url).pathname,
      server.url.origin,
    ],
    {
      env: {
        ...process.env,
        ...Object.fromEntries(
          ['AWS', 'S3'].flatMap((prefix) => [
            [`${prefix}_ACCESS_KEY_ID`, ambient.key],
            [`${prefix}_SECRET_ACCESS_KEY`, ambient.secret],
            [`${prefix}_SESSION_TOKEN`, ambient.token],
            [`${prefix}_ENDPOINT`, ambient.endpoint],
          ]),
        ),
      },
      stdout: 'pipe',
    },
  )
  const text = await child.stdout.text()
  expect(text.split('\n').slice(0, 2)).toEqual([
    '0123456789',
    'the catalog credential holds no storage credentials (s3.access-key-id, s3.secret-access-key)',
  ])
  expect(seen.length).toBeGreaterThan(0)
  for (const { authorization, token, url } of seen) {
    expect(authorization).toContain('Credential=TENANTKEY/')
    expect([token ?? '', url]).toEqual(['', '/lake/t/v1.metadata.json'])
  }
})
