/** Records storage credentials, as they are recorded where the service issues them. */

import type { TenantId } from '../../src/core/tenant.ts'
import type { Store } from '../../src/store/store.ts'
import {
  completeVended,
  type NewVendedCredential,
  reserveVended,
} from '../../src/store/vended/vended-credentials.ts'

/** One that a session holds for an hour. */
export function newVended(sessionId: string, more: Partial<NewVendedCredential> = {}): NewVendedCredential {
  return {
    sessionId,
    sessionKind: 'service',
    principal: 'someone',
    credentialId: crypto.randomUUID(),
    table: { namespace: ['sales'], name: 'orders' },
    access: 'read',
    prefixes: ['s3://lake/orders/'],
    keyId: 'ASIA1',
    issuedFor: 'arn:aws:iam::123456789012:role/reader',
    sessionName: 'covenant-1',
    expiresAtMs: Date.now() + 3_600_000,
    ...more,
  }
}

/** Records one that a session holds. @returns whether it may be given out */
export async function leaveVended(
  store: Store,
  tenant: TenantId,
  sessionId: string,
  more: Partial<NewVendedCredential> = {},
): Promise<boolean> {
  const given = newVended(sessionId, more)
  const { id } = await reserveVended(store, tenant, given)
  return id !== undefined && (await completeVended(store, tenant, id, given))
}
