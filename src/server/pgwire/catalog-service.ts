/** Declares the service that answers statements about pg_catalog and information_schema. */

import type { Principal } from '../../core/principal.ts'
import type { TenantId } from '../../core/tenant.ts'

/** A prepared statement of the connection, as pg_prepared_statements shows it. */
export interface PreparedRow {
  readonly name: string
  readonly statement: string
  /** RFC 3339. */
  readonly prepare_time: string
  readonly parameter_types: readonly number[]
  readonly result_types: readonly number[] | null
  readonly from_sql: boolean
}

export interface CatalogSession {
  readonly tenant: TenantId
  readonly principal: Principal
  readonly catalog: string
  readonly searchPath: readonly string[]
  readonly settings: ReadonlyMap<string, string>
  readonly backendPid: number
  /** What the connection has prepared; asked only for a statement that names it. */
  readonly prepared?: () => readonly PreparedRow[]
}

export interface CatalogService {
  /** Whether a statement reads only the catalog, only governed data, or both, which is refused. */
  covers(sql: string): 'catalog' | 'data' | 'mixed'
  /**
   * Runs frontend messages: Query, or Parse/Bind/Describe/Execute/Close/Sync.
   * @returns the backend's messages without the trailing ReadyForQuery
   */
  execute(session: CatalogSession, frontend: Uint8Array): Promise<Uint8Array>
  /**
   * Has a SELECT analysed that is not for the catalog alone, and never runs it.
   * @returns the backend's messages as `execute`: which name there is none of, where that is so
   */
  analyse?(session: CatalogSession, frontend: Uint8Array): Promise<Uint8Array>
}
