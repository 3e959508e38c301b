/**
 * Explains a statement: what a run of it in a catalog would be, or what an engine would be asked over the columns
 * of the last commits. Loads what governs its tables, compiles, says what protects them; nothing is run.
 */

import { saltBytesMin } from '../core/mask.ts'
import type { Principal } from '../core/principal.ts'
import { readEngineOf } from '../core/read-engine.ts'
import type { DialectName } from '../core/sql-type.ts'
import { type TableRef, tableKey, tableName } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { loadGovernances } from '../store/governance/governance.ts'
import { governedTable } from '../store/governance/governed-table.ts'
import { type CompiledQuery, compileQuery, type TableRead } from './compile.ts'
import { renderSql } from './emit/render.ts'
import { fingerprintStatement } from './fingerprint.ts'
import { type LoadContext, type LoadParts, loadTables, type ReadSnapshot } from './load-tables.ts'
import { namedRefs } from './named-refs.ts'
import type { QueryContext } from './query-service.ts'
import { runError } from './run-error.ts'
import { SqlError } from './sql-error.ts'

/** A run in a catalog, on its engine; or an engine, without asking any catalog. */
export type ExplainTarget = { readonly catalog: string } | { readonly dialect: DialectName }

export interface ExplainInput {
  readonly statement: string
  readonly target: ExplainTarget
  readonly searchPath: readonly string[]
  readonly principal: Principal
  readonly parameters: readonly (string | null)[] | undefined
}

/**
 * What a statement becomes for a principal.
 *
 * @param withPolicies whether the caller may see the policies' text and where they are attached: a steward
 * @throws SqlError as the compiler and, with a catalog, loadTables do; 55000 for a pinned table without a
 *   catalog; Fault of the store or the upstream; the signal's reason
 */
export async function explain(
  parts: LoadParts,
  tenant: TenantId,
  input: ExplainInput,
  withPolicies: boolean,
  signal?: AbortSignal,
) {
  const { principal, parameters } = input
  const { dialect, compiled, snapshotOf } = await compileFor(parts, tenant, input, signal)
  // A run draws its salt; here it is zeros, for nobody to find what a run's was.
  const salt = new Uint8Array(saltBytesMin)
  if (parameters) compiled.checkParameters(parameters)
  const sql = renderSql(compiled.emit(dialect), dialect, { salt, ...(parameters && { parameters }) })
  return {
    dialect,
    principal: { sub: principal.sub, roles: principal.roles },
    ...(withPolicies && { sql }),
    parameters: compiled.parameters,
    columns: compiled.columns.map(({ name, type }) => ({ name, type })),
    reads: compiled.reads.map(({ table: { ref, contract }, columns }) => ({
      table: { namespace: ref.namespace, name: ref.name },
      contract,
      columns,
      snapshot: snapshotOf(ref),
    })),
    policies: compiled.policies.map(({ policyId, kind, table, column, action, origin }) => ({
      id: policyId,
      kind,
      table: { namespace: table.namespace, name: table.name },
      column,
      action,
      ...(withPolicies && { origin }),
    })),
    fingerprint: fingerprintStatement(input.statement) ?? '',
  }
}

interface ExplainedSnapshot {
  /** Text, because JSON readers round integers of its size; null where the table has no snapshot. */
  readonly id: string | null
  readonly pinned: boolean
}

interface Compiled {
  readonly dialect: DialectName
  readonly compiled: CompiledQuery
  /** What is told of the snapshot that a table is read at. */
  readonly snapshotOf: (table: TableRef) => ExplainedSnapshot | undefined
}

function compileFor(
  parts: LoadParts,
  tenant: TenantId,
  { target, ...input }: ExplainInput,
  signal: AbortSignal | undefined,
): Promise<Compiled> {
  if ('catalog' in target) return compileRun(parts, { tenant, ...target, ...input }, input.statement, signal)
  return compileAlone(parts, tenant, target.dialect, input, signal)
}

/** Everything but the engine is as it is in a run. */
async function compileRun(
  parts: LoadParts,
  context: LoadContext,
  text: string,
  signal: AbortSignal | undefined,
): Promise<Compiled> {
  const { principal, searchPath } = context
  const { credential, tables, snapshots } = await loadTables(parts, context, text, { signal })
  return {
    dialect: readEngineOf(credential.config),
    compiled: compileQuery({ text, principal, tables, searchPath }),
    snapshotOf: (table) => described(snapshots.get(tableKey(table))),
  }
}

function described(snapshot: ReadSnapshot | undefined): ExplainedSnapshot | undefined {
  return snapshot && { id: snapshot.snapshotId?.toString() ?? null, pinned: snapshot.pinned }
}

/** The columns are those of the last commit, which a pinned table is not read with. */
async function compileAlone(
  { store }: LoadParts,
  tenant: TenantId,
  dialect: DialectName,
  { statement, searchPath, principal }: Omit<ExplainInput, 'target'>,
  signal: AbortSignal | undefined,
): Promise<Compiled> {
  const governed = await loadGovernances(store, tenant, namedRefs(statement, searchPath), signal)
  const tables = [...governed.values()].map((governance) => governedTable(governance, principal))
  const compiled = compileQuery({ text: statement, principal, tables, searchPath })
  const isPinned = ({ table: { ref } }: TableRead) => governed.get(tableKey(ref))?.pin !== undefined
  const pinned = compiled.reads.find(isPinned)
  if (pinned !== undefined)
    throw new SqlError('55000', `Table ${pinned.table.ref.name} is pinned: name the catalog to read it in.`)
  return { dialect, compiled, snapshotOf: () => undefined }
}

/**
 * A run in the wire's context, for its client, one line a row: columns, engine, tables, policies, and the SQL for
 * the engine. The caller has made sure that its principal is a steward.
 * @throws SqlError as a run does before its engine is asked
 */
export async function explainLines(
  parts: LoadParts,
  { tenant, principal, catalog, searchPath }: QueryContext,
  statement: string,
): Promise<readonly string[]> {
  const input: ExplainInput = {
    statement,
    target: { catalog },
    searchPath,
    principal,
    parameters: undefined,
  }
  const explained = await explain(parts, tenant, input, true).catch((thrown) => {
    throw runError(thrown)
  })
  const { columns, dialect, reads, policies, sql } = explained
  return [
    `Columns: ${columns.map(({ name, type }) => `${name} ${type}`).join(', ')}`,
    `Engine: ${dialect}`,
    ...reads.map(readLine),
    ...policies.map((policy) => `Policy: ${JSON.stringify(policy)}`),
    ...`${sql}`.split('\n'),
  ]
}

type ExplainedRead = Awaited<ReturnType<typeof explain>>['reads'][number]

function readLine({ table, columns, snapshot }: ExplainedRead): string {
  const at = `at ${snapshot?.pinned ? 'its pin, ' : ''}snapshot ${snapshot?.id ?? 'none'}`
  return `Reads ${tableName(table)} ${at}: ${columns.join(', ')}`
}
