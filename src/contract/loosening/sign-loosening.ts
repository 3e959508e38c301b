/**
 * Signs a change that loosens what deployed contracts promise. It is signed as a version of these contracts would be:
 * by a steward who did not ask for it, and by an administrator too where one of them asks for a second approval.
 */

import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { TenantId } from '../../core/tenant.ts'
import { lockContracts } from '../../store/contract/changes.ts'
import {
  addLooseningSignOff,
  findLoosening,
  type Loosening,
  looseningDaysMax,
} from '../../store/contract/loosenings.ts'
import { type RunQuery, versionInForceOfEach } from '../../store/contract/versions.ts'
import type { ChangeContext } from '../change.ts'
import { decideSignOff, missingSignOffs, type VersionFacts } from '../lifecycle/state-machine.ts'
import { faultOf, personOf } from '../lifecycle/step.ts'

const holdsMs = looseningDaysMax * 24 * 3_600_000

export const looseningStates = ['waiting', 'signed', 'used', 'expired'] as const
type LooseningState = (typeof looseningStates)[number]

/** Where a request stands. */
export function stateOf(
  { usedAt, signedAt, requestedAt }: Pick<Loosening, 'usedAt' | 'signedAt' | 'requestedAt'>,
  nowMs: number,
): LooseningState {
  if (usedAt !== undefined) return 'used'
  if (nowMs >= requestedAt.getTime() + holdsMs) return 'expired'
  return signedAt === undefined ? 'waiting' : 'signed'
}

/**
 * Signs a request. The last sign-off that it needs lets the same call pass once.
 * @param sha256 of the request that was read
 * @throws Fault `not_found`, `forbidden` for who asked for it or lacks the role, `conflict` where it does not wait
 */
export async function signLoosening(
  { clock }: { readonly clock: Clock },
  on: Pick<ChangeContext, 'store' | 'tenant' | 'actor'>,
  id: string,
  { sha256, comment }: { readonly sha256: string; readonly comment?: string | undefined },
): Promise<void> {
  const { store, tenant, actor } = on
  await store.tenantTransaction(tenant, async (tx) => {
    await lockContracts(tx)
    const found = await findLoosening(tx, tenant, id)
    if (found === undefined) throw new Fault('not_found', 'There is no such request.')
    const run: RunQuery = (text, params) => tx.query(text, params)
    const facts = await factsOf(run, tenant, found, clock.now())
    const by = personOf(actor)
    const decision = decideSignOff(facts, by, sha256)
    if (decision.kind === 'refused') throw faultOf(decision)
    const { level } = decision
    const signOffs = [...facts.signOffs, { by, level, sha256 }]
    const isLast = missingSignOffs({ ...facts, signOffs }).length === 0
    await addLooseningSignOff(tx, on, found, { level, comment, isLast, at: new Date(clock.now()) })
  })
}

async function factsOf(
  run: RunQuery,
  tenant: TenantId,
  found: Loosening,
  nowMs: number,
): Promise<VersionFacts> {
  const state = stateOf(found, nowMs)
  const versions = await versionInForceOfEach(run, tenant, found.contracts)
  return {
    state: state === 'waiting' ? 'proposed' : state,
    sha256: found.sha256,
    author: personOf(found.requestedBy),
    signOffs: found.signOffs.map(({ by, level }) => ({ by: personOf(by), level, sha256: found.sha256 })),
    needsSignOff: true,
    needsSecond: versions.some((version) => version?.model.secondApproval === true),
    ...{ stepProblem: undefined, otherDeploying: false, baseHolds: true, breakGlassUntilMs: undefined },
    ...{ mayActivate: false, nowMs },
  }
}
