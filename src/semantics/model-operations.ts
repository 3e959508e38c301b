/** Declares the operations on what tables can be grouped by. */

import { type Static, Type } from '@sinclair/typebox'
import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import type { Governance } from '../core/governance.ts'
import { metricNamePattern, relationName, type TableModel } from '../core/metric.ts'
import type { Caller } from '../core/operation.ts'
import { overseesTables } from '../core/oversight.ts'
import { type TableRef, tableKey } from '../core/table-ref.ts'
import { pageRequest, pageView } from '../http/page-view.ts'
import {
  addressed,
  described,
  flag,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  ordinal,
  pageInput,
  pageOf,
  tableAddress,
  tableIdentifier,
} from '../http/schemas.ts'
import { loadGovernances } from '../store/governance/governance.ts'
import { findReadableTables } from '../store/governance/readable-tables.ts'
import { findTableModel, listTableModels } from '../store/semantics/models.ts'
import type { Store } from '../store/store.ts'
import { semanticBounds } from './bounds.ts'
import { buildCubes } from './cube/build-cubes.ts'
import { mayKnow } from './describe-metric.ts'
import { browsing, changeOf, modelling, operation } from './parts.ts'
import { type GivenModel, putTableModel } from './put-table-model.ts'

/** The name of a metric, dimension, relationship or term. */
export const metricName = Type.String({ pattern: metricNamePattern })
/** SQL of an expression. */
export const expressionText = Type.String({ minLength: 1, maxLength: semanticBounds.expressionCharsMax })
/** A text for people. */
export const prose = Type.String({ maxLength: semanticBounds.textCharsMax })

/** Where clients list something. */
export const folder = described(
  Type.String({ minLength: 1, maxLength: semanticBounds.folderCharsMax }),
  'where clients of cubes list it; a backslash leads to a folder within',
)

const dimension = object({
  name: metricName,
  kind: maybe(oneOf(['categorical', 'time'])),
  expression: maybe(described(expressionText, 'over columns of the table; default: the column of that name')),
  label: maybe(prose),
  description: maybe(prose),
  term: maybe(described(metricName, 'glossary term; dimensions of one term are shared between tables')),
  folder: maybe(folder),
})
const relationship = object({
  name: metricName,
  to: tableIdentifier,
  columns: described(list(nonEmpty, { minItems: 1 }), 'of this table'),
  to_columns: described(list(nonEmpty, { minItems: 1 }), 'the declared key of the other table'),
})
const listed = { name: metricName, label: maybe(prose), description: maybe(prose), folder: maybe(folder) }
const kpiPart = described(expressionText, 'the name of a metric, or an MDX expression of metrics')
const kpi = object({
  ...listed,
  value: kpiPart,
  goal: maybe(kpiPart),
  status: maybe(described(expressionText, 'as `value`; from -1, bad, to 1, good')),
  trend: maybe(described(expressionText, 'as `value`; from -1, falling, to 1, rising')),
  weight: maybe(kpiPart),
  graphics: maybe(object({ status: maybe(prose), trend: maybe(prose) })),
  parent: maybe(described(metricName, 'the KPI below which clients list it')),
})
const namedSet = object({
  ...listed,
  expression: described(expressionText, 'MDX over the cube of the table'),
  dynamic: maybe(
    described(flag, 'made within the slicer and the subselects of each statement; default false'),
  ),
})
const modelMembers = {
  key: described(list(nonEmpty), 'columns that name one row; empty where none is declared'),
  dimensions: list(dimension, { maxItems: semanticBounds.dimensionsMax }),
  relationships: list(relationship, { maxItems: semanticBounds.relationshipsMax }),
  entity: maybe(described(metricName, 'the name of the key, by which rows can be grouped as by a dimension')),
  time_dimension: maybe(described(metricName, 'the dimension that `metric_time` stands for')),
  kpis: maybe(described(list(kpi, { maxItems: semanticBounds.kpisMax }), 'KPIs of the cube of the table')),
  sets: maybe(described(list(namedSet, { maxItems: semanticBounds.setsMax }), 'named sets of the cube')),
}
const tableModel = object({
  table: tableIdentifier,
  version: ordinal,
  ...modelMembers,
  hidden_by_table: maybe(
    described(flag, 'a table of the name of the metric relation may be read, so SQL names that table'),
  ),
})
const path = '/api/v1/semantics/tables'
const common = { tag: 'semantics' } as const

/** A table's model in a request. */
export const modelInput = object({
  ...tableAddress,
  ...modelMembers,
  key: maybe(modelMembers.key),
  relationships: maybe(modelMembers.relationships),
})

/** The model that a request declares. */
export function givenModel(input: Omit<Static<typeof modelInput>, 'namespace' | 'table'>): GivenModel {
  const {
    key = [],
    relationships = [],
    time_dimension: timeDimension,
    dimensions,
    entity,
    kpis,
    sets,
  } = input
  return {
    ...{ key, relationships, dimensions },
    ...(timeDimension !== undefined && { timeDimension }),
    ...(entity !== undefined && { entity }),
    ...(kpis !== undefined && kpis.length > 0 && { kpis }),
    ...(sets !== undefined && sets.length > 0 && { sets }),
  }
}

export const modelOperations = [
  operation({
    ...common,
    name: 'put_table_model',
    summary: 'Declares what the rows of a table can be grouped by, and which tables they lead to',
    description: 'Relationships lead from many rows to one, by the declared key of the other table.',
    method: 'PUT',
    path: `${path}/{namespace}/{table}`,
    access: modelling,
    gives: { nothing: 'own input' },
    input: modelInput,
    output: tableModel,
    faults: {
      not_found: 'There is no such table.',
      conflict: 'A table has the name of the metric relation.',
      unprocessable: 'A dimension cannot be computed, or a relationship leads to no declared key.',
    },
    run: async (context, { namespace, table, ...given }) => {
      const address = addressed({ namespace, table })
      const saved = await putTableModel(await changeOf(context), address, givenModel(given))
      const [view] = await modelViews(context.parts, context.caller, [saved])
      return view ?? notThere()
    },
  }),
  operation({
    ...common,
    name: 'show_table_model',
    summary: 'What the rows of a table can be grouped by',
    method: 'GET',
    path: `${path}/{namespace}/{table}`,
    access: browsing,
    gives: { visible: ['existence', 'description', 'columns'] },
    input: object(tableAddress),
    output: tableModel,
    faults: { not_found: 'The table has no model.' },
    run: async ({ parts, caller }, address) => {
      const found = await findTableModel(parts.store, caller.tenant, addressed(address))
      const [view] = found ? await modelViews(parts, caller, [found]) : []
      return view ?? notThere()
    },
  }),
  operation({
    ...common,
    name: 'list_table_models',
    summary: 'Tables with dimensions, by name',
    method: 'GET',
    path,
    access: browsing,
    gives: { visible: ['existence', 'description', 'columns'] },
    input: object(pageInput),
    output: pageOf(tableModel),
    run: async ({ parts, caller }, input) => {
      const readableOnly = !overseesTables(caller.principal)
      const page = await listTableModels(parts.store, caller.tenant, { ...pageRequest(input), readableOnly })
      return pageView({ ...page, items: await modelViews(parts, caller, page.items) }, (view) => view)
    },
  }),
]

interface ModelParts {
  readonly store: Store
  readonly clock: Clock
}

function notThere(): never {
  throw new Fault('not_found', 'The table has no model.')
}

/**
 * Those of these models whose tables the caller may see, with the current names of their columns; a dropped one is named
 * by its field id. Relationships to tables that it may not see are left out.
 */
async function modelViews(
  { store, clock }: ModelParts,
  { tenant, principal }: Pick<Caller, 'tenant' | 'principal'>,
  models: readonly TableModel[],
) {
  const refs = models.flatMap(({ table, relationships }) => [table, ...relationships.map(({ to }) => to)])
  const governances = await loadGovernances(store, tenant, refs)
  const hiding = await findReadableTables(
    store,
    tenant,
    'anyone',
    models.map(({ table }) => relationName(table)),
  )
  const taken = new Set(hiding.map(({ ref }) => tableKey(ref)))
  const isSeen = (table: TableRef) =>
    overseesTables(principal) || mayKnow(principal, governances.get(tableKey(table)))
  const seen = models.filter(({ table }) => isSeen(table))
  const calculations = await shownCalculations({ store, clock }, { tenant, principal }, seen)
  return seen.map((model) => ({
    ...modelView(
      { ...model, relationships: model.relationships.filter(({ to }) => isSeen(to)) },
      governances,
    ),
    ...calculations.get(tableKey(model.table)),
    ...(taken.has(tableKey(relationName(model.table))) && { hidden_by_table: true }),
  }))
}

/** The KPIs and sets of each model, by tableKey: to readers those of the cube that they see, to stewards all. */
async function shownCalculations(
  { store, clock }: ModelParts,
  { tenant, principal }: Pick<Caller, 'tenant' | 'principal'>,
  models: readonly TableModel[],
) {
  const declaring = models.filter(({ kpis = [], sets = [] }) => kpis.length + sets.length > 0)
  const cubes =
    declaring.length === 0 || overseesTables(principal)
      ? undefined
      : await buildCubes({ store, clock, tenant, principal, catalog: '' })
  return new Map(
    declaring.map(({ table, kpis, sets }) => {
      const cube = cubes?.find((each) => tableKey(each.table) === tableKey(table))
      const isShown = (shown: readonly { readonly name: string }[] | undefined, name: string) =>
        cubes === undefined || shown?.some((one) => one.name === name) === true
      const shown = {
        kpis: kpis?.filter(({ name }) => isShown(cube?.kpis, name)),
        sets: sets?.filter(({ name }) => isShown(cube?.sets, name)),
      }
      return [tableKey(table), shown] as const
    }),
  )
}

function modelView(model: TableModel, governances: ReadonlyMap<string, Governance>) {
  const { table, number: version, key, dimensions, relationships, timeDimension } = model
  const names = (of: TableModel['table'], ids: readonly number[]) =>
    ids.map(
      (id) => governances.get(tableKey(of))?.columns.find(({ fieldId }) => fieldId === id)?.name ?? `#${id}`,
    )
  return {
    table: { namespace: [...table.namespace], name: table.name },
    version,
    key: names(table, key),
    dimensions: dimensions.map(({ expression, ...dimension }) => ({
      ...{ ...dimension, expression: expression.text },
    })),
    relationships: relationships.map(({ name, to, columns, key: toKey }) => ({
      ...{ name, to, columns: names(table, columns), to_columns: names(to, toKey) },
    })),
    entity: model.entity,
    time_dimension: timeDimension,
  }
}
