/**
 * Runs one statement on its engine, from the choice of the engine to the last batch. It starts in the constructor.
 * It sends nothing to the client: its caller decides whether its rows or its error are used.
 */

import type { Logger } from 'pino'
import type { GovernedTable } from '../../../core/governed-table.ts'
import type { ResultBatch } from '../../../core/result-batch.ts'
import { tableKey } from '../../../core/table-ref.ts'
import type { TenantId } from '../../../core/tenant.ts'
import type {
  EngineColumn,
  EngineHandle,
  EngineStats,
  OpenTables,
  TableSnapshot,
} from '../../../engine/engine.ts'
import { type EngineKinds, engineOf } from '../../../engine/engine-kinds.ts'
import { limits } from '../../../limits.ts'
import { noteOutside, type ReadOwner } from '../../../storage/read-territory.ts'
import type { OutsideFile } from '../../../storage/territory-guard.ts'
import type { Store } from '../../../store/store.ts'
import { SqlError } from '../../compile/base/sql-error.ts'
import type { CompiledQuery } from '../../compile/compile.ts'
import { renderSql, type SqlPart } from '../../compile/emit/render.ts'
import type { Expansion } from '../../compile/metrics/expand.ts'
import type { QueryContext } from '../../query-service.ts'
import type { LoadedTables } from '../load/load-tables.ts'

export interface AttemptParts {
  readonly engines: EngineKinds
  readonly store: Store
  readonly log: Logger
}

/** All that a statement's result depends on, except the values of its parameters. */
export interface Load {
  readonly loaded: LoadedTables
  readonly compiled: CompiledQuery
  /** The statement with its metrics written out, where it names any. */
  readonly expansion?: Expansion
}

export interface AttemptRun {
  readonly context: Pick<QueryContext, 'tenant' | 'principal'>
  readonly queryId: string
  /** PostgreSQL text forms, `$1` first. */
  readonly parameters: readonly (string | null)[]
}

export class Attempt {
  /** The engine's dialect; undefined until the engine is used. */
  engine: string | undefined
  /** `performance.now()` when the engine had opened the tables. */
  openedMs: number | undefined
  /** Salt of the mask `sha-256-query-local`, drawn for this run. */
  readonly salt: Uint8Array = crypto.getRandomValues(new Uint8Array(32))
  readonly #stop = new AbortController()
  readonly #unfollow: (() => void)[] = []
  readonly #rows: AsyncGenerator<ResultBatch, void, undefined>
  /** The first batch, which the engine computes before `next` is called. */
  #first: Promise<IteratorResult<ResultBatch, void>> | undefined
  #opening: Promise<EngineHandle> | undefined
  #session: EngineHandle | undefined
  #stats: (() => EngineStats) | undefined
  #done = false
  #ending: Promise<void> | undefined
  #late: Promise<void> | undefined

  constructor(
    readonly parts: AttemptParts,
    readonly load: Load,
    readonly run: AttemptRun,
    signal?: AbortSignal,
  ) {
    if (signal !== undefined) this.follow(signal)
    this.#rows = this.#batches()
    this.#first = this.#rows.next()
    this.#first.catch(() => {})
  }

  /** The cost so far; undefined before the statement runs. */
  get stats(): EngineStats | undefined {
    return this.#stats?.()
  }

  /** Ends the attempt as soon as the signal fires. */
  follow(signal: AbortSignal): void {
    const end = () => void this.end()
    if (signal.aborted) end()
    signal.addEventListener('abort', end, { once: true })
    this.#unfollow.push(() => signal.removeEventListener('abort', end))
  }

  /**
   * The next batch, as an iterator result.
   * @throws SqlError for SQL or parameters that this engine cannot run, 57014 where the attempt was ended; what the
   *   engine throws
   */
  async next(): Promise<IteratorResult<ResultBatch, void>> {
    const batch = this.#first ?? this.#rows.next()
    this.#first = undefined
    const next = await batch
    // An ended attempt must not look complete.
    if (next.done && !this.#done) throw ended()
    return next
  }

  /**
   * Stops the engine and closes it. Waits at most `engineCloseMs` for the close, and not at all for an engine that is
   * still opening: that one is closed as soon as it is open.
   */
  end(): Promise<void> {
    this.#ending ??= this.#end()
    return this.#ending
  }

  /** As `end`, but also waits for an engine that is still opening: its slot is free when this resolves. */
  async vacate(): Promise<void> {
    await this.end()
    if (this.#late !== undefined) await this.#inTime(this.#late)
  }

  async *#batches(): AsyncGenerator<ResultBatch, void, undefined> {
    const { parts, load, run } = this
    const { compiled, loaded } = load
    const { tenant } = run.context
    const snapshots = tableSnapshotsOf(load, (owner, outside) => this.#note(tenant, owner, outside))
    const engine = await engineOf(parts.engines, run.context.tenant, loaded.credential)
    const { dialect } = engine
    const render = (emitted: readonly SqlPart[], relation: (table: GovernedTable) => string) =>
      renderSql(emitted, dialect, { relation, salt: this.salt, parameters: run.parameters })
    // Refuses unsupported SQL and invalid parameters before the engine opens anything.
    compiled.checkParameters(run.parameters)
    render(compiled.emit(dialect), () => '')
    const { signal } = this.#stop
    signal.throwIfAborted()
    this.engine = dialect
    const { principal } = run.context
    this.#opening = engine.open(snapshots, { queryId: run.queryId, tenant, principal: principal.sub, signal })
    const session = await this.#opening
    if (this.#ending !== undefined) throw ended()
    this.#session = session
    this.openedMs = performance.now()
    const sql = render(compiled.emit(dialect, tablesWithDeletes(load, session)), (table) =>
      session.relation(table),
    )
    if (Buffer.byteLength(sql) > limits.compiledStatementBytesMax)
      throw new SqlError('54001', 'The statement is too complex.')
    const result = session.run({ sql, columns: outputsOf(load) })
    this.#stats = () => result.stats()
    yield* result
    this.#done = true
  }

  /** Lists conflicts beside the run, which does not wait for that. */
  #note(tenant: TenantId, owner: ReadOwner, outside: readonly OutsideFile[]): void {
    const { store, log } = this.parts
    noteOutside(store, tenant, owner, outside).catch((err: unknown) =>
      log.warn({ err }, 'files outside the territory of a table could not be listed'),
    )
  }

  async #end(): Promise<void> {
    for (const unfollow of this.#unfollow) unfollow()
    if (!this.#done) {
      this.#stop.abort(ended())
      void this.#rows.return().catch(() => {})
    }
    if (this.#session !== undefined) return await this.#inTime(this.#session.close())
    // The engine may open after the run is over.
    this.#late = this.#opening?.then((session) => session.close()).catch(() => {})
  }

  async #inTime(closing: Promise<void>): Promise<void> {
    let timer: Timer | undefined
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), limits.engineCloseMs)
    })
    const closed = await Promise.race([closing.catch(() => 'failed' as const), late])
    clearTimeout(timer)
    if (closed !== undefined)
      this.parts.log.warn({ closed }, 'an engine did not close in time or failed to close')
  }
}

function ended(): SqlError {
  return new SqlError('57014', 'The query was stopped before it completed.')
}

/** The output columns, named c1, c2, … because the client's names never reach the engine. */
export function outputsOf({ compiled }: Load): readonly EngineColumn[] {
  return compiled.columns.map(({ type, size, textScale }, index) => ({
    name: `c${index + 1}`,
    type,
    size,
    textScale,
  }))
}

/** The tables of a load whose files hold deleted rows. */
export function tablesWithDeletes({ compiled }: Load, opened: OpenTables): ReadonlySet<GovernedTable> {
  const tables = compiled.reads.map(({ table }) => table)
  return new Set(tables.filter((table) => opened.hasDeletes(table)))
}

/**
 * The snapshots that a load reads.
 * @param note receives the files outside a table's territory that were read, because it is only observed
 * @throws SqlError XX000 where the snapshot of a table was not loaded
 */
export function tableSnapshotsOf(
  { loaded, compiled }: Load,
  note: (owner: ReadOwner, outside: readonly OutsideFile[]) => void,
): readonly TableSnapshot[] {
  return compiled.reads.map(({ table }) => {
    const snapshot = loaded.snapshots.get(tableKey(table.ref))
    if (snapshot === undefined) throw new SqlError('XX000', 'The query failed.')
    const { metadataLocation, snapshotId, territory, owner } = snapshot
    const report = (outside: readonly OutsideFile[]) => note(owner, outside)
    const ranges = compiled.ranges.get(table)
    const nested = compiled.nested.get(table)
    return { table, metadataLocation, snapshotId, ranges, nested, territory: { territory, report } }
  })
}
