/** The types of columns that a query computes: from its expression, and where that does not tell, from the values. */

import type { DaxExpression } from '../../wire/dax/ast.ts'
import { aggregateOf } from './aggregates.ts'
import { type Environment, type Frame, inContext, placeOf, variableNamed } from './environment.ts'
import { scalarFunction } from './scalar-functions.ts'
import { type DaxType, type DaxValue, isDate } from './values.ts'

const over = new Set(['SUMX', 'MINX', 'MAXX', 'CALCULATE', 'IGNORE', 'SELECTEDVALUE', 'COUNTROWS'])

/** The type of an expression; `variant` where its values must tell. */
export function typeOfExpression(expression: DaxExpression, env: Environment): DaxType {
  const { frame, run } = env
  run.charge(1)
  const typeOf = (each: DaxExpression | undefined): DaxType =>
    each === undefined ? 'variant' : typeOfExpression(each, env)
  switch (expression.kind) {
    case 'text':
    case 'parameter':
      return 'text'
    case 'number':
      return Number.isInteger(expression.value) ? 'integer' : 'number'
    case 'column': {
      const found = frame.columns[placeOf(frame.columns, expression)]
      if (found !== undefined) return found.type
      const key = expression.name.toLowerCase()
      const own = run.measures.get(key)
      if (own === undefined) return aggregateOf(expression, env)?.type ?? 'variant'
      return run.within.includes(key) ? 'variant' : typeOfMeasure(key, own, env)
    }
    case 'name': {
      if (/^(?:TRUE|FALSE)$/i.test(expression.name)) return 'boolean'
      const variable = variableNamed(env, expression.name)
      if (variable === undefined) return 'variant'
      variable.type ??= typeOfExpression(variable.expression, variable.env)
      return variable.type
    }
    case 'not':
      return 'boolean'
    case 'negate':
      return typeOf(expression.of)
    case 'operation':
      return typeOfOperation(expression.operator, typeOf(expression.left), typeOf(expression.right))
    case 'call': {
      const aggregate = aggregateOf(expression, env)
      if (aggregate !== undefined) return aggregate.type
      if (over.has(expression.name))
        return expression.name === 'COUNTROWS'
          ? 'integer'
          : typeOf(expression.items[/X$/.test(expression.name) ? 1 : 0])
      const type = scalarFunction(expression.name)?.type ?? 'variant'
      return typeof type === 'string' ? type : typeOf(expression.items[type.of])
    }
    default:
      return 'variant'
  }
}

/** Types of a query's measures by frame, because each may name others many times. */
const measureTypes = new WeakMap<Frame, Map<string, DaxType>>()

function typeOfMeasure(key: string, measure: DaxExpression, env: Environment): DaxType {
  const { run } = env
  const within = inContext({ ...env, run: { ...run, within: [...run.within, key] } })
  const types = measureTypes.get(within.frame) ?? new Map<string, DaxType>()
  measureTypes.set(within.frame, types)
  const type = types.get(key) ?? typeOfExpression(measure, within)
  types.set(key, type)
  return type
}

function typeOfOperation(operator: string, left: DaxType, right: DaxType): DaxType {
  if (operator === '&') return 'text'
  if (operator === '/' || operator === '^') return 'number'
  if (operator !== '+' && operator !== '-' && operator !== '*') return 'boolean'
  if (left === 'date' || right === 'date') return left === right ? 'number' : 'date'
  return left === 'integer' && right === 'integer' ? 'integer' : 'number'
}

/** The type that all of these values have; text for values of several, or none. */
export function typeOfValues(values: readonly DaxValue[]): DaxType {
  const types = new Set(values.flatMap((value) => (value === undefined ? [] : [typeOfValue(value)])))
  const [only = 'text', ...others] = types
  if (others.length === 0) return only
  return [...types].every((type) => type === 'integer' || type === 'number') ? 'number' : 'text'
}

function typeOfValue(value: Exclude<DaxValue, undefined>): DaxType {
  switch (typeof value) {
    case 'string':
      return 'text'
    case 'boolean':
      return 'boolean'
    case 'object':
      return isDate(value) ? 'date' : 'text'
    case 'bigint':
      return 'integer'
    default:
      return Number.isSafeInteger(value) ? 'integer' : 'number'
  }
}
