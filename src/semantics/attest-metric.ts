/**
 * Records that a steward declares a metric harmless although its columns are not: which tags it loses, and which masks
 * are lifted inside its aggregate, by which dimensions. Only an aggregate that shows no single value can be attested.
 */

import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import { type ContractSchema, primaryKeyOf } from '../core/contract-schema.ts'
import type { Governance, StoredColumn, StoredMask } from '../core/governance.ts'
import { type CoveredMask, isOverPeriods, type MetricVersion } from '../core/metric.ts'
import { baseOfLeaf, type SemanticModel } from '../core/semantic-model.ts'
import { baseOf, type Simple } from '../query/compile/metrics/attested-parts.ts'
import { columnPath, functionName } from '../query/compile/metrics/nodes.ts'
import { parseExpression } from '../query/compile/parse/parse.ts'
import { loadDeclaredSchema } from '../store/governance/declared-schema.ts'
import { loadGovernance } from '../store/governance/governance.ts'
import { type StoredAttestation, saveAttestation } from '../store/semantics/attestations.ts'
import type { SemanticChange } from '../store/semantics/changes.ts'
import { loadSemanticModel } from '../store/semantics/load-model.ts'
import { findMetric } from '../store/semantics/metrics.ts'
import { attestedDimensions, type GivenDimension } from './attested-dimensions.ts'
import { partsOf } from './describe-metric.ts'
import { columnsOf, expressionsOf } from './inherited.ts'

interface GivenAttestation {
  readonly tags: readonly string[]
  /** Ids of masks to lift besides those of the tags. */
  readonly masks: readonly string[]
  readonly reason: string
  readonly evidence: string
  readonly validUntil: Date
  readonly minGroupSize: number
  readonly anonymity?: { readonly k: number; readonly column: string } | undefined
  /** Undefined: every categorical dimension of the table itself that names no row and nothing that is masked. */
  readonly dimensions?: readonly GivenDimension[] | undefined
  readonly queriesPerDay?: number | undefined
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
  const [metric, { model }] = await Promise.all([
    findMetric(store, tenant, name),
    loadSemanticModel(store, tenant, clock.now()),
  ])
  if (metric === undefined || !['active', 'deprecated'].includes(metric.state))
    throw new Fault('not_found', 'There is no such metric in force.')
  const { computation } = metric.definition
  const addedUp = computation.kind === 'cumulative' && (await findMetric(store, tenant, computation.metric))
  if (metric.by === actor.sub || (addedUp && addedUp.by === actor.sub))
    throw new Fault(
      'forbidden',
      'The author of a metric, or of what it adds up, cannot attest it. Ask another steward.',
    )
  assertPeriod(clock.now(), given.validUntil)
  const base = aggregatesOf(model, metric)
  const { table } = base.computation
  const [governance, declared] = await Promise.all([
    loadGovernance(store, tenant, table),
    loadDeclaredSchema(store, tenant, table),
  ])
  if (governance === undefined) throw new Fault('not_found', 'The table of the metric is not there.')
  const columns = columnsOf(expressionsOf({ computation: base.computation }), governance)
  const inherited = new Set(columns.flatMap(({ tags }) => tags))
  const strange = given.tags.find((tag) => !inherited.has(tag))
  if (strange !== undefined)
    throw new Fault('unprocessable', `The metric does not inherit the tag \`${strange}\`.`)
  const masks = coveredMasks(columns, given)
  if (given.tags.length === 0 && masks.length === 0)
    throw new Fault('unprocessable', 'Name at least one tag or mask of the columns of the metric.')
  if (masks.length > 0) assertAggregate(base.computation, masks)
  const anonymity = given.anonymity && {
    k: given.anonymity.k,
    fieldId: fieldIdOf(governance, given.anonymity.column),
  }
  const unique = uniqueColumns(governance, declared ?? {})
  const guarded = { masks, anonymity, unique, governance, isCumulative: base.name !== name }
  const attestation = {
    metric: name,
    number: metric.number,
    sha256: metric.sha256,
    tags: given.tags,
    masks,
    minGroupSize: given.minGroupSize,
    ...(anonymity && { anonymity }),
    dimensions: attestedDimensions(model, table, given.dimensions, guarded),
    ...(base.name !== name && { of: { metric: base.name, sha256: base.sha256 } }),
    ...(given.queriesPerDay !== undefined && { queriesPerDay: given.queriesPerDay }),
    reason: given.reason,
    evidence: given.evidence,
    until: given.validUntil,
  }
  return await saveAttestation(on, attestation, table)
}

/** The metric whose aggregates are attested: the one itself, or the one that it adds up over periods. */
function aggregatesOf(
  model: SemanticModel,
  { name, sha256, definition: { computation } }: MetricVersion,
): { readonly name: string; readonly sha256: string; readonly computation: Simple } {
  if (computation.kind === 'ratio' || computation.kind === 'derived') {
    const lacking = partsOf(model, name).filter((part) => !model.attestations.has(part))
    throw new Fault(
      'unprocessable',
      `A ${computation.kind} metric shows what its parts show, so they are attested. ${lacking.length > 0 ? `Those without an attestation: ${lacking.join(', ')}.` : 'All of them are.'}`,
    )
  }
  const of = baseOfLeaf(model, { name, sha256, definition: { computation } })
  const isOfOthers =
    isOverPeriods(computation) && of !== undefined && of.definition.computation.kind !== 'simple'
  if (computation.kind === 'offset' || computation.kind === 'conversion' || isOfOthers)
    throw new Fault(
      'unprocessable',
      'A metric with an offset, a conversion, and one that adds up others than a simple metric, cannot be attested: it reads masked values.',
    )
  const found = computation.kind === 'cumulative' ? baseOf(model, name) : computation
  if (of === undefined || found === undefined)
    throw new Fault('unprocessable', 'What the metric adds up is not in force.')
  if (found.semiAdditive !== undefined)
    throw new Fault(
      'unprocessable',
      'A metric that does not add up over time cannot be attested, because the rows that count are others in each group.',
    )
  if (found.currency !== undefined)
    throw new Fault(
      'unprocessable',
      'A metric whose amounts are converted by rates of another table cannot be attested.',
    )
  if (found.filter?.dimensions !== undefined)
    throw new Fault(
      'unprocessable',
      `The filter of the metric reads ${found.filter.dimensions.join(', ')} of another table, so the metric cannot be attested.`,
    )
  return { name: of.name, sha256: of.sha256, computation: found }
}

function assertPeriod(nowMs: number, until: Date): void {
  if (until.getTime() <= nowMs || until.getTime() > nowMs + validMsMax)
    throw new Fault('unprocessable', '`valid_until` must be in the future, by a year at most.')
}

/** The columns that name a row by themselves or together: by the contract, or by the table's own schema. */
function uniqueColumns({ columns }: Governance, declared: ContractSchema): readonly number[] {
  const named = new Set(primaryKeyOf(declared))
  for (const { name, unique } of declared.properties ?? []) if (unique) named.add(name)
  return columns
    .filter(({ current, name, isIdentifier }) => current && (isIdentifier || named.has(name)))
    .map(({ fieldId }) => fieldId)
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

/** Others show single values, such as min. That one of these fails tells nothing (query/compile/metrics/guard.ts). */
export const attestable: readonly string[] = [
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

function assertAggregate({ expression, filter }: Simple, masks: readonly CoveredMask[]): void {
  const call = parseExpression(expression.text)
  const args = 'FuncCall' in call ? call.FuncCall : undefined
  const isPlain =
    args?.agg_filter === undefined && (args?.args ?? []).every((arg) => columnPath(arg) !== undefined)
  if (!attestable.includes(functionName(call) ?? '') || !isPlain)
    throw new Fault(
      'unprocessable',
      `Masks are lifted only inside one of ${attestable.join(', ')} of a plain column, because others show single values.`,
    )
  const filtered = Object.values(filter?.names ?? {})
  if (masks.some(({ fieldId }) => filtered.includes(fieldId)))
    throw new Fault(
      'unprocessable',
      'The filter of the metric reads a masked column, so the metric cannot be attested.',
    )
}
