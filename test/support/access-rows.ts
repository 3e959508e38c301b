/** Leaves a request for access and a grant of a tenant in the store. */

import type { TenantId } from '../../src/core/tenant.ts'
import { insertGrant } from '../../src/store/contract/access-grants.ts'
import { insertAccessRequest } from '../../src/store/contract/access-requests.ts'
import type { Store } from '../../src/store/store.ts'
import { actorOf } from './actor.ts'

/** A request of the word `seed`, and the grant that followed. */
export async function seedAccess(store: Store, tenant: TenantId): Promise<void> {
  const word = 'seed'
  const now = new Date()
  const common = {
    ...{ table: { namespace: [word], name: word }, grantee: { sub: word }, purpose: word, ticket: word },
    lifts: { columns: [{ fieldId: 1, tags: [], masks: [word] }], filters: [] },
  }
  const request = crypto.randomUUID()
  await store.tenantTransaction(tenant, async (tx) => {
    await insertAccessRequest(tx, tenant, {
      tableUuid: '5f0c2f4e-0000-4000-8000-000000000000',
      ...{ ...common, id: request, requestedAt: now, requestedBy: actorOf(word), seconds: 60 },
      ...{ sha256: '0'.repeat(64), contract: { id: word, version: 1 }, wanted: { columns: [word] } },
      ...{ isBreakGlass: true, renews: request, state: 'to_review', decisions: [] },
    })
    await insertGrant(tx, tenant, {
      ...{ ...common, id: crypto.randomUUID(), request, contract: word, grantedAt: now },
      ...{ grantedBy: actorOf(word), from: now, until: new Date(now.getTime() + 60_000) },
    })
  })
}
