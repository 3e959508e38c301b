/**
 * Holds the process's DuckDB. A damaged file can break an assertion of DuckDB, which then refuses every statement of
 * everybody; so this one is restarted after such an error. It runs no statement of users.
 */

import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { type InstanceSettings, lockedInstance } from './locked-instance.ts'

/** Where a connection can be had. */
export interface Connects {
  connect(): Promise<DuckDBConnection>
}

interface Places {
  /** The folder that statements may read. */
  readonly files: string
  /** The folder for data that does not fit in memory; each start has one of its own in it. */
  readonly spill: string
}

/** Enough to read one file. */
const scratchBounds = { threads: 1, memoryBytesMax: 2 ** 28, spillBytesMax: 2 ** 26 }

/** Whether DuckDB gave up, which may have been for another statement. */
export function isFatal(thrown: unknown): boolean {
  for (let at: unknown = thrown; at instanceof Error; at = at.cause)
    if (/^(FATAL|INTERNAL) Error/i.test(at.message)) return true
  return false
}

export class LockedDatabase implements Connects {
  #instance: DuckDBInstance | undefined
  #spill = ''
  #starts = 0
  #folders = 0
  #starting: Promise<void> | undefined

  private constructor(
    private readonly settings: InstanceSettings,
    private readonly places: Places,
    private readonly onRestart: () => void,
  ) {}

  /**
   * @param onRestart called when connections of before are of no use any more
   * @throws an error of DuckDB where it does not start
   */
  static async start(
    settings: InstanceSettings,
    places: Places,
    onRestart: () => void,
  ): Promise<LockedDatabase> {
    const database = new LockedDatabase(settings, places, onRestart)
    const { instance, spill } = await database.#started(settings)
    database.#instance = instance
    database.#spill = spill
    return database
  }

  /** Counts the starts: connections of an earlier one are of no use. */
  get starts(): number {
    return this.#starts
  }

  async connect(): Promise<DuckDBConnection> {
    await this.#starting
    if (this.#instance === undefined) throw new Error('DuckDB is closed')
    return await this.#instance.connect()
  }

  /** Restarts DuckDB where what was thrown has ended it for all. @throws an error of DuckDB where it does not start */
  async restartAfter(thrown: unknown): Promise<void> {
    if (!isFatal(thrown) || this.#instance === undefined) return
    this.#starting ??= this.#restart()
    await this.#starting
  }

  /** Uses a connection to a DuckDB that exists for this alone, so that what happens there ends nothing else. */
  async apart<T>(use: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
    const { instance, spill } = await this.#started(scratchBounds)
    try {
      const connection = await instance.connect()
      try {
        return await use(connection)
      } finally {
        connection.closeSync()
      }
    } finally {
      instance.closeSync()
      await rm(spill, { recursive: true, force: true })
    }
  }

  close(): void {
    this.#instance?.closeSync()
    this.#instance = undefined
  }

  async #restart(): Promise<void> {
    try {
      if (await this.#answers()) return
      const [ended, endedSpill] = [this.#instance, this.#spill]
      const { instance, spill } = await this.#started(this.settings)
      if (this.#instance === undefined) {
        // It was closed meanwhile.
        instance.closeSync()
        return
      }
      this.#instance = instance
      this.#spill = spill
      this.#starts++
      this.onRestart()
      ended?.closeSync()
      await rm(endedSpill, { recursive: true, force: true })
    } finally {
      this.#starting = undefined
    }
  }

  /** Not every internal error ends DuckDB. */
  async #answers(): Promise<boolean> {
    try {
      const connection = await this.#instance?.connect()
      await connection?.run('SELECT 1')
      connection?.closeSync()
      return true
    } catch {
      return false
    }
  }

  async #started(
    settings: InstanceSettings,
  ): Promise<{ readonly instance: DuckDBInstance; readonly spill: string }> {
    const spill = join(this.places.spill, String(++this.#folders))
    await rm(spill, { recursive: true, force: true })
    await mkdir(spill, { recursive: true, mode: 0o700 })
    return { instance: await lockedInstance(settings, this.places.files, spill), spill }
  }
}
