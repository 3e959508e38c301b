/**
 * Moves a version of a contract through its life cycle. One transaction reads the facts, decides, changes the states,
 * appends the moves, and, where the version comes in force, changes the pin and what governs its tables (step.ts).
 */

import type { Clock } from '../../base/clock.ts'
import type { TableStates } from '../../catalog/table-states.ts'
import type { NewCheckRun } from '../../core/check-run.ts'
import { lockContracts } from '../../store/contract/changes.ts'
import { addSignOff, readLifeCycleSettings } from '../../store/contract/life-cycle.ts'
import { endForce } from '../../store/contract/put-in-force.ts'
import { findVersion, type RunQuery } from '../../store/contract/versions.ts'
import type { Tx } from '../../store/database/session.ts'
import { withCatalogSchemas } from '../catalog-schemas.ts'
import { type ChangeContext, changeContracts, changeIn } from '../change.ts'
import { type CheckService, planDeployment } from '../checks/plan-deployment.ts'
import { syncCommitPolicies } from '../commit/sync-policies.ts'
import { tablesOf, wantedPins } from '../document/put-document.ts'
import { decideSignOff } from './state-machine.ts'
import { type AskedMove, faultOf, type Pins, personOf, Step, type VersionName } from './step.ts'

export interface LifeCycleParts {
  readonly states: TableStates
  readonly clock: Clock
  /** Absent: a deployment that needs checks waits. */
  readonly checks?: CheckService
}

/**
 * Makes a move that a person or service asks for, and what follows from it by itself: the approval of a proposal that
 * breaks nothing, and the activation of a deployment where the tenant does without checks.
 * @throws Fault `not_found`, and what the guard says: `conflict`, `forbidden`, `unprocessable`, `bad_request`
 */
export async function moveVersion(
  parts: LifeCycleParts,
  on: ChangeContext,
  name: VersionName,
  { move, reason, override }: AskedMove,
): Promise<void> {
  // The upstream is asked for a pin before the transaction begins, because none spans such a call.
  const { on: found, ...wanted } = move === 'deploy' ? await planForce(parts, on, name) : { on }
  await on.store.tenantTransaction(on.tenant, async (tx) => {
    await lockContracts(tx)
    await moveIn(tx, parts, found, { name, move, reason, override, ...wanted })
  })
  if (move === 'deploy') parts.checks?.wake()
}

/** As {@link moveVersion}, as one of the changes of a transaction that holds the lock of contracts. */
export async function moveIn(
  tx: Tx,
  parts: LifeCycleParts,
  on: ChangeContext,
  asked: AskedMove & {
    readonly name: VersionName
    /** The pins of the version, where it may come in force. */
    readonly pins?: Pins
    /** The check runs that it needs before. */
    readonly runs?: readonly NewCheckRun[]
  },
): Promise<void> {
  const { name, move, reason, override = false, pins = [], runs = [] } = asked
  const value = { move, ...(reason !== undefined && { reason }), ...(override && { override }) }
  await changeIn(tx, on, { action: 'move-contract-version', subject: { ...name }, value }, async () => {
    const step = new Step(parts, on, tx)
    const version = await step.load(name)
    const by = personOf(on.actor)
    const resumes = move === 'deploy' && version.state === 'deploying'
    if (!resumes) await step.make(version, by, { move, reason, override })
    if (move === 'deploy') await step.requestChecks(name, runs)
    const concerned =
      move === 'propose'
        ? await step.approve(name)
        : move === 'deploy'
          ? await step.activate(name, by, pins)
          : []
    if (move === 'retire') await endForce(tx, name.contract, version.model)
    await syncCommitPolicies(tx, on.tenant, name.contract, { nowMs: parts.clock.now(), by: on.actor })
    return concerned
  })
}

/**
 * Puts an approved version in force with a commit that it covers, in the transaction of the commit's audit. The caller
 * holds the lock of contracts. A version that is in force already stays.
 * @param commitId the commit
 * @throws Fault where the version cannot be put in force any more
 */
export async function coverVersion(
  parts: Pick<LifeCycleParts, 'clock'>,
  on: ChangeContext,
  tx: Tx,
  name: VersionName,
  commitId: string,
): Promise<void> {
  const step = new Step(parts, on, tx)
  const version = await step.load(name)
  if (version.state === 'active') return
  await changeIn(
    tx,
    on,
    { action: 'move-contract-version', subject: { ...name }, value: { move: 'cover' } },
    () => step.cover(version, commitId),
  )
}

/**
 * Signs a proposal. The last sign-off that it needs approves it.
 * @param signed the document that was signed, and why
 * @throws Fault as {@link moveVersion}
 */
export async function signVersion(
  parts: LifeCycleParts,
  on: ChangeContext,
  name: VersionName,
  signed: { readonly sha256: string; readonly comment?: string | undefined },
): Promise<void> {
  const made = {
    action: 'sign-off-contract-version',
    subject: { ...name },
    value: { sha256: signed.sha256 },
  } as const
  await changeContracts(on, made, async (tx) => {
    const step = new Step(parts, on, tx)
    const version = await step.load(name)
    const decision = decideSignOff(await step.facts(version), personOf(on.actor), signed.sha256)
    if (decision.kind === 'refused') throw faultOf(decision)
    await addSignOff(tx, on.tenant, version, { level: decision.level, comment: signed.comment, by: on.actor })
    const concerned = await step.approve(name)
    await syncCommitPolicies(tx, on.tenant, name.contract, { nowMs: parts.clock.now(), by: on.actor })
    return concerned
  })
}

/** What a deployment needs of the upstream: the columns of its tables, its pins, and the check runs, where it needs some. */
async function planForce(
  { states, checks }: LifeCycleParts,
  before: ChangeContext,
  name: VersionName,
): Promise<{ readonly on: ChangeContext; readonly pins: Pins; readonly runs: readonly NewCheckRun[] }> {
  const run: RunQuery = (text, params) => before.store.tenantQuery(before.tenant, text, params)
  const version = await findVersion(run, before.tenant, name)
  if (version === undefined) return { on: before, pins: [], runs: [] }
  const on = await withCatalogSchemas(states, before, tablesOf(version.model))
  const pins = await wantedPins({ states }, on, version.model)
  const { deployUnverified } = await readLifeCycleSettings(run, on.tenant)
  // A move that its guard will refuse asks for no snapshots.
  if (deployUnverified || version.state !== 'approved') return { on, pins, runs: [] }
  return { on, pins, runs: await planDeployment(states, checks?.kinds ?? [], on, version) }
}
