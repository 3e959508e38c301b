/** Notes what a response gives of a table to a caller from whom nothing of it is hidden. */

import type { RawReadKind, RawReadProtection } from '../../core/raw-read.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { FileSight } from '../../store/governance/protections.ts'
import { purposeOf, type SurfaceRequest } from './surface-request.ts'

/** What stands between such a caller and the table's rows. */
export function protectionOf({ passedOver }: FileSight): RawReadProtection {
  return passedOver === true ? 'exempt' : 'none'
}

/**
 * Notes it; nothing waits for its record.
 * @param sight from which the response was made
 * @param more the snapshot, where one is named; and the protection, where it is not by the sight alone
 */
export function noteRawRead(
  surface: SurfaceRequest,
  table: TableRef,
  given: RawReadKind,
  sight: FileSight,
  more: { readonly snapshotId?: string | undefined; readonly protection?: RawReadProtection } = {},
): void {
  const { parts, tenant, session, identified, upstream } = surface
  const { source } = identified
  const purpose = purposeOf(surface)
  parts.rawReads.note({
    tenant,
    // A session that is sent alone has the tenant's id as its principal, which tells nobody who reads.
    principal: source === 'session' ? session.principal.sub : identified.principal.sub,
    principalSource: source,
    sessionId: session.sessionId,
    catalog: upstream.credential.nickname,
    ...{ table, given, protection: protectionOf(sight), contract: sight.contract },
    ...(purpose !== undefined && { purpose }),
    ...more,
  })
}

/** Notes what the response to a creation or registration gives. A table that was just created has nothing to read. */
export function noteMade(
  surface: SurfaceRequest,
  { action, table }: { readonly action: string; readonly table: TableRef },
  { sight, vended }: { readonly sight: FileSight; readonly vended: boolean },
): void {
  if (action === 'register-table') noteRawRead(surface, table, 'load', sight)
  if (vended) noteRawRead(surface, table, 'credentials', sight)
}
