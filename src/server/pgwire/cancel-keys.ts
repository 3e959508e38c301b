/** Registers the keys with which clients cancel statements, and forwards requests for other replicas by a channel. */

import { createHash, randomBytes, randomInt } from 'node:crypto'
import { sameSecret } from '../../base/same-secret.ts'

/** A request as replicas exchange it. It has a digest of the key, which cannot be used to cancel from outside. */
export interface CancelRequest {
  readonly processId: number
  /** Hex SHA-256. */
  readonly keyDigest: string
}

/** Sends cancel requests to the other replicas. */
interface CancelChannel {
  /** @throws where the requests cannot be sent */
  publish(requests: readonly CancelRequest[]): Promise<void>
}

/** Requests in one message: PostgreSQL limits notifications to 8,000 bytes, and a request takes about 105. */
const requestsMax = 64

/** Requests that are published as one message, after the earlier batches. */
interface Batch {
  readonly requests: CancelRequest[]
  readonly published: Promise<void>
}

interface CancelKey {
  /** Identifies the connection to the client: a positive number of 31 bits, not a process of the system. */
  readonly processId: number
  readonly key: Uint8Array
  release(): void
}

interface Registered {
  readonly keyDigest: string
  readonly cancel: () => void
}

const processIdMax = 2 ** 31 - 1

export class CancelKeys {
  readonly #registered = new Map<number, Registered>()
  /** Collects requests until it is published. */
  #batch: Batch | undefined
  #lastPublished: Promise<void> = Promise.resolve()

  constructor(readonly channel: CancelChannel | undefined) {}

  /** @param keyBytes 4 in protocol 3.0, more since 3.2 */
  register(keyBytes: number, cancel: () => void): CancelKey {
    let processId = randomInt(1, processIdMax)
    while (this.#registered.has(processId)) processId = randomInt(1, processIdMax)
    const key = randomBytes(keyBytes)
    this.#registered.set(processId, { keyDigest: digest(key), cancel })
    return { processId, key, release: () => void this.#registered.delete(processId) }
  }

  /** Cancels here, or forwards to the other replicas. The caller never learns whether the key exists. */
  async request(processId: number, key: Uint8Array): Promise<void> {
    const request = { processId, keyDigest: digest(key) }
    if (this.cancelHere(request) || this.channel === undefined) return
    if (this.#batch === undefined || this.#batch.requests.length === requestsMax)
      this.#batch = this.#openBatch(this.channel)
    this.#batch.requests.push(request)
    await this.#batch.published
  }

  /** One message at a time, because anyone may send requests and each message costs the store a transaction. */
  #openBatch(channel: CancelChannel): Batch {
    const requests: CancelRequest[] = []
    const published = this.#lastPublished
      .catch(() => {})
      .then(() => {
        if (this.#batch?.requests === requests) this.#batch = undefined
        return channel.publish(requests)
      })
    this.#lastPublished = published
    return { requests, published }
  }

  /** @returns whether the key belongs to a connection of this process */
  cancelHere({ processId, keyDigest }: CancelRequest): boolean {
    const found = this.#registered.get(processId)
    if (found === undefined || !sameSecret(found.keyDigest, keyDigest)) return false
    found.cancel()
    return true
  }
}

function digest(key: Uint8Array): string {
  return createHash('sha256').update(key).digest('hex')
}
