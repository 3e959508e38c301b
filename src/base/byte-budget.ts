/**
 * One bound on the bytes that all work of the process holds at once, with a share for each owner. Work waits for room
 * for a bounded time, owners in turn. While others wait, an owner that holds more than its share is refused, so that
 * its flood is never theirs; while nobody waits, it may have all. It counts bytes; it allocates none.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { FairWait } from './fair-wait.ts'
import { Fault } from './fault.ts'
import { currentOwner, nobody } from './owner.ts'

/** What bytes are held for: request bodies, answers of upstreams, values parsed from either, the embedded engine. */
export const byteKinds = ['body', 'upstream', 'parse', 'engine'] as const
export type ByteKind = (typeof byteKinds)[number]

/** Bytes by kind. */
export type ByteAmounts = { readonly [Kind in ByteKind]?: number }

interface ByteBudgetOptions {
  readonly bytesMax: number
  /** Part of `bytesMax` that only small reservations may take, so that large ones never shut them out. */
  readonly keptForSmall: number
  /** Bytes up to which a reservation is small. */
  readonly smallBytesMax: number
  /** Milliseconds that work waits for room; absent: it is refused at once. */
  readonly waitMs?: number
  /** Milliseconds after which who waits takes room from bodies that still arrive, of owners beyond their share. */
  readonly reclaimMs?: number
  /** Reservations of one owner that may wait. */
  readonly waitingMax?: number
  /** Called for every refusal, with the kind that was asked for first. */
  readonly onRefused?: (kind: ByteKind) => void
  /** Called once so many bytes were released since the last time: they are garbage that may still be in memory. */
  readonly garbage?: { readonly bytesMax: number; readonly collect: () => void }
}

/** What a reservation asks for. */
interface Ask {
  /** Undefined for the process itself, which has no share. */
  readonly owner: string | undefined
  readonly amounts: ByteAmounts
  /** Bytes of the reservation before. */
  readonly heldBefore: number
  /** Whether the work holds anything: it ends sooner if it goes on before work that has not begun. */
  readonly hasBegun: boolean
}

const waitingMaxDefault = 64

export class ByteBudget {
  readonly #held = new Map<ByteKind, number>(byteKinds.map((kind) => [kind, 0]))
  /** What each owner holds. The process itself is none. */
  readonly #heldOf = new Map<string, number>()
  readonly #current = new AsyncLocalStorage<ByteWork>()
  /** Of work that has begun, which comes first. */
  readonly #growing: FairWait<void, Ask>
  readonly #beginning: FairWait<void, Ask>
  /** Reservations whose work may still be given up, because nothing of it was done. */
  readonly #revocable = new Map<
    ByteReservation,
    { readonly owner: string; readonly revoke: (fault: Fault) => void }
  >()
  #total = 0
  #released = 0

  constructor(readonly options: ByteBudgetOptions) {
    const wait = { waitMs: options.waitMs ?? 0, late: () => this.#noRoom() }
    this.#growing = new FairWait(wait)
    this.#beginning = new FairWait(wait)
  }

  /** Bytes that are held now. */
  held(kind: ByteKind): number {
    return this.#held.get(kind) ?? 0
  }

  /** Reservations that wait. */
  get waiting(): number {
    return this.#growing.count + this.#beginning.count
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
    const reservation = this.#open()
    reservation.add(amounts)
    return reservation
  }

  /**
   * As `reserve`, but waits for room.
   * @throws Fault `overloaded` where there is none in time, or its owner has more than its share; the signal's reason
   */
  async reserveInTurn(amounts: ByteAmounts, signal?: AbortSignal): Promise<ByteReservation> {
    const reservation = this.#open()
    await reservation.addInTurn(amounts, signal)
    return reservation
  }

  #open(): ByteReservation {
    return new ByteReservation(this, currentOwner(), this.#current.getStore())
  }

  /**
   * Reserves for the process itself, whatever work asks for it.
   * @throws Fault `overloaded` where the bytes do not fit
   */
  reserveForProcess(amounts: ByteAmounts): ByteReservation {
    const reservation = new ByteReservation(this, undefined, undefined)
    reservation.add(amounts)
    return reservation
  }

  /** As `reserveForProcess`, but waits for room. @throws Fault `overloaded` where there is none in time */
  async reserveForProcessInTurn(amounts: ByteAmounts): Promise<ByteReservation> {
    const reservation = new ByteReservation(this, undefined, undefined)
    await reservation.addInTurn(amounts)
    return reservation
  }

  /** Whether these bytes would fit now. */
  hasRoomFor(amounts: ByteAmounts): boolean {
    return this.#total + sumOf(amounts) <= this.options.bytesMax - this.options.keptForSmall
  }

  /** For reservations only. @param mustFit false for bytes that are there already and can no longer be refused */
  take(ask: Ask, mustFit: boolean): void {
    if (mustFit && (!this.#fits(ask) || this.#isBeyondShare(ask, this.#ownersWaiting())))
      throw this.#refusal(ask)
    this.#change(ask, 1)
  }

  /** For reservations only: takes once there is room. */
  async takeInTurn(ask: Ask, signal?: AbortSignal): Promise<void> {
    const { waitMs = 0, reclaimMs = waitMs, waitingMax = waitingMaxDefault } = this.options
    const queue = ask.hasBegun ? this.#growing : this.#beginning
    if (waitMs === 0 || (this.#fits(ask) && (this.#isSmall(ask) || !this.#comesAfterOthers(ask))))
      return this.take(ask, true)
    const owner = ask.owner ?? nobody
    // What has begun holds room that others wait for; what has not waits for its turn.
    const isRefused = ask.hasBegun && this.#isBeyondShare(ask, this.#ownersWaiting())
    if (isRefused || this.#couldNeverFit(ask) || queue.countOf(owner) >= waitingMax) throw this.#refusal(ask)
    const others = new Set([...this.#ownersWaiting(), owner])
    this.#growing.refuse((_, want) => this.#isBeyondShare(want, others))
    const reclaiming = setTimeout(() => this.#reclaim(ask, others), reclaimMs)
    try {
      // The release that makes room takes it for this ask.
      await queue.wait(owner, ask, signal)
    } catch (thrown) {
      this.#giveTurns()
      if (thrown instanceof Fault) this.options.onRefused?.(kindOf(ask))
      throw thrown
    } finally {
      clearTimeout(reclaiming)
    }
  }

  /** For reservations only. @param revoke gives up their work and releases them; undefined where that can no longer be */
  revocable(reservation: ByteReservation, owner: string, revoke: ((fault: Fault) => void) | undefined): void {
    if (revoke === undefined) this.#revocable.delete(reservation)
    else this.#revocable.set(reservation, { owner, revoke })
  }

  /** Takes room from the newest works of owners beyond their share, as much as is missing. */
  #reclaim(ask: Ask, waiting: ReadonlySet<string>): void {
    let missing = this.#total + sumOf(ask.amounts) - this.#roomFor(ask)
    for (const [reservation, { owner, revoke }] of [...this.#revocable].reverse()) {
      if (missing <= 0) return
      if (!this.#isBeyondShare({ ...ask, owner, amounts: {} }, waiting)) continue
      missing -= reservation.bytes
      this.#revocable.delete(reservation)
      this.options.onRefused?.('body')
      revoke(this.#noRoom('others wait for the room of a body that arrives slowly'))
    }
  }

  /** For reservations only. */
  give(owner: string | undefined, amounts: ByteAmounts): void {
    const bytes = sumOf(amounts)
    if (bytes === 0) return
    this.#change({ owner, amounts }, -1)
    this.#giveTurns()
    const { garbage } = this.options
    if (garbage === undefined) return
    this.#released += bytes
    if (this.#released < garbage.bytesMax) return
    this.#released = 0
    garbage.collect()
  }

  #giveTurns(): void {
    for (const queue of [this.#growing, this.#beginning])
      for (;;) {
        const head = queue.peek()
        if (head === undefined) break
        // What comes after would be served for ever before one that is large.
        if (!this.#fits(head.want)) return
        this.#change(head.want, 1)
        queue.next()
      }
  }

  #isSmall({ amounts, heldBefore }: Ask): boolean {
    return heldBefore + sumOf(amounts) <= this.options.smallBytesMax
  }

  #roomFor(ask: Ask): number {
    const { bytesMax, keptForSmall } = this.options
    return this.#isSmall(ask) ? bytesMax : bytesMax - keptForSmall
  }

  #fits(ask: Ask): boolean {
    return this.#total + sumOf(ask.amounts) <= this.#roomFor(ask)
  }

  #couldNeverFit(ask: Ask): boolean {
    return this.#heldByProcess() + ask.heldBefore + sumOf(ask.amounts) > this.#roomFor(ask)
  }

  #comesAfterOthers({ hasBegun }: Ask): boolean {
    return this.#growing.count > 0 || (!hasBegun && this.#beginning.count > 0)
  }

  #heldByProcess(): number {
    let bytes = this.#total
    for (const held of this.#heldOf.values()) bytes -= held
    return bytes
  }

  #ownersWaiting(): ReadonlySet<string> {
    return new Set([...this.#growing.owners, ...this.#beginning.owners])
  }

  /** Whether an owner would hold more than its share, while another waits. */
  #isBeyondShare(ask: Ask, waiting: ReadonlySet<string>): boolean {
    const { owner } = ask
    if (owner === undefined || waiting.size === 0 || (waiting.size === 1 && waiting.has(owner))) return false
    const owners = new Set([owner, ...waiting, ...this.#heldOf.keys()])
    const share = (this.#roomFor(ask) - this.#heldByProcess()) / owners.size
    return (this.#heldOf.get(owner) ?? 0) + sumOf(ask.amounts) > share
  }

  #refusal(ask: Ask): Fault {
    this.options.onRefused?.(kindOf(ask))
    return this.#noRoom(
      `${sumOf(ask.amounts)} bytes were asked for, ${this.#total} of ${this.#roomFor(ask)} are held`,
    )
  }

  #noRoom(detail = 'no room became free in time'): Fault {
    return new Fault('overloaded', 'The service has no memory left for this request. Retry.', { detail })
  }

  #change({ owner, amounts }: Pick<Ask, 'owner' | 'amounts'>, sign: 1 | -1): void {
    for (const kind of byteKinds) this.#held.set(kind, this.held(kind) + sign * (amounts[kind] ?? 0))
    const bytes = sign * sumOf(amounts)
    this.#total += bytes
    if (owner === undefined || bytes === 0) return
    const held = (this.#heldOf.get(owner) ?? 0) + bytes
    if (held > 0) this.#heldOf.set(owner, held)
    else this.#heldOf.delete(owner)
  }
}

function kindOf({ amounts }: Ask): ByteKind {
  return byteKinds.find((kind) => amounts[kind] !== undefined) ?? 'body'
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
