/** What resolvers are given: the caller, the verbs' parts, and the loaders of one request. */

import type { DescribedTable } from '../../contract/describe-table.ts'
import type { ContractParts } from '../../contract/parts.ts'
import type { Access, Caller } from '../../core/operation.ts'
import type { Licensed } from '../../license/licensed.ts'
import type { QueryService } from '../../query/query-service.ts'
import type { Store } from '../../store/store.ts'
import type { EventFeed } from './event-feed.ts'
import type { Loaders } from './loaders.ts'

export interface GraphParts extends ContractParts {
  readonly licensed: Pick<Licensed, 'require'>
  readonly events: EventFeed
  readonly queries: QueryService
}

export interface GraphContext {
  /** For changes: they run to their end, also where the client leaves. */
  readonly parts: GraphParts
  /** For reading: its statements end when the client leaves or the time of an operation is up. */
  readonly store: Store
  readonly caller: Caller
  /** Aborts when the client disconnects or the time of an operation is up. */
  readonly signal: AbortSignal
  readonly loaders: Loaders
  /** Checks the caller's session again, for a subscription. @throws Fault */
  readonly again: () => Promise<Caller>
}

/** A table as its type shows it. */
export type TableModel = DescribedTable

/** An access that names a session's scope. */
export type NamedAccess = Extract<Access, { readonly scope: string }>
