/** Counts what a reader would see of a table. The read path implements it; who may know the counts is the caller's. */

import type { GrantLifts } from './access-grant.ts'
import type { Principal } from './principal.ts'
import type { TableRef } from './table-ref.ts'
import type { TenantId } from './tenant.ts'

interface SeenRowsAsked {
  readonly tenant: TenantId
  readonly table: TableRef
  readonly principal: Principal
  /** What a grant would lift that the reader does not have yet. */
  readonly lifts: GrantLifts
}

/** Rows that a reader sees now, and with the grant; or why they were not counted, as a sentence. */
export type SeenRowsCount = { readonly before: number; readonly after: number } | { readonly problem: string }

export interface SeenRows {
  /** It takes a bounded time, and never throws for what the table, its catalog or its filters are. */
  count(asked: SeenRowsAsked, signal: AbortSignal): Promise<SeenRowsCount>
}
