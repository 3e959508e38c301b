/** Declares the service that answers statements about pg_catalog and information_schema. */

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
  /** Whether a statement reads only the catalog, only governed data, or both, which is refused. */
  covers(sql: string): 'catalog' | 'data' | 'mixed'
  /**
   * Runs frontend messages: Query, or Parse/Bind/Describe/Execute/Close/Sync.
   * @returns the backend's messages without the trailing ReadyForQuery
   */
  execute(session: CatalogSession, frontend: Uint8Array): Promise<Uint8Array>
}
