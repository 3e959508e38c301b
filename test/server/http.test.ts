/** The listener's timeouts: idle clients are closed, and requests that take long are not. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readBody } from '../../src/http/read-body.ts'
import { Drain } from '../../src/server/drain.ts'
import { listenHttp, probes } from '../../src/server/http.ts'
import { listenMetrics } from '../../src/server/ops.ts'
import { createLogger } from '../../src/telemetry/log.ts'

setDefaultTimeout(300_000)

const begun: (() => void)[] = []
const release = Promise.withResolvers<void>()
let server: Bun.Server<undefined>
beforeAll(() => {
  server = listenHttp({
    hostname: '127.0.0.1',
    port: 0,
    idleSeconds: 1,
    drain: new Drain(),
    log: createLogger({ level: 'silent' }),
    async handle(request) {
      if (probes.has(new URL(request.url).pathname)) return new Response('a probe')
      const { bytes } = await readBody(request, 100)
      begun.shift()?.()
      await release.promise
      return new Response(`${bytes.length} bytes`)
    },
  })
})
afterAll(() => server.stop(true))

/** What a connection is answered until the listener closes it. */
function converse(text: string): { readonly answer: Promise<string> } {
  let heard = ''
  const closed = Promise.withResolvers<string>()
  void Bun.connect({
    hostname: '127.0.0.1',
    port: server.port ?? 0,
    socket: {
      open: (socket) => void socket.write(text),
      data(_, data) {
        heard += data.toString()
      },
      close: () => closed.resolve(heard),
    },
  })
  return { answer: closed.promise }
}

test.each([
  'GET /readyz HTTP/1.0',
  'GET /healthz HTTP/1.0',
  'HEAD /readyz HTTP/1.0',
  'GET /readyz?from=haproxy HTTP/1.0',
])('answers the probe of a load balancer that names no host: %s', async (line) => {
  const answer = await converse(`${line}\r\n\r\n`).answer
  expect(answer).toStartWith('HTTP/1.1 200 OK')
})

test('a request for anything else without a host is 400', async () => {
  const answer = await converse('GET /v1/lineage HTTP/1.0\r\n\r\n').answer
  expect(answer).toStartWith('HTTP/1.1 400 Bad Request')
  expect(answer).toContain('The Host header is missing or invalid.')
})

test.each(['Host: x\r\nHost: y', 'Host: x\r\nHost: x', 'host: x\r\nHOST: y', 'Host: x, y'])(
  'a request with more than one host is 400: %j',
  async (hosts) => {
    for (const path of ['/v1/lineage', '/readyz']) {
      const answer = await converse(`GET ${path} HTTP/1.1\r\n${hosts}\r\nConnection: close\r\n\r\n`).answer
      expect(answer).toStartWith('HTTP/1.1 400 Bad Request')
      expect(answer).toContain('The Host header is missing or invalid.')
    }
  },
)

test.each(['the public listener', 'the metrics listener'])('%s refuses an address that is taken', (which) => {
  const { port = 0 } = server
  const listen = () =>
    which === 'the metrics listener'
      ? listenMetrics({
          hostname: '127.0.0.1',
          port,
          scrape: async () => ({ contentType: 'text/plain', text: '' }),
        })
      : listenHttp({
          hostname: '127.0.0.1',
          port,
          drain: new Drain(),
          log: createLogger({ level: 'silent' }),
          handle: async () => new Response(),
        })
  expect(listen).toThrow(/in use/)
})

test('ends a client that stops amid its body, and lets one wait for an answer that takes longer', async () => {
  const inHandler = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  begun.push(...inHandler.map(({ resolve }) => resolve))
  const asking = [
    converse('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
    converse('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc'),
  ]
  await Promise.all(inHandler.map(({ promise }) => promise))
  // It begins to idle after the others, so they have idled for longer once it is ended.
  const stopping = converse('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na')
  expect(await stopping.answer).not.toContain('200')
  release.resolve()
  // Answered, each idles again and is ended.
  const answers = await Promise.all(asking.map(({ answer }) => answer))
  expect(answers.map((answer) => [answer.slice(0, 15), answer.slice(-7)])).toEqual([
    ['HTTP/1.1 200 OK', '0 bytes'],
    ['HTTP/1.1 200 OK', '3 bytes'],
  ])
})
