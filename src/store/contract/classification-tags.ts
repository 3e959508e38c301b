/** Reads and writes which tag each classification of contract documents gives. A tenant that set none has none. */

import type { Actor } from '../../core/administration.ts'
import type { TenantId } from '../../core/tenant.ts'
import { uncontractedDefault } from '../../core/uncontracted.ts'
import { storableJson } from '../database/names.ts'
import type { Store } from '../store.ts'
import { lockContracts, recordChange } from './changes.ts'
import type { RunQuery } from './versions.ts'

export interface ClassificationTag {
  /** As the tenant wrote it; letters count alike in either case. */
  readonly classification: string
  readonly tag: string
}

/** By what two classifications are the same. */
export function classificationKey(text: string): string {
  return text.toLowerCase()
}

/** The tenant's map, in its order. */
export async function readClassificationTags(
  run: RunQuery,
  tenant: TenantId,
): Promise<readonly ClassificationTag[]> {
  const [row] = await run<{ classification_tags: readonly ClassificationTag[] }>(
    'select classification_tags from svc.read_setting where tenant_id = $1',
    [tenant],
  )
  return row?.classification_tags ?? []
}

/** Writes the tenant's map in place of the present one, and records the change. It changes no tag. */
export async function saveClassificationTags(
  store: Store,
  tenant: TenantId,
  actor: Actor,
  tags: readonly ClassificationTag[],
): Promise<void> {
  await store.tenantTransaction(tenant, async (tx) => {
    await lockContracts(tx)
    await tx.query(
      `insert into svc.read_setting (tenant_id, uncontracted, classification_tags)
       values ($1, '${uncontractedDefault}', $2::text::jsonb)
       on conflict (tenant_id) do update set classification_tags = excluded.classification_tags`,
      [tenant, storableJson(tags)],
    )
    const value = { classification_tags: tags }
    await recordChange(tx, actor, { action: 'put-settings', subject: {}, value })
  })
}
