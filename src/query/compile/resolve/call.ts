/** Resolves function calls: scalar functions, aggregates and window functions. */

import type { FuncCall, Node, WindowDef } from 'libpg-query'
import { type AggregateDef, fn } from '../base/function-definition.ts'
import type { AggregateExpr, CallExpr, Expr, SortKey } from '../base/ir.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { casts, isString, spokenType } from '../base/types.ts'
import { aggregates, windowFunctions } from '../functions/aggregates.ts'
import { intervalUnits } from '../functions/datetime.ts'
import { functions } from '../functions/registry.ts'
import { castTo, coerce, literalOf, typed } from './coerce.ts'
import { type Env, identifierOf, type Resolver, spendCopies } from './context.ts'
import { not } from './operator.ts'
import { bindArguments, callOverload, pickOverload, reduced, returnType } from './overload.ts'
import { resolveOwnCall } from './own-calls.ts'
import { conditionAt } from './place.ts'
import { sessionValue } from './session-values.ts'
import { returnsRows, setInTargets } from './sets.ts'
import { countsRows, rowAsJson } from './whole-row.ts'
import { wideAggregate } from './wide.ts'
import { columnLevels, resolveFrame, windowSpec } from './window.ts'

/** Resolves a FuncCall. */
export function resolveCall(resolver: Resolver, node: FuncCall, env: Env): Expr {
  const name = functionName(node)
  if (resolver.policy && node.over === undefined) {
    const policyCall = resolvePolicyCall(resolver, name, node)
    if (policyCall) return policyCall
  }
  const ownCall = resolver.isExpanded ? resolveOwnCall(resolver, name, node, env) : undefined
  if (ownCall !== undefined) return ownCall
  const aggregateDefs = aggregates.get(name)
  if (node.over !== undefined) return resolveWindow(resolver, name, node, node.over, env)
  if (aggregateDefs) return resolveAggregate(resolver, name, aggregateDefs, node, env)
  if (windowFunctions.has(name))
    throw new SqlError('42P20', `window function ${name} requires an OVER clause`, node.location)
  if (node.agg_star || node.agg_distinct || node.agg_order || node.agg_filter || node.agg_within_group)
    throw new SqlError('42883', `function ${name} is not an aggregate`, node.location)
  const own = (node.args ?? []).length === 0 ? sessionValue(resolver, name) : undefined
  if (own !== undefined) return own
  const row = rowAsJson(resolver, name, node, env)
  if (row !== undefined) return row
  if (returnsRows(name)) {
    const inner: Env = { ...env, sets: undefined }
    const args = (node.args ?? []).map((arg) => resolver.expr(arg, inner))
    return setInTargets(resolver, name, args, env, node.location)
  }
  const args = positioned(name, node.args ?? []).map((arg) => resolver.expr(arg, env))
  return scalarCall(name, args, node)
}

/** Syntax that the parser turns into pg_catalog calls. Other schema-qualified functions are refused. */
const syntaxNames = new Map([
  ['overlay', 'overlay'],
  ['extract', 'extract'],
  ['timezone', 'timezone'],
  ['position', 'position'],
  ['substring', 'substring'],
  ['btrim', 'btrim'],
  ['ltrim', 'ltrim'],
  ['rtrim', 'rtrim'],
  ['like_escape', 'like_escape'],
  ['similar_to_escape', 'similar_to_escape'],
])

function functionName(node: FuncCall): string {
  const names = (node.funcname ?? []).map(identifierOf)
  const [first = '', second] = names
  if (names.length === 1) return first
  const syntax = second === undefined ? undefined : syntaxNames.get(second)
  const grammatical =
    node.funcformat === 'COERCE_SQL_SYNTAX' || syntax === 'like_escape' || syntax === 'similar_to_escape'
  if (names.length === 2 && first === 'pg_catalog' && grammatical && syntax !== undefined) return syntax
  if (names.length === 2 && first === 'pg_catalog' && second !== undefined && syntax === undefined)
    return second
  throw notSupported('A schema-qualified function', node.location)
}

/** Arguments by their places, where make_interval names them. @throws SqlError 0A000 where another function does */
function positioned(name: string, args: readonly Node[]): readonly Node[] {
  const named = args.flatMap((arg) => ('NamedArgExpr' in arg ? [arg.NamedArgExpr] : []))
  if (named.length === 0) return args
  if (name !== 'make_interval' || named.length < args.length) throw notSupported('A named argument')
  const places = named.map((each) => intervalUnits.findIndex((unit) => unit === each.name))
  if (places.includes(-1) || new Set(places).size < places.length)
    throw new SqlError('42883', 'make_interval has no such argument, or it is given twice')
  const zero: Node = { A_Const: { ival: { ival: 0 } } }
  return Array.from(
    { length: Math.max(...places) + 1 },
    (_, place) => named[places.indexOf(place)]?.arg ?? zero,
  )
}

/** ESCAPE clauses of patterns, which operator.ts reads. */
const patternEscapes = new Map([
  ['like_escape', fn('like_escape', 'text text', 'text', null)],
  ['similar_to_escape', fn('similar_to_escape', 'text ...', 'text', null, null, { variadic: true })],
])

function scalarCall(name: string, args: readonly Expr[], node: FuncCall): Expr {
  const position = node.location
  const escaping = patternEscapes.get(name)
  if (escaping && (node.funcname?.length ?? 0) === 2)
    return { kind: 'call', type: 'text', def: escaping, args: args.map((arg) => coerce(arg, 'text')) }
  const spoken = () => `function ${name}(${args.map((arg) => spokenType(arg.type)).join(', ')})`
  return reduced(callOverload(functions.get(name), texts(name, args), spoken, position))
}

/** A boolean as `t` or `f`, its type's own text; a cast to text gives `true` or `false`. */
function shortBoolean(arg: Expr): Expr {
  const whens = [
    { when: arg, result: literalOf('t', 'text') },
    { when: not(arg), result: literalOf('f', 'text') },
  ]
  return { kind: 'case', type: 'text', whens }
}

/** Casts arguments to text for functions that accept any type by VARIADIC "any". */
function texts(name: string, args: readonly Expr[]): readonly Expr[] {
  if (name === 'concat' || name === 'concat_ws' || name === 'format')
    return args.map((arg) => {
      if (arg.type === 'bool') return shortBoolean(arg)
      return isString(arg.type) || !casts(arg.type, 'text') ? arg : castTo(arg, 'text')
    })
  const [first, ...rest] = args
  if (name === 'array_to_string' && first?.type === 'bool[]')
    throw notSupported('array_to_string of booleans')
  if (name === 'array_to_string' && first?.type.endsWith('[]') && first.type !== 'text[]')
    return [castTo(first, 'text[]'), ...rest]
  return args
}

function resolvePolicyCall(resolver: Resolver, name: string, node: FuncCall): Expr | undefined {
  const { principal } = resolver
  const args = node.args ?? []
  if (name === 'current_principal') {
    if (args.length > 0) throw new SqlError('42883', 'current_principal takes no argument', node.location)
    return literalOf(principal.sub, 'text')
  }
  if (name !== 'has_role') return undefined
  const [role] = args
  const text = role !== undefined && 'A_Const' in role ? role.A_Const.sval?.sval : undefined
  if (args.length !== 1 || text === undefined)
    throw new SqlError('42883', "has_role needs one literal, as in has_role('officer')", node.location)
  return literalOf(String(principal.roles.includes(text)), 'bool')
}

function resolveAggregate(
  resolver: Resolver,
  name: string,
  defs: readonly AggregateDef[],
  node: FuncCall,
  env: Env,
  window = false,
): AggregateExpr {
  if (resolver.policy) throw new SqlError('42803', 'aggregate functions are not allowed in policies')
  if (env.noAggregates !== undefined)
    throw new SqlError('42803', `aggregate functions are not allowed in ${env.noAggregates}`, node.location)
  const inner: Env = {
    ...env,
    sets: undefined,
    noAggregates: 'aggregate functions',
    noWindows: 'aggregate functions',
  }
  // An aggregate over a window may hold plain aggregates.
  const argEnv = window ? { ...env, sets: undefined, noWindows: 'window functions' } : inner
  const row = rowAsJson(resolver, name, node, argEnv)
  const isRowCount = name === 'count' && !node.agg_distinct && countsRows(resolver, node, argEnv)
  const direct = row ? [row] : isRowCount ? [] : (node.args ?? []).map((arg) => resolver.expr(arg, argEnv))
  const sorts = (node.agg_order ?? []).map((sort) => sortKey(resolver, sort, argEnv))
  if (node.agg_star && name !== 'count')
    throw new SqlError('42883', `${name}(*) does not exist`, node.location)
  const within = node.agg_within_group === true
  if (within && (node.agg_distinct || sorts.length !== 1)) throw notSupported('This form of WITHIN GROUP')
  const [key] = sorts
  const args = within && key ? [...direct, key.expr] : direct
  const wide = within ? undefined : wideAggregate(name, args)
  if (wide !== undefined) {
    if (!window) checkLevel(args, node.location)
    if (!window) env.scope.hasAggregates = true
    const wideFilter = node.agg_filter && conditionAt(resolver, node.agg_filter, inner, 'FILTER')
    const distinct = node.agg_distinct === true
    return { kind: 'aggregate', ...wide, args, type: 'numeric', distinct, orderBy: [], filter: wideFilter }
  }
  const candidates = defs.filter((def) => def.ordered === within)
  const match = pickOverload(
    candidates,
    (name === 'string_agg' ? args.map((arg) => (isString(arg.type) ? coerce(arg, 'text') : arg)) : args).map(
      (arg) => arg.type,
    ),
  )
  if (match === undefined)
    throw new SqlError(
      '42883',
      `function ${name}(${args.map((arg) => spokenType(arg.type)).join(', ')}) does not exist`,
      node.location,
    )
  const { def } = match
  const bound = bindArguments(def, match, args, name)
  if (!window) checkLevel(bound, node.location)
  const filter = node.agg_filter && conditionAt(resolver, node.agg_filter, inner, 'FILTER')
  const orderBy = within ? sorts : def.keepsOrder ? sorts : []
  if (node.agg_distinct && orderBy.length > 0) checkDistinctOrder(orderBy, bound)
  if (within && key?.descending && name === 'percentile_cont') return descending(def, match, bound, filter)
  if (within && key?.descending) throw notSupported(`${name} in descending order`)
  if (!window) env.scope.hasAggregates = true
  const distinct = node.agg_distinct === true
  return {
    ...{ kind: 'aggregate', def, args: bound, type: returnType(def, match), distinct },
    orderBy: within ? [] : distinct && orderBy.length === 0 ? orderOfDistinct(name, bound) : orderBy,
    filter,
  }
}

function descending(
  def: AggregateDef,
  match: Parameters<typeof returnType>[1],
  [fraction, ...rest]: readonly Expr[],
  filter: Expr | undefined,
): AggregateExpr {
  if (fraction === undefined || (fraction.kind === 'literal' && fraction.value === null))
    throw notSupported('A percentile that is not a literal')
  // A parameter has no value yet, and nothing is emitted.
  const mirrored =
    fraction.kind === 'literal' ? literalOf(String(1 - Number(fraction.value)), 'float8') : fraction
  return {
    kind: 'aggregate',
    def,
    args: [mirrored, ...rest],
    type: returnType(def, match),
    distinct: false,
    orderBy: [],
    filter,
  }
}

/** The order that PostgreSQL's DISTINCT leaves: it sorts to find equal values. Engines hash, and so leave any order. */
function orderOfDistinct(name: string, [first]: readonly Expr[]): readonly SortKey[] {
  if (first === undefined || (name !== 'array_agg' && name !== 'string_agg')) return []
  return [{ expr: first, descending: false, nullsFirst: false }]
}

function checkDistinctOrder(orderBy: readonly SortKey[], args: readonly Expr[]): void {
  const [first] = args
  if (orderBy.length !== 1 || JSON.stringify(orderBy[0]?.expr) !== JSON.stringify(first))
    throw new SqlError(
      '42P10',
      'in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list',
    )
}

/** Refuses an aggregate over outer columns only, which PostgreSQL computes in the outer query. */
function checkLevel(args: readonly Expr[], position: number | undefined): void {
  const levels = args.flatMap(columnLevels)
  if (levels.length > 0 && levels.every((level) => level > 0))
    throw notSupported('An aggregate over columns of an outer query', position)
}

/** A key of ORDER BY in an aggregate or window: an expression, never an ordinal. */
function sortKey(resolver: Resolver, node: Node, env: Env): SortKey {
  if (!('SortBy' in node) || node.SortBy.node === undefined)
    throw new SqlError('42601', 'A sort key is expected.')
  const expr = typed(resolver.expr(node.SortBy.node, env))
  return { expr, ...sortDirection(node.SortBy) }
}

/** The direction of a sort key. By default NULLs sort as larger than any value. */
export function sortDirection(sort: { readonly sortby_dir?: string; readonly sortby_nulls?: string }): {
  readonly descending: boolean
  readonly nullsFirst: boolean
} {
  const descending = sort.sortby_dir === 'SORTBY_DESC'
  const nullsFirst =
    sort.sortby_nulls === 'SORTBY_NULLS_DEFAULT' ? descending : sort.sortby_nulls === 'SORTBY_NULLS_FIRST'
  return { descending, nullsFirst }
}

function resolveWindow(resolver: Resolver, name: string, node: FuncCall, over: WindowDef, env: Env): Expr {
  if (resolver.policy) throw new SqlError('42P20', 'window functions are not allowed in policies')
  if (env.noWindows !== undefined)
    throw new SqlError('42P20', `window functions are not allowed in ${env.noWindows}`, node.location)
  const inner: Env = { ...env, sets: undefined, noWindows: 'window functions' }
  env.scope.hasWindows = true
  if (node.agg_within_group) throw notSupported('WITHIN GROUP with OVER', node.location)
  const aggregateDefs = aggregates.get(name)
  let call: CallExpr | AggregateExpr
  if (aggregateDefs) {
    if (node.agg_distinct || node.agg_order)
      throw notSupported('DISTINCT or ORDER BY in a window aggregate', node.location)
    call = resolveAggregate(resolver, name, aggregateDefs, node, inner, true)
  } else {
    if (node.agg_star || node.agg_distinct || node.agg_order || node.agg_filter)
      throw new SqlError('42601', `${name} is not an aggregate`, node.location)
    const args = (node.args ?? []).map((arg) => resolver.expr(arg, inner))
    call = callOverload(windowFunctions.get(name), args, () => `window function ${name}`, node.location)
  }
  const spec = windowSpec(env, over)
  const partitionBy = spec.partition.map((each) => typed(resolver.expr(each, inner)))
  const orderBy = spec.order.map((each) => sortKey(resolver, each, inner))
  // Each use of a named window writes the whole window.
  for (const each of [...partitionBy, ...orderBy.map(({ expr }) => expr)]) spendCopies(resolver, each, 1)
  const frame = spec.frame && resolveFrame(resolver, spec.frame, orderBy, inner)
  return { kind: 'window', type: call.type, call, partitionBy, orderBy, frame }
}
