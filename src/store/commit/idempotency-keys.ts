/** Keeps refusals by their Idempotency-Key, and removes keys whose lifetime is over. Keys are claimed by the intents. */

import {
  type EarlierRefusal,
  type EarlierRequest,
  type KeyClaim,
  RepeatedRequest,
} from '../../core/idempotency.ts'
import type { TenantId } from '../../core/tenant.ts'
import { storableJson } from '../database/names.ts'
import type { Store } from '../store.ts'

/** A row of the functions that claim a key: null where the request has it. */
export interface ClaimRow {
  readonly known: string | null
}

/** @throws RepeatedRequest where another request has the key */
export function assertClaimed(row: ClaimRow | undefined): void {
  if (row === undefined || row.known === null) return
  throw new RepeatedRequest(JSON.parse(row.known) as EarlierRequest)
}

/**
 * Keeps the refusal of a request that left neither an intent nor a verdict.
 * @param refusal undefined: nothing is kept, only looked up
 * @returns what is there of an earlier request with the key; then nothing is kept
 */
export async function keepRefusal(
  store: Store,
  tenant: TenantId,
  claim: KeyClaim,
  refusal: EarlierRefusal | undefined,
): Promise<EarlierRequest | undefined> {
  const [row] = await store.tenantCall<ClaimRow>(tenant, 'refuse_key', [
    storableJson(claim),
    refusal === undefined ? null : storableJson(refusal),
  ])
  return row?.known == null ? undefined : (JSON.parse(row.known) as EarlierRequest)
}

const pageRows = 1_000
/** In one run, so that a run ends within minutes; the next goes on. */
const pagesMax = 400

/** Removes keys that no request may repeat any more. @returns how many */
export async function removeExpiredKeys(
  store: Store,
  tenant: TenantId,
  signal?: AbortSignal,
): Promise<number> {
  let removed = 0
  for (let page = 0; page < pagesMax; page++) {
    signal?.throwIfAborted()
    const rows = await store.tenantQuery(
      tenant,
      `delete from svc.idempotency_key where tenant_id = $1 and key in (
         select key from svc.idempotency_key where tenant_id = $1 and claimed_at < clock_timestamp() - interval '24 hours'
         order by claimed_at limit ${pageRows})
       returning 1`,
      [tenant],
    )
    removed += rows.length
    if (rows.length < pageRows) break
  }
  return removed
}
