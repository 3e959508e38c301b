/**
 * Decides which columns a statement reads without their masks, because a steward attested the metrics that do. A mask
 * that the attestation does not cover, or that was changed since, stays.
 */

import type { AttachedMask, GovernedColumn, GovernedTable } from '../../core/governed-table.ts'
import type { Attestation, CoveredMask } from '../../core/metric.ts'
import type { PlacedDimension, Route, SemanticModel } from '../../core/semantic-model.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'

export interface LiftedColumn {
  readonly table: TableRef
  readonly fieldId: number
  /** Masks that do not matter; undefined: none does, because only the number of different values is read. */
  readonly masks: readonly CoveredMask[] | undefined
}

/** The columns that attestations lift. One that two of them lift loses only the masks that both cover. */
export function liftedColumns(
  { metrics }: Pick<SemanticModel, 'metrics'>,
  attestations: readonly Attestation[],
): readonly LiftedColumn[] {
  const found = new Map<string, LiftedColumn>()
  const add = (column: LiftedColumn) => {
    const key = `${tableKey(column.table)} ${column.fieldId}`
    const before = found.get(key)
    found.set(key, before === undefined ? column : { ...column, masks: common(before.masks, column.masks) })
  }
  for (const { metric, masks, anonymity } of attestations) {
    const computation = metrics.get(metric)?.definition.computation
    if (computation?.kind !== 'simple') continue
    const { table } = computation
    for (const [fieldId, covered] of Map.groupBy(masks, (mask) => mask.fieldId))
      add({ table, fieldId, masks: covered })
    if (anonymity !== undefined) add({ table, fieldId: anonymity.fieldId, masks: undefined })
  }
  return [...found.values()]
}

function common(
  one: readonly CoveredMask[] | undefined,
  other: readonly CoveredMask[] | undefined,
): readonly CoveredMask[] | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one.filter((mask) => other.some((each) => Bun.deepEquals(each, mask)))
}

/** Whether a column is read without its masks. */
export function isLifted(
  lifted: readonly LiftedColumn[],
  { ref }: Pick<GovernedTable, 'ref'>,
  { fieldId, masks }: Pick<GovernedColumn, 'fieldId' | 'masks'>,
): boolean {
  const found = lifted.find((each) => each.fieldId === fieldId && tableKey(each.table) === tableKey(ref))
  if (found === undefined) return false
  return (
    found.masks === undefined ||
    masks.every((mask) => found.masks?.some((covered) => isCovered(mask, covered)))
  )
}

function isCovered({ policyId, action, expression }: AttachedMask, covered: CoveredMask): boolean {
  return policyId === covered.policyId && action === covered.action && expression === covered.expression
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
