/** How requests are served: answers of any size, over TLS and in gzip, clients that leave, and the end of the service. */

import { afterEach, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import type { ReadCredential } from '../../../src/auth/read-credential.ts'
import { systemClock } from '../../../src/base/clock.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { ConnectionSlots } from '../../../src/server/pgwire/connection-slots.ts'
import { LoginThrottle } from '../../../src/server/pgwire/login-throttle.ts'
import { xmlaBounds } from '../../../src/server/xmla/bounds.ts'
import { Connection } from '../../../src/server/xmla/connection.ts'
import { listenXmla, type XmlaServer } from '../../../src/server/xmla/listen.ts'
import { type ServeParts, serveConnection } from '../../../src/server/xmla/serve-connection.ts'
import { isServed } from '../../../src/server/xmla/start-xmla.ts'
import { createLogger } from '../../../src/telemetry/log.ts'
import { aborted } from '../../support/aborted.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { postText, XmlaConnection } from '../../support/xmla.ts'

setDefaultTimeout(60_000)

const credential: ReadCredential = {
  ...{ tenant: 'tenant' as TenantId, principal: { sub: 'ann', roles: [] }, principalSource: 'session' },
  stillValid: async () => true,
}
const who = { catalog: 'lake', user: 'ann', secret: 'right' }
const log = createLogger({ level: 'silent' })
const outcomes: string[] = []
const servers: XmlaServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(1_000)
  outcomes.length = 0
})

function partsWith(answerRequest: ServeParts['answerRequest'], slots = {}): ServeParts {
  return {
    credentials: {
      bySecret: async (secret) => (secret === 'right' ? credential : undefined),
      byVerifier: async () => undefined,
      suspended: async () => undefined,
    },
    throttle: new LoginThrottle(systemClock),
    isProxy: () => false,
    slots: new ConnectionSlots({
      connectionsMax: 10,
      tenantMax: 10,
      principalMax: 10,
      strangersMax: 10,
      ...slots,
    }),
    allowPlaintext: false,
    meter: {
      opened: () => () => {},
      refused: (status) => outcomes.push(String(status)),
      request: ({ outcome }) => outcomes.push(outcome),
    },
    log,
    answerRequest,
  }
}

function start(answerRequest: ServeParts['answerRequest'], tls?: { cert: string; key: string }, slots = {}) {
  const parts = partsWith(answerRequest, slots)
  const server = listenXmla(
    { hostname: '127.0.0.1', port: 0, tls },
    xmlaBounds,
    (connection, ends) => serveConnection(parts, connection, ends),
    log,
  )
  servers.push(server)
  return server
}

const line = `${'x'.repeat(999)}\n`
const pieces = 8_000
const large: ServeParts['answerRequest'] = async (_, answer) => {
  for (let count = 0; count < pieces; count++) await answer.write(line)
}

describe('an answer', () => {
  test('that is small has a length', async () => {
    const { port } = start(async (_, answer) => await answer.write('<a/>'))
    using connection = await XmlaConnection.open(port)
    connection.write(postText(who, 'x'))
    const { headers, body } = await connection.answer()
    expect(headers.get('content-length')).toBe('4')
    expect(body).toBe('<a/>')
  })

  const certificate = makeCertificate()
  test.each([
    ['in chunks', undefined, {}],
    ['in gzip', undefined, { 'Accept-Encoding': 'gzip' }],
    ['over TLS', certificate, {}],
    ['over TLS in gzip', certificate, { 'Accept-Encoding': 'gzip' }],
  ])('that is large arrives whole %s, and the connection goes on', async (_, tls, headers) => {
    const { port } = start(large, tls)
    using connection = await XmlaConnection.open(port, tls && { ca: tls.cert })
    for (let count = 0; count < 2; count++) {
      connection.write(postText({ ...who, headers }, 'x'))
      const answer = await connection.answer()
      expect(answer.headers.get('transfer-encoding')).toBe('chunked')
      expect(answer.body.length).toBe(line.length * pieces)
    }
    expect(outcomes).toEqual(['done', 'done'])
  })

  test('to HTTP/1.0 ends with the connection', async () => {
    const { port } = start(large)
    using connection = await XmlaConnection.open(port)
    connection.write(Buffer.from(postText(who, 'x')).toString('latin1').replace('HTTP/1.1', 'HTTP/1.0'))
    const { headers, body } = await connection.answer()
    expect(headers.has('transfer-encoding')).toBe(false)
    expect(body.length).toBe(line.length * pieces)
  })

  test('that fails after its beginning breaks off, so that nobody takes it for a whole one', async () => {
    const { port } = start(async (_, answer, signal) => {
      await large(undefined as never, answer, signal)
      throw new Error('late')
    })
    using connection = await XmlaConnection.open(port)
    connection.write(postText(who, 'x'))
    expect(connection.answer()).rejects.toThrow('broke off')
    await connection.answer().catch(() => {})
  })
})

describe('a request', () => {
  test('ends with the client that leaves', async () => {
    const begun = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    const { port } = start(async (_, __, signal) => {
      begun.resolve()
      await aborted(signal)
      ended.resolve()
      signal.throwIfAborted()
    })
    const connection = await XmlaConnection.open(port)
    connection.write(postText(who, 'x'))
    await begun.promise
    connection.terminate()
    await ended.promise
  })

  test('under way is finished when the service ends, and no other begins', async () => {
    const begun = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    const server = start(async (_, answer) => {
      begun.resolve()
      await go.promise
      await answer.write('<done/>')
    })
    using idle = await XmlaConnection.open(server.port)
    using connection = await XmlaConnection.open(server.port)
    connection.write(postText(who, 'x'))
    await begun.promise
    const stopped = server.stop(10_000)
    await idle.read(() => undefined)
    expect(idle.isClosed).toBe(true)
    go.resolve()
    expect((await connection.answer()).body).toBe('<done/>')
    expect(await stopped).toBe(true)
  })

  test('whose credential is wrong never arrives', async () => {
    let asked = 0
    const { port } = start(async () => {
      asked++
    })
    using connection = await XmlaConnection.open(port)
    connection.write(postText({ ...who, secret: 'wrong' }, 'x'))
    expect((await connection.answer()).status).toBe(401)
    expect(asked).toBe(0)
    expect(outcomes).toEqual(['401'])
  })

  test('slows only the user who failed, and nobody behind a proxy', async () => {
    for (const isProxied of [false, true]) {
      const throttle = new LoginThrottle({ now: () => 0 })
      const turn = spyOn(throttle, 'turn')
      const parts = {
        ...partsWith(async (_, answer) => await answer.write('<a/>')),
        throttle,
        isProxy: () => isProxied,
      }
      const server = listenXmla(
        { hostname: '127.0.0.1', port: 0, tls: undefined },
        xmlaBounds,
        (connection, ends) => serveConnection(parts, connection, ends),
        log,
      )
      servers.push(server)
      for (let count = 0; count < 20; count++) throttle.failed('127.0.0.1', 'service:bob')
      using connection = await XmlaConnection.open(server.port)
      connection.write(postText(who, 'x'))
      expect((await connection.answer()).status).toBe(200)
      const waits = turn.mock.results.map(({ value }) => value)
      expect(waits).toEqual(isProxied ? [] : [0])
    }
  })

  test('is refused where its principal has too many connections', async () => {
    const { port } = start(async (_, answer) => await answer.write('<a/>'), undefined, { principalMax: 1 })
    using first = await XmlaConnection.open(port)
    first.write(postText(who, 'x'))
    expect((await first.answer()).status).toBe(200)
    using second = await XmlaConnection.open(port)
    second.write(postText(who, 'x'))
    expect((await second.answer()).status).toBe(503)
  })

  test('from another machine needs TLS', async () => {
    const sent: Buffer[] = []
    const socket = {
      write: (bytes: Uint8Array) => sent.push(Buffer.from(bytes)) && bytes.length,
      end: () => {},
      terminate: () => {},
    }
    const connection = new Connection(socket as never, '192.0.2.1', false, false, xmlaBounds)
    connection.received(postText(who, 'x'))
    const ends = new AbortController()
    const served = serveConnection(
      partsWith(async () => {}),
      connection,
      ends.signal,
    )
    ends.abort()
    await served
    expect(Buffer.concat(sent).toString()).toStartWith('HTTP/1.1 403 ')
    connection.terminate()
  })
})

test.each([
  [{ host: undefined, hasTls: false, allowPlaintext: false }, false],
  [{ host: '0.0.0.0', hasTls: false, allowPlaintext: false }, false],
  [{ host: '127.0.0.1', hasTls: false, allowPlaintext: false }, true],
  [{ host: undefined, hasTls: true, allowPlaintext: false }, true],
  [{ host: undefined, hasTls: false, allowPlaintext: true }, true],
])('with %p XMLA is served: %p', (given, served) => {
  expect(isServed(given)).toBe(served)
})
