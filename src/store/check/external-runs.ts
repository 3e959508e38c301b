/** Stores check runs that another tool performed: they have ended when they are stored. */

import { type CheckFinding, type NewCheckRun, stateOfFindings } from '../../core/check-run.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Tx } from '../database/session.ts'
import { addResults } from './check-results.ts'
import { type EndedRow, requestCheckRun, tellEnd } from './check-runs.ts'

const step = 'external'

/** Stores a run with its results, its end and the event of it. A key that was used before finds the first run. */
export async function addExternalRun(
  tx: Tx,
  tenant: TenantId,
  asked: NewCheckRun,
  findings: readonly CheckFinding[],
): Promise<{ readonly runId: string; readonly isNew: boolean }> {
  const added = await requestCheckRun((text, params) => tx.query(text, params), tenant, asked)
  if (!added.isNew) return added
  const { runId } = added
  await addResults(tx, tenant, { runId, step, ms: undefined }, findings)
  const state = stateOfFindings(findings)
  const [ended] = await tx.query<EndedRow>(
    `update svc.check_run set state = $3, steps = 1, done = jsonb_build_array($4::text), started_at = requested_at,
       finished_at = clock_timestamp()
     where tenant_id = $1 and run_id = $2 and state = 'queued'
     returning kind, contract_id, number, namespace, table_name, snapshot_id, cause`,
    [tenant, runId, state, step],
  )
  if (ended !== undefined) await tellEnd(tx, runId, state, ended)
  return added
}
