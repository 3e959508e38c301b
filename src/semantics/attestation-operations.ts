/** Declares the operations on attestations of metrics. */

import { Type } from '@sinclair/typebox'
import { Fault } from '../base/fault.ts'
import { grains } from '../core/metric.ts'
import {
  described,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  ordinal,
  text,
  time,
  uuid,
  wholeNumber,
} from '../http/schemas.ts'
import {
  endAttestation,
  endCauses,
  listAttestations,
  type StoredAttestation,
} from '../store/semantics/attestations.ts'
import { attestMetric } from './attest-metric.ts'
import { semanticBounds } from './bounds.ts'
import { showMetric } from './describe-metric.ts'
import { metricName, prose } from './model-operations.ts'
import { asking, askingOf, changeOf, defining, operation } from './parts.ts'

const groupSize = Type.Integer({ minimum: 2, maximum: semanticBounds.groupSizeMax })
const words = { ...prose, minLength: 1 }
const attestedDimensions = list(object({ name: nonEmpty, grain: maybe(oneOf(grains)) }), {
  maxItems: semanticBounds.dimensionsMax,
})
const attestation = object({
  id: uuid,
  metric: text,
  version: ordinal,
  sha256: described(text, 'of the metric; another definition voids the attestation'),
  tags: list(text),
  masks: list(object({ field_id: wholeNumber, mask: text })),
  min_group_size: wholeNumber,
  k_anonymity: maybe(object({ k: wholeNumber, field_id: wholeNumber })),
  dimensions: described(
    maybe(attestedDimensions),
    'by which masks are lifted; absent in older ones: the plain dimensions of the table itself',
  ),
  lifted_queries_per_day: maybe(wholeNumber),
  reason: text,
  evidence: text,
  valid_until: time,
  attested_at: time,
  attested_by: described(text, 'subject'),
  ended: maybe(
    object({
      ...{ at: time, by: text, reason: text },
      cause: described(oneOf(endCauses), 'by a steward, by its time, or because another version is in force'),
    }),
  ),
})
const path = '/api/v1/metrics/{metric}/attestations'
const common = { tag: 'metrics' } as const

export const attestationOperations = [
  operation({
    ...common,
    name: 'attest_metric',
    summary: 'Declares a metric harmless although its columns are sensitive',
    description:
      'The metric loses the tags, and the masks of these tags are lifted inside its aggregate. It is bound to the version in force.',
    method: 'POST',
    path,
    access: defining,
    gives: { nothing: 'own input' },
    input: object({
      metric: metricName,
      tags: maybe(described(list(nonEmpty, { maxItems: 50 }), 'inherited tags that it loses')),
      masks: maybe(described(list(nonEmpty, { maxItems: 50 }), 'ids of further masks that are lifted')),
      reason: words,
      evidence: words,
      valid_until: described(time, 'within a year'),
      min_group_size: maybe(
        described(
          groupSize,
          'values; smaller groups give NULL, and those that leave out fewer values; default 10',
        ),
      ),
      k_anonymity: maybe(
        described(
          object({ k: groupSize, column: nonEmpty }),
          'groups with fewer different values of the column give NULL',
        ),
      ),
      dimensions: maybe(
        described(
          attestedDimensions,
          'by which masks are lifted, times with a grain; default: every categorical dimension of the table itself that tells no single rows and reads nothing masked',
        ),
      ),
      lifted_queries_per_day: maybe(
        described(
          Type.Integer({ minimum: 1, maximum: semanticBounds.queriesPerDayMax }),
          'of a principal; further ones are refused until the next day in UTC',
        ),
      ),
    }),
    output: attestation,
    status: 201,
    faults: {
      forbidden: 'The session lacks the scope or the role, or the caller is the author of the metric.',
      not_found: 'There is no such metric in force.',
      conflict:
        'The metric has changed meanwhile, or a contract with a life cycle governs its table and nobody has signed.',
      unprocessable:
        'The metric does not inherit that, or shows single values, or a dimension cannot be one by which masks are lifted.',
    },
    run: async (context, input) => {
      const { metric, tags = [], masks = [], reason, evidence, valid_until: validUntil } = input
      const { min_group_size: minGroupSize = 10, k_anonymity: anonymity, dimensions } = input
      const { lifted_queries_per_day: queriesPerDay } = input
      const given = {
        tags,
        masks,
        reason,
        evidence,
        validUntil,
        minGroupSize,
        ...(anonymity && { anonymity }),
        ...{ dimensions, queriesPerDay },
      }
      return attestationView(await attestMetric(context.parts, await changeOf(context), metric, given))
    },
  }),
  operation({
    ...common,
    name: 'list_attestations',
    summary: 'The attestations of a metric, newest first',
    method: 'GET',
    path,
    access: asking,
    gives: { visible: ['existence', 'description', 'columns'] },
    input: object({ metric: metricName }),
    output: object({ items: list(attestation) }),
    faults: { not_found: 'There is no such metric, or its table may not be read.' },
    run: async ({ parts, caller }, { metric }) => {
      await showMetric(askingOf({ parts, caller }), metric)
      return { items: (await listAttestations(parts.store, caller.tenant, metric)).map(attestationView) }
    },
  }),
  operation({
    ...common,
    name: 'end_attestation',
    summary: 'Ends an attestation at once',
    method: 'POST',
    path: `${path}/{attestation}/end`,
    access: defining,
    gives: { nothing: 'own input' },
    input: object({ metric: metricName, attestation: uuid, reason: words }),
    faults: { not_found: 'There is no such attestation, or it was ended before.' },
    run: async (context, { metric, attestation: id, reason }) => {
      if (!(await endAttestation(await changeOf(context), metric, id, reason)))
        throw new Fault('not_found', 'There is no such attestation, or it was ended before.')
    },
  }),
]

function attestationView(stored: StoredAttestation) {
  const { id, metric, number, sha256, tags, masks, minGroupSize, anonymity } = stored
  const { dimensions, queriesPerDay, reason, evidence, until, at, by, ended } = stored
  return {
    ...{ id, metric, version: number, sha256, tags },
    masks: masks.map(({ fieldId, policyId }) => ({ field_id: fieldId, mask: policyId })),
    min_group_size: minGroupSize,
    k_anonymity: anonymity && { k: anonymity.k, field_id: anonymity.fieldId },
    ...{ dimensions, lifted_queries_per_day: queriesPerDay },
    ...{ reason, evidence, valid_until: until, attested_at: at, attested_by: by, ended },
  }
}
