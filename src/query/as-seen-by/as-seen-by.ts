/**
 * Shows a table as another principal reads it: the row filters and the mask of each column that would apply, and on
 * request rows. Rows come through the read path. They are shown only where the caller could read them as well: nothing of
 * the table is hidden from the caller, or the same is hidden from both.
 */

import { Fault } from '../../base/fault.ts'
import type { GovernedTable } from '../../core/governed-table.ts'
import { chooseMask } from '../../core/mask.ts'
import type { Caller } from '../../core/operation.ts'
import type { Principal } from '../../core/principal.ts'
import { isNull, type ResultBatch } from '../../core/result-batch.ts'
import { type TableRef, tableName } from '../../core/table-ref.ts'
import { recordAdministration } from '../../store/administration/administration-log.ts'
import { isMaskedFor } from '../../store/governance/protections.ts'
import { findServiceSessionById } from '../../store/session/sessions.ts'
import { defaultTextOptions, textOf } from '../../wire/postgres/text-values.ts'
import { exprKey } from '../compile/base/ir.ts'
import { servedType } from '../compile/base/types.ts'
import { protectTables } from '../compile/protect/protect.ts'
import type { QueryContext, QueryService } from '../query-service.ts'
import { type LoadParts, loadTables } from '../run/load/load-tables.ts'

export interface AsSeenParts extends LoadParts {
  readonly queries: QueryService
}

interface AsSeenInput {
  readonly catalog: string
  readonly table: TableRef
  readonly principal: Principal
  /** Rows that are wanted; 0 for none. */
  readonly rows: number
}

/** Milliseconds that the rows may take, and characters of one value that are shown. */
const rowsMs = 10_000
const valueLengthMax = 200

const withheld =
  'A row filter or column mask applies to you that does not apply to them in the same way, so no rows are shown.'

/**
 * Shows the table. Every call is recorded in the administration log before anything is answered.
 * @throws Fault `not_found` for a table that the catalog or the principal does not have, `conflict` where what governs
 *   the table changed meanwhile; SqlError of the read path
 */
export async function asSeenBy(parts: AsSeenParts, caller: Caller, input: AsSeenInput, signal: AbortSignal) {
  const { catalog, table: ref, principal } = input
  const { tenant } = caller
  const actor = await caller.actor()
  await parts.store.tenantTransaction(tenant, async (tx) => {
    const subject = { table: { namespace: ref.namespace, name: ref.name }, catalog }
    await recordAdministration(tx, actor, {
      action: 'read-as-principal',
      subject,
      value: { sub: principal.sub, roles: principal.roles, rows: input.rows },
    })
  })
  const statement = `SELECT 1 FROM ${quoted(ref.namespace.join('.'))}.${quoted(ref.name)}`
  const load = (by: Principal) =>
    loadTables(parts, { tenant, catalog, principal: by, searchPath: [] }, statement, { signal })
  const [theirs, own] = [await load(principal), await load(caller.principal)]
  const [table] = theirs.tables
  const [ownTable] = own.tables
  if (table === undefined || ownTable === undefined)
    throw new Fault('not_found', `The catalog has no table ${tableName(ref)} that can be read.`)
  const shown = { ...protectionView(table), rows: undefined, rows_withheld: undefined }
  if (input.rows === 0) return shown
  const hidesNothing = !(await isMaskedFor(parts.store, tenant, ref, caller.principal))
  const mayShow = (one: GovernedTable, other: GovernedTable) =>
    hidesNothing || isProtectedAlike(one, principal, other, caller.principal)
  if (!mayShow(table, ownTable)) return { ...shown, rows_withheld: withheld }
  const rows = await sample(parts, caller, input, table, signal)
  // What governs the table was the same from before the comparison until after the rows, or they are not shown.
  const [theirsAfter, after] = [await load(principal), await load(caller.principal)]
  if (after.governanceVersion !== theirs.governanceVersion)
    throw new Fault('conflict', 'Filters, masks or contracts of the tenant changed meanwhile. Retry.')
  // A grant begins and ends by the clock alone, and the run knows the end of theirs only.
  const [last, ownLast] = [theirsAfter.tables[0], after.tables[0]]
  if (last === undefined || ownLast === undefined || !mayShow(last, ownLast))
    return { ...shown, rows_withheld: withheld }
  return { ...shown, rows }
}

function protectionView(table: GovernedTable) {
  return {
    contract: table.contract,
    row_filters: table.rowFilters.map(({ policyId: id, origin, expression }) => ({ id, origin, expression })),
    columns: table.columns.map(({ name, type, required, masks, nestedMasks = [] }) => {
      const { mask, problem } = chooseMask(masks, type, required)
      return {
        name,
        type: typeof type === 'string' ? type : JSON.stringify(type),
        ...(mask && {
          mask: {
            id: mask.policyId,
            action: mask.action,
            origin: mask.origin,
            ...(mask.expression !== undefined && { expression: mask.expression }),
          },
        }),
        ...(masks.length > 1 && {
          weaker_masks: masks.filter((one) => one !== mask).map((one) => one.policyId),
        }),
        ...(nestedMasks.length > 0 && {
          masks_inside: nestedMasks.flatMap(({ fieldId, masks: inside }) =>
            inside.map(({ policyId: id, action, origin, expression }) => ({
              ...{ field_id: fieldId, id, action, origin },
              ...(expression !== undefined && { expression }),
            })),
          ),
        }),
        ...(problem !== undefined && { problem }),
      }
    }),
  }
}

/** Whether the same columns, filters and masks apply to both, with the same meaning. */
function isProtectedAlike(
  one: GovernedTable,
  by: Principal,
  other: GovernedTable,
  byOther: Principal,
): boolean {
  return protectionKey(one, by) === protectionKey(other, byOther)
}

/** The filters and masks of a table as they are resolved for a principal, whose name they may depend on. */
function protectionKey(table: GovernedTable, principal: Principal): string {
  const used = new Set(table.columns.keys())
  const protection = protectTables([{ id: 't', table, used }], principal).get('t')
  return JSON.stringify([
    table.columns.map(({ fieldId, name }) => [fieldId, name]),
    protection?.filters.map(exprKey).toSorted(),
    protection?.columns.map(({ index, mask, expression, nested = new Map() }) => [
      index,
      [...nested].map(([id, one]) => [
        id,
        one.mask.policyId,
        one.mask.action,
        one.expression && exprKey(one.expression),
      ]),
      mask && [mask.policyId, mask.action],
      expression && exprKey(expression),
    ]),
  ])
}

async function sample(
  parts: AsSeenParts,
  caller: Caller,
  { catalog, table: { namespace, name }, principal, rows: limit }: AsSeenInput,
  table: GovernedTable,
  signal: AbortSignal,
) {
  const names = table.columns
    .filter(({ type }) => servedType(type) !== undefined)
    .map((column) => column.name)
  const text = `SELECT ${names.map(quoted).join(', ')} FROM ${quoted(namespace.join('.'))}.${quoted(name)} LIMIT ${limit}`
  const context = contextOf(parts, caller, catalog, principal)
  const prepared = await parts.queries.prepare(context, text, [], { signal })
  const run = parts.queries.run(context, prepared, { signal, timeMs: rowsMs })
  const values: (readonly (string | null)[])[] = []
  for await (const batch of run) for (let row = 0; row < batch.rowCount; row++) values.push(rowOf(batch, row))
  return { query_id: run.queryId, columns: names, values }
}

/** The records of the run name the caller. */
function contextOf(
  { store }: AsSeenParts,
  { tenant, session, principal: reader, identified, purpose }: Caller,
  catalog: string,
  principal: Principal,
): QueryContext {
  return {
    ...{ tenant, catalog, principal, recordedAs: reader, surface: 'rest', searchPath: [] },
    principalSource: identified.source,
    purpose,
    reader: {
      expiresAtMs: session.expiresAtMs,
      sessionToCheck: () => undefined,
      // Asked only where something changed while the rows came. A browser's session is not looked up: the rows end.
      async stillValid() {
        if (session.kind !== 'service') return false
        const now = await findServiceSessionById(store, session.sessionId)
        return now?.tenant === tenant && now.scopes.includes('read')
      },
    },
  }
}

function rowOf({ columns }: ResultBatch, row: number): readonly (string | null)[] {
  return columns.map((column) => {
    if (isNull(column, row)) return null
    const text = textOf(column, row, defaultTextOptions)
    return text.length <= valueLengthMax ? text : `${text.slice(0, valueLengthMax)}…`
  })
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
