/**
 * In what an expression of DAX is evaluated: variables, the filter context, and a frame of rows. A scalar is evaluated for
 * all rows of its frame at once, so that a measure is one statement for all groups.
 */

import type { DaxExpression, DaxVariable } from '../../wire/dax/ast.ts'
import { refuseDax } from '../../wire/dax/tokens.ts'
import { exceeds } from './bounds.ts'
import type { Filter } from './filters.ts'
import type { GroupReader } from './read-groups.ts'
import { isSame, type TabularColumn, type TabularModel } from './tabular.ts'
import type { DaxType, DaxValue } from './values.ts'

/** A column of a table that is computed. */
export interface DaxColumn {
  /** Undefined for a column that the query names. */
  readonly table: string | undefined
  readonly name: string
  /** Where its values come from; by this it filters and joins. */
  readonly column: TabularColumn | undefined
  readonly type: DaxType
}

export interface DaxTable {
  readonly columns: readonly DaxColumn[]
  readonly rows: readonly (readonly DaxValue[])[]
}

/** The rows for which a scalar is evaluated. */
export interface Frame {
  readonly columns: readonly DaxColumn[]
  readonly rows: readonly (readonly DaxValue[])[]
  /** Places of columns whose values are the filter context of the row, beside that of all rows. */
  readonly groups: readonly number[]
  /** By row: places of `groups` that are rolled up there, as bits. */
  readonly rolled?: readonly number[] | undefined
  /** Values that were read, by what was asked. */
  readonly cache: Map<string, ReadonlyMap<string, DaxValue>>
}

/** A variable, evaluated when it is first used, and then once. */
interface Variable {
  readonly expression: DaxExpression
  readonly env: Environment
  table?: Promise<DaxTable> | undefined
  values?: Promise<readonly DaxValue[]> | undefined
  type?: DaxType | undefined
}

export interface Scope {
  readonly names: ReadonlyMap<string, Variable>
}

export interface Run {
  readonly model: TabularModel
  readonly reader: GroupReader
  /** Measures that the query defines, by name in lower case. */
  readonly measures: ReadonlyMap<string, DaxExpression>
  readonly parameters: ReadonlyMap<string, string>
  /** Whether a metric can be computed for several sets of columns at once. */
  readonly isGrouped: (measure: string) => boolean
  readonly nowMs: number
  /** Both are here, because tables hold scalars and scalars hold tables. */
  readonly table: (expression: DaxExpression, env: Environment) => Promise<DaxTable>
  readonly scalar: (expression: DaxExpression, env: Environment) => Promise<readonly DaxValue[]>
  /** Counts values that are computed. @throws Fault `unprocessable` beyond the bound */
  readonly charge: (steps: number) => void
  /** Asked before each piece of work: resolves in a later turn of the event loop, or is undefined where work may go on. */
  readonly turn: () => Promise<void> | undefined
  /** Measures of the query within which this is, innermost last. */
  readonly within: readonly string[]
}

export interface Environment {
  readonly run: Run
  readonly scope: Scope
  readonly filters: readonly Filter[]
  readonly frame: Frame
}

/** One row without columns. */
export const unitFrame = (): Frame => ({ columns: [], rows: [[]], groups: [], cache: new Map() })

/** The environment of a table expression: no row of its own, and the filter context as it is. */
export const withoutRows = (env: Environment): Environment => ({ ...env, frame: unitFrame() })

/** The environment of a table's rows. Their values filter only after a transition. */
export function overRows(env: Environment, { columns, rows }: DaxTable): Environment {
  return { ...env, frame: { columns, rows, groups: [], cache: new Map() } }
}

/** Makes the values of each row its filter context, as a measure does. */
export function inContext(env: Environment): Environment {
  const { frame } = env
  if (frame.groups.length > 0 || frame.rolled !== undefined) return env
  const groups = frame.columns.flatMap(({ column }, place) => (column === undefined ? [] : [place]))
  return groups.length === 0 ? env : { ...env, frame: { ...frame, groups, cache: new Map() } }
}

/** Adds variables, of which each sees those before it. */
export function withVariables(env: Environment, variables: readonly DaxVariable[]): Environment {
  let within = env
  for (const { name, value } of variables) {
    const names = new Map(within.scope.names)
    names.set(name.toLowerCase(), { expression: value, env: within })
    within = { ...within, scope: { names } }
  }
  return within
}

/** The variable of a name; undefined for none. */
export function variableNamed({ scope }: Environment, name: string): Variable | undefined {
  return scope.names.get(name.toLowerCase())
}

/** The table of a variable. */
export function tableOfVariable(variable: Variable): Promise<DaxTable> {
  const { expression, env } = variable
  variable.table ??= env.run.table(expression, withoutRows(env))
  return variable.table
}

/** The place of a column that a table has under this name; -1 for none. */
export function placeOf(
  columns: readonly DaxColumn[],
  { table, name }: { readonly table: string | undefined; readonly name: string },
): number {
  return columns.findIndex(
    (each) =>
      isSame(each.name, name) &&
      (table === undefined
        ? each.table === undefined
        : each.table !== undefined && isSame(each.table, table)),
  )
}

/** A column under its own name. */
export function plainColumn(column: TabularColumn): DaxColumn {
  return { table: column.table, name: column.name, column, type: column.type }
}

/** A column that a query names, such as "x" or "'T'[x]". */
export function namedColumn(title: string, type: DaxType, column?: TabularColumn): DaxColumn {
  const [, quoted, plain, name] = /^(?:'((?:[^']|'')+)'|([^'[\]]+))\[([^\]]+)\]$/.exec(title) ?? []
  const table = quoted?.replaceAll("''", "'") ?? plain
  return { table, name: name ?? title, column, type }
}

/** The result for each item. Other work of this thread runs in between. */
export async function mapRows<T, R>(
  { run }: Environment,
  items: readonly T[],
  work: (item: T, place: number) => R,
): Promise<readonly R[]> {
  const results: R[] = []
  for (const [place, item] of items.entries()) {
    const next = run.turn()
    if (next !== undefined) await next
    results.push(work(item, place))
  }
  return results
}

/** Items by key, in the order in which their keys are first seen. */
export async function groupRowsBy<T>(
  env: Environment,
  items: readonly T[],
  keyOf: (item: T) => string,
): Promise<ReadonlyMap<string, readonly T[]>> {
  const groups = new Map<string, T[]>()
  await mapRows(env, items, (item) => {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  })
  return groups
}

/** An argument that must be there. @throws Fault `bad_request` */
export const required = (given: DaxExpression | undefined): DaxExpression =>
  given ?? refuseDax('an argument is missing')

/** Columns of a table, as of the result of a statement. */
const tableColumnsMax = 1_664

/** A bound on columns. @throws Fault `unprocessable` */
export function assertColumns(count: number): void {
  if (count > tableColumnsMax) exceeds(`a table has at most ${tableColumnsMax} columns`)
}

/** A bound on rows. @throws Fault `unprocessable` */
export function assertRows({ run }: Environment, count: number): void {
  const { rowsMax } = run.reader
  if (count > rowsMax) exceeds(`a table has at most ${rowsMax} rows`)
}
