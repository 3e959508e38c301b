/** The keys by which clients cancel: of connections here, and of those at another replica by way of a channel. */

import { createHash, randomBytes, randomInt } from 'node:crypto'
import { sameSecret } from '../../base/same-secret.ts'

/** What travels between replicas: which connection, and a digest of the key, which proves nothing by itself. */
export interface CancelRequest {
  readonly processId: number
  /** Hex SHA-256. */
  readonly keyDigest: string
}

/** How a replica tells the others. */
export interface CancelChannel {
  /** @throws where the others cannot be told */
  publish(requests: readonly CancelRequest[]): Promise<void>
}

/** Requests of one message: PostgreSQL's notifications have less than 8,000 bytes, and a request has some 105. */
const requestsMax = 64

/** What goes as one message once those before it have gone. */
interface Batch {
  readonly requests: CancelRequest[]
  readonly told: Promise<void>
}

export interface CancelKey {
  /** What the client knows the connection by: positive, 31 bits, no process of any system. */
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
  /** Takes requests until its turn comes. */
  #batch: Batch | undefined
  #lastTold: Promise<void> = Promise.resolve()

  constructor(readonly channel: CancelChannel | undefined) {}

  /** @param keyBytes 4 in protocol 3.0, more since 3.2 */
  register(keyBytes: number, cancel: () => void): CancelKey {
    let processId = randomInt(1, processIdMax)
    while (this.#registered.has(processId)) processId = randomInt(1, processIdMax)
    const key = randomBytes(keyBytes)
    this.#registered.set(processId, { keyDigest: digest(key), cancel })
    return { processId, key, release: () => void this.#registered.delete(processId) }
  }

  /** Cancels here, or lets the other replicas look. Nothing tells a caller whether there was such a key. */
  async request(processId: number, key: Uint8Array): Promise<void> {
    const request = { processId, keyDigest: digest(key) }
    if (this.cancelHere(request) || this.channel === undefined) return
    if (this.#batch === undefined || this.#batch.requests.length === requestsMax)
      this.#batch = this.#openBatch(this.channel)
    this.#batch.requests.push(request)
    await this.#batch.told
  }

  /** One message at a time: anybody may send requests, and each message costs the store a transaction. */
  #openBatch(channel: CancelChannel): Batch {
    const requests: CancelRequest[] = []
    const told = this.#lastTold
      .catch(() => {})
      .then(() => {
        if (this.#batch?.requests === requests) this.#batch = undefined
        return channel.publish(requests)
      })
    this.#lastTold = told
    return { requests, told }
  }

  /** @returns whether the key is that of a connection here */
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
