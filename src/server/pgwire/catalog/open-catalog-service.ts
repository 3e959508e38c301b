/** The catalog service: checks what a client sent, finds what it may see, and has it answered. */

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
import { CatalogPool } from './catalog-pool.ts'
import { StatementFailure } from './catalog-worker.ts'
import { coverageOf } from './covers.ts'
import { declaredTables } from './declared-tables.ts'
import { errorMessage, readFrontend } from './messages.ts'
import { scopeCache, type TableSource } from './scope-cache.ts'
import { type ActivityRow, beginStatement, roleName } from './session-sql.ts'
import { type ShadowTable, shadowTable } from './shadow-table.ts'

export interface CatalogOptions {
  readonly source: TableSource
  /** The connections of the session's own principal in its tenant, its own among them. */
  readonly activity: (session: CatalogSession) => readonly ActivityRow[]
  /** Milliseconds that one statement may take; default `limits.catalogStatementMs`. */
  readonly statementMs?: number
  /** Milliseconds without a statement after which a database is ended; default `limits.catalogIdleMs`. */
  readonly idleMs?: number
  /** Where the snapshot that its databases start from is kept; without it each process makes its own. */
  readonly snapshotDirectory?: string | undefined
  /** Told whenever there is another number of databases. */
  readonly onDatabases?: (count: number) => void
}

export interface OpenCatalogService extends CatalogService {
  /** Does what can be done before the first statement: that takes seconds. @throws Fault `unavailable` */
  prepare(): Promise<void>
  /** Databases that it has now, about 300 MiB each. */
  readonly databases: number
  /** Ends its databases; statements under way fail. */
  close(): void
}

/**
 * The service over a source of tables. Its databases start with the first statement.
 *
 * `execute` takes messages that stand on their own: a Bind needs its Parse among them, since nothing is kept
 * from one call to the next, portals neither. Refusals and errors of the statement are ErrorResponses in what
 * it returns; it throws Fault `unavailable` and what the source throws, where the statement could not be run.
 */
export function openCatalogService(options: CatalogOptions): OpenCatalogService {
  const { source, activity, snapshotDirectory, onDatabases } = options
  const { statementMs = limits.catalogStatementMs, idleMs = limits.catalogIdleMs } = options
  const pool = new CatalogPool({ statementMs, idleMs, snapshotDirectory, onSize: onDatabases })
  const scopeFor = scopeCache(source, () => performance.now())
  return {
    covers: coverageOf,
    async execute(session, frontend) {
      let request: ReturnType<typeof readFrontend>
      let statement: { readonly role: string; readonly begin: string }
      try {
        request = readFrontend(frontend)
        statement = {
          role: roleName(session.principal.sub),
          begin: beginStatement(session, activity(session)),
        }
      } catch (error) {
        if (!(error instanceof RangeError)) throw error
        return errorMessage('08P01', `The statement cannot be answered: ${error.message}.`)
      }
      if (request.texts.some((text) => coverageOf(text) !== 'catalog'))
        return errorMessage('0A000', 'This statement about the catalog is not supported.')
      const scope = await scopeFor(session.tenant, session.catalog)
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
          : errorMessage('54000', `The answer is larger than ${limits.catalogAnswerBytesMax} bytes.`)
      }
    },
    prepare: () => pool.prepare(),
    get databases() {
      return pool.size
    },
    close: () => pool.close(),
  }
}

/** The tables that may be read, from the store. */
export function storeTables(store: Store): TableSource {
  return {
    mark: (tenant) => readableTablesMark(store, tenant),
    tables: (tenant) => readTables(store, tenant),
  }
}

async function readTables(store: Store, tenant: TenantId): Promise<readonly ShadowTable[]> {
  const tables: ReadableTable[] = []
  const all = everyItem((page) => listReadableTables(store, tenant, { ...page, limit: 1000 }))
  for await (const table of all) {
    // What is not shown counts for nothing: a part of the tables must not look like all of them.
    if (shadowTable(table) !== undefined) tables.push(table)
    if (tables.length > limits.catalogTablesMax) break
  }
  return declaredTables(tables)
}
