/**
 * Decides about requests for access: who may decide, and whether access is given by a decision. A pure function over
 * facts; nothing is read or written here.
 */

import type { Grantee } from '../../core/access-grant.ts'
import { isSamePerson, makerOf } from '../../core/same-person.ts'
import type { Person } from '../lifecycle/state-machine.ts'

/** Days for which a request waits. */
export const waitingDaysMax = 14
/** The longest and the shortest time for which access is granted, in seconds. */
export const grantSecondsMax = 30 * 86_400
export const grantSecondsMin = 60

/** What a request may wait for; `review`: access was taken by break-glass, and somebody looks at it afterwards. */
type Level = 'first' | 'second' | 'review'

interface Decided {
  readonly by: Person
  readonly level: string
}

export interface RequestFacts {
  readonly state: string
  readonly sha256: string
  readonly requester: Person
  readonly grantee: Grantee
  /** The approvals that were given so far. */
  readonly approvals: readonly Decided[]
  /**
   * Who gives the second approval: nobody; an administrator, where the contract asks for a second approval; or another
   * person who may give the first, where its review plan asks for two.
   */
  readonly second: 'none' | 'administrator' | 'approver'
  /** Whether it has waited too long. */
  readonly isOverdue: boolean
}

/** What somebody may decide about a request, as far as they are nobody whom it concerns. */
export interface DecidingRights {
  readonly isSteward: boolean
  readonly isAdministrator: boolean
  /** Whether the contract's document names them as an owner. */
  readonly isOwner: boolean
}

export type Verdict =
  | { readonly kind: 'decided'; readonly level: Level; readonly isLast: boolean }
  | { readonly kind: 'refused'; readonly fault: 'conflict' | 'forbidden'; readonly why: string }

/** What a decider is asked: whether to approve, of the request that was read. */
export interface Decision {
  readonly approves: boolean
  readonly sha256: string
}

/** Decides a decision. A refusal by one person ends the request, an approval may need another one. */
export function reviewRequest(
  facts: RequestFacts,
  by: Person,
  rights: DecidingRights,
  { approves, sha256 }: Decision,
): Verdict {
  const no = (fault: 'conflict' | 'forbidden', why: string): Verdict => ({ kind: 'refused', fault, why })
  if (facts.state !== 'waiting' && facts.state !== 'to_review')
    return no('conflict', `A request that is ${facts.state} is not decided`)
  if (facts.isOverdue)
    return no('conflict', `A request waits for ${waitingDaysMax} days, and these are over. Ask again`)
  if (sha256 !== facts.sha256) return no('conflict', 'The request is another one than was read')
  if (isSamePerson(by, facts.requester) || haveOneMaker(by, facts.requester))
    return no(
      'forbidden',
      'Who asked for access may not decide about it, nor by another session of one maker',
    )
  if (isGrantee(by, facts.grantee))
    return no('forbidden', 'Who would have the access may not decide about it')
  if (facts.approvals.some((one) => isSamePerson(one.by, by) || haveOneMaker(one.by, by)))
    return no('conflict', 'A request is decided once by each person, and by sessions that one person made')
  const missing = missingOf(facts)
  const level = missing.find((one) => mayDecide(one, facts, rights))
  if (level === undefined)
    return no(
      'forbidden',
      `This decision takes ${[...new Set(missing.map((one) => whoDecides(one, facts)))].join(', or ')}`,
    )
  return { kind: 'decided', level, isLast: !approves || missing.length === 1 }
}

/** The approvals that a request still needs. */
export function missingOf({
  state,
  approvals,
  second,
}: Pick<RequestFacts, 'state' | 'approvals' | 'second'>): readonly Level[] {
  if (state === 'to_review') return ['review']
  const needed = second === 'none' ? (['first'] as const) : (['first', 'second'] as const)
  const missing = needed.filter((level) => !approvals.some((one) => one.level === level))
  // The contract asks for fewer approvals by now than when it was approved: one more person ends it.
  return missing.length > 0 ? missing : ['first']
}

function mayDecide(level: Level, { second }: RequestFacts, rights: DecidingRights): boolean {
  if (level === 'review') return rights.isSteward
  if (level === 'second' && second === 'administrator') return rights.isAdministrator
  return rights.isSteward || rights.isOwner
}

function whoDecides(level: Level, { second }: RequestFacts): string {
  if (level === 'review') return 'the role steward'
  if (level === 'second' && second === 'administrator') return 'the role administrator'
  return 'the role steward, or an owner whom the contract names'
}

/** Whether two services act by sessions that one person made, who may have both secrets. */
function haveOneMaker(a: Person, b: Person): boolean {
  const maker = makerOf(a)
  return maker !== undefined && maker === makerOf(b)
}

function isGrantee(by: Person, grantee: Grantee): boolean {
  return 'sub' in grantee ? isSamePerson(by, grantee) : by.roles.includes(grantee.role)
}
