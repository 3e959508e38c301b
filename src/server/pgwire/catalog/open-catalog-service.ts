/** Opens the catalog service, which checks a client's messages, loads its tables and runs it on a shadow database. */

import type { ByteBudget } from '../../../base/byte-budget.ts'
import type { Viewer } from '../../../core/seen-table.ts'
import type { TenantId } from '../../../core/tenant.ts'
import { limits } from '../../../limits.ts'
import { everyItem } from '../../../store/database/page.ts'
import {
  listReadableTables,
  type ReadableTable,
  readableTablesMark,
} from '../../../store/governance/readable-tables.ts'
import type { Store } from '../../../store/store.ts'
import type { CatalogService, CatalogSession } from '../catalog-service.ts'
import { StatementFailure } from './catalog-worker.ts'
import { coverageOf, isOneSelect } from './covers.ts'
import { declaredTables } from './declared-tables.ts'
import { errorMessage, isAnalysis, readFrontend } from './messages.ts'
import { metricRelations } from './metric-relations.ts'
import { scopeCache, type TableSource } from './scope-cache.ts'
import { type ActivityRow, beginStatement, roleName } from './session-sql.ts'
import { ShadowDatabases } from './shadow-databases.ts'
import type { ShadowTable } from './shadow-table.ts'

/** Milliseconds for one statement about the catalog. */
const catalogStatementMs = 10_000

/** Milliseconds without a statement after which a catalog database is stopped. */
const catalogIdleMs = 600_000

interface CatalogOptions {
  readonly source: TableSource
  /** All connections of the session's principal in its tenant. */
  readonly activity: (session: CatalogSession) => readonly ActivityRow[]
  /** Milliseconds that one statement may take; default `catalogStatementMs`. */
  readonly statementMs?: number
  /** Milliseconds without a statement after which a database is ended; default `catalogIdleMs`. */
  readonly idleMs?: number
  /** Tables above which a catalog is loaded without keys; default 5,000. */
  readonly keyedTablesMax?: number
  /** Where the snapshot that the databases start from is cached; without it, each process builds its own. */
  readonly snapshotDirectory?: string | undefined
  /** Called when the number of databases changes. */
  readonly onDatabases?: (count: number) => void
  /** The bytes of the process, of which databases take some; absent: they are not counted. */
  readonly budget?: ByteBudget | undefined
  /** Why every statement is refused, where the process is too small for a database. */
  readonly refusal?: string | undefined
}

export interface OpenCatalogService extends CatalogService {
  /** Loads the snapshot before the first statement, which can take seconds. @throws Fault `unavailable` */
  prepare(): Promise<void>
  /** The number of databases, about 300 MiB each. */
  readonly databases: number
  /** Ends the databases. Statements under way fail. */
  close(): void
}

/**
 * Opens the service over a source of tables. Its databases start with the first statement.
 *
 * `execute` keeps nothing between calls, so a Bind needs its Parse in the same call. Refusals and errors of the
 * statement are returned as ErrorResponses. Where the statement could not run, it throws Fault `unavailable` or
 * the error of the source.
 */
export function openCatalogService(options: CatalogOptions): OpenCatalogService {
  const { source, activity, snapshotDirectory, onDatabases, budget } = options
  const { statementMs = catalogStatementMs, idleMs = catalogIdleMs } = options
  const pool = new ShadowDatabases({ statementMs, idleMs, snapshotDirectory, onSize: onDatabases, budget })
  const scopeFor = scopeCache(source, () => performance.now(), options.keyedTablesMax)
  const run = async (
    session: CatalogSession,
    frontend: Uint8Array,
    isServed: (text: string) => boolean,
  ): Promise<Uint8Array> => {
    let request: ReturnType<typeof readFrontend>
    let statement: { readonly role: string; readonly begin: string }
    try {
      request = readFrontend(frontend)
      statement = {
        role: roleName(session.principal.sub),
        begin: beginStatement(session, activity(session), request.texts),
      }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      return errorMessage('08P01', `The catalog statement was refused: ${error.message}.`)
    }
    if (options.refusal !== undefined) return errorMessage('53200', options.refusal)
    if (!request.texts.every(isServed))
      return errorMessage('0A000', 'This statement about the catalog is not supported.')
    const scope = await scopeFor(session)
    try {
      return await pool.run({
        tenant: session.tenant,
        scope,
        ...statement,
        frontend: request.messages,
      })
    } catch (error) {
      if (!(error instanceof StatementFailure)) throw error
      return error.reason === 'timeout'
        ? errorMessage('57014', 'canceling statement due to statement timeout')
        : errorMessage(
            '54000',
            `The result is larger than ${limits.catalogAnswerBytesMax} bytes. Select fewer rows.`,
          )
    }
  }
  return {
    covers: coverageOf,
    execute: (session, frontend) => run(session, frontend, (text) => coverageOf(text) === 'catalog'),
    analyse: async (session, frontend) =>
      isAnalysis(frontend)
        ? await run(session, frontend, isOneSelect)
        : errorMessage('08P01', 'Only an analysis was asked for.'),
    prepare: () => pool.prepare(),
    get databases() {
      return pool.size
    },
    close: () => pool.close(),
  }
}

/** Reads the readable tables from the store. */
export function storeTables(store: Store): TableSource {
  return {
    mark: (tenant) => readableTablesMark(store, tenant),
    tables: (tenant, viewer) => readTables(store, tenant, viewer),
  }
}

/** Tables of a page, so that parsing what governs them holds nothing up. */
const pageTables = 100

async function readTables(store: Store, tenant: TenantId, viewer: Viewer): Promise<readonly ShadowTable[]> {
  const tables: ReadableTable[] = []
  const all = everyItem((page) => listReadableTables(store, tenant, viewer, { ...page, limit: pageTables }))
  for await (const table of all) {
    tables.push(table)
    // One more than may be shown, so that a part of the tables does not look like all of them.
    if (tables.length > limits.catalogTablesMax) break
  }
  return [...(await declaredTables(tables)), ...(await metricRelations(store, tenant, tables))]
}
