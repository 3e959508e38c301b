/**
 * Connections that wait for another statement over the relations that they hold. A relation is a temporary view
 * whose text names files that never change and that one scope alone was given, so connections of one text are
 * alike; and nothing but a statement that was proven to be a SELECT over these views ever ran on one.
 */

import type { DuckDBConnection } from '@duckdb/node-api'
import { limits } from '../../limits.ts'

interface Idle {
  readonly key: string
  readonly connection: DuckDBConnection
}

export class KeptConnections {
  /** In order of use, the least recent first. */
  #idle: Idle[] = []
  #keyLength = 0

  /** How many wait. */
  get count(): number {
    return this.#idle.length
  }

  /** One that waits under exactly this key, for its taker alone; undefined where none does. */
  take(key: string): DuckDBConnection | undefined {
    const at = this.#idle.findLastIndex((idle) => idle.key === key)
    if (at === -1) return undefined
    this.#keyLength -= key.length
    return this.#idle.splice(at, 1)[0]?.connection
  }

  /** Lets one wait; the least recently used ones end where there are too many. */
  give(key: string, connection: DuckDBConnection): void {
    this.#idle.push({ key, connection })
    this.#keyLength += key.length
    while (
      this.#idle.length > limits.engineKeptConnections ||
      this.#keyLength > limits.engineKeptRelationsLength
    ) {
      const oldest = this.#idle.shift()
      this.#keyLength -= oldest?.key.length ?? 0
      oldest?.connection.closeSync()
    }
  }

  /** Ends all that wait. */
  close(): void {
    for (const { connection } of this.#idle) connection.closeSync()
    this.#idle = []
    this.#keyLength = 0
  }
}
