/**
 * Bounds how many connections the calls of one kind hold together, so that others go on while these wait for a lock.
 * Tenants take turns. It lends no connection.
 */

import { FairQueue } from '../../base/fair-queue.ts'
import { Fault } from '../../base/fault.ts'
import { borrowWaitMs } from './pool.ts'

export class Lane {
  #held = 0
  readonly #waiting = new FairQueue<string, () => void>()

  constructor(
    readonly max: number,
    readonly waitMs: number,
  ) {}

  /**
   * Takes a place until `leave`.
   * @throws Fault `unavailable` where none becomes free in time; the signal's reason
   */
  async enter(owner: string, signal?: AbortSignal): Promise<void> {
    if (this.#held < this.max) {
      this.#held++
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const end = (settle: () => void) => {
      this.#waiting.remove(owner, grant)
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      settle()
    }
    const grant = () => end(resolve)
    const onAbort = () => end(() => reject(signal?.reason))
    const busy = () => reject(new Fault('unavailable', 'The database is busy. Try again.'))
    const timer = setTimeout(() => end(busy), this.waitMs)
    signal?.addEventListener('abort', onAbort, { once: true })
    this.#waiting.push(owner, grant)
    await promise
  }

  /** Gives the place to who waits next. */
  leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#held--
    else next()
  }
}

/** SQL functions that read or write the audit log. Statements that name it are known by their text. */
export const functionsOfAudit: ReadonlySet<string> = new Set([
  'begin_keyed_commit',
  'number_events',
  'open_keyed_intent',
  'read_events',
  'record_verdict',
  'refuse_key',
])

/**
 * Runs work on the audit log beside no more of its kind than leaves a quarter of the connections to others, while
 * somebody holds its lock. Other work runs at once.
 */
export function auditLane(linksMax: number) {
  const lane = new Lane(linksMax - Math.ceil(linksMax / 4), borrowWaitMs)
  return async <T>(
    needsAudit: boolean,
    tenant: string,
    work: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> => {
    // One connection serves everybody by turns.
    if (!needsAudit || linksMax === 1) return await work()
    await lane.enter(tenant, signal)
    try {
      return await work()
    } finally {
      lane.leave()
    }
  }
}
