/** What answers statements about the catalog: pg_catalog and information_schema, as one session sees them. */

import type { Principal } from '../../core/principal.ts'
import type { TenantId } from '../../core/tenant.ts'

export interface CatalogSession {
  readonly tenant: TenantId
  readonly principal: Principal
  readonly catalog: string
  readonly searchPath: readonly string[]
  readonly settings: ReadonlyMap<string, string>
  readonly backendPid: number
}

export interface CatalogService {
  covers(sql: string): 'catalog' | 'data' | 'mixed'
  execute(session: CatalogSession, frontend: Uint8Array): Promise<Uint8Array>
}
