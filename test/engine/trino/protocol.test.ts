/** The client protocol against a scripted server, which mostly violates Trino's protocol. */

import { expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { limits } from '../../../src/limits.ts'
import { eventually } from '../../support/eventually.ts'
import {
  answer,
  ask,
  bigintColumn,
  failureOf,
  finished,
  openSession,
  type Step,
  scriptTrino,
} from './scripted-trino.ts'

const rows = (...values: unknown[]) => ({ columns: [bigintColumn], data: values.map((value) => [value]) })
const raw = (body: ConstructorParameters<typeof Response>[0], headers: Record<string, string> = {}) =>
  new Response(body, { headers: { 'content-type': 'application/json', ...headers } })

/** Answers 0 to n - 1 point to the next one; the last stands as it is. */
function chain(...answers: Readonly<Record<string, unknown>>[]): Step[] {
  return answers.map(
    (each, index) => (trino) =>
      index === answers.length - 1 ? each : { ...each, nextUri: trino.next(index + 1) },
  )
}

test('gives the rows of all answers in order, and what the run cost', async () => {
  await using trino = scriptTrino(
    chain(answer({}, 'QUEUED'), answer(rows(1, 2)), answer({}), answer(rows(3)), finished),
  )
  const { rows: given, stats } = await ask(trino.url)
  expect(given).toEqual([['1'], ['2'], ['3']])
  expect(stats).toMatchObject({ queueMs: 7, bytesScanned: 4096 })
})

test('keeps every digit of a bigint', async () => {
  await using trino = scriptTrino(
    chain(answer({ columns: [bigintColumn] }), answer(), finished).with(1, (trino) =>
      raw(
        `{"stats":{"state":"RUNNING"},"nextUri":"${trino.next(2)}","data":[[9223372036854775807],[-9007199254740993]]}`,
      ),
    ),
  )
  expect((await ask(trino.url)).rows).toEqual([['9223372036854775807'], ['-9007199254740993']])
})

test('tells Trino the principal, the query, UTC, what it can read and nothing secret that was not configured', async () => {
  await using trino = scriptTrino(chain(answer(), finished))
  await ask(trino.url, { sql: 'SELECT ü', principal: 'ann lee@example.com' })
  const [post] = trino.seen
  expect(post?.body).toBe('SELECT ü')
  expect(Object.fromEntries(post?.headers ?? [])).toMatchObject({
    'x-trino-user': 'ann lee@example.com',
    'x-trino-client-tags': '5b0ff4d8-6f57-4a5c-8ba9-5ad0f4c2a111',
    'x-trino-source': 'covenant',
    'x-trino-time-zone': 'UTC',
    'x-trino-client-capabilities': 'PARAMETRIC_DATETIME',
    'x-trino-query-data-encoding': 'json+zstd,json',
  })
  for (const { headers } of trino.seen) expect(headers.has('authorization')).toBe(false)
})

test.each(['', 'ann\r\nx-trino-role: admin', 'änn', ' ann', 'ann '])(
  'refuses the principal %j, which a header would change',
  async (principal) => {
    await using trino = scriptTrino([])
    expect(await failureOf(openSession(trino.url, { principal }))).toMatchObject({ code: '0A000' })
    expect(trino.seen).toEqual([])
  },
)

test('an error in the first answer is an error of the run, in words of its own', async () => {
  const error = { errorName: 'DIVISION_BY_ZERO', errorType: 'USER_ERROR', message: 'CANARY / 0' }
  await using trino = scriptTrino([answer({ error }, 'FAILED')])
  const failure = await failureOf(ask(trino.url))
  expect(failure).toEqual({
    code: '22012',
    message: 'division by zero',
    cause: 'Trino: DIVISION_BY_ZERO (USER_ERROR): CANARY / 0',
  })
})

test.each([
  ['INVALID_CAST_ARGUMENT', 'USER_ERROR', '22P02'],
  ['NUMERIC_VALUE_OUT_OF_RANGE', 'USER_ERROR', '22003'],
  ['SUBQUERY_MULTIPLE_ROWS', 'USER_ERROR', '21000'],
  ['EXCEEDED_GLOBAL_MEMORY_LIMIT', 'INSUFFICIENT_RESOURCES', '53000'],
  ['EXCEEDED_TIME_LIMIT', 'INSUFFICIENT_RESOURCES', '57014'],
  ['QUERY_QUEUE_FULL', 'INSUFFICIENT_RESOURCES', '53300'],
  ['ICEBERG_BAD_DATA', 'EXTERNAL', '58030'],
  ['TABLE_NOT_FOUND', 'USER_ERROR', '58030'],
  ['NOT_SUPPORTED', 'USER_ERROR', '0A000'],
  ['SYNTAX_ERROR', 'USER_ERROR', 'XX000'],
  ['', '', 'XX000'],
])('%s of type %s after rows is SQLSTATE %s, and quotes nothing', async (errorName, errorType, code) => {
  const error = { errorName, errorType, message: 'CANARY' }
  await using trino = scriptTrino(chain(answer(), answer(rows(1)), answer({ error }, 'FAILED')))
  const failure = await failureOf(ask(trino.url))
  expect(failure.code).toBe(code)
  expect(failure.message).not.toContain('CANARY')
})

test('a pattern that LIKE cannot read is told from other bad arguments', async () => {
  const code = async (message: string) => {
    const error = { errorName: 'INVALID_FUNCTION_ARGUMENT', errorType: 'USER_ERROR', message }
    await using trino = scriptTrino([answer({ error }, 'FAILED')])
    return (await failureOf(ask(trino.url))).code
  }
  const sentence = "Escape character must be followed by '%', '_' or the escape character itself"
  expect([await code(sentence), await code(`CANARY ${sentence}`)]).toEqual(['22025', '22000'])
})

test.each(['FAILED', 'RUNNING', 'FINISHING', ''])(
  'a last answer in the state %j is no whole result',
  async (state) => {
    await using trino = scriptTrino(chain(answer(), answer(rows(1)), answer({}, state)))
    expect((await failureOf(ask(trino.url))).code).toBe('08006')
  },
)

test.each([
  ['another host', () => 'http://127.0.0.2:1/v1/statement/x/1'],
  ['another port', (url: string) => `${url.replace(/\d+$/, '1')}/v1/statement/x/1`],
  ['another scheme', (url: string) => `${url.replace('http:', 'https:')}/v1/statement/x/1`],
  ['another path', (url: string) => `${url}/v1/query/x`],
  ['a path that climbs out', (url: string) => `${url}/v1/statement/../query/x`],
  ['a user', (url: string) => `${url.replace('http://', 'http://a@')}/v1/statement/x/1`],
  ['no address', () => 'x'],
])(
  'an answer that leads to %s is not followed, and the statement is stopped where it was',
  async (_, uri) => {
    await using other = scriptTrino([])
    await using trino = scriptTrino(
      chain(answer(), answer(), finished).with(1, (trino) => answer({ nextUri: uri(trino.url) })),
    )
    expect(await failureOf(ask(trino.url))).toMatchObject({ code: '08006' })
    expect(trino.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/statement',
      'GET /v1/statement/x/1',
      'DELETE /v1/statement/x/1',
    ])
    expect(other.seen).toEqual([])
  },
)

test('a redirect is not followed', async () => {
  await using other = scriptTrino([finished])
  await using trino = scriptTrino([Response.redirect(`${other.url}/v1/statement`, 307)])
  expect((await failureOf(ask(trino.url))).code).toBe('08006')
  expect(other.seen).toEqual([])
})

test('answers without rows that never end are given up', async () => {
  await using trino = scriptTrino([
    (trino) => answer({ nextUri: trino.next(1) }),
    (trino) => answer({ nextUri: trino.next(1) }),
  ])
  expect(await failureOf(ask(trino.url, { emptyRepliesMax: 15 }))).toMatchObject({ code: '08006' })
  expect(trino.seen.filter(({ method }) => method === 'GET').length).toBe(15)
  expect(trino.seen.at(-1)?.method).toBe('DELETE')
})

const broken: readonly (readonly [string, Step])[] = [
  ['truncated JSON', raw('{"stats":{"state":"RUNNING"},"columns":[{"name":"n"')],
  ['no JSON', raw('<html>')],
  ['a list', raw('[]')],
  ['no stats', raw('{"id":"q"}')],
  ['a duplicate key', raw('{"stats":{"state":"FINISHED"},"stats":{"state":"FINISHED"}}')],
  ['rows before columns', answer({ data: [[1]] })],
  ['columns that are more', answer({ columns: [bigintColumn, bigintColumn] }, 'FINISHED')],
  ['columns of another type', answer({ columns: [{ name: 'n', type: 'varchar' }] }, 'FINISHED')],
  ['no columns at all', answer({}, 'FINISHED')],
  ['a row that is too short', answer({ columns: [bigintColumn], data: [[]] })],
  ['a row that is too long', answer({ columns: [bigintColumn], data: [[1, 2]] })],
  ['a row that is no list', answer({ columns: [bigintColumn], data: [1] })],
  ['a value of another type', answer({ columns: [bigintColumn], data: [['1']] })],
  ['a value that is no integer', answer({ columns: [bigintColumn], data: [[1.5]] })],
  ['data that are neither rows nor segments', answer({ columns: [bigintColumn], data: 'x' })],
  [
    'an encoding that was not asked for',
    raw(gzipSync(JSON.stringify(finished)), { 'content-encoding': 'gzip' }),
  ],
]

test.each(broken)('%s in the first answer is an error, never rows', async (_, step) => {
  await using trino = scriptTrino([step])
  expect(await failureOf(ask(trino.url))).toMatchObject({ code: '08006' })
})

test.each(broken)('%s in a later answer is an error, never rows', async (_, step) => {
  await using trino = scriptTrino([(trino) => answer({ nextUri: trino.next(1) }), step])
  expect(await failureOf(ask(trino.url, { retryMs: 0 }))).toMatchObject({ code: '08006' })
})

test('an answer larger than the bound is refused, and not asked for again', async () => {
  await using trino = scriptTrino(chain(answer(), answer(rows(...Array(1000).fill(123456789))), finished))
  expect(await failureOf(ask(trino.url, { replyBytesMax: 1000 }))).toMatchObject({ code: '08006' })
  expect(trino.seen.filter(({ method }) => method === 'GET').length).toBe(1)
})

test('a row of several megabytes is a row', async () => {
  const value = 'x'.repeat(8 * 1024 * 1024)
  const columns = [{ name: 'n', type: 'varchar' }]
  await using trino = scriptTrino(
    chain(answer(), answer({ columns, data: [[value]] }), answer({ columns }, 'FINISHED')),
  )
  const { rows: given } = await ask(trino.url, { columns: [{ name: 'n', type: 'text' }] })
  expect(given[0]?.[0]?.length).toBe(value.length)
})

test('many rows of one answer come as batches of bounded size', async () => {
  const values = Array.from({ length: limits.resultBatchRows * 2 + 1 }, (_, index) => index)
  await using trino = scriptTrino(chain(answer(), answer(rows(...values)), finished))
  const { batchSizes, rows: given } = await ask(trino.url)
  expect(batchSizes).toEqual([limits.resultBatchRows, limits.resultBatchRows, 1])
  expect(given.map(([value]) => Number(value))).toEqual(values)
})

test('an answer that arrives byte by byte is one answer', async () => {
  const bytes = Buffer.from(
    JSON.stringify(answer({ columns: [{ name: 'n', type: 'varchar' }], data: [['ä€😀']] }, 'FINISHED')),
  )
  await using trino = scriptTrino([
    () =>
      raw(
        new ReadableStream({
          async start(controller) {
            for (const byte of bytes) {
              controller.enqueue(new Uint8Array([byte]))
              await Promise.resolve()
            }
            controller.close()
          },
        }),
      ),
  ])
  expect((await ask(trino.url, { columns: [{ name: 'n', type: 'text' }] })).rows).toEqual([['ä€😀']])
})

test.each([429, 502, 503, 504])('%d is asked again, of a POST and of a GET', async (status) => {
  const failing = () => new Response('', { status })
  const [first, second, third] = chain(answer(), answer(rows(1)), finished) as [Step, Step, Step]
  await using trino = scriptTrino([
    [failing, first],
    [failing, failing, second],
    [failing, third],
  ])
  expect((await ask(trino.url)).rows).toEqual([['1']])
})

test.each([400, 401, 403, 404, 410, 500])('%d is not asked again', async (status) => {
  await using trino = scriptTrino([new Response('CANARY', { status })])
  const failure = await failureOf(ask(trino.url))
  expect(failure.code).toBe('08006')
  expect(failure.message).not.toContain('CANARY')
  expect(trino.seen.length).toBe(1)
})

test('a Trino that is there no more is given up after a while', async () => {
  const trino = scriptTrino([])
  await trino[Symbol.asyncDispose]()
  expect(await failureOf(ask(trino.url, { retryMs: 120 }))).toMatchObject({
    code: '08006',
    message: 'the engine cannot be reached',
  })
})

test('a Trino that keeps silent is given up after the time for one request', async () => {
  const [first] = chain(answer(), answer()) as [Step]
  await using trino = scriptTrino([first, () => new Promise<Response>(() => {})])
  expect(await failureOf(ask(trino.url, { requestMs: 50, retryMs: 0 }))).toMatchObject({ code: '08006' })
})

test('a signal ends a run that waits for Trino, and Trino is told to stop', async () => {
  const [first] = chain(answer(), answer()) as [Step]
  const abort = new AbortController()
  await using trino = scriptTrino([
    first,
    () => {
      abort.abort()
      return new Promise<Response>(() => {})
    },
  ])
  expect(await failureOf(ask(trino.url, { signal: abort.signal }))).toMatchObject({ code: '57014' })
  expect(trino.seen.at(-1)).toMatchObject({ method: 'DELETE', path: '/v1/statement/x/1' })
})

test('a signal during the POST ends the run at once, and the statement as soon as Trino names it', async () => {
  const abort = new AbortController()
  const gate = Promise.withResolvers<void>()
  await using trino = scriptTrino([
    async (trino) => {
      abort.abort()
      await gate.promise
      return Response.json(answer({ nextUri: trino.next(1) }))
    },
  ])
  expect(await failureOf(ask(trino.url, { signal: abort.signal }))).toMatchObject({ code: '57014' })
  expect(trino.seen.map(({ method }) => method)).toEqual(['POST'])
  gate.resolve()
  await eventually(async () => trino.seen.some(({ method }) => method === 'DELETE'))
})

test('a signal ends the wait between two tries', async () => {
  const abort = new AbortController()
  await using trino = scriptTrino([
    () => {
      queueMicrotask(() => abort.abort())
      return new Response('', { status: 503 })
    },
  ])
  // The POST itself is tried to its end for the sake of a stop.
  expect(await failureOf(ask(trino.url, { signal: abort.signal, retryMs: 100 }))).toMatchObject({
    code: '57014',
  })
})

test('a consumer that has enough stops the statement at Trino', async () => {
  await using trino = scriptTrino(chain(answer(), answer(rows(1)), answer(rows(2)), finished))
  const session = await openSession(trino.url)
  for await (const _ of session.run({ sql: 'SELECT', columns: [{ name: 'n', type: 'int8' }] })) break
  await session.close()
  expect(trino.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /v1/statement',
    'GET /v1/statement/x/1',
    'DELETE /v1/statement/x/2',
  ])
})

test.each(['signal', 'close'] as const)(
  'a run that is ended by %s between two answers throws, though Trino has said FINISHED already',
  async (by) => {
    const last = answer({ ...rows(1) }, 'FINISHED')
    await using trino = scriptTrino(chain(answer(), last, answer(rows(2), 'FINISHED')))
    const abort = new AbortController()
    const session = await openSession(trino.url, { signal: abort.signal })
    const run = async () => {
      for await (const _ of session.run({ sql: 'SELECT', columns: [{ name: 'n', type: 'int8' }] })) {
        if (by === 'signal') abort.abort()
        else await session.close()
      }
    }
    expect(await failureOf(run())).toMatchObject({ code: '57014' })
  },
)

test('a run whose session is closed while an answer is awaited ends, and is stopped where that answer says', async () => {
  const gate = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  await using trino = scriptTrino([
    (trino) => answer({ nextUri: trino.next(1) }),
    async (trino) => {
      asked.resolve()
      await gate.promise
      return Response.json(answer({ ...rows(1), nextUri: trino.next(2) }))
    },
    finished,
  ])
  const session = await openSession(trino.url)
  const run = failureOf(
    Array.fromAsync(session.run({ sql: 'SELECT', columns: [{ name: 'n', type: 'int8' }] })),
  )
  await asked.promise
  await session.close()
  gate.resolve()
  expect(await run).toMatchObject({ code: '57014' })
  await eventually(async () =>
    trino.seen.some(({ method, path }) => method === 'DELETE' && path.endsWith('/2')),
  )
})

test('a run whose signal has fired already is never sent', async () => {
  await using trino = scriptTrino([finished])
  const abort = new AbortController()
  const session = await openSession(trino.url, { signal: abort.signal })
  abort.abort()
  const result = session.run({ sql: 'SELECT', columns: [{ name: 'n', type: 'int8' }] })
  expect(await failureOf(Array.fromAsync(result))).toMatchObject({ code: '57014' })
  expect(trino.seen).toEqual([])
})

test('a run that nobody reads is never sent', async () => {
  await using trino = scriptTrino([])
  const session = await openSession(trino.url)
  session.run({ sql: 'SELECT', columns: [] })
  await session.close()
  expect(trino.seen).toEqual([])
})

test('an address that is not allowed is not asked', async () => {
  await using trino = scriptTrino([finished])
  const addressRules = { ranges: new (await import('node:net')).BlockList(), hosts: new Set<string>() }
  expect(await failureOf(ask(trino.url, { addressRules }))).toMatchObject({ code: '08006' })
  expect(trino.seen).toEqual([])
})
