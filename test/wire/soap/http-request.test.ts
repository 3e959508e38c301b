import { describe, expect, test } from 'bun:test'
import { type HttpRequest, HttpRequestReader, HttpViolation } from '../../../src/wire/soap/http-request.ts'

const bounds = { headBytesMax: 512, headersMax: 10, bodyBytesMax: 64 }

function read(chunks: readonly (string | Uint8Array)[]): readonly HttpRequest[] {
  const reader = new HttpRequestReader(bounds)
  const found: HttpRequest[] = []
  for (const chunk of chunks) {
    reader.push(Buffer.from(chunk as string, 'latin1'))
    for (let request = reader.next(); request !== undefined; request = reader.next()) found.push(request)
  }
  return found
}

function refusal(text: string): number | undefined {
  try {
    read([text])
    return undefined
  } catch (thrown) {
    if (thrown instanceof HttpViolation) return thrown.status
    throw thrown
  }
}

const fixed = 'POST /xmla/lake HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello'
const chunked =
  'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\nA: b\r\n\r\n'
const both = fixed + chunked

describe('the reader of HTTP requests', () => {
  test('reads two requests that arrive at once', () => {
    const found = read([both])
    expect(found.map(({ target, body }) => [target, Buffer.from(body).toString()])).toEqual([
      ['/xmla/lake', 'hello'],
      ['/', 'hello'],
    ])
  })

  test('reads the same however the bytes are split', () => {
    const whole = JSON.stringify(read([both]))
    for (let at = 1; at < both.length; at++)
      expect(JSON.stringify(read([both.slice(0, at), both.slice(at)]))).toBe(whole)
    expect(JSON.stringify(read([...both]))).toBe(whole)
  })

  test('says when a client waits for 100 Continue, before the body is there', () => {
    const reader = new HttpRequestReader(bounds)
    const head = 'POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n'
    reader.push(Buffer.from(head))
    expect(reader.next()).toBeUndefined()
    expect(reader.head?.expectsContinue).toBe(true)
    reader.push(Buffer.from('ok'))
    expect(Buffer.from(reader.next()?.body ?? []).toString()).toBe('ok')
  })

  test.each([
    ['HTTP/1.1', '', true],
    ['HTTP/1.1', 'Connection: close\r\n', false],
    ['HTTP/1.0', '', false],
    ['HTTP/1.0', 'Connection: Keep-Alive\r\n', true],
  ])('knows whether %s with "%s" keeps the connection', (version, header, keepAlive) => {
    expect(read([`GET / ${version}\r\nHost: h\r\n${header}\r\n`])[0]?.keepAlive).toBe(keepAlive)
  })

  const head = 'POST / HTTP/1.1\r\nHost: h\r\n'
  test.each([
    ['two lengths', `${head}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`, 400],
    ['a length that is sent twice', `${head}Content-Length: 1\r\nContent-Length: 1\r\n\r\n`, 400],
    ['a length with a sign', `${head}Content-Length: +1\r\n\r\n`, 400],
    ['a body that is too long', `${head}Content-Length: 65\r\n\r\n`, 413],
    ['chunks that are too long', `${head}Transfer-Encoding: chunked\r\n\r\n41\r\n`, 413],
    ['a chunk without a size', `${head}Transfer-Encoding: chunked\r\n\r\n\r\n`, 400],
    ['a chunk with a wrong size', `${head}Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n`, 400],
    ['another transfer encoding', `${head}Transfer-Encoding: gzip, chunked\r\n\r\n`, 501],
    ['a folded header', `${head}A: b\r\n c\r\n\r\n`, 400],
    ['a blank before the colon', `${head}A : b\r\n\r\n`, 400],
    ['a header with a NUL', `${head}A: \0\r\n\r\n`, 400],
    ['a bare line feed', 'POST / HTTP/1.1\nHost: h\n\r\n\r\n', 400],
    ['no host', 'POST / HTTP/1.1\r\n\r\n', 400],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\n', 505],
    ['too many headers', `${head}${'A: b\r\n'.repeat(11)}\r\n`, 431],
    ['a head without an end', `${head}A: ${'b'.repeat(600)}`, 431],
    ['another expectation', `${head}Expect: x\r\n\r\n`, 417],
  ])('refuses %s', (_, text, status) => {
    expect(refusal(text)).toBe(status)
  })
})
