/** Whether a filter or mask stands between a principal and a table's files (docs/reference/gateway.md 8.2). */

import { Fault } from '../../base/fault.ts'
import type { IdentifiedPrincipal } from '../../core/principal.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { isAnythingProtected, isProtectedAlike } from '../../store/governance/governed-table.ts'
import type { GatewayParts } from '../base/parts.ts'

/** @throws Fault `unavailable` where it cannot be told */
export async function isMasked(
  parts: GatewayParts,
  tenant: TenantId,
  table: TableRef,
  identified: IdentifiedPrincipal,
): Promise<boolean> {
  return await orUnavailable(parts.maskedFor(tenant, table, identified))
}

/**
 * Whether whatever is filtered and masked under one name is so under another.
 * @throws Fault `unavailable` where it cannot be told
 */
export async function staysMasked(
  { store }: GatewayParts,
  tenant: TenantId,
  from: TableRef,
  to: TableRef,
): Promise<boolean> {
  return await orUnavailable(isProtectedAlike(store, tenant, from, to))
}

/**
 * Whether any row filter or column mask of the tenant may hide what some file holds.
 * @throws Fault `unavailable` where it cannot be told
 */
export async function isAnythingMasked({ store }: GatewayParts, tenant: TenantId): Promise<boolean> {
  return await orUnavailable(isAnythingProtected(store, tenant))
}

/** A look-up that failed is not "nothing applies". @throws Fault `unavailable` */
async function orUnavailable<T>(look: Promise<T>): Promise<T> {
  try {
    return await look
  } catch (cause) {
    throw new Fault('unavailable', 'The filters and masks of the table could not be loaded. Retry.', {
      cause,
    })
  }
}
