/**
 * Runs one statement on Trino: posts it, follows its replies and stops it. A statement is complete only in the state
 * FINISHED without a next URI; every other end is an error.
 */

import { limits } from '../../limits.ts'
import { parseReply, type TrinoReply } from './answer.ts'
import { cancelled, engineErrorOf, protocolError } from './failure.ts'
import { pause, type TrinoHttp } from './http.ts'

/** Consecutive replies without rows: about five hours in a Trino queue. */
const trinoEmptyAnswersMax = 20_000

/** Consecutive replies without rows after which requests are paced. */
const eagerReplies = 20
const waitMs = 50

export interface StatementOptions {
  readonly sql: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** `trinoEmptyAnswersMax`. */
  readonly emptyRepliesMax?: number
}

/** The state of one statement: the URI of its next reply. */
export class TrinoStatement {
  /** As in the last reply. */
  queuedMs = 0
  /** As in the last reply. */
  physicalInputBytes = 0
  #nextUri: string | undefined
  #emptyCount = 0
  #isStopped = false
  #stopped: Promise<void> | undefined
  readonly #onAbort = () => void this.stop()

  constructor(
    readonly http: TrinoHttp,
    readonly options: StatementOptions,
  ) {
    options.signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  /**
   * Yields replies until the statement is complete.
   * @throws EngineError for the failure that Trino reports; 08006 where Trino breaks its protocol; 57014 where the
   *   signal fires
   */
  async *replies(): AsyncGenerator<TrinoReply, void, undefined> {
    let reply = await this.#post()
    for (;;) {
      yield reply
      // The state does not tell: Trino says FINISHED while replies with rows are still to come.
      if (reply.nextUri === undefined) break
      await this.#pace(reply)
      const uri = this.#nextUri
      if (uri === undefined) throw cancelled(this.options.signal)
      reply = this.#take(await this.#send('GET', uri))
    }
    if (reply.state !== 'FINISHED')
      throw protocolError(`the last reply has the state ${reply.state.slice(0, 20)}`)
  }

  /** Tells Trino to cancel the statement unless it has ended. Never throws. */
  stop(): Promise<void> {
    this.#isStopped = true
    this.options.signal.removeEventListener('abort', this.#onAbort)
    const uri = this.#nextUri
    this.#nextUri = undefined
    if (uri !== undefined) this.#stopped = this.#delete(uri)
    return this.#stopped ?? Promise.resolve()
  }

  /** The signal does not abort this request, because only the reply has the URI that stops the statement. */
  async #post(): Promise<TrinoReply> {
    const { http, options } = this
    const { signal } = options
    if (signal.aborted) throw cancelled(signal)
    const request = { method: 'POST', uri: http.statementUri, headers: options.headers } as const
    const sent = http.coordinator({
      ...request,
      body: options.sql,
      signal: AbortSignal.timeout(limits.trinoRetryMs),
    })
    return await new Promise((resolve, reject) => {
      const end = () => reject(cancelled(signal))
      signal.addEventListener('abort', end, { once: true })
      sent
        .then((body) => this.#take(body))
        .then(resolve, reject)
        .finally(() => signal.removeEventListener('abort', end))
    })
  }

  #send(method: 'GET' | 'DELETE', uri: string, signal = this.options.signal): Promise<Uint8Array> {
    return this.http.coordinator({ method, uri, headers: this.options.headers, signal })
  }

  #take(body: Uint8Array): TrinoReply {
    // If this throws, `stop` still has the URI of this reply.
    const reply = parseReply(body)
    const { nextUri, failure } = reply
    if (nextUri !== undefined && !this.http.isStatementUri(nextUri))
      throw protocolError('the next URI is not on the coordinator')
    this.#nextUri = failure === undefined ? nextUri : undefined
    this.queuedMs = reply.queuedMs
    this.physicalInputBytes = reply.physicalInputBytes
    if (failure !== undefined) throw engineErrorOf(failure)
    if (!this.#isStopped) return reply
    // The reply came after the stop, and only now is the URI to stop at known.
    this.stop()
    throw cancelled(this.options.signal)
  }

  /** Bounds the requests to a Trino that replies immediately and never with rows. */
  async #pace({ data }: TrinoReply): Promise<void> {
    this.#emptyCount = data === undefined ? this.#emptyCount + 1 : 0
    if (this.#emptyCount > (this.options.emptyRepliesMax ?? trinoEmptyAnswersMax))
      throw protocolError('too many replies without rows')
    if (this.#emptyCount > eagerReplies) await pause(waitMs, this.options.signal)
  }

  async #delete(uri: string): Promise<void> {
    await this.#send('DELETE', uri, AbortSignal.timeout(limits.trinoStopMs)).catch(() => {})
  }
}
