/**
 * The life cycle of a contract's version: states, moves, and the guard of each. A pure function over facts; nothing is
 * read or written here.
 */

import { isSamePerson } from '../../core/same-person.ts'

export const versionStates = [
  ...['draft', 'proposed', 'approved', 'deploying', 'active', 'deprecated', 'retired'],
  ...['rejected', 'withdrawn', 'failed'],
] as const satisfies readonly string[]

export const moves = [
  'propose',
  'approve',
  'break_glass',
  'reject',
  'withdraw',
  'deploy',
  'activate',
  'cover',
  'cancel',
  'fail',
  'deprecate',
  'retire',
] as const
/** `approve`, `activate`, `cover` and `fail` are the system's; all others are asked for by a person or service. */
export type Move = (typeof moves)[number]

/** Who a person or service is, as far as the guards ask. */
export interface Person {
  readonly sub: string
  readonly roles: readonly string[]
  /** Subject of who made the session. */
  readonly createdBy?: string | undefined
}

interface SignOff {
  readonly by: Person
  readonly level: 'first' | 'second'
  /** Of the document that was signed. */
  readonly sha256: string
}

export interface VersionFacts {
  readonly state: string
  readonly sha256: string
  readonly author: Person
  readonly signOffs: readonly SignOff[]
  /** Whether somebody must sign: the change breaks, or loosens access. */
  readonly needsSignOff: boolean
  /** Whether a second person, an administrator, must sign too. */
  readonly needsSecond: boolean
  /** Why it may not be proposed: its number is too small, or a policy test fails; undefined where it may. */
  readonly stepProblem: string | undefined
  /** Why it is too early to retire the version; undefined where it is not, or a steward overrides that. */
  readonly retireProblem?: string | undefined
  /** Whether another version of the contract is being deployed. */
  readonly otherDeploying: boolean
  /** Whether the version in force is the one that the proposal was compared with. */
  readonly baseHolds: boolean
  /** Milliseconds since 1970 until which an approval by break-glass holds; undefined for another approval. */
  readonly breakGlassUntilMs: number | undefined
  /** Whether the checks of the deployment passed, or the tenant does without. */
  readonly mayActivate: boolean
  /** Whether its checks passed. */
  readonly isVerified?: boolean
  readonly nowMs: number
}

export type Decision =
  | { readonly kind: 'allowed'; readonly to: string }
  | {
      readonly kind: 'refused'
      readonly fault: 'conflict' | 'forbidden' | 'unprocessable' | 'bad_request'
      readonly why: string
    }

/** Milliseconds for which an approval by break-glass holds. */
export const breakGlassMs = 24 * 3_600_000

const froms: Readonly<Record<Move, readonly string[]>> = {
  propose: ['draft'],
  approve: ['proposed'],
  break_glass: ['proposed'],
  reject: ['proposed'],
  withdraw: ['draft', 'proposed', 'approved'],
  deploy: ['approved'],
  activate: ['deploying'],
  cover: ['approved'],
  cancel: ['deploying'],
  fail: ['deploying'],
  deprecate: ['active'],
  retire: ['deprecated'],
}

const tos: Readonly<Record<Move, string>> = {
  propose: 'proposed',
  approve: 'approved',
  break_glass: 'approved',
  reject: 'rejected',
  withdraw: 'withdrawn',
  deploy: 'deploying',
  activate: 'active',
  cover: 'active',
  cancel: 'failed',
  fail: 'failed',
  deprecate: 'deprecated',
  retire: 'retired',
}

/** Whether the system makes a move by what was found, and nobody may ask for it. */
export function isOfSystem(move: Move): move is 'approve' | 'activate' | 'cover' | 'fail' {
  return move === 'approve' || move === 'activate' || move === 'cover' || move === 'fail'
}

const needReason: readonly Move[] = ['break_glass', 'reject', 'cancel', 'deprecate', 'retire']
const ofStewards: readonly Move[] = ['reject', 'deploy', 'cancel', 'deprecate', 'retire']

/**
 * Decides a move.
 * @param by who asks; undefined for the system
 */
export function decideMove(
  move: Move,
  facts: VersionFacts,
  by: Person | undefined,
  reason: string | undefined,
): Decision {
  if (!froms[move].includes(facts.state))
    return refused('conflict', `A version that is ${facts.state} cannot be moved by ${move}`)
  if (needReason.includes(move) && (reason ?? '').trim() === '')
    return refused('bad_request', `The move ${move} needs a reason`)
  return rightOf(move, facts, by) ?? guardOf(move, facts) ?? { kind: 'allowed', to: tos[move] }
}

const refused = (fault: Extract<Decision, { kind: 'refused' }>['fault'], why: string): Decision => {
  return { kind: 'refused', fault, why }
}

function rightOf(move: Move, { author }: VersionFacts, by: Person | undefined): Decision | undefined {
  // The system approves and activates by what was found; nobody else may.
  if (isOfSystem(move))
    return by === undefined ? undefined : refused('forbidden', `Nobody may ask for ${move}`)
  if (by === undefined) return refused('forbidden', `The system does not ask for ${move}`)
  const isSteward = by.roles.includes('steward')
  if (ofStewards.includes(move) && !isSteward)
    return refused('forbidden', `The move ${move} takes the role steward`)
  if (move === 'break_glass' && !by.roles.includes('administrator'))
    return refused('forbidden', 'Break-glass takes the role administrator')
  if ((move === 'break_glass' || move === 'reject') && isSamePerson(by, author))
    return refused('forbidden', 'The author of a version may not decide about it')
  if ((move === 'propose' || move === 'withdraw') && !isSteward && !isSamePerson(by, author))
    return refused('forbidden', `The move ${move} is for the author or a steward`)
  return undefined
}

function guardOf(move: Move, facts: VersionFacts): Decision | undefined {
  if (move === 'propose' && facts.stepProblem !== undefined)
    return refused('unprocessable', facts.stepProblem)
  if (move === 'retire' && facts.retireProblem !== undefined) return refused('conflict', facts.retireProblem)
  if (move === 'approve' && missingSignOffs(facts).length > 0)
    return refused('conflict', `The version waits for sign-off: ${missingSignOffs(facts).join(', ')}`)
  if (move !== 'deploy' && move !== 'activate' && move !== 'cover') return undefined
  if (facts.otherDeploying) return refused('conflict', 'Another version of the contract is being deployed')
  if (!facts.baseHolds)
    return refused('conflict', 'Another version came in force since this one was proposed. Import it again')
  if (facts.breakGlassUntilMs !== undefined && facts.nowMs >= facts.breakGlassUntilMs)
    return refused('conflict', 'The approval by break-glass has expired. Import the version again')
  if (move === 'activate' && !facts.mayActivate) return refused('conflict', 'The checks have not passed')
  return undefined
}

/** The sign-offs that a proposal needs; none for one that advances by itself. */
export function neededSignOffs({
  needsSignOff,
  needsSecond,
}: Pick<VersionFacts, 'needsSignOff' | 'needsSecond'>): readonly ('first' | 'second')[] {
  if (!needsSignOff) return []
  return needsSecond ? ['first', 'second'] : ['first']
}

/** The sign-offs that a proposal still needs. */
export function missingSignOffs(facts: VersionFacts): readonly ('first' | 'second')[] {
  const valid = facts.signOffs.filter(
    ({ sha256, by }) => sha256 === facts.sha256 && !isSamePerson(by, facts.author),
  )
  return neededSignOffs(facts).filter((level) => !valid.some((one) => one.level === level))
}

/** Decides a sign-off: the level at which it is given. */
export function decideSignOff(
  facts: VersionFacts,
  by: Person,
  sha256: string,
): { readonly kind: 'allowed'; readonly level: 'first' | 'second' } | Extract<Decision, { kind: 'refused' }> {
  const no = (fault: 'conflict' | 'forbidden', why: string) => ({ kind: 'refused', fault, why }) as const
  if (facts.state !== 'proposed') return no('conflict', `A version that is ${facts.state} is not signed`)
  if (sha256 !== facts.sha256)
    return no('conflict', 'The version has another document than the one that was signed')
  if (isSamePerson(by, facts.author)) return no('forbidden', 'The author of a version may not sign it')
  if (facts.signOffs.some((one) => isSamePerson(one.by, by)))
    return no('conflict', 'A version is signed once by each person')
  const [missing] = missingSignOffs(facts)
  if (missing === 'first' && by.roles.includes('steward')) return { kind: 'allowed', level: 'first' }
  if (missingSignOffs(facts).includes('second') && by.roles.includes('administrator'))
    return { kind: 'allowed', level: 'second' }
  if (missing === undefined) return no('conflict', 'The version needs no sign-off')
  return no(
    'forbidden',
    `The ${missing} sign-off takes the role ${missing === 'first' ? 'steward' : 'administrator'}`,
  )
}
