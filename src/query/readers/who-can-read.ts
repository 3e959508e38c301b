/**
 * Tells who may read a table: what protects its rows and columns and whom roles exempt, and what each service session sees.
 * It asks `core/seen-table.ts`, as reading does. It knows sessions alone: a person of the identity provider has the roles that
 * the provider names, so they are found under the roles.
 */

import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Governance, StoredProtection } from '../../core/governance.ts'
import { currentSchema, isReadable, seenTable } from '../../core/seen-table.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type PageInput, pageRequest } from '../../http/page-view.ts'
import { loadGovernances } from '../../store/governance/governance.ts'
import { listServiceSessions, type ServiceSession } from '../../store/session/sessions.ts'
import type { Store } from '../../store/store.ts'
import { reasonedSight, sightsOf } from './sight-reasons.ts'

export interface ReadersParts {
  readonly store: Store
  readonly clock: Clock
}

interface Asked extends PageInput {
  readonly table: TableRef
  /** A top-level column; absent: all. */
  readonly column?: string | undefined
}

/**
 * Who may read a table or one of its columns. Sessions come by pages; the protections are on each.
 * @throws Fault `not_found` for a table or column that there is not, and for a table that nobody reads
 */
export async function whoCanRead({ store, clock }: ReadersParts, tenant: TenantId, asked: Asked) {
  const { governance, schema, names } = await readableTable(store, tenant, asked.table, asked.column)
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
      .map(({ id: session_id, name, principal }) => {
        const { reasons: _, ...sight } = reasonedSight(governance, schema, principal, names)
        return { session_id, name, principal, ...sight }
      }),
    next_page_token: next,
  }
}

/**
 * A table that can be read, with its current schema and the names of the columns that are asked about.
 * @throws Fault `not_found`
 */
export async function readableTable(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  column: string | undefined,
) {
  const governance = (await loadGovernances(store, tenant, [table])).get(tableKey(table))
  const schema = governance && currentSchema(governance)
  if (governance === undefined || schema === undefined || schema.length === 0 || !isReadable(governance))
    throw new Fault('not_found', 'There is no such table that can be read.')
  const names = schema.map(({ name }) => name).filter((name) => column === undefined || name === column)
  if (names.length === 0) throw new Fault('not_found', `The table has no column \`${column}\`.`)
  return { governance, schema, names }
}

function reads({ scopes, revokedAt, expiresAt }: ServiceSession, nowMs: number): boolean {
  const isOver = expiresAt !== undefined && expiresAt.getTime() <= nowMs
  return scopes.includes('read') && revokedAt === undefined && !isOver
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
