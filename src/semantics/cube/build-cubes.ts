/**
 * Makes the cubes of a catalog from the semantic layer, with what one principal may learn of: tables that they may read,
 * and no hierarchy over a column that a mask empties. It reads no rows.
 */

import { createHash } from 'node:crypto'
import type { Node } from 'libpg-query'
import type { Clock } from '../../base/clock.ts'
import type { Governance } from '../../core/governance.ts'
import { isMasked } from '../../core/governed-table.ts'
import { type Grain, type MetricVersion, metricsSuffix, metricTime, rowKeyName } from '../../core/metric.ts'
import type { Principal } from '../../core/principal.ts'
import { currentSchema, isReadable, type SeenColumn, seenTable } from '../../core/seen-table.ts'
import { type PlacedDimension, relationOf, type SemanticModel } from '../../core/semantic-model.ts'
import { isArray, type SqlType } from '../../core/sql-type.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { ResultColumn } from '../../query/compile/compile.ts'
import { functionName } from '../../query/compile/metrics/nodes.ts'
import { parseExpression } from '../../query/compile/parse/parse.ts'
import { loadGovernances } from '../../store/governance/governance.ts'
import { loadSemanticModel } from '../../store/semantics/load-model.ts'
import type { Store } from '../../store/store.ts'
import { relationTypes } from '../relation-types.ts'
import { placeCalculations } from './calculations.ts'
import {
  allLevelName,
  allMemberName,
  type Cube,
  type CubeDimension,
  type Hierarchy,
  type KeyLevel,
  type LevelKey,
  type Measure,
  measuresName,
} from './model.ts'
import { uniqueNameOf } from './names.ts'

interface CubeRequest {
  readonly store: Store
  readonly clock: Clock
  readonly tenant: TenantId
  /** Verified. */
  readonly principal: Principal
  /** Nickname of the catalog credential. */
  readonly catalog: string
  readonly signal?: AbortSignal
}

/** The cubes by name. @throws Fault of the store; the signal's reason */
export async function buildCubes(request: CubeRequest): Promise<readonly Cube[]> {
  const { store, clock, tenant, signal } = request
  const { model } = await loadSemanticModel(store, tenant, clock.now(), signal)
  const refs = [...model.tables.values()].map(({ table }) => table)
  const governances = await loadGovernances(store, tenant, refs, signal)
  const cubes = refs.flatMap((table) => cubeOf(request, { model, governances }, table) ?? [])
  return cubes.sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** What of the semantic layer its cubes are made from. */
interface CubeSources {
  readonly model: SemanticModel
  readonly governances: ReadonlyMap<string, Governance>
}

/** The cube of one table; undefined where a principal sees none. */
export function cubeOf(
  { principal, catalog }: Pick<CubeRequest, 'principal' | 'catalog'>,
  known: CubeSources,
  table: TableRef,
): Cube | undefined {
  const { model, governances } = known
  const relation = relationOf(model, table)
  const governance = governances.get(tableKey(table))
  if (relation === undefined || relation.metrics.size === 0 || !isReadable(governance)) return undefined
  const types = relationTypes(model, governances, relation)
  const measures = types.metrics.flatMap(([name, column]) => {
    const metric = relation.metrics.get(name)
    return metric === undefined ? [] : [measureOf(model, metric, column)]
  })
  if (measures.length === 0) return undefined
  const shown = types.dimensions.flatMap(([name, { type }]): ShownColumn[] => {
    const placed = relation.dimensions.get(name)
    // The table's own time is among its dimensions already.
    if (placed === undefined || name === metricTime || !canBeGrouped(type)) return []
    return isShown(principal, governances, placed) ? [{ name, type, placed }] : []
  })
  const name = [...table.namespace, table.name].join('.')
  const shape = {
    ...{ catalog, name, caption: name, table },
    description: `Metrics of ${name}`,
    relation: { schema: table.namespace.join('.'), name: `${table.name}${metricsSuffix}` },
    dimensions: dimensionsOf(shown),
    measures,
  }
  const { kpis, sets, formulas } = placeCalculations(
    shape,
    relation.table,
    maskedHierarchies(principal, governances, shown, shape.dimensions),
  )
  const cube = { ...shape, kpis, sets, formulas }
  const version = createHash('sha256')
    .update(JSON.stringify([governance?.contract, cube]))
    .digest('hex')
  const rowKeys = relation.table.key.map((_, index) => rowKeyName(index))
  return { ...cube, version, rowKeys, ...(governance?.pin && { pinned: governance.pin.snapshotId }) }
}

interface ShownColumn {
  /** In the relation. */
  readonly name: string
  readonly type: SqlType
  readonly placed: PlacedDimension
}

/** Masks after which a column has no members that several statements could share. */
const withoutMembers: ReadonlySet<string> = new Set(['replace-with-null', 'sha-256-query-local'])

/** Whether no mask leaves a column of the dimension without members. */
function isShown(
  principal: Principal,
  governances: ReadonlyMap<string, Governance>,
  placed: PlacedDimension,
): boolean {
  const seen = seenColumns(principal, governances, placed)
  return !seen.some(({ masks }) => masks.some(({ action }) => withoutMembers.has(action)))
}

/** The columns that a dimension reads, as a principal sees them. */
function seenColumns(
  principal: Principal,
  governances: ReadonlyMap<string, Governance>,
  { route, dimension }: PlacedDimension,
): readonly SeenColumn[] {
  const governance = governances.get(tableKey(route.table.table))
  const fieldIds = new Set(Object.values(dimension.expression.names))
  const seen = governance && seenTable(governance, currentSchema(governance), principal)
  return seen?.columns.filter(({ fieldId }) => fieldIds.has(fieldId)) ?? []
}

/** Unique names of the hierarchies of which a mask hides true values from a principal. */
function maskedHierarchies(
  principal: Principal,
  governances: ReadonlyMap<string, Governance>,
  shown: readonly ShownColumn[],
  dimensions: readonly CubeDimension[],
): ReadonlySet<string> {
  const masked = new Set(
    shown.flatMap(({ name, placed }) =>
      seenColumns(principal, governances, placed).some((column) => isMasked(column)) ? [name] : [],
    ),
  )
  const isOver = ({ levels }: Hierarchy) =>
    levels.some((level) => level.kind === 'key' && masked.has(level.key.column))
  const all = dimensions.flatMap(({ hierarchies }) => hierarchies)
  return new Set(all.filter(isOver).map(({ uniqueName }) => uniqueName))
}

const ungrouped: ReadonlySet<SqlType> = new Set(['json', 'jsonb', 'bytea', 'interval', 'unknown'])

function canBeGrouped(type: SqlType): boolean {
  return !isArray(type) && !ungrouped.has(type)
}

/** A dimension for each table, the cube's own first. */
function dimensionsOf(shown: readonly ShownColumn[]): readonly CubeDimension[] {
  const paths = Map.groupBy(shown, ({ placed }) => placed.route.path)
  const names = new Set([measuresName.toLowerCase(), ...[...paths.keys()].filter((path) => path !== '')])
  return [...paths].flatMap(([path, columns], index): CubeDimension[] => {
    const table = columns[0]?.placed.route.table.table
    if (table === undefined) return []
    const isTaken = (given: string) =>
      path === '' ? names.has(given.toLowerCase()) : given === measuresName.toLowerCase()
    const plain = path === '' ? table.name : path
    // Names of relationships hold no blank, so this one is free.
    const name = isTaken(plain) ? `${plain} (table)` : plain
    const uniqueName = uniqueNameOf(name)
    const hierarchies = columns.flatMap((column) => hierarchiesOf({ name, uniqueName }, column))
    return [
      {
        ...{ name, uniqueName, caption: name, ordinal: index + 1, table },
        hierarchies: hierarchies.map((hierarchy, place) => ({ ...hierarchy, ordinal: place + 1 })),
      },
    ]
  })
}

function hierarchiesOf(
  dimension: Hierarchy['dimension'],
  { name: column, type, placed }: ShownColumn,
): readonly Hierarchy[] {
  const { name, label, kind } = placed.dimension
  const caption = label ?? name
  const isTime = kind === 'time' && ['date', 'timestamp', 'timestamptz'].includes(type)
  const key: LevelKey = isTime && type !== 'date' ? { column, grain: 'day', type: 'date' } : { column, type }
  const attribute = hierarchyOf(dimension, placed, {
    ...{ name, caption, kind: 'attribute' },
    levels: [{ name, caption, key }],
  })
  if (!isTime) return [attribute]
  const calendar = hierarchyOf(dimension, placed, {
    ...{ name: `${name}.Calendar`, caption: `${caption} (calendar)`, kind: 'calendar' },
    levels: calendarGrains.map((grain) => {
      const title = `${grain.charAt(0).toUpperCase()}${grain.slice(1)}`
      return { name: title, caption: title, key: { column, grain, type: 'date' } }
    }),
  })
  return [attribute, calendar]
}

const calendarGrains: readonly Grain[] = ['year', 'quarter', 'month', 'day']

function hierarchyOf(
  dimension: Hierarchy['dimension'],
  { dimension: { description = '', folder = '' } }: PlacedDimension,
  shape: Pick<Hierarchy, 'name' | 'caption' | 'kind'> & {
    readonly levels: readonly Pick<KeyLevel, 'name' | 'caption' | 'key'>[]
  },
): Hierarchy {
  const { name, levels, ...others } = shape
  const within = (...names: readonly string[]) => uniqueNameOf(dimension.name, name, ...names)
  return {
    ...{ ...others, name, uniqueName: within(), dimension, description, folder, ordinal: 0 },
    allMember: { uniqueName: within(allMemberName), caption: allMemberName },
    levels: [
      {
        ...{ kind: 'all', name: allLevelName, caption: allLevelName, number: 0 },
        uniqueName: within(allLevelName),
      },
      ...levels.map((level, index) => ({
        ...level,
        ...{ kind: 'key' as const, uniqueName: within(level.name), number: index + 1 },
      })),
    ],
  }
}

function measureOf(
  { attestations }: SemanticModel,
  { name, definition }: MetricVersion,
  { type }: ResultColumn,
): Measure {
  const { label, description = '', format = '', unit = '', folder = '', computation } = definition
  // An attested metric is NULL in small groups, whose sum is not the whole.
  const isSum =
    computation.kind === 'simple' &&
    computation.semiAdditive === undefined &&
    !attestations.has(name) &&
    isPlainSum(parseExpression(computation.expression.text))
  return {
    ...{ name, uniqueName: uniqueNameOf(measuresName, name), caption: label ?? name },
    ...{ description, type, format, unit, folder, isSum },
  }
}

function isPlainSum(node: Node): boolean {
  return functionName(node) === 'sum' && 'FuncCall' in node && node.FuncCall.agg_distinct !== true
}
