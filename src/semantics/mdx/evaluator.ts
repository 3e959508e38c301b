/**
 * Evaluates MDX in threads of its own, so that a statement that computes long holds up no other request. What a statement
 * needs is read here, by the read path; between two rounds its thread serves others.
 */

import { Fault } from '../../base/fault.ts'
import type { CellsetAxis } from '../../core/cellset.ts'
import type { TenantId } from '../../core/tenant.ts'
import { evaluatorBounds } from './bounds.ts'
import type { Need, NeedSink } from './data.ts'
import type { Evaluation, EvaluationTask } from './evaluation.ts'
import {
  type EvaluatorReply,
  type EvaluatorRequest,
  type ResultPart,
  slicesOf,
  sliceValues,
} from './evaluator-protocol.ts'
import { EvaluatorThread, type ThreadJob } from './evaluator-thread.ts'

interface EvaluateOptions {
  readonly tenant: TenantId
  readonly signal: AbortSignal
  /** Reads what is needed. @param signal ends it */
  readonly read: (needs: readonly Need[], sink: NeedSink, signal: AbortSignal) => Promise<void>
}

export interface EvaluatorOptions {
  /** Another file than the service's own, in tests. */
  readonly url?: URL
  readonly hangMs?: number
  readonly jobsMax?: number
  readonly onRestart?: () => void
}

export class MdxEvaluator {
  readonly #threads: readonly EvaluatorThread[]
  readonly #jobsMax: number
  #lastJobId = 0
  #isClosed = false

  constructor({ url, hangMs, jobsMax, onRestart = () => {} }: EvaluatorOptions = {}) {
    const options = {
      url: url ?? new URL('./evaluator-worker.ts', import.meta.url),
      ...{ hangMs: hangMs ?? evaluatorBounds.hangMs, onRestart },
    }
    this.#threads = Array.from({ length: evaluatorBounds.threads }, () => new EvaluatorThread(options))
    this.#jobsMax = jobsMax ?? evaluatorBounds.statementsMax
  }

  /**
   * @throws Fault of the statement; `overloaded` where too many are evaluated, `unavailable` where its thread died or
   *   hung; what reading throws; the signal's reason
   */
  async evaluate(task: EvaluationTask, { tenant, signal, read }: EvaluateOptions): Promise<Evaluation> {
    signal.throwIfAborted()
    const thread = this.#leastBusy(tenant)
    const jobId = ++this.#lastJobId
    const replies = new Replies()
    const reading = new AbortController()
    const job: ThreadJob = { tenant, receive: replies.receive, fail: replies.fail }
    thread.add(jobId, job)
    const givenUp = new SharedArrayBuffer(4)
    const abort = () => replies.fail(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    // A thread that serves others looks at the time of a statement when it comes to it.
    const late = setTimeout(
      () => replies.fail(new Fault('unavailable', 'MDX: the statement takes too long. Ask for less.')),
      task.bounds.timeMs,
    )
    const send = (request: EvaluatorRequest, isAwaited: boolean) => thread.send(request, isAwaited)
    try {
      send({ jobId, kind: 'start', task, givenUp }, true)
      for (;;) {
        const reply = await replies.next()
        if (reply.kind === 'needs') {
          await Promise.race([read(reply.needs, sinkTo(jobId, send), reading.signal), replies.failed])
          send({ jobId, kind: 'go' }, true)
        } else if (isPart(reply))
          return await assemble(reply, () => {
            send({ jobId, kind: 'more' }, true)
            return replies.next()
          })
        else throw failureOf(reply)
      }
    } finally {
      clearTimeout(late)
      signal.removeEventListener('abort', abort)
      Atomics.store(new Int32Array(givenUp), 0, 1)
      reading.abort()
      thread.remove(jobId)
    }
  }

  /** Ends the threads. Statements in them fail. */
  close(): void {
    this.#isClosed = true
    for (const thread of this.#threads) thread.close()
  }

  /** A tenant without a statement at work gets a thread even where others have taken all places. */
  #leastBusy(tenant: TenantId): EvaluatorThread {
    if (this.#isClosed) throw new Fault('unavailable', 'The service is stopping.')
    const count = this.#threads.reduce((sum, { size }) => sum + size, 0)
    const [least] = this.#threads.toSorted((one, other) => one.size - other.size)
    const isAtWork = () => this.#threads.some((thread) => thread.serves(tenant))
    if (least === undefined || (count >= this.#jobsMax && isAtWork()))
      throw new Fault('overloaded', 'Too many MDX statements are at work. Retry.')
    return least
  }
}

/** What a thread says of one job, one after another. */
class Replies {
  #arrived: EvaluatorReply[] = []
  #waiting: PromiseWithResolvers<EvaluatorReply> | undefined
  readonly #failed = Promise.withResolvers<never>()

  constructor() {
    this.#failed.promise.catch(() => {})
  }

  /** Rejects once the job has failed. */
  get failed(): Promise<never> {
    return this.#failed.promise
  }

  receive = (reply: EvaluatorReply): void => {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting === undefined) this.#arrived.push(reply)
    else waiting.resolve(reply)
  }

  fail = (reason: unknown): void => this.#failed.reject(reason)

  next(): Promise<EvaluatorReply> {
    const reply = this.#arrived.shift()
    if (reply !== undefined) return Promise.resolve(reply)
    this.#waiting = Promise.withResolvers()
    return Promise.race([this.#waiting.promise, this.failed])
  }
}

/** Lets others run between two slices. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

function sinkTo(jobId: number, send: (request: EvaluatorRequest, isAwaited: boolean) => void): NeedSink {
  // The thread knows the conditions by their id.
  const light = <T extends Need>(need: T): T => ({
    ...need,
    conditions: need.conditions.map(({ id }) => ({ id, tuples: [] })),
  })
  return {
    async putMembers(need, found) {
      let sent = 0
      for (const slice of slicesOf(found, sliceValues)) {
        if (sent > 0) await turn()
        sent += slice.length
        send(
          { jobId, kind: 'members', need: light(need), found: slice, isLast: sent === found.length },
          false,
        )
      }
    },
    async putCells(need, rows) {
      const names = [...need.measures.keys()]
      const size = Math.max(1, Math.floor(sliceValues / (names.length + need.levels.length + 1)))
      let sent = 0
      for (const slice of slicesOf(rows, size)) {
        if (sent > 0) await turn()
        sent += slice.length
        const packed = slice.map(({ keys, values }) => ({
          keys,
          values: names.map((name) => values.get(name)),
        }))
        send({ jobId, kind: 'cells', need: light(need), rows: packed, isLast: sent === rows.length }, false)
      }
    },
  }
}

const others: ReadonlySet<string> = new Set(['needs', 'fault', 'error'])

function isPart(reply: EvaluatorReply): reply is EvaluatorReply & ResultPart {
  return !others.has(reply.kind)
}

function failureOf(reply: EvaluatorReply): Error {
  if (reply.kind === 'fault') return new Fault(reply.fault.kind, reply.fault.publicMessage)
  return new Error(reply.kind === 'error' ? reply.message : 'an MDX thread said something else')
}

/** Puts an answer together from its slices. */
async function assemble(first: ResultPart, more: () => Promise<EvaluatorReply>): Promise<Evaluation> {
  const parts: ResultPart[] = []
  for (let part = first; part.kind !== 'whole'; ) {
    parts.push(part)
    const reply = await more()
    if (!isPart(reply)) throw failureOf(reply)
    part = reply
  }
  switch (first.kind) {
    case 'cellset': {
      const axes = first.axes.map(
        ({ hierarchies }, axis): CellsetAxis => ({
          hierarchies,
          tuples: parts.flatMap((part) => (part.kind === 'tuples' && part.axis === axis ? part.tuples : [])),
        }),
      )
      const cells = parts.flatMap((part) => (part.kind === 'values' ? part.cells : []))
      return { kind: 'cellset', cellset: { ...first.head, axes, cells } }
    }
    case 'tabular': {
      const rows = parts.flatMap((part) => (part.kind === 'rows' ? part.rows : []))
      return { kind: 'tabular', tabular: { columns: first.columns, rows } }
    }
    case 'drill':
      return first
    default:
      throw new Error('an MDX answer without its beginning')
  }
}
