/**
 * Says by what the rows of an attested metric fall into parts: the dimensions by which it may be asked for, with those of
 * every other attested metric over the same columns. What shows is made of whole parts that are each large enough, so
 * any two numbers that one reader gets differ by none of their rows, or by the rows of large parts.
 */

import {
  type Attestation,
  type AttestedDimension,
  type BoundExpression,
  type Dimension,
  joinedDimensions,
  type MetricComputation,
  type TableModel,
} from '../../../core/metric.ts'
import type { MetricRelation, PlacedDimension, SemanticModel } from '../../../core/semantic-model.ts'
import { tableKey } from '../../../core/table-ref.ts'

export type Simple = Extract<MetricComputation, { kind: 'simple' }>

/** The aggregates of an attested metric: its own, or those that it adds up over periods. */
export function baseOf({ metrics }: Pick<SemanticModel, 'metrics'>, name: string): Simple | undefined {
  const computation = metrics.get(name)?.definition.computation
  if (computation?.kind === 'simple') return computation
  if (computation?.kind !== 'cumulative') return undefined
  const base = metrics.get(computation.metric)?.definition.computation
  return base?.kind === 'simple' ? base : undefined
}

/** Whether a metric adds another one up over periods. */
export function isCumulative({ metrics }: Pick<SemanticModel, 'metrics'>, name: string): boolean {
  return metrics.get(name)?.definition.computation.kind === 'cumulative'
}

export interface AttestedParts {
  /** Their keys: dimensions, and the filters of metrics, which hold for a row or do not. */
  readonly dimensions: readonly AttestedDimension[]
  readonly filters: readonly BoundExpression[]
}

/** Whether an attestation may lift masks where a query names these dimensions. */
export function namesAttested(
  relation: MetricRelation,
  attestation: Attestation,
  named: Iterable<PlacedDimension>,
): boolean {
  const own = ownDimensions(relation.table, attestation)
  const allowed = new Set(own.map(({ name }) => relation.dimensions.get(name)))
  return [...named].every((placed) => allowed.has(placed))
}

/**
 * The parts of an attested metric.
 * @returns undefined where they cannot be told: a dimension is gone, what it adds up has changed, or its rows are others
 *   for each query
 */
export function attestedParts(
  model: SemanticModel,
  relation: MetricRelation,
  attestation: Attestation,
): AttestedParts | undefined {
  const base = baseOf(model, attestation.metric)
  if (base === undefined || base.semiAdditive !== undefined || isOutdated(model, attestation))
    return undefined
  // The rows that a joined table lets count are not parts of this table's rows.
  if (joinedDimensions(base).length > 0) return undefined
  const columns = new Set(attestation.masks.map(({ fieldId }) => fieldId))
  const relatives = [...model.attestations.values()].filter(({ metric, masks }) => {
    const other = baseOf(model, metric)
    if (other === undefined || tableKey(other.table) !== tableKey(base.table)) return false
    if (joinedDimensions(other).length > 0) return false
    return metric === attestation.metric || masks.some(({ fieldId }) => columns.has(fieldId))
  })
  const dimensions = new Map(
    relatives
      .flatMap((each) => ownDimensions(relation.table, each))
      .map((each) => [`${each.name} ${each.grain}`, each]),
  )
  const filters = new Map(
    relatives
      .flatMap(({ metric }) => baseOf(model, metric)?.filter ?? [])
      .map((filter) => [JSON.stringify([filter.text, filter.names]), filter]),
  )
  const isKnown = [...dimensions.values()].every(({ name }) => relation.dimensions.has(name))
  return isKnown ? { dimensions: [...dimensions.values()], filters: [...filters.values()] } : undefined
}

function isOutdated({ metrics }: SemanticModel, { metric, of }: Attestation): boolean {
  const computation = metrics.get(metric)?.definition.computation
  if (computation?.kind !== 'cumulative') return false
  return of?.metric !== computation.metric || metrics.get(of.metric)?.sha256 !== of.sha256
}

function ownDimensions(table: TableModel, attestation: Attestation): readonly AttestedDimension[] {
  return attestation.dimensions ?? plainDimensions(table, attestation).map(({ name }) => ({ name }))
}

/** The categorical dimensions of a table that name neither a column of its key nor one that an attestation guards. */
export function plainDimensions(
  { dimensions, key }: TableModel,
  { masks, anonymity }: Pick<Attestation, 'masks' | 'anonymity'>,
  unique: readonly number[] = [],
): readonly Dimension[] {
  const guarded = new Set([...masks.map(({ fieldId }) => fieldId), anonymity?.fieldId, ...key, ...unique])
  return dimensions.filter(
    ({ kind, expression }) =>
      kind === 'categorical' && !Object.values(expression.names).some((fieldId) => guarded.has(fieldId)),
  )
}
