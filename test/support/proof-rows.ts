/** Leaves a row in every table of the audit tree of a tenant. */

import type { TenantId } from '../../src/core/tenant.ts'
import { growTree } from '../../src/store/proof/grow-tree.ts'
import type { Store } from '../../src/store/store.ts'

/** Grows the tree of what the tenant has, and leaves a batch, a tile and a checkpoint beside, which nothing reads. */
export async function seedProof(store: Store, tenant: TenantId): Promise<void> {
  await growTree(store, tenant, new AbortController().signal)
  await store.tenantTransaction(tenant, async (tx) => {
    await tx.query(`insert into audit_batch (key, entry) values (1, 'seed')`)
    await tx.query(
      `insert into audit_tile (level, index, hashes) values (9, 0, decode(repeat('00', 8192), 'hex'))`,
    )
    await tx.query(
      `insert into audit_checkpoint (at, size, note, verifier) values (now(), 0, 'seed', 'seed')`,
    )
  })
}
