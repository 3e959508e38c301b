/**
 * Tells who may read a table: what protects its rows and columns and whom roles exempt, and what each service session sees.
 * It asks `core/seen-table.ts`, as reading does. It knows sessions alone: a person of the identity provider has the roles that
 * the provider names, so they are found under the roles.
 */

import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Governance, StoredProtection } from '../../core/governance.ts'
import { isMasked } from '../../core/governed-table.ts'
import { currentSchema, isReadable, type SeenTable, seenTable } from '../../core/seen-table.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type PageInput, pageRequest } from '../../http/page-view.ts'
import { loadGovernances } from '../../store/governance/governance.ts'
import { listServiceSessions, type ServiceSession } from '../../store/session/sessions.ts'
import type { Store } from '../../store/store.ts'

export interface ReadersParts {
  readonly store: Store
  readonly clock: Clock
}

interface Asked extends PageInput {
  readonly table: TableRef
  /** A top-level column; absent: all. */
  readonly column?: string | undefined
}

/** How much of its values a viewer sees of a column. */
export const columnSights = ['clear', 'masked', 'hidden'] as const
type Sight = (typeof columnSights)[number]

/**
 * Who may read a table or one of its columns. Sessions come by pages; the protections are on each.
 * @throws Fault `not_found` for a table or column that there is not, and for a table that nobody reads
 */
export async function whoCanRead({ store, clock }: ReadersParts, tenant: TenantId, asked: Asked) {
  const { table, column } = asked
  const governance = (await loadGovernances(store, tenant, [table])).get(tableKey(table))
  const schema = governance && currentSchema(governance)
  if (governance === undefined || schema === undefined || schema.length === 0 || !isReadable(governance))
    throw new Fault('not_found', 'There is no such table that can be read.')
  const names = schema.map(({ name }) => name).filter((name) => column === undefined || name === column)
  if (names.length === 0) throw new Fault('not_found', `The table has no column \`${column}\`.`)
  const { contract } = governance
  const { items, next } = await listServiceSessions(store, tenant, pageRequest(asked))
  const now = clock.now()
  const anyone = sightsOf(seenTable(governance, schema, 'anyone'))
  return {
    ...(contract && { contract }),
    row_filters: governance.rowFilters.map(exempting),
    columns: names.map((name) => ({
      name,
      anyone: anyone.get(name) ?? 'hidden',
      masks: masksOf(governance, name),
    })),
    sessions: items
      .filter((session) => reads(session, now))
      .map((session) => sessionView(seenTable(governance, schema, session.principal), session, names)),
    next_page_token: next,
  }
}

function reads({ scopes, revokedAt, expiresAt }: ServiceSession, nowMs: number): boolean {
  const isOver = expiresAt !== undefined && expiresAt.getTime() <= nowMs
  return scopes.includes('read') && revokedAt === undefined && !isOver
}

function sessionView(seen: SeenTable, { id, name, principal }: ServiceSession, names: readonly string[]) {
  const found = sightsOf(seen)
  const columns = (sight: Sight) => names.filter((each) => (found.get(each) ?? 'hidden') === sight)
  return {
    ...{ session_id: id, name, principal },
    rows: seen.rowFilters.length === 0 ? ('all' as const) : ('filtered' as const),
    ...{ clear: columns('clear'), masked: columns('masked'), hidden: columns('hidden') },
  }
}

/** By the names of the columns. */
function sightsOf({ columns, hidden }: SeenTable): ReadonlyMap<string, Sight> {
  return new Map([
    ...columns.map((column) => [column.name, isMasked(column) ? 'masked' : 'clear'] as const),
    ...hidden.map(({ name }) => [name, 'hidden'] as const),
  ])
}

const exempting = ({ policyId: id, exemptRoles: exempt_roles }: StoredProtection) => ({ id, exempt_roles })

/** The masks of a column and of the fields inside it. */
function masksOf({ columns }: Governance, name: string) {
  return columns
    .filter((column) => column.current && (column.name === name || column.name.startsWith(`${name}.`)))
    .flatMap((column) =>
      column.masks.map((mask) => ({
        ...exempting(mask),
        action: mask.action,
        ...(column.name !== name && { field: column.name }),
      })),
    )
}
