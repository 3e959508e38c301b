/**
 * Connections that wait for another statement over the relations that they hold. A relation is a temporary view
 * whose text names files that never change and that one scope alone was given, so connections of one text are
 * alike; and nothing but a statement that was proven to be a SELECT over these views ever ran on one.
 */

import { basename } from 'node:path'
import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api'
import { limits } from '../../limits.ts'

/** A connection with its relations. */
export interface HeldConnection {
  readonly connection: DuckDBConnection
  /** The statement that ran last, for when the same text comes again. */
  readonly last?: PreparedText | undefined
}

/** A proven statement, prepared on its connection. */
export interface PreparedText {
  readonly sql: string
  readonly prepared: DuckDBPreparedStatement
}

interface Idle extends HeldConnection {
  readonly key: string
}

export class KeptConnections {
  /** In order of use, the least recent first. */
  readonly #idle: Idle[] = []
  #keyLength = 0

  /** How many wait. */
  get count(): number {
    return this.#idle.length
  }

  /** One that waits under exactly this key, for its taker alone; undefined where none does. */
  take(key: string): HeldConnection | undefined {
    const at = this.#idle.findLastIndex((idle) => idle.key === key)
    return at === -1 ? undefined : this.#remove(at)
  }

  /** Lets one wait; the least recently used ones end where there are too many. */
  give(key: string, held: HeldConnection): void {
    this.#idle.push({ key, ...held })
    this.#keyLength += key.length
    while (
      this.#idle.length > limits.engineIdleConnections ||
      this.#keyLength > limits.engineIdleRelationsLength
    )
      this.#remove(0)?.connection.closeSync()
  }

  /** Ends those whose relations name a file, which a prepared statement may hold open. */
  drop(path: string): void {
    // Keys quote paths; the name, which no other file has, needs no quotes.
    const name = basename(path)
    for (let at = this.#idle.length - 1; at >= 0; at--)
      if (this.#idle[at]?.key.includes(name)) this.#remove(at)?.connection.closeSync()
  }

  /** Ends all that wait. */
  close(): void {
    while (this.#idle.length > 0) this.#remove(0)?.connection.closeSync()
  }

  #remove(at: number): HeldConnection | undefined {
    const [idle] = this.#idle.splice(at, 1)
    this.#keyLength -= idle?.key.length ?? 0
    return idle
  }
}
