/**
 * Serves the requests of one connection, one after another. Everything that a request's head can be refused for is
 * checked before its body is read: encryption, origin, path, form, credential.
 */

import { gunzipSync } from 'node:zlib'
import type { Logger } from 'pino'
import type { CredentialReader } from '../../auth/read-credential.ts'
import { tokenCharsMax } from '../../auth/token-keys.ts'
import { Fault } from '../../base/fault.ts'
import { asOwner } from '../../base/owner.ts'
import { unlessAborted } from '../../base/unless-aborted.ts'
import { type HttpRequest, HttpViolation, type RequestHead } from '../../wire/soap/http-request.ts'
import { writeHead } from '../../wire/soap/http-response.ts'
import { SoapViolation } from '../../wire/soap/read-request.ts'
import { type FaultText, writeFault } from '../../wire/soap/write-envelope.ts'
import type { ConnectionSlots } from '../pgwire/connection-slots.ts'
import type { LoginThrottle } from '../pgwire/login-throttle.ts'
import { WireError } from '../pgwire/wire-error.ts'
import { ReadSession } from '../read-session.ts'
import { Answer, negotiationHeaders } from './answer.ts'
import { type Connection, ConnectionClosed } from './connection.ts'
import { isTooLong, readCredential, userOf } from './credentials.ts'
import { faultText } from './faults.ts'
import type { XmlaMeter } from './meter.ts'

/** A request whose head is in order. */
export interface AdmittedRequest {
  readonly reader: ReadSession
  /** As the path names it; it may not exist. */
  readonly catalog: string
  readonly head: RequestHead
  readonly connection: Pick<Connection, 'id' | 'gone'>
  /** Of the SOAP message. */
  readonly text: string
}

export interface ServeParts {
  readonly credentials: CredentialReader
  readonly throttle: LoginThrottle
  /** Whether an address is that of a trusted proxy. */
  readonly isProxy: (address: string) => boolean
  readonly slots: ConnectionSlots
  /** Whether clients on other machines may send secrets without TLS. */
  readonly allowPlaintext: boolean
  readonly meter: XmlaMeter
  readonly log: Logger
  /** Answers a request; what it throws before anything is sent becomes a fault. */
  readonly answerRequest: (request: AdmittedRequest, answer: Answer, signal: AbortSignal) => Promise<void>
}

/** An answer without a message. */
class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(`status ${status}`)
  }
}

/** Serves until the client leaves, is too slow, or no further request is wanted. */
export async function serveConnection(
  parts: ServeParts,
  connection: Connection,
  ends: AbortSignal,
): Promise<void> {
  const place = new Place(parts.slots)
  const close = parts.meter.opened()
  const leave = parts.slots.enter(connection.address)
  try {
    if (leave === undefined) throw new HttpViolation(503, 'There are too many connections.')
    while (await serveRequest(parts, connection, place, ends)) leave()
  } catch (thrown) {
    await farewell(parts, connection, thrown)
  } finally {
    leave?.()
    place.free()
    connection.end()
    close()
  }
}

/** The slot of the principal whose requests a connection carries. */
class Place {
  #key = ''
  #free: (() => void) | undefined
  readonly #slots: ConnectionSlots

  constructor(slots: ConnectionSlots) {
    this.#slots = slots
  }

  /** @throws HttpViolation 503 where the principal has too many connections */
  take({ tenant, principal }: ReadSession): void {
    const key = `${tenant} ${principal.sub}`
    if (key === this.#key) return
    this.free()
    try {
      this.#free = this.#slots.admit(tenant, principal)
    } catch (thrown) {
      if (thrown instanceof WireError) throw new HttpViolation(503, 'There are too many connections.')
      throw thrown
    }
    this.#key = key
  }

  free(): void {
    this.#free?.()
    this.#free = undefined
    this.#key = ''
  }
}

/** @returns whether the connection takes another request */
async function serveRequest(
  parts: ServeParts,
  connection: Connection,
  place: Place,
  ends: AbortSignal,
): Promise<boolean> {
  const first = await connection.receive(ends)
  if (first.kind === 'late' && first.begun) throw new HttpViolation(408, 'The request came too slowly.')
  if (first.kind === 'late' || first.kind === 'gone') return false
  const head = first.kind === 'request' ? first.request : first.head
  const answer = new Answer(connection, head)
  try {
    const admitted = await admit(parts, connection, head)
    place.take(admitted.reader)
    if (first.kind === 'head' && head.expectsContinue) await connection.sendContinue()
    const request = first.kind === 'request' ? first.request : await bodyOf(connection, ends)
    if (request === undefined) return false
    await answerWith(parts, connection, answer, {
      ...admitted,
      ...{ head, connection },
      text: () => textOf(request, connection),
    })
    return answer.keepAlive && !ends.aborted
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown
    parts.meter.refused(thrown.status)
    // Without its body, the next request could not be found.
    const isWhole = first.kind === 'request'
    await answer.refuse(thrown.status, thrown.headers, isWhole)
    return isWhole && answer.keepAlive && !ends.aborted
  }
}

/** The request whose head was shown. @throws HttpViolation */
async function bodyOf(connection: Connection, ends: AbortSignal): Promise<HttpRequest | undefined> {
  const next = await connection.receive(ends)
  if (next.kind === 'late') throw new HttpViolation(408, 'The request came too slowly.')
  return next.kind === 'request' ? next.request : undefined
}

const unauthorized = () => new Refusal(401, { 'WWW-Authenticate': 'Basic realm="Covenant", charset="UTF-8"' })

/** @throws Refusal; HttpViolation; Fault where the credential cannot be checked */
async function admit(
  { allowPlaintext, credentials, throttle, isProxy }: ServeParts,
  connection: Connection,
  head: RequestHead,
): Promise<Pick<AdmittedRequest, 'reader' | 'catalog'>> {
  const { headers, method, target } = head
  if (!connection.isEncrypted && !connection.isLoopback && !allowPlaintext) throw new Refusal(403)
  // Only a page in a browser sends an origin, and no page is served here.
  if (headers.has('origin')) throw new Refusal(403)
  const [, name] = /^\/xmla\/([^/?#]{1,200})\/?(?:\?[^#]*)?$/.exec(target) ?? []
  const catalog = name === undefined ? undefined : decoded(name)
  if (catalog === undefined) throw new Refusal(404)
  if (method !== 'POST') throw new Refusal(405, { Allow: 'POST' })
  const type = (headers.get('content-type') ?? 'text/xml').toLowerCase()
  const coding = (headers.get('content-encoding') ?? 'identity').toLowerCase()
  const isText =
    /^(text|application)\/(soap\+)?xml *(; *charset="?(utf-8|us-ascii|utf-16(?:le|be)?)"? *)?$/.test(type)
  if (!isText || !['identity', 'gzip'].includes(coding)) throw new HttpViolation(415, onlyText)
  const given = headers.get('authorization')
  if (given === undefined) throw unauthorized()
  const { address } = connection
  if (isTooLong(given)) throw new HttpViolation(431, `A token may have ${tokenCharsMax} characters.`)
  const user = userOf(given)
  // Behind a proxy all users have its address, and one of them must not slow the others down.
  const counts = !isProxy(address)
  const waitMs = counts ? throttle.turn(address, connection.bounds.headMs, user) : 0
  if (waitMs === undefined) throw new Refusal(429)
  if (waitMs > 0) await unlessAborted(Bun.sleep(waitMs), connection.gone)
  const credential = await readCredential(credentials, given)
  if (credential === undefined) {
    if (counts) throttle.failed(address, user)
    throw unauthorized()
  }
  throttle.succeeded(address, user)
  return { reader: new ReadSession(credential), catalog }
}

const onlyText = 'Only text/xml is served here, plain or in gzip; binary XML is not.'

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** @throws SoapViolation */
function textOf({ headers, body }: HttpRequest, { bounds }: Connection): string {
  const isGzip = headers.get('content-encoding')?.toLowerCase() === 'gzip'
  try {
    const plain = isGzip ? gunzipSync(body, { maxOutputLength: bounds.bodyBytesMax }) : body
    return new TextDecoder(encodingOf(headers.get('content-type') ?? '', plain), { fatal: true }).decode(
      plain,
    )
  } catch (cause) {
    throw new SoapViolation('Client', 'The body is no text in UTF-8 or UTF-16, or too large.', { cause })
  }
}

/** Two bytes a character where the header or the first bytes say so: a byte order mark, or a `<` beside a zero. */
function encodingOf(type: string, [first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  const [, named] = /charset="?(utf-16(?:le|be)?)/.exec(type.toLowerCase()) ?? []
  if (named === 'utf-16le' || named === 'utf-16be') return named
  const opening = 0x3c
  if ((first === 0xff && second === 0xfe) || (first === opening && second === 0)) return 'utf-16le'
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === opening)) return 'utf-16be'
  return named === undefined ? 'utf-8' : 'utf-16be'
}

async function answerWith(
  { answerRequest, meter, log }: ServeParts,
  connection: Connection,
  answer: Answer,
  { text, ...request }: Omit<AdmittedRequest, 'text'> & { readonly text: () => string },
): Promise<void> {
  const startedMs = performance.now()
  const { tenant, principal } = request.reader
  let outcome: 'done' | 'failed' | 'cancelled' = 'done'
  let code: FaultText['code'] | undefined
  const controller = new AbortController()
  const cancel = () => controller.abort()
  connection.gone.addEventListener('abort', cancel, { once: true })
  const timer = setTimeout(cancel, connection.bounds.requestMs)
  try {
    await asOwner(tenant, () => answerRequest({ ...request, text: text() }, answer, controller.signal))
    await answer.end()
  } catch (thrown) {
    outcome = controller.signal.aborted ? 'cancelled' : 'failed'
    if (thrown instanceof ConnectionClosed || connection.gone.aborted) throw new ConnectionClosed()
    // A client that reads half an answer must not take it for a whole one.
    if (answer.hasSent) {
      log.warn({ err: thrown, tenant }, 'an XMLA answer broke off')
      connection.terminate()
      throw new ConnectionClosed()
    }
    const failure = controller.signal.aborted
      ? new Fault('bad_request', 'The request was cancelled, or took too long.', { cause: thrown })
      : thrown
    const fault = faultText(failure)
    code = fault.code
    if (fault.code === 'Server') log.error({ err: thrown, tenant }, 'an XMLA request failed')
    answer.clear()
    await answer.write(writeFault(fault))
    await answer.end()
  } finally {
    clearTimeout(timer)
    connection.gone.removeEventListener('abort', cancel)
    meter.request({
      ...(code !== undefined && { fault: code }),
      ...{ tenant, sub: principal.sub, outcome, chars: answer.chars, ms: performance.now() - startedMs },
    })
  }
}

/** Tells a client that is still there why its connection ends. */
async function farewell({ meter, log }: ServeParts, connection: Connection, thrown: unknown): Promise<void> {
  if (thrown instanceof ConnectionClosed || connection.gone.aborted) return
  const { status, message } =
    thrown instanceof HttpViolation
      ? thrown
      : { status: 503, message: 'The request could not be served. Retry.' }
  if (!(thrown instanceof HttpViolation)) log.error({ err: thrown }, 'an XMLA connection failed')
  meter.refused(status)
  const body = Buffer.from(writeFault({ code: 'Client', message, number: 0xc10e0002 }))
  const head = writeHead({
    ...{ status, keepAlive: false, framing: { length: body.length } },
    headers: { 'Content-Type': 'text/xml; charset=utf-8', ...negotiationHeaders },
  })
  await connection.send(Buffer.concat([head, body])).catch(() => {})
}
