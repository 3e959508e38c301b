/** A session as every surface sees it: which tenant, on whose behalf, for what (docs/reference/identity.md 2). */

import type { SealedCatalogCredential } from './catalog.ts'
import type { Principal } from './principal.ts'
import type { TenantId } from './tenant.ts'

export const sessionScopes = ['commit', 'read', 'lineage', 'admin'] as const
export type SessionScope = (typeof sessionScopes)[number]

export interface Session {
  readonly sessionId: string
  readonly tenant: TenantId
  /** The identity provider's organization, where the tenant has one. */
  readonly organizationId: string | undefined
  /** Whom the session was minted for. The write gateway uses its roles only (docs/reference/identity.md 3.1). */
  readonly principal: Principal
  readonly scopes: readonly SessionScope[]
  /** Milliseconds since 1970; absent where it ends by being revoked alone, or that was not asked. */
  readonly expiresAtMs?: number
  /** Where the session was looked up together with a {prefix}: what the tenant had registered there just then. */
  readonly registered?: {
    readonly prefix: string
    readonly credential: SealedCatalogCredential | undefined
    /** Of session and credential together: the same for as long as neither has changed. */
    readonly fingerprint: string
  }
}
