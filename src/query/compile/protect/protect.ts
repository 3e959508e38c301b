/**
 * Parses and resolves the row filters and column masks of each governed table, against its raw columns only. Filters
 * read raw values; masks apply to the rows that the filters leave. Writing their SQL is emit/query.ts's task.
 */

import type { AttachedMask, GovernedTable, PolicyOrigin, RowFilter } from '../../../core/governed-table.ts'
import { chooseMask } from '../../../core/mask.ts'
import type { Principal } from '../../../core/principal.ts'
import type { Reveal } from '../../../core/reveal.ts'
import type { TableRef } from '../../../core/table-ref.ts'
import type { ProtectionKind } from '../../../core/usage.ts'
import { columnAt, type Expr } from '../base/ir.ts'
import { placeAt } from '../base/nested-fields.ts'
import { SqlError, toSqlError } from '../base/sql-error.ts'
import { condition } from '../resolve/coerce.ts'
import type { TableAppearance } from '../resolve/context.ts'
import { expressionCanFail } from './fallible.ts'
import { fieldOf, isTruncation, maskAround, masksInside, type NestedMask } from './nested-masks.ts'
import { type Attached, resolveMask, resolveRaw } from './policy-expression.ts'
import { type PolicyUse, policyWarnings } from './policy-warnings.ts'

export interface ProtectedColumn {
  readonly index: number
  readonly mask?: AttachedMask | undefined
  /** The resolved expression of apply-expression, of the column's type. */
  readonly expression?: Expr | undefined
  /** Masks of fields inside it, by field id; absent where none applies. Then there is no mask of the whole. */
  readonly nested?: ReadonlyMap<number, NestedMask>
  /** Whether the mask can fail on some value. */
  readonly fallible: boolean
}

/** Whether a mask changes a column's values, whole or inside. */
export function isMasked({ mask, nested }: ProtectedColumn): boolean {
  return mask !== undefined || nested !== undefined
}

export interface Protection {
  readonly filters: readonly Expr[]
  readonly columns: readonly ProtectedColumn[]
  /** Whether a row filter can fail on some row. */
  readonly filtersCanFail: boolean
}

export interface AppliedProtection {
  readonly policyId: string
  readonly origin: PolicyOrigin
  readonly kind: ProtectionKind
  readonly table: TableRef
  readonly column?: string
  readonly action?: string
}

/**
 * The filters and masks that apply to one principal, by the id of a table's appearance.
 *
 * @throws SqlError 42501 where a filter or mask cannot be applied; the client gets no reason
 */
export function protectTables(
  appearances: readonly TableAppearance[],
  principal: Principal,
): ReadonlyMap<string, Protection> {
  const protections = new Map<string, Protection>()
  for (const { id, table, used } of appearances)
    try {
      const columns = [...used].sort((a, b) => a - b).map((index) => protectColumn(table, index, principal))
      protections.set(id, { ...filtersFor(table, principal), columns })
    } catch (cause) {
      throw new SqlError('42501', `permission denied for table ${table.tableName}`, undefined, {
        cause,
        detail: `a policy on ${table.schemaName}.${table.tableName} cannot be applied`,
      })
    }
  return protections
}

type Filters = Pick<Protection, 'filters' | 'filtersCanFail'>

/** The last filters made from each table. They depend on the table and the principal alone, not on the statement. */
const lastFilters = new WeakMap<GovernedTable, { readonly principal: Principal; readonly own: Filters }>()

function filtersFor(table: GovernedTable, principal: Principal): Filters {
  const last = lastFilters.get(table)
  if (last !== undefined && Bun.deepEquals(last.principal, principal, true)) return last.own
  const filters = resolveFilters(table, principal)
  const own = { filters, filtersCanFail: filters.some(expressionCanFail) }
  lastFilters.set(table, { principal, own })
  return own
}

/**
 * The row filters of a table for one principal, over its raw columns.
 * @throws SqlError where one cannot be applied
 */
export function resolveFilters(table: GovernedTable, principal: Principal): readonly Expr[] {
  checkNames(table)
  return table.rowFilters.map((filter) => resolveFilter(table, filter, principal))
}

/** The filters and masks that were applied, each once, for the usage record. */
export function appliedProtections(
  appearances: readonly TableAppearance[],
  protections: ReadonlyMap<string, Protection>,
): AppliedProtection[] {
  const policies = appearances.flatMap(({ id, table }): AppliedProtection[] => [
    ...appliedFilters(table),
    ...(protections.get(id)?.columns.flatMap((column) => appliedMask(table, column)) ?? []),
  ])
  return [...new Map(policies.map((policy) => [JSON.stringify(policy), policy])).values()]
}

function appliedFilters({ ref, rowFilters }: GovernedTable): AppliedProtection[] {
  return rowFilters.map(({ policyId, origin }) => ({ policyId, origin, kind: 'row_filter', table: ref }))
}

function appliedMask(table: GovernedTable, { index, mask, nested }: ProtectedColumn): AppliedProtection[] {
  const told = ({ policyId, origin, action }: AttachedMask, column: string): AppliedProtection => {
    return { policyId, origin, kind: 'column_mask', table: table.ref, column, action }
  }
  const column = columnAt(table, index)
  const inside = [...(nested?.values() ?? [])].map((one) => told(one.mask, nameAt(table, one.index)))
  return mask === undefined || column === undefined ? inside : [told(mask, column.name), ...inside]
}

/** The full name of a field inside a column. */
function nameAt(table: GovernedTable, index: number): string {
  const place = placeAt(table, index)
  const column = place && table.columns[place.column]
  if (place === undefined || column === undefined) return ''
  return place.shown?.name ?? `${column.name}.${place.field.name}`
}

/** The revealed columns of a result, each once, for the usage record. */
export function appliedReveals(outputs: readonly (Reveal | undefined)[]): AppliedProtection[] {
  const reveals = outputs.flatMap((reveal): AppliedProtection[] => {
    if (reveal === undefined) return []
    const { table, column, method } = reveal
    return [{ policyId: 'reveal', origin: { kind: 'column' }, kind: 'reveal', table, column, action: method }]
  })
  return [...new Map(reveals.map((reveal) => [JSON.stringify(reveal), reveal])).values()]
}

/** One fault in the filters and masks of a table, for their author. */
interface ProtectionProblem {
  readonly policyIds: readonly string[]
  readonly message: string
}

/**
 * Checks, when a filter or mask is saved, everything that protectTables would refuse in a run.
 *
 * @param table with all filters and masks that could apply to one principal at once
 */
export function checkPolicies(table: GovernedTable): ProtectionProblem[] {
  // Roles and subject change values only, not whether a filter or mask can be applied.
  const principal: Principal = { sub: 'nobody', roles: [] }
  const problems: ProtectionProblem[] = []
  const attempt = (policyIds: readonly string[], check: () => void) => {
    try {
      check()
    } catch (thrown) {
      problems.push({ policyIds, message: toSqlError(thrown).publicMessage })
    }
  }
  attempt([], () => checkNames(table))
  for (const filter of table.rowFilters)
    attempt([filter.policyId], () => resolveFilter(table, filter, principal))
  for (const [index, column] of table.columns.entries()) {
    const inside = column.nestedMasks ?? []
    const ids = [...column.masks, ...inside.flatMap(({ masks }) => masks)].map(({ policyId }) => policyId)
    if (ids.length > 0) attempt(ids, () => protectColumn(table, index, principal))
    for (const mask of column.masks)
      if (mask.expression !== undefined)
        attempt([mask.policyId], () => resolveMask(table, column, mask, principal))
    for (const { fieldId, masks } of inside)
      for (const mask of masks)
        if (mask.expression !== undefined)
          attempt([mask.policyId], () =>
            resolveMask(table, { type: fieldOf(table, fieldId).type, fieldId }, mask, principal),
          )
  }
  return problems
}

/** Who reads, for an author's check. `asked` tells whether an expression asked. */
function askedPrincipal(): { readonly principal: Principal; readonly asked: () => boolean } {
  let asked = false
  const answer = <T>(value: T): T => {
    asked = true
    return value
  }
  const principal = {
    get sub() {
      return answer('nobody')
    },
    get roles() {
      return answer([])
    },
  }
  return { principal, asked: () => asked }
}

/**
 * The warnings about a row filter or mask that is saved, each once.
 * @param tables those that it governs, with what is attached to them; it is looked at by itself too, because it may
 *   govern none yet
 */
export function warnPolicy(
  { use, id, expression }: { readonly use: PolicyUse; readonly id: string; readonly expression: string },
  tables: readonly GovernedTable[],
): readonly string[] {
  const places = tables.flatMap((table): readonly (readonly [GovernedTable, Attached])[] => {
    const { columns, rowFilters } = table
    const attached =
      use === 'row filter'
        ? rowFilters
        : columns.flatMap(({ fieldId, masks }) => masks.map((mask) => ({ ...mask, fieldId })))
    return attached
      .filter((one) => one.policyId === id && one.expression === expression)
      .map(({ fieldId, names }) => [table, { fieldId, names }] as const)
  })
  const alone = [noTable, { fieldId: undefined, names: undefined }] as const
  const warnings = [...places, alone].flatMap(([table, attached]) => {
    const { principal, asked } = askedPrincipal()
    try {
      const expr = resolveRaw(table, expression, principal, attached)
      return policyWarnings(expr, { use, asksPrincipal: asked() })
    } catch {
      // What cannot be applied is refused by checkPolicies; by itself it may lack the columns that it reads.
      return []
    }
  })
  return [...new Set(warnings)]
}

const noTable: GovernedTable = {
  ...{ ref: { namespace: [], name: '' }, schemaName: '', tableName: '', relation: {} },
  ...{ columns: [], rowFilters: [] },
}

/** Refuses names that differ by case alone, because engines fold case and could confuse them. */
function checkNames(table: GovernedTable): void {
  const seen = new Set<string>()
  for (const { name } of table.columns) {
    const folded = name.toLowerCase()
    if (name === '' || name.includes('\0') || !name.isWellFormed() || seen.has(folded))
      throw new SqlError(
        '42501',
        'Column names of the table are invalid or differ by case alone. Rename the columns.',
      )
    seen.add(folded)
  }
}

function protectColumn(table: GovernedTable, index: number, principal: Principal): ProtectedColumn {
  const column = columnAt(table, index)
  if (column === undefined) throw new SqlError('42703', 'there is no such column')
  const place = placeAt(table, index)
  // A raw column: an attestation lifted its masks.
  if (place === undefined && index >= table.columns.length) return { index, fallible: false }
  const around = place && maskAround(table, place)
  if (around !== undefined) return { index, mask: around, fallible: false }
  const inside = typeof column.type === 'string' ? undefined : masksInside(table, column, place, principal)
  const { mask, problem } = chooseMask(column.masks, column.type, column.required)
  if (problem !== undefined) throw new SqlError('42501', problem)
  if (mask === undefined && inside !== undefined) return { index, ...inside }
  if (mask?.expression === undefined) return { index, mask, fallible: isTruncation(mask) }
  const expression = resolveMask(table, column, mask, principal)
  return { index, mask, expression, fallible: expressionCanFail(expression) }
}

function resolveFilter(
  table: GovernedTable,
  { expression, fieldId, names }: RowFilter,
  principal: Principal,
): Expr {
  return condition(
    resolveRaw(table, expression, principal, { fieldId, names, isFilter: true }),
    'a row filter',
  )
}
