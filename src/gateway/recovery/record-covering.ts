/**
 * Records an accepted change, together with the version of a contract that it puts in force: both are one transaction.
 * The change is recorded in any case, because the upstream has made it.
 */

import { Fault } from '../../base/fault.ts'
import { type JsonObject, jsonObject } from '../../base/json.ts'
import type { IntentHead, VerdictRecord } from '../../core/commit.ts'
import type { Policy, VersionNumber } from '../../core/policy.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type RecordedVerdict, recordVerdict, recordVerdictIn } from '../../store/commit/verdicts.ts'
import { lockContracts } from '../../store/contract/changes.ts'
import { commitView, tableView } from '../../wire/iceberg/policy-view.ts'
import { judgeByContract } from '../base/judge-by-contract.ts'
import type { GatewayParts } from '../base/parts.ts'

/**
 * Records the change. Doing it again changes nothing.
 * @param covers the version; undefined for most changes
 * @throws Fault as `recordVerdict`
 */
export async function recordCovering(
  { store, contracts, log }: Pick<GatewayParts, 'store' | 'contracts' | 'log'>,
  tenant: TenantId,
  covers: VersionNumber | undefined,
  record: VerdictRecord,
): Promise<RecordedVerdict> {
  if (covers === undefined) return await recordVerdict(store, tenant, record)
  return await store.tenantTransaction(tenant, async (tx) => {
    // Taken first, as every change of a contract takes it, so that the two do not wait for each other.
    await lockContracts(tx)
    const recorded = await recordVerdictIn(tx, tenant, record)
    if (!recorded.recorded) return recorded
    await tx.query('savepoint covered')
    try {
      await contracts.cover(tx, tenant, covers, record.intent)
      await tx.query('release savepoint covered')
    } catch (err) {
      // What is no refusal may be the connection's, and the whole transaction is repeated.
      if (!(err instanceof Fault) || err.kind === 'unavailable' || err.kind === 'internal') throw err
      await tx.query('rollback to savepoint covered')
      const which = { commitId: record.intent.commitId, ...covers }
      log.error(
        { err, ...which },
        'a commit was made under a version that could not be put in force; review the table',
      )
    }
    return recorded
  })
}

/**
 * Finds the version that covers a commit whose process died, by the table as it is now.
 * @param policies those that governed the table when the intent was opened
 */
export async function judgeRecovered(
  { policies: engine }: Pick<GatewayParts, 'policies'>,
  tenant: TenantId,
  policies: readonly Policy[],
  {
    table,
    principal,
    receivedAtMs,
    origin,
  }: Pick<IntentHead, 'table' | 'principal' | 'receivedAtMs' | 'origin'>,
  metadata: JsonObject,
): Promise<{ readonly policies: readonly Policy[]; readonly covers?: VersionNumber }> {
  // What other policies see of the commit is not rebuilt here.
  const ofColumns = (all: readonly Policy[]) => all.filter(({ kind }) => kind === 'schema')
  const derived = ofColumns(policies.filter(({ derived }) => derived !== undefined && !derived.written))
  if (derived.length === 0) return { policies }
  const now = tableView(table, metadata)
  const { sub, roles } = principal
  const bindings = {
    table: now,
    commit: commitView({ requirements: [], updates: [] }, now, receivedAtMs, origin),
    principal: jsonObject({ sub, roles }),
  }
  const judge = async (by: readonly Policy[]) => await engine.judge(tenant, ofColumns(by), bindings)
  const judged = await judgeByContract(derived, await judge(derived), receivedAtMs, judge)
  if (judged.covers === undefined) return { policies }
  const others = policies.filter((policy) => policy.derived === undefined)
  return { policies: [...others, ...judged.policies], covers: judged.covers }
}
