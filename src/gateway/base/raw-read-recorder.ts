/**
 * Records what the Iceberg surface gives to callers from whom nothing is hidden, off the path of the responses: a response
 * only leaves a note in memory, and a timer writes the notes of each minute that is over. What could not be written is
 * tried again. What a process that is killed had not written is lost, a minute at most while the store can be reached.
 */

import type { Logger } from 'pino'
import type { Clock } from '../../base/clock.ts'
import { timeOrderedId } from '../../base/time-ordered-id.ts'
import { type RawRead, type RawReads, rawReadBounds } from '../../core/raw-read.ts'
import { addRawReads } from '../../store/query/raw-reads.ts'
import type { Store } from '../../store/store.ts'

interface RecorderParts {
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
}

interface Pending extends RawReads {
  lastMs: number
  times: number
  readonly snapshotIds: string[]
}

export class RawReadRecorder {
  readonly #pending = new Map<string, Pending>()
  #dropped = 0
  #flushing: Promise<void> = Promise.resolve()
  readonly #timer: Timer

  constructor(
    private readonly parts: RecorderParts,
    private readonly bounds: Readonly<Record<keyof typeof rawReadBounds, number>> = rawReadBounds,
  ) {
    this.#timer = setInterval(() => void this.flush(), bounds.flushMs)
    this.#timer.unref()
  }

  /** Notes one. Never throws; beyond a bound it is only counted. */
  note({ snapshotId, ...read }: RawRead): void {
    const atMs = this.parts.clock.now()
    const { tenant, principal, sessionId, catalog, table, given, protection, contract } = read
    const minute = Math.floor(atMs / this.bounds.windowMs)
    const who = [tenant, principal, read.principalSource, sessionId, catalog, read.purpose]
    const what = [table.namespace, table.name, given, protection, contract?.id, contract?.version]
    const key = JSON.stringify([minute, ...who, ...what])
    const noted = this.#pending.get(key)
    if (noted === undefined) {
      if (this.#pending.size >= this.bounds.pendingMax) {
        this.#dropped++
        return
      }
      const snapshotIds = snapshotId === undefined ? [] : [snapshotId]
      const times = { firstMs: atMs, lastMs: atMs, times: 1 }
      this.#pending.set(key, { ...read, id: timeOrderedId(), ...times, snapshotIds })
      return
    }
    noted.lastMs = Math.max(noted.lastMs, atMs)
    noted.times++
    const isNew = snapshotId !== undefined && !noted.snapshotIds.includes(snapshotId)
    if (isNew && noted.snapshotIds.length < this.bounds.snapshotsMax) noted.snapshotIds.push(snapshotId)
  }

  /** Writes the notes of the minutes that are over. Never rejects; what could not be written waits for the next call. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() =>
      this.#write(Math.floor(this.parts.clock.now() / this.bounds.windowMs)),
    )
    return this.#flushing
  }

  /** Writes all that is left, and ends the timer. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#flushing = this.#flushing.then(() => this.#write(Number.POSITIVE_INFINITY))
    await this.#flushing
    const lost = this.#pending.size
    if (lost > 0) this.parts.log.error({ lost }, 'raw reads of tables were not recorded before the end')
  }

  async #write(before: number): Promise<void> {
    const { store, log } = this.parts
    if (this.#dropped > 0) {
      log.error({ dropped: this.#dropped }, 'raw reads of tables were not recorded: too many waited')
      this.#dropped = 0
    }
    const due = [...this.#pending].filter(
      ([, { firstMs }]) => Math.floor(firstMs / this.bounds.windowMs) < before,
    )
    for (const [tenant, all] of Map.groupBy(due, ([, { tenant }]) => tenant)) {
      // A note that comes meanwhile, by a clock that went back, has a record of its own.
      for (const [key] of all) this.#pending.delete(key)
      try {
        await addRawReads(
          store,
          tenant,
          all.map(([, reads]) => reads),
        )
      } catch (err) {
        log.warn({ err, tenant, waiting: all.length }, 'raw reads of tables could not be recorded yet')
        for (const [key, reads] of all) this.#putBack(key, reads)
      }
    }
  }

  #putBack(key: string, reads: Pending): void {
    if (this.#pending.size >= this.bounds.pendingMax) this.#dropped += reads.times
    else this.#pending.set(this.#pending.has(key) ? `${key} ${reads.id}` : key, reads)
  }
}
