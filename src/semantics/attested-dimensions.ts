/**
 * Decides by which dimensions an attested metric may be asked for. They are few on purpose: each value of all of them
 * together must be that of many rows, else nothing that it is in shows.
 */

import { Fault } from '../base/fault.ts'
import type { Governance } from '../core/governance.ts'
import { type AttestedDimension, type CoveredMask, type Grain, metricTime } from '../core/metric.ts'
import { currentSchema } from '../core/seen-table.ts'
import { type PlacedDimension, relationOf, type SemanticModel } from '../core/semantic-model.ts'
import type { TableRef } from '../core/table-ref.ts'
import { plainDimensions } from '../query/compile/metrics/attested-parts.ts'
import { tellsPersonsApart } from '../query/compile/metrics/lifted.ts'

export interface GivenDimension {
  readonly name: string
  readonly grain?: Grain | undefined
}

interface Guarded {
  readonly masks: readonly CoveredMask[]
  readonly anonymity: { readonly k: number; readonly fieldId: number } | undefined
  /** Field ids of columns that name a row by themselves, or together. */
  readonly unique: readonly number[]
  readonly governance: Governance
  readonly isCumulative: boolean
}

/** @throws Fault `unprocessable` for a dimension that there is not, that tells persons apart, or that is masked */
export function attestedDimensions(
  model: SemanticModel,
  table: TableRef,
  given: readonly GivenDimension[] | undefined,
  guarded: Guarded,
): readonly AttestedDimension[] {
  const relation = relationOf(model, table)
  if (relation === undefined) {
    if (given !== undefined && given.length > 0)
      throw new Fault('unprocessable', 'The table of the metric has no dimensions. Declare its model first.')
    return []
  }
  const masked = maskedColumns(guarded)
  if (given === undefined && !guarded.isCumulative)
    return plainDimensions(relation.table, guarded, [...guarded.unique, ...masked]).map(({ name }) => ({
      name,
    }))
  const named = given ?? []
  for (const each of named) assertFits(each, relation.dimensions.get(each.name), guarded, masked)
  const time = relation.dimensions.get(metricTime)
  if (guarded.isCumulative && !named.some(({ name }) => relation.dimensions.get(name) === time))
    throw new Fault(
      'unprocessable',
      'A cumulative metric is attested by its time: name `metric_time` with a `grain` in `dimensions`, whose every period must be of enough rows.',
    )
  return named.map(({ name, grain }) => ({ name, ...(grain && { grain }) }))
}

/** The own columns that some reader sees masked. */
function maskedColumns({ governance }: Guarded): readonly number[] {
  const masked = governance.columns.flatMap(({ fieldId, masks }) => (masks.length > 0 ? fieldId : []))
  const around = currentSchema(governance).filter(({ nestedIds }) =>
    nestedIds.some((id) => masked.includes(id)),
  )
  return [...masked, ...around.map(({ fieldId }) => fieldId)]
}

function assertFits(
  { name, grain }: GivenDimension,
  placed: PlacedDimension | undefined,
  guarded: Guarded,
  masked: readonly number[],
): void {
  const refuse = (why: string) => new Fault('unprocessable', `The dimension \`${name}\` ${why}`)
  if (placed === undefined) throw refuse('is none of the metric.')
  const isTime = placed.dimension.kind === 'time'
  if (isTime && grain === undefined) throw refuse('is a time, and needs a `grain`.')
  if (!isTime && grain !== undefined) throw refuse('is no time, and has no `grain`.')
  const isOwn = placed.route.path === ''
  const columns = isOwn ? Object.values(placed.dimension.expression.names) : []
  if (tellsPersonsApart([placed], guarded) || columns.some((fieldId) => guarded.unique.includes(fieldId)))
    throw refuse('tells single rows apart, or is what the attestation guards.')
  if (columns.some((fieldId) => masked.includes(fieldId)))
    throw refuse('reads a masked column, by which nothing is lifted.')
}
