/**
 * Parses and resolves the row filters and column masks of each governed table, against its raw columns only. Filters
 * read raw values; masks apply to the rows that the filters leave. Writing their SQL is emit/query.ts's task.
 */

import type {
  AttachedMask,
  BoundNames,
  GovernedColumn,
  GovernedTable,
  PolicyOrigin,
  RowFilter,
} from '../../../core/governed-table.ts'
import { chooseMask } from '../../../core/mask.ts'
import type { Principal } from '../../../core/principal.ts'
import type { Reveal } from '../../../core/reveal.ts'
import type { TableRef } from '../../../core/table-ref.ts'
import type { ProtectionKind } from '../../../core/usage.ts'
import { columnAt, type Expr } from '../base/ir.ts'
import { SqlError, toSqlError } from '../base/sql-error.ts'
import { servedType, spokenType } from '../base/types.ts'
import { parseExpression } from '../parse/parse.ts'
import { coerce, condition } from '../resolve/coerce.ts'
import { newScope, type Resolver, type ScopeColumn, type TableAppearance } from '../resolve/context.ts'
import { resolveExpression } from '../resolve/expression.ts'
import { expressionCanFail } from './fallible.ts'
import { type PolicyUse, policyWarnings } from './policy-warnings.ts'

/** The alias of the physical table inside the derived table that protects it. */
export const rawAlias = '_b'

export interface ProtectedColumn {
  readonly index: number
  readonly mask?: AttachedMask | undefined
  /** The resolved expression of apply-expression, of the column's type. */
  readonly expression?: Expr | undefined
  /** Whether the mask can fail on some value. */
  readonly fallible: boolean
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
  const filters = new Map<GovernedTable, readonly Expr[]>()
  const protections = new Map<string, Protection>()
  for (const { id, table, used } of appearances)
    try {
      // The filters do not depend on which columns the statement reads.
      const own = filters.get(table) ?? resolveFilters(table, principal)
      filters.set(table, own)
      const columns = [...used].sort((a, b) => a - b).map((index) => protectColumn(table, index, principal))
      protections.set(id, { filters: own, columns, filtersCanFail: own.some(expressionCanFail) })
    } catch (cause) {
      throw new SqlError('42501', `permission denied for table ${table.tableName}`, undefined, {
        cause,
        detail: `a policy on ${table.schemaName}.${table.tableName} cannot be applied`,
      })
    }
  return protections
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

function appliedMask({ ref, columns }: GovernedTable, { index, mask }: ProtectedColumn): AppliedProtection[] {
  const column = columns[index]
  if (mask === undefined || column === undefined) return []
  const { policyId, origin, action } = mask
  return [{ policyId, origin, kind: 'column_mask', table: ref, column: column.name, action }]
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
    const ids = column.masks.map(({ policyId }) => policyId)
    if (ids.length > 0) attempt(ids, () => protectColumn(table, index, principal))
    for (const mask of column.masks)
      if (mask.expression !== undefined)
        attempt([mask.policyId], () => resolveMask(table, column, mask, principal))
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
  // A raw column: an attestation lifted its masks.
  if (index >= table.columns.length) return { index, fallible: false }
  const { mask, problem } = chooseMask(column.masks, column.type, column.required)
  if (problem !== undefined) throw new SqlError('42501', problem)
  if (mask?.expression === undefined) return { index, mask, fallible: isTruncation(mask) }
  const expression = resolveMask(table, column, mask, principal)
  return { index, mask, expression, fallible: expressionCanFail(expression) }
}

/** Truncation fails at the start of an engine's range, where a year may begin before the first moment. */
function isTruncation(mask: AttachedMask | undefined): boolean {
  return mask?.action.startsWith('truncate-to-') === true
}

function resolveFilter(
  table: GovernedTable,
  { expression, fieldId, names }: RowFilter,
  principal: Principal,
): Expr {
  return condition(resolveRaw(table, expression, principal, { fieldId, names }), 'a row filter')
}

function resolveMask(
  table: GovernedTable,
  column: GovernedColumn,
  { expression = '', names }: AttachedMask,
  principal: Principal,
): Expr {
  const served = servedType(column.type)
  if (served === undefined)
    throw new SqlError('0A000', 'apply-expression is not supported for a column of this type.')
  const expr = resolveRaw(table, expression, principal, { fieldId: column.fieldId, names })
  if (
    expr.type !== 'unknown' &&
    expr.type !== served.type &&
    !(served.type === 'text' && expr.type === 'varchar')
  )
    throw new SqlError(
      '42804',
      `the expression must be of type ${spokenType(served.type)}, not ${spokenType(expr.type)}`,
    )
  const value = coerce(expr, served.type)
  // A decimal is cast to its column's scale, so that the masked column keeps its type.
  return served.size === undefined
    ? value
    : { kind: 'cast', type: served.type, size: served.size, arg: value }
}

/** The column of a mask or filter, and the columns that the names in its expression are bound to. */
interface Attached {
  readonly fieldId: number | undefined
  readonly names: BoundNames | undefined
}

/**
 * Resolves the expression of a filter or mask over the raw columns. Refuses subqueries, parameters, aggregates and
 * windows.
 * @param attached its column is `this_column` in the expression
 */
function resolveRaw(table: GovernedTable, text: string, principal: Principal, attached: Attached): Expr {
  const resolver: Resolver = {
    findTable: () => undefined,
    database: undefined,
    schema: undefined,
    principal,
    lifted: [],
    isExpanded: false,
    parameterTypes: [],
    parameters: new Map(),
    parameterValues: new Map(),
    policy: true,
    tables: [],
    ids: 0,
    spent: 0,
    expr: (node, env) => resolveExpression(resolver, node, env),
    query: () => {
      throw new SqlError('0A000', 'A subquery in a row filter or mask is not supported.')
    },
  }
  const columns = columnsFor(table, attached)
  const scope = { ...newScope(undefined), relations: [{ alias: table.tableName, columns }], columns }
  const env = { scope, noAggregates: 'policies', noWindows: 'policies' }
  return resolver.expr(parseExpression(text), env)
}

/** The columns that an expression can name: its bound names, else the current names, and `this_column`. */
function columnsFor(table: GovernedTable, { fieldId, names }: Attached): readonly ScopeColumn[] {
  const { byFieldId, today } = rawColumns(table)
  if (names === undefined && fieldId === undefined) return today
  const bound = names && Object.entries(names)
  const named = (name: string, id: number) => {
    const expr = byFieldId.get(id)
    return expr === undefined ? [] : [{ name, expr }]
  }
  return [
    ...(bound?.flatMap(([name, id]) => named(name, id)) ?? today),
    ...(fieldId === undefined ? [] : named('this_column', fieldId)),
  ]
}

interface RawColumns {
  readonly byFieldId: ReadonlyMap<number, ScopeColumn['expr']>
  readonly today: readonly ScopeColumn[]
}

const rawColumnsOf = new WeakMap<GovernedTable, RawColumns>()

/** The supported columns of the physical table, made once for all filters and masks of one statement. */
function rawColumns(table: GovernedTable): RawColumns {
  const cached = rawColumnsOf.get(table)
  if (cached !== undefined) return cached
  const byFieldId = new Map<number, ScopeColumn['expr']>()
  const today = table.columns.flatMap(({ name, policyName = name, fieldId, type }, index) => {
    const served = servedType(type)
    if (served === undefined) return []
    const expr = { kind: 'column', relation: rawAlias, index, levelsUp: 0, ...served } as const
    byFieldId.set(fieldId, expr)
    return policyName === null ? [] : [{ name: policyName, expr }]
  })
  const columns = { byFieldId, today }
  rawColumnsOf.set(table, columns)
  return columns
}
