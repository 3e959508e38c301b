/** Rewrites the expressions of a resolved statement from the leaves up, also those of its subqueries and of FROM. */

import type { Expr, FromItem, FunctionItem, GroupElement, Query, QueryBody, SortKey } from './ir.ts'

interface Rewriting {
  /** @param expr its children are rewritten already */
  readonly expr: (expr: Expr) => Expr
  /** @param item its arguments are rewritten already */
  readonly item: (item: FunctionItem) => FunctionItem
}

/** The statement with each expression rewritten. An expression that stands in several places stays one. */
export function mapExpressions(query: Query, rewriting: Rewriting): Query {
  const known = new Map<Expr, Expr>()

  function one(expr: Expr): Expr {
    const found = known.get(expr)
    if (found !== undefined) return found
    const made = rewriting.expr(below(expr))
    known.set(expr, made)
    return made
  }
  const all = (exprs: readonly Expr[]): readonly Expr[] => exprs.map(one)
  const maybe = (expr: Expr | undefined): Expr | undefined => expr && one(expr)
  const sorts = (keys: readonly SortKey[]): readonly SortKey[] =>
    keys.map((key) => ({ ...key, expr: one(key.expr) }))

  function below(expr: Expr): Expr {
    switch (expr.kind) {
      case 'column':
      case 'literal':
      case 'parameter':
        return expr
      case 'cast':
      case 'is':
        return { ...expr, arg: one(expr.arg) }
      case 'call':
      case 'logic':
      case 'grouping':
        return { ...expr, args: all(expr.args) }
      case 'aggregate':
        return { ...expr, args: all(expr.args), orderBy: sorts(expr.orderBy), filter: maybe(expr.filter) }
      case 'window': {
        const { call, partitionBy, orderBy, frame } = expr
        return {
          ...expr,
          call: below(call) as typeof call,
          partitionBy: all(partitionBy),
          orderBy: sorts(orderBy),
          frame: frame && {
            ...frame,
            start: { ...frame.start, offset: maybe(frame.start.offset) },
            end: { ...frame.end, offset: maybe(frame.end.offset) },
          },
        }
      }
      case 'case':
        return {
          ...expr,
          whens: expr.whens.map(({ when, result }) => ({ when: one(when), result: one(result) })),
          otherwise: maybe(expr.otherwise),
        }
      case 'array':
        return { ...expr, elements: all(expr.elements) }
      case 'in':
        return { ...expr, arg: one(expr.arg), list: all(expr.list) }
      case 'subquery':
        return { ...expr, args: all(expr.args), query: whole(expr.query) }
    }
  }

  function whole(given: Query): Query {
    return {
      ...given,
      ctes: given.ctes.map((cte) => ({ ...cte, query: whole(cte.query) })),
      body: body(given.body),
      orderBy: sorts(given.orderBy),
      limit: maybe(given.limit),
      offset: maybe(given.offset),
    }
  }

  function body(given: QueryBody): QueryBody {
    if (given.kind === 'set') return { ...given, left: whole(given.left), right: whole(given.right) }
    if (given.kind === 'values') return { ...given, rows: given.rows.map(all) }
    return {
      ...given,
      distinctOn: given.distinctOn && all(given.distinctOn),
      targets: all(given.targets),
      from: given.from.map(item),
      where: maybe(given.where),
      groupBy: given.groupBy.map(group),
      having: maybe(given.having),
    }
  }

  function group(element: GroupElement): GroupElement {
    if (element.kind === 'empty') return element
    if (element.kind === 'expr') return { ...element, expr: one(element.expr) }
    return { ...element, items: element.items.map(group) }
  }

  function item(given: FromItem): FromItem {
    switch (given.kind) {
      case 'table':
      case 'cte':
        return given
      case 'subquery':
        return { ...given, query: whole(given.query) }
      case 'function':
        return rewriting.item({ ...given, args: all(given.args) })
      case 'join':
        return { ...given, left: item(given.left), right: item(given.right), on: maybe(given.on) }
    }
  }

  return whole(query)
}
