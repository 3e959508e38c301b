/**
 * Resolves the expressions of row filters and masks, against the raw columns of their table and the fields inside them.
 * Chooses no mask.
 */

import type { AttachedMask, BoundNames, GovernedColumn, GovernedTable } from '../../../core/governed-table.ts'
import type { Principal } from '../../../core/principal.ts'
import type { Expr } from '../base/ir.ts'
import { fieldPlaces, isInList } from '../base/nested-fields.ts'
import { SqlError } from '../base/sql-error.ts'
import { isNested, servedType, spokenType } from '../base/types.ts'
import { parseExpression } from '../parse/parse.ts'
import { coerce } from '../resolve/coerce.ts'
import { newScope, type Resolver, type ScopeColumn } from '../resolve/context.ts'
import { resolveExpression } from '../resolve/expression.ts'

/** The alias of the physical table inside the derived table that protects it. */
export const rawAlias = '_b'

/**
 * The expression of a mask, of its column's type.
 * @throws SqlError where it cannot be applied
 */
export function resolveMask(
  table: GovernedTable,
  column: Pick<GovernedColumn, 'type' | 'fieldId'>,
  { expression = '', names }: AttachedMask,
  principal: Principal,
): Expr {
  const served = servedType(column.type)
  if (served === undefined || isNested(column.type))
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
export interface Attached {
  readonly fieldId: number | undefined
  readonly names: BoundNames | undefined
  /** A filter cannot read one of many values. */
  readonly isFilter?: true
}

/**
 * Resolves the expression of a filter or mask over the raw columns. Refuses subqueries, parameters, aggregates and
 * windows.
 * @param attached its column is `this_column` in the expression
 */
export function resolveRaw(
  table: GovernedTable,
  text: string,
  principal: Principal,
  attached: Attached,
): Expr {
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
    sources: new Map(),
    ids: 0,
    shownRows: new Set(),
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
function columnsFor(table: GovernedTable, { fieldId, names, isFilter }: Attached): readonly ScopeColumn[] {
  const { byFieldId, many, today } = rawColumns(table)
  if (names === undefined && fieldId === undefined) return today
  const bound = names && Object.entries(names)
  const named = (name: string, id: number) => {
    const expr = byFieldId.get(id)
    const isOwn = name === 'this_column' && id === fieldId && isFilter !== true
    return expr === undefined || (many.has(id) && !isOwn) ? [] : [{ name, expr }]
  }
  return [
    ...(bound?.flatMap(([name, id]) => named(name, id)) ?? today),
    ...(fieldId === undefined ? [] : named('this_column', fieldId)),
  ]
}

interface RawColumns {
  /** Columns and the fields inside them. */
  readonly byFieldId: ReadonlyMap<number, ScopeColumn['expr']>
  /** Field ids of what lies in a list or map, and so has many values in a row. */
  readonly many: ReadonlySet<number>
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
  const inside: ScopeColumn[] = []
  const many = new Set<number>()
  for (const place of fieldPlaces(table)) {
    const { index, field } = place
    const served = servedType(field.type)
    if (place.shown === undefined || isInList(place)) many.add(field.fieldId)
    // What lies in a list or map is one of many: only its own mask reads it, where it stands.
    if (served === undefined) continue
    const expr = { kind: 'column', relation: rawAlias, index, levelsUp: 0, ...served } as const
    byFieldId.set(field.fieldId, expr)
    const { policyName, name = '' } = table.columns[place.column] ?? {}
    // Names of policies without bound names are today's.
    if (!many.has(field.fieldId) && policyName === undefined)
      inside.push({ name: place.shown?.name ?? name, expr })
  }
  const columns = { byFieldId, many, today: [...today, ...inside] }
  rawColumnsOf.set(table, columns)
  return columns
}
