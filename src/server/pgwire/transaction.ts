/** Tracks a connection's transaction. Nothing is written to tables, so it only affects settings and cursors. */

import type { TransactionStatus } from '../../wire/postgres/protocol.ts'
import type { Settings } from './settings.ts'
import { WireError } from './wire-error.ts'

interface Savepoint {
  readonly name: string
  readonly restore: () => void
  /** The portals that were open when the savepoint was set. */
  readonly kept: ReadonlySet<unknown>
}

export class Transaction {
  #status: TransactionStatus = 'I'
  #restore: (() => void) | undefined
  #savepoints: Savepoint[] = []
  /** Whether several statements of one Query make a transaction without BEGIN. */
  #implicit = false

  constructor(readonly settings: Settings) {}

  get status(): TransactionStatus {
    return this.#status
  }

  /** Whether cursors can be declared: inside BEGIN, or among the statements of one Query. */
  get isBlock(): boolean {
    return this.#status !== 'I' || this.#implicit
  }

  /** Starts statements without BEGIN. If one fails, their settings are restored. */
  enterImplicit(several: boolean): void {
    this.#implicit = several
    if (this.#status === 'I') this.#restore = this.settings.save()
  }

  leaveImplicit(): void {
    this.#implicit = false
    if (this.#status !== 'I') return
    this.#restore = undefined
    this.settings.endLocal()
  }

  /** @returns whether there was no transaction before */
  begin(): boolean {
    if (this.#status !== 'I') return false
    this.#status = 'T'
    this.#savepoints = []
    this.#restore ??= this.settings.save()
    return true
  }

  /** A statement has failed. */
  fail(): void {
    if (this.#status === 'T') this.#status = 'E'
    else if (this.#status === 'I') {
      this.#restore?.()
      this.#restore = undefined
    }
  }

  /**
   * Commits or rolls back a block, or the earlier statements of the same Query or pipeline.
   * @returns whether it was committed; a failed transaction is always rolled back
   */
  end(commit: boolean): boolean {
    const committed = commit && this.#status !== 'E'
    if (!committed) this.#restore?.()
    this.#status = 'I'
    this.#savepoints = []
    this.settings.endLocal()
    // Later statements of the same Query or pipeline form another transaction.
    this.#restore = this.settings.save()
    return committed
  }

  savepoint(name: string, kept: ReadonlySet<unknown>): void {
    this.#requireBlock('SAVEPOINT')
    if (this.#savepoints.length >= savepointsMax) throw new WireError('54000', 'too many savepoints')
    this.#savepoints.push({ name, restore: this.settings.save(), kept })
  }

  release(name: string): void {
    this.#requireBlock('RELEASE SAVEPOINT')
    this.#savepoints.length = this.#indexOf(name)
  }

  /** @returns the portals that stay open, because they were open when the savepoint was set */
  rollbackTo(name: string): ReadonlySet<unknown> {
    this.#requireBlock('ROLLBACK TO SAVEPOINT')
    const index = this.#indexOf(name)
    const { restore, kept } = this.#savepoints[index] as Savepoint
    this.#savepoints.length = index + 1
    restore()
    this.#status = 'T'
    return kept
  }

  #requireBlock(what: string): void {
    if (this.#status === 'I') throw new WireError('25P01', `${what} can only be used in transaction blocks`)
  }

  #indexOf(name: string): number {
    const index = this.#savepoints.findLastIndex((each) => each.name === name)
    if (index < 0) throw new WireError('3B001', `savepoint "${name}" does not exist`)
    return index
  }
}

const savepointsMax = 1_000
