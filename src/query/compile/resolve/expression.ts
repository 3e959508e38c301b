/** Resolves a checked tree node to a typed expression with every name bound. */

import type { A_Const, CaseExpr, CollateClause, ColumnRef, Node, SubLink, TypeCast } from 'libpg-query'
import { isArray, type SqlType } from '../../../core/sql-type.ts'
import { parseIntervalLiteral } from '../base/interval.ts'
import type { Expr, ParameterExpr, Query } from '../base/ir.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { isString, spokenType } from '../base/types.ts'
import { functions } from '../functions/registry.ts'
import * as special from '../functions/special.ts'
import { alikeForm, inForm, resize } from './alike.ts'
import { applyOperator, logic, not } from './apply-operator.ts'
import { resolveCall } from './call.ts'
import { castTo, coerce, condition, literalOf, nullOf, typed, unify } from './coerce.ts'
import {
  type Env,
  findColumn,
  findQualifiedColumn,
  identifierOf,
  type Resolver,
  withoutDatabase,
} from './context.ts'
import { resolveJsonObject } from './json-object.ts'
import { fieldByName, throughFields } from './nested.ts'
import { resolveOperator } from './operator.ts'
import { callOverload } from './overload.ts'
import { conditionAt, writtenColumn } from './place.ts'
import { resolveRow } from './row-text.ts'
import { shownParameter } from './shown-parameters.ts'
import { resolveSubscript } from './subscript.ts'
import { bitLength, intervalUnits, readTypeName } from './type-name.ts'
import { castOfWide, integerOf, isWide } from './wide.ts'

/** Resolves any expression node. @throws SqlError 0A000 for a node without a rule */
export function resolveExpression(resolver: Resolver, node: Node, env: Env): Expr {
  const sub = (child: Node | undefined): Expr => {
    if (child === undefined) throw new SqlError('42601', 'An expression is missing.')
    return resolver.expr(child, env)
  }
  if ('ColumnRef' in node) return resolveColumn(resolver, node.ColumnRef, env)
  if ('A_Const' in node) return resolveConstant(node.A_Const)
  if ('A_Expr' in node) return resolveOperator(resolver, node.A_Expr, env)
  if ('FuncCall' in node) return resolveCall(resolver, node.FuncCall, env)
  if ('TypeCast' in node) return resolveCast(resolver, node.TypeCast, env)
  if ('CollateClause' in node) return resolveCollate(resolver, node.CollateClause, env)
  if ('BoolExpr' in node) {
    const { boolop, args = [] } = node.BoolExpr
    const name = boolop === 'AND_EXPR' ? 'AND' : boolop === 'OR_EXPR' ? 'OR' : 'NOT'
    const resolved = args.map((arg) => conditionAt(resolver, arg, env, name))
    return name === 'NOT' && resolved[0]
      ? not(resolved[0])
      : { kind: 'logic', type: 'bool', op: name, args: resolved }
  }
  if ('NullTest' in node) {
    const { arg, nulltesttype } = node.NullTest
    if (arg !== undefined && 'RowExpr' in arg) {
      const test = nulltesttype === 'IS_NULL' ? 'NULL' : 'NOT NULL'
      const members = (arg.RowExpr.args ?? []).map((each) => typed(sub(each)))
      return logic(
        'AND',
        members.map((each): Expr => ({ kind: 'is', type: 'bool', test, arg: each })),
      )
    }
    return {
      kind: 'is',
      type: 'bool',
      test: nulltesttype === 'IS_NULL' ? 'NULL' : 'NOT NULL',
      arg: typed(sub(arg)),
    }
  }
  if ('BooleanTest' in node) {
    const tests = new Map([
      ['IS_TRUE', 'TRUE'],
      ['IS_NOT_TRUE', 'NOT TRUE'],
      ['IS_FALSE', 'FALSE'],
      ['IS_NOT_FALSE', 'NOT FALSE'],
      ['IS_UNKNOWN', 'NULL'],
      ['IS_NOT_UNKNOWN', 'NOT NULL'],
    ])
    const test = tests.get(String(node.BooleanTest.booltesttype))
    if (test === undefined) throw notSupported('This boolean test')
    return { kind: 'is', type: 'bool', test, arg: condition(sub(node.BooleanTest.arg), 'IS') }
  }
  if ('CaseExpr' in node) return resolveCase(resolver, node.CaseExpr, { ...env, sets: undefined })
  if ('CoalesceExpr' in node) {
    const { exprs, type } = unify(
      (node.CoalesceExpr.args ?? []).map((arg) => resolver.expr(arg, { ...env, sets: undefined })),
      'COALESCE',
    )
    return { kind: 'call', type, def: special.coalesce, args: exprs }
  }
  if ('MinMaxExpr' in node) {
    const isGreatest = node.MinMaxExpr.op === 'IS_GREATEST'
    const { exprs, type } = unify((node.MinMaxExpr.args ?? []).map(sub), isGreatest ? 'GREATEST' : 'LEAST')
    if (type === 'json' || type === 'jsonb') throw notSupported('GREATEST and LEAST of JSON')
    return { kind: 'call', type, def: isGreatest ? special.greatest : special.least, args: exprs }
  }
  if ('A_ArrayExpr' in node) {
    const { exprs, type } = unify((node.A_ArrayExpr.elements ?? []).map(sub), 'ARRAY')
    if (type === 'unknown' || isArray(type)) throw notSupported('An array of arrays')
    return { kind: 'array', type: `${type}[]`, elements: exprs }
  }
  if ('A_Indirection' in node)
    return (
      throughFields(resolver, node.A_Indirection, env) ?? resolveSubscript(resolver, node.A_Indirection, env)
    )
  if ('SubLink' in node) return resolveSublink(resolver, node.SubLink, env)
  if ('ParamRef' in node) return resolveParameter(resolver, node.ParamRef.number ?? 0)
  if ('SQLValueFunction' in node) return resolveValueFunction(resolver, String(node.SQLValueFunction.op), env)
  if ('GroupingFunc' in node) {
    if (env.noAggregates !== undefined)
      throw new SqlError('42803', `GROUPING is not allowed in ${env.noAggregates}`)
    return { kind: 'grouping', type: 'int4', args: (node.GroupingFunc.args ?? []).map(sub) }
  }
  if ('RowExpr' in node) return resolveRow(resolver, node.RowExpr, env)
  if ('JsonObjectConstructor' in node) return resolveJsonObject(resolver, node.JsonObjectConstructor, env)
  throw notSupported(Object.keys(node)[0] ?? 'This expression')
}

/** Texts are compared by their bytes, which is the collation `C`. Others would need another order on both engines. */
function resolveCollate(resolver: Resolver, { arg, collname = [], location }: CollateClause, env: Env): Expr {
  if (arg === undefined) throw new SqlError('42601', 'An expression is missing.')
  const names = collname.map(identifierOf)
  const [name = '', schema = 'pg_catalog'] = names.toReversed()
  if (schema !== 'pg_catalog' || names.length > 2 || !served.includes(name))
    throw notSupported(`COLLATE ${name === '' ? '' : JSON.stringify(name)}`.trim(), location)
  const text = typed(resolver.expr(arg, env))
  if (!isString(text.type))
    throw new SqlError('42804', `collations are not supported by type ${spokenType(text.type)}`, location)
  return text
}

const served: readonly string[] = ['C', 'POSIX', 'default', 'ucs_basic']

function resolveColumn(resolver: Resolver, node: ColumnRef, env: Env): Expr {
  const fields = node.fields ?? []
  if (fields.some((field) => 'A_Star' in field))
    throw notSupported('* outside the select list', node.location)
  try {
    return resolveNames(resolver, node, env)
  } catch (thrown) {
    const mayBeField = fields.length > 1 && thrown instanceof SqlError
    const field = mayBeField ? fieldByName(resolver, node, env) : undefined
    if (field === undefined) throw thrown
    return writtenColumn(field, fields.map(identifierOf).join('.'), node.location)
  }
}

function resolveNames(resolver: Resolver, node: ColumnRef, env: Env): Expr {
  const fields = node.fields ?? []
  const written = fields.map(identifierOf)
  const names = withoutDatabase(resolver, written, 4, node.location)
  const [first = '', second, third] = names
  if (names.length === 1) {
    const alias = env.scope.relations.find(({ columns }) => columns.some(({ name }) => name === first))?.alias
    const found = findColumn(resolver, env.scope, first, node.location)
    return writtenColumn(found, alias === undefined ? first : `${alias}.${first}`, node.location)
  }
  if (names.length === 2 && second !== undefined) {
    const found = findQualifiedColumn(resolver, env.scope, [undefined, first], second, node.location)
    return writtenColumn(found, names.join('.'), node.location)
  }
  const found = findQualifiedColumn(resolver, env.scope, [first, second ?? ''], third ?? '', node.location)
  return writtenColumn(found, names.slice(1).join('.'), node.location)
}

function resolveConstant(node: A_Const): Expr {
  if (node.isnull) return nullOf('unknown')
  if (node.sval) return { kind: 'literal', type: 'unknown', value: node.sval.sval ?? '' }
  if (node.boolval) return literalOf(String(node.boolval.boolval === true), 'bool')
  if (node.ival) return literalOf(String(node.ival.ival ?? 0), 'int4')
  if (node.fval) {
    const text = (node.fval.fval ?? '0').replaceAll('_', '')
    if (!/^-?\d{1,19}$/.test(text)) return literalOf(text, 'numeric')
    // The sign belongs to the text, so that the least integers are integer literals.
    const value = BigInt(text)
    if (BigInt.asIntN(32, value) === value) return literalOf(text, 'int4')
    return literalOf(text, BigInt.asIntN(64, value) === value ? 'int8' : 'numeric')
  }
  throw notSupported('This constant', node.location)
}

function resolveCast(resolver: Resolver, node: TypeCast, env: Env): Expr {
  if (node.arg === undefined) throw new SqlError('42601', 'An expression is missing.')
  const { type, size, length, fields, isPadded } = readTypeName(node.typeName)
  if (resolver.policy && isWide({ size }))
    throw notSupported('A numeric of more than 38 digits', node.location)
  const inner = 'TypeCast' in node.arg ? node.arg.TypeCast : undefined
  const bits = inner && bitLength(inner.typeName)
  if (inner?.arg !== undefined && bits !== undefined)
    return integerOf(resolver.expr(inner.arg, env), bits, type, node.location)
  // An empty array takes its type from the cast.
  if (isArray(type) && 'A_ArrayExpr' in node.arg && (node.arg.A_ArrayExpr.elements ?? []).length === 0)
    return { kind: 'array', type, elements: [] }
  const row = 'RowExpr' in node.arg && isString(type) ? node.arg.RowExpr : undefined
  const arg = row ? resolveRow(resolver, row, env, true) : resolver.expr(node.arg, env)
  if (fields !== undefined) {
    const unit = intervalUnits.get(fields)
    if (unit === undefined || arg.kind !== 'literal' || arg.value === null || arg.type !== 'unknown')
      throw notSupported('This interval type', node.location)
    const { months, days, micros } = parseIntervalLiteral(arg.value, unit)
    return { kind: 'literal', type: 'interval', value: `${months} ${days} ${micros}` }
  }
  if (isWide(arg)) return castOfWide(arg, { type, size, length }, node.location)
  const day =
    arg.kind === 'literal' && arg.type === 'unknown' ? relativeDay(resolver, arg.value, type, env) : undefined
  const cast = day ?? castTo(arg, type, size, length)
  if (isPadded !== true) return cast
  return castTo(
    callOverload(functions.get('rtrim'), [cast], () => 'function rtrim'),
    'varchar',
  )
}

/** The days that PostgreSQL's literals name from today. */
const relativeDays = new Map([
  ['today', 0],
  ['tomorrow', 1],
  ['yesterday', -1],
])

/** `'today'::date` and the like, and `'now'`; undefined for other literals and types. */
function relativeDay(resolver: Resolver, text: string | null, type: SqlType, env: Env): Expr | undefined {
  const word = text?.trim().toLowerCase() ?? ''
  const now = new Map<SqlType, string>([
    ['date', 'current_date'],
    ['timestamp', 'localtimestamp'],
    ['timestamptz', 'current_timestamp'],
  ]).get(type)
  const days = relativeDays.get(word)
  if (now === undefined || (days === undefined && word !== 'now')) return undefined
  if (days === undefined) return niladic(resolver, now, env)
  const today = niladic(resolver, 'current_date', env)
  const day = days === 0 ? today : applyOperator('+', [today, literalOf(String(days), 'int4')])
  return castTo(day, type)
}

function resolveCase(resolver: Resolver, node: CaseExpr, env: Env): Expr {
  const subject = node.arg && resolver.expr(node.arg, env)
  const whens = (node.args ?? []).map((each) => {
    if (!('CaseWhen' in each) || each.CaseWhen.expr === undefined || each.CaseWhen.result === undefined)
      throw new SqlError('42601', 'CASE needs WHEN and THEN.')
    const test = resolver.expr(each.CaseWhen.expr, env)
    return {
      when: subject ? applyOperator('=', [subject, test]) : condition(test, 'CASE/WHEN'),
      result: resolver.expr(each.CaseWhen.result, env),
    }
  })
  const otherwise = node.defresult && resolver.expr(node.defresult, env)
  // ELSE is the first to say what type they have in common.
  const results = [...(otherwise ? [otherwise] : []), ...whens.map(({ result }) => result)]
  const unified = unify(results, 'CASE')
  const { type } = unified
  const [first] = unified.exprs
  const exprs = otherwise ? unified.exprs.slice(1) : unified.exprs
  return {
    kind: 'case',
    type,
    whens: whens.map(({ when }, index) => ({ when, result: exprs[index] ?? nullOf(type) })),
    otherwise: otherwise && first,
  }
}

function resolveParameter(resolver: Resolver, number: number): Expr {
  if (resolver.policy) throw new SqlError('42P02', `there is no parameter $${number}`)
  if (number < 1 || number > 65_535) throw new SqlError('42P02', `there is no parameter $${number}`)
  const existing = resolver.parameters.get(number)
  if (existing) return shownParameter(existing)
  const parameter: ParameterExpr = {
    kind: 'parameter',
    number,
    type: resolver.parameterTypes[number - 1] ?? 'unknown',
    needsValue: false,
    value: resolver.parameterValues.get(number),
  }
  resolver.parameters.set(number, parameter)
  return shownParameter(parameter)
}

function resolveValueFunction(resolver: Resolver, op: string, env: Env): Expr {
  switch (op) {
    case 'SVFOP_CURRENT_DATE':
      return niladic(resolver, 'current_date', env)
    case 'SVFOP_CURRENT_TIMESTAMP':
      return niladic(resolver, 'current_timestamp', env)
    case 'SVFOP_LOCALTIMESTAMP':
      return niladic(resolver, 'localtimestamp', env)
    case 'SVFOP_CURRENT_USER':
    case 'SVFOP_USER':
    case 'SVFOP_SESSION_USER':
    case 'SVFOP_CURRENT_ROLE':
      return literalOf(resolver.principal.sub, 'text')
    case 'SVFOP_CURRENT_CATALOG':
      return niladic(resolver, 'current_database', env)
    case 'SVFOP_CURRENT_SCHEMA':
      return niladic(resolver, 'current_schema', env)
    default:
      throw notSupported('This value function')
  }
}

function niladic(resolver: Resolver, name: string, env: Env): Expr {
  return resolveCall(resolver, { funcname: [{ String: { sval: name } }] }, env)
}

function resolveSublink(resolver: Resolver, node: SubLink, env: Env): Expr {
  if (resolver.policy) throw notSupported('A subquery in a row filter or mask', node.location)
  const select =
    node.subselect !== undefined && 'SelectStmt' in node.subselect ? node.subselect.SelectStmt : undefined
  if (select === undefined) throw new SqlError('42601', 'A subquery is expected.', node.location)
  const query = resolver.query(select, env.scope)
  const [column, ...more] = query.columns
  if (node.subLinkType === 'EXISTS_SUBLINK')
    return { kind: 'subquery', form: 'exists', type: 'bool', args: [], query }
  if (node.subLinkType === 'ANY_SUBLINK' || node.subLinkType === 'ALL_SUBLINK') {
    const operator = node.operName === undefined ? '=' : identifierOf(node.operName[0])
    const all = node.subLinkType === 'ALL_SUBLINK'
    if (!(operator === '=' && !all) && !(operator === '<>' && all))
      return comparedWithAll(resolver, node, query, operator, all, env)
    const test = besideSubquery(resolver, node, query, env)
    const found: Expr = {
      kind: 'subquery',
      form: test.args.length > 1 ? 'rows' : 'in',
      type: 'bool',
      ...test,
    }
    return all ? not(found) : found
  }
  if (column === undefined || more.length > 0)
    throw new SqlError('42601', 'subquery must return only one column', node.location)
  if (node.subLinkType === 'ARRAY_SUBLINK') {
    if (column.type === 'unknown' || isArray(column.type)) throw notSupported('An array of arrays')
    return { kind: 'subquery', form: 'array', type: `${column.type}[]`, args: [], query }
  }
  return { kind: 'subquery', form: 'scalar', type: column.type, size: column.size, args: [], query }
}

/** `> ALL (SELECT …)` and its like. */
function comparedWithAll(
  resolver: Resolver,
  node: SubLink,
  query: Query,
  operator: string,
  all: boolean,
  env: Env,
): Expr {
  const sign = special.comparisonSigns.find((each) => each === (operator === '!=' ? '<>' : operator))
  const test = sign && besideSubquery(resolver, node, query, env)
  if (sign === undefined || test?.args.length !== 1)
    throw notSupported(`${operator} ${all ? 'ALL' : 'ANY'} of a subquery`, node.location)
  const compares = `${sign} ${all ? 'ALL' : 'ANY'}` as const
  return { kind: 'subquery', form: 'compare', compares, type: 'bool', ...test }
}

/** Both sides of a comparison with the rows of a subquery, quotients in one form. */
function besideSubquery(
  resolver: Resolver,
  node: SubLink,
  query: Query,
  env: Env,
): { readonly args: readonly Expr[]; readonly query: Query } {
  const args = inSubquery(resolver, node, query.columns, env)
  const forms = args.map((arg, index) => {
    const column = query.columns[index]
    if (column?.type !== 'numeric') return undefined
    const { type, size, shape, textScale } = column
    return alikeForm([
      arg,
      { kind: 'column', relation: '', index, levelsUp: 0, type, size, shape, textScale },
    ])
  })
  return { args: args.map((arg, index) => inForm(arg, forms[index])), query: resize(query, forms) }
}

/** The left side of IN, converted to the types of the subquery's columns. */
function inSubquery(
  resolver: Resolver,
  node: SubLink,
  columns: readonly { readonly type: SqlType }[],
  env: Env,
): Expr[] {
  if (node.testexpr === undefined) throw new SqlError('42601', 'An operand is missing.', node.location)
  const nodes = 'RowExpr' in node.testexpr ? (node.testexpr.RowExpr.args ?? []) : [node.testexpr]
  if (nodes.length !== columns.length)
    throw new SqlError('42601', 'subquery has a different number of columns', node.location)
  return nodes.map((each, index) => {
    const arg = resolver.expr(each, env)
    const type = columns[index]?.type ?? 'unknown'
    if (type === 'json' || type === 'jsonb') throw notSupported(`Comparison of ${type}`)
    // Engines compare numbers and times of different types as PostgreSQL does. Text does not unify with them.
    const { type: common } = unify([arg, { kind: 'literal', type, value: null }], 'IN')
    return common === type ? coerce(arg, type) : typed(arg)
  })
}
