/**
 * Keeps the lineage of completed statements, aggregated, off their path: a run only leaves what it ran in memory, and a
 * timer finds and writes the lineage of all. What a process that dies had not written is lost.
 */

import type { Logger } from 'pino'
import type { Clock } from '../../../base/clock.ts'
import { threadTurn } from '../../../base/thread-turns.ts'
import { readLineageBounds } from '../../../core/read-lineage.ts'
import type { TenantId } from '../../../core/tenant.ts'
import { addReadLineage, type ReadLineageEntry } from '../../../store/query/read-lineage.ts'
import type { Store } from '../../../store/store.ts'
import type { CompiledQuery } from '../../compile/compile.ts'
import type { QueryContext } from '../../query-service.ts'
import type { QueryProgress } from './usage-of.ts'

interface Pending {
  readonly tenant: TenantId
  readonly principal: string
  readonly fingerprint: string
  readonly compiled: CompiledQuery
  reads: number
  lastMs: number
}

interface RecorderParts {
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
}

/** Lineages that are found before other work of the process has its turn. */
const lineagesATurn = 20

export class LineageRecorder {
  #pending = new Map<string, Pending>()
  #dropped = 0
  #flushing: Promise<void> = Promise.resolve()
  readonly #timer: Timer

  constructor(private readonly parts: RecorderParts) {
    this.#timer = setInterval(() => void this.flush(), readLineageBounds.flushMs)
    this.#timer.unref()
  }

  /** Notes a completed statement. Never throws; beyond a bound it is only counted. */
  note(
    { tenant, principal: reader, recordedAs: principal = reader }: QueryContext,
    { compiled, fingerprint }: QueryProgress,
  ): void {
    if (compiled === undefined || fingerprint === undefined || compiled.reads.length === 0) return
    // The same text may name other tables for another catalog or search path.
    const tables = compiled.reads.map(({ table }) => table.ref)
    const key = JSON.stringify([tenant, principal.sub, fingerprint, tables, compiled.columns.length])
    const known = this.#pending.get(key)
    const lastMs = this.parts.clock.now()
    if (known !== undefined) {
      known.reads++
      known.lastMs = lastMs
    } else if (this.#pending.size >= readLineageBounds.pendingMax) this.#dropped++
    else this.#pending.set(key, { tenant, principal: principal.sub, fingerprint, compiled, reads: 1, lastMs })
  }

  /** Writes what was noted before the call. Never rejects; what could not be written is dropped and logged. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#write())
    return this.#flushing
  }

  /** Writes what is left, and ends the timer. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }

  async #write(): Promise<void> {
    const { store, log } = this.parts
    const [pending, dropped] = [this.#pending, this.#dropped]
    this.#pending = new Map()
    this.#dropped = 0
    if (dropped > 0) log.warn({ dropped }, 'the lineage of statements was not kept: too many waited')
    for (const [tenant, all] of Map.groupBy(pending.values(), (one) => one.tenant)) {
      try {
        await addReadLineage(store, tenant, await this.#entries(all))
      } catch (err) {
        log.warn({ err, tenant, dropped: all.length }, 'the lineage of statements could not be kept')
      }
    }
  }

  async #entries(all: readonly Pending[]): Promise<readonly ReadLineageEntry[]> {
    const entries: ReadLineageEntry[] = []
    for (const [index, { principal, fingerprint, compiled, reads, lastMs }] of all.entries()) {
      if (index % lineagesATurn === lineagesATurn - 1) await threadTurn()
      const lineage = compiled.lineage()
      if (lineage.columns.length > 0)
        entries.push({ principal, fingerprint, lineage, reads, lastAt: new Date(lastMs) })
    }
    return entries
  }
}
