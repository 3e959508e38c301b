/**
 * Bounds how many connections the calls of one kind hold together, so that others go on while these wait for a lock.
 * Tenants take turns. It lends no connection.
 */

import { FairWait } from '../../base/fair-wait.ts'
import { borrowWaitMs, databaseBusy } from './pool.ts'

export class Lane {
  #held = 0
  readonly #waiting: FairWait<void>

  constructor(
    readonly max: number,
    waitMs: number,
  ) {
    this.#waiting = new FairWait({ waitMs, late: databaseBusy })
  }

  /**
   * Takes a place until `leave`.
   * @throws Fault `unavailable` where none becomes free in time; the signal's reason
   */
  async enter(owner: string, signal?: AbortSignal): Promise<void> {
    if (this.#held < this.max) {
      this.#held++
      return
    }
    await this.#waiting.wait(owner, undefined, signal)
  }

  /** Gives the place to who waits next. */
  leave(): void {
    if (!this.#waiting.next()) this.#held--
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
