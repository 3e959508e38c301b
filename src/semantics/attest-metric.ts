/**
 * Records that a steward declares a metric harmless although its columns are not: which tags it loses, and which masks
 * are lifted inside its aggregate. Only an aggregate that cannot fail and shows no single value can be attested.
 */

import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import type { Governance, StoredColumn, StoredMask } from '../core/governance.ts'
import type { CoveredMask, MetricComputation } from '../core/metric.ts'
import { columnPath, functionName } from '../query/metrics/nodes.ts'
import { parseExpression } from '../query/parse.ts'
import { loadGovernance } from '../store/governance/governance.ts'
import { type StoredAttestation, saveAttestation } from '../store/semantics/attestations.ts'
import type { SemanticChange } from '../store/semantics/changes.ts'
import { findMetric } from '../store/semantics/metrics.ts'
import { columnsOf } from './inherited.ts'

export interface GivenAttestation {
  readonly tags: readonly string[]
  /** Ids of masks to lift besides those of the tags. */
  readonly masks: readonly string[]
  readonly reason: string
  readonly evidence: string
  readonly validUntil: Date
  readonly minGroupSize: number
  readonly anonymity?: { readonly k: number; readonly column: string } | undefined
}

const validMsMax = 366 * 24 * 3_600_000

/**
 * Attests the version of a metric that is in force.
 * @throws Fault `not_found` for an unknown metric, `forbidden` for its author, `unprocessable` for what cannot be
 *   attested
 */
export async function attestMetric(
  { clock }: { readonly clock: Clock },
  on: SemanticChange,
  name: string,
  given: GivenAttestation,
): Promise<StoredAttestation> {
  const { store, tenant, actor } = on
  const metric = await findMetric(store, tenant, name)
  if (metric === undefined || !['active', 'deprecated'].includes(metric.state))
    throw new Fault('not_found', 'There is no such metric in force.')
  if (metric.by === actor.sub)
    throw new Fault('forbidden', 'The author of a metric cannot attest it. Ask another steward.')
  assertPeriod(clock.now(), given.validUntil)
  const { computation } = metric.definition
  if (computation.kind !== 'simple')
    throw new Fault(
      'unprocessable',
      'Only simple metrics are attested. Attest the metrics that this one is made of.',
    )
  const governance = await loadGovernance(store, tenant, computation.table)
  if (governance === undefined) throw new Fault('not_found', 'The table of the metric is not there.')
  const columns = columnsOf(metric.definition, governance)
  const inherited = new Set(columns.flatMap(({ tags }) => tags))
  const strange = given.tags.find((tag) => !inherited.has(tag))
  if (strange !== undefined)
    throw new Fault('unprocessable', `The metric does not inherit the tag \`${strange}\`.`)
  const masks = coveredMasks(columns, given)
  if (given.tags.length === 0 && masks.length === 0)
    throw new Fault('unprocessable', 'Name at least one tag or mask of the columns of the metric.')
  if (masks.length > 0) assertAggregate(computation, masks)
  const attestation = {
    metric: name,
    number: metric.number,
    sha256: metric.sha256,
    tags: given.tags,
    masks,
    minGroupSize: given.minGroupSize,
    ...(given.anonymity && {
      anonymity: { k: given.anonymity.k, fieldId: fieldIdOf(governance, given.anonymity.column) },
    }),
    reason: given.reason,
    evidence: given.evidence,
    until: given.validUntil,
  }
  return await saveAttestation(on, attestation, computation.table)
}

function assertPeriod(nowMs: number, until: Date): void {
  if (until.getTime() <= nowMs || until.getTime() > nowMs + validMsMax)
    throw new Fault('unprocessable', '`valid_until` must be in the future, by a year at most.')
}

function fieldIdOf({ columns }: Governance, name: string): number {
  const column = columns.find((each) => each.current && each.name === name)
  if (column === undefined) throw new Fault('unprocessable', `The table has no column \`${name}\`.`)
  return column.fieldId
}

/** The masks of the tags, and those that are named. @throws Fault `unprocessable` for one that no column has */
function coveredMasks(
  columns: readonly StoredColumn[],
  { tags, masks: named }: GivenAttestation,
): readonly CoveredMask[] {
  const all = columns.flatMap(({ fieldId, masks }) => masks.map((mask) => ({ fieldId, mask })))
  const strange = named.find((id) => !all.some(({ mask }) => mask.policyId === id))
  if (strange !== undefined)
    throw new Fault('unprocessable', `No column of the metric has the mask \`${strange}\`.`)
  const isCovered = ({ origin, policyId }: StoredMask) =>
    named.includes(policyId) || (origin.kind === 'tag' && tags.includes(origin.tag))
  return all
    .filter(({ mask }) => isCovered(mask))
    .map(({ fieldId, mask: { policyId, action, expression } }) => ({
      ...{ fieldId, policyId, action },
      ...(expression !== undefined && { expression }),
    }))
}

/** Others show single values, such as min, or fail for some value, which tells of it. */
const harmless: readonly string[] = [
  'count',
  'sum',
  'avg',
  'stddev',
  'stddev_samp',
  'stddev_pop',
  'variance',
  'var_samp',
  'var_pop',
]

function assertAggregate(
  { expression, filter }: Extract<MetricComputation, { kind: 'simple' }>,
  masks: readonly CoveredMask[],
): void {
  const call = parseExpression(expression.text)
  const args = 'FuncCall' in call ? call.FuncCall : undefined
  const isPlain =
    args?.agg_filter === undefined && (args?.args ?? []).every((arg) => columnPath(arg) !== undefined)
  if (!harmless.includes(functionName(call) ?? '') || !isPlain)
    throw new Fault(
      'unprocessable',
      `Masks are lifted only inside one of ${harmless.join(', ')} of a plain column, because others show single values.`,
    )
  const filtered = Object.values(filter?.names ?? {})
  if (masks.some(({ fieldId }) => filtered.includes(fieldId)))
    throw new Fault(
      'unprocessable',
      'The filter of the metric reads a masked column, so the metric cannot be attested.',
    )
}
