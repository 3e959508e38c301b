/**
 * Receives object-created events from SQS by long polling (docs/reference/detection.md 1.4). It deletes a message only
 * after its hits are durable. A message that cannot be parsed is stored aside, so that it neither blocks the queue nor
 * is lost.
 */

import { setTimeout } from 'node:timers/promises'
import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import type { Logger } from 'pino'
import type { Hit } from '../core/detection.ts'
import type { TenantId } from '../core/tenant.ts'
import { credentialByRoot } from '../storage/access.ts'
import { sealedColumns } from '../store/database/sealed-columns.ts'
import { seal } from '../store/database/sealing.ts'
import { setEventAside } from '../store/detection/runs.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { HitQueue } from './hit-queue.ts'
import { parseStorageEvent } from './storage-event-message.ts'

interface StorageEventOptions {
  readonly queueUrl: string
  readonly region: string
  /** One queue per tenant (docs/reference/detection.md 1.4). */
  readonly tenant: TenantId
  /** Seconds of one long poll, at most 20. */
  readonly waitSeconds?: number
}

/** Seconds for which a received message is hidden from other replicas. */
const visibilitySeconds = 60
const messagesMax = 10
const backoffMsMax = 60_000

interface StorageEventParts {
  readonly store: Store
  readonly queue: HitQueue
  readonly metrics: Metrics
  readonly log: Logger
}

export class StorageEventListener {
  readonly #client: SQSClient
  readonly #stop = new AbortController()
  readonly #done: Promise<void>

  /** Starts to listen. The queue belongs to the operator, so the credentials of the process are used. */
  constructor(
    private readonly parts: StorageEventParts,
    private readonly options: StorageEventOptions,
  ) {
    this.#client = new SQSClient({
      region: options.region,
      // Set explicitly, because the library logs a warning for each request when it must derive the endpoint.
      endpoint: new URL(options.queueUrl).origin,
      maxAttempts: 3,
    })
    this.#done = this.#listen()
  }

  /** Ends the poll in flight. SQS delivers again what was received and is not durable. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#done
    this.#client.destroy()
  }

  async #listen(): Promise<void> {
    const { signal } = this.#stop
    let failures = 0
    while (!signal.aborted) {
      try {
        const { Messages: messages = [] } = await this.#client.send(
          new ReceiveMessageCommand({
            QueueUrl: this.options.queueUrl,
            MaxNumberOfMessages: messagesMax,
            WaitTimeSeconds: this.options.waitSeconds ?? 20,
            VisibilityTimeout: visibilitySeconds,
          }),
          { abortSignal: signal },
        )
        const handled: Message[] = []
        for (const message of messages) if (await this.#handle(message)) handled.push(message)
        await this.#delete(handled)
        failures = handled.length === messages.length ? 0 : failures + 1
      } catch (err) {
        if (signal.aborted) return
        failures++
        this.parts.metrics.storageEvents.inc({ outcome: 'failed' })
        this.parts.log.error({ err, failures }, 'the storage event queue could not be read')
      }
      const backoffMs = failures === 0 ? 0 : Math.min(1_000 * 2 ** (failures - 1), backoffMsMax)
      if (backoffMs > 0) await setTimeout(backoffMs, undefined, { signal }).catch(() => {})
    }
  }

  /** @returns whether the message may be deleted */
  async #handle(message: Message): Promise<boolean> {
    const { store, queue, metrics, log } = this.parts
    const { tenant } = this.options
    const body = message.Body ?? ''
    try {
      const event = parseStorageEvent(body)
      if (event.kind === 'unreadable') {
        const id = message.MessageId ?? new Bun.CryptoHasher('sha256').update(body).digest('hex')
        const sealed = seal(store.secretsKey, sealedColumns.setAside.place(tenant, id), body)
        await setEventAside(store, tenant, { id, reason: event.reason, sealed })
        metrics.storageEvents.inc({ outcome: 'set_aside' })
        log.warn(
          { messageId: id, reason: event.reason },
          'a storage event could not be read and was set aside',
        )
        return true
      }
      const hits = await this.#hits(event.metadataLocations)
      await queue.push(tenant, hits)
      metrics.storageEvents.inc({ outcome: hits.length > 0 ? 'queued' : 'ignored' })
      return true
    } catch (err) {
      metrics.storageEvents.inc({ outcome: 'failed' })
      log.error(
        { err, messageId: message.MessageId },
        'a storage event could not be queued; SQS will deliver it again',
      )
      return false
    }
  }

  /** A file outside every configured storage root belongs to no table of this tenant. */
  async #hits(locations: readonly string[]): Promise<readonly Hit[]> {
    const { tenant } = this.options
    const hits: Hit[] = []
    for (const metadataLocation of locations) {
      const credential = await credentialByRoot(this.parts.store, tenant, metadataLocation)
      if (credential !== undefined)
        hits.push({ tenant, source: 'storage-event', metadataLocation, credentialId: credential.id })
    }
    return hits
  }

  async #delete(messages: readonly Message[]): Promise<void> {
    if (messages.length === 0) return
    await this.#client.send(
      new DeleteMessageBatchCommand({
        QueueUrl: this.options.queueUrl,
        Entries: messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
      }),
    )
  }
}
