/**
 * Runs a DAX query for one reader: parse, resolve against the tabular face of a cube that they may see, read groups by the
 * read path, and give a table for each EVALUATE. A failure is a Fault that names what is not supported.
 */

import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import { turnTaker } from '../../base/in-turns.ts'
import { leavesOf } from '../../core/semantic-model.ts'
import type { QueryContext, QueryService, SessionCheck } from '../../query/query-service.ts'
import { loadSemanticModel } from '../../store/semantics/load-model.ts'
import type { Store } from '../../store/store.ts'
import type { DaxEvaluation, DaxQuery } from '../../wire/dax/ast.ts'
import { parseDaxTokens } from '../../wire/dax/parse.ts'
import { refuseDax, tokenizeDaxInTurns } from '../../wire/dax/tokens.ts'
import { buildCubes } from '../cube/build-cubes.ts'
import type { Cube } from '../cube/model.ts'
import { type DaxBounds, daxRunBounds, exceeds } from './bounds.ts'
import { cubeOf } from './choose-cube.ts'
import {
  assertColumns,
  type DaxColumn,
  type DaxTable,
  type Environment,
  overRows,
  type Run,
  unitFrame,
  withVariables,
} from './environment.ts'
import { type OrderKey, rowsInOrder } from './order.ts'
import type { DaxStatement, GroupReader } from './read-groups.ts'
import { evaluateScalar } from './scalar.ts'
import { evaluateTable } from './tables.ts'
import { tableNamed, tabularOf } from './tabular.ts'
import { typeOfValues } from './types.ts'
import type { DaxType, DaxValue } from './values.ts'

interface DaxParts {
  readonly store: Store
  readonly clock: Clock
  readonly queries: QueryService
}

interface DaxRequest {
  readonly query: string
  /** Name of the cube; undefined for the only one in which the query's names are found. */
  readonly cube?: string | undefined
  readonly parameters?: ReadonlyMap<string, string>
  /** Those of the reader in this catalog; read where absent. */
  readonly cubes?: readonly Cube[] | undefined
}

interface DaxRunOptions {
  readonly signal: AbortSignal
  readonly bounds?: Partial<DaxBounds>
  readonly sessionCheck?: SessionCheck
}

export interface DaxResult {
  readonly columns: readonly { readonly title: string; readonly type: Exclude<DaxType, 'variant'> }[]
  readonly rows: readonly (readonly DaxValue[])[]
}

interface DaxResults {
  /** One for each EVALUATE. */
  readonly results: readonly DaxResult[]
  readonly reads: readonly (DaxStatement & { readonly queryId: string })[]
}

/**
 * Runs a query.
 * @param on of the reader: the catalog is where the cubes are
 * @throws Fault `bad_request` for what is not supported, is unknown or may not be seen; SqlError of the read path
 */
export async function runDax(
  parts: DaxParts,
  on: QueryContext,
  request: DaxRequest,
  options: DaxRunOptions,
): Promise<DaxResults> {
  const timeMs = options.bounds?.timeMs ?? daxRunBounds.timeMs
  const controller = new AbortController()
  const abort = () => controller.abort(options.signal.reason)
  options.signal.addEventListener('abort', abort, { once: true })
  const late = setTimeout(() => {
    controller.abort(new Fault('unprocessable', 'DAX: the query takes too long. Ask for less.'))
  }, timeMs)
  try {
    options.signal.throwIfAborted()
    return await run(parts, on, request, { ...options, signal: controller.signal })
  } catch (thrown) {
    // Only what nests too deep for the stack.
    if (thrown instanceof RangeError)
      throw new Fault('bad_request', 'DAX: the query is too complex.', { cause: thrown })
    throw thrown
  } finally {
    clearTimeout(late)
    options.signal.removeEventListener('abort', abort)
  }
}

async function run(
  { store, clock, queries }: DaxParts,
  on: QueryContext,
  request: DaxRequest,
  { signal, bounds: given, sessionCheck }: DaxRunOptions,
): Promise<DaxResults> {
  const query = parseDaxTokens(await tokenizeDaxInTurns(request.query, signal))
  const bounds: DaxBounds = { ...daxRunBounds, ...given }
  const { tenant, principal, catalog } = on
  const cubes = request.cubes ?? (await buildCubes({ store, clock, tenant, principal, catalog, signal }))
  const cube = cubeOf(cubes, request.cube, query)
  const model = tabularOf(cube)
  const { model: semantic } = await loadSemanticModel(store, tenant, clock.now(), signal)
  const reads: DaxResults['reads'][number][] = []
  const reader: GroupReader = {
    ...{ queries, on, cube, signal, sessionCheck, rowsMax: bounds.rowsMax },
    deadlineMs: performance.now() + bounds.timeMs,
    note: (read) => reads.push(read),
  }
  let steps = 0
  const made: Run = {
    ...{ model, reader, measures: measuresOf(query, (name) => tableNamed(model, name)) },
    ...{ parameters: request.parameters ?? new Map(), nowMs: clock.now(), within: [] },
    isGrouped: (name) =>
      leavesOf(semantic, name)?.every(
        ({ definition: { computation } }) =>
          computation.kind !== 'simple' || computation.semiAdditive === undefined,
      ) ?? false,
    turn: turnTaker(signal),
    table: async (expression, env) => {
      const table = await evaluateTable(expression, env)
      assertColumns(table.columns.length)
      return table
    },
    scalar: evaluateScalar,
    charge: (count) => {
      signal.throwIfAborted()
      steps += count
      if (steps > bounds.stepsMax) exceeds(`a query computes at most ${bounds.stepsMax} values`)
    },
  }
  const start: Environment = { run: made, scope: { names: new Map() }, filters: [], frame: unitFrame() }
  const env = withVariables(start, query.variables)
  const results: DaxResult[] = []
  for (const evaluation of query.evaluations) results.push(await evaluate(evaluation, env))
  return { results, reads }
}

function measuresOf({ measures }: DaxQuery, assertTable: (name: string) => void): Run['measures'] {
  const byName = new Map(measures.map(({ name, value }) => [name.toLowerCase(), value]))
  for (const { table } of measures) assertTable(table)
  if (byName.size < measures.length) return refuseDax('a measure is defined twice')
  return byName
}

async function evaluate({ table, order, startAt }: DaxEvaluation, env: Environment): Promise<DaxResult> {
  const found = await env.run.table(table, env)
  const keys: OrderKey[] = []
  for (const { by, descending } of order)
    keys.push({ values: await env.run.scalar(by, overRows(env, found)), descending })
  const starts = await Promise.all(startAt.map(async (each) => (await env.run.scalar(each, env))[0]))
  return await resultOf(order.length > 0 ? await rowsInOrder(found, keys, starts, env) : found, env)
}

async function resultOf({ columns, rows }: DaxTable, env: Environment): Promise<DaxResult> {
  const titled: DaxResult['columns'][number][] = []
  for (const [place, column] of columns.entries()) {
    if (column.type === 'variant') env.run.charge(rows.length)
    await env.run.turn()
    const type = column.type === 'variant' ? plainType(rows, place) : column.type
    titled.push({ title: titleOf(column), type })
  }
  return { columns: titled, rows }
}

function plainType(rows: DaxTable['rows'], place: number): Exclude<DaxType, 'variant'> {
  const type = typeOfValues(rows.map((row) => row[place]))
  return type === 'variant' ? 'text' : type
}

/** `table[column]`, or `[name]`, as clients of Analysis Services find columns. */
const titleOf = ({ table, name }: DaxColumn): string => `${table ?? ''}[${name}]`
