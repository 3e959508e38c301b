/**
 * Merges events in batches: each tenant has one transaction at a time, which takes all events that came in since the
 * last one began. Events of one process therefore never contend, and share the round trip of a transaction. Conflicts
 * with other replicas are resolved by SERIALIZABLE and a retry.
 */

import type { Logger } from 'pino'
import { Fault, toFault } from '../base/fault.ts'
import type { TenantId } from '../core/tenant.ts'
import { limits } from '../limits.ts'
import {
  isContention,
  type LineageOutcome,
  type ReceivedEvent,
  receiveLineage,
} from '../store/lineage/events.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from '../telemetry/metrics.ts'

export interface ReceiverParts {
  readonly store: Store
  readonly metrics: Metrics
  readonly log: Logger
}

interface Waiting extends ReceivedEvent {
  readonly settle: PromiseWithResolvers<LineageOutcome>
}

interface Queue {
  readonly waiting: Waiting[]
  bytes: number
}

/** Attempts at one batch when it conflicts with other replicas, and milliseconds before the second attempt. */
const attemptsMax = 8
const backoffMs = 5

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
    const settle = Promise.withResolvers<LineageOutcome>()
    const queue = this.#queues.get(tenant)
    if (queue === undefined) {
      const fresh: Queue = { waiting: [{ ...received, settle }], bytes: received.event.body.length }
      this.#queues.set(tenant, fresh)
      void this.#work(tenant, fresh)
      return settle.promise
    }
    const bytes = queue.bytes + received.event.body.length
    if (queue.waiting.length >= limits.lineageQueueCount || bytes > limits.lineageQueueBytes)
      throw new Fault('unavailable', 'Too many lineage events are waiting. Send the event again later.')
    queue.waiting.push({ ...received, settle })
    queue.bytes = bytes
    return settle.promise
  }

  async #work(tenant: TenantId, queue: Queue): Promise<void> {
    while (queue.waiting.length > 0) {
      const batch = takeBatch(queue)
      await this.#merge(tenant, batch)
    }
    this.#queues.delete(tenant)
  }

  /** Never throws: every event of the batch gets its outcome or its Fault. */
  async #merge(tenant: TenantId, batch: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await this.#mergeOrStore(tenant, batch)
      for (const [index, { settle }] of batch.entries())
        settle.resolve(outcomes[index] ?? { kind: 'pending' })
    } catch (error) {
      const fault = toFault(error)
      // A failure that one event causes in the database must not fail the others.
      if (fault.kind !== 'unavailable' && batch.length > 1)
        for (const one of batch) await this.#merge(tenant, [one])
      else for (const { settle } of batch) settle.reject(fault)
    }
  }

  async #mergeOrStore(tenant: TenantId, batch: readonly Waiting[]): Promise<readonly LineageOutcome[]> {
    try {
      return await this.#attempt(tenant, batch, true)
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
  ): Promise<readonly LineageOutcome[]> {
    for (let attempt = 1; ; attempt++)
      try {
        return await receiveLineage(this.parts.store, tenant, batch, merging)
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

/** Takes as many events from the head of the queue as fit in one transaction. */
function takeBatch(queue: Queue): readonly Waiting[] {
  let count = 0
  let pairs = 0
  let bytes = 0
  for (const { event } of queue.waiting) {
    const [morePairs, moreBytes] = [event.inputs.length * event.outputs.length, event.body.length]
    const full = pairs + morePairs > limits.lineageBatchPairs || bytes + moreBytes > limits.lineageBatchBytes
    if (count === limits.lineageBatchCount || (count > 0 && full)) break
    count++
    pairs += morePairs
    bytes += moreBytes
  }
  queue.bytes -= bytes
  return queue.waiting.splice(0, count)
}
