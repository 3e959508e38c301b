/** Assembles the commit pipeline. Its routes are added with all others. */

import type { IdentifiedPrincipal, Principal } from '../core/principal.ts'
import type { AcceptedJournal } from '../gateway/base/accepted-journal.ts'
import { clientFiles } from '../gateway/base/client-files.ts'
import { fedTables } from '../gateway/base/fed-tables.ts'
import type { GatewayParts } from '../gateway/base/parts.ts'
import { RawReadRecorder } from '../gateway/base/raw-read-recorder.ts'
import { SendTurns } from '../gateway/base/send-turns.ts'
import { SpeculativeCache } from '../gateway/base/speculative-cache.ts'
import { TableCache } from '../gateway/base/table-cache.ts'
import { UnauditedChanges, type UnauditedParts } from '../gateway/base/unaudited-changes.ts'
import { auditAgain } from '../gateway/recovery/audit-accepted.ts'
import { lostAnswerWaitsMs } from '../gateway/recovery/lost-commit.ts'
import { boundRulesOf, isPlanCurrent } from '../protection/check-proof.ts'
import { tablesOfView } from '../query/compile/parse/view-tables.ts'
import { NameCases } from '../storage/name-cases.ts'
import { intentTimes } from '../store/commit/commit-intents.ts'
import { fileSight } from '../store/governance/protections.ts'
import { openMs } from '../vending/vending.ts'
import { restrictionsFor } from './restrictions-for.ts'

/** Estimated memory of the table metadata that the gateway caches. */
const metadataCacheBytes = 128 * 1024 * 1024

/** The parts that the pipeline shares with the rest of the process. */
type Shared = Pick<
  GatewayParts,
  | 'store'
  | 'contracts'
  | 'catalogs'
  | 'policies'
  | 'metrics'
  | 'log'
  | 'clock'
  | 'commits'
  | 'demo'
  | 'tableAccess'
  | 'vend'
  | 'licensed'
  | 'budget'
>

/** Parts that a test replaces. */
type Overrides = {
  readonly [Name in 'intentTimes' | 'lostAnswerWaitsMs' | 'passCrashPoint']?: GatewayParts[Name] | undefined
} & { readonly auditSleep?: UnauditedParts['sleep'] }

/** The pipeline's parts, with its own caches. @param journal of the changes that are accepted and not audited */
export function assembleGateway(
  shared: Shared,
  journal: AcceptedJournal | undefined,
  overrides: Overrides,
): GatewayParts {
  const { metrics, log } = shared
  return {
    ...shared,
    nameCases: new NameCases(shared.store, shared.catalogs),
    unaudited: new UnauditedChanges({
      audit: (change) => auditAgain(shared, change),
      sleep: overrides.auditSleep,
      ...{ journal, metrics, log },
    }),
    tables: new TableCache(metadataCacheBytes, metadataCacheBytes / 4, shared.clock),
    sendTurns: new SendTurns(),
    speculative: new SpeculativeCache(),
    fedTables: fedTables(),
    clientFiles: clientFiles(),
    rawReads: new RawReadRecorder(shared),
    intentTimes: overrides.intentTimes ?? intentTimes,
    lostAnswerWaitsMs: overrides.lostAnswerWaitsMs ?? lostAnswerWaitsMs,
    sightFor: (tenant, table, identified, purpose) =>
      fileSight(shared.store, tenant, table, readerOf(identified), {
        ...{ atMs: shared.clock.now(), openMs, purpose },
      }),
    restrictionsFor: restrictionsFor(shared.store),
    tablesOfView,
    transformCurrent: (...asked) => isPlanCurrent(shared.store, ...asked),
    boundRules: (...asked) => boundRulesOf(shared.store, ...asked),
    passCrashPoint: overrides.passCrashPoint ?? (() => {}),
  }
}

/** Who reads files. Unverified roles and subjects exempt from no mask; a session that is sent alone reads as itself. */
function readerOf({ principal, source, session, verified }: IdentifiedPrincipal): Principal | 'anyone' {
  if (!verified) return 'anyone'
  return source === 'session' && session !== undefined ? { ...principal, sub: session.sub } : principal
}

/** Ends what the pipeline does by itself, and writes what it still holds. */
export async function endGateway({ unaudited, rawReads }: GatewayParts): Promise<void> {
  await Promise.all([unaudited.stop(), rawReads.stop()])
}
