/**
 * Decides about requests for access: who may decide, and whether access is given by a decision. A pure function over
 * facts; nothing is read or written here.
 */

import type { Grantee } from '../../core/access-grant.ts'
import { isSamePerson } from '../../core/same-person.ts'
import type { Person } from '../lifecycle/state-machine.ts'

/** Days for which a request waits. */
export const waitingDaysMax = 14
/** The longest and the shortest time for which access is granted, in seconds. */
export const grantSecondsMax = 30 * 86_400
export const grantSecondsMin = 60

interface Decided {
  readonly by: Person
  readonly level: 'first' | 'second'
}

export interface RequestFacts {
  readonly state: string
  readonly sha256: string
  readonly requester: Person
  readonly grantee: Grantee
  /** The approvals that were given so far. */
  readonly approvals: readonly Decided[]
  /** Whether a second person, an administrator, must approve too: the contract asks for a second approval. */
  readonly needsSecond: boolean
  /** Whether it has waited too long. */
  readonly isOverdue: boolean
}

export type Verdict =
  | { readonly kind: 'decided'; readonly level: 'first' | 'second'; readonly isLast: boolean }
  | { readonly kind: 'refused'; readonly fault: 'conflict' | 'forbidden'; readonly why: string }

/** What a decider is asked: whether to approve, of the request that was read. */
export interface Decision {
  readonly approves: boolean
  readonly sha256: string
}

/** Decides a decision. A refusal by one person ends the request, an approval may need another one. */
export function reviewRequest(facts: RequestFacts, by: Person, { approves, sha256 }: Decision): Verdict {
  const no = (fault: 'conflict' | 'forbidden', why: string): Verdict => ({ kind: 'refused', fault, why })
  if (facts.state !== 'waiting') return no('conflict', `A request that is ${facts.state} is not decided`)
  if (facts.isOverdue)
    return no('conflict', `A request waits for ${waitingDaysMax} days, and these are over. Ask again`)
  if (sha256 !== facts.sha256) return no('conflict', 'The request is another one than was read')
  if (isSamePerson(by, facts.requester))
    return no('forbidden', 'Who asked for access may not decide about it')
  if (isGrantee(by, facts.grantee))
    return no('forbidden', 'Who would have the access may not decide about it')
  if (facts.approvals.some((one) => isSamePerson(one.by, by)))
    return no('conflict', 'A request is decided once by each person')
  const level = missingOf(facts).find((one) => by.roles.includes(roleOf(one)))
  if (level === undefined)
    return no('forbidden', `This decision takes the role ${missingOf(facts).map(roleOf).join(' or ')}`)
  return { kind: 'decided', level, isLast: !approves || missingOf(facts).length === 1 }
}

/** The approvals that a request still needs. */
export function missingOf({
  approvals,
  needsSecond,
}: Pick<RequestFacts, 'approvals' | 'needsSecond'>): readonly ('first' | 'second')[] {
  const needed = needsSecond ? (['first', 'second'] as const) : (['first'] as const)
  return needed.filter((level) => !approvals.some((one) => one.level === level))
}

const roleOf = (level: 'first' | 'second') => (level === 'first' ? 'steward' : 'administrator')

function isGrantee(by: Person, grantee: Grantee): boolean {
  return 'sub' in grantee ? isSamePerson(by, grantee) : by.roles.includes(grantee.role)
}
