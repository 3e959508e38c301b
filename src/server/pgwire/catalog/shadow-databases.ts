/**
 * Runs statements on a few databases. Each holds one tenant's catalog at a time, so no other tenant's can be seen.
 * A statement goes to the database that holds its catalog, else to the one with the shortest queue or longest idle.
 */

import type { ByteBudget } from '../../../base/byte-budget.ts'
import { FairTurns } from '../../../base/fair-turns.ts'
import { Fault } from '../../../base/fault.ts'
import type { TenantId } from '../../../core/tenant.ts'
import { limits } from '../../../limits.ts'
import { CatalogWorker } from './catalog-worker.ts'
import { renameReader } from './session-sql.ts'
import type { ShadowScope } from './shadow-ddl.ts'
import { loadSnapshot } from './snapshot-file.ts'

/** Milliseconds for which a statement waits for a catalog database. */
const catalogWaitMs = 30_000

/** Milliseconds after which a catalog that could not be loaded is retried. */
const catalogRetryMs = 10_000

/** Tables above which a catalog database is replaced instead of emptied. */
const catalogDropMax = 1_000

/** Tables and principals that a catalog database loads before it is replaced, because it grows with each. */
const catalogChangesMax = 10_000

/** Milliseconds after which a catalog database switches to the next waiting tenant. */
const catalogTurnMs = 1_000

/** Statements about the catalog of one tenant that wait for a catalog database. */
const catalogWaitingMax = 200

/** Catalog databases at once. */
const catalogWorkersMax = 2

interface CatalogStatement {
  readonly tenant: TenantId
  readonly scope: ShadowScope
  /** The principal's name as a role. */
  readonly role: string
  readonly begin: string
  readonly frontend: Uint8Array
}

/** A database and the statements that wait for it. */
interface Lane {
  /** Key of the scope of the statement that was queued last. */
  key: string
  /** The count of all uses when this lane was used last. */
  used: number
  readonly turns: FairTurns<TenantId>
  /** Statements that wait or run. */
  pending: number
  /** Ends the database after `idleMs` without a statement. */
  idle?: Timer
  worker?: CatalogWorker
  /** The scope that the Worker holds. */
  loaded?: ShadowScope
  role?: string
  /** Tables loaded and roles renamed since the Worker started; too many of them replace it. */
  changes: number
}

interface ShadowDatabasesOptions {
  /** Milliseconds that one statement may take. */
  readonly statementMs: number
  /** Milliseconds without a statement after which a database is ended. */
  readonly idleMs: number
  /** Where the snapshot is cached; undefined: each process builds its own. */
  readonly snapshotDirectory: string | undefined
  /** Called when the number of databases changes. */
  readonly onSize?: ((count: number) => void) | undefined
  /** The bytes of the process, of which databases take some; undefined: they are not counted. */
  readonly budget?: ByteBudget | undefined
}

export class ShadowDatabases {
  readonly #lanes: Lane[] = []
  #snapshot: Promise<ArrayBuffer> | undefined
  /** Catalogs that failed to load, and the time before which they are not retried. */
  readonly #unloadable = new Map<string, number>()
  #uses = 0
  /** Statements of each tenant that wait or run. */
  readonly #waiting = new Map<TenantId, number>()
  #closed = false

  constructor(private readonly options: ShadowDatabasesOptions) {}

  /** The number of databases. */
  get size(): number {
    return this.#lanes.length
  }

  /** Loads the snapshot before the first statement needs it. @throws Fault `unavailable` */
  async prepare(): Promise<void> {
    await this.#snapshotOf()
  }

  /**
   * Runs one statement.
   * @throws StatementFailure
   * @throws Fault `unavailable` where too many statements wait, or a database fails; `overloaded` where the process has
   *   no memory left for one
   */
  async run(statement: CatalogStatement): Promise<Uint8Array> {
    const { tenant, scope } = statement
    const waiting = this.#waiting.get(tenant) ?? 0
    if (this.#closed || waiting >= catalogWaitingMax) throw busy()
    this.#assertLoadable(scope.key)
    const lane = this.#laneFor(scope.key)
    this.#waiting.set(tenant, waiting + 1)
    lane.pending += 1
    clearTimeout(lane.idle)
    try {
      const startBy = performance.now() + catalogWaitMs
      return await lane.turns.take(tenant, async () => {
        if (this.#closed || performance.now() > startBy) throw busy()
        return await this.#runOn(lane, statement)
      })
    } finally {
      const left = (this.#waiting.get(tenant) ?? 1) - 1
      if (left > 0) this.#waiting.set(tenant, left)
      else this.#waiting.delete(tenant)
      lane.pending -= 1
      if (lane.pending === 0) this.#watchIdle(lane)
    }
  }

  #watchIdle(lane: Lane): void {
    lane.idle = setTimeout(() => {
      this.#lanes.splice(this.#lanes.indexOf(lane), 1)
      this.options.onSize?.(this.size)
      lane.worker?.end()
    }, this.options.idleMs)
    lane.idle.unref()
  }

  /** Ends every database. Statements under way fail. */
  close(): void {
    this.#closed = true
    for (const lane of this.#lanes) {
      clearTimeout(lane.idle)
      lane.worker?.end()
    }
  }

  #assertLoadable(key: string): void {
    const now = performance.now()
    for (const [each, until] of this.#unloadable) if (until <= now) this.#unloadable.delete(each)
    if (this.#unloadable.has(key))
      throw new Fault('unavailable', 'The catalog could not be loaded. Retry later.')
  }

  #laneFor(key: string): Lane {
    let lane = this.#lanes.find((each) => each.key === key)
    if (lane === undefined && this.#mayAdd()) {
      const turns = new FairTurns<TenantId>(catalogTurnMs, () => performance.now())
      lane = { key, used: 0, turns, pending: 0, changes: 0 }
      this.#lanes.push(lane)
      this.options.onSize?.(this.size)
    }
    lane ??= this.#lanes.reduce((a, b) => ((a.pending - b.pending || a.used - b.used) <= 0 ? a : b))
    lane.key = key
    lane.used = ++this.#uses
    return lane
  }

  /** The first is added in any case, so that its statement is told where there is no memory for it. */
  #mayAdd(): boolean {
    const { budget } = this.options
    if (this.#lanes.length === 0 || budget === undefined) return this.#lanes.length < catalogWorkersMax
    return this.#lanes.length < catalogWorkersMax && budget.hasRoomFor({ engine: limits.catalogHeldBytes })
  }

  async #runOn(lane: Lane, { scope, role, begin, frontend }: CatalogStatement): Promise<Uint8Array> {
    const worker = await this.#prepare(lane, scope, role)
    return worker.statement(begin, frontend, this.options.statementMs)
  }

  /** A Worker that holds the scope and shows the role. A failure ends the Worker. */
  async #prepare(lane: Lane, scope: ShadowScope, role: string): Promise<CatalogWorker> {
    const isOther = lane.loaded?.key !== scope.key
    if (isOther) lane.changes += scope.tableCount
    if (lane.role !== role) lane.changes += 1
    const isWorn = lane.changes > catalogChangesMax
    const isLong = isOther && (lane.loaded?.tableCount ?? 0) > catalogDropMax
    if (lane.worker === undefined || lane.worker.ended || isWorn || isLong) {
      lane.worker?.end()
      delete lane.loaded
      delete lane.role
      lane.changes = 0
      const snapshot = await this.#snapshotOf()
      const held = await this.options.budget?.reserveForProcessInTurn({ engine: limits.catalogHeldBytes })
      lane.worker = await CatalogWorker.open(snapshot, held)
      if (this.#closed) lane.worker.end()
    }
    const texts: string[] = []
    if (lane.loaded?.key !== scope.key) {
      // Two transactions, because a dropped table keeps its file until the transaction that dropped it ends.
      if (lane.loaded?.drop) texts.push(transaction(lane.loaded.drop))
      texts.push(...scope.create.map(transaction))
      delete lane.loaded
      delete lane.role
    }
    if (lane.role !== role) texts.push(transaction(renameReader(role)))
    const isLoading = lane.loaded === undefined
    if (texts.length > 0) await this.#perform(lane.worker, texts, isLoading ? scope.key : undefined)
    lane.loaded = scope
    lane.role = role
    return lane.worker
  }

  /** @param loading key of the catalog that the texts load; undefined: they load none */
  async #perform(
    worker: CatalogWorker,
    texts: readonly string[],
    loading: string | undefined,
  ): Promise<void> {
    try {
      await worker.perform(texts)
    } catch (error) {
      // Without a pause, a catalog that cannot be loaded would end a database with every statement.
      if (loading !== undefined) this.#unloadable.set(loading, performance.now() + catalogRetryMs)
      throw error
    }
  }

  /** Loads the snapshot once. After a failure, the next statement tries again. */
  #snapshotOf(): Promise<ArrayBuffer> {
    const build = () =>
      CatalogWorker.buildSnapshot(
        this.options.budget?.reserveForProcess({ engine: limits.catalogBuildHeldBytes }),
      )
    this.#snapshot ??= loadSnapshot(this.options.snapshotDirectory, build).catch((error) => {
      this.#snapshot = undefined
      throw error
    })
    return this.#snapshot
  }
}

const transaction = (text: string) => `begin; ${text}; commit`

function busy(): Fault {
  return new Fault('unavailable', 'Too many statements about the catalog are waiting. Retry.')
}
