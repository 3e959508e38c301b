/**
 * Caches connections with their relations, for the next statement over the same relations. A relation is a temporary
 * view whose text names files that never change and belong to one scope, so connections of one text are equivalent.
 * Only statements that were proven to be a SELECT over these views ever ran on a cached connection.
 */

import { basename } from 'node:path'
import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api'
import { limits } from '../../limits.ts'

/** A connection that has its relations. */
export interface HeldConnection {
  readonly connection: DuckDBConnection
  /** The statement that ran last; it is reused for the same text. */
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

export class ConnectionCache {
  /** In order of use, the least recent first. */
  readonly #idle: Idle[] = []
  #keyLength = 0

  /** How many connections are cached. */
  get count(): number {
    return this.#idle.length
  }

  /** Removes and returns a connection with exactly this key; undefined where there is none. */
  take(key: string): HeldConnection | undefined {
    const at = this.#idle.findLastIndex((idle) => idle.key === key)
    return at === -1 ? undefined : this.#remove(at)
  }

  /** Adds a connection; closes the least recently used ones where there are too many. */
  give(key: string, held: HeldConnection): void {
    this.#idle.push({ key, ...held })
    this.#keyLength += key.length
    while (
      this.#idle.length > limits.engineIdleConnections ||
      this.#keyLength > limits.engineIdleRelationsLength
    )
      this.#remove(0)?.connection.closeSync()
  }

  /** Closes connections whose relations name a file, because a prepared statement may hold the file open. */
  drop(path: string): void {
    // Keys have quoted paths. The file's name is unique and needs no quoting.
    const name = basename(path)
    for (let at = this.#idle.length - 1; at >= 0; at--)
      if (this.#idle[at]?.key.includes(name)) this.#remove(at)?.connection.closeSync()
  }

  /** Closes all connections. */
  close(): void {
    while (this.#idle.length > 0) this.#remove(0)?.connection.closeSync()
  }

  #remove(at: number): HeldConnection | undefined {
    const [idle] = this.#idle.splice(at, 1)
    this.#keyLength -= idle?.key.length ?? 0
    return idle
  }
}
