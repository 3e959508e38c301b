/** Resolves SELECT, VALUES and set operations, clause by clause in PostgreSQL's order of evaluation. */

import type { Node, SelectStmt, SetOperation as SetOperator, WithClause } from 'libpg-query'
import type { SqlType } from '../../../core/sql-type.ts'
import type { Expr, GroupElement, OutputColumn, Query, Select, SortKey } from '../base/ir.ts'
import { exprKey } from '../base/ir.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { commonType } from '../base/types.ts'
import { alikeForm, resize } from './alike.ts'
import { sortDirection } from './call.ts'
import { coerce, typed } from './coerce.ts'
import { type Env, identifierOf, newId, newScope, type Resolver, type Scope } from './context.ts'
import { columnShapes, shapeOf, shapeTogether, sharedSize } from './decimal.ts'
import { resolveFrom } from './from.ts'
import { checkGrouping, groupable } from './grouping.ts'
import { nestedTarget } from './nested.ts'
import { conditionAt } from './place.ts'
import { resolveRecursive } from './recursion.ts'
import { resolveLimits } from './row-count.ts'
import { checkTargetSets, setOrder, targetSets } from './sets.ts'
import { resolveTargets } from './targets.ts'
import { columnExprs, columnTextScale, textScaleOf } from './text-scale.ts'
import { withTies } from './with-ties.ts'

/**
 * Resolves a query.
 *
 * @param outer the scope around it
 */
export function resolveQuery(resolver: Resolver, node: SelectStmt, outer: Scope | undefined): Query {
  const query = resolveOpen(resolver, node, outer)
  return retype(
    query,
    query.columns.map(({ type }) => (type === 'unknown' ? 'text' : type)),
  )
}

/** As resolveQuery, but literals in the select list may still be untyped. */
function resolveOpen(resolver: Resolver, node: SelectStmt, outer: Scope | undefined): Query {
  const scope = newScope(outer)
  const ctes = node.withClause ? resolveCtes(resolver, node.withClause, scope) : []
  const isPlain = (node.op === undefined || node.op === 'SETOP_NONE') && node.valuesLists === undefined
  if (node.limitOption === 'LIMIT_OPTION_WITH_TIES' && !isPlain)
    throw notSupported('WITH TIES after a set operation or VALUES')
  if (node.op !== undefined && node.op !== 'SETOP_NONE')
    return resolveSet(resolver, node, node.op, scope, ctes)
  if (node.valuesLists) return resolveValues(resolver, node, scope, ctes)
  return resolveSelect(resolver, node, scope, ctes)
}

function resolveCtes(resolver: Resolver, clause: WithClause, scope: Scope): Query['ctes'] {
  return (clause.ctes ?? []).map((each) => {
    const cte = 'CommonTableExpr' in each ? each.CommonTableExpr : undefined
    const select =
      cte?.ctequery !== undefined && 'SelectStmt' in cte.ctequery ? cte.ctequery.SelectStmt : undefined
    if (cte === undefined || select === undefined) throw notSupported('WITH of anything but SELECT')
    const name = cte.ctename ?? ''
    if (scope.ctes.has(name))
      throw new SqlError('42712', `WITH query name "${name}" specified more than once`)
    const recursive = clause.recursive ? resolveRecursive(resolver, clause, cte, select, scope) : undefined
    if (recursive !== undefined) return recursive
    const query = resolver.query(select, scope)
    const names = (cte.aliascolnames ?? []).map(identifierOf)
    if (names.length > query.columns.length)
      throw new SqlError('42P10', `WITH query "${name}" has too few columns`)
    const columns = query.columns.map((column, index) => ({ ...column, name: names[index] ?? column.name }))
    const id = newId(resolver, 'w')
    scope.ctes.set(name, { id, columns, query })
    return { id, query }
  })
}

function resolveSelect(resolver: Resolver, node: SelectStmt, scope: Scope, ctes: Query['ctes']): Query {
  const from = resolveFrom(resolver, node.fromClause ?? [], scope)
  for (const each of node.windowClause ?? [])
    if ('WindowDef' in each) scope.windows.set(each.WindowDef.name ?? '', each.WindowDef)
  const env: Env = { scope }
  const known: Env = { scope, sets: 'known' }
  const below: Env = { scope, noAggregates: 'WHERE', noWindows: 'WHERE' }
  const where = node.whereClause && keeping(conditionAt(resolver, node.whereClause, below, 'WHERE'))
  const targets = resolveTargets(resolver, node.targetList ?? [], { scope, sets: 'any' }).map(asTarget)
  const columns = targets.map(
    ({ name, expr }): OutputColumn => ({
      name,
      type: expr.type,
      size: expr.size,
      ...(expr.type === 'numeric' && { shape: shapeOf(expr), textScale: textScaleOf(expr) }),
      ...nestedTarget(expr),
    }),
  )
  const exprs = targets.map(({ expr }) => expr)
  const groupBy = (node.groupClause ?? []).map((each) => resolveGroup(resolver, each, targets, scope))
  const having =
    node.havingClause && conditionAt(resolver, node.havingClause, { ...env, noWindows: 'HAVING' }, 'HAVING')
  const orderBy = (node.sortClause ?? []).map((each) => resolveSort(resolver, each, targets, known))
  const { distinct, distinctOn } = resolveDistinct(resolver, node, targets, known)
  if (distinctOn) checkDistinctOn(distinctOn, orderBy)
  if (distinct && orderBy.some(({ ordinal }) => ordinal === undefined))
    throw new SqlError('42P10', 'for SELECT DISTINCT, ORDER BY expressions must appear in select list')
  const sets = targetSets(scope)
  if (sets !== undefined) {
    checkTargetSets(sets, scope, groupBy)
    from.push(sets)
    if (orderBy.length > 0 && !distinct && distinctOn === undefined && groupBy.length === 0)
      orderBy.push(setOrder(sets))
  }
  const body: Select = {
    kind: 'select',
    distinct,
    distinctOn,
    targets: exprs,
    from,
    where,
    groupBy,
    groupDistinct: node.groupDistinct === true,
    having,
  }
  if (groupBy.length > 0 || scope.hasAggregates || having)
    checkGrouping(body, [
      ...exprs,
      ...orderBy.map(({ expr }) => expr),
      ...(distinctOn ?? []),
      ...(having ? [having] : []),
    ])
  const limits = resolveLimits(resolver, node, scope)
  if (node.limitOption !== 'LIMIT_OPTION_WITH_TIES') return { ctes, body, columns, orderBy, ...limits }
  if (sets !== undefined) throw notSupported('WITH TIES beside a set-returning function')
  return withTies(resolver, { ctes, body, columns, orderBy }, limits)
}

/** A condition whose NULL and FALSE are the same: engines compute IN of a row by a join then. */
function keeping(expr: Expr): Expr {
  if (expr.kind === 'subquery' && expr.form === 'rows') return { ...expr, form: 'in' }
  if (expr.kind !== 'logic' || expr.op !== 'AND') return expr
  return { ...expr, args: expr.args.map(keeping) }
}

interface Target {
  readonly name: string
  readonly expr: Expr
  /** The expression's key, computed once for all keys of ORDER BY. */
  readonly key: () => string
}

function asTarget({ name, expr }: Pick<Target, 'name' | 'expr'>): Target {
  let key: string | undefined
  return {
    name,
    expr,
    key: () => {
      key ??= exprKey(expr)
      return key
    },
  }
}

/** A key of GROUP BY: an ordinal, a name or an expression. A name means an input column first. */
function resolveGroup(
  resolver: Resolver,
  node: Node,
  targets: readonly Target[],
  scope: Scope,
): GroupElement {
  const env: Env = { scope, noAggregates: 'GROUP BY', noWindows: 'GROUP BY', sets: 'known' }
  if ('GroupingSet' in node) {
    const kinds = new Map([
      ['GROUPING_SET_ROLLUP', 'rollup'],
      ['GROUPING_SET_CUBE', 'cube'],
      ['GROUPING_SET_SETS', 'sets'],
    ] as const)
    const { kind, content = [] } = node.GroupingSet
    if (kind === 'GROUPING_SET_EMPTY') return { kind: 'empty' }
    const name = kinds.get(kind as 'GROUPING_SET_ROLLUP')
    if (name === undefined) throw notSupported('This grouping set')
    return { kind: name, items: content.map((each) => resolveGroup(resolver, each, targets, scope)) }
  }
  if ('RowExpr' in node)
    return {
      kind: 'row',
      items: (node.RowExpr.args ?? []).map((each) => resolveGroup(resolver, each, targets, scope)),
    }
  const target = ordinalTarget(node, targets)
  if (target) return { kind: 'expr', expr: groupable(target.expr) }
  const name = soleName(node)
  if (name !== undefined && !scope.columns.some((column) => column.name === name)) {
    const named = namedTarget(name, targets)
    if (named) return { kind: 'expr', expr: groupable(named.expr) }
  }
  return { kind: 'expr', expr: typed(resolver.expr(node, env)) }
}

function soleName(node: Node): string | undefined {
  if (!('ColumnRef' in node)) return undefined
  const [field, ...more] = node.ColumnRef.fields ?? []
  return field !== undefined && 'String' in field && more.length === 0 ? field.String.sval : undefined
}

function ordinalTarget(node: Node, targets: readonly Target[]): Target | undefined {
  if (!('A_Const' in node)) return undefined
  if (!node.A_Const.ival) throw new SqlError('42601', 'a constant in ORDER BY or GROUP BY must be an integer')
  const ordinal = node.A_Const.ival.ival ?? 0
  const target = targets[ordinal - 1]
  if (target === undefined) throw new SqlError('42P10', `position ${ordinal} is not in select list`)
  return target
}

function namedTarget(name: string, targets: readonly Target[]): Target | undefined {
  const [first, ...more] = targets.filter((target) => target.name === name)
  if (first && more.some(({ expr, key }) => expr !== first.expr && key() !== first.key()))
    throw new SqlError('42702', `"${name}" is ambiguous`)
  return first
}

/** A key of ORDER BY. A name means an output column first. */
function resolveSort(resolver: Resolver, node: Node, targets: readonly Target[], env: Env): SortKey {
  const sort = 'SortBy' in node ? node.SortBy : undefined
  if (sort?.node === undefined) throw new SqlError('42601', 'A sort key is expected.')
  const name = soleName(sort.node)
  const target =
    ordinalTarget(sort.node, targets) ?? (name === undefined ? undefined : namedTarget(name, targets))
  const expr = target ? target.expr : typed(resolver.expr(sort.node, env))
  const place = target ? targets.indexOf(target) : placeOf(expr, targets)
  return { expr, ordinal: place < 0 ? undefined : place + 1, ...sortDirection(sort) }
}

function placeOf(expr: Expr, targets: readonly Target[]): number {
  const key = exprKey(expr)
  return targets.findIndex((each) => each.key() === key)
}

function resolveDistinct(
  resolver: Resolver,
  node: SelectStmt,
  targets: readonly Target[],
  env: Env,
): { distinct: boolean; distinctOn?: readonly Expr[] } {
  const clause = node.distinctClause
  if (clause === undefined) return { distinct: false }
  const on = clause.filter((each) => Object.keys(each).length > 0)
  if (on.length === 0) return { distinct: true }
  const distinctOn = on.map((each) => {
    const name = soleName(each)
    const target =
      ordinalTarget(each, targets) ?? (name === undefined ? undefined : namedTarget(name, targets))
    return target ? typed(target.expr) : typed(resolver.expr(each, env))
  })
  return { distinct: false, distinctOn }
}

function checkDistinctOn(distinctOn: readonly Expr[], orderBy: readonly SortKey[]): void {
  const keys = new Set(distinctOn.map(exprKey))
  const leading = orderBy.slice(0, keys.size)
  if (leading.some(({ expr }) => !keys.has(exprKey(expr))))
    throw new SqlError('42P10', 'SELECT DISTINCT ON expressions must match initial ORDER BY expressions')
}

function resolveValues(resolver: Resolver, node: SelectStmt, scope: Scope, ctes: Query['ctes']): Query {
  const env: Env = { scope, noAggregates: 'VALUES', noWindows: 'VALUES' }
  const rows = (node.valuesLists ?? []).map((list) =>
    ('List' in list ? (list.List.items ?? []) : []).map((each) => resolver.expr(each, env)),
  )
  const width = rows[0]?.length ?? 0
  if (width === 0 || rows.some((row) => row.length !== width))
    throw new SqlError('42601', 'VALUES lists must all be the same length')
  const types = Array.from({ length: width }, (_, index) => {
    const type = commonType(rows.map((row) => row[index]?.type ?? 'unknown'))
    if (type === undefined) throw new SqlError('42804', 'VALUES types cannot be matched')
    return type
  })
  const query: Query = {
    ctes,
    body: { kind: 'values', rows },
    columns: types.map((type, index) => ({ name: `column${index + 1}`, type })),
    orderBy: [],
    ...resolveLimits(resolver, node, scope),
  }
  const plain = retype(query, types)
  const shapes = types.map((type, index) => (type === 'numeric' ? columnShapes(plain, index) : []))
  const sized = resize(plain, shapes.map(sharedSize))
  const columns = sized.columns.map((column, index) =>
    column.type === 'numeric' ? { ...column, textScale: columnTextScale([sized], index) } : column,
  )
  return { ...sized, columns, orderBy: outputSort(node.sortClause ?? [], columns) }
}

function resolveSet(
  resolver: Resolver,
  node: SelectStmt,
  op: SetOperator,
  scope: Scope,
  ctes: Query['ctes'],
): Query {
  if (node.larg === undefined || node.rarg === undefined)
    throw new SqlError('42601', 'A set operation needs two sides.')
  const outer = { ...newScope(scope.outer), ctes: scope.ctes }
  const left = resolveOpen(resolver, node.larg, outer)
  const right = resolveOpen(resolver, node.rarg, outer)
  const name = op === 'SETOP_UNION' ? 'UNION' : op === 'SETOP_INTERSECT' ? 'INTERSECT' : 'EXCEPT'
  if (left.columns.length !== right.columns.length)
    throw new SqlError('42601', `each ${name} query must have the same number of columns`)
  const types = left.columns.map(({ type }, index) => {
    const other = right.columns[index]?.type ?? type
    // Both may still be untyped; a further branch may decide the type.
    const common = type === 'unknown' && other === 'unknown' ? 'unknown' : commonType([type, other])
    if (common === undefined) throw new SqlError('42804', `${name} types cannot be matched`)
    return common
  })
  const typesHere = node.all ? types : types.map((type) => (type === 'unknown' ? 'text' : type))
  if (!node.all && typesHere.some((type) => type === 'json' || type === 'jsonb'))
    throw notSupported('Comparison of JSON')
  const open = [left, right].map((side) => retype(side, typesHere))
  const shapes = typesHere.map((type, index) =>
    type === 'numeric' ? open.flatMap((side) => columnShapes(side, index)) : [],
  )
  const forms = typesHere.map((type, index) =>
    type === 'numeric'
      ? alikeForm(
          open.flatMap((side) => columnExprs(side, index)),
          true,
        )
      : undefined,
  )
  const sizes = shapes.map((each, index) => forms[index] ?? sharedSize(each))
  const [a = left, b = right] = open.map((side) => resize(side, sizes))
  const columns = a.columns.map(
    ({ name: column, type }, index): OutputColumn => ({
      name: column,
      type,
      ...(type === 'numeric' && {
        shape: forms[index] ?? shapeTogether(shapes[index] ?? []),
        textScale: columnTextScale(forms[index] ? open : [a, b], index),
      }),
    }),
  )
  return {
    ctes,
    body: { kind: 'set', op: name, all: node.all === true, left: a, right: b },
    columns,
    orderBy: outputSort(node.sortClause ?? [], columns),
    ...resolveLimits(resolver, node, scope),
  }
}

/** The sort keys of VALUES or a set operation, which may only be result columns. */
function outputSort(nodes: readonly Node[], columns: readonly OutputColumn[]): SortKey[] {
  const targets = columns.map(({ name, type }, index) =>
    asTarget({ name, expr: { kind: 'column', relation: '', index, levelsUp: 0, type } }),
  )
  return nodes.map((node) => {
    const sort = 'SortBy' in node ? node.SortBy : undefined
    const name = sort?.node && soleName(sort.node)
    const target =
      sort?.node &&
      ((name === undefined ? undefined : namedTarget(name, targets)) ??
        (name === undefined ? ordinalTarget(sort.node, targets) : undefined))
    if (sort === undefined || target === undefined)
      throw notSupported('ORDER BY of anything but result columns, after a set operation or VALUES,')
    return {
      expr: target.expr,
      ordinal: targets.indexOf(target) + 1,
      ...sortDirection(sort),
    }
  })
}

/** The query with its columns in the given types. */
function retype(query: Query, types: readonly SqlType[]): Query {
  if (query.body.kind !== 'values' && query.columns.every(({ type }, index) => type === types[index]))
    return query
  const to = (expr: Expr, index: number): Expr => {
    const type = types[index]
    return type === undefined || type === 'unknown' || type === expr.type ? expr : coerce(expr, type)
  }
  const columns = query.columns.map((column, index): OutputColumn => {
    const type = types[index] ?? column.type
    return type === column.type ? column : { name: column.name, type }
  })
  const { body } = query
  if (body.kind === 'select') return { ...query, columns, body: { ...body, targets: body.targets.map(to) } }
  if (body.kind === 'values')
    return { ...query, columns, body: { ...body, rows: body.rows.map((row) => row.map(to)) } }
  return {
    ...query,
    columns,
    body: { ...body, left: retype(body.left, types), right: retype(body.right, types) },
  }
}
