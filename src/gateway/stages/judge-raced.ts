/**
 * Judges an accepted commit again if the catalog applied it to another base than the judged one. The verdict did not
 * see what another writer committed before the forward, and both commits together may break a policy.
 */

import { isJsonObject, type JsonValue } from '../../base/json.ts'
import type { PolicyOutcome, Verdict } from '../../core/decision.ts'
import { tableName } from '../../core/table-ref.ts'
import type { PolicyBindings } from '../../policy/evaluate.ts'
import { commitView, tableView } from '../../wire/iceberg/policy-view.ts'
import type { LoadTableResult } from '../../wire/iceberg/table-metadata.ts'
import { historyOf } from '../base/metadata-history.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { CachedTable } from '../base/table-cache.ts'
import type { Upstream } from '../base/upstream.ts'
import type { Change, Judged } from './change.ts'
import { manifestFactsOf } from './manifest-facts.ts'
import { judgePolicies, notEvaluated, principalBinding } from './verdicts.ts'

/**
 * Judges the table as a raced commit left it. The commit stands in any case; a policy that does not hold is logged and
 * counted. Never throws.
 * @param made the catalog's reply
 * @returns the policies' outcomes for the audit; none if the commit was applied to the judged base, or the reply does
 *   not show its base
 */
export async function judgeRaced(
  parts: GatewayParts,
  upstream: Upstream,
  change: Change & { readonly commitId: string },
  { base, policies }: Pick<Judged, 'base' | 'policies'>,
  made: LoadTableResult,
): Promise<readonly PolicyOutcome[]> {
  if (base === undefined || policies.length === 0 || !isRaced(base, made)) return []
  const verdict = await judgeMade(parts, upstream, change, { base, policies }, made)
  parts.metrics.racedCommits.inc({ outcome: verdict.kind })
  const which = { commitId: change.commitId, table: tableName(change.table), policyId: verdict.policyId }
  if (verdict.kind !== 'allow')
    parts.log.error(
      { ...which, why: verdict.kind === 'deny' ? verdict.reason : verdict.error },
      'another commit landed between a verdict and its forward, and a policy does not hold on the result; review the table',
    )
  return verdict.outcomes.map((outcome) => ({ ...outcome, raced: true }))
}

function isRaced(base: CachedTable, made: LoadTableResult): boolean {
  const replaced = replacedBy(made)
  return replaced !== undefined && replaced !== base.metadataLocation && !isEarlierMetadata(base, made)
}

/** Whether a reply names a metadata file that the table had before. Then this request wrote nothing. */
export function isEarlierMetadata(base: CachedTable, made: LoadTableResult): boolean {
  return historyOf(base).some(({ metadataLocation }) => metadataLocation === made.metadataLocation)
}

/** The metadata file that the current one replaced: the last of the log, which not every catalog keeps. */
function replacedBy({ metadata }: LoadTableResult): JsonValue | undefined {
  const log = metadata.get('metadata-log')
  const last = Array.isArray(log) ? (log as readonly JsonValue[]).at(-1) : undefined
  return isJsonObject(last) ? last.get('metadata-file') : undefined
}

async function judgeMade(
  parts: GatewayParts,
  upstream: Upstream,
  change: Change,
  { base, policies }: { readonly base: CachedTable } & Pick<Judged, 'policies'>,
  { metadata }: LoadTableResult,
): Promise<Verdict & { readonly policyId?: string }> {
  let bindings: PolicyBindings
  try {
    bindings = {
      table: base.view,
      commit: commitView(
        change.request,
        tableView(change.table, metadata),
        change.receivedAtMs,
        change.origin,
      ),
      principal: principalBinding(change.identified.principal),
    }
  } catch (thrown) {
    return notEvaluated(parts, change.table, thrown)
  }
  const facts = manifestFactsOf(parts, upstream, change, base.metadata, () => metadata)
  return await judgePolicies(parts, policies, change, bindings, facts)
}
