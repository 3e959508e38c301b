/**
 * Compiles expressions of graph queries to SQL. Every expression has one type, known before the statement runs, so that
 * no value of a row can make it fail. Values become parameters of the statement; nothing of the text does.
 */

import type { BinaryOperator, Expression, FunctionName } from '../wire/cypher/ast.ts'
import { refuse } from '../wire/cypher/tokens.ts'
import { type Declared, labels, sees, types } from './schema.ts'
import { type Binding, isScalar, itemsOf, type Scope, scalarOf, type Type } from './scope.ts'

/** An expression as SQL. */
export interface Compiled {
  readonly type: Type
  /** The value; of a node, edge or path its JSON. */
  readonly sql: string
  /** Of a node: its identity. */
  readonly id?: string
  readonly binding?: Binding
}

const sqlTypes = { text: 'text', number: 'float8', boolean: 'boolean' } as const

/** The SQL type of a value of this type. */
export function sqlType(type: Type): string {
  return isScalar(type) ? sqlTypes[type] : 'jsonb'
}

/** Compiles an expression without aggregates. @throws Fault `bad_request` for what has no meaning */
export function compileExpression(expression: Expression, scope: Scope): Compiled {
  switch (expression.kind) {
    case 'null':
      return nothing
    case 'literal':
      return { type: scalarOf(expression.value), sql: scope.statement.add(expression.value) }
    case 'parameter':
      return compileParameter(expression.name, scope)
    case 'variable':
      return compileVariable(expression.name, scope)
    case 'property':
      return compileProperty(expression.of, expression.name, scope)
    case 'list':
      return compileList(expression.items, scope)
    case 'not':
      return { type: 'boolean', sql: `(not ${condition(expression.operand, scope)})` }
    case 'isNull':
      return compileIsNull(expression.operand, expression.negated, scope)
    case 'binary':
      return compileBinary(expression.operator, expression.left, expression.right, scope)
    case 'call':
      return compileCall(expression.name, expression.arguments, scope)
    case 'aggregate':
      return refuse(`${expression.name} stands alone as an item of WITH or RETURN`)
  }
}

/** Compiles a condition. @throws Fault `bad_request` where it is not a boolean */
export function condition(expression: Expression, scope: Scope): string {
  const { type, sql } = compileExpression(expression, scope)
  if (type === 'null') return 'null::boolean'
  if (type !== 'boolean') refuse('a condition is true or false')
  return sql
}

const nothing: Compiled = { type: 'null', sql: 'null' }

function compileParameter(name: string, { statement }: Scope): Compiled {
  const value = statement.given(name)
  if (value === null) return nothing
  if (typeof value !== 'object') return { type: scalarOf(value), sql: statement.add(value) }
  const [first] = value
  return { type: { list: first === undefined ? 'null' : scalarOf(first) }, sql: statement.addList(value) }
}

function compileVariable(name: string, { names }: Scope): Compiled {
  const binding = names.get(name)
  if (binding === undefined) refuse('a name is not known here')
  const { type, column } = binding
  return { type, sql: `s.${column}`, binding, ...(type === 'node' && { id: `s.${column}i` }) }
}

function compileProperty(of: string, name: string, scope: Scope): Compiled {
  const { type, sql, binding } = compileVariable(of, scope)
  if (type === 'null') return nothing
  if (type !== 'node' && type !== 'edge') refuse('only nodes and edges have properties')
  if (binding?.label !== undefined) return property(sql, binding.label, labels[binding.label], name, scope)
  if (binding?.edge !== undefined) return property(sql, binding.edge, types[binding.edge], name, scope)
  return refuse('the label of this node is not known: only labels() and the node itself can be asked for')
}

/** The value of a property of a node or edge, given as JSON. @throws Fault `bad_request` for one that is not shown */
export function property(
  json: string,
  label: string,
  declared: Declared,
  name: string,
  { as }: Scope,
): Compiled {
  const found = new Map(Object.entries(declared.properties)).get(name)
  if (found === undefined || !sees(as, found.audience)) {
    if (found !== undefined) refuse(`${label}.${name} is for stewards`)
    const known = Object.entries(declared.properties).filter(([, { audience }]) => sees(as, audience))
    refuse(`${label} has no such property; it has ${known.map(([one]) => one).join(', ') || 'none'}`)
  }
  const text = `(${json} #>> '{properties,${name}}')`
  return { type: found.type, sql: found.type === 'text' ? text : `${text}::${sqlTypes[found.type]}` }
}

function compileList(items: readonly Expression[], scope: Scope): Compiled {
  const compiled = items.map((item) => compileExpression(item, scope))
  const [first] = compiled
  if (first === undefined) return { type: { list: 'null' }, sql: `'[]'::jsonb` }
  if (!isScalar(first.type) || compiled.some(({ type }) => type !== first.type))
    refuse('a list has texts, numbers or booleans, of one type')
  return {
    type: { list: first.type },
    sql: `jsonb_build_array(${compiled.map(({ sql }) => sql).join(', ')})`,
  }
}

function compileIsNull(operand: Expression, negated: boolean, scope: Scope): Compiled {
  const { type, sql } = compileExpression(operand, scope)
  const not = negated ? 'not ' : ''
  return { type: 'boolean', sql: type === 'null' ? String(!negated) : `(${sql} is ${not}null)` }
}

function compileBinary(
  operator: BinaryOperator,
  left: Expression,
  right: Expression,
  scope: Scope,
): Compiled {
  const boolean = (sql: string): Compiled => ({ type: 'boolean', sql: `(${sql})` })
  switch (operator) {
    case 'AND':
    case 'OR':
      return boolean(
        `${condition(left, scope)} ${operator === 'AND' ? 'and' : 'or'} ${condition(right, scope)}`,
      )
    case 'XOR':
      return boolean(`${condition(left, scope)} <> ${condition(right, scope)}`)
    case 'IN':
      return boolean(isIn(compileExpression(left, scope), compileExpression(right, scope)))
    case 'STARTS WITH':
    case 'ENDS WITH':
    case 'CONTAINS':
      return compileTextTest(operator, compileExpression(left, scope), compileExpression(right, scope))
    default:
      return boolean(compare(operator, compileExpression(left, scope), compileExpression(right, scope)))
  }
}

/** A comparison as SQL. @throws Fault `bad_request` for values of different types */
export function compare(operator: '=' | '<>' | '<' | '<=' | '>' | '>=', a: Compiled, b: Compiled): string {
  if (a.type === 'null' || b.type === 'null') return 'null::boolean'
  const isEquality = operator === '=' || operator === '<>'
  if (a.type === 'node' && b.type === 'node' && isEquality) return `${a.id} ${operator} ${b.id}`
  if (a.type === 'edge' && b.type === 'edge' && isEquality)
    return `${a.sql} ->> '#' ${operator} ${b.sql} ->> '#'`
  if (!isScalar(a.type) || a.type !== b.type)
    refuse('compared are two texts, numbers or booleans, and two nodes or edges by = and <>')
  if (isEquality) return `${a.sql} ${operator} ${b.sql}`
  if (a.type === 'boolean') refuse('booleans are compared by = and <> only')
  return `${ordered(a)} ${operator} ${ordered(b)}`
}

/** A value by which rows are ordered: texts by code point, whatever the database's collation. */
export function ordered({ type, sql }: Compiled): string {
  return type === 'text' ? `(${sql} collate "C")` : sql
}

function isIn(item: Compiled, list: Compiled): string {
  const items = itemsOf(list.type)
  if (list.type === 'null') return 'null::boolean'
  if (items === undefined) refuse('after IN comes a list')
  if (item.type === 'null') return `case when jsonb_array_length(${list.sql}) = 0 then false end`
  if (!isScalar(item.type) || (items !== item.type && items !== 'null'))
    refuse('IN looks for a text, a number or a boolean in a list of such')
  return `case when ${item.sql} is not null then ${list.sql} @> jsonb_build_array(${item.sql})
    when jsonb_array_length(${list.sql}) = 0 then false end`
}

function compileTextTest(
  operator: 'STARTS WITH' | 'ENDS WITH' | 'CONTAINS',
  a: Compiled,
  b: Compiled,
): Compiled {
  const isText = ({ type }: Compiled) => type === 'text' || type === 'null'
  if (!isText(a) || !isText(b)) refuse(`${operator} compares two texts`)
  if (a.type === 'null' || b.type === 'null') return { type: 'boolean', sql: 'null::boolean' }
  if (operator === 'STARTS WITH') return { type: 'boolean', sql: `starts_with(${a.sql}, ${b.sql})` }
  if (operator === 'CONTAINS') return { type: 'boolean', sql: `(position(${b.sql} in ${a.sql}) > 0)` }
  return { type: 'boolean', sql: `(right(${a.sql}, length(${b.sql})) = ${b.sql})` }
}

function compileCall(name: FunctionName, given: readonly Expression[], scope: Scope): Compiled {
  const args = given.map((argument) => compileExpression(argument, scope))
  if (name === 'coalesce') return compileCoalesce(args)
  const [only] = args
  if (only === undefined || args.length !== 1) refuse(`${name} takes one argument`)
  const { type, sql } = only
  const isOf = (wanted: Type) => type === wanted || type === 'null'
  const call = (wanted: Type, what: string, result: Compiled): Compiled => {
    if (!isOf(wanted)) refuse(`${name} takes ${what}`)
    return type === 'null' ? nothing : result
  }
  switch (name) {
    case 'tolower':
    case 'toupper': {
      const fold = name === 'tolower' ? 'lower' : 'upper'
      return call('text', 'a text', {
        type: 'text',
        sql: `(${fold}(${sql} collate "pg_c_utf8") collate "default")`,
      })
    }
    case 'labels':
      return call('node', 'a node', {
        type: { list: 'text' },
        sql: `(case when ${sql} is not null then jsonb_build_array(${sql} ->> 'label') end)`,
      })
    case 'type':
      return call('edge', 'an edge', { type: 'text', sql: `(${sql} ->> 'type')` })
    case 'length':
      return call('path', 'a path', {
        type: 'number',
        sql: `jsonb_array_length(${sql} -> 'relationships')::float8`,
      })
    case 'nodes':
      return call('path', 'a path', { type: { list: 'node' }, sql: `(${sql} -> 'nodes')` })
    case 'relationships':
      return call('path', 'a path', { type: { list: 'edge' }, sql: `(${sql} -> 'relationships')` })
    case 'size':
      if (itemsOf(type) !== undefined) return { type: 'number', sql: `jsonb_array_length(${sql})::float8` }
      return call('text', 'a list or a text', { type: 'number', sql: `char_length(${sql})::float8` })
  }
}

function compileCoalesce(args: readonly Compiled[]): Compiled {
  const known = args.filter(({ type }) => type !== 'null')
  const [first] = known
  if (args.length === 0) refuse('coalesce takes at least one argument')
  if (first === undefined) return nothing
  if (!isScalar(first.type) || known.some(({ type }) => type !== first.type))
    refuse('coalesce takes texts, numbers or booleans, of one type')
  return { type: first.type, sql: `coalesce(${known.map(({ sql }) => sql).join(', ')})` }
}
