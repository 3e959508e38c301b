/** Evaluates tables: what reads the model, and what is made of tables that were read. */

import type { DaxCall, DaxExpression } from '../../wire/dax/ast.ts'
import { refuseDax } from '../../wire/dax/tokens.ts'
import {
  assertRows,
  type DaxColumn,
  type DaxTable,
  type Environment,
  groupRowsBy,
  mapRows,
  namedColumn,
  overRows,
  placeOf,
  plainColumn,
  required,
  tableOfVariable,
  variableNamed,
  withoutRows,
  withVariables,
} from './environment.ts'
import { withFilters } from './filter-context.ts'
import { crossTables, indexTable, joinTables, uniteTables } from './joins.ts'
import { sampleRows, topRows, topRowsAfter } from './order.ts'
import { readGroups } from './read-groups.ts'
import { sampleAxis } from './sample-axis.ts'
import { reduceValues } from './scalar.ts'
import { summarizeColumns } from './summarize-columns.ts'
import { columnNamed, isSame, type TabularColumn, tableNamed } from './tabular.ts'
import { typeOfExpression, typeOfValues } from './types.ts'
import { type DaxValue, identityOfRow, truthOf } from './values.ts'

/** The rows of a table expression. @throws Fault `bad_request` for what is not supported */
export async function evaluateTable(expression: DaxExpression, env: Environment): Promise<DaxTable> {
  switch (expression.kind) {
    case 'call':
      return await evaluateCall(expression, env)
    case 'rows':
      return await rowsTable(expression.rows, env)
    case 'let':
      return await env.run.table(expression.body, withVariables(env, expression.variables))
    case 'name': {
      const variable = expression.isQuoted ? undefined : variableNamed(env, expression.name)
      if (variable !== undefined) return await tableOfVariable(variable)
      tableNamed(env.run.model, expression.name)
      return refuseDax('rows of a table are not given, only groups of columns')
    }
    default:
      return refuseDax('a table is expected')
  }
}

async function evaluateCall(call: DaxCall, env: Environment): Promise<DaxTable> {
  const { name, items } = call
  const table = async (place: number) => await env.run.table(required(items[place]), env)
  const all = async () => {
    const tables: DaxTable[] = []
    for (const place of items.keys()) tables.push(await table(place))
    return tables
  }
  switch (name) {
    case 'SUMMARIZECOLUMNS':
      return await summarizeColumns(call, withoutRows(env))
    case 'VALUES':
    case 'DISTINCT':
    case 'ALLSELECTED':
      return await valuesOf(call, env)
    case 'ALL':
    case 'ALLNOBLANKROW':
      return await valuesOf(call, { ...env, filters: [] })
    case 'KEEPFILTERS':
    case 'NONVISUAL':
      return await table(0)
    case 'TREATAS':
      return await treatAs(call, env)
    case 'FILTER':
      return await filterRows(await table(0), required(items[1]), env)
    case 'CALCULATETABLE':
      return await env.run.table(required(items[0]), await withFilters(withoutRows(env), items.slice(1)))
    case 'TOPN':
      return await topRows(items, env)
    case 'TOPNSKIP':
      return await topRowsAfter(items, env)
    case 'SAMPLE':
      return await sampleRows(items, env)
    case 'SAMPLEAXISWITHLOCALMINMAX':
      return await sampleAxis(items, env)
    case 'GENERATE':
    case 'GENERATEALL':
      if (!items.slice(1).every((item) => isFixed(item, env)))
        return refuseDax(`${name} takes variables behind its first table`)
      return await crossTables(await all(), env, name === 'GENERATEALL')
    case 'ROW':
      return await addColumns({ columns: [], rows: [[]] }, items, env)
    case 'ADDCOLUMNS':
      return await addColumns(await table(0), items.slice(1), env)
    case 'SELECTCOLUMNS':
      return await selectColumns(await table(0), items.slice(1), env)
    case 'SUMMARIZE':
    case 'GROUPBY':
      return await groupRows(call, env)
    case 'CROSSJOIN':
      return await crossTables(await all(), env)
    case 'UNION':
      return uniteTables(await all(), env)
    case 'NATURALLEFTOUTERJOIN':
    case 'NATURALINNERJOIN':
      return await joinTables(await table(0), await table(1), name === 'NATURALLEFTOUTERJOIN', env)
    case 'SUBSTITUTEWITHINDEX':
      return await indexTable(items, env)
    default:
      return refuseDax(`the function ${name} is not supported for tables`)
  }
}

/** Whether a table is the same for each row of another: variables, and what is made of them. */
function isFixed(given: DaxExpression | undefined, env: Environment): boolean {
  if (given?.kind === 'name') return !given.isQuoted && variableNamed(env, given.name) !== undefined
  const isMade = given?.kind === 'call' && ['KEEPFILTERS', 'GENERATE', 'GENERATEALL'].includes(given.name)
  return isMade && given.items.every((item) => isFixed(item, env))
}

async function rowsTable(given: readonly (readonly DaxExpression[])[], env: Environment): Promise<DaxTable> {
  const width = given[0]?.length ?? 0
  if (given.some((row) => row.length !== width)) return refuseDax('rows of a table have different widths')
  const rows: (readonly DaxValue[])[] = []
  for (const row of given) {
    const values = await Promise.all(
      row.map(async (each) => (await env.run.scalar(each, withoutRows(env)))[0]),
    )
    rows.push(values)
  }
  const columns = Array.from({ length: width }, (_, place) =>
    namedColumn(width === 1 ? 'Value' : `Value${place + 1}`, typeOfValues(rows.map((row) => row[place]))),
  )
  return { columns, rows }
}

/** VALUES, DISTINCT and ALL: values of columns that are in rows of the filter context; of a table, its rows once each. */
async function valuesOf({ name, items }: DaxCall, env: Environment): Promise<DaxTable> {
  const columns = items.flatMap((given) => modelColumn(given, env) ?? [])
  if (columns.length === items.length && columns.length > 0) return await readColumns(columns, env)
  const [given, ...more] = items
  if (given === undefined || more.length > 0 || name !== 'DISTINCT')
    return refuseDax(`${name} takes columns of the model`)
  const { columns: titles, rows } = await env.run.table(given, env)
  return { columns: titles, rows: await distinctRows(rows, env) }
}

async function distinctRows(rows: DaxTable['rows'], env: Environment): Promise<DaxTable['rows']> {
  const found = new Map<string, DaxTable['rows'][number]>()
  await mapRows(env, rows, (row) => found.set(identityOfRow(row), row))
  return [...found.values()]
}

function modelColumn(given: DaxExpression | undefined, { run }: Environment): TabularColumn | undefined {
  return given?.kind === 'column' ? columnNamed(run.model, given.table, given.name) : undefined
}

async function readColumns(
  columns: readonly TabularColumn[],
  { run, filters }: Environment,
): Promise<DaxTable> {
  const sets = [columns.map((_, place) => place)]
  const groups = await readGroups(run.reader, { columns, sets, aggregates: [], filters })
  run.charge(groups.length * columns.length)
  return { columns: columns.map(plainColumn), rows: groups.map(({ keys }) => keys) }
}

async function treatAs({ items }: DaxCall, env: Environment): Promise<DaxTable> {
  const { columns, rows } = await env.run.table(required(items[0]), env)
  const targets = items
    .slice(1)
    .map((given) => modelColumn(given, env) ?? refuseDax('TREATAS takes columns of the model'))
  if (targets.length !== columns.length) return refuseDax('TREATAS takes a column for each of its table')
  return { columns: targets.map(plainColumn), rows: await distinctRows(rows, env) }
}

async function filterRows(table: DaxTable, condition: DaxExpression, env: Environment): Promise<DaxTable> {
  const holds = await env.run.scalar(condition, overRows(env, table))
  return { columns: table.columns, rows: table.rows.filter((_, row) => truthOf(holds[row])) }
}

interface NamedValues {
  readonly column: DaxColumn
  readonly values: readonly DaxValue[]
}

/** The values of pairs of a name and an expression. */
async function namedValues(
  table: DaxTable,
  given: readonly (DaxExpression | undefined)[],
  env: Environment,
): Promise<readonly NamedValues[]> {
  const within = overRows(env, table)
  const found: NamedValues[] = []
  for (let place = 0; place < given.length; place += 2) {
    const [title, expression] = [required(given[place]), required(given[place + 1])]
    if (title.kind !== 'text') return refuseDax('names of columns are texts')
    const values = await env.run.scalar(expression, within)
    const source =
      expression.kind === 'column' ? table.columns[placeOf(table.columns, expression)] : undefined
    const type = typeOfExpression(expression, within)
    found.push({ column: namedColumn(title.value, type, source?.column), values })
  }
  return found
}

async function addColumns(
  table: DaxTable,
  given: readonly (DaxExpression | undefined)[],
  env: Environment,
): Promise<DaxTable> {
  const added = await namedValues(table, given, env)
  env.run.charge(table.rows.length * (table.columns.length + added.length))
  return {
    columns: [...table.columns, ...added.map(({ column }) => column)],
    rows: await mapRows(env, table.rows, (row, place) => [
      ...row,
      ...added.map(({ values }) => values[place]),
    ]),
  }
}

async function selectColumns(
  table: DaxTable,
  given: readonly (DaxExpression | undefined)[],
  env: Environment,
): Promise<DaxTable> {
  const found = await namedValues(table, given, env)
  return {
    columns: found.map(({ column }) => column),
    rows: await mapRows(env, table.rows, (_, place) => found.map(({ values }) => values[place])),
  }
}

/** The name of a table of the model, also as VALUES('name'); undefined for another table. */
function tableOfModel(given: DaxExpression | undefined, env: Environment): string | undefined {
  if (given?.kind === 'name')
    return given.isQuoted || variableNamed(env, given.name) === undefined ? given.name : undefined
  const isList = given?.kind === 'call' && ['VALUES', 'KEEPFILTERS', 'DISTINCT'].includes(given.name)
  return isList && given.items.length === 1 ? tableOfModel(given.items[0], env) : undefined
}

/** SUMMARIZE and GROUPBY: of a table of the model its groups, of another table its rows by some columns. */
async function groupRows({ name, items }: DaxCall, env: Environment): Promise<DaxTable> {
  const [given, ...rest] = items
  const end = rest.findIndex((each) => each?.kind === 'text')
  const by = end < 0 ? rest : rest.slice(0, end)
  const extensions = end < 0 ? [] : rest.slice(end)
  const named = tableOfModel(given, env)
  if (named !== undefined) {
    tableNamed(env.run.model, named)
    const columns = by.map(
      (each) => modelColumn(each, env) ?? refuseDax(`${name} takes columns of the model`),
    )
    return await addColumns(await readColumns(columns, env), extensions, env)
  }
  const table = await env.run.table(required(given), env)
  const places = by.map((each) => {
    const place = each?.kind === 'column' ? placeOf(table.columns, each) : -1
    return place < 0 ? refuseDax(`${name} takes columns of its table`) : place
  })
  env.run.charge(table.rows.length * places.length)
  const groups = await groupRowsBy(env, table.rows, (row) => identityOfRow(places.map((place) => row[place])))
  const grouped: DaxTable = {
    columns: places.flatMap((place) => table.columns[place] ?? []),
    rows: [...groups.values()].map(([row]) => places.map((place) => row?.[place])),
  }
  assertRows(env, grouped.rows.length)
  if (name === 'SUMMARIZE') return await addColumns(grouped, extensions, env)
  const added: NamedValues[] = []
  for (let place = 0; place < extensions.length; place += 2)
    added.push(await reduceGroups([...groups.values()], table, extensions.slice(place, place + 2), env))
  return {
    columns: [...grouped.columns, ...added.map(({ column }) => column)],
    rows: grouped.rows.map((row, index) => [...row, ...added.map(({ values }) => values[index])]),
  }
}

/** `"name", SUMX(CURRENTGROUP(), expression)`, by group. */
async function reduceGroups(
  groups: readonly DaxTable['rows'][],
  { columns }: DaxTable,
  [title, given]: readonly (DaxExpression | undefined)[],
  env: Environment,
): Promise<NamedValues> {
  const [current, expression] = given?.kind === 'call' ? given.items : []
  const isCurrent = current?.kind === 'call' && isSame(current.name, 'CURRENTGROUP')
  if (title?.kind !== 'text' || given?.kind !== 'call' || !isCurrent || expression === undefined)
    return refuseDax('GROUPBY takes functions over CURRENTGROUP')
  const values: DaxValue[] = []
  for (const rows of groups)
    values.push(reduceValues(given.name, await env.run.scalar(expression, overRows(env, { columns, rows }))))
  return { column: namedColumn(title.value, typeOfValues(values)), values }
}
