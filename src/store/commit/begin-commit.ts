/** The beginning of a commit by a known caller: session, intent and policies in one call of the store. */

import type { CommitIntent } from '../../core/commit.ts'
import { tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId } from '../database/names.ts'
import type { GovernanceRow } from '../policy/policies.ts'
import type { Store } from '../store.ts'
import { type IntentTimes, storedIntent } from './commit-intents.ts'

/** What a session is looked up by: the digest of its secret, or the id that an access token of ours names. */
export type SessionKey =
  | { readonly digest: Uint8Array; readonly id: null }
  | { readonly digest: null; readonly id: string }

export interface ReturningSession {
  readonly key: SessionKey
  readonly tenant: TenantId
  readonly prefix: string
  /** Of the look-up that this rests on. */
  readonly fingerprint: string
}

/**
 * Makes the intent durable and loads what governs its table, if session and credential are as they were.
 * @returns what `readWriteGovernance` reads; undefined where either has changed or does not hold any more: then
 *   nothing was written
 * @throws Fault; whether the intent was written is not known then
 */
export async function beginCommit(
  store: Store,
  { key, tenant, prefix, fingerprint }: ReturningSession,
  intent: CommitIntent,
  times: IntentTimes,
): Promise<GovernanceRow | undefined> {
  const stored = storedIntent(intent, times)
  const tableId = nodeId(tableKey(intent.table))
  const found = [key.digest, key.id, prefix, fingerprint]
  const [row] = await store.sessionCall<GovernanceRow>(tenant, 'begin_commit', [
    ...found,
    tableId,
    intent.commitId,
    ...stored,
  ])
  return row
}
