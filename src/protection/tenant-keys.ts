/**
 * The keys of a tenant. A random key is made when it is first needed, and stored wrapped by the root key; scope keys are
 * derived from it. Unwrapped keys stay in memory only while a plan is made.
 */

import { randomBytes } from 'node:crypto'
import { Fault } from '../base/fault.ts'
import type { TenantId } from '../core/tenant.ts'
import { sealedColumns } from '../store/database/sealed-columns.ts'
import { type SecretsKeys, seal, unseal } from '../store/database/sealing.ts'
import type { Store } from '../store/store.ts'
import { addTenantKey, findTenantKey } from '../store/transform/keys.ts'

/** Wraps the keys of tenants by a root key that it alone holds. */
export interface KeyProvider {
  /** Kept with each key that it wrapped; another provider does not open it. */
  readonly name: string
  wrap(tenant: TenantId, key: Uint8Array): Promise<Uint8Array>
  /** @throws Fault */
  unwrap(tenant: TenantId, wrapped: Uint8Array): Promise<Uint8Array>
}

const tenantKeyBytes = 32

/** Wraps by the secrets key of the service, which an embedded store keeps in a file. */
export function secretsKeyProvider(store: SecretsKeys): KeyProvider {
  const { place } = sealedColumns.transformTenantKey
  return {
    name: 'secrets-key',
    wrap: async (tenant, key) => seal(store.secretsKey, place(tenant), Buffer.from(key).toString('base64')),
    unwrap: async (tenant, wrapped) =>
      new Uint8Array(Buffer.from(unseal(store, place(tenant), wrapped), 'base64')),
  }
}

/**
 * The tenant's key; made and stored where it has none.
 *
 * @throws Fault `misconfigured` where another provider wrapped it
 */
export async function tenantKey(store: Store, provider: KeyProvider, tenant: TenantId): Promise<Uint8Array> {
  const stored =
    (await findTenantKey(store, tenant)) ??
    (await addTenantKey(store, tenant, {
      provider: provider.name,
      wrapped: await provider.wrap(tenant, randomBytes(tenantKeyBytes)),
    }))
  if (stored.provider !== provider.name)
    throw new Fault(
      'misconfigured',
      'The keys of the transform were wrapped by another provider: start with that one.',
    )
  return await provider.unwrap(tenant, stored.wrapped)
}
