/** What CALCULATE and CALCULATETABLE do to the filter context: filters that are added, and columns that are freed. */

import type { DaxCall, DaxExpression } from '../../wire/dax/ast.ts'
import { refuseDax } from '../../wire/dax/tokens.ts'
import { columnsWithin, conditionFilter } from './conditions.ts'
import {
  type Environment,
  overRows,
  plainColumn,
  required,
  variableNamed,
  withoutRows,
} from './environment.ts'
import { type Filter, rowsFilter, withoutColumns } from './filters.ts'
import { readGroups } from './read-groups.ts'
import { columnNamed, type TabularColumn, tableNamed } from './tabular.ts'
import { truthOf } from './values.ts'

interface Change {
  readonly added: readonly Filter[]
  /** Columns that are no longer filtered by what surrounds, before `added`. */
  readonly freed: readonly TabularColumn[]
  /** Columns by which rows of the frame no longer filter, while what surrounds the query's groups still does. */
  readonly ungrouped: readonly TabularColumn[]
}

const nothing: Change = { added: [], freed: [], ungrouped: [] }
const freeing = new Set(['ALL', 'REMOVEFILTERS', 'ALLNOBLANKROW', 'ALLEXCEPT', 'ALLSELECTED'])
const logical = new Set([
  'AND',
  'OR',
  'NOT',
  'ISBLANK',
  'CONTAINSSTRING',
  'ISONORAFTER',
  'ISAFTER',
  'TRUE',
  'FALSE',
])

/** The environment in which a filter context has changed. @throws Fault `bad_request` for an argument that is not served */
export async function withFilters(
  env: Environment,
  given: readonly (DaxExpression | undefined)[],
): Promise<Environment> {
  const changes = await Promise.all(given.map((each) => changeOf(required(each), env, false)))
  const freed = changes.flatMap((each) => each.freed)
  const ungrouped = [...freed, ...changes.flatMap((each) => each.ungrouped)]
  const left = env.filters.flatMap((filter) => withoutColumns(filter, freed) ?? [])
  const { frame } = env
  const groups = frame.groups.filter((place) => {
    const column = frame.columns[place]?.column
    return column !== undefined && !ungrouped.includes(column)
  })
  const rolled = frame.rolled?.map((mask) =>
    groups.reduce((bits, place, bit) => bits | (mask & (1 << frame.groups.indexOf(place)) ? 1 << bit : 0), 0),
  )
  const changed = { ...frame, groups, rolled: rolled ?? frame.rows.map(() => 0) }
  return { ...env, filters: [...left, ...changes.flatMap((each) => each.added)], frame: changed }
}

async function changeOf(given: DaxExpression, env: Environment, isKept: boolean): Promise<Change> {
  const made = (filters: readonly Filter[]): Change => ({
    ...{ added: filters, ungrouped: [] },
    freed: isKept ? [] : filters.flatMap(({ columns }) => columns),
  })
  if (given.kind === 'call' && given.name === 'KEEPFILTERS')
    return await changeOf(required(given.items[0]), env, true)
  if (given.kind === 'call' && freeing.has(given.name)) return freedBy(given, env)
  if (
    given.kind === 'operation' ||
    given.kind === 'not' ||
    (given.kind === 'call' && logical.has(given.name))
  )
    return made([await predicateFilter(given, env)])
  return made([await tableFilter(given, env)])
}

function freedBy(call: DaxCall, env: Environment): Change {
  const { tables } = env.run.model
  const named = call.items.map(required).flatMap((given): readonly TabularColumn[] => {
    if (given.kind === 'name') return tableNamed(env.run.model, given.name).columns
    const column = given.kind === 'column' && columnNamed(env.run.model, given.table, given.name)
    return column ? [column] : refuseDax(`${call.name} takes tables and columns`)
  })
  const all = tables.flatMap(({ columns }) => columns)
  if (call.name === 'ALLSELECTED') return { ...nothing, ungrouped: call.items.length === 0 ? all : named }
  if (call.name !== 'ALLEXCEPT') return { ...nothing, freed: call.items.length === 0 ? all : named }
  const [table] = call.items
  if (table?.kind !== 'name') return refuseDax('ALLEXCEPT takes a table and columns')
  const except = call.items.slice(1).flatMap((given) => {
    const column = given?.kind === 'column' && columnNamed(env.run.model, given.table, given.name)
    return column || refuseDax('ALLEXCEPT takes a table and columns')
  })
  return {
    ...nothing,
    freed: tableNamed(env.run.model, table.name).columns.filter((column) => !except.includes(column)),
  }
}

/** The filter of a condition over columns of the model. */
async function predicateFilter(condition: DaxExpression, env: Environment): Promise<Filter> {
  const outer = withoutRows(env)
  const columns = columnsWithin(condition, outer)
  const [first, ...more] = columns ?? []
  if (first === undefined || columns === undefined) return refuseDax('a filter names no column of the model')
  const held = more.length === 0 ? await conditionFilter(first, condition, outer) : undefined
  if (held !== undefined) return held
  const sets = [columns.map((_, place) => place)]
  const found = await readGroups(env.run.reader, { columns, sets, aggregates: [], filters: [] })
  const rows = found.map(({ keys }) => keys)
  const within = overRows(outer, { columns: columns.map(plainColumn), rows })
  const holds = await env.run.scalar(condition, within)
  return rowsFilter(
    columns,
    rows.filter((_, row) => truthOf(holds[row])),
  )
}

/** A table as a filter: by its columns that come from the model. */
export async function tableFilter(given: DaxExpression, env: Environment): Promise<Filter> {
  const held = await heldByEngine(given, env)
  if (held !== undefined) return held
  if (env.frame.groups.length > 0 && dependsOnRow(given, env))
    return refuseDax('a filter of CALCULATE that differs by row is not supported')
  const { columns, rows } = await env.run.table(given, withoutRows(env))
  if (columns.every(({ column }) => column === undefined))
    return refuseDax('a table that filters has no column of the model')
  return rowsFilter(
    columns.map(({ column }) => column),
    rows,
  )
}

/** `FILTER(KEEPFILTERS(VALUES(column)), condition)`, also behind a variable, where the engine can hold the condition. */
async function heldByEngine(given: DaxExpression, env: Environment): Promise<Filter | undefined> {
  if (given.kind === 'name') {
    const variable = given.isQuoted ? undefined : variableNamed(env, given.name)
    return variable && (await heldByEngine(variable.expression, variable.env))
  }
  if (given.kind !== 'call') return undefined
  const [first, condition] = given.items
  if (given.name === 'KEEPFILTERS' && first !== undefined) return await heldByEngine(first, env)
  if (given.name !== 'FILTER' || first === undefined || condition === undefined) return undefined
  // Values under filters are fewer, and then they are read.
  const column = env.filters.length === 0 ? valuesColumn(first, env) : undefined
  return column && (await conditionFilter(column, condition, withoutRows(env)))
}

function valuesColumn(given: DaxExpression, env: Environment): TabularColumn | undefined {
  if (given.kind !== 'call' || given.items.length !== 1) return undefined
  const [of] = given.items
  if (of === undefined) return undefined
  if (given.name === 'KEEPFILTERS') return valuesColumn(of, env)
  const isList = ['VALUES', 'DISTINCT', 'ALL', 'ALLNOBLANKROW'].includes(given.name)
  return isList && of.kind === 'column' ? columnNamed(env.run.model, of.table, of.name) : undefined
}

function dependsOnRow(given: DaxExpression, env: Environment): boolean {
  switch (given.kind) {
    case 'name':
      return given.isQuoted || variableNamed(env, given.name) === undefined
    case 'call':
      if (['VALUES', 'DISTINCT'].includes(given.name)) return true
      if (freeing.has(given.name) || given.name === 'TREATAS') return false
      return given.items.some((each) => each !== undefined && each.kind === 'call' && dependsOnRow(each, env))
    default:
      return false
  }
}
