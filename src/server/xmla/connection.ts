/** One connection of an XMLA client: bytes in, bytes out as fast as the client takes them, and its end. */

import type { Socket } from 'bun'
import { type HttpRequest, HttpRequestReader, type RequestHead } from '../../wire/soap/http-request.ts'
import { continueResponse } from '../../wire/soap/http-response.ts'
import type { XmlaBounds } from './bounds.ts'

/** The client has left, or was closed because it was too slow. */
export class ConnectionClosed extends Error {}

/** What a connection receives next. */
export type Received =
  | { readonly kind: 'request'; readonly request: HttpRequest }
  /** The body is still to come. It is received by another call. */
  | { readonly kind: 'head'; readonly head: RequestHead }
  /** The client has left, or sent nothing for too long. `begun`: within a request. */
  | { readonly kind: 'late'; readonly begun: boolean }
  | { readonly kind: 'gone'; readonly begun: boolean }

/** Bytes of a next request that are held while one is served. */
const aheadBytesMax = 64 * 1024

let lastId = 0

export class Connection {
  /** Unlike that of any other of the process. It is no secret. */
  readonly id = ++lastId
  readonly #reader: HttpRequestReader
  readonly #gone = new AbortController()
  #arrived: (() => void) | undefined
  #unsent: { rest: Uint8Array; readonly done: PromiseWithResolvers<void>; readonly timer: Timer } | undefined
  #isServing = false
  #hasShownHead = false
  #lingering: Timer | undefined
  sentBytes = 0

  constructor(
    readonly socket: Pick<Socket<unknown>, 'write' | 'end' | 'terminate'>,
    readonly address: string,
    readonly isEncrypted: boolean,
    readonly isLoopback: boolean,
    readonly bounds: XmlaBounds,
  ) {
    this.#reader = new HttpRequestReader(bounds)
  }

  /** Aborts once the client has left. */
  get gone(): AbortSignal {
    return this.#gone.signal
  }

  /** Whether no request is under way. */
  get isIdle(): boolean {
    return !this.#isServing && this.#reader.isIdle
  }

  received(chunk: Uint8Array): void {
    if (this.#lingering !== undefined || this.gone.aborted) return
    this.#reader.push(chunk)
    // Nobody sends a second request before the first is answered, so this is no client to wait for.
    if (this.#isServing && this.#reader.heldBytes > aheadBytesMax) this.terminate()
    this.#arrived?.()
  }

  /**
   * The next request, or its head where its body has not arrived yet.
   * @param ends aborts when no further request is wanted
   * @throws HttpViolation
   */
  async receive(ends: AbortSignal): Promise<Received> {
    this.#isServing = false
    const { headMs, bodyMs, idleMs } = this.bounds
    const startedMs = performance.now()
    for (;;) {
      const request = this.#reader.next()
      if (request !== undefined) {
        this.#isServing = true
        this.#hasShownHead = false
        return { kind: 'request', request }
      }
      const { head } = this.#reader
      if (head !== undefined && !this.#hasShownHead) {
        this.#hasShownHead = true
        return { kind: 'head', head }
      }
      const begun = !this.#reader.isIdle
      if (this.gone.aborted || (ends.aborted && !begun)) return { kind: 'gone', begun }
      const limitMs = head !== undefined ? bodyMs : begun ? headMs : idleMs
      const restMs = limitMs - (performance.now() - startedMs)
      if (restMs <= 0) return { kind: 'late', begun }
      await this.#arrival(restMs, begun ? undefined : ends)
    }
  }

  /** Tells a client that waits for it to send the body. */
  async sendContinue(): Promise<void> {
    await this.send(continueResponse)
  }

  async #arrival(withinMs: number, ends: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, withinMs)
    this.#arrived = resolve
    ends?.addEventListener('abort', () => resolve(), { once: true, signal: this.gone })
    await promise
    clearTimeout(timer)
    this.#arrived = undefined
  }

  /** Resolves when the socket has taken the bytes. @throws ConnectionClosed */
  async send(bytes: Uint8Array): Promise<void> {
    if (this.gone.aborted) throw new ConnectionClosed()
    if (bytes.length === 0) return
    if (this.#unsent !== undefined) throw new Error('bytes are being sent already')
    const timer = setTimeout(() => this.terminate(), this.bounds.sendMs)
    const done = Promise.withResolvers<void>()
    this.#unsent = { rest: bytes, done, timer }
    this.drained()
    await done.promise.finally(() => clearTimeout(timer))
  }

  /** The socket takes bytes again. */
  drained(): void {
    const unsent = this.#unsent
    if (unsent === undefined || this.gone.aborted) return
    const count = this.socket.write(unsent.rest)
    if (count < 0) return
    if (count > 0) unsent.timer.refresh()
    this.sentBytes += count
    unsent.rest = unsent.rest.subarray(count)
    if (unsent.rest.length > 0) return
    this.#unsent = undefined
    unsent.done.resolve()
  }

  /** Closes our side once everything is sent, and ends the connection where the client does not close its side. */
  end(): void {
    if (this.#lingering !== undefined || this.gone.aborted) return
    this.socket.end()
    this.#lingering = setTimeout(() => this.terminate(), this.bounds.headMs)
    this.#lingering.unref()
  }

  /** The socket is closed. */
  closed(): void {
    clearTimeout(this.#lingering)
    if (this.gone.aborted) return
    this.#gone.abort()
    this.#arrived?.()
    const unsent = this.#unsent
    this.#unsent = undefined
    unsent?.done.promise.catch(() => {})
    unsent?.done.reject(new ConnectionClosed())
  }

  terminate(): void {
    this.closed()
    this.socket.terminate()
  }
}
