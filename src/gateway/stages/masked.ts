/** Looks up whether a filter or mask keeps a principal from a table's files (docs/reference/gateway.md 8.2). */

import { Fault } from '../../base/fault.ts'
import type { IdentifiedPrincipal } from '../../core/principal.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type FileSight, isAnythingProtected, isProtectedAlike } from '../../store/governance/protections.ts'
import type { GatewayParts } from '../base/parts.ts'

/** Whether a filter or mask applies to the principal. Throws a Fault `unavailable` if the look-up fails. */
export async function isMasked(
  parts: Pick<GatewayParts, 'sightFor'>,
  tenant: TenantId,
  table: TableRef,
  identified: IdentifiedPrincipal,
): Promise<boolean> {
  return (await sightOf(parts, tenant, table, identified)).masked
}

/**
 * What the principal may have of a table.
 * @param purpose that the request names; without one, a table that is read for a purpose only is masked
 * @throws Fault `unavailable` if the look-up fails
 */
export async function sightOf(
  parts: Pick<GatewayParts, 'sightFor'>,
  tenant: TenantId,
  table: TableRef,
  identified: IdentifiedPrincipal,
  purpose?: string,
): Promise<FileSight> {
  return await orUnavailable(parts.sightFor(tenant, table, identified, purpose))
}

/**
 * Whether everything that is filtered or masked under one name is under the other too.
 * @throws Fault `unavailable` if the look-up fails
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
 * Whether any row filter or column mask of the tenant may hide the content of some file.
 * @throws Fault `unavailable` if the look-up fails
 */
export async function isAnythingMasked(
  { store }: Pick<GatewayParts, 'store'>,
  tenant: TenantId,
): Promise<boolean> {
  return await orUnavailable(isAnythingProtected(store, tenant))
}

/** Turns a failed look-up into a Fault `unavailable`, because it does not mean that nothing applies. */
async function orUnavailable<T>(look: Promise<T>): Promise<T> {
  try {
    return await look
  } catch (cause) {
    throw new Fault('unavailable', 'The filters and masks of the table could not be loaded. Retry.', {
      cause,
    })
  }
}
