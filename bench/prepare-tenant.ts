/** Prepares a tenant for the commits of one case: a catalog, policies of its tables, and a session that may commit. */

import type { Policy } from '../src/core/policy.ts'
import type { TenantId } from '../src/core/tenant.ts'
import { putCatalogCredential } from '../src/store/catalog-credential/catalog-credentials.ts'
import { putPolicy } from '../src/store/policy/policies.ts'
import { createServiceSession } from '../src/store/session/sessions.ts'
import type { Store } from '../src/store/store.ts'
import { createTenant } from '../src/store/tenant/tenants.ts'
import type { UpstreamAddress } from './upstream.ts'

/** The {prefix} of the gateway's paths. */
export const prefix = 'bench'

export interface Governed {
  readonly namespace: string
  readonly tables: readonly string[]
  /** The policies of every table. */
  readonly policies: readonly Policy[]
  /** Settings of the catalog beside its address. */
  readonly config?: Readonly<Record<string, boolean | readonly string[]>>
}

export interface PreparedTenant {
  readonly tenant: TenantId
  /** The secret of the session. */
  readonly secret: string
}

/** Makes the tenant, with `upstream` as its catalog. */
export async function prepareTenant(
  store: Store,
  upstream: UpstreamAddress,
  { namespace, tables, policies, config = {} }: Governed,
): Promise<PreparedTenant> {
  const { id: tenant } = await createTenant(store, { name: namespace })
  const credential = credentialOf(upstream)
  await putCatalogCredential(store, tenant, { ...credential, config: { ...credential.config, ...config } })
  for (const name of tables)
    for (const policy of policies) await putPolicy(store, tenant, { namespace: [namespace], name }, policy)
  const principal = { sub: 'bench', roles: [] }
  const session = { name: 'bench', principal, scopes: ['commit', 'lineage'] } as const
  return { tenant, secret: (await createServiceSession(store, tenant, session)).secret }
}

function credentialOf({ kind, endpoint, warehouse, credential, tokenUrl }: UpstreamAddress) {
  const config = {
    endpoint,
    warehouse,
    ...(credential === undefined ? {} : { credential }),
    ...(tokenUrl === undefined ? {} : { 'oauth2-server-uri': tokenUrl }),
  }
  return { kind, nickname: prefix, endpoint, config }
}
