/**
 * Checks, after the client has its error, whether the engine's error depends on hidden values: it runs the statement
 * again over copies of what the client may see. It never changes a response. If the outcomes differ, it logs that
 * without values.
 */

import type { Logger } from 'pino'
import { FairQueue } from '../../base/fair-queue.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { CopiedRun, CopiedStatement } from '../../engine/engine.ts'
import type { EngineErrorCode } from '../../engine/engine-error.ts'
import { type EngineKinds, engineOf } from '../../engine/engine-kinds.ts'
import { limits } from '../../limits.ts'
import type { Metrics, TripwireSkip } from '../../telemetry/metrics.ts'
import type { SqlError } from '../compile/base/sql-error.ts'
import { renderSql } from '../compile/emit/render.ts'
import { type Attempt, outputsOf, tableSnapshotsOf, tablesWithDeletes } from './attempt/attempt.ts'
import type { QueryProgress } from './record/usage-of.ts'

/** Bytes of text that are copied for one check. */
const tripwireBytesMax = 64 * 1024 * 1024

/** Rows that are copied for one check. */
const tripwireRowsMax = 2_000_000

/** Errors that wait to be checked. */
const tripwireQueueMax = 8

interface TripwireParts {
  readonly engines: EngineKinds
  readonly log: Logger
  readonly metrics: Pick<Metrics, 'tripwireRuns' | 'tripwireSkipped'>
  /** Default: the bounds of limits.ts. */
  readonly bounds?: Partial<TripwireBounds>
}

export interface TripwireBounds {
  /** Milliseconds before a look begins, and between two tries for an engine slot. */
  readonly delayMs: number
  /** Milliseconds from the error to the end of its look. */
  readonly lookMs: number
  readonly queueMax: number
  readonly rowsMax: number
  readonly bytesMax: number
}

type FinishedRun = Exclude<CopiedRun, { readonly outcome: 'busy' }>

interface Look {
  readonly queryId: string
  readonly fingerprint: string | undefined
  readonly attempt: Attempt
  readonly failed: EngineErrorCode
  /** `performance.now()` after which the look is dropped. */
  readonly deadlineMs: number
}

/** SQLSTATEs of data errors. Errors of cancelling, time, memory and files do not depend on values. */
const dataErrors: ReadonlySet<string> = new Set<EngineErrorCode>([
  '21000',
  '22000',
  '22003',
  '22007',
  '22008',
  '22012',
  '22025',
  '22P02',
  'XX000',
])

export class Tripwire {
  readonly #parts: TripwireParts
  readonly #bounds: TripwireBounds
  readonly #queue = new FairQueue<TenantId, Look>()
  readonly #ended = new AbortController()
  #working: Promise<void> | undefined

  constructor(parts: TripwireParts) {
    this.#parts = parts
    this.#bounds = {
      delayMs: limits.tripwireDelayMs,
      lookMs: limits.tripwireMs,
      queueMax: tripwireQueueMax,
      rowsMax: tripwireRowsMax,
      bytesMax: tripwireBytesMax,
      ...parts.bounds,
    }
  }

  /** Queues a failed query for a look if its error is a data error of DuckDB. Returns at once. */
  enqueue({ queryId, fingerprint, attempt }: QueryProgress, { sqlState }: SqlError): void {
    if (this.#ended.signal.aborted || attempt?.openedMs === undefined || !isDataError(sqlState)) return
    if (attempt.engine !== 'duckdb') return
    const { tenant } = attempt.run.context
    if (!this.#queue.hasRoom(tenant, this.#bounds.queueMax)) {
      this.#skip('queue_full')
      return
    }
    const deadlineMs = performance.now() + this.#bounds.lookMs
    this.#queue.push(tenant, { queryId, fingerprint, attempt, failed: sqlState, deadlineMs })
    this.#working ??= this.#work()
  }

  /** Drops queued looks and stops the running one; resolves when it has stopped. */
  async end(): Promise<void> {
    this.#ended.abort()
    await this.#working
  }

  /** Works through the queue, one look at a time, tenants in turn. */
  async #work(): Promise<void> {
    for (;;) {
      // Lets the client's error go out first.
      await this.#pause()
      const look = this.#queue.shift()
      if (look === undefined) break
      try {
        this.#ended.signal.throwIfAborted()
        await this.#look(look)
      } catch (cause) {
        const isLate = performance.now() >= look.deadlineMs
        this.#skip(this.#ended.signal.aborted ? 'stopped' : isLate ? 'late' : 'failed')
        // An engine's message may quote values, so it is logged at debug level only.
        this.#parts.log.debug({ queryId: look.queryId, err: cause }, 'the tripwire could not check an error')
      }
    }
    this.#working = undefined
  }

  /** @throws what the engine throws; the signal's reason once the time is up */
  async #look(look: Look): Promise<void> {
    const { parts, run, load } = look.attempt
    const engine = await engineOf(parts.engines, run.context.tenant, load.loaded.credential)
    const leftMs = Math.max(0, look.deadlineMs - performance.now())
    const signal = AbortSignal.any([this.#ended.signal, AbortSignal.timeout(Math.ceil(leftMs))])
    const statement = copiedStatement(look, this.#bounds, signal)
    for (;;) {
      signal.throwIfAborted()
      const found = await engine.runOnCopies?.(statement)
      if (found === undefined) return
      if (found.outcome !== 'busy') {
        this.#report(look, found)
        return
      }
      await this.#pause()
    }
  }

  #report({ queryId, fingerprint, failed }: Look, found: FinishedRun): void {
    if (found.outcome === 'nothing_hidden') return
    if (found.outcome === 'too_large') {
      this.#skip('too_large')
      return
    }
    this.#parts.metrics.tripwireRuns.inc({ outcome: found.outcome })
    if (found.outcome !== 'different') return
    const { copied } = found
    this.#parts.log.error(
      { queryId, fingerprint, sqlState: failed, copied },
      'an error may reveal hidden values: the statement ends differently over the visible rows',
    )
  }

  #skip(reason: TripwireSkip): void {
    this.#parts.metrics.tripwireSkipped.inc({ reason })
  }

  async #pause(): Promise<void> {
    const { signal } = this.#ended
    if (signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, this.#bounds.delayMs)
    const stop = () => resolve()
    signal.addEventListener('abort', stop, { once: true })
    await promise
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

function isDataError(sqlState: string): sqlState is EngineErrorCode {
  return dataErrors.has(sqlState)
}

/** The failed run over copies, with its own parameters and salt. */
function copiedStatement(
  { attempt, failed }: Look,
  { rowsMax, bytesMax }: TripwireBounds,
  signal: AbortSignal,
): CopiedStatement {
  const { load, run, salt } = attempt
  const { tenant, principal } = run.context
  const options = { salt, parameters: run.parameters }
  return {
    tables: tableSnapshotsOf(load, () => {}),
    run: { queryId: run.queryId, tenant, principal: principal.sub, signal },
    failed,
    hides: load.compiled.hides,
    columns: outputsOf(load),
    rowsMax,
    bytesMax,
    write(opened) {
      const emitted = load.compiled.emit('duckdb', tablesWithDeletes(load, opened))
      return renderSql(emitted, 'duckdb', { ...options, relation: opened.relation })
    },
    writeCopied(opened, copy) {
      const { relation } = opened
      const { copies, statement } = load.compiled.emitCopied('duckdb', tablesWithDeletes(load, opened))
      const select = (id: string) => renderSql(copies.get(id) ?? [], 'duckdb', { ...options, relation })
      return {
        copies: new Map([...copies.keys()].map((id) => [id, select(id)])),
        sql: renderSql(statement, 'duckdb', { ...options, copy }),
      }
    },
  }
}
