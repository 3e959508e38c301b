/** Shows findings of detection in the form of the API. */

import { Type } from '@sinclair/typebox'
import { type FindingClass, findingClasses, findingShapes } from '../core/classification.ts'
import { classifierNamePattern } from '../core/classifier.ts'
import { findingStatuses } from '../core/detection.ts'
import { deciderMembers, deciderView } from '../http/actor-view.ts'
import {
  described,
  maybe,
  number,
  object,
  oneOf,
  tableIdentifier,
  text,
  time,
  uuid,
  wholeNumber,
} from '../http/schemas.ts'
import type { ListedFinding } from '../store/detection/findings.ts'

/** A class of findings, as requests and answers name it. */
export const findingClass = described(
  Type.Unsafe<FindingClass>({ type: 'string', pattern: classifierNamePattern }),
  `${findingClasses.join(', ')}, or the name of a classifier of the tenant`,
)

export const findingSchema = object({
  id: uuid,
  run_id: uuid,
  table: maybe(tableIdentifier),
  column: described(text, 'dotted path, into nested fields and JSON'),
  class: findingClass,
  shape: oneOf(findingShapes),
  confidence: described(number, '0.55, 0.60, 0.65, 0.86, 0.88 or 0.92'),
  matched: described(wholeNumber, 'values of the sample that match'),
  sampled: wholeNumber,
  masked_sample: maybe(described(text, 'never the value itself')),
  status: described(oneOf(findingStatuses), 'by the latest decision'),
  decision: maybe(
    object({ reason: text, decided_by: described(text, 'subject'), ...deciderMembers, decided_at: time }),
  ),
  found_at: time,
})

/** Shows a finding. */
export function findingView(finding: ListedFinding) {
  const { decision } = finding
  return {
    id: finding.id,
    run_id: finding.runId,
    table: finding.table,
    column: finding.column,
    class: finding.class,
    shape: finding.shape,
    confidence: finding.confidence,
    matched: finding.matched,
    sampled: finding.sampled,
    masked_sample: finding.maskedSample,
    status: finding.status,
    decision: decision && {
      reason: decision.reason,
      decided_by: decision.decidedBy,
      ...deciderView(decision.actor?.session),
      decided_at: decision.decidedAt,
    },
    found_at: finding.foundAt,
  }
}
