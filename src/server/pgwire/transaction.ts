/** Where a connection stands in a transaction. Nothing is written, so what it holds is settings and cursors. */

import type { TransactionStatus } from '../../wire/postgres/protocol.ts'
import type { Settings } from './settings.ts'
import { WireError } from './wire-error.ts'

interface Savepoint {
  readonly name: string
  readonly restore: () => void
  /** What was open when it was made. */
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

  /** Statements that come without BEGIN and fail take their settings back. */
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
   * COMMIT, or ROLLBACK where `commit` is not: of a block, or of what came before in the same Query or pipeline.
   * @returns whether it was committed; a failed one is rolled back whatever was asked for
   */
  end(commit: boolean): boolean {
    const committed = commit && this.#status !== 'E'
    if (!committed) this.#restore?.()
    this.#status = 'I'
    this.#savepoints = []
    this.settings.endLocal()
    // What follows in the same Query or pipeline is another.
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

  /** @returns what was open when the savepoint was made, and stays */
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
