/**
 * Loads the tables of a statement and compiles it, for `prepare` and for its run. It starts no engine and records
 * nothing.
 */

import type { Clock } from '../../../base/clock.ts'
import type { Pace } from '../../../base/right-of-way.ts'
import { readsRecordsOnly, recordsOnly } from '../../../core/principal.ts'
import {
  demandText,
  meetsDemands,
  purposeDemandedReason,
  purposeProperty,
  purposeSetting,
} from '../../../core/purpose.ts'
import { affectedByFilter, SqlError } from '../../compile/base/sql-error.ts'
import type { QueryContext, ReadSurface, SessionCheck } from '../../query-service.ts'
import type { Load } from '../attempt/attempt.ts'
import {
  asReadable,
  type ExpandedBy,
  type ExpandedStatement,
  expandStatement,
  mayNameMetrics,
  withExpansion,
} from '../load/expand-statement.ts'
import { type LoadedTables, type LoadOptions, type LoadParts, loadTables } from '../load/load-tables.ts'
import { type Statement, statementOf } from '../load/statement.ts'
import type { QueryProgress } from '../record/usage-of.ts'
import type { CachedVersions } from '../watch/cached-versions.ts'
import { GovernanceChanged } from '../watch/governance-changed.ts'
import { credentialEnded } from '../watch/run-check.ts'
import type { CompileCache } from './compile-cache.ts'
import type { Speculation } from './speculation.ts'

export interface CompileParts extends LoadParts {
  readonly cache: CompileCache
  readonly clock: Clock
  readonly pace: Pace
  readonly speculation: Speculation
  readonly versions: CachedVersions
}

/** @throws SqlError of the load and the compiler; Fault of the store; the signal's reason */
export async function loadAndCompile(
  parts: CompileParts,
  given: Statement,
  progress: QueryProgress,
  options: Pick<LoadOptions, 'signal' | 'sessionCheck'>,
): Promise<Load> {
  return await asReadable(given.source, (by) => loadAndCompileBy(by, parts, given, progress, options))
}

async function loadAndCompileBy(
  by: ExpandedBy,
  parts: CompileParts,
  given: Statement,
  progress: QueryProgress,
  options: Pick<LoadOptions, 'signal' | 'sessionCheck'>,
): Promise<Load> {
  const { speculation, versions, pace } = parts
  const { context, source } = given
  let statement = given
  try {
    if (readsRecordsOnly(context.principal)) throw new SqlError('42501', recordsOnly)
    // A statement without metrics does not wait here: its load checks the session only if it begins in this turn.
    const expanded = mayNameMetrics(source)
      ? await expandStatement(parts, given, by, options.signal)
      : { statement: given, version: undefined }
    statement = expanded.statement
    const assumed = speculation.last(statement)?.loaded
    const askedMs = pace.now()
    const written = statement.expansion?.tree ?? source
    const loaded = await loadTables(parts, context, written, { ...options, assumed })
    versions.learn(context.tenant, loaded.governanceVersion, askedMs)
    progress.loaded = loaded
    assertAttested(expanded, loaded)
    const load = compile(parts, statement, loaded)
    progress.compiled = load.compiled
    progress.loadedMs = performance.now()
    assertPurpose(context, load)
    if (context.refusesFilters) assertUnfiltered(load)
    return load
  } catch (thrown) {
    speculation.remember(statement, undefined)
    throw thrown
  }
}

/**
 * Loads and compiles after a change, in which the reader's credential may have ended too: the version of this load
 * would not tell of that.
 * @throws SqlError 28000; as {@link loadAndCompile}
 */
export async function loadAgain(
  parts: CompileParts,
  statement: Statement,
  progress: QueryProgress,
  signal: AbortSignal | undefined,
): Promise<Load> {
  const { reader } = statement.context
  const sessionCheck: SessionCheck = { take: () => reader.sessionToCheck?.(), report: () => {} }
  const load = await loadAndCompile(parts, statement, progress, { signal, sessionCheck })
  if (load.loaded.sessionId === undefined && !(await reader.stillValid())) throw credentialEnded()
  return load
}

/**
 * Refuses to read by attestations where anything of the governance changed between the two loads.
 * @throws GovernanceChanged
 */
function assertAttested({ statement, version }: ExpandedStatement, loaded: LoadedTables): void {
  if (statement.expansion?.liftedUntilMs !== undefined && version !== loaded.governanceVersion)
    throw new GovernanceChanged(
      'The governance of the tables changed while the query was compiled. Run it again.',
    )
}

/** @throws SqlError 42501 where a table of the statement is read for another purpose only */
function assertPurpose({ purpose, surface }: QueryContext, { compiled }: Load): void {
  const refused = compiled.reads.find(({ table }) => !meetsDemands(table.purposeDemands, purpose))
  if (refused === undefined) return
  const { ref, purposeDemands = [] } = refused.table
  throw new SqlError('42501', `permission denied: ${demandText(ref, purposeDemands)}.`, undefined, {
    ...{ kind: 'forbidden', reason: purposeDemandedReason, hint: purposeHints[surface] },
  })
}

const byHeader = 'Name the purpose in the header X-Svc-Purpose.'
/** How a purpose is named on each surface. */
const purposeHints: Readonly<Record<ReadSurface, string>> = {
  pgwire: `Name the purpose before the statement: SET ${purposeSetting} = '…'.`,
  xmla: `Name the purpose in the header X-Svc-Purpose or the property ${purposeProperty} of the request. A client that sends neither, such as Excel, cannot read this table.`,
  graphql: byHeader,
  rest: byHeader,
  mcp: 'Name the purpose in the argument purpose.',
}

/** @throws SqlError 42501 where a row filter applies to a table of the statement */
function assertUnfiltered({ compiled }: Load): void {
  const filtered = compiled.policies.find(({ kind }) => kind === 'row_filter')
  if (filtered !== undefined) throw affectedByFilter(filtered.table.name)
}

/** @throws SqlError of the compiler */
function compile({ cache, speculation }: CompileParts, statement: Statement, loaded: LoadedTables): Load {
  const load = cache.compileLoaded(statement, loaded, speculation.last(statement))
  speculation.remember(statement, load)
  return load
}

/**
 * The load for the request's run. The run passes the inferred parameter types, which may make another statement.
 * @returns undefined where that does not compile; the run then loads again and reports the error
 */
export function loadOfRun(
  parts: CompileParts,
  { context, source, parameterTypes }: Statement,
  load: Load,
): Load | undefined {
  const { loaded, compiled, expansion } = load
  const { parameters } = compiled
  if (Bun.deepEquals(parameterTypes, parameters, true)) return load
  try {
    return compile(parts, withExpansion(statementOf(context, source, parameters), expansion), loaded)
  } catch {
    return undefined
  }
}

/** The load of a prepared statement, compiled with the values of the parameters that must be literals. */
export function withValues(parts: CompileParts, statement: Statement, load: Load): Load {
  if (statement.parameterValues.length === 0) return load
  return compile(parts, withExpansion(statement, load.expansion), load.loaded)
}
