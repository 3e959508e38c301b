/**
 * Resolves fields of nested values: `(s).a`, `s.a`, `(t.s).a.b`, `items[1].sku`, and of the rows of `unnest`. A field is a
 * column of the table below, so it has the type, the masks and the barrier of a column. A subquery on the way hands it on
 * as a further column. Elsewhere a nested value is JSON.
 */

import type { A_Indirection, ColumnRef, Node } from 'libpg-query'
import { fieldsIn, type IcebergType } from '../../../core/iceberg-type.ts'
import { elementOf, isArray } from '../../../core/sql-type.ts'
import {
  type CallExpr,
  type ColumnExpr,
  childrenOf,
  type Expr,
  exprKey,
  type FunctionItem,
  type OutputColumn,
  type Query,
  type Typed,
} from '../base/ir.ts'
import { placeInside } from '../base/nested-fields.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { servedType, spokenType } from '../base/types.ts'
import * as special from '../functions/special.ts'
import { applyOperator } from './apply-operator.ts'
import { typed } from './coerce.ts'
import {
  type Env,
  findColumn,
  findQualifiedColumn,
  identifierOf,
  type Resolver,
  type ScopeColumn,
  spend,
  use,
} from './context.ts'
import { callOverload } from './overload.ts'

/** The type, where fields of it can be read: a struct, or a list of structs. */
export function nestedOf(type: IcebergType): IcebergType | undefined {
  return isStruct(type) || (typeof type === 'object' && type.type === 'list' && isStruct(type.element))
    ? type
    : undefined
}

function isStruct(type: IcebergType | undefined): boolean {
  return typeof type === 'object' && type.type === 'struct'
}

/** The type of an element, where fields of it can be read. */
export function nestedElement(array: Expr): IcebergType | undefined {
  const nested = array.kind === 'column' ? array.nested : undefined
  return typeof nested === 'object' && nested.type === 'list' ? nested.element : undefined
}

/** A field by a dotted name, where it is no column: `s.a`, `t.s.a`; undefined where it is no field either. */
export function fieldByName(
  resolver: Resolver,
  { fields = [], location }: ColumnRef,
  env: Env,
): Expr | undefined {
  const names = fields.map(identifierOf)
  if (resolver.policy) return fieldInPolicy(names, env)
  for (const length of [2, 1])
    if (names.length > length) {
      const base = found(resolver, () => {
        const [first = '', second = ''] = names
        if (length === 1) return findColumn(resolver, env.scope, first, location)
        return findQualifiedColumn(resolver, env.scope, [undefined, first], second, location)
      })
      if (base !== undefined && structOf(base) !== undefined)
        return names.slice(length).reduce((value, name) => fieldOf(resolver, value, name, location), base)
    }
  return undefined
}

/** Finds a value of which a field is read: its whole is not. */
function ofField(resolver: Resolver, find: () => Expr): Expr {
  const before = new Map(resolver.tables.map(({ id, used }) => [id, new Set(used)]))
  const value = find()
  if (
    value.kind === 'column' &&
    structOf(value) !== undefined &&
    before.get(value.relation)?.has(value.index) === false
  )
    resolver.tables.find(({ id }) => id === value.relation)?.used.delete(value.index)
  return value
}

function found(resolver: Resolver, find: () => Expr): Expr | undefined {
  try {
    return ofField(resolver, find)
  } catch (thrown) {
    if (thrown instanceof SqlError && ['42P01', '42703', '0A000'].includes(thrown.sqlState)) return undefined
    throw thrown
  }
}

/** The columns of a policy hold the fields that it may read, by their full names when it was saved. */
function fieldInPolicy(names: readonly string[], { scope }: Env): Expr | undefined {
  const aliases = scope.relations.map(({ alias }) => alias)
  const full = [names, ...(aliases.includes(names[0] ?? '') ? [names.slice(1)] : [])].map((each) =>
    each.join('.'),
  )
  const fields = scope.columns.filter(({ name }) => full.includes(name))
  if (fields.length > 1) throw new SqlError('42702', `column reference "${full[0]}" is ambiguous`)
  return fields[0]?.expr
}

/**
 * A value by its fields and subscripts.
 * @returns undefined for a single subscript of an array
 * @throws SqlError 42809 for a field of what has none, 42703 for one that is not there
 */
export function throughFields(
  resolver: Resolver,
  { arg, indirection = [] }: A_Indirection,
  env: Env,
): Expr | undefined {
  if (arg === undefined) throw new SqlError('42601', 'An expression is missing.')
  const [only, ...more] = indirection
  const position = 'ColumnRef' in arg ? arg.ColumnRef.location : undefined
  let [value, steps] = [undefined as Expr | undefined, indirection]
  if (resolver.policy && 'ColumnRef' in arg && only !== undefined && 'String' in only) {
    const fields = indirection.findIndex((step) => !('String' in step))
    const length = fields < 0 ? indirection.length : fields
    value = fieldByName(
      resolver,
      { fields: [...(arg.ColumnRef.fields ?? []), ...indirection.slice(0, length)] },
      env,
    )
    steps = indirection.slice(length)
    if (value === undefined) throw new SqlError('42703', 'there is no such field', position)
  }
  const isField = only !== undefined && 'String' in only
  value ??= isField ? ofField(resolver, () => resolver.expr(arg, env)) : resolver.expr(arg, env)
  if (more.length === 0 && only !== undefined && 'A_Indices' in only && value.type !== 'jsonb')
    return undefined
  return steps.reduce((each, step) => stepOf(resolver, each, step, env, position), value)
}

function stepOf(resolver: Resolver, value: Expr, step: Node, env: Env, position: number | undefined): Expr {
  if ('String' in step) return fieldOf(resolver, value, identifierOf(step), position)
  if (!('A_Indices' in step)) throw notSupported('* outside the select list', position)
  const { is_slice, lidx, uidx } = step.A_Indices
  if (is_slice || lidx !== undefined || uidx === undefined)
    throw notSupported('A slice of an array', position)
  const at = resolver.expr(uidx, env)
  return value.type === 'jsonb' ? applyOperator('->', [value, at]) : elementAt(value, at)
}

function isJson({ type }: Expr): boolean {
  return type === 'json' || type === 'jsonb'
}

function elementAt(array: Expr, at: Expr): Expr {
  return callOverload([special.subscript], [array, at], () => `subscript of ${spokenType(array.type)}`)
}

/** The struct of which a value is; undefined for another value. */
function structOf(value: Expr): IcebergType | undefined {
  if (value.kind === 'column') return isStruct(value.nested) ? value.nested : undefined
  const list = listBelow(value)
  return list && nestedElement(list)
}

/** The array of which a value is an element. */
function listBelow(value: Expr): ColumnExpr | undefined {
  const [list] = value.kind === 'call' && value.def === special.subscript ? value.args : []
  return list?.kind === 'column' ? list : undefined
}

function fieldOf(resolver: Resolver, value: Expr, name: string, position: number | undefined): Expr {
  if (structOf(value) === undefined)
    throw new SqlError(
      '42809',
      `column notation .${name} applied to type ${spokenType(value.type)}, which is not a composite type`,
      position,
      isJson(value) ? { hint: `Write -> '${name}' or ->> '${name}' for a member of JSON.` } : {},
    )
  const list = listBelow(value)
  if (list !== undefined) {
    const [, at] = (value as CallExpr).args
    return elementAt(readField(resolver, list, name, position), at as Expr)
  }
  return readField(resolver, value as ColumnExpr, name, position)
}

/** The fields of a struct, as `(s).*` means them; undefined for another value. */
export function fieldsOf(
  resolver: Resolver,
  value: Expr,
  position?: number,
): readonly ScopeColumn[] | undefined {
  const type = structOf(value)
  if (type === undefined) return undefined
  return fieldsIn(type).map(({ name }) => ({ name, expr: fieldOf(resolver, value, name, position) }))
}

/** A field of a struct's column, or the array of a field of a list's. */
function readField(
  resolver: Resolver,
  column: ColumnExpr,
  name: string,
  position: number | undefined,
): ColumnExpr {
  spend(resolver, 1)
  const source = resolver.sources.get(column.relation)
  const { relation, levelsUp } = column
  if (source?.from === 'table') {
    const place = placeInside(source.table, column.index, name)
    const served = place?.shown && servedType(place.shown.type)
    if (place === undefined) throw absentField(name, position)
    if (place.shown === undefined || served === undefined) throw unreadable(name, position)
    const nested = nestedOf(place.shown.type)
    const expr: ColumnExpr = {
      ...{ kind: 'column', relation, index: place.index, levelsUp, ...served },
      ...(nested && { nested }),
    }
    use(resolver, expr, 0)
    return expr
  }
  const handed =
    source?.from === 'query'
      ? handedOn(resolver, source.query, column.index, name, position)
      : source?.from === 'function'
        ? besideIt(resolver, source.item, column.index, name, position)
        : undefined
  if (handed === undefined) throw unreadable(name, position)
  return { kind: 'column', relation, levelsUp, ...handed }
}

type Handed = Typed & Pick<ColumnExpr, 'index' | 'nested'>

/** Makes a field of a query's column a further column of it. */
function handedOn(
  resolver: Resolver,
  { body, columns }: Query,
  index: number,
  name: string,
  position: number | undefined,
): Handed | undefined {
  if (body.kind !== 'select' || body.distinct || body.groupBy.length > 0 || body.having !== undefined)
    return undefined
  const target = body.targets[index]
  if (target?.kind !== 'column' || body.targets.some(holdsAggregate)) return undefined
  const field = readField(resolver, target, name, position)
  const key = exprKey(field)
  const known = body.targets.findIndex((each) => exprKey(each) === key)
  const { type, size, nested } = field
  if (known < 0) {
    // The query is complete, and what reads it names its columns by their places.
    ;(body.targets as Expr[]).push(field)
    ;(columns as OutputColumn[]).push({ name, type, size, ...(nested && { nested }) })
  }
  return { index: known < 0 ? body.targets.length - 1 : known, type, size, ...(nested && { nested }) }
}

function holdsAggregate(expr: Expr): boolean {
  return expr.kind === 'aggregate' || childrenOf(expr).some(holdsAggregate)
}

/** Unnests a field of an array's elements beside them. */
function besideIt(
  resolver: Resolver,
  item: FunctionItem,
  index: number,
  name: string,
  position: number | undefined,
): Handed | undefined {
  const array = item.args[index]
  if (item.name !== 'unnest' || item.ordinality || array?.kind !== 'column') return undefined
  const field = readField(resolver, array, name, position)
  if (!isArray(field.type)) return undefined
  const output: Typed = { type: elementOf(field.type), size: field.size }
  const key = exprKey(field)
  const known = item.args.findIndex((each) => exprKey(each) === key)
  if (known < 0) {
    ;(item.args as Expr[]).push(field)
    ;(item.outputs as Typed[]).push(output)
  }
  const nested = nestedElement(field)
  return { index: known < 0 ? item.args.length - 1 : known, ...output, ...(nested && { nested }) }
}

function absentField(name: string, position: number | undefined): SqlError {
  return new SqlError('42703', `column "${name}" not found in data type jsonb`, position)
}

function unreadable(name: string, position: number | undefined): SqlError {
  const hint = `Write -> '${name}' or ->> '${name}' for a member of JSON.`
  return new SqlError('0A000', `The field ${name} of this value is not supported.`, position, { hint })
}

/** The output column of a target: its fields stay readable where it is a column. */
export function nestedTarget(expr: Expr): Pick<OutputColumn, 'nested'> {
  const value = typed(expr)
  return value.kind === 'column' && value.nested !== undefined ? { nested: value.nested } : {}
}
