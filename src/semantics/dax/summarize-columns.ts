/**
 * SUMMARIZECOLUMNS: groups of columns with subtotals, under filters, with expressions for each. The groups and all that is
 * measured of them as they are come from one statement with grouping sets.
 */

import type { DaxCall, DaxExpression } from '../../wire/dax/ast.ts'
import { refuseDax } from '../../wire/dax/tokens.ts'
import { aggregatesWithin, cacheGroups } from './aggregates.ts'
import { exceeds } from './bounds.ts'
import {
  assertRows,
  type DaxColumn,
  type DaxTable,
  type Environment,
  mapRows,
  namedColumn,
  plainColumn,
  required,
  unitFrame,
} from './environment.ts'
import { tableFilter } from './filter-context.ts'
import type { Filter } from './filters.ts'
import { readGroups } from './read-groups.ts'
import { columnNamed, type TabularColumn } from './tabular.ts'
import { typeOfExpression } from './types.ts'
import { type DaxValue, identityOfRow } from './values.ts'

/** Columns that are rolled up together, and what says so; undefined for columns that never are. */
interface Unit {
  readonly columns: readonly TabularColumn[]
  readonly title: string | undefined
  /** Filters of the groups in which these columns are not rolled up; they do not change what is measured. */
  readonly hiding?: readonly Hiding[]
}

/** What decides which groups show. */
interface Hiding {
  readonly columns: readonly TabularColumn[]
  /** What tells the rows apart that show. */
  readonly shown: ReadonlySet<string>
}

interface Extension {
  readonly title: string
  readonly expression: DaxExpression
  /** Whether it does not decide which rows there are. */
  readonly isIgnored: boolean
}

interface Request {
  /** Each is rolled up from its last unit to its first. */
  readonly rollups: readonly (readonly Unit[])[]
  readonly filters: readonly Filter[]
  /** Decide which groups show, and not what is measured. */
  readonly hiding: readonly Hiding[]
  readonly extensions: readonly Extension[]
}

/** @throws Fault `bad_request` for an argument that is not supported */
export async function summarizeColumns(call: DaxCall, env: Environment): Promise<DaxTable> {
  const { rollups, filters, hiding, extensions } = await readRequest(call, env)
  const units = rollups.flat()
  const columns = units.flatMap((unit) => unit.columns)
  const within: Environment = {
    ...env,
    filters: [...env.filters, ...filters],
    frame: {
      ...unitFrame(),
      ...{
        columns: columns.map(plainColumn),
        groups: columns.map((_, place) => place),
        rows: [],
        rolled: [],
      },
    },
  }
  const aggregates = [
    ...new Map(
      extensions
        .flatMap(({ expression }) => aggregatesWithin(expression, within))
        .map((each) => [each.sql, each]),
    ).values(),
  ]
  const placeIn = new Map(columns.map((column, place) => [column, place]))
  const sets = setsOf(rollups).map((set) =>
    set.flatMap((unit) => unit.columns.map((column) => placeIn.get(column) ?? 0)),
  )
  const found = await readGroups(env.run.reader, { columns, sets, aggregates, filters: within.filters })
  env.run.charge(found.length * columns.length)
  const activeIn = sets.map((shown) =>
    units.filter((unit) => unit.columns.every((column) => shown.includes(placeIn.get(column) ?? -1))),
  )
  const hidingIn = activeIn.map((active) => [...hiding, ...active.flatMap((unit) => unit.hiding ?? [])])
  const shownGroups = await mapRows(env, found, ({ set, keys }) =>
    isShown({ columns, set: sets[set] ?? [], keys }, hidingIn[set] ?? hiding),
  )
  const groups = found.filter((_, place) => shownGroups[place])
  const rolledOf = (set: number) =>
    columns.reduce((bits, _, place) => bits | (sets[set]?.includes(place) ? 0 : 1 << place), 0)
  const framed: Environment = {
    ...within,
    frame: {
      ...within.frame,
      rows: groups.map(({ keys }) => keys),
      rolled: groups.map(({ set }) => rolledOf(set)),
    },
  }
  cacheGroups(framed, aggregates, groups, rolledOf)
  const values: (readonly DaxValue[])[] = []
  for (const { expression } of extensions) values.push(await env.run.scalar(expression, framed))
  const deciding = extensions.flatMap(({ isIgnored }, place) => (isIgnored ? [] : [place]))
  const rows = groups.flatMap(({ keys }, row) => {
    // A group of which nothing is to be said is left out.
    if (deciding.length > 0 && deciding.every((place) => values[place]?.[row] === undefined)) return []
    const rolled = framed.frame.rolled?.[row] ?? 0
    const named = units.flatMap((unit) => {
      const own = unit.columns.map((column) => keys[placeIn.get(column) ?? 0])
      const [first] = unit.columns
      const isRolled = first !== undefined && (rolled & (1 << (placeIn.get(first) ?? 0))) !== 0
      return unit.title === undefined ? own : [...own, isRolled]
    })
    return [[...named, ...values.map((each) => each[row])]]
  })
  assertRows(env, rows.length)
  const titles = units.flatMap((unit): readonly DaxColumn[] => [
    ...unit.columns.map(plainColumn),
    ...(unit.title === undefined ? [] : [namedColumn(unit.title, 'boolean')]),
  ])
  const named = extensions.map(({ title, expression }) =>
    namedColumn(title, typeOfExpression(expression, framed)),
  )
  return { columns: [...titles, ...named], rows }
}

/** Grouping sets of one statement: each rollup multiplies them. */
const setsMax = 1_000

/** The units of each grouping set: those of a rollup without its last ones, crossed with those of the others. */
function setsOf(rollups: readonly (readonly Unit[])[]): readonly (readonly Unit[])[] {
  const count = rollups.reduce(
    (product, units) => product * (units.some(({ title }) => title !== undefined) ? units.length + 1 : 1),
    1,
  )
  if (count > setsMax) exceeds(`a query has at most ${setsMax} combinations of subtotals`)
  return rollups.reduce<readonly (readonly Unit[])[]>(
    (sets, units) => {
      const isRolled = units.some(({ title }) => title !== undefined)
      const parts = isRolled ? units.map((_, count) => units.slice(0, count + 1)).toReversed() : [units]
      const all = isRolled ? [...parts, []] : parts
      return sets.flatMap((set) => all.map((part) => [...set, ...part]))
    },
    [[]],
  )
}

function isShown(
  {
    columns,
    set,
    keys,
  }: { columns: readonly TabularColumn[]; set: readonly number[]; keys: readonly DaxValue[] },
  hiding: readonly Hiding[],
): boolean {
  return hiding.every((filter) => {
    const places = filter.columns.map((column) => columns.indexOf(column))
    if (!places.every((place) => set.includes(place))) return true
    return filter.shown.has(identityOfRow(places.map((place) => keys[place])))
  })
}

async function readRequest({ items }: DaxCall, env: Environment): Promise<Request> {
  const rollups: (readonly Unit[])[] = []
  const filters: Filter[] = []
  const hiding: Hiding[] = []
  const extensions: Extension[] = []
  let place = 0
  for (; place < items.length; place++) {
    const item = required(items[place])
    if (item.kind === 'text') break
    const column = columnOf(item, env)
    if (column !== undefined) rollups.push([{ columns: [column], title: undefined }])
    else if (item.kind === 'call' && item.name === 'ROLLUPADDISSUBTOTAL')
      rollups.push(await unitsOf(item, env))
    else if (item.kind === 'call' && (item.name === 'ROLLUPGROUP' || item.name === 'ROLLUP'))
      rollups.push([{ columns: columnsOf(item, env), title: undefined }])
    else if (item.kind === 'call' && item.name === 'NONVISUAL')
      hiding.push(await hidingFilter(required(item.items[0]), env))
    else filters.push(await tableFilter(item, env))
  }
  for (; place < items.length; place += 2) {
    const [title, given] = [required(items[place]), required(items[place + 1])]
    if (title.kind !== 'text') return refuseDax('SUMMARIZECOLUMNS takes names and expressions last')
    const isIgnored = given.kind === 'call' && given.name === 'IGNORE'
    const expression = isIgnored ? required(given.items[0]) : given
    extensions.push({ title: title.value, expression, isIgnored })
  }
  const columns = rollups.flat().flatMap((unit) => unit.columns)
  if (new Set(columns).size < columns.length) return refuseDax('a column groups twice')
  return { rollups, filters, hiding, extensions }
}

function columnOf(given: DaxExpression, { run }: Environment): TabularColumn | undefined {
  if (given.kind !== 'column') return undefined
  return columnNamed(run.model, given.table, given.name) ?? refuseDax('a column is not in this model')
}

function columnsOf({ items }: DaxCall, env: Environment): readonly TabularColumn[] {
  if (items.length === 0) return refuseDax('ROLLUPGROUP takes columns of the model')
  return items.map(
    (each) => columnOf(required(each), env) ?? refuseDax('ROLLUPGROUP takes columns of the model'),
  )
}

async function unitsOf({ items }: DaxCall, env: Environment): Promise<readonly Unit[]> {
  const units: Unit[] = []
  for (let place = 0; place < items.length; ) {
    const [given, title] = [required(items[place]), required(items[place + 1])]
    const column = columnOf(given, env)
    const isGroup = given.kind === 'call' && given.name === 'ROLLUPGROUP'
    if ((column === undefined && !isGroup) || title.kind !== 'text')
      return refuseDax('ROLLUPADDISSUBTOTAL takes columns, names, and filters in NONVISUAL')
    const columns = isGroup ? columnsOf(given, env) : column === undefined ? [] : [column]
    place += 2
    const hiding: Hiding[] = []
    for (;;) {
      const next = items[place]
      if (next?.kind !== 'call' || next.name !== 'NONVISUAL') break
      hiding.push(await hidingFilter(required(next.items[0]), env))
      place++
    }
    units.push({ columns, title: title.value, hiding })
  }
  return units
}

async function hidingFilter(given: DaxExpression, env: Environment): Promise<Hiding> {
  const { columns, rows } = await env.run.table(given, env)
  const places = columns.flatMap(({ column }, place) => (column === undefined ? [] : [place]))
  const shown = await mapRows(env, rows, (row) => identityOfRow(places.map((place) => row[place])))
  return { columns: columns.flatMap(({ column }) => column ?? []), shown: new Set(shown) }
}
