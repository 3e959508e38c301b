/**
 * Pieces of work and what each holds of a budget of bytes (byte-budget.ts), which decides who may hold how much.
 */

import type { AsyncLocalStorage } from 'node:async_hooks'
import type { Fault } from './fault.ts'

/** What bytes are held for: request bodies, answers of upstreams, values parsed from either, the embedded engine. */
export const byteKinds = ['body', 'upstream', 'parse', 'engine'] as const
export type ByteKind = (typeof byteKinds)[number]

/** Bytes by kind. */
export type ByteAmounts = { readonly [Kind in ByteKind]?: number }

/** What a reservation asks for. */
export interface ByteAsk {
  /** Undefined for the process itself, which has no share. */
  readonly owner: string | undefined
  readonly amounts: ByteAmounts
  /** Bytes of the reservation before. */
  readonly heldBefore: number
  /** Whether the work holds anything: it ends sooner if it goes on before work that has not begun. */
  readonly hasBegun: boolean
}

/** What a reservation needs of its budget. */
export interface ByteRoom {
  /** @param mustFit false for bytes that are there already and can no longer be refused */
  take(ask: ByteAsk, mustFit: boolean): void
  /** Takes once there is room. */
  takeInTurn(ask: ByteAsk, signal?: AbortSignal): Promise<void>
  give(owner: string | undefined, amounts: ByteAmounts): void
  /** Holds other amounts of the same sum instead, so that nothing is free in between. */
  exchange(owner: string | undefined, before: ByteAmounts, after: ByteAmounts): void
  /** @param revoke gives up the work and releases it; undefined where that can no longer be */
  revocable(reservation: ByteReservation, owner: string, revoke: ((fault: Fault) => void) | undefined): void
}

/** All bytes of some amounts. */
export function sumOf(amounts: ByteAmounts): number {
  return byteKinds.reduce((sum, kind) => sum + (amounts[kind] ?? 0), 0)
}

/** A piece of work: what is reserved in it is held until it is over. */
export class ByteWork {
  readonly #reservations = new Set<ByteReservation>()
  #isOver = false

  constructor(private readonly current: AsyncLocalStorage<ByteWork>) {}

  /** Runs a part of the work; reservations of everything that it calls belong to this work. */
  run<T>(part: () => T): T {
    return this.current.run(this, part)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Bytes that the work holds. */
  get bytes(): number {
    let bytes = 0
    for (const reservation of this.#reservations) bytes += reservation.bytes
    return bytes
  }

  /** For reservations only. */
  include(reservation: ByteReservation): void {
    this.#reservations.add(reservation)
  }

  /** Ends the work and releases what it holds. A second call does nothing. */
  release(): void {
    this.#isOver = true
    for (const reservation of this.#reservations) reservation.release()
    this.#reservations.clear()
  }
}

export class ByteReservation {
  #amounts: ByteAmounts = {}

  constructor(
    private readonly budget: ByteRoom,
    private readonly owner: string | undefined,
    private readonly work: ByteWork | undefined,
  ) {
    work?.include(this)
  }

  get bytes(): number {
    return sumOf(this.#amounts)
  }

  /** Reserves more. @throws Fault `overloaded`; what was held before stays held */
  add(amounts: ByteAmounts): void {
    this.budget.take(this.#ask(amounts), true)
    this.#count(amounts)
  }

  /**
   * Holds these amounts instead; waits only where they are more than what it holds.
   * @throws Fault `overloaded`, or the signal's reason; what was held before stays held
   */
  async become(amounts: ByteAmounts, signal?: AbortSignal): Promise<void> {
    const more = sumOf(amounts) - this.bytes
    if (more > 0) await this.addInTurn({ parse: more }, signal)
    const before = this.#amounts
    this.#amounts = amounts
    this.budget.exchange(this.owner, before, amounts)
  }

  /** As `add`, but waits for room. @throws Fault `overloaded`, or the signal's reason; what was held before stays held */
  async addInTurn(amounts: ByteAmounts, signal?: AbortSignal): Promise<void> {
    await this.budget.takeInTurn(this.#ask(amounts), signal)
    this.#count(amounts)
  }

  /** Counts bytes that must be held even where they do not fit, because what they answer was done already. */
  addAnyway(amounts: ByteAmounts): void {
    this.budget.take(this.#ask(amounts), false)
    this.#count(amounts)
  }

  #ask(amounts: ByteAmounts) {
    const heldBefore = this.bytes
    const hasBegun = heldBefore > 0 || (this.work?.bytes ?? 0) > 0
    return { owner: this.owner, amounts, heldBefore, hasBegun }
  }

  #count(amounts: ByteAmounts): void {
    const sum: { [Kind in ByteKind]?: number } = { ...this.#amounts }
    for (const kind of byteKinds) {
      const more = amounts[kind]
      if (more !== undefined) sum[kind] = (sum[kind] ?? 0) + more
    }
    this.#amounts = sum
  }

  /** Says how its work is given up while nothing of it was done; undefined from when that can no longer be. */
  revocable(revoke: ((fault: Fault) => void) | undefined): void {
    if (this.owner !== undefined) this.budget.revocable(this, this.owner, revoke)
  }

  /** Leaves the bytes to the work that they belong to. Where there is none, or it is over, releases them. */
  leave(): void {
    if (this.work === undefined || this.work.isOver) this.release()
  }

  /** Releases everything. A second call does nothing. */
  release(): void {
    this.revocable(undefined)
    const amounts = this.#amounts
    this.#amounts = {}
    this.budget.give(this.owner, amounts)
  }
}
