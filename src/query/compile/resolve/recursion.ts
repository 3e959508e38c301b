/**
 * Resolves WITH RECURSIVE. A recursive query is one UNION whose right side reads the query once, in its own FROM, which
 * is all that PostgreSQL allows too. Levels, rows and the size of values are bounded when it runs; see emit/recursion.ts.
 */

import type { CommonTableExpr, Node, SelectStmt, WithClause } from 'libpg-query'
import type { NumericSize } from '../../../core/sql-type.ts'
import { childrenOf, type Expr, type OutputColumn, type Query, relationsOf, type Select } from '../base/ir.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { spokenType } from '../base/types.ts'
import { doubleOfNumeric } from '../functions/decimal-arithmetic.ts'
import { identifierOf, newId, newScope, type Resolver, type Scope } from './context.ts'
import { holdsQuotient } from './decimal.ts'

/**
 * Resolves a query of WITH RECURSIVE that names itself, and brings it into scope.
 * @returns undefined for one that does not name itself
 * @throws SqlError 42P19 where PostgreSQL knows no such recursion, 0A000 for one that is not served
 */
export function resolveRecursive(
  resolver: Resolver,
  clause: WithClause,
  cte: CommonTableExpr,
  select: SelectStmt,
  scope: Scope,
): { readonly id: string; readonly query: Query } | undefined {
  const name = cte.ctename ?? ''
  const later = namesOf(clause).slice(namesOf(clause).indexOf(name) + 1)
  if (later.some((each) => mentions(select, each) > 0))
    throw notSupported('A query of WITH RECURSIVE that names a later one', cte.location)
  const times = mentions(select, name)
  if (times === 0) return undefined
  const { larg, rarg, op } = select
  const malformed = (what: string) => new SqlError('42P19', what, cte.location)
  if (op !== 'SETOP_UNION' || larg === undefined || rarg === undefined)
    throw malformed(
      `recursive query "${name}" does not have the form non-recursive-term UNION [ALL] recursive-term`,
    )
  if (select.sortClause || select.limitCount || select.limitOffset)
    throw notSupported('ORDER BY, LIMIT or OFFSET of a recursive query', cte.location)
  if (select.withClause || rarg.withClause) throw notSupported('WITH inside a recursive query', cte.location)
  if (mentions(larg, name) > 0)
    throw malformed(`recursive reference to query "${name}" must not appear within its non-recursive term`)
  if (times > 1) throw malformed(`recursive reference to query "${name}" must not appear more than once`)
  if ((rarg.fromClause ?? []).every((item) => !isKept(item, name)))
    throw malformed(
      `recursive reference to query "${name}" must not appear within a subquery or an outer join`,
    )
  const outer = { ...newScope(scope.outer), ctes: scope.ctes }
  const base = decimalsOf(resolver.query(larg, outer))
  const names = (cte.aliascolnames ?? []).map(identifierOf)
  if (names.length > base.columns.length)
    throw new SqlError('42P10', `WITH query "${name}" has too few columns`)
  const columns = base.columns.map((column, index) => ({ ...column, name: names[index] ?? column.name }))
  const id = newId(resolver, 'w')
  scope.ctes.set(name, { id, columns })
  const step = resolver.query(rarg, outer)
  assertStep(step, malformed)
  const body = {
    kind: 'set',
    op: 'UNION',
    all: select.all === true,
    left: base,
    right: fitted(step, columns, name),
    recursive: id,
  } as const
  return { id, query: { ctes: [], body, columns, orderBy: [] } }
}

function namesOf({ ctes = [] }: WithClause): readonly string[] {
  return ctes.map((each) => ('CommonTableExpr' in each ? (each.CommonTableExpr.ctename ?? '') : ''))
}

/** How often FROM names something without a schema, at any depth. */
function mentions(node: unknown, name: string): number {
  if (typeof node !== 'object' || node === null) return 0
  return Object.entries(node).reduce((sum, [key, value]) => {
    if (key !== 'RangeVar') return sum + mentions(value, name)
    const { schemaname, relname } = value as { readonly schemaname?: string; readonly relname?: string }
    return sum + (schemaname === undefined && relname === name ? 1 : 0)
  }, 0)
}

/** Whether an item of FROM names the query itself, and never puts NULLs in the place of its rows. */
function isKept(item: Node | undefined, name: string): boolean {
  if (item === undefined) return false
  if ('RangeVar' in item) return item.RangeVar.schemaname === undefined && item.RangeVar.relname === name
  if (!('JoinExpr' in item)) return false
  const { jointype, larg, rarg } = item.JoinExpr
  return (
    (jointype !== 'JOIN_RIGHT' && jointype !== 'JOIN_FULL' && isKept(larg, name)) ||
    (jointype !== 'JOIN_LEFT' && jointype !== 'JOIN_FULL' && isKept(rarg, name))
  )
}

function assertStep({ body, orderBy, limit, offset }: Query, malformed: (what: string) => SqlError): void {
  if (body.kind !== 'select' || body.distinctOn || orderBy.length > 0 || limit || offset)
    throw notSupported('A recursive term that is no plain SELECT')
  if (body.groupBy.length > 0 || body.having || body.targets.some(holdsAggregate))
    throw malformed("aggregate functions are not allowed in a recursive query's recursive term")
}

function holdsAggregate(expr: Expr): boolean {
  return expr.kind === 'aggregate' || childrenOf(expr).some(holdsAggregate)
}

/** Digits of the engines' widest decimal. */
const digitsMax = 38

/** The base with its decimals as wide as they may become. Their scale cannot grow from level to level. */
function decimalsOf(base: Query): Query {
  const { body } = base
  const targets = body.kind === 'select' ? body.targets : []
  const columns = base.columns.map((column, index): OutputColumn => {
    if (column.type !== 'numeric') return column
    // A quotient's scale is not known before its level, so that its column is a double.
    const target = targets[index]
    if (target !== undefined && holdsQuotient(target))
      return { ...column, shape: 'double', textScale: 'needed' }
    // The recursive term may compute other digits.
    if (column.shape === 'double') return { ...column, textScale: undefined }
    const size = column.size ?? column.shape
    if (size === undefined || typeof size === 'string') throw growing(column.name)
    const wide: NumericSize = [digitsMax, size[1]]
    return { ...column, size: wide, shape: wide }
  })
  const isDouble = (index: number) =>
    columns[index]?.shape === 'double' && base.columns[index]?.shape !== 'double'
  const written = targets.map(
    (target, index): Expr =>
      isDouble(index) ? { kind: 'call', type: 'numeric', def: doubleOfNumeric, args: [target] } : target,
  )
  return { ...base, columns, body: body.kind === 'select' ? { ...body, targets: written } : body }
}

function growing(name: string): SqlError {
  return new SqlError('0A000', `A numeric that recursion computes ("${name}") is not supported.`, undefined, {
    hint: 'Cast it to double precision, or to a numeric of the same scale, on both sides of UNION.',
  })
}

/** @throws SqlError 42804 where a column has another type than in the base */
function fitted(step: Query, columns: readonly OutputColumn[], name: string): Query {
  if (step.columns.length !== columns.length)
    throw new SqlError('42601', 'each UNION query must have the same number of columns')
  for (const [index, { type, shape }] of step.columns.entries()) {
    const base = columns[index]
    if (base === undefined || type !== base.type)
      throw new SqlError(
        '42804',
        `recursive query "${name}" column ${index + 1} has type ${spokenType(base?.type ?? type)} in non-recursive term but type ${spokenType(type)} overall`,
      )
    if (type !== 'numeric') continue
    const isKeptExact =
      base.shape === 'double'
        ? shape === 'double'
        : shape !== undefined && typeof shape !== 'string' && shape[1] <= (base.size?.[1] ?? 0)
    if (!isKeptExact) throw growing(base.name)
  }
  return step
}

/** The alias under which the recursive term reads the query itself. */
export function ownAlias({ from }: Select, id: string): string | undefined {
  return from.flatMap(relationsOf).find((item) => item.kind === 'cte' && item.cte === id)?.id
}
