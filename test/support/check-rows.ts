/** Check runs for tests of the store. */

import type { NewCheckRun } from '../../src/core/check-run.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { addResults } from '../../src/store/check/check-results.ts'
import { requestCheckRun } from '../../src/store/check/check-runs.ts'
import type { Store } from '../../src/store/store.ts'
import { actorOf } from './actor.ts'

/** A run of sales.orders. */
export function checkRunOf(more: Partial<NewCheckRun> = {}): NewCheckRun {
  return {
    ...{ kind: 'quality', contract: 'seed', number: 1, catalog: 'main', cause: 'request', input: {} },
    ...{ table: { namespace: ['sales'], name: 'orders' }, snapshotId: 7n, currentSnapshotId: 7n },
    ...{ by: actorOf('stella'), ...more },
  }
}

/** Requests a run. @returns its id */
export async function requestRun(
  store: Store,
  tenant: TenantId,
  more: Partial<NewCheckRun> = {},
): Promise<string> {
  const asked = checkRunOf(more)
  return (await requestCheckRun((text, params) => store.tenantQuery(tenant, text, params), tenant, asked))
    .runId
}

/** Leaves a row in each table of check runs. */
export async function seedChecks(store: Store, tenant: TenantId): Promise<void> {
  const runId = await requestRun(store, tenant)
  const finding = { key: 'seed', element: '', metric: 'rowCount', fieldIds: [], custom: false } as const
  await store.tenantTransaction(tenant, async (tx) => {
    await addResults(tx, tenant, { runId, step: 'scan 1', ms: 1 }, [
      { ...finding, severity: 'error', outcome: 'passed', value: '1' },
    ])
    await tx.query(
      `insert into svc.check_schedule (tenant_id, contract_id, looked_at, event_sequence) values ($1, 'seed', now(), 0)`,
      [tenant],
    )
  })
}
