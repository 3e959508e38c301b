/**
 * Conditions on a column that the engine can hold itself, so that not every value needs to be read: comparisons with
 * numbers, dates, truth values and texts, joined by AND, OR and NOT. Each is true or false, also where the column is BLANK.
 */

import type { DaxExpression, DaxOperator } from '../../wire/dax/ast.ts'
import type { Environment } from './environment.ts'
import { type Filter, filterValuesMax, listSql, type PlaceValue, type WriteCondition } from './filters.ts'
import { columnNamed, type TabularColumn } from './tabular.ts'
import { compareValues, comparisons, type DaxValue, daxTypeOf, isDate, keyOfValue } from './values.ts'

const mirrored: Partial<Record<DaxOperator, DaxOperator>> = {
  '=': '=',
  '<>': '<>',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
}

/** The columns that an expression names; undefined where one is not of the model. */
export function columnsWithin(
  expression: DaxExpression,
  env: Environment,
): readonly TabularColumn[] | undefined {
  const all = (items: readonly (DaxExpression | undefined)[]): readonly TabularColumn[] | undefined => {
    const found = items.map((each) => (each === undefined ? [] : columnsWithin(each, env)))
    return found.every((each) => each !== undefined) ? [...new Set(found.flat())] : undefined
  }
  switch (expression.kind) {
    case 'column': {
      const column = columnNamed(env.run.model, expression.table, expression.name)
      return column === undefined ? undefined : [column]
    }
    case 'not':
    case 'negate':
      return all([expression.of])
    case 'operation':
      return all([expression.left, expression.right])
    case 'call':
      return all(expression.items)
    case 'tuple':
      return all(expression.items)
    case 'rows':
      return all(expression.rows.flat())
    case 'let':
      return undefined
    default:
      return []
  }
}

/** A condition on one column as a filter; undefined where the engine cannot hold it as DAX does. */
export async function conditionFilter(
  column: TabularColumn,
  condition: DaxExpression,
  env: Environment,
): Promise<Filter | undefined> {
  const write = await writeCondition(column, condition, env)
  return write && { kind: 'condition', columns: [column], write }
}

async function writeCondition(
  column: TabularColumn,
  expression: DaxExpression,
  env: Environment,
): Promise<WriteCondition | undefined> {
  const part = (each: DaxExpression) => writeCondition(column, each, env)
  const join = async (parts: readonly DaxExpression[], word: string) => {
    const written = await Promise.all(parts.map(part))
    if (!written.every((each) => each !== undefined) || written.length === 0) return undefined
    return (place: PlaceValue) => `(${written.map((each) => each(place)).join(word)})`
  }
  if (expression.kind === 'not') return await negated(await part(expression.of))
  if (expression.kind === 'call') {
    const given = expression.items.flatMap((each) => each ?? [])
    if (given.length < expression.items.length) return undefined
    const [first] = given
    switch (expression.name) {
      case 'AND':
        return await join(given, ' AND ')
      case 'OR':
        return await join(given, ' OR ')
      case 'NOT':
        return first && negated(await part(first))
      case 'ISBLANK':
        return first && isColumn(first, column, env) ? () => `${column.sql} IS NULL` : undefined
      default:
        return undefined
    }
  }
  if (expression.kind !== 'operation') return undefined
  const { operator, left, right } = expression
  if (operator === '&&') return await join([left, right], ' AND ')
  if (operator === '||') return await join([left, right], ' OR ')
  if (operator === 'in' && right.kind === 'rows' && isColumn(left, column, env)) {
    if (right.rows.length > filterValuesMax) return undefined
    const values = await Promise.all(right.rows.map(([value]) => value && constant(value, env)))
    if (right.rows.some(({ length }) => length !== 1) || !values.every((each) => each !== undefined))
      return undefined
    const keys = values.map((each) => keyOfValue(each.value, column.key.type))
    if (!keys.every((each) => each !== undefined) || keys.length === 0) return undefined
    // BLANK IN {…} is of BLANK alone.
    return (place) => `coalesce(${listSql(column.sql, keys, place)}, false)`
  }
  const [sign, other] = isColumn(left, column, env)
    ? [operator, right]
    : isColumn(right, column, env)
      ? [mirrored[operator], left]
      : []
  const value = other && (await constant(other, env))
  return sign && value ? writeComparison(column, sign, value.value) : undefined
}

function negated(write: WriteCondition | undefined): WriteCondition | undefined {
  return write && ((place) => `(NOT ${write(place)})`)
}

function isColumn(expression: DaxExpression, column: TabularColumn, env: Environment): boolean {
  return (
    expression.kind === 'column' && columnNamed(env.run.model, expression.table, expression.name) === column
  )
}

/** The value of an expression without columns; undefined for another. */
async function constant(
  expression: DaxExpression,
  env: Environment,
): Promise<{ readonly value: DaxValue } | undefined> {
  if (columnsWithin(expression, env)?.length !== 0) return undefined
  const [value] = await env.run.scalar(expression, env)
  return { value }
}

function writeComparison(
  column: TabularColumn,
  operator: DaxOperator,
  value: DaxValue,
): WriteCondition | undefined {
  const holds = comparisons[operator]
  const key = keyOfValue(value, column.key.type)
  // Texts are ordered by DAX alone.
  const isOrdered = operator !== '=' && operator !== '<>'
  const type = daxTypeOf(column.key.type)
  if (holds === undefined || typeof key !== 'string' || (isOrdered && type === 'text')) return undefined
  if (isDate(value) && !Number.isFinite(value.ms)) return undefined
  const ofBlank = holds(compareValues(undefined, value))
  return (place) => `coalesce(${column.sql} ${operator} ${place(key)}, ${ofBlank})`
}
