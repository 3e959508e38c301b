/**
 * Merges events in batches: each tenant has two lanes with one transaction at a time, which takes all events that came
 * in since the last one began, within bounds of size and time. Most events of one process therefore never contend, and
 * share the round trip of a transaction. Events that are heavy go through the second lane, so that nobody else waits for
 * them. Where all share one connection, heavy work of a tenant stands back for a while if others are at work. Conflicts
 * between lanes and with other replicas are resolved by SERIALIZABLE and a retry.
 */

import type { Logger } from 'pino'
import { Fault, toFault } from '../base/fault.ts'
import { type Pace, processPace } from '../base/right-of-way.ts'
import type { TenantId } from '../core/tenant.ts'
import { limits } from '../limits.ts'
import {
  type BatchBounds,
  isContention,
  type LineageOutcome,
  type ReceivedEvent,
  receiveLineage,
} from '../store/lineage/events.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** Bytes of the events in one merge transaction; a single event may exceed it. */
const lineageBatchBytes = 4 * 1024 * 1024

/** Edges of the events in one merge transaction; a single event may exceed it. */
const lineageBatchPairs = 2_000

/** Events in one merge transaction. */
const lineageBatchCount = 64

export interface ReceiverParts {
  readonly store: Store
  readonly metrics: Metrics
  readonly log: Logger
  /** The process's own unless a test sets the time. */
  readonly pace?: Pace
}

interface Waiting extends ReceivedEvent {
  readonly settle: PromiseWithResolvers<LineageOutcome>
}

type LaneName = 'light' | 'heavy'

interface Lane {
  readonly name: LaneName
  readonly waiting: Waiting[]
  isWorking: boolean
}

interface Queue {
  readonly light: Lane
  readonly heavy: Lane
  bytes: number
}

/** Events of a batch that wait again. */
interface Unmerged {
  readonly later: readonly Waiting[]
  readonly heavy: readonly Waiting[]
}

/** Attempts at one batch when it conflicts with other replicas, and milliseconds before the second attempt. */
const attemptsMax = 8
/** Milliseconds after which a merge transaction begins no further event. */
const batchMs = 100
/** An event with more edges (inputs × outputs), or whose cycle check reads more edges, is heavy. */
const lightPairsMax = 500
const lightSearchEdgesMax = 10_000
const backoffMs = 5
/**
 * On the one connection of the embedded store an event of 2,500 edges holds up everybody for a tenth of a second. Beside
 * others at work, that is tolerable once a second: milliseconds of rest by edges of a batch, and without others' work.
 */
const standBack = { pairsMin: 100, msPerPair: 0.4, msMax: 1_000, quietMs: 50 } as const

export class LineageReceiver {
  /** Holds queues only of tenants whose events are waiting or being merged. */
  readonly #queues = new Map<TenantId, Queue>()

  constructor(readonly parts: ReceiverParts) {}

  /**
   * Stores an event durably and merges its edges.
   * @throws Fault `unavailable` when it could not be stored, or was stored and is to be merged later
   */
  async receive(tenant: TenantId, received: ReceivedEvent): Promise<LineageOutcome> {
    try {
      const outcome = await this.#enqueue(tenant, received)
      this.parts.metrics.lineageEvents.inc({ outcome: outcome.kind })
      if (outcome.kind === 'pending')
        throw new Fault(
          'unavailable',
          'The event is stored, and its edges will be merged later. You need not send it again.',
        )
      return outcome
    } catch (thrown) {
      const fault = toFault(thrown)
      if (fault.kind === 'unavailable') throw fault
      // Every failure from the insert on becomes 503.
      throw new Fault('unavailable', 'The event could not be stored. Send it again.', { cause: fault })
    }
  }

  #enqueue(tenant: TenantId, received: ReceivedEvent): Promise<LineageOutcome> {
    const queue = this.#queues.get(tenant) ?? newQueue()
    const { light, heavy } = queue
    const bytes = queue.bytes + received.event.body.length
    const isFull = light.waiting.length + heavy.waiting.length >= limits.lineageQueueCount
    // One event is taken whatever its size.
    if (isFull || (queue.bytes > 0 && bytes > limits.lineageQueueBytes))
      throw new Fault('unavailable', 'Too many lineage events are waiting. Send the event again later.')
    this.#queues.set(tenant, queue)
    const settle = Promise.withResolvers<LineageOutcome>()
    const name = pairsOf(received.event) > lightPairsMax ? 'heavy' : 'light'
    this.#put(tenant, queue, name, { ...received, settle })
    return settle.promise
  }

  #put(tenant: TenantId, queue: Queue, name: LaneName, event: Waiting): void {
    queue[name].waiting.push(event)
    queue.bytes += event.event.body.length
    if (!queue[name].isWorking) void this.#work(tenant, queue, queue[name])
  }

  async #work(tenant: TenantId, queue: Queue, lane: Lane): Promise<void> {
    lane.isWorking = true
    while (lane.waiting.length > 0) {
      const batch = takeBatch(lane)
      await this.#standBack(tenant, batch)
      const { later, heavy } = await this.#merge(tenant, lane.name, batch)
      for (const { event } of batch) queue.bytes -= event.body.length
      // In their order, before those that came meanwhile.
      lane.waiting.unshift(...later)
      for (const { event } of later) queue.bytes += event.body.length
      for (const one of heavy) this.#put(tenant, queue, 'heavy', one)
    }
    lane.isWorking = false
    if (!queue.light.isWorking && !queue.heavy.isWorking) this.#queues.delete(tenant)
  }

  /** Lets others go on before a batch of many edges, for a bounded time; at once where nobody is at work. */
  async #standBack(tenant: TenantId, batch: readonly Waiting[]): Promise<void> {
    const { store, pace = processPace } = this.parts
    const pairs = batch.reduce((sum, { event }) => sum + pairsOf(event), 0)
    if (pairs < standBack.pairsMin || store.poolUse(tenant).max > 1) return
    const endMs = pace.now() + Math.min(pairs * standBack.msPerPair, standBack.msMax)
    for (;;) {
      const restMs = Math.min(standBack.quietMs - store.poolUse(tenant).quietMs, endMs - pace.now())
      if (restMs <= 0) return
      await pace.sleep(restMs)
    }
  }

  /** Never throws: every event of the batch gets its outcome or its Fault, or is one of those that are merged later. */
  async #merge(tenant: TenantId, lane: LaneName, batch: readonly Waiting[]): Promise<Unmerged> {
    const unmerged: Record<keyof Unmerged, Waiting[]> = { later: [], heavy: [] }
    try {
      const outcomes = await this.#mergeOrStore(tenant, lane, batch)
      for (const [index, one] of batch.entries()) {
        const outcome = outcomes[index] ?? { kind: 'pending' }
        if (outcome.kind === 'later' || outcome.kind === 'heavy') unmerged[outcome.kind].push(one)
        else one.settle.resolve(outcome)
      }
    } catch (error) {
      const fault = toFault(error)
      // A failure that one event causes in the database must not fail the others.
      if (fault.kind !== 'unavailable' && batch.length > 1)
        for (const one of batch) {
          const { later, heavy } = await this.#merge(tenant, lane, [one])
          unmerged.later.push(...later)
          unmerged.heavy.push(...heavy)
        }
      else for (const { settle } of batch) settle.reject(fault)
    }
    return unmerged
  }

  async #mergeOrStore(
    tenant: TenantId,
    lane: LaneName,
    batch: readonly Waiting[],
  ): Promise<readonly LineageOutcome[]> {
    const edgesMax = lane === 'light' ? { edgesMax: lightSearchEdgesMax } : {}
    const bounds = { batchMs, ...edgesMax }
    try {
      return await this.#attempt(tenant, batch, true, bounds)
    } catch (error) {
      const fault = toFault(error)
      if (fault.kind !== 'unavailable' && batch.length > 1) throw fault
      this.parts.log.error(
        { err: fault.cause ?? fault, detail: fault.detail, tenant, events: batch.length },
        'lineage events could not be merged; they are stored for later',
      )
      return await this.#attempt(tenant, batch, false)
    }
  }

  async #attempt(
    tenant: TenantId,
    batch: readonly ReceivedEvent[],
    merging: boolean,
    bounds: BatchBounds = {},
  ): Promise<readonly LineageOutcome[]> {
    for (let attempt = 1; ; attempt++)
      try {
        return await receiveLineage(this.parts.store, tenant, batch, merging, bounds)
      } catch (error) {
        const fault = toFault(error)
        if (!isContention(fault) || attempt === attemptsMax) throw fault
        this.parts.metrics.lineageRetries.inc()
        // Jitter keeps replicas that conflicted once from conflicting again.
        await Bun.sleep(backoffMs * 2 ** (attempt - 1) * jitter())
      }
  }
}

/** 0.5 to 1.5. */
function jitter(): number {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1))
  return 0.5 + random / 2 ** 32
}

function newQueue(): Queue {
  const lane = (name: LaneName): Lane => ({ name, waiting: [], isWorking: false })
  return { light: lane('light'), heavy: lane('heavy'), bytes: 0 }
}

const pairsOf = ({ inputs, outputs }: ReceivedEvent['event']) => inputs.length * outputs.length

/** Takes as many events from the head of the lane as fit in one transaction; of heavy events one. */
function takeBatch({ name, waiting }: Lane): readonly Waiting[] {
  let count = 0
  let pairs = 0
  let bytes = 0
  for (const { event } of waiting) {
    const [morePairs, moreBytes] = [pairsOf(event), event.body.length]
    const full = pairs + morePairs > lineageBatchPairs || bytes + moreBytes > lineageBatchBytes
    if (count === (name === 'heavy' ? 1 : lineageBatchCount) || (count > 0 && full)) break
    count++
    pairs += morePairs
    bytes += moreBytes
  }
  return waiting.splice(0, count)
}
