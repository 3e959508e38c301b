/**
 * Explains a statement: its SQL for the engine, the columns that it reads and the filters and masks that apply. It
 * explains a run in a catalog, or the SQL for an engine over the columns of the last commits. It runs nothing.
 */

import type { Clock } from '../../base/clock.ts'
import { accessCommand, accessLink, askableOf, type RequestPage } from '../../core/access-hint.ts'
import { saltBytesMin } from '../../core/mask.ts'
import type { Principal } from '../../core/principal.ts'
import { demandText } from '../../core/purpose.ts'
import { readEngineOf } from '../../core/read-engine.ts'
import { currentSchema, seenTable, viewerAt } from '../../core/seen-table.ts'
import type { DialectName, SqlType } from '../../core/sql-type.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { whomToAsk } from '../../core/whom-to-ask.ts'
import { contactsInForce } from '../../store/contract/contacts.ts'
import type { RunQuery } from '../../store/contract/versions.ts'
import { loadDeclaredSchema } from '../../store/governance/declared-schema.ts'
import { loadGovernances } from '../../store/governance/governance.ts'
import type { ParameterValue } from '../compile/base/ir.ts'
import { SqlError } from '../compile/base/sql-error.ts'
import { type CompiledQuery, compileQuery, type TableRead } from '../compile/compile.ts'
import { renderSql } from '../compile/emit/render.ts'
import { fingerprintStatement } from '../compile/parse/fingerprint.ts'
import { namedRefs } from '../compile/parse/named-refs.ts'
import { asReadable, type ExpandedBy, expandText } from '../run/load/expand-statement.ts'
import { type LoadContext, type LoadParts, loadTables, type ReadSnapshot } from '../run/load/load-tables.ts'

export interface ExplainParts extends LoadParts {
  readonly clock: Clock
  /** The page that helps to ask for access; without it no address is named. */
  readonly requestPage?: RequestPage
}

/** A run in a catalog, on its engine; or an engine alone, without a catalog. */
export type ExplainTarget = { readonly catalog: string } | { readonly dialect: DialectName }

export interface ExplainInput {
  readonly statement: string
  readonly target: ExplainTarget
  readonly searchPath: readonly string[]
  readonly principal: Principal
  readonly parameters: readonly (string | null)[] | undefined
  /** Types of parameters that the client gave, `$1` first. */
  readonly parameterTypes?: readonly (SqlType | undefined)[]
  /** The name of the session's time zone; undefined is UTC. */
  readonly timeZone?: string | undefined
  /** Whether the service wrote the statement itself; never set by what a client sends. */
  readonly generated?: true
}

/**
 * Explains a statement for a principal.
 *
 * @param withPolicies whether the caller, a steward, may see the SQL and where filters and masks are attached
 * @throws SqlError as the compiler and, with a catalog, loadTables do; 55000 for a pinned table without a
 *   catalog; Fault of the store or the upstream; the signal's reason
 */
export async function explain(
  parts: ExplainParts,
  tenant: TenantId,
  input: ExplainInput,
  withPolicies: boolean,
  signal?: AbortSignal,
) {
  const { principal, parameters } = input
  const { dialect, compiled, snapshotOf } = await compileFor(parts, tenant, input, signal)
  const [reasons, asked] = await Promise.all([
    reasonsOf(parts, tenant, compiled.reads),
    askedOf(parts, tenant, compiled.reads),
  ])
  // A run draws a random salt; zeros here reveal no run's salt.
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
      contract: contract && { ...contract, ...reasons.get(tableKey(ref)), ...asked(contract.id) },
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
    /** How access for a time to what they hide is asked for. */
    access: askableOf(compiled.policies).map((asked) => {
      const link = accessLink(parts.requestPage, asked)
      return { command: accessCommand(asked), ...(link !== undefined && { link }) }
    }),
    /** Which purposes its tables demand, in words. */
    demands: compiled.reads.flatMap(({ table: { ref, purposeDemands } }) =>
      purposeDemands === undefined ? [] : [demandText(ref, purposeDemands)],
    ),
    fingerprint: fingerprintStatement(input.statement) ?? '',
    /** Places of the result's columns that an outer join may make NULL. */
    nulled: compiled.origins().flatMap((origin, index) => (origin?.nulled ? [index] : [])),
  }
}

/** What the contracts say of their tables, in words; only of tables that the statement may read. */
async function reasonsOf({ store }: ExplainParts, tenant: TenantId, reads: readonly TableRead[]) {
  const found = await Promise.all(
    reads.map(async ({ table: { ref, contract } }) => {
      const schema = contract && (await loadDeclaredSchema(store, tenant, ref))
      return [tableKey(ref), { description: schema?.description }] as const
    }),
  )
  return new Map(found)
}

/** Whom to ask about the contracts of tables that the statement may read. */
async function askedOf({ store, clock }: ExplainParts, tenant: TenantId, reads: readonly TableRead[]) {
  const run: RunQuery = (text, params) => store.tenantQuery(tenant, text, params)
  const ids = reads.flatMap(({ table: { contract } }) => contract?.id ?? [])
  const contacts = await contactsInForce(run, tenant, ids)
  return (id: string) => {
    const whom = whomToAsk(contacts.get(id), clock.now())
    return whom && { whom_to_ask: whom }
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
  /** The snapshot at which a table is read, for the response. */
  readonly snapshotOf: (table: TableRef) => ExplainedSnapshot | undefined
}

async function compileFor(
  parts: ExplainParts,
  tenant: TenantId,
  { target, ...input }: ExplainInput,
  signal: AbortSignal | undefined,
): Promise<Compiled> {
  return await asReadable(input.statement, async (by) =>
    'catalog' in target
      ? await compileRun(parts, { tenant, ...target, ...input }, input.statement, by, signal)
      : await compileAlone(parts, { tenant, dialect: target.dialect }, input, by, signal),
  )
}

/** Loads and compiles as a run does. */
async function compileRun(
  parts: ExplainParts,
  context: LoadContext & Pick<ExplainInput, 'generated' | 'parameters' | 'parameterTypes' | 'timeZone'>,
  text: string,
  part: ExpandedBy,
  signal: AbortSignal | undefined,
): Promise<Compiled> {
  const { tenant, principal, searchPath, catalog: database, generated, parameterTypes, timeZone } = context
  const parameterValues = valuesOf(context)
  const by = { tenant, searchPath, catalog: database, ...(generated && { generated }) }
  const expansion = await expandText(parts, by, text, part, signal)
  const { credential, tables, snapshots } = await loadTables(parts, context, expansion?.tree ?? text, {
    signal,
  })
  return {
    dialect: readEngineOf(credential.config),
    compiled: compileQuery({
      ...{ text, principal, tables, searchPath, database, parameterValues, expansion, timeZone },
      ...(parameterTypes && { parameterTypes }),
    }),
    snapshotOf: (table) => described(snapshots.get(tableKey(table))),
  }
}

function valuesOf({ parameters = [] }: Pick<ExplainInput, 'parameters'>): readonly ParameterValue[] {
  return parameters.map((value, index) => [index + 1, value])
}

function described(snapshot: ReadSnapshot | undefined): ExplainedSnapshot | undefined {
  return snapshot && { id: snapshot.snapshotId?.toString() ?? null, pinned: snapshot.pinned }
}

/** Compiles over the columns of the last commits. Refuses pinned tables, whose columns may differ. */
async function compileAlone(
  parts: ExplainParts,
  { tenant, dialect }: { readonly tenant: TenantId; readonly dialect: DialectName },
  { statement, searchPath, principal, parameters }: Omit<ExplainInput, 'target'>,
  by: ExpandedBy,
  signal: AbortSignal | undefined,
): Promise<Compiled> {
  const expansion = await expandText(parts, { tenant, searchPath }, statement, by, signal)
  const refs = namedRefs(expansion?.tree ?? statement, searchPath)
  const governed = await loadGovernances(parts.store, tenant, refs, signal)
  const viewer = viewerAt(principal, parts.clock.now())
  const tables = [...governed.values()].map((governance) =>
    seenTable(governance, currentSchema(governance), viewer),
  )
  const parameterValues = valuesOf({ parameters })
  const compiled = compileQuery({
    text: statement,
    principal,
    tables,
    searchPath,
    parameterValues,
    expansion,
  })
  const isPinned = ({ table: { ref } }: TableRead) => governed.get(tableKey(ref))?.pin !== undefined
  const pinned = compiled.reads.find(isPinned)
  if (pinned !== undefined)
    throw new SqlError(
      '55000',
      `Table ${pinned.table.ref.name} is pinned, so explain it with \`catalog\` instead of \`dialect\`.`,
    )
  return { dialect, compiled, snapshotOf: () => undefined }
}
