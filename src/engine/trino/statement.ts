/**
 * One statement at Trino: posted, followed from answer to answer, and stopped. It is complete only in the state
 * FINISHED with no further answer; everything else is an error.
 */

import { limits } from '../../limits.ts'
import { parseAnswer, type TrinoAnswer } from './answer.ts'
import { cancelled, engineErrorOf, protocolError } from './failure.ts'
import { pause, type TrinoHttp } from './http.ts'

/** Answers without rows that come one upon the other before the next one is waited for. */
const eagerAnswers = 20
const waitMs = 50

export interface StatementOptions {
  readonly sql: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** `limits.trinoEmptyAnswersMax`. */
  readonly emptyAnswersMax?: number
}

/** The state of one statement: where its next answer is. */
export class TrinoStatement {
  /** Of the last answer. */
  queuedMs = 0
  /** Of the last answer. */
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
   * Answers until the statement is complete.
   * @throws EngineError what Trino failed with; 08006 where it does not keep to its protocol; 57014
   */
  async *answers(): AsyncGenerator<TrinoAnswer, void, undefined> {
    let answer = await this.#post()
    for (;;) {
      yield answer
      // Not by the state: Trino says FINISHED while answers with rows are still to come.
      if (answer.nextUri === undefined) break
      await this.#pace(answer)
      const uri = this.#nextUri
      if (uri === undefined) throw cancelled(this.options.signal)
      answer = this.#take(await this.#send('GET', uri))
    }
    if (answer.state !== 'FINISHED')
      throw protocolError(`the last answer has the state ${answer.state.slice(0, 20)}`)
  }

  /** Tells Trino to end the statement, where it has not ended; never throws. */
  stop(): Promise<void> {
    this.#isStopped = true
    this.options.signal.removeEventListener('abort', this.#onAbort)
    const uri = this.#nextUri
    this.#nextUri = undefined
    if (uri !== undefined) this.#stopped = this.#delete(uri)
    return this.#stopped ?? Promise.resolve()
  }

  /** Sent to its end whatever happens: only the answer tells where the statement can be stopped. */
  async #post(): Promise<TrinoAnswer> {
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

  #take(body: Uint8Array): TrinoAnswer {
    // Where this throws, the address of this answer stays the one at which the statement can be stopped.
    const answer = parseAnswer(body)
    const { nextUri, failure } = answer
    if (nextUri !== undefined && !this.http.isStatementUri(nextUri))
      throw protocolError('the next answer is said to be elsewhere')
    this.#nextUri = failure === undefined ? nextUri : undefined
    this.queuedMs = answer.queuedMs
    this.physicalInputBytes = answer.physicalInputBytes
    if (failure !== undefined) throw engineErrorOf(failure)
    if (!this.#isStopped) return answer
    // It came after the stop, and says where to stop.
    this.stop()
    throw cancelled(this.options.signal)
  }

  /** A Trino that answers at once, and never with rows, is not asked without end. */
  async #pace({ data }: TrinoAnswer): Promise<void> {
    this.#emptyCount = data === undefined ? this.#emptyCount + 1 : 0
    if (this.#emptyCount > (this.options.emptyAnswersMax ?? limits.trinoEmptyAnswersMax))
      throw protocolError('too many answers without rows')
    if (this.#emptyCount > eagerAnswers) await pause(waitMs, this.options.signal)
  }

  async #delete(uri: string): Promise<void> {
    await this.#send('DELETE', uri, AbortSignal.timeout(limits.trinoStopMs)).catch(() => {})
  }
}
