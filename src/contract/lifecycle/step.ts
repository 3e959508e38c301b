/**
 * The moves of one version in one transaction: facts are read, a move is decided, the state changes, and the move is
 * appended. Where the version comes in force, the pin and what governs its tables change with it.
 */

import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import type { NewCheckRun } from '../../core/check-run.ts'
import { tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { deployRunsOf, requestCheckRun } from '../../store/check/check-runs.ts'
import { putDocumentTags } from '../../store/contract/document-tags.ts'
import {
  deprecatedAt,
  readLifeCycleSettings,
  recordMove,
  saveBreakGlass,
  saveVerdict,
  signOffsOf,
} from '../../store/contract/life-cycle.ts'
import { appendPin } from '../../store/contract/pins.ts'
import { governing, putInForce } from '../../store/contract/put-in-force.ts'
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
import type { ChangeContext } from '../change.ts'
import { stepProblemOf } from '../classify/step-problem.ts'
import { saysTagGoes } from '../classify/tag-findings.ts'
import { verdictView } from '../classify/verdict-view.ts'
import { syncCommitPolicies } from '../commit/sync-policies.ts'
import { judgeAgainstForce } from '../document/compare-document.ts'
import { declaredBy } from '../document/declared.ts'
import type { wantedPins } from '../document/put-document.ts'
import { testProblemOf } from '../policy-tests/run-policy-tests.ts'
import {
  breakGlassMs,
  type Decision,
  decideMove,
  type Move,
  missingSignOffs,
  type Person,
  type VersionFacts,
} from './state-machine.ts'

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

/** The pins that a version brings in force. */
export type Pins = Awaited<ReturnType<typeof wantedPins>>

/** The refusal of a guard. */
export function faultOf({ fault, why }: Extract<Decision, { kind: 'refused' }>): Fault {
  return new Fault(fault, `${why}.`)
}

/** The moves of one version in one transaction. */
export class Step {
  readonly #run: RunQuery
  readonly #tenant: TenantId

  constructor(
    private readonly parts: { readonly clock: Clock },
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
    const facts = await this.facts(version)
    const decision = decideMove('activate', facts, undefined, undefined)
    if (decision.kind === 'refused') return []
    const isVerified = facts.isVerified === true
    const reason = isVerified ? 'its checks passed' : 'without checks'
    const concerned = await this.#enforce(version, 'activate', reason, isVerified)
    const atMs = this.parts.clock.now()
    for (const { table, pin } of pins)
      await appendPin(this.tx, this.#tenant, { table, actor: this.on.actor, atMs }, pin)
    return concerned
  }

  /** Requests the check runs of a deployment, unless it has some: a second deployment finds the first one's. */
  async requestChecks(name: VersionName, runs: readonly NewCheckRun[]): Promise<void> {
    if ((await deployRunsOf(this.#run, this.#tenant, name)).length > 0) return
    for (const asked of runs) await requestCheckRun(this.#run, this.#tenant, asked)
  }

  /** Ends a deployment whose checks did not pass, or that cannot come in force. */
  async fail(version: ContractVersion, reason: string): Promise<void> {
    const decision = decideMove('fail', await this.facts(version), undefined, undefined)
    if (decision.kind === 'refused') throw faultOf(decision)
    await this.#record(version, 'fail', decision.to, true, reason)
  }

  /** Puts an approved version in force, because a commit that was made is covered by it. @throws Fault */
  async cover(version: ContractVersion, commitId: string): Promise<ConcernedTables> {
    const decision = decideMove('cover', await this.facts(version), undefined, undefined)
    if (decision.kind === 'refused') throw faultOf(decision)
    const concerned = await this.#enforce(version, 'cover', `commit ${commitId}`, false)
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
    isVerified: boolean,
  ): Promise<ConcernedTables> {
    const { contract, number, model } = version
    const base = await versionInForce(this.#run, this.#tenant, contract)
    if (base !== undefined)
      await this.#record(base, 'retire', 'retired', true, `replaced by ${version.version}`)
    if (!isVerified) await setUnverified(this.tx, this.#tenant, version)
    await this.#record(version, move, 'active', true, reason)
    const declared = declaredBy(model)
    const concerned = await putInForce(this.tx, this.#tenant, {
      ...{ contract, number, after: model, declared, before: base?.model },
    })
    const signed = { contract, number, model }
    // What the proposal did not show, because the settings changed since, nobody has signed.
    await putDocumentTags(this.tx, this.#tenant, this.on.actor, signed, (tag) =>
      saysTagGoes(version.verdict, tag),
    )
    return concerned
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
  const isVerified = await areChecksPassed(run, tenant, version)
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
    ...{ isVerified, mayActivate: isVerified || deployUnverified },
  }
}

/** Whether each table of a version that is being deployed was checked, and every check run of it passed. */
async function areChecksPassed(
  run: RunQuery,
  tenant: TenantId,
  { contract, number, state, model }: ContractVersion,
): Promise<boolean> {
  const tables = governing(model)
  if (state !== 'deploying' || tables.length === 0) return false
  const runs = await deployRunsOf(run, tenant, { contract, number })
  const checked = new Set(runs.map(({ table }) => tableKey(table)))
  return (
    tables.every(({ table }) => checked.has(tableKey(table))) && runs.every((one) => one.state === 'passed')
  )
}

/** The sign-offs that a version still needs, where it waits for some. */
export function waitsFor(facts: VersionFacts): readonly ('first' | 'second')[] {
  return facts.state === 'proposed' ? missingSignOffs(facts) : []
}
