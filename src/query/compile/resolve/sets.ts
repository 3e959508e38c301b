/**
 * Resolves functions that return rows, in FROM and in the select list. There PostgreSQL expands them after WHERE and
 * beside each other, which is a lateral join with their arrays unnested side by side.
 */

import { elementOf, isArray, type SqlType } from '../../../core/sql-type.ts'
import {
  childrenOf,
  type Expr,
  exprKey,
  type FromItem,
  type FunctionItem,
  type GroupElement,
  type SetCall,
  type SortKey,
} from '../base/ir.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { eachOf } from '../functions/jsonb.ts'
import { setFunctions } from '../functions/sets.ts'
import { applyFunction } from './apply-function.ts'
import { coerce, unify } from './coerce.ts'
import { type Env, newId, type Resolver, type Scope } from './context.ts'
import { groupExprs } from './grouping.ts'
import { nestedElement } from './nested.ts'

/** Whether a function of this name returns rows. */
export function returnsRows(name: string): boolean {
  return name === 'unnest' || name === 'generate_series' || setFunctions.has(name)
}

/**
 * The rows of a function.
 * @throws SqlError 42883 where there is no such function of these arguments
 */
export function setCallOf(name: string, args: readonly Expr[], position?: number): SetCall {
  if (name === 'generate_series') return seriesOf(args, position)
  if (name === 'unnest') {
    const outputs = args.map((arg): SetCall['outputs'][number] => {
      const { type } = arg
      if (!isArray(type)) throw new SqlError('42883', 'unnest needs one array', position)
      const nested = nestedElement(arg)
      return { type: elementOf(type), ...(nested && { nested }) }
    })
    if (outputs.length === 0) throw new SqlError('42883', 'unnest needs one array', position)
    return { name, args, outputs }
  }
  const call = applyFunction(name, setFunctions.get(name), args, position)
  const each = eachOf.find(({ keys }) => keys === call.def)
  if (each !== undefined) {
    const { returns } = each.values
    const type = typeof returns === 'string' && returns.startsWith('json') ? (returns as SqlType) : 'text'
    const values: Expr = { ...call, def: each.values, type }
    const columnNames = ['key', 'value']
    return { name: 'unnest', args: [call, values], outputs: [{ type: 'text' }, { type }], columnNames }
  }
  const columnName = /_array_elements/.test(name) ? 'value' : undefined
  return { name: 'unnest', args: [call], outputs: [{ type: call.type }], columnName }
}

const seriesTypes: readonly SqlType[] = ['int4', 'int8', 'timestamp', 'timestamptz']

function seriesOf(args: readonly Expr[], position: number | undefined): SetCall {
  const [start, stop, step] = args
  if (start === undefined || stop === undefined || args.length > 3)
    throw new SqlError('42883', 'generate_series needs two or three arguments', position)
  const { type: common } = unify([start, stop], 'generate_series')
  // PostgreSQL counts dates as timestamps with time zone.
  const type = common === 'date' || common === 'text' ? 'timestamptz' : common === 'int2' ? 'int4' : common
  if (!seriesTypes.includes(type))
    throw new SqlError('42883', 'generate_series of this type is not supported.', position)
  const temporal = type === 'timestamp' || type === 'timestamptz'
  if (temporal && step === undefined)
    throw new SqlError('42883', 'generate_series of timestamps needs a step', position)
  const by = step && coerce(step, temporal ? 'interval' : type)
  return {
    name: 'generate_series',
    args: [coerce(start, type), coerce(stop, type), ...(by ? [by] : [])],
    outputs: [{ type }],
  }
}

/**
 * A function that returns rows, where an expression is expected: the column that holds its values.
 * @param args resolved; they hold no further such function
 * @throws SqlError 0A000 outside the select list, and where it is not expanded as PostgreSQL does
 */
export function setInTargets(
  resolver: Resolver,
  name: string,
  args: readonly Expr[],
  env: Env,
  position: number | undefined,
): Expr {
  if (env.sets === undefined)
    throw new SqlError('0A000', 'set-returning functions are not allowed here', position, {
      hint: 'Write it in FROM, after LATERAL where it reads other tables of FROM.',
    })
  if (args.some(isComputedLater))
    throw new SqlError('0A000', 'A set-returning function of an aggregate is not supported.', position, {
      hint: 'Compute the aggregate in a subquery of FROM.',
    })
  const call = setCallOf(name, args, position)
  if (call.columnNames !== undefined) throw notSupported(`${name} outside of FROM`, position)
  if (call.args.length !== 1 && name === 'unnest')
    throw new SqlError('42883', 'unnest needs one array', position)
  const { scope } = env
  const key = [name, ...call.args.map(exprKey)].join(' ')
  const known = scope.sets.calls.findIndex((each) => each.key === key)
  if (known < 0 && env.sets === 'known')
    throw notSupported('A set-returning function that the select list does not hold', position)
  scope.sets.id ??= newId(resolver, 't')
  const index = known < 0 ? scope.sets.calls.push({ key, call }) - 1 : known
  const [output] = call.outputs
  return { kind: 'column', relation: scope.sets.id, index, levelsUp: 0, type: output?.type ?? 'text' }
}

function isComputedLater(expr: Expr): boolean {
  return expr.kind === 'aggregate' || expr.kind === 'window' || childrenOf(expr).some(isComputedLater)
}

/** The item of FROM that expands the functions of a select list; undefined where it has none. */
export function targetSets({ sets }: Scope): FunctionItem | undefined {
  const calls = sets.calls.map(({ call }) => call)
  const [first, ...more] = calls
  if (first === undefined || sets.id === undefined) return undefined
  if (more.length > 0 && calls.some(({ name }) => name !== 'unnest'))
    throw notSupported('generate_series beside another set-returning function in a select list')
  return {
    kind: 'function',
    id: sets.id,
    name: first.name,
    args: more.length > 0 ? calls.flatMap(({ args }) => args) : first.args,
    outputs: calls.flatMap(({ outputs }) => outputs),
    ordinality: true,
  }
}

/** The order of the rows of one input row, below a statement's own order. */
export function setOrder(item: FunctionItem): SortKey {
  const { id, outputs } = item
  return {
    expr: { kind: 'column', relation: id, index: outputs.length, levelsUp: 0, type: 'int8' },
    descending: false,
    nullsFirst: false,
  }
}

/**
 * Checks that the functions of a select list may be expanded before everything else.
 * @throws SqlError 0A000 beside windows, and beside aggregates that do not group by them
 */
export function checkTargetSets(
  item: FromItem & { readonly kind: 'function' },
  scope: Scope,
  groupBy: readonly GroupElement[],
): void {
  const hint = 'Write the function in a subquery of FROM.'
  if (scope.hasWindows)
    throw new SqlError(
      '0A000',
      'A set-returning function beside window functions is not supported.',
      undefined,
      {
        hint,
      },
    )
  if (!scope.hasAggregates && groupBy.length === 0) return
  const grouped = new Set(groupBy.flatMap(groupExprs).flatMap((key) => columnsOf(key, item.id)))
  if (item.outputs.some((_, index) => !grouped.has(index)))
    throw new SqlError('0A000', 'A set-returning function that is not grouped is not supported.', undefined, {
      hint,
    })
}

function columnsOf(expr: Expr, relation: string): readonly number[] {
  if (expr.kind === 'column') return expr.relation === relation ? [expr.index] : []
  return childrenOf(expr).flatMap((child) => columnsOf(child, relation))
}
