/** Starts a returning caller's commit in one call: checks its session, opens the intent, loads policies and territory. */

import type { CommitIntent } from '../../core/commit.ts'
import { tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId, storableJson } from '../database/names.ts'
import type { GovernanceRow } from '../policy/policies.ts'
import { namespaceIds } from '../policy/policy-scope.ts'
import type { Store } from '../store.ts'
import { type IntentTimes, storedIntent } from './commit-intents.ts'
import type { ClaimRow } from './idempotency-keys.ts'

/** The key of a session look-up: the digest of its secret, or the id in an access token. */
export type SessionKey =
  | { readonly digest: Uint8Array; readonly id: null }
  | { readonly digest: null; readonly id: string }

/** A session that was looked up before. */
export interface ReturningSession {
  readonly key: SessionKey
  readonly tenant: TenantId
  readonly prefix: string
  /** The fingerprint of session and credential from that look-up. */
  readonly fingerprint: string
}

type BegunRow = GovernanceRow & Partial<ClaimRow>

/**
 * Makes the intent durable and loads what governs its table, if session and credential are unchanged.
 * @param ancestors as for `loadWriteGovernance`
 * @returns the row for `readWriteGovernance`; undefined, with nothing written, where session or credential has changed
 *   or is no longer valid
 * @throws Fault; then it is unknown whether the intent was written. Where its Idempotency-Key is known, that stands in the
 *   row and nothing was written
 */
export async function beginCommit(
  store: Store,
  { key, tenant, prefix, fingerprint }: ReturningSession,
  intent: CommitIntent,
  times: IntentTimes,
  ancestors: readonly string[],
): Promise<BegunRow | undefined> {
  const stored = storedIntent(intent, times)
  const tableId = nodeId(tableKey(intent.table))
  const found = [key.digest, key.id, prefix, fingerprint]
  const call = intent.claim === undefined ? 'begin_commit' : 'begin_keyed_commit'
  const [row] = await store.sessionCall<BegunRow>(tenant, call, [
    ...found,
    tableId,
    intent.commitId,
    ...stored,
    storableJson(ancestors),
    storableJson(namespaceIds(intent.table.namespace)),
  ])
  return row
}
