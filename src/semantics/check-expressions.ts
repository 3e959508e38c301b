/**
 * Checks the expressions of dimensions and metrics when they are saved, and binds the columns that they name to field
 * ids. What passes here compiles whenever it is asked for, as long as its columns are there.
 */

import type { Node } from 'libpg-query'
import { Fault } from '../base/fault.ts'
import type { Governance } from '../core/governance.ts'
import type { BoundExpression } from '../core/metric.ts'
import { currentSchema, seenTable } from '../core/seen-table.ts'
import type { MetricRelation, SemanticModel } from '../core/semantic-model.ts'
import { tableKey } from '../core/table-ref.ts'
import { SqlError, toSqlError } from '../query/compile/base/sql-error.ts'
import { type CompiledQuery, compileQuery } from '../query/compile/compile.ts'
import { windowFunctions } from '../query/compile/functions/aggregates.ts'
import { functions } from '../query/compile/functions/registry.ts'
import { type Expansion, expandMetrics } from '../query/compile/metrics/expand.ts'
import { isAggregate, parseMetricExpression } from '../query/compile/metrics/metric-expression.ts'
import { columnPath, functionName } from '../query/compile/metrics/nodes.ts'
import { compileMetricRequest } from '../query/compile/metrics/request.ts'
import { parseSelect } from '../query/compile/parse/parse.ts'
import { chooseFunction } from '../query/compile/resolve/function-choice.ts'

/** Where the columns of an expression may stand. */
type Level = 'row' | 'aggregate' | 'metric'

/**
 * An expression over columns of a table, bound to their field ids.
 * @param joined the relation whose dimensions of other tables it may name as well
 * @param level `row`: without aggregates; `aggregate`: every column inside one
 * @throws Fault `unprocessable` for text that is not such an expression
 */
export function bindExpression(
  text: string,
  { columns }: Governance,
  level: 'row' | 'aggregate',
  what: string,
  joined?: MetricRelation,
): BoundExpression {
  const named = namesIn(text, level, what)
  const isColumn = (name: string) => columns.some((each) => each.current && each.name === name)
  const isJoined = (name: string) => (joined?.dimensions.get(name)?.route.path ?? '') !== ''
  const dimensions = named.filter((name) => !isColumn(name) && isJoined(name))
  const found = named
    .filter((name) => !dimensions.includes(name))
    .map((name) => {
      const column = columns.find((each) => each.current && each.name === name)
      if (column === undefined) throw new Fault('unprocessable', noColumn(name, what, joined))
      return [name, column] as const
    })
  return {
    text,
    names: Object.fromEntries(found.map(([name, { fieldId }]) => [name, fieldId])),
    types: Object.fromEntries(
      found.map(([, { fieldId, type }]) => [String(fieldId), typeof type === 'string' ? type : type.type]),
    ),
    ...(dimensions.length > 0 && { dimensions }),
  }
}

function noColumn(name: string, what: string, joined: MetricRelation | undefined): string {
  const hint =
    joined !== undefined && name.includes('__')
      ? ', and no relationship leads to a dimension of that name'
      : ''
  return `${what}: the table has no column \`${name}\`${hint}.`
}

/** The metrics that an expression over metrics names. @throws Fault `unprocessable` as {@link bindExpression} */
export function metricsIn(text: string, what: string): readonly string[] {
  return namesIn(text, 'metric', what)
}

function namesIn(text: string, level: Level, what: string): readonly string[] {
  const names = new Set<string>()
  let hasAggregate = false
  let absent: string | undefined
  const visit = (tree: unknown, inAggregate: boolean): void => {
    if (typeof tree !== 'object' || tree === null) return
    if (Array.isArray(tree)) {
      for (const each of tree) visit(each, inAggregate)
      return
    }
    if ('SubLink' in tree || 'ParamRef' in tree)
      throw new Fault('unprocessable', `${what}: subqueries and parameters are not supported.`)
    const path = columnPath(tree as Node)
    if (path !== undefined) {
      if (path.length > 1) throw new Fault('unprocessable', `${what}: name columns without their table.`)
      if (level === 'aggregate' && !inAggregate) {
        assertThere(absent, what)
        throw new Fault('unprocessable', `${what}: \`${path[0]}\` must be inside an aggregate.`)
      }
      names.add(path[0] ?? '')
      return
    }
    const called = functionName(tree as Node)
    const aggregating = called !== undefined && isAggregate(called)
    if (called !== undefined && (windowFunctions.has(called) || ('FuncCall' in tree && hasOver(tree))))
      throw new Fault('unprocessable', `${what}: window functions are not supported.`)
    if (aggregating && level !== 'aggregate')
      throw new Fault('unprocessable', `${what}: aggregates are not supported here.`)
    hasAggregate ||= aggregating
    if (called !== undefined && !isFunction(called)) absent ??= called
    for (const value of Object.values(tree)) visit(value, inAggregate || aggregating)
  }
  visit(parsed(text, what), false)
  if (level === 'aggregate' && !hasAggregate) assertThere(absent, what)
  if (level === 'aggregate' && !hasAggregate)
    throw new Fault('unprocessable', `${what}: an aggregate is needed, such as sum(amount).`)
  if (level === 'metric' && names.size === 0)
    throw new Fault('unprocessable', `${what}: name at least one metric.`)
  return [...names]
}

/** Whether there is a function of a name, served or not. */
function isFunction(name: string): boolean {
  return isAggregate(name) || functions.has(name) || chooseFunction(name, []) !== undefined
}

/** @param absent a function that the expression calls and that there is not */
function assertThere(absent: string | undefined, what: string): void {
  if (absent !== undefined)
    throw new Fault('unprocessable', `${what}: there is no such function: \`${absent}\`.`, {
      members: { sqlstate: '42883' },
    })
}

function hasOver(tree: object): boolean {
  const call: unknown = Reflect.get(tree, 'FuncCall')
  return typeof call === 'object' && call !== null && 'over' in call
}

function parsed(text: string, what: string): Node {
  try {
    return parseMetricExpression(text)
  } catch (thrown) {
    throw new Fault('unprocessable', `${what}: ${toSqlError(thrown).publicMessage}`, { cause: thrown })
  }
}

/**
 * Compiles a relation with some of its dimensions and metrics, for nobody in particular and without masks.
 * @throws Fault `unprocessable` where that does not compile
 */
export function compileRelation(
  model: SemanticModel,
  governances: ReadonlyMap<string, Governance>,
  { table: { table } }: MetricRelation,
  asked: {
    readonly dimensions: readonly string[]
    readonly metrics: readonly string[]
    /** As expandMetrics takes it: to check what is saved. Default: as statements of SQL. */
    readonly converts?: true
  },
): CompiledQuery {
  const { dimensions, metrics, converts } = asked
  const quoted = (name: string) => `"${name}"`
  const targets = [...dimensions.map(quoted), ...metrics.map((name) => `MEASURE(${quoted(name)})`)]
  const group =
    metrics.length > 0 && dimensions.length > 0 ? ` GROUP BY ${dimensions.map(quoted).join(', ')}` : ''
  const text = `SELECT ${targets.join(', ')} FROM "${table.namespace.join('.')}"."${table.name}__metrics"${group}`
  return compiled(
    text,
    () => expandMetrics(parseSelect(text), { model, searchPath: [], converts }),
    governances,
  )
}

/**
 * Compiles a request for metrics without dimensions, as {@link compileRelation} does a relation.
 * @throws Fault `unprocessable` where that does not compile
 */
export function compileRequest(
  model: SemanticModel,
  governances: ReadonlyMap<string, Governance>,
  metrics: readonly string[],
): void {
  const expansion = () => {
    const { tree } = compileMetricRequest(model, {
      metrics,
      dimensions: [],
      where: [],
      orderBy: [],
      limit: 1,
    })
    return expandMetrics(tree, { model, searchPath: [], generated: true })
  }
  compiled('', expansion, governances)
}

function compiled(
  text: string,
  expand: () => Expansion,
  governances: ReadonlyMap<string, Governance>,
): CompiledQuery {
  const tables = [...governances.values()].map((governance) => {
    const governed = seenTable(governance, currentSchema(governance), 'anyone')
    const columns = governed.columns.map((column) => ({ ...column, masks: [] }))
    return { ...governed, columns, rowFilters: [], readableWithoutContract: true }
  })
  try {
    const query = compileQuery({
      text,
      principal: { sub: 'nobody', roles: [] },
      tables,
      searchPath: [],
      expansion: expand(),
    })
    query.emit('duckdb')
    return query
  } catch (thrown) {
    const failure = thrown instanceof SqlError ? thrown : toSqlError(thrown)
    throw new Fault('unprocessable', failure.publicMessage, {
      cause: thrown,
      members: { sqlstate: failure.sqlState },
    })
  }
}

/** The table of a reference as governed. @throws Fault `not_found` where no commit has made it known */
export function requireGovernance(
  governances: ReadonlyMap<string, Governance>,
  table: Parameters<typeof tableKey>[0],
): Governance {
  const found = governances.get(tableKey(table))
  if (found === undefined || found.columns.length === 0)
    throw new Fault(
      'not_found',
      `There is no table ${[...table.namespace, table.name].join('.')}. A table is known here after the first commit through the gateway.`,
    )
  return found
}
