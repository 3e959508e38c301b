/** Puts the commit pipeline together. Its routes are added with all others. */

import { Foretold } from '../gateway/foretold.ts'
import type { GatewayParts } from '../gateway/parts.ts'
import { settleWaitsMs } from '../gateway/recovery/settle.ts'
import { TableCache } from '../gateway/table-cache.ts'
import { limits } from '../limits.ts'
import { intentTimes } from '../store/commit-intents.ts'
import { isMaskedFor } from '../store/governed-table.ts'

/** What the pipeline shares with the rest of the process. */
type Shared = Pick<
  GatewayParts,
  'store' | 'catalogs' | 'policies' | 'metrics' | 'log' | 'clock' | 'commits' | 'demo'
>

/** What a test brings in place of the service's own. */
type Overrides = {
  readonly [Name in 'intentTimes' | 'settleWaitsMs' | 'passCrashPoint']?: GatewayParts[Name] | undefined
}

/** The pipeline's parts, with caches of its own. */
export function assembleGateway(shared: Shared, overrides: Overrides): GatewayParts {
  return {
    ...shared,
    tables: new TableCache(limits.metadataCacheBytes),
    foretold: new Foretold(),
    intentTimes: overrides.intentTimes ?? intentTimes,
    settleWaitsMs: overrides.settleWaitsMs ?? settleWaitsMs,
    // Roles that nobody verified exempt from nothing.
    maskedFor: (tenant, table, { principal, verified }) =>
      isMaskedFor(shared.store, tenant, table, verified ? principal : { sub: principal.sub, roles: [] }),
    passCrashPoint: overrides.passCrashPoint ?? (() => {}),
  }
}
