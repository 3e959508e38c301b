/** Sends a request whose body comes in two parts, with time between them. */

import { once } from 'node:events'
import { connect } from 'node:net'

export interface SlowRequest {
  readonly method: string
  readonly path: string
  readonly secret: string
  readonly text: string
  /** Whether the body's length is said, or it comes in chunks. */
  readonly length: 'declared' | 'chunked'
}

/** A request of which only the beginning has been sent. */
export interface Begun {
  /** Sends the rest. @returns the status line */
  end(): Promise<string>
}

/** Sends the head, and of the body the first ten characters. */
export function beginSlowly(url: URL, { method, path, secret, text, length }: SlowRequest): Begun {
  const declared = length === 'declared'
  const chunk = (part: string) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`
  const [first, rest] = [text.slice(0, 10), text.slice(10)]
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${url.host}`,
    `X-Svc-Session: ${secret}`,
    declared ? `Content-Length: ${Buffer.byteLength(text)}` : 'Transfer-Encoding: chunked',
  ].join('\r\n')
  const socket = connect(Number(url.port), url.hostname)
  socket.write(`${head}\r\n\r\n${declared ? first : chunk(first)}`)
  return {
    async end() {
      socket.write(declared ? rest : `${chunk(rest)}0\r\n\r\n`)
      const [answer] = await once(socket, 'data')
      socket.destroy()
      return String(answer).split('\r\n', 1)[0] ?? ''
    },
  }
}
