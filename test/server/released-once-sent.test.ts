/** The bytes that a request holds, from its body to the last byte of its response, however it ends. */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { ByteBudget } from '../../src/base/byte-budget.ts'
import { byteKinds } from '../../src/base/byte-work.ts'
import { Fault } from '../../src/base/fault.ts'
import { respondWithFaults } from '../../src/http/answer.ts'
import { readBody } from '../../src/http/read-body.ts'
import { limits } from '../../src/limits.ts'
import { Drain } from '../../src/server/drain.ts'
import { listenHttp } from '../../src/server/http.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { eventually } from '../support/eventually.ts'

setDefaultTimeout(60_000)

const MiB = 1024 * 1024
const log = createLogger({ level: 'silent' })
const refusals: string[] = []
const budget = new ByteBudget({
  bytesMax: 128 * MiB,
  keptForSmall: 8 * MiB,
  smallBytesMax: 64 * 1024,
  onRefused: (kind) => refusals.push(kind),
})
const held = () => byteKinds.reduce((sum, kind) => sum + budget.held(kind), 0)

let handle: (request: Request) => Promise<Response>
let server: Bun.Server<undefined>
beforeAll(() => {
  server = listenHttp({
    hostname: '127.0.0.1',
    port: 0,
    drain: new Drain(),
    log,
    budget,
    handle: (request) => respondWithFaults(log, () => handle(request)),
  })
})
afterAll(() => server.stop(true))
beforeEach(() => {
  refusals.length = 0
})

/** A client that reads only when it is told to. */
async function connect() {
  const closed = Promise.withResolvers<void>()
  let heardBytes = 0
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port: server.port ?? 0,
    socket: {
      data(_, data) {
        heardBytes += data.length
      },
      close: () => closed.resolve(),
    },
  })
  return { socket, closed: closed.promise, heardBytes: () => heardBytes }
}

const post = (bytes: number) =>
  fetch(server.url, { method: 'POST', body: new Uint8Array(bytes), headers: { connection: 'close' } })

describe('a request', () => {
  test('holds its body until it is answered', async () => {
    let during = 0
    handle = async (request) => {
      await readBody(request, 16 * MiB)
      during = held()
      return new Response('done')
    }
    expect(await (await post(4 * MiB)).text()).toBe('done')
    expect(during).toBe(4 * MiB * (1 + limits.parsedBytesPerByte))
    expect(held()).toBe(0)
  })

  test.each([
    ['throws', async () => Promise.reject(new Error('broken'))],
    ['is refused', async () => Promise.reject(new Fault('forbidden', 'No.'))],
  ])('that %s holds nothing afterwards', async (_, end) => {
    handle = async (request) => {
      await readBody(request, 16 * MiB)
      return await end()
    }
    await (await post(4 * MiB)).text()
    expect(held()).toBe(0)
  })

  test('whose client leaves amid its body holds nothing afterwards', async () => {
    const reading = Promise.withResolvers<void>()
    handle = async (request) => {
      const body = readBody(request, 16 * MiB)
      reading.resolve()
      await body
      return new Response('done')
    }
    const { socket } = await connect()
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${4 * MiB}\r\n\r\nhalf`)
    await reading.promise
    expect(held()).toBeGreaterThan(4 * MiB)
    socket.terminate()
    await eventually(() => held() === 0)
  })
})

describe('a large response', () => {
  const large = 32 * MiB
  /** As an upstream's answer that is passed on. */
  const answerLarge = async () => {
    budget.reserve({ upstream: large }).leave()
    return new Response(new Uint8Array(large).fill(120))
  }

  test('reaches its client whole, and then holds nothing', async () => {
    handle = answerLarge
    const bytes = await (await fetch(server.url)).bytes()
    expect([bytes.length, bytes.every((byte) => byte === 120)]).toEqual([large, true])
    await eventually(() => held() === 0)
  })

  test('is held while its client does not read it, and no longer once that has gone', async () => {
    handle = answerLarge
    const { socket, heardBytes } = await connect()
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await eventually(() => heardBytes() > 0)
    socket.pause()
    expect(held()).toBe(large)
    socket.terminate()
    await eventually(() => held() === 0)
  })
})

test('of many large bodies at once some are refused with 503 and Retry-After, small ones and none at all are not', async () => {
  const rest = Promise.withResolvers<void>()
  handle = async (request) => {
    const { bytes } = await readBody(request, 16 * MiB)
    if (bytes.length > MiB) await rest.promise
    return new Response('done')
  }
  const answers = Array.from({ length: 8 }, () => post(16 * MiB))
  await eventually(() => refusals.length === 7)
  expect(await (await post(1_000)).text()).toBe('done')
  expect(await (await fetch(server.url)).text()).toBe('done')
  rest.resolve()
  const responses = await Promise.all(answers)
  const refused = responses.filter(({ status }) => status === 503)
  expect([refused.length, refused[0]?.headers.get('retry-after')]).toEqual([7, '1'])
  expect((await refused[0]?.json()) as object).toEqual({
    error: {
      code: 503,
      type: 'ServiceUnavailableException',
      message: 'The service has no memory left for this request. Retry.',
    },
  })
  expect(held()).toBe(0)
})
