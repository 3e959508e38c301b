/** Declares the state of one authenticated connection, checks its session and closes its portals. */

import type { Logger } from 'pino'
import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { PlanInput, PlanNode } from '../../query/explain/explain-plan.ts'
import type { QueryContext, QueryService } from '../../query/query-service.ts'
import type { Tracer } from '../../telemetry/tracing.ts'
import type { ReadSession, ReadSessionCheck } from '../read-session.ts'
import type { CatalogService } from './catalog-service.ts'
import type { Outbox } from './outbox.ts'
import type { Plan, Portal } from './portal.ts'
import type { RowSource } from './row-source.ts'
import type { Settings } from './settings.ts'
import type { Transaction } from './transaction.ts'
import { WireError } from './wire-error.ts'
import type { WireMeter } from './wire-meter.ts'

/** How a statement would run for the principal of the context; never data. */
export type ExplainStatement = (context: QueryContext, statement: PlanInput) => Promise<PlanNode>

/** The parts that all connections share. */
export interface WireSessionParts {
  readonly queries: QueryService
  /** Absent: statements about the catalog are planned like any others. */
  readonly catalog?: CatalogService | undefined
  readonly explain: ExplainStatement
  readonly meter: WireMeter
  readonly log: Logger
  readonly clock: Clock
  /** Absent: statements are not traced. */
  readonly tracer?: Tracer | undefined
}

export interface PreparedStatement {
  readonly plan: Plan
  readonly text: string
  /** Milliseconds since 1970. */
  readonly preparedAtMs: number
  /** Whether PREPARE made it. */
  readonly isFromSql: boolean
  /** Whether it ends a transaction; a failed transaction accepts no others. */
  readonly ends: boolean
  /** Estimated bytes that it holds. */
  readonly heldBytes: number
}

export interface OpenPortal {
  readonly portal: Portal
  /** Declared WITH HOLD, so it outlives its transaction. */
  readonly hold: boolean
  /** Whether its transaction was committed, so that no later rollback closes it. */
  isCommitted?: boolean
  readonly ends?: boolean
  /** Bytes held by the source statement, which may already be deallocated. */
  readonly statementBytes?: number
  /** Declared BINARY. */
  readonly isBinary?: boolean
  /** Declared SCROLL or NO SCROLL. */
  readonly scroll?: 'scroll' | 'no scroll'
  /** Its rows, once the first was asked for. */
  source?: RowSource
}

/** The statement that a connection runs, or ran last. */
interface CurrentStatement {
  text: string
  /** Milliseconds since 1970. */
  startedAtMs: number | undefined
  isRunning: boolean
}

/** Collects what the meter receives about one statement when it is over. */
export interface Tally {
  rows: number
  /** Milliseconds: compiling, waiting for the engine. */
  planMs: number
  runMs: number
  queryId: string | undefined
}

export interface SessionState {
  readonly parts: WireSessionParts
  readonly reader: ReadSession
  /** Nickname of the catalog that the client named as its database. */
  readonly catalog: string
  readonly processId: number
  readonly outbox: Outbox
  readonly settings: Settings
  readonly transaction: Transaction
  readonly statements: Map<string, PreparedStatement>
  /** Portals and cursors, which share their names. */
  readonly portals: Map<string, OpenPortal>
  /** The check for the current message. A load may check the session in the same round trip. */
  check: ReadSessionCheck | undefined
  tally: Tally
  readonly current: CurrentStatement
  /** Statements whose filters and masks a notice has named. */
  readonly toldStatements: Set<string>
  /** Sends the client a notice before the current statement ends. */
  notice(severity: 'WARNING' | 'NOTICE', sqlState: string, message: string, hint?: string): void
}

/** The connection's context for the read path, with its current settings. */
export function queryContext({ reader, catalog, settings }: SessionState): QueryContext {
  const context = reader.queryContext('pgwire', catalog, settings.searchPath)
  const timeZone = settings.timeZone?.name
  const purpose = settings.purpose
  const zoned = timeZone === undefined ? context : { ...context, timeZone }
  const stated = purpose === undefined ? zoned : { ...zoned, purpose }
  return settings.get('row_security') === 'off' ? { ...stated, refusesFilters: true } : stated
}

/** Checks the session while the current message is processed. Nothing is sent before the session proves valid. */
export function checkSession(session: SessionState): void {
  session.check = session.reader.openCheck()
  session.outbox.sendOnlyIf(session.check.passed.catch(endConnection))
}

/** @throws WireError FATAL: 57P01 where the session is not valid, 58030 where the check failed */
function endConnection(thrown: unknown): never {
  if (thrown instanceof Fault && thrown.kind === 'unauthenticated')
    throw new WireError('57P01', 'the session was revoked or has expired', 'FATAL')
  throw new WireError('58030', 'the session could not be checked; connect again', 'FATAL')
}

/** Closes the portal of this name. @returns whether it existed */
export function closePortal({ portals }: SessionState, name: string): boolean {
  const open = portals.get(name)
  portals.delete(name)
  open?.portal.close()
  return open !== undefined
}

/** Closes all portals but those that `keep` names. */
export function closePortals(session: SessionState, keep: (open: OpenPortal) => boolean): void {
  for (const [name, open] of [...session.portals]) if (!keep(open)) closePortal(session, name)
}

/** Closes the portals of a transaction that ended. Portals WITH HOLD stay if it was committed. */
export function endPortals(session: SessionState, committed: boolean): void {
  closePortals(session, ({ hold, isCommitted }) => hold && (committed || isCommitted === true))
  for (const open of session.portals.values()) open.isCommitted = true
}
