/** Writes HTTP/1.1 responses: heads, bodies of a known length, and chunks. It does no I/O. */

const reasons: Readonly<Record<number, string>> = {
  100: 'Continue',
  200: 'OK',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  417: 'Expectation Failed',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
  505: 'HTTP Version Not Supported',
}

/** How the client learns where the body ends. */
type BodyFraming = { readonly length: number } | 'chunked' | 'until close'

interface ResponseHead {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly framing: BodyFraming
  readonly keepAlive: boolean
}

/** What a client waits for that sent `Expect: 100-continue`. */
export const continueResponse: Uint8Array = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n', 'latin1')

/** The bytes of a head. Values are of the service: a line break in one is an error of ours. */
export function writeHead({ status, headers, framing, keepAlive }: ResponseHead): Uint8Array {
  const lines = Object.entries(headers).map(([name, value]) => {
    if (/[\r\n]/.test(value)) throw new Error(`the header ${name} holds a line break`)
    return `${name}: ${value}`
  })
  if (framing === 'chunked') lines.push('Transfer-Encoding: chunked')
  else if (framing !== 'until close') lines.push(`Content-Length: ${framing.length}`)
  lines.push(`Connection: ${keepAlive && framing !== 'until close' ? 'keep-alive' : 'close'}`)
  return Buffer.from(
    `HTTP/1.1 ${status} ${reasons[status] ?? 'Error'}\r\n${lines.join('\r\n')}\r\n\r\n`,
    'latin1',
  )
}

/** A chunk of a body. An empty one would end it, so it gives no bytes. */
export function writeChunk(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) return bytes
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`, 'latin1'), bytes, crlf])
}

const crlf = Buffer.from('\r\n', 'latin1')

/** Ends a chunked body. */
export const lastChunk: Uint8Array = Buffer.from('0\r\n\r\n', 'latin1')

/** Whether a client takes an answer in gzip. @param accepted its `Accept-Encoding` */
export function acceptsGzip(accepted: string | undefined): boolean {
  return (accepted ?? '').split(',').some((each) => {
    const [coding = '', ...parameters] = each.split(';').map((part) => part.trim().toLowerCase())
    return coding === 'gzip' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}
