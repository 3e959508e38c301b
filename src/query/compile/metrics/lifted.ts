/**
 * Decides which columns a statement reads without their masks, because a steward attested the metrics that do. A mask
 * that the attestation does not cover, or that was changed since, stays; so do all where the statement names a dimension
 * that the attestation does not, or one that the reader sees masked.
 */

import {
  type AttachedMask,
  type GovernedColumn,
  type GovernedTable,
  isMasked,
} from '../../../core/governed-table.ts'
import type { Attestation, CoveredMask } from '../../../core/metric.ts'
import type { PlacedDimension, Route, SemanticModel } from '../../../core/semantic-model.ts'
import { type TableRef, tableKey } from '../../../core/table-ref.ts'
import { baseOf } from './attested-parts.ts'

export interface ColumnOf {
  readonly table: TableRef
  readonly fieldId: number
}

export interface LiftedColumn extends ColumnOf {
  /** Masks that do not matter; undefined: none does, because only the number of different values is read. */
  readonly masks: readonly CoveredMask[] | undefined
}

/** The columns that attestations lift. One that two of them lift loses only the masks that both cover. */
export function liftedColumns(
  model: Pick<SemanticModel, 'metrics'>,
  attestations: readonly Attestation[],
): readonly LiftedColumn[] {
  const found = new Map<string, LiftedColumn>()
  const add = (column: LiftedColumn) => {
    const key = columnKey(column)
    const before = found.get(key)
    found.set(key, before === undefined ? column : { ...column, masks: common(before.masks, column.masks) })
  }
  for (const { metric, masks, anonymity } of attestations) {
    const table = baseOf(model, metric)?.table
    if (table === undefined) continue
    for (const [fieldId, covered] of Map.groupBy(masks, (mask) => mask.fieldId))
      add({ table, fieldId, masks: covered })
    if (anonymity !== undefined) add({ table, fieldId: anonymity.fieldId, masks: undefined })
  }
  return [...found.values()]
}

function columnKey({ table, fieldId }: ColumnOf): string {
  return `${tableKey(table)} ${fieldId}`
}

function common(
  one: readonly CoveredMask[] | undefined,
  other: readonly CoveredMask[] | undefined,
): readonly CoveredMask[] | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one.filter((mask) => other.some((each) => Bun.deepEquals(each, mask)))
}

/**
 * What is lifted for a reader: nothing where a mask hides a column of a dimension that the statement names. Its groups
 * would be told apart by what is masked.
 */
export function liftedFor(
  { lifted, named }: { readonly lifted: readonly LiftedColumn[]; readonly named: readonly ColumnOf[] },
  tables: readonly Pick<GovernedTable, 'ref' | 'columns'>[],
): readonly LiftedColumn[] {
  const masked = new Set(
    tables.flatMap(({ ref: table, columns }) =>
      columns.flatMap((column) => (isMasked(column) ? columnKey({ table, fieldId: column.fieldId }) : [])),
    ),
  )
  return named.some((column) => masked.has(columnKey(column))) ? [] : lifted
}

/** Whether a column is read without its masks. */
export function isLifted(
  lifted: readonly LiftedColumn[],
  { ref }: Pick<GovernedTable, 'ref'>,
  { fieldId, masks, nestedMasks }: Pick<GovernedColumn, 'fieldId' | 'masks' | 'nestedMasks'>,
): boolean {
  const found = lifted.find((each) => each.fieldId === fieldId && tableKey(each.table) === tableKey(ref))
  // An attestation covers masks of whole columns.
  if (found === undefined || nestedMasks !== undefined) return false
  return (
    found.masks === undefined ||
    masks.every((mask) => found.masks?.some((covered) => isCovered(mask, covered)))
  )
}

function isCovered({ policyId, action, expression }: AttachedMask, covered: CoveredMask): boolean {
  return policyId === covered.policyId && action === covered.action && expression === covered.expression
}

/** The columns by which dimensions tell rows apart, those that lead to their tables among them. */
export function columnsOfDimensions(placed: readonly PlacedDimension[]): readonly ColumnOf[] {
  return placed.flatMap(({ route, dimension }) => {
    const { table } = route.table
    const own = Object.values(dimension.expression.names).map((fieldId) => ({ table, fieldId }))
    return [...own, ...columnsOfRoute(route)]
  })
}

function columnsOfRoute({ from, table: { table } }: Route): readonly ColumnOf[] {
  if (from === undefined) return []
  const { columns, key } = from.relationship
  const begin = from.route.table.table
  return [
    ...columns.map((fieldId) => ({ table: begin, fieldId })),
    ...key.map((fieldId) => ({ table, fieldId })),
    ...columnsOfRoute(from.route),
  ]
}

/**
 * Whether dimensions that a query names single out a row: they name a whole key of the metric's table (or of one with
 * a row for each of its rows), an attested column, or the subject of its anonymity.
 */
export function tellsPersonsApart(
  placed: readonly PlacedDimension[],
  { masks, anonymity }: Pick<Attestation, 'masks' | 'anonymity'>,
): boolean {
  const guarded = new Set([...masks.map(({ fieldId }) => fieldId), anonymity?.fieldId])
  const near = placed.filter(({ route }) => isOneToOne(route))
  return [...Map.groupBy(near, ({ route }) => route.path)].some(([path, dimensions]) => {
    const named = new Set(dimensions.flatMap(({ dimension }) => Object.values(dimension.expression.names)))
    const key = dimensions[0]?.route.table.key ?? []
    const isWhole = key.length > 0 && key.every((fieldId) => named.has(fieldId))
    return isWhole || (path === '' && [...named].some((fieldId) => guarded.has(fieldId)))
  })
}

function isOneToOne({ from }: Route): boolean {
  if (from === undefined) return true
  const { key } = from.route.table
  const isUnique = key.length > 0 && key.every((fieldId) => from.relationship.columns.includes(fieldId))
  return isUnique && isOneToOne(from.route)
}
