/** Assembles the commit pipeline. Its routes are added with all others. */

import type { GatewayParts } from '../gateway/base/parts.ts'
import { SpeculativeCache } from '../gateway/base/speculative-cache.ts'
import { TableCache } from '../gateway/base/table-cache.ts'
import { lostAnswerWaitsMs } from '../gateway/recovery/lost-commit.ts'
import { limits } from '../limits.ts'
import { intentTimes } from '../store/commit/commit-intents.ts'
import { isMaskedFor } from '../store/governance/governed-table.ts'

/** The parts that the pipeline shares with the rest of the process. */
type Shared = Pick<
  GatewayParts,
  'store' | 'catalogs' | 'policies' | 'metrics' | 'log' | 'clock' | 'commits' | 'demo' | 'tableAccess'
>

/** Parts that a test replaces. */
type Overrides = {
  readonly [Name in 'intentTimes' | 'lostAnswerWaitsMs' | 'passCrashPoint']?: GatewayParts[Name] | undefined
}

/** The pipeline's parts, with its own caches. */
export function assembleGateway(shared: Shared, overrides: Overrides): GatewayParts {
  return {
    ...shared,
    tables: new TableCache(limits.metadataCacheBytes),
    speculative: new SpeculativeCache(),
    intentTimes: overrides.intentTimes ?? intentTimes,
    lostAnswerWaitsMs: overrides.lostAnswerWaitsMs ?? lostAnswerWaitsMs,
    // Unverified roles must not exempt from masks.
    maskedFor: (tenant, table, { principal, verified }) =>
      isMaskedFor(shared.store, tenant, table, verified ? principal : { sub: principal.sub, roles: [] }),
    passCrashPoint: overrides.passCrashPoint ?? (() => {}),
  }
}
