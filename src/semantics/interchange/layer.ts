/** The semantic layer as it is exported: of tables that may be read, with the names that columns have now. */

import type { Governance } from '../../core/governance.ts'
import type { BoundExpression, MetricComputation, MetricDefinition, TableModel } from '../../core/metric.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { loadGovernances } from '../../store/governance/governance.ts'
import { loadSemanticModel } from '../../store/semantics/load-model.ts'
import type { Store } from '../../store/store.ts'
import { mayKnow, tablesReadBy } from '../describe-metric.ts'
import type { DraftDimension, DraftRelationship } from './draft.ts'
import { identifier, renamed } from './sql-names.ts'

export interface ExportedDimension extends DraftDimension {
  readonly kind: 'categorical' | 'time'
  readonly expression: string
  /** Of the column, where it is one. */
  readonly type: string | undefined
}

export interface ExportedTable {
  readonly table: TableRef
  readonly key: readonly string[]
  readonly dimensions: readonly ExportedDimension[]
  readonly relationships: readonly DraftRelationship[]
  readonly entity?: string | undefined
  readonly time_dimension: string | undefined
  readonly kpis?: TableModel['kpis']
  readonly sets?: TableModel['sets']
}

export interface ExportedMetric {
  readonly name: string
  readonly definition: MetricDefinition
  /** The body of the operation that saves it. */
  readonly body: Readonly<Record<string, unknown>>
}

export interface ExportedLayer {
  readonly tables: readonly ExportedTable[]
  readonly metrics: ReadonlyMap<string, ExportedMetric>
}

/** Loads it. Tables that may not be read, and metrics over them, are left out. */
export async function loadLayer(store: Store, tenant: TenantId): Promise<ExportedLayer> {
  const { model } = await loadSemanticModel(store, tenant, 0)
  const refs = [...model.tables.values()].map(({ table }) => table)
  const governances = await loadGovernances(store, tenant, refs)
  const isKnown = (table: TableRef) => mayKnow({ roles: [] }, governances.get(tableKey(table)))
  const tables = [...model.tables.values()].filter(({ table }) => isKnown(table))
  return {
    tables: tables.map((one): ExportedTable => {
      const names = columnNames(governances.get(tableKey(one.table)))
      return {
        table: one.table,
        key: one.key.flatMap((id) => names.get(id) ?? []),
        dimensions: one.dimensions.map(({ expression, ...dimension }) => ({
          ...dimension,
          expression: textOf(expression, names),
          type: typeOf(expression, governances.get(tableKey(one.table))),
        })),
        relationships: one.relationships
          .filter(({ to }) => isKnown(to))
          .map(({ name, to, columns, key }) => {
            const toNames = columnNames(governances.get(tableKey(to)))
            return {
              ...{ name, to },
              columns: columns.flatMap((id) => names.get(id) ?? []),
              to_columns: key.flatMap((id) => toNames.get(id) ?? []),
            }
          }),
        entity: one.entity,
        time_dimension: one.timeDimension,
        kpis: one.kpis,
        sets: one.sets,
      }
    }),
    metrics: new Map(
      [...model.metrics]
        .filter(([, metric]) => tablesReadBy(model, metric).every(isKnown))
        .map(([name, { definition }]) => [name, { name, definition, body: bodyOf(definition, governances) }]),
    ),
  }
}

type Names = ReadonlyMap<number, string>

function columnNames(governance: Governance | undefined): Names {
  return new Map(governance?.columns.map(({ fieldId, name }) => [fieldId, name]))
}

function textOf({ text, names }: BoundExpression, now: Names): string {
  return renamed(text, ([first = '']) => {
    const current = Object.hasOwn(names, first) ? now.get(names[first] ?? -1) : undefined
    return current === undefined || current === first ? undefined : identifier(current)
  })
}

/** The name that the one column of an expression has now. */
function nameOf({ text, names }: BoundExpression, now: Names): string {
  return now.get(Object.values(names)[0] ?? -1) ?? text
}

function typeOf({ names }: BoundExpression, governance: Governance | undefined): string | undefined {
  const [fieldId, ...more] = Object.values(names)
  const type = governance?.columns.find((column) => column.fieldId === fieldId)?.type
  return more.length === 0 && typeof type === 'string' ? type : undefined
}

/** A definition as the body of the operation that saves it. */
export function bodyOf(
  { computation, defaultGrain, ...about }: MetricDefinition,
  governances: ReadonlyMap<string, Governance>,
) {
  const computed = computedBody(computation, (table) => columnNames(governances.get(tableKey(table))))
  return {
    kind: computation.kind,
    ...computed,
    ...about,
    ...(defaultGrain && { default_grain: defaultGrain }),
  }
}

function computedBody(computation: MetricComputation, namesOf: (table: TableRef) => Names): object {
  switch (computation.kind) {
    case 'simple': {
      const { table, expression, filter, semiAdditive, currency } = computation
      const names = namesOf(table)
      return {
        ...{ table, expression: textOf(expression, names) },
        ...(filter && { filter: textOf(filter, names) }),
        ...(semiAdditive && { semi_additive: semiAdditive }),
        ...(currency && { currency: { ...currency, column: nameOf(currency.column, names) } }),
      }
    }
    case 'ratio':
      return { numerator: computation.numerator, denominator: computation.denominator }
    case 'derived':
      return { expression: computation.expression }
    case 'cumulative': {
      const { metric, window, toDate } = computation
      return { of: metric, ...(window && { window }), ...(toDate && { to_date: toDate }) }
    }
    case 'offset': {
      const { metric, offsetWindow, offsetToGrain } = computation
      return {
        of: metric,
        ...(offsetWindow && { offset_window: offsetWindow }),
        ...(offsetToGrain && { offset_to_grain: offsetToGrain }),
      }
    }
    case 'conversion': {
      const { base, conversion, entity, window, constant, calculation } = computation
      return {
        ...{ base, conversion, entity, calculation },
        ...(window && { window }),
        ...(constant && { constant_properties: constant }),
      }
    }
  }
}
