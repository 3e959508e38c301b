/**
 * Ends a deployment whose check runs have ended: the version comes in force where every one passed, else it failed and
 * nothing changes for readers and writers. It may be called at any time and any number of times.
 */

import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { TableStates } from '../../catalog/table-states.ts'
import type { CheckRunState } from '../../core/check-run.ts'
import type { TenantId } from '../../core/tenant.ts'
import { deployRunsOf } from '../../store/check/check-runs.ts'
import { lockContracts } from '../../store/contract/changes.ts'
import {
  type ContractVersion,
  findVersion,
  type RunQuery,
  versionsDeploying,
} from '../../store/contract/versions.ts'
import type { Tx } from '../../store/database/session.ts'
import type { Store } from '../../store/store.ts'
import { withCatalogSchemas } from '../catalog-schemas.ts'
import { type ChangeContext, type CheckPolicies, changeIn } from '../change.ts'
import { syncCommitPolicies } from '../commit/sync-policies.ts'
import { tablesOf, wantedPins } from '../document/put-document.ts'
import { decideMove } from './state-machine.ts'
import { type Pins, personOf, Step, type VersionName } from './step.ts'

interface DeploymentParts {
  readonly store: Store
  readonly states: TableStates
  readonly clock: Clock
  readonly checkPolicies: CheckPolicies
}

const ended: readonly CheckRunState[] = ['passed', 'failed', 'error', 'cancelled']

/** Ends every deployment of a tenant whose runs have ended. */
export async function settleDeployments(parts: DeploymentParts, tenant: TenantId): Promise<void> {
  const run: RunQuery = (text, params) => parts.store.tenantQuery(tenant, text, params)
  for (const { contract, number } of await versionsDeploying(run, tenant))
    await settleDeployment(parts, tenant, { contract, number })
}

/** Ends the deployment of a version, where its runs have ended. */
export async function settleDeployment(
  parts: DeploymentParts,
  tenant: TenantId,
  name: VersionName,
): Promise<void> {
  const { store } = parts
  const run: RunQuery = (text, params) => store.tenantQuery(tenant, text, params)
  const version = await findVersion(run, tenant, name)
  const [first] = await deployRunsOf(run, tenant, name)
  if (version?.state !== 'deploying' || first === undefined) return
  const on: ChangeContext = { store, tenant, actor: first.by, checkPolicies: parts.checkPolicies }
  // The upstream is asked before the transaction begins, because none spans such a call.
  const refusal = await orRefusal(async () => {
    const pins = await wantedPins(parts, on, version.model)
    const found = await withCatalogSchemas(parts.states, on, tablesOf(version.model))
    return await settleIn(parts, found, version, pins)
  })
  if (refusal !== undefined) await failDeployment(parts, on, name, refusal)
}

/** The message of a refusal that repeating cannot change; other failures are thrown. */
async function orRefusal<T>(work: () => Promise<T>): Promise<T | string> {
  try {
    return await work()
  } catch (thrown) {
    const isFinal =
      thrown instanceof Fault && ['conflict', 'forbidden', 'not_found', 'unprocessable'].includes(thrown.kind)
    if (!isFinal) throw thrown
    return thrown.publicMessage
  }
}

/** @returns why the version cannot come in force; undefined where it did, or its runs go on */
async function settleIn(
  parts: DeploymentParts,
  on: ChangeContext,
  { contract, number }: ContractVersion,
  pins: Pins,
): Promise<string | undefined> {
  const name = { contract, number }
  let refusal: string | undefined
  await inContracts(on, async (tx) => {
    const runs = await deployRunsOf((text, params) => tx.query(text, params), on.tenant, name)
    if (!runs.every(({ state }) => ended.includes(state))) return
    const bad = runs.filter(({ state }) => state !== 'passed')
    const step = new Step(parts, on, tx)
    const version = await step.load(name)
    if (version.state !== 'deploying') return
    if (bad.length > 0) {
      refusal = `The check runs did not pass: ${bad.map(({ runId, state }) => `${runId} (${state})`).join(', ')}`
      return
    }
    const decision = decideMove('activate', await step.facts(version), undefined, undefined)
    if (decision.kind === 'refused') {
      refusal = decision.why
      return
    }
    const made = {
      action: 'move-contract-version',
      subject: { ...name },
      value: { move: 'activate' },
    } as const
    await changeIn(tx, on, made, async () => {
      const concerned = await step.activate(name, personOf(on.actor), pins)
      await syncCommitPolicies(tx, on.tenant, contract, { nowMs: parts.clock.now(), by: on.actor })
      return concerned
    })
  })
  return refusal
}

async function failDeployment(
  parts: DeploymentParts,
  on: ChangeContext,
  name: VersionName,
  reason: string,
): Promise<void> {
  await inContracts(on, async (tx) => {
    const step = new Step(parts, on, tx)
    const version = await step.load(name)
    if (version.state !== 'deploying') return
    const made = {
      action: 'move-contract-version',
      subject: { ...name },
      value: { move: 'fail', reason },
    } as const
    await changeIn(tx, on, made, async () => {
      await step.fail(version, reason)
      return []
    })
  })
}

async function inContracts(on: ChangeContext, work: (tx: Tx) => Promise<void>): Promise<void> {
  await on.store.tenantTransaction(on.tenant, async (tx) => {
    await lockContracts(tx)
    await work(tx)
  })
}
