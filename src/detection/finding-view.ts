/**
 * Shows findings of detection in the form of the API, as one principal sees them: numbers where no filter and no mask
 * hides what they count, and samples to stewards.
 */

import { Type } from '@sinclair/typebox'
import { type FindingClass, findingClasses, findingShapes } from '../core/classification.ts'
import { classifierNamePattern } from '../core/classifier.ts'
import { findingStatuses } from '../core/detection.ts'
import { isSteward } from '../core/oversight.ts'
import type { Principal } from '../core/principal.ts'
import { tableKey } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { deciderMembers, deciderView } from '../http/actor-view.ts'
import {
  described,
  list,
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
import { readSettings } from '../store/contract/read-settings.ts'
import type { ListedFinding } from '../store/detection/findings.ts'
import { sightsOf } from '../store/governance/table-sight.ts'
import type { Store } from '../store/store.ts'

/** A class of findings, as requests and answers name it. */
export const findingClass = described(
  Type.Unsafe<FindingClass>({ type: 'string', pattern: classifierNamePattern }),
  `${findingClasses.join(', ')}, or the name of a classifier of the tenant`,
)

export const findingSchema = object({
  id: uuid,
  run_id: described(uuid, 'the latest run that found it'),
  runs: described(
    list(
      object({
        run_id: uuid,
        shape: oneOf(findingShapes),
        confidence: number,
        at: time,
        gone_since: maybe(time),
      }),
    ),
    'the latest 20 runs that found it, newest first; `gone_since`: when the table was first seen without the files that it read',
  ),
  table: maybe(tableIdentifier),
  column: described(text, 'dotted path, into nested fields and JSON'),
  class: findingClass,
  shape: oneOf(findingShapes),
  confidence: described(number, '0.55, 0.60, 0.65, 0.86, 0.88 or 0.92'),
  matched: maybe(
    described(
      wholeNumber,
      'values of the sample that match; absent where a filter or mask hides values from you',
    ),
  ),
  sampled: maybe(wholeNumber),
  masked_sample: maybe(
    described(text, 'never the value itself; for stewards, where the settings for reading say so'),
  ),
  status: described(
    oneOf(findingStatuses),
    'by the latest decision; `withdrawn`: without one, nothing stands for it any more',
  ),
  withdrawal: maybe(
    described(
      object({
        state: oneOf(['due', 'needs_sign_off', 'withdrawn']),
        at: time,
        why: maybe(oneOf(['refuted', 'gone'])),
      }),
      'absent while something stands for it, or a person decided',
    ),
  ),
  decision: maybe(
    object({ reason: text, decided_by: described(text, 'subject'), ...deciderMembers, decided_at: time }),
  ),
  first_found_at: time,
  found_at: time,
})

/**
 * Findings as a principal sees them. Their tables are known to be seen.
 * @throws Fault where the governance cannot be loaded; nothing is shown then
 */
export async function seenFindings(
  store: Store,
  tenant: TenantId,
  principal: Principal,
  findings: readonly ListedFinding[],
) {
  const tables = findings.flatMap(({ table }) => table ?? [])
  const [sights, { findingSamples }] = await Promise.all([
    sightsOf(store, tenant, principal, tables),
    readSettings(store, tenant),
  ])
  const sample = isSteward(principal) && findingSamples === 'stewards'
  return findings.map((finding) => {
    const sight = finding.table && sights.get(tableKey(finding.table))
    const ofColumn = finding.fieldId !== undefined && sight?.showsNumbers([finding.fieldId]) === true
    return findingView(finding, {
      counts: isSteward(principal) || sight?.isWhole === true || ofColumn,
      sample,
    })
  })
}

/** Shows a finding, and of its numbers and its sample what is to be shown. */
function findingView(finding: ListedFinding, shows: { readonly counts: boolean; readonly sample: boolean }) {
  const { decision } = finding
  return {
    id: finding.id,
    run_id: finding.runId,
    runs: finding.runs.map(({ run, shape, confidence, at, goneSince }) => ({
      ...{ run_id: run, shape, confidence, at },
      gone_since: goneSince,
    })),
    table: finding.table,
    column: finding.column,
    class: finding.class,
    shape: finding.shape,
    confidence: finding.confidence,
    ...(shows.counts && { matched: finding.matched, sampled: finding.sampled }),
    ...(shows.sample && { masked_sample: finding.maskedSample }),
    status: finding.status,
    decision: decision && {
      reason: decision.reason,
      decided_by: decision.decidedBy,
      ...deciderView(decision.actor?.session),
      decided_at: decision.decidedAt,
    },
    withdrawal: finding.withdrawal && { ...finding.withdrawal },
    first_found_at: finding.firstFoundAt,
    found_at: finding.foundAt,
  }
}
