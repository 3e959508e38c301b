/**
 * Takes tags away for which nothing stands any more (docs/adr/0034). It makes nothing looser that a deployed contract
 * promises: there the tag stays until a person decides, with a sign-off.
 */

import type { TenantId } from '../../core/tenant.ts'
import { attachedTables } from '../detection/attached-tables.ts'
import type { Store } from '../store.ts'
import { loosensUnsigned } from './change-signed.ts'
import { lockContracts } from './changes.ts'

/** Why a tag fell, or why it stays. */
export type WithdrawalOutcome = 'refuted' | 'gone' | 'held' | 'stands'

/** Thrown inside the transaction, so that the tag is back. */
class Held extends Error {}

/**
 * Takes the tag of a classification for which nothing stands, unless a person decided about it.
 * @returns `stands` where something stands for it again, `held` where it needs a sign-off
 */
export async function withdrawTag(
  store: Store,
  tenant: TenantId,
  classificationId: string,
): Promise<WithdrawalOutcome> {
  try {
    return await store.tenantTransaction(tenant, async (tx) => {
      await lockContracts(tx)
      const tables = await attachedTables(tx, tenant, classificationId)
      const loosens = await loosensUnsigned(tx, tenant, tables ?? [])
      const [row] = await tx.query<{ why: 'refuted' | 'gone' | null }>(
        'select svc.withdraw_finding($1) as why',
        [classificationId],
      )
      if (row?.why == null) return 'stands'
      if (tables === undefined) throw new Held('which contract promises the tag cannot be told')
      if (await loosens()) throw new Held('a deployed contract would promise less')
      return row.why
    })
  } catch (thrown) {
    if (!(thrown instanceof Held)) throw thrown
    await store.tenantQuery(
      tenant,
      `update svc.detection_finding set withdraw_held = 'sign-off', withdraw_due = clock_timestamp() + interval '1 day'
       where tenant_id = $1 and classification_id = $2 and status = 'open'`,
      [tenant, classificationId],
    )
    return 'held'
  }
}
