/** Saves what the rows of a table can be grouped by, and which tables they lead to by declared keys. */

import { Fault } from '../base/fault.ts'
import type { Governance } from '../core/governance.ts'
import {
  type Dimension,
  joinedDimensions,
  type Kpi,
  metricTime,
  type NamedSet,
  type Relationship,
  relationName,
  type TableModel,
} from '../core/metric.ts'
import { relationOf, type SemanticModel } from '../core/semantic-model.ts'
import { type TableRef, tableKey, tableName } from '../core/table-ref.ts'
import { loadGovernances } from '../store/governance/governance.ts'
import { findReadableTable } from '../store/governance/readable-tables.ts'
import type { SemanticChange } from '../store/semantics/changes.ts'
import { loadSemanticModel } from '../store/semantics/load-model.ts'
import { saveTableModel } from '../store/semantics/models.ts'
import { assertCalculations } from './check-calculations.ts'
import { assertConverts } from './check-currency.ts'
import { bindExpression, compileRelation, requireGovernance } from './check-expressions.ts'
import { assertFreeLabel } from './free-label.ts'
import { isSame } from './put-metric.ts'

export interface GivenDimension extends Omit<Dimension, 'expression' | 'kind'> {
  readonly kind?: Dimension['kind'] | undefined
  /** Over the table's columns; default: the column of the dimension's name. */
  readonly expression?: string | undefined
}

export interface GivenModel {
  readonly key: readonly string[]
  readonly dimensions: readonly GivenDimension[]
  readonly relationships: readonly {
    readonly name: string
    readonly to: TableRef
    readonly columns: readonly string[]
    readonly to_columns: readonly string[]
  }[]
  readonly timeDimension?: string | undefined
  readonly entity?: string | undefined
  readonly kpis?: readonly Kpi[] | undefined
  readonly sets?: readonly NamedSet[] | undefined
}

/**
 * Saves a table's model as its next version.
 * @param unlessSame whether a model that says the same already is left alone
 * @throws Fault `not_found` for an unknown table, `unprocessable` for what cannot be computed or joined, `conflict`
 *   where a table has the name of the relation
 */
export async function putTableModel(
  on: SemanticChange,
  table: TableRef,
  given: GivenModel,
  unlessSame = false,
): Promise<TableModel> {
  const { store, tenant } = on
  const { model } = await loadSemanticModel(store, tenant, 0)
  const relation = relationName(table)
  const refs = [
    table,
    ...given.relationships.map(({ to }) => to),
    ...[...model.tables.values()].map((each) => each.table),
  ]
  const governances = await loadGovernances(store, tenant, refs)
  const governance = requireGovernance(governances, table)
  if ((await findReadableTable(store, tenant, 'anyone', relation)) !== undefined)
    throw new Fault(
      'conflict',
      `There is a table ${tableName(relation)}, which is how SQL would name the metrics of ${tableName(table)}. Rename one of the two tables first.`,
    )
  assertNames(given)
  const key = fieldIds(governance, given.key)
  const made: Omit<TableModel, 'number'> = {
    table: { namespace: table.namespace, name: table.name },
    key,
    dimensions: given.dimensions.map(({ expression, kind = 'categorical', ...dimension }) =>
      naming({ dimension: dimension.name }, () => ({
        ...dimension,
        kind,
        expression: bindExpression(
          expression ?? `"${dimension.name}"`,
          governance,
          'row',
          `The dimension ${dimension.name}`,
        ),
      })),
    ),
    relationships: given.relationships.map(
      (relationship): Relationship =>
        naming({ relationship: relationship.name }, () => {
          const target = requireGovernance(governances, relationship.to)
          const columns = fieldIds(governance, relationship.columns)
          const toKey = fieldIds(target, relationship.to_columns)
          const isOwn = tableKey(relationship.to) === tableKey(table)
          const declared = isOwn ? key : (model.tables.get(tableKey(relationship.to))?.key ?? [])
          assertKey(relationship.name, relationship.to, toKey, declared)
          if (columns.length !== toKey.length)
            throw new Fault(
              'unprocessable',
              `The relationship ${relationship.name} needs as many columns on both sides.`,
            )
          const { namespace, name } = relationship.to
          return { name: relationship.name, to: { namespace, name }, columns, key: toKey }
        }),
    ),
    ...(given.timeDimension !== undefined && { timeDimension: given.timeDimension }),
    ...(given.entity !== undefined && { entity: given.entity }),
    ...(given.kpis && { kpis: given.kpis }),
    ...(given.sets && { sets: given.sets }),
  }
  const { number, ...before } = model.tables.get(tableKey(table)) ?? { number: 0 }
  if (unlessSame && number > 0 && isSame(before, made)) return { ...made, number }
  assertComputes({ ...made, number: 1 }, model, governances)
  return await saveTableModel(on, made)
}

/** Names what is refused in the members of the error. */
function naming<T>(
  members: { readonly dimension: string } | { readonly relationship: string },
  make: () => T,
): T {
  try {
    return make()
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.members !== undefined) throw thrown
    throw new Fault(thrown.kind, thrown.publicMessage, { cause: thrown, members })
  }
}

function assertNames({ dimensions, relationships, timeDimension, entity, key }: GivenModel): void {
  if (entity !== undefined && key.length !== 1)
    throw new Fault('unprocessable', '`entity` is the name of a `key` of one column, and the model has none.')
  const own = entity === undefined ? [] : [entity]
  const names = [...[...dimensions, ...relationships].map(({ name }) => name), ...own]
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) throw new Fault('unprocessable', `The name \`${repeated}\` is there twice.`)
  const bad = names.find((name) => name === metricTime || name.includes('__'))
  if (bad !== undefined)
    throw new Fault(
      'unprocessable',
      `The name \`${bad}\` is reserved: \`${metricTime}\`, and names with \`__\`.`,
    )
  for (const [index, dimension] of dimensions.entries())
    naming({ dimension: dimension.name }, () =>
      assertFreeLabel('dimension', dimension, dimensions.slice(0, index)),
    )
  const time = dimensions.find(({ name }) => name === timeDimension)
  if (timeDimension !== undefined && time?.kind !== 'time')
    throw new Fault('unprocessable', '`time_dimension` must name a dimension of kind `time`.')
}

/** A join to anything but a key could count rows more than once. */
function assertKey(name: string, to: TableRef, key: readonly number[], declared: readonly number[]): void {
  const isKey =
    declared.length > 0 && declared.length === key.length && declared.every((id) => key.includes(id))
  if (!isKey)
    throw new Fault(
      'unprocessable',
      `The relationship ${name} must lead to the declared key of ${tableName(to)}, because other columns could count rows twice. Declare \`key\` in its model first.`,
    )
}

function fieldIds({ ref, columns }: Governance, names: readonly string[]): readonly number[] {
  return names.map((name) => {
    const column = columns.find((each) => each.current && each.name === name)
    if (column === undefined) throw new Fault('unprocessable', `${tableName(ref)} has no column \`${name}\`.`)
    return column.fieldId
  })
}

const times: readonly string[] = ['date', 'timestamp', 'timestamptz']

function assertComputes(
  made: TableModel,
  before: Awaited<ReturnType<typeof loadSemanticModel>>['model'],
  governances: ReadonlyMap<string, Governance>,
): void {
  const model = { ...before, tables: new Map(before.tables).set(tableKey(made.table), made) }
  const relation = relationOf(model, made.table)
  if (relation === undefined) return
  if (made.entity !== undefined && relation.metrics.has(made.entity))
    throw new Fault('unprocessable', `\`${made.entity}\` is the name of a metric already.`)
  for (const { name, kind } of made.dimensions)
    naming({ dimension: name }, () => {
      if (relation.metrics.has(name))
        throw new Fault('unprocessable', `\`${name}\` is the name of a metric already.`)
      const { columns } = compileRelation(model, governances, relation, { dimensions: [name], metrics: [] })
      if (kind === 'time' && !times.includes(columns[0]?.type ?? ''))
        throw new Fault(
          'unprocessable',
          `The dimension ${name} is of kind time, so it must be a date or timestamp.`,
        )
    })
  // What was asked for before must still be there.
  for (const name of relation.metrics.keys())
    compileRelation(model, governances, relation, { dimensions: [], metrics: [name], converts: true })
  for (const name of joiningMetrics(model, made.table)) {
    const { computation } = model.metrics.get(name)?.definition ?? {}
    const over = computation?.kind === 'simple' ? relationOf(model, computation.table) : undefined
    if (over) compileRelation(model, governances, over, { dimensions: [], metrics: [name], converts: true })
  }
  for (const { name, definition } of model.metrics.values())
    if (definition.computation.kind === 'simple')
      assertConverts(model, governances, name, definition.computation)
  assertCalculations(made, model, governances)
}

/** The metrics over other tables that read dimensions of joined tables. */
function joiningMetrics({ metrics }: SemanticModel, table: TableRef): readonly string[] {
  return [...metrics.values()].flatMap(({ name, definition: { computation } }) =>
    computation.kind === 'simple' &&
    tableKey(computation.table) !== tableKey(table) &&
    joinedDimensions(computation).length > 0
      ? [name]
      : [],
  )
}
