/**
 * Explains a statement to its own principal as a plan, in the shape that clients of PostgreSQL read: one scan of the
 * engine that runs all of it. It shows which filters and masks apply, never what they compare with; a steward also sees
 * the SQL for the engine.
 */

import { isArray, type SqlType } from '../../core/sql-type.ts'
import { tableName } from '../../core/table-ref.ts'
import { askWords } from '../../core/whom-to-ask.ts'
import { earlierRuns } from '../../store/query/earlier-runs.ts'
import { affectedByFilter } from '../compile/base/sql-error.ts'
import type { QueryContext } from '../query-service.ts'
import { runError } from '../run/attempt/run-error.ts'
import { type ExplainInput, type ExplainParts, explain } from './explain.ts'

/** What a plan says beside PostgreSQL's own words, by name; a list has a line for each. */
type PlanFacts = Readonly<Record<string, string | readonly string[]>>

export interface PlanNode {
  readonly type: 'Foreign Scan' | 'Result'
  readonly rows: number
  /** Bytes of a row. */
  readonly width: number
  readonly output: readonly string[]
  readonly facts: PlanFacts
  /** The columns that an outer join fills with NULL where it finds no row; undefined where there is none. */
  readonly nulled?: readonly string[]
}

export type PlanInput = Pick<ExplainInput, 'statement' | 'parameters' | 'parameterTypes'>

/** Rows of a statement that its principal has not run: PostgreSQL's own guess for a table that it knows nothing of. */
const unknownRows = 1_000

/**
 * Explains a run in a connection's context.
 * @throws SqlError as a run does before its engine is asked
 */
export async function explainPlan(
  parts: ExplainParts,
  { tenant, principal, catalog, searchPath, refusesFilters, timeZone }: QueryContext,
  statement: PlanInput,
): Promise<PlanNode> {
  const isSteward = principal.roles.includes('steward')
  const input = { ...statement, target: { catalog }, searchPath, principal, timeZone }
  const explained = await explain(parts, tenant, input, isSteward).catch((thrown) => {
    throw runError(thrown)
  })
  const { columns, reads, policies, access, demands, dialect, fingerprint, nulled } = explained
  const filtered = policies.find(({ kind }) => kind === 'row_filter')
  if (refusesFilters && filtered !== undefined) throw affectedByFilter(filtered.table.name)
  // How large a table is would tell of its hidden rows, so only what the principal itself has read counts.
  const runs = await earlierRuns(parts.store, tenant, principal.sub, fingerprint)
  const output = distinctNames(columns.map(({ name }) => name))
  return {
    type: reads.length > 0 ? 'Foreign Scan' : 'Result',
    rows: reads.length > 0 ? (runs?.rowsOut ?? unknownRows) : 1,
    width: columns.reduce((bytes, { type }) => bytes + widthOf(type), 0),
    output,
    facts: {
      Columns: columns.map(({ name, type }) => `${name} ${type}`).join(', '),
      Engine: dialect,
      ...listed('Reads', reads.map(readText)),
      ...listed('Contract', reads.flatMap(({ contract }) => contract ?? []).map(contractText)),
      ...listed('Ask', reads.flatMap(askText)),
      ...listed('Purpose', demands),
      ...listed(
        'Access',
        access.map(({ command, link }) => (link === undefined ? command : `${command}, or ${link}`)),
      ),
      ...listed('Row Filter', policies.filter(({ kind }) => kind === 'row_filter').map(policyText)),
      ...listed('Column Mask', policies.filter(({ kind }) => kind === 'column_mask').map(policyText)),
      ...listed('Reveal', policies.filter(({ kind }) => kind === 'reveal').map(policyText)),
      ...(explained.sql !== undefined && { 'Remote SQL': explained.sql.split('\n') }),
    },
    ...(nulled.length > 0 && { nulled: nulled.flatMap((index) => output[index] ?? []) }),
  }
}

type Explained = Awaited<ReturnType<typeof explain>>

function listed(name: string, texts: readonly string[]): PlanFacts {
  return texts.length > 0 ? { [name]: [...new Set(texts)].map(oneLine) } : {}
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ')

function readText({ table, columns, snapshot }: Explained['reads'][number]): string {
  const at = `at ${snapshot?.pinned ? 'its pin, ' : ''}snapshot ${snapshot?.id ?? 'none'}`
  return `${tableName(table)} ${at}: ${columns.join(', ')}`
}

type ExplainedContract = NonNullable<Explained['reads'][number]['contract']>

function contractText({ id, version, description }: ExplainedContract): string {
  return `${id}, version ${version}${description === undefined ? '' : `: ${description}`}`
}

function askText({ table, contract }: Explained['reads'][number]): readonly string[] {
  return contract?.whom_to_ask === undefined
    ? []
    : [`${askWords(contract.whom_to_ask)} about ${tableName(table)}`]
}

function policyText({ id, table, column, action, origin }: Explained['policies'][number]): string {
  const on = column === undefined ? tableName(table) : `${tableName(table)}.${column}`
  const by = origin?.kind === 'tag' ? `, by the tag ${origin.tag}` : ''
  return `${action === undefined ? '' : `${action} `}on ${on} (${id}${by})`
}

/** The names, each once, because clients compare columns by them. */
function distinctNames(names: readonly string[]): readonly string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    let free = name
    for (let number = 1; taken.has(free); number++) free = `${name}_${number}`
    taken.add(free)
    return free
  })
}

const widths: Partial<Record<SqlType, number>> = { bool: 1, int2: 2, int4: 4, float4: 4, date: 4 }

function widthOf(type: SqlType): number {
  if (isArray(type) || ['text', 'varchar', 'bytea', 'json', 'jsonb', 'numeric', 'unknown'].includes(type))
    return 32
  return widths[type] ?? (type === 'uuid' || type === 'interval' ? 16 : 8)
}
