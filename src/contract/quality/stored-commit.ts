/** Reads from the audit which snapshot an approved commit made current. */

import { isJsonObject, parseJson } from '../../base/json.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { findAudit } from '../../store/commit/audit.ts'
import type { Store } from '../../store/store.ts'

interface StoredCommit {
  readonly credentialId: string
  /** Undefined where the commit moved the branch `main` to no snapshot. */
  readonly snapshotId: bigint | undefined
}

/** The commit; undefined where the audit has none of this id. */
export async function storedCommit(
  store: Store,
  tenant: TenantId,
  commitId: string,
): Promise<StoredCommit | undefined> {
  const audit = await findAudit(store, tenant, commitId)
  if (audit === undefined) return undefined
  return { credentialId: audit.credentialId, snapshotId: snapshotOf(audit.body) }
}

/** The snapshot to which a body moves the branch `main`. @param body compressed by zstd */
export function snapshotOf(body: Uint8Array): bigint | undefined {
  const bytes = Bun.zstdDecompressSync(body as Uint8Array<ArrayBuffer>)
  if (bytes.length > 2 * limits.commitBodyBytesMax) return undefined
  const parsed = parseJson(bytes)
  const updates = isJsonObject(parsed) ? parsed.get('updates') : undefined
  const moved = (Array.isArray(updates) ? updates : []).flatMap((update) => {
    if (!isJsonObject(update) || update.get('action') !== 'set-snapshot-ref') return []
    const id = update.get('snapshot-id')
    return update.get('ref-name') === 'main' && typeof id === 'bigint' ? [id] : []
  })
  return moved.at(-1)
}
