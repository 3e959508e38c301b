/** Whether a filter or mask stands between a principal and a table's files (DESIGN, "No way around a mask"). */

import { Fault } from '../../base/fault.ts'
import type { IdentifiedPrincipal } from '../../core/principal.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { GatewayParts } from '../parts.ts'

/** @throws Fault `unavailable` where it cannot be told */
export async function isMasked(
  parts: GatewayParts,
  tenant: TenantId,
  table: TableRef,
  identified: IdentifiedPrincipal,
): Promise<boolean> {
  try {
    return await parts.maskedFor(tenant, table, identified)
  } catch (cause) {
    throw new Fault('unavailable', 'The filters and masks of the table could not be loaded. Retry.', {
      cause,
    })
  }
}
