/**
 * Moves a version of a contract through its life cycle. One transaction reads the facts, decides, changes the states,
 * appends the moves, and, where the version comes in force, changes the pin and what governs its tables.
 */

import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { TableStates } from '../../catalog/table-states.ts'
import type { Actor } from '../../core/administration.ts'
import type { TenantId } from '../../core/tenant.ts'
import { lockContracts } from '../../store/contract/changes.ts'
import {
  addSignOff,
  deprecatedAt,
  readLifeCycleSettings,
  recordMove,
  saveBreakGlass,
  saveVerdict,
  signOffsOf,
} from '../../store/contract/life-cycle.ts'
import { appendPin } from '../../store/contract/pins.ts'
import { endForce, putInForce } from '../../store/contract/put-in-force.ts'
import { readersOf } from '../../store/contract/readers.ts'
import type { ConcernedTables } from '../../store/contract/rows.ts'
import {
  type ContractVersion,
  findVersion,
  type RunQuery,
  setUnverified,
  versionInForce,
  versionsIn,
} from '../../store/contract/versions.ts'
import type { Tx } from '../../store/database/session.ts'
import { type ChangeContext, changeContracts, changeIn } from '../change.ts'
import { stepProblemOf } from '../classify/step-problem.ts'
import { verdictView } from '../classify/verdict-view.ts'
import { syncCommitPolicies } from '../commit/sync-policies.ts'
import { judgeAgainstForce } from '../document/compare-document.ts'
import { declaredBy } from '../document/declared.ts'
import { wantedPins } from '../document/put-document.ts'
import { testProblemOf } from '../policy-tests/run-policy-tests.ts'
import {
  breakGlassMs,
  type Decision,
  decideMove,
  decideSignOff,
  type Move,
  missingSignOffs,
  type Person,
  type VersionFacts,
} from './state-machine.ts'

export interface LifeCycleParts {
  readonly states: TableStates
  readonly clock: Clock
}

/** A move that a person or service asks for. */
export interface AskedMove {
  readonly move: Move
  readonly reason?: string | undefined
  /** Whether a version is retired although its notice runs, or somebody reads its tables. */
  readonly override?: boolean | undefined
}

/** A version by its contract and number. */
export interface VersionName {
  readonly contract: string
  readonly number: number
}

/** The person of an actor, as the guards see it. */
export function personOf({ sub, roles, session }: Actor): Person {
  return { sub, roles, createdBy: session?.createdBy }
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
  const wanted = move === 'deploy' ? await planForce(parts, on, name) : undefined
  await on.store.tenantTransaction(on.tenant, async (tx) => {
    await lockContracts(tx)
    await moveIn(tx, parts, on, { name, move, reason, override, pins: wanted ?? [] })
  })
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
  },
): Promise<void> {
  const { name, move, reason, override = false, pins = [] } = asked
  const value = { move, ...(reason !== undefined && { reason }), ...(override && { override }) }
  await changeIn(tx, on, { action: 'move-contract-version', subject: { ...name }, value }, async () => {
    const step = new Step(parts, on, tx)
    const version = await step.load(name)
    const by = personOf(on.actor)
    const resumes = move === 'deploy' && version.state === 'deploying'
    if (!resumes) await step.make(version, by, { move, reason, override })
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

type Pins = Awaited<ReturnType<typeof wantedPins>>

async function planForce(parts: LifeCycleParts, on: ChangeContext, name: VersionName): Promise<Pins> {
  const version = await findVersion(
    (text, params) => on.store.tenantQuery(on.tenant, text, params),
    on.tenant,
    name,
  )
  return version === undefined ? [] : await wantedPins(parts, on, version.model)
}

function faultOf({ fault, why }: Extract<Decision, { kind: 'refused' }>): Fault {
  return new Fault(fault, `${why}.`)
}

/** The steps of one transaction. */
class Step {
  readonly #run: RunQuery
  readonly #tenant: TenantId

  constructor(
    private readonly parts: Pick<LifeCycleParts, 'clock'>,
    private readonly on: ChangeContext,
    private readonly tx: Tx,
  ) {
    this.#run = (text, params) => tx.query(text, params)
    this.#tenant = on.tenant
  }

  async load(name: VersionName): Promise<ContractVersion> {
    const version = await findVersion(this.#run, this.#tenant, name)
    if (version === undefined) throw new Fault('not_found', 'The contract has no such version.')
    return version
  }

  async facts(version: ContractVersion): Promise<VersionFacts> {
    return await loadFacts(this.#run, this.#tenant, version, this.parts.clock.now())
  }

  /** Makes one move. @throws Fault where its guard refuses */
  async make(version: ContractVersion, by: Person, { move, reason, override }: AskedMove): Promise<void> {
    const retireProblem =
      move === 'retire' && !override
        ? await retireProblemOf(this.#run, this.#tenant, version, this.parts.clock.now())
        : undefined
    const verdict =
      move === 'propose' ? await judgeAgainstForce(this.#run, this.#tenant, version.model) : undefined
    const base = await versionInForce(this.#run, this.#tenant, version.contract)
    const facts = {
      ...(await this.facts(version)),
      retireProblem,
      stepProblem:
        verdict && (testProblemOf(version.model) ?? stepProblemOf(base?.version, version.version, verdict)),
    }
    const decision = decideMove(move, facts, by, reason)
    if (decision.kind === 'refused') throw faultOf(decision)
    if (verdict !== undefined)
      await saveVerdict(this.tx, this.#tenant, version, verdictView(verdict), base?.number ?? 0)
    if (move === 'break_glass')
      await saveBreakGlass(this.tx, this.#tenant, version, new Date(this.parts.clock.now() + breakGlassMs))
    await this.#record(version, move, decision.to, false, reason)
  }

  /** Approves a proposal that needs no sign-off, or has them all. */
  async approve(name: VersionName): Promise<ConcernedTables> {
    const version = await this.load(name)
    const decision = decideMove('approve', await this.facts(version), undefined, undefined)
    if (decision.kind === 'allowed') await this.#record(version, 'approve', decision.to, true, undefined)
    return []
  }

  /** Puts a deployment in force where its guard allows it; else it stays deploying. */
  async activate(name: VersionName, by: Person, pins: Pins): Promise<ConcernedTables> {
    if (!by.roles.includes('steward')) throw new Fault('forbidden', 'The move deploy takes the role steward.')
    const version = await this.load(name)
    const decision = decideMove('activate', await this.facts(version), undefined, undefined)
    if (decision.kind === 'refused') return []
    const concerned = await this.#enforce(version, 'activate', 'without checks')
    const atMs = this.parts.clock.now()
    for (const { table, pin } of pins)
      await appendPin(this.tx, this.#tenant, { table, actor: this.on.actor, atMs }, pin)
    return concerned
  }

  /** Puts an approved version in force, because a commit that was made is covered by it. @throws Fault */
  async cover(version: ContractVersion, commitId: string): Promise<ConcernedTables> {
    const decision = decideMove('cover', await this.facts(version), undefined, undefined)
    if (decision.kind === 'refused') throw faultOf(decision)
    const concerned = await this.#enforce(version, 'cover', `commit ${commitId}`)
    await syncCommitPolicies(this.tx, this.#tenant, version.contract, {
      nowMs: this.parts.clock.now(),
      by: this.on.actor,
    })
    return concerned
  }

  async #enforce(
    version: ContractVersion,
    move: 'activate' | 'cover',
    reason: string,
  ): Promise<ConcernedTables> {
    const { contract, number, model } = version
    const base = await versionInForce(this.#run, this.#tenant, contract)
    if (base !== undefined)
      await this.#record(base, 'retire', 'retired', true, `replaced by ${version.version}`)
    await setUnverified(this.tx, this.#tenant, version)
    await this.#record(version, move, 'active', true, reason)
    const declared = declaredBy(model)
    return await putInForce(this.tx, this.#tenant, {
      ...{ contract, number, after: model, declared, before: base?.model },
    })
  }

  async #record(
    version: ContractVersion,
    move: string,
    to: string,
    auto: boolean,
    reason: string | undefined,
  ): Promise<void> {
    await recordMove(this.tx, this.#tenant, version, {
      ...{ move, from: version.state, to, auto, reason, by: this.on.actor },
    })
  }
}

const dayMs = 86_400_000

async function retireProblemOf(
  run: RunQuery,
  tenant: TenantId,
  version: ContractVersion,
  nowMs: number,
): Promise<string | undefined> {
  const { noticeDays, quietDays } = await readLifeCycleSettings(run, tenant)
  const deprecated = await deprecatedAt(run, tenant, version)
  const endsMs = (deprecated?.getTime() ?? nowMs) + noticeDays * dayMs
  const how = 'Retire it later, or with `override`'
  if (nowMs < endsMs) return `The version is on notice until ${new Date(endsMs).toISOString()}. ${how}`
  const readers = await readersOf(run, tenant, version.contract, new Date(nowMs - quietDays * dayMs))
  if (readers.length === 0) return undefined
  const named = readers.slice(0, 3).map(({ sub }) => sub)
  const more = readers.length > named.length ? ` and ${readers.length - named.length} more` : ''
  return `In the last ${quietDays} days its tables were read by ${named.join(', ')}${more}. ${how}`
}

/** What the guards ask about a version. */
export async function loadFacts(
  run: RunQuery,
  tenant: TenantId,
  version: ContractVersion,
  nowMs: number,
): Promise<VersionFacts> {
  const { contract, number, state, sha256, model, verdict, baseNumber, breakGlassUntil } = version
  const deploying = await versionsIn(run, tenant, contract, ['deploying'])
  const force = await versionInForce(run, tenant, contract)
  const signOffs = await signOffsOf(run, tenant, version)
  const { deployUnverified } = await readLifeCycleSettings(run, tenant)
  return {
    ...{ state, sha256, nowMs, stepProblem: undefined },
    author: personOf(version.createdBy),
    signOffs: signOffs.map(({ by, ...one }) => ({ ...one, by: personOf(by) })),
    // Without a verdict it is not known, so somebody must look.
    // A writer's commit alone changes no contract.
    needsSignOff:
      verdict === undefined || verdict.breaking || verdict.loosens_access || version.evidence !== undefined,
    needsSecond: model.secondApproval,
    otherDeploying: deploying.some((one) => one.number !== number),
    baseHolds: (force?.number ?? 0) === baseNumber,
    breakGlassUntilMs: breakGlassUntil?.getTime(),
    // Nothing runs the checks of a deployment yet.
    mayActivate: deployUnverified,
  }
}

/** The sign-offs that a version still needs, where it waits for some. */
export function waitsFor(facts: VersionFacts): readonly ('first' | 'second')[] {
  return facts.state === 'proposed' ? missingSignOffs(facts) : []
}
