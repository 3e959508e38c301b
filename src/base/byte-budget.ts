/**
 * One bound on the bytes that all work of the process holds at once, with a share for each owner. Work waits for room
 * for a bounded time, owners in turn. While others wait, an owner that holds more than its share is refused, so that
 * its flood is never theirs; while nobody waits, it may have all. It counts bytes; it allocates none.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type ByteAmounts,
  type ByteAsk,
  type ByteKind,
  ByteReservation,
  type ByteRoom,
  ByteWork,
  byteKinds,
  sumOf,
} from './byte-work.ts'
import { FairWait } from './fair-wait.ts'
import { Fault } from './fault.ts'
import { currentOwner } from './owner.ts'

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

const waitingMaxDefault = 64
/** Under which the process itself waits, which is no owner and has no share. */
const processItself = '\u0000process'

export class ByteBudget implements ByteRoom {
  readonly #held = new Map<ByteKind, number>(byteKinds.map((kind) => [kind, 0]))
  /** What each owner holds. The process itself is none. */
  readonly #heldOf = new Map<string, number>()
  readonly #current = new AsyncLocalStorage<ByteWork>()
  /** Of work that has begun, which comes first. */
  readonly #growing: FairWait<void, ByteAsk>
  readonly #beginning: FairWait<void, ByteAsk>
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
  take(ask: ByteAsk, mustFit: boolean): void {
    if (mustFit && (!this.#fits(ask) || this.#mustGiveWay(ask))) throw this.#refusal(ask)
    this.#change(ask, 1)
  }

  /** For reservations only: takes once there is room. */
  async takeInTurn(ask: ByteAsk, signal?: AbortSignal): Promise<void> {
    const { waitMs = 0, reclaimMs = waitMs, waitingMax = waitingMaxDefault } = this.options
    const queue = ask.hasBegun ? this.#growing : this.#beginning
    if (waitMs === 0 || (this.#fits(ask) && (this.#isSmall(ask) || !this.#comesAfterOthers(ask))))
      return this.take(ask, true)
    const owner = ask.owner ?? processItself
    if (this.#mustGiveWay(ask) || this.#couldNeverFit(ask) || queue.countOf(owner) >= waitingMax)
      throw this.#refusal(ask)
    const claimants = this.#claimants(ask)
    this.#growing.refuse((_, want) => this.#isBeyondShare(want, claimants))
    const reclaiming = setTimeout(() => this.#reclaim(ask), reclaimMs)
    try {
      // Who gives it its turn takes the room for this ask.
      const turn = queue.wait(owner, ask, signal)
      this.#giveTurns()
      await turn
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

  /** Takes room from the newest works of owners beyond their share, as much as is missing for one that wants its own. */
  #reclaim(ask: ByteAsk): void {
    const claimants = this.#claimants()
    if (ask.owner === undefined || !claimants.has(ask.owner)) return
    let missing = this.#total + sumOf(ask.amounts) - this.#roomFor(ask)
    const taken = new Map<string, number>()
    for (const [reservation, { owner, revoke }] of [...this.#revocable].reverse()) {
      if (missing <= 0) return
      const before = taken.get(owner) ?? 0
      // What was taken is released a moment later.
      const rest = { ...ask, owner, amounts: { body: -before } }
      if (owner === ask.owner || !this.#isBeyondShare(rest, claimants)) continue
      missing -= reservation.bytes
      taken.set(owner, before + reservation.bytes)
      this.#revocable.delete(reservation)
      this.options.onRefused?.('body')
      revoke(this.#noRoom('others wait for the room of a body that arrives slowly'))
    }
  }

  /** For reservations only: holds other amounts of the same sum instead, so that nothing is free in between. */
  exchange(owner: string | undefined, before: ByteAmounts, after: ByteAmounts): void {
    this.#change({ owner, amounts: before }, -1)
    this.#change({ owner, amounts: after }, 1)
    this.#giveTurns()
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
    for (const queue of [this.#growing, this.#beginning]) {
      let outcome: 'given' | 'blocked' | 'none'
      do {
        outcome = this.#giveTurn(queue)
        if (outcome === 'blocked') return
      } while (outcome === 'given')
    }
  }

  /** Serves the first whom the room is enough for. Room is kept for who wants no more than its share. */
  #giveTurn(queue: FairWait<void, ByteAsk>): 'given' | 'blocked' | 'none' {
    const waiting = this.#ownersWaiting()
    for (const { owner, want } of queue.heads()) {
      if (this.#fits(want)) {
        this.#change(want, 1)
        queue.next(undefined, (one) => one === owner)
        return 'given'
      }
      // Who wants more is passed over: others would wait for one that may never come to it.
      if (!this.#isBeyondShare(want, waiting)) return 'blocked'
    }
    return 'none'
  }

  #isSmall({ amounts, heldBefore }: ByteAsk): boolean {
    return heldBefore + sumOf(amounts) <= this.options.smallBytesMax
  }

  #roomFor(ask: ByteAsk): number {
    const { bytesMax, keptForSmall } = this.options
    return this.#isSmall(ask) ? bytesMax : bytesMax - keptForSmall
  }

  #fits(ask: ByteAsk): boolean {
    return this.#total + sumOf(ask.amounts) <= this.#roomFor(ask)
  }

  #couldNeverFit(ask: ByteAsk): boolean {
    return this.#heldByProcess() + ask.heldBefore + sumOf(ask.amounts) > this.#roomFor(ask)
  }

  #comesAfterOthers({ hasBegun }: ByteAsk): boolean {
    return this.#growing.count > 0 || (!hasBegun && this.#beginning.count > 0)
  }

  #heldByProcess(): number {
    let bytes = this.#total
    for (const held of this.#heldOf.values()) bytes -= held
    return bytes
  }

  #ownersWaiting(): Set<string> {
    const waiting = new Set([...this.#growing.owners, ...this.#beginning.owners])
    waiting.delete(processItself)
    return waiting
  }

  /** Owners that wait for no more than their share: for these, others are refused. @param besides waits next */
  #claimants(besides?: ByteAsk): ReadonlySet<string> {
    const waiting = this.#ownersWaiting()
    if (besides?.owner !== undefined) waiting.add(besides.owner)
    const heads = [...this.#growing.heads(), ...this.#beginning.heads()].map(({ want }) => want)
    const wants = besides === undefined ? heads : [...heads, besides]
    // Who waits alone waits for what others hold, of which half is its share.
    const owners = Math.max(waiting.size, 2)
    const within = wants.filter((want) => this.#wouldHold(want) <= this.#shareOf(want, owners))
    return new Set(within.flatMap(({ owner }) => owner ?? []))
  }

  /** Whether work holds room that others wait for, beyond its owner's share. What has not begun waits for its turn. */
  #mustGiveWay(ask: ByteAsk): boolean {
    return ask.hasBegun && this.waiting > 0 && this.#isBeyondShare(ask, this.#claimants())
  }

  /** Whether an owner would hold more than its share beside those that wait. */
  #isBeyondShare(ask: ByteAsk, waiting: ReadonlySet<string>): boolean {
    const { owner } = ask
    if (owner === undefined || waiting.size === 0 || (waiting.size === 1 && waiting.has(owner))) return false
    return this.#wouldHold(ask) > this.#shareOf(ask, waiting.size + (waiting.has(owner) ? 0 : 1))
  }

  #wouldHold({ owner, amounts }: ByteAsk): number {
    return (owner === undefined ? 0 : (this.#heldOf.get(owner) ?? 0)) + sumOf(amounts)
  }

  #shareOf(ask: ByteAsk, owners: number): number {
    return (this.#roomFor(ask) - this.#heldByProcess()) / owners
  }

  #refusal(ask: ByteAsk): Fault {
    this.options.onRefused?.(kindOf(ask))
    return this.#noRoom(
      `${sumOf(ask.amounts)} bytes were asked for, ${this.#total} of ${this.#roomFor(ask)} are held`,
    )
  }

  #noRoom(detail = 'no room became free in time'): Fault {
    return new Fault('overloaded', 'The service has no memory left for this request. Retry.', { detail })
  }

  #change({ owner, amounts }: Pick<ByteAsk, 'owner' | 'amounts'>, sign: 1 | -1): void {
    for (const kind of byteKinds) this.#held.set(kind, this.held(kind) + sign * (amounts[kind] ?? 0))
    const bytes = sign * sumOf(amounts)
    this.#total += bytes
    if (owner === undefined || bytes === 0) return
    const held = (this.#heldOf.get(owner) ?? 0) + bytes
    if (held > 0) this.#heldOf.set(owner, held)
    else this.#heldOf.delete(owner)
  }
}

function kindOf({ amounts }: ByteAsk): ByteKind {
  return byteKinds.find((kind) => amounts[kind] !== undefined) ?? 'body'
}
