/** Resolves function calls: scalar functions, aggregates and window functions. */

import type { FuncCall, Node, WindowDef } from 'libpg-query'
import { isArray, isScalar } from '../../../core/sql-type.ts'
import { type AggregateDef, fn } from '../base/function-definition.ts'
import type { AggregateExpr, CallExpr, Expr, SortKey } from '../base/ir.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { casts, isString, spokenType } from '../base/types.ts'
import { aggregates, estimate, windowFunctions } from '../functions/aggregates.ts'
import { intervalUnits } from '../functions/datetime.ts'
import { hypotheticalDescending } from '../functions/more.ts'
import { descendingPercentiles } from '../functions/percentiles.ts'
import { functions } from '../functions/registry.ts'
import { rowValue } from '../functions/special.ts'
import { refuseLock } from './absent-locks.ts'
import { applyFunction, matchFunction } from './apply-function.ts'
import { arraysAtOneScale } from './array-scale.ts'
import { castTo, coerce, literalOf, typed, unify } from './coerce.ts'
import { type Env, identifierOf, type Resolver, spendCopies } from './context.ts'
import { factsOfFunctions } from './function-choice.ts'
import { absent, bindArguments, reduced, returnType } from './overload.ts'
import { resolveOwnCall } from './own-calls.ts'
import { conditionAt } from './place.ts'
import { sessionValue } from './session-values.ts'
import { returnsRows, setInTargets } from './sets.ts'
import { shortBoolean } from './short-boolean.ts'
import { countsRows, rowAsJson } from './whole-row.ts'
import { wideAggregate } from './wide.ts'
import { columnLevels, ignoresFrames, isSound, resolveFrame, windowSpec } from './window.ts'

/** Resolves a FuncCall. */
export function resolveCall(resolver: Resolver, node: FuncCall, env: Env): Expr {
  const name = functionName(node)
  if (resolver.policy && node.over === undefined) {
    const policyCall = resolvePolicyCall(resolver, name, node)
    if (policyCall) return policyCall
  }
  const ownCall = resolver.isExpanded ? resolveOwnCall(resolver, name, node, env) : undefined
  if (ownCall !== undefined) return ownCall
  const aggregateDefs = resolver.isExpanded && name === estimate.name ? [estimate] : aggregatesOf(name, node)
  if (node.over !== undefined) return resolveWindow(resolver, name, node, node.over, env)
  if (aggregateDefs) return resolveAggregate(resolver, name, aggregateDefs, node, env)
  if (windowFunctions.has(name))
    throw new SqlError('42809', `window function ${name} requires an OVER clause`, node.location)
  if (node.agg_star) throw new SqlError('42883', `function ${name}() does not exist`, node.location)
  if (node.agg_distinct || node.agg_order || node.agg_filter || node.agg_within_group)
    throw noAggregate(resolver, name, node, env)
  refuseLock(name, node.location)
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

/** The error for a function that is called as an aggregate. */
function noAggregate(resolver: Resolver, name: string, node: FuncCall, env: Env): SqlError {
  if (factsOfFunctions.has(name) || functions.has(name))
    return new SqlError('42809', `function ${name} is not an aggregate function`, node.location)
  const types = (node.args ?? []).map((arg) => spokenType(resolver.expr(arg, env).type))
  return absent(`function ${name}(${types.join(', ')})`, node.location)
}

/** The aggregates of a name. Ranks are aggregates WITHIN GROUP alone, and window functions else. */
function aggregatesOf(name: string, node: FuncCall): readonly AggregateDef[] | undefined {
  return windowFunctions.has(name) && node.agg_within_group !== true ? undefined : aggregates.get(name)
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

/** Aggregates by an order that know a descending one. */
const descendingDefs = new Map([...hypotheticalDescending, ...descendingPercentiles])

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
  const cast = args.length === 1 ? castByName(name, args[0]) : undefined
  if (cast !== undefined) return cast
  return reduced(applyFunction(name, functions.get(name), args, position, (given) => texts(name, given)))
}

/** A call of a type's name is a cast where no function takes the very type, as in PostgreSQL. */
function castByName(name: string, arg: Expr | undefined): Expr | undefined {
  const type = isScalar(name) ? name : undefined
  if (arg === undefined || type === undefined || !(arg.type === 'unknown' || isString(arg.type)))
    return undefined
  return casts(arg.type, type) ? castTo(arg, type) : undefined
}

/** Casts arguments to text for functions that accept any type by VARIADIC "any". */
function texts(name: string, given: readonly Expr[]): readonly Expr[] {
  const args = name.startsWith('array_') ? arraysAtOneScale(given) : given
  if (name === 'quote_literal' || name === 'quote_nullable')
    return args.map((arg) => (casts(arg.type, 'text') ? castTo(arg, 'text') : arg))
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
  const direct = row
    ? [row]
    : isRowCount
      ? []
      : (node.args ?? []).map((arg) =>
          name === 'count' && 'RowExpr' in arg
            ? rowOf(arg.RowExpr.args ?? [], resolver, argEnv)
            : resolver.expr(arg, argEnv),
        )
  if (node.agg_star && name !== 'count')
    throw new SqlError('42883', `${name}(*) does not exist`, node.location)
  const within = node.agg_within_group === true
  const sorts = (node.agg_order ?? []).map((sort) => sortKey(resolver, sort, argEnv, !within))
  if (within && (node.agg_distinct || sorts.length !== 1)) throw notSupported('This form of WITHIN GROUP')
  const [key] = sorts
  const isHypothetical = windowFunctions.has(name)
  const ordered = within && key ? [...direct, key.expr] : direct
  const args = within && isHypothetical ? unify(ordered, 'WITHIN GROUP').exprs : ordered
  const wide = within ? undefined : wideAggregate(name, args)
  if (wide !== undefined) {
    if (!window) checkLevel(args, node.location)
    if (!window) env.scope.hasAggregates = true
    const wideFilter = node.agg_filter && conditionAt(resolver, node.agg_filter, inner, 'FILTER')
    const distinct = node.agg_distinct === true
    return { kind: 'aggregate', ...wide, args, type: 'numeric', distinct, orderBy: [], filter: wideFilter }
  }
  const isDescending = within && key?.descending === true
  const candidates = (isDescending ? (descendingDefs.get(name) ?? defs) : defs).filter(
    (def) => def.ordered === within,
  )
  if (name === 'sum' && node.agg_distinct && args[0]?.type === 'interval')
    throw notSupported('sum of distinct intervals', node.location)
  const { match, args: given } = matchFunction(name, candidates, args, node.location, (list) =>
    keysAsText(name, list),
  )
  const { def } = match
  const bound = bindArguments(def, match, given, name)
  if (!window) checkLevel(bound, node.location)
  if (within && name.startsWith('percentile')) checkFractions(bound[0])
  if (name === 'mode' && bound[0]?.kind === 'literal') throw notSupported('mode of a literal')
  if (name === 'mode' && bound[0]?.type === 'json')
    throw new SqlError('42883', 'could not identify an ordering operator for type json', node.location)
  const filter = node.agg_filter && conditionAt(resolver, node.agg_filter, inner, 'FILTER')
  const orderBy = within ? sorts : def.keepsOrder ? sorts : []
  if (node.agg_distinct && orderBy.length > 0) checkDistinctOrder(orderBy, bound)
  if (isHypothetical && key && key.nullsFirst !== key.descending)
    throw notSupported(`${name} with NULLs at the other end`, node.location)
  if (isDescending && !descendingDefs.has(name)) throw notSupported(`${name} in descending order`)
  if (!window) env.scope.hasAggregates = true
  const distinct = node.agg_distinct === true
  return {
    ...{ kind: 'aggregate', def, args: bound, type: returnType(def, match), distinct },
    orderBy: within ? [] : distinct && orderBy.length === 0 ? orderOfDistinct(name, bound) : orderBy,
    filter,
  }
}

/** A row whose distinct values are counted. */
function rowOf(nodes: readonly Node[], resolver: Resolver, env: Env): Expr {
  const args = nodes.map((each) => typed(resolver.expr(each, env)))
  if (args.length === 0) throw notSupported('An empty row')
  if (args.some(({ type }) => type === 'json'))
    throw new SqlError('42883', 'could not identify a comparison function for type json')
  return { kind: 'call', def: rowValue, type: 'text', args }
}

/** @throws SqlError 22003 for a percentile outside of 0 to 1 */
function checkFractions(fractions: Expr | undefined): void {
  if (fractions?.kind !== 'literal') return
  if (fractions.value === null) throw notSupported('A percentile that is NULL')
  const values = fractions.type.endsWith('[]')
    ? (JSON.parse(fractions.value) as (string | null)[])
    : [fractions.value]
  if (values.some((each) => each !== null && !(Number(each) >= 0 && Number(each) <= 1)))
    throw new SqlError('22003', 'percentile value is not between 0 and 1')
}

/** Keys of objects as text, and texts to be joined as one type. */
function keysAsText(name: string, args: readonly Expr[]): readonly Expr[] {
  const [key, ...rest] = args
  if (name !== 'string_agg' && !name.endsWith('_object_agg')) return args
  if (name === 'string_agg') return args.map((arg) => (isString(arg.type) ? coerce(arg, 'text') : arg))
  if (key !== undefined && (isArray(key.type) || key.type === 'json' || key.type === 'jsonb'))
    throw new SqlError('22023', 'key value must be scalar, not array, composite, or json')
  return key === undefined || !casts(key.type, 'text') ? args : [castTo(key, 'text'), ...rest]
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
function sortKey(resolver: Resolver, node: Node, env: Env, isTyped = true): SortKey {
  if (!('SortBy' in node) || node.SortBy.node === undefined)
    throw new SqlError('42601', 'A sort key is expected.')
  const expr = resolver.expr(node.SortBy.node, env)
  return { expr: isTyped ? typed(expr) : expr, ...sortDirection(node.SortBy) }
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
  const aggregateDefs = aggregatesOf(name, node)
  let call: CallExpr | AggregateExpr
  if (aggregateDefs) {
    if (node.agg_distinct || node.agg_order)
      throw notSupported('DISTINCT or ORDER BY in a window aggregate', node.location)
    call = resolveAggregate(resolver, name, aggregateDefs, node, inner, true)
  } else {
    if (node.agg_star || node.agg_distinct || node.agg_order || node.agg_filter)
      throw new SqlError('42601', `${name} is not an aggregate`, node.location)
    if (!windowFunctions.has(name) && functions.has(name))
      throw new SqlError('42809', `OVER specified, but ${name} is not a window function`, node.location)
    const args = (node.args ?? []).map((arg) => resolver.expr(arg, inner))
    call = applyFunction(name, windowFunctions.get(name), args, node.location)
  }
  const spec = windowSpec(env, over)
  const partitionBy = spec.partition.map((each) => typed(resolver.expr(each, inner)))
  const orderBy = spec.order.map((each) => sortKey(resolver, each, inner))
  // Each use of a named window writes the whole window.
  for (const each of [...partitionBy, ...orderBy.map(({ expr }) => expr)]) spendCopies(resolver, each, 1)
  const frame = spec.frame && resolveFrame(resolver, spec.frame, orderBy, inner)
  // Trino takes no frame there.
  const isIdle = frame !== undefined && ignoresFrames.has(name) && [frame.start, frame.end].every(isSound)
  return { kind: 'window', type: call.type, call, partitionBy, orderBy, frame: isIdle ? undefined : frame }
}
