/**
 * Holds the accepted changes of this process until they are audited, in memory and in the journal. It repeats an audit
 * that failed, at once and then with growing waits. How a change is audited is left to recovery/audit-accepted.ts.
 */

import type { Logger } from 'pino'
import { toFault } from '../../base/fault.ts'
import type { AcceptedChange } from '../../core/commit.ts'
import { limits } from '../../limits.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { AcceptedJournal } from './accepted-journal.ts'

/** Milliseconds for which the answer to a change whose audit failed waits for the journal's disk. */
const journalFlushMs = 1_000

/** Milliseconds before a failed audit of an accepted change is repeated, after the first repetition. */
const auditRetryMs = 100

export interface UnauditedParts {
  /** Undefined: memory alone holds the changes. */
  readonly journal: AcceptedJournal | undefined
  /** Audits a change, or leaves it to recovery. @throws what the store throws; then it is repeated */
  readonly audit: (change: AcceptedChange) => Promise<void>
  readonly metrics: Metrics
  readonly log: Logger
  /** Waits before an audit is repeated. Default: as long as it is given; a test decides when that is over. */
  readonly sleep?: ((ms: number) => Promise<void>) | undefined
}

export class UnauditedChanges {
  readonly #parts: UnauditedParts
  /** By commit id, oldest first. */
  readonly #failed = new Map<string, AcceptedChange>()
  /** What was logged last of a change that cannot be audited, by commit id. */
  readonly #reported = new Map<string, string>()
  readonly #stopping = Promise.withResolvers<void>()
  #stopped = false
  #repeating: Promise<void> | undefined

  constructor(parts: UnauditedParts) {
    this.#parts = parts
  }

  /** Writes a change to the journal, before its audit. Never throws, because the upstream has accepted. */
  accepted(change: AcceptedChange): void {
    try {
      this.#parts.journal?.write(change)
    } catch (err) {
      const { commitId } = change.intent
      this.#parts.log.error({ err, commitId }, 'an accepted change could not be written to the journal')
    }
  }

  /** Removes an audited change from the journal. Never throws: a file that stays changes nothing when it is read. */
  audited(commitId: string): void {
    this.#failed.delete(commitId)
    this.#reported.delete(commitId)
    this.#count()
    this.#parts.journal?.remove(commitId).catch((err: unknown) => {
      this.#parts.log.warn({ err, commitId }, 'the file of an audited change could not be removed')
    })
  }

  /** Keeps a change whose audit failed, and repeats the audit. Resolves once the journal is on the disk. Never throws. */
  async repeat(change: AcceptedChange): Promise<void> {
    const { commitId } = change.intent
    this.#failed.set(commitId, change)
    this.#count()
    this.#start()
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(() => late.reject(new Error('the disk took too long')), journalFlushMs)
    try {
      await Promise.race([this.#parts.journal?.flush(commitId), late.promise])
    } catch (err) {
      // Where it was audited meanwhile, the file is gone.
      if (this.#failed.has(commitId))
        this.#parts.log.error(
          { err, commitId },
          'an accepted change may not survive the death of the machine',
        )
    } finally {
      clearTimeout(timer)
    }
  }

  /** Audits what processes before this one left in the journal. What fails is repeated after this has resolved. */
  async readJournal(): Promise<void> {
    const { journal, log } = this.#parts
    const left = await journal?.read((file, err) =>
      log.error({ err, file }, 'a file of the journal cannot be read; recovery decides its change'),
    )
    for (const change of left ?? []) this.#failed.set(change.intent.commitId, change)
    this.#count()
    await this.#tryAll()
    if (this.#failed.size > 0) this.#start()
  }

  /** Tries once more what failed, and ends. What is left stays in the journal. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#stopping.resolve()
    await this.#repeating
  }

  #start(): void {
    this.#repeating ??= this.#repeat().finally(() => {
      this.#repeating = undefined
      // One may have failed after the last look at what failed.
      if (this.#failed.size > 0 && !this.#stopped) this.#start()
    })
  }

  async #repeat(): Promise<void> {
    let waitMs = 0
    while (this.#failed.size > 0) {
      await this.#wait(waitMs)
      const isLast = this.#stopped
      await this.#tryAll()
      if (isLast) return
      waitMs = Math.min(Math.max(waitMs * 2, auditRetryMs), limits.auditRetryMsMax)
    }
  }

  async #wait(ms: number): Promise<void> {
    const slept = Promise.withResolvers<void>()
    const timer = setTimeout(slept.resolve, ms)
    await Promise.race([this.#parts.sleep?.(ms) ?? slept.promise, this.#stopping.promise])
    clearTimeout(timer)
  }

  async #tryAll(): Promise<void> {
    for (const change of [...this.#failed.values()]) {
      const { commitId } = change.intent
      try {
        await this.#parts.audit(change)
        this.audited(commitId)
      } catch (error) {
        const { kind } = toFault(error)
        // The store does not answer the others either.
        if (kind === 'unavailable') return
        this.#report(commitId, error)
        // The audit holds another verdict, which stays.
        if (kind === 'conflict') this.audited(commitId)
      }
    }
  }

  /** Logs a failure, and the same again for debugging only: it is repeated until a person has looked. */
  #report(commitId: string, err: unknown): void {
    const isNew = this.#reported.get(commitId) !== String(err)
    this.#reported.set(commitId, String(err))
    this.#parts.log[isNew ? 'error' : 'debug']({ err, commitId }, 'an accepted change could not be audited')
  }

  #count(): void {
    this.#parts.metrics.unauditedChanges.set(this.#failed.size)
  }
}
