/** Evaluates scalars for all rows of a frame at once. */

import type { DaxCall, DaxExpression, DaxOperator } from '../../wire/dax/ast.ts'
import { refuseDax } from '../../wire/dax/tokens.ts'
import { aggregateOf, evaluateAggregate, isColumnAggregate } from './aggregates.ts'
import {
  type Environment,
  inContext,
  mapRows,
  overRows,
  placeOf,
  required,
  variableNamed,
  withoutRows,
  withVariables,
} from './environment.ts'
import { withFilters } from './filter-context.ts'
import { scalarFunction } from './scalar-functions.ts'
import { columnNamed } from './tabular.ts'
import {
  compareForOrder,
  compareValues,
  comparisons,
  type DaxValue,
  dateOfNumber,
  identityOfRow,
  identityOfValue,
  isDate,
  joinTexts,
  numberOf,
  truthOf,
} from './values.ts'

/** The values of an expression by row. @throws Fault `bad_request` for what is not supported or fits no type */
export async function evaluateScalar(
  expression: DaxExpression,
  env: Environment,
): Promise<readonly DaxValue[]> {
  const { frame, run } = env
  run.charge(frame.rows.length)
  const next = run.turn()
  if (next !== undefined) await next
  const fill = (value: DaxValue): readonly DaxValue[] => frame.rows.map(() => value)
  switch (expression.kind) {
    case 'text':
    case 'number':
      return fill(expression.value)
    case 'parameter':
      return fill(parameterValue(expression.name, env))
    case 'column':
      return await evaluateColumn(expression, env)
    case 'name':
      return await evaluateName(expression, env)
    case 'not':
      return await mapRows(env, await run.scalar(expression.of, env), (value) => !truthOf(value))
    case 'negate':
      return await mapRows(env, await run.scalar(expression.of, env), (value) =>
        value === undefined ? undefined : -numberOf(value),
      )
    case 'operation':
      return await evaluateOperation(expression, env)
    case 'call':
      return await evaluateCall(expression, env)
    case 'let':
      return await run.scalar(expression.body, withVariables(env, expression.variables))
    case 'rows': {
      const [row] = expression.rows
      const [value] = row ?? []
      if (value === undefined || expression.rows.length !== 1 || row?.length !== 1)
        return refuseDax('a table is used as a value')
      return await run.scalar(value, env)
    }
    case 'tuple':
      return refuseDax('several values are used as one')
  }
}

function parameterValue(name: string, { run }: Environment): string {
  for (const [given, value] of run.parameters) if (given.toLowerCase() === name.toLowerCase()) return value
  return refuseDax('a parameter has no value')
}

async function evaluateColumn(
  expression: Extract<DaxExpression, { kind: 'column' }>,
  env: Environment,
): Promise<readonly DaxValue[]> {
  const { frame, run } = env
  const place = placeOf(frame.columns, expression)
  if (place >= 0) return frame.rows.map((row) => row[place])
  const key = expression.name.toLowerCase()
  const own = run.measures.get(key)
  if (own !== undefined) {
    if (run.within.includes(key)) return refuseDax('a measure is defined by itself')
    const within = { ...run, within: [...run.within, key] }
    return await run.scalar(own, inContext({ ...env, run: within }))
  }
  const aggregate = aggregateOf(expression, env)
  if (aggregate !== undefined) return await evaluateAggregate(aggregate, inContext(env))
  const isColumn = columnNamed(run.model, expression.table, expression.name) !== undefined
  return refuseDax(
    isColumn ? 'a column is used as a value where no row has it' : 'a column or measure is not in this model',
  )
}

async function evaluateName(
  { name, isQuoted }: { readonly name: string; readonly isQuoted: boolean },
  env: Environment,
): Promise<readonly DaxValue[]> {
  const variable = isQuoted ? undefined : variableNamed(env, name)
  if (variable === undefined) {
    // Words of order, which functions take as values.
    if (!isQuoted && /^(?:ASC|DESC)$/i.test(name)) return env.frame.rows.map(() => name.toUpperCase())
    if (!isQuoted && /^(?:TRUE|FALSE)$/i.test(name)) return env.frame.rows.map(() => name.length === 4)
    return refuseDax('a name is used as a value that has none')
  }
  variable.values ??= env.run.scalar(variable.expression, variable.env)
  const values = await variable.values
  if (variable.env.frame.rows === env.frame.rows) return values
  if (variable.env.frame.columns.length > 0) return refuseDax('a variable of other rows is used as a value')
  return env.frame.rows.map(() => values[0])
}

async function evaluateOperation(
  { operator, left, right }: Extract<DaxExpression, { kind: 'operation' }>,
  env: Environment,
): Promise<readonly DaxValue[]> {
  if (operator === 'in') return await evaluateIn(left, right, env)
  const one = await env.run.scalar(left, env)
  const other = await env.run.scalar(right, env)
  return await mapRows(env, one, (value, row) => charged(operate(operator, value, other[row]), env))
}

function operate(operator: DaxOperator, one: DaxValue, other: DaxValue): DaxValue {
  const holds = comparisons[operator]
  if (holds !== undefined) return holds(compareValues(one, other))
  switch (operator) {
    case '==':
      return identityOfValue(one) === identityOfValue(other)
    case '&':
      return joinTexts(one, other)
    case '&&':
      return truthOf(one) && truthOf(other)
    case '||':
      return truthOf(one) || truthOf(other)
    case '/':
      return one === undefined ? undefined : numberOf(one) / numberOf(other)
    case '*':
      return one === undefined || other === undefined ? undefined : numberOf(one) * numberOf(other)
    case '^':
      return one === undefined && other === undefined ? undefined : numberOf(one) ** numberOf(other)
    default: {
      if (one === undefined && other === undefined) return undefined
      const sum = numberOf(one) + (operator === '-' ? -numberOf(other) : numberOf(other))
      // A day and a number are a day, two days apart are a number.
      return isDate(one) !== isDate(other) ? dateOfNumber(sum) : sum
    }
  }
}

async function evaluateIn(
  left: DaxExpression,
  right: DaxExpression,
  env: Environment,
): Promise<readonly DaxValue[]> {
  const items = left.kind === 'tuple' ? left.items : [left]
  const columns = await Promise.all(items.map((each) => env.run.scalar(each, env)))
  const table = await env.run.table(right, withoutRows(env))
  if (table.columns.length !== items.length) return refuseDax('IN compares rows of different widths')
  const found = new Set(await mapRows(env, table.rows, identityOfRow))
  return await mapRows(env, env.frame.rows, (_, row) =>
    found.has(identityOfRow(columns.map((values) => values[row]))),
  )
}

async function evaluateCall(call: DaxCall, env: Environment): Promise<readonly DaxValue[]> {
  const { run, frame } = env
  const aggregate = aggregateOf(call, env)
  if (aggregate !== undefined) return await evaluateAggregate(aggregate, env)
  const given = call.items
  switch (call.name) {
    case 'IGNORE':
      return await run.scalar(required(given[0]), env)
    case 'CALCULATE':
      return await run.scalar(required(given[0]), await withFilters(inContext(env), given.slice(1)))
    case 'COUNTROWS':
    case 'ISEMPTY': {
      const { rows } = await tableForAll(call, env)
      const value = call.name === 'ISEMPTY' ? rows.length === 0 : rows.length || undefined
      return frame.rows.map(() => value)
    }
    case 'SELECTEDVALUE':
    case 'HASONEVALUE':
      return await evaluateSingle(call, env)
    case 'SUMX':
    case 'AVERAGEX':
    case 'MINX':
    case 'MAXX':
    case 'COUNTX':
    case 'COUNTAX':
      return await evaluateOverTable(call, env)
    case 'SWITCH':
      if (isTrue(given[0])) return await evaluateFirstTrue(call, env)
  }
  const found = scalarFunction(call.name)
  if (found === undefined) {
    const isAggregate = isColumnAggregate(call.name)
    return refuseDax(
      isAggregate ? `${call.name} takes a column of the model` : `the function ${call.name} is not supported`,
    )
  }
  if (given.length < found.itemsMin || given.length > found.itemsMax)
    return refuseDax(`${call.name} has another number of arguments`)
  const values = await Promise.all(
    given.map(async (each) => (each === undefined ? [] : await run.scalar(each, env))),
  )
  return await mapRows(env, frame.rows, (_, row) => {
    const of = values.map((each) => each[row])
    return charged(found.of(of, run.nowMs), env)
  })
}

/** Characters of a text that is made which count as a value. */
const charsOfValue = 32

/** The value, where a long text counts as several. @throws Fault `unprocessable` beyond the bound */
function charged(value: DaxValue, { run }: Environment): DaxValue {
  if (typeof value === 'string' && value.length > charsOfValue)
    run.charge(Math.floor(value.length / charsOfValue))
  return value
}

const isTrue = (given: DaxExpression | undefined) => given?.kind === 'call' && given.name === 'TRUE'

async function evaluateFirstTrue({ items }: DaxCall, env: Environment): Promise<readonly DaxValue[]> {
  const values = await Promise.all(items.slice(1).map((each) => env.run.scalar(required(each), env)))
  return await mapRows(env, env.frame.rows, (_, row) => {
    for (let place = 0; place + 1 < values.length; place += 2)
      if (truthOf(values[place]?.[row])) return values[place + 1]?.[row]
    return values.length % 2 === 1 ? values.at(-1)?.[row] : undefined
  })
}

/** A table that is the same for all rows. @throws Fault where rows filter it */
async function tableForAll({ name, items }: DaxCall, env: Environment) {
  const [given] = items
  const isVariable = given?.kind === 'name' && !given.isQuoted && variableNamed(env, given.name) !== undefined
  if (env.frame.groups.length > 0 && !isVariable)
    return refuseDax(`${name} over a table that differs by group is not supported`)
  return await env.run.table(required(given), withoutRows(env))
}

/** The one value that a column has in a group. */
async function evaluateSingle(call: DaxCall, env: Environment): Promise<readonly DaxValue[]> {
  const [column, otherwise] = call.items
  if (column?.kind !== 'column') return refuseDax(`${call.name} takes a column`)
  const read = async (name: string) => await evaluateCall({ kind: 'call', name, items: [column] }, env)
  const counts = await read('DISTINCTCOUNT')
  if (call.name === 'HASONEVALUE') return counts.map((count) => count === 1)
  const values = await read('MIN')
  const others = otherwise === undefined ? [] : await env.run.scalar(otherwise, env)
  return counts.map((count, row) => (count === 1 ? values[row] : others[row]))
}

async function evaluateOverTable(call: DaxCall, env: Environment): Promise<readonly DaxValue[]> {
  const table = await tableForAll(call, env)
  const all = await env.run.scalar(required(call.items[1]), overRows(env, table))
  const value = reduceValues(call.name, all)
  return env.frame.rows.map(() => value)
}

/** What a function over rows makes of the values of its expression. */
export function reduceValues(name: string, all: readonly DaxValue[]): DaxValue {
  const values = all.filter((value) => value !== undefined)
  if (values.length === 0) return undefined
  const sum = () => values.reduce<number>((total, value) => total + numberOf(value), 0)
  switch (name) {
    case 'SUMX':
      return sum()
    case 'AVERAGEX':
      return sum() / values.length
    case 'MINX':
      return values.reduce((least, value) => (compareForOrder(value, least) < 0 ? value : least))
    case 'MAXX':
      return values.reduce((greatest, value) => (compareForOrder(value, greatest) > 0 ? value : greatest))
    case 'COUNTX':
    case 'COUNTAX':
      return values.length
    default:
      return refuseDax(`the function ${name} is not supported`)
  }
}
