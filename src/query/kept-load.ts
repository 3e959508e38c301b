/**
 * What a statement was compiled from, for a run that follows at once and is part of the same request: loading it
 * again would ask the same questions twice for one answer. It serves one run, or none.
 */

import { limits } from '../limits.ts'
import type { CompiledQuery } from './compile.ts'
import type { LoadedTables } from './load-tables.ts'
import type { PreparedQuery, QueryContext } from './query-service.ts'

export interface KeptLoad {
  readonly context: QueryContext
  /** `performance.now()`, and the clock's time, when the statement began. */
  readonly startMs: number
  readonly startedAtMs: number
  readonly fingerprint: string | undefined
  readonly loaded: LoadedTables
  readonly compiled: CompiledQuery
}

export class KeptLoads {
  readonly #loads = new WeakMap<PreparedQuery, { readonly load: KeptLoad; readonly keptMs: number }>()

  keep(query: PreparedQuery, load: KeptLoad): void {
    // With parameters, the types given now and those settled on may compile to different statements.
    if (query.parameters.length === 0) this.#loads.set(query, { load, keptMs: performance.now() })
  }

  /**
   * What was loaded for this query, once; the next run loads for itself.
   * @returns undefined for another context's, and where the run did not follow at once
   */
  take(query: PreparedQuery, context: QueryContext): KeptLoad | undefined {
    const kept = this.#loads.get(query)
    this.#loads.delete(query)
    if (kept === undefined || kept.load.context !== context) return undefined
    return performance.now() - kept.keptMs <= limits.keptLoadMs ? kept.load : undefined
  }
}
