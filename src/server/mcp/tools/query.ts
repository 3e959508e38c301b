/** Declares query: runs one SELECT by the read path, and says under which contracts, snapshots and masks it ran. */

import { Type } from '@sinclair/typebox'
import { Fault } from '../../../base/fault.ts'
import { agentAccessHint, askableOf } from '../../../core/access-hint.ts'
import { purposeCharsMax, statedPurpose } from '../../../core/purpose.ts'
import { tableName } from '../../../core/table-ref.ts'
import { type AppliedGovernance, type PolicyUsage, protectionKinds } from '../../../core/usage.ts'
import {
  described,
  flag,
  list,
  maybe,
  nullable,
  object,
  oneOf,
  text,
  uuid,
  wholeNumber,
} from '../../../http/schemas.ts'
import { SqlError } from '../../../query/compile/base/sql-error.ts'
import type { PreparedQuery, QueryContext } from '../../../query/query-service.ts'
import { type RowBounds, type WrittenRows, writeRows } from '../../../query/run/json-rows.ts'
import { ValueError } from '../../../wire/postgres/value-error.ts'
import type { ReadSessionCheck } from '../../read-session.ts'
import { mcpBounds } from '../bounds.ts'
import { assertBudgetLeft } from '../byte-budget.ts'
import { partOf } from '../fitting.ts'
import { type ToolContext, tool } from '../tool.ts'
import { charsMax, cleanName, untrusted, untrustedMark } from '../untrusted.ts'
import { catalogInput, chosenCatalog } from './catalogs.ts'

/** Input: a statement. */
export const sqlInput = Type.String({
  minLength: 1,
  maxLength: 65_536,
  description: 'one SELECT, PostgreSQL dialect; tables as namespace.table; $1 … are parameters',
})

const cell = Type.Unsafe<unknown>({})

/** Input: why it is read. */
export const purposeInput = maybe(
  Type.String({
    maxLength: purposeCharsMax,
    description: 'why you read; recorded, and some contracts demand one',
  }),
)

/** The context of a run of a tool. @throws Fault `bad_request` for a purpose that cannot be taken */
export function queryContextOf(
  { reader, agent, caller }: ToolContext,
  catalog: string,
  purpose: string | undefined,
): QueryContext {
  const stated = purpose === undefined ? caller.purpose : statedPurpose(purpose, '`purpose`')
  return {
    ...{ ...reader.queryContext('mcp', catalog, []), agent },
    ...(stated !== undefined && { purpose: stated }),
  }
}

/** Filters and masks that applied. */
export const protectionSchema = object({
  id: text,
  kind: oneOf(protectionKinds),
  table: text,
  column: maybe(text),
  action: maybe(text),
})

const listTotal = maybe(described(wholeNumber, 'where not all are shown'))
/** Bytes of what is told besides rows and columns: of each list, and in sum. */
const bytes = { contracts: 1_500, asOf: 2_500, protections: 3_000 } as const
const appliedBytes = bytes.contracts + bytes.asOf + bytes.protections + 1_000

export const query = tool({
  name: 'query',
  description:
    'Run one read-only SELECT and get rows. Masks and row filters of the contracts apply. Prefer aggregates and few columns; `truncated` says that there were more rows.',
  scope: 'mcp:query',
  gives: { visible: ['existence', 'columns', 'values', 'counts'] },
  input: object({
    sql: sqlInput,
    parameters: maybe(
      list(nullable(Type.String({ maxLength: 65_536 })), {
        maxItems: 100,
        description: 'text forms, $1 first',
      }),
    ),
    catalog: catalogInput,
    purpose: purposeInput,
    max_rows: maybe(Type.Integer({ minimum: 1, maximum: mcpBounds.rowsMax, default: mcpBounds.rows })),
    max_bytes: maybe(
      Type.Integer({ minimum: 1_024, maximum: mcpBounds.rowBytesMax, default: mcpBounds.rowBytes }),
    ),
  }),
  output: object({
    query_id: uuid,
    result: object({
      ...untrustedMark,
      columns: list(object({ name: text, type: text })),
      rows: list(list(cell)),
    }),
    row_count: wholeNumber,
    truncated: flag,
    contracts: list(object({ ...untrustedMark, id: text, version: wholeNumber })),
    contracts_total: listTotal,
    as_of: list(object({ ...untrustedMark, table: text, snapshot_id: maybe(text), pinned: maybe(flag) })),
    as_of_total: listTotal,
    protections: object({ ...untrustedMark, items: list(protectionSchema), total: listTotal }),
    access: maybe(text),
    hint: maybe(text),
  }),
  async run(
    context,
    { sql, parameters = [], catalog, purpose, max_rows: rowsMax = mcpBounds.rows, max_bytes: wantedBytes },
  ) {
    const { parts, reader, signal } = context
    await assertBudgetLeft(context)
    const chosen = await chosenCatalog(context, catalog)
    const on = queryContextOf(context, chosen, purpose)
    const check = reader.openCheck()
    const prepared = await prepare(context, on, sql, check)
    if (prepared.parameters.length !== parameters.length)
      throw new Fault('bad_request', `The statement takes ${prepared.parameters.length} parameters.`)
    const bytesMax = rowBytes(prepared, wantedBytes)
    const run = parts.queries.run(on, prepared, {
      ...{ parameters, signal, sessionCheck: check },
      timeMs: mcpBounds.callMs,
    })
    const written = await readRows(run, { rowsMax, bytesMax, charsMax: charsMax.value })
    check.ask()
    await check.passed
    return { query_id: run.queryId, ...resultView(prepared, written), ...appliedView(run.applied()) }
  },
})

async function prepare(
  { parts, signal }: ToolContext,
  on: QueryContext,
  sql: string,
  check: ReadSessionCheck,
): Promise<PreparedQuery> {
  const preparing = parts.queries.prepare(on, sql, [], { runsAtOnce: true, signal, sessionCheck: check })
  check.askUnlessTaken()
  return await preparing
}

async function readRows(run: Parameters<typeof writeRows>[0], bounds: RowBounds): Promise<WrittenRows> {
  try {
    return await writeRows(run, bounds)
  } catch (thrown) {
    if (thrown instanceof ValueError) throw new SqlError('22008', 'A date or time is out of range.')
    throw thrown
  }
}

/** The bytes that are left for rows. @throws Fault `unprocessable` where the names of the columns leave none */
function rowBytes({ columns }: PreparedQuery, wanted: number | undefined): number {
  const header = Buffer.byteLength(JSON.stringify(columns.map(columnView)))
  const most = mcpBounds.answerBytesMax - appliedBytes - header
  const left = wanted === undefined ? mcpBounds.rowBytes - header : Math.min(wanted, most)
  if (left > 0) return left
  throw new Fault('unprocessable', `The result has ${columns.length} columns. Name those that you need.`)
}

const columnView = ({ name, type }: PreparedQuery['columns'][number]) => ({ name: cleanName(name), type })

function resultView({ columns }: PreparedQuery, { rows, truncated }: WrittenRows) {
  return {
    result: {
      ...untrusted,
      columns: columns.map(columnView),
      rows,
    },
    row_count: rows.length,
    truncated,
    ...(truncated && { hint: 'There are more rows. Aggregate, filter, or raise max_rows or max_bytes.' }),
  }
}

function appliedView({ contracts, reads, policies }: AppliedGovernance) {
  const governing = partOf(
    contracts.map(({ id, version }) => ({ ...untrusted, id: cleanName(id), version })),
    bytes.contracts,
  )
  const asOf = partOf(
    reads.map(({ snapshot_id: snapshotId, pinned, ...table }) => ({
      ...untrusted,
      table: cleanName(tableName(table)),
      ...(snapshotId !== undefined && { snapshot_id: snapshotId }),
      ...(pinned !== undefined && { pinned }),
    })),
    bytes.asOf,
  )
  return {
    contracts: governing.items,
    ...(governing.total !== undefined && { contracts_total: governing.total }),
    as_of: asOf.items,
    ...(asOf.total !== undefined && { as_of_total: asOf.total }),
    protections: { ...untrusted, ...partOf(policies.map(protectionView), bytes.protections) },
    ...accessView(policies),
  }
}

/** How access to what is hidden is asked for. */
export function accessView(policies: readonly PolicyUsage[]): { readonly access?: string } {
  const access = agentAccessHint(askableOf(policies))
  return access === undefined ? {} : { access }
}

/** A filter or mask that applied. */
export function protectionView({ id, kind, table, column, action }: PolicyUsage) {
  return {
    ...{ id: cleanName(id), kind, table: cleanName(tableName(table)) },
    ...(column !== undefined && { column: cleanName(column) }),
    ...(action !== undefined && { action }),
  }
}
