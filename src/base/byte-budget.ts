/**
 * One bound on the bytes that all work of the process holds at once. A reservation is granted or refused at once and
 * never waits, so work that holds some cannot deadlock with other work. It counts bytes; it allocates none.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { Fault } from './fault.ts'

/** What bytes are held for: request bodies, answers of upstreams, values parsed from either, the embedded engine. */
export const byteKinds = ['body', 'upstream', 'parse', 'engine'] as const
export type ByteKind = (typeof byteKinds)[number]

/** Bytes by kind. */
export type ByteAmounts = { readonly [Kind in ByteKind]?: number }

export interface ByteBudgetOptions {
  readonly bytesMax: number
  /** Part of `bytesMax` that only small reservations may take, so that large ones never shut them out. */
  readonly keptForSmall: number
  /** Bytes up to which a reservation is small. */
  readonly smallBytesMax: number
  /** Called for every refusal, with the kind that was asked for first. */
  readonly onRefused?: (kind: ByteKind) => void
  /** Called once so many bytes were released since the last time: they are garbage that may still be in memory. */
  readonly garbage?: { readonly bytesMax: number; readonly collect: () => void }
}

export class ByteBudget {
  readonly #held = new Map<ByteKind, number>(byteKinds.map((kind) => [kind, 0]))
  readonly #current = new AsyncLocalStorage<ByteWork>()
  #total = 0
  #released = 0

  constructor(readonly options: ByteBudgetOptions) {}

  /** Bytes that are held now. */
  held(kind: ByteKind): number {
    return this.#held.get(kind) ?? 0
  }

  /** Starts a piece of work, such as a request. */
  open(): ByteWork {
    return new ByteWork(this.#current)
  }

  /** Runs a piece of work, and releases at its end what was reserved in it. */
  async during<T>(run: () => Promise<T>): Promise<T> {
    const work = this.open()
    try {
      return await work.run(run)
    } finally {
      work.release()
    }
  }

  /**
   * Reserves for the current piece of work. Without one, the caller alone releases it.
   * @throws Fault `overloaded` where the bytes do not fit; nothing is held then
   */
  reserve(amounts: ByteAmounts): ByteReservation {
    const reservation = new ByteReservation(this, this.#current.getStore())
    reservation.add(amounts)
    return reservation
  }

  /**
   * Reserves for the process itself, whatever work asks for it.
   * @throws Fault `overloaded` where the bytes do not fit
   */
  reserveForProcess(amounts: ByteAmounts): ByteReservation {
    const reservation = new ByteReservation(this, undefined)
    reservation.add(amounts)
    return reservation
  }

  /** Whether these bytes would fit now. */
  hasRoomFor(amounts: ByteAmounts): boolean {
    return this.#total + sumOf(amounts) <= this.options.bytesMax - this.options.keptForSmall
  }

  /** For reservations only. @param mustFit false for bytes that are there already and can no longer be refused */
  take(amounts: ByteAmounts, heldBefore: number, mustFit: boolean): void {
    const { bytesMax, keptForSmall, smallBytesMax } = this.options
    const bytes = sumOf(amounts)
    const room = heldBefore + bytes <= smallBytesMax ? bytesMax : bytesMax - keptForSmall
    if (mustFit && this.#total + bytes > room) {
      this.options.onRefused?.(byteKinds.find((kind) => amounts[kind] !== undefined) ?? 'body')
      throw new Fault('overloaded', 'The service has no memory left for this request. Retry.', {
        detail: `${bytes} bytes were asked for, ${this.#total} of ${room} are held`,
      })
    }
    this.#change(amounts, 1)
  }

  /** For reservations only. */
  give(amounts: ByteAmounts): void {
    this.#change(amounts, -1)
    const { garbage } = this.options
    if (garbage === undefined) return
    this.#released += sumOf(amounts)
    if (this.#released < garbage.bytesMax) return
    this.#released = 0
    garbage.collect()
  }

  #change(amounts: ByteAmounts, sign: 1 | -1): void {
    for (const kind of byteKinds) this.#held.set(kind, this.held(kind) + sign * (amounts[kind] ?? 0))
    this.#total += sign * sumOf(amounts)
  }
}

function sumOf(amounts: ByteAmounts): number {
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
    private readonly budget: ByteBudget,
    private readonly work: ByteWork | undefined,
  ) {
    work?.include(this)
  }

  get bytes(): number {
    return sumOf(this.#amounts)
  }

  /** Reserves more. @throws Fault `overloaded`; what was held before stays held */
  add(amounts: ByteAmounts): void {
    this.#add(amounts, true)
  }

  /** Counts bytes that must be held even where they do not fit, because what they answer was done already. */
  addAnyway(amounts: ByteAmounts): void {
    this.#add(amounts, false)
  }

  #add(amounts: ByteAmounts, mustFit: boolean): void {
    this.budget.take(amounts, this.bytes, mustFit)
    const sum: { [Kind in ByteKind]?: number } = { ...this.#amounts }
    for (const kind of byteKinds) {
      const more = amounts[kind]
      if (more !== undefined) sum[kind] = (sum[kind] ?? 0) + more
    }
    this.#amounts = sum
  }

  /** Leaves the bytes to the work that they belong to. Where there is none, or it is over, releases them. */
  leave(): void {
    if (this.work === undefined || this.work.isOver) this.release()
  }

  /** Releases everything. A second call does nothing. */
  release(): void {
    this.budget.give(this.#amounts)
    this.#amounts = {}
  }
}
