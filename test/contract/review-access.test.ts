/** Who may decide about a request for access, as a table over facts; and who is an owner, by the team of a document. */

import { describe, expect, test } from 'bun:test'
import { isOwner, namesOf } from '../../src/contract/access/owners.ts'
import {
  type DecidingRights,
  missingOf,
  type RequestFacts,
  reviewRequest,
} from '../../src/contract/access/review.ts'

const facts: RequestFacts = {
  ...{
    state: 'waiting',
    sha256: 'a',
    requester: { sub: 'rita', roles: ['analyst'] },
    grantee: { sub: 'rita' },
  },
  ...{ approvals: [], second: 'none', isOverdue: false },
}
const person = (sub: string, createdBy?: string, roles: readonly string[] = []) => ({ sub, roles, createdBy })
const approved = (sub: string, createdBy?: string) => ({
  by: person(sub, createdBy),
  level: 'first' as const,
})
const nobody: DecidingRights = { isSteward: false, isAdministrator: false, isOwner: false }
const steward = { ...nobody, isSteward: true }
const owner = { ...nobody, isOwner: true }
const administrator = { ...nobody, isAdministrator: true }

describe('a decision', () => {
  test.each<[string, Partial<RequestFacts>, ReturnType<typeof person>, DecidingRights, string]>([
    ['by a steward is the only one', {}, person('ann'), steward, 'first, last'],
    ['by an owner is the only one', {}, person('ann'), owner, 'first, last'],
    ['by an administrator is none', {}, person('ann'), administrator, 'forbidden'],
    ['by somebody without a right is none', {}, person('ann'), nobody, 'forbidden'],
    ['by who asked is none', {}, person('rita'), steward, 'forbidden'],
    [
      'by a service is none where one person made it and the service that asked',
      { requester: person('service:a', 'pat', ['analyst']), grantee: { sub: 'service:a' } },
      person('service:b', 'pat'),
      steward,
      'forbidden',
    ],
    [
      'by one more person ends a request where the contract asks for fewer approvals by now',
      { second: 'none', approvals: [approved('bob')] },
      person('ann'),
      steward,
      'first, last',
    ],
    ['by a session that the requester made is none', {}, person('service:x', 'rita'), steward, 'forbidden'],
    [
      'by who has the role for which it is asked is none',
      { grantee: { role: 'a' } },
      person('ann', undefined, ['a']),
      owner,
      'forbidden',
    ],
    ['is the first of two', { second: 'approver' }, person('ann'), owner, 'first'],
    [
      'by another steward is the second',
      { second: 'approver', approvals: [approved('bob')] },
      person('ann'),
      steward,
      'second, last',
    ],
    [
      'by another owner is the second',
      { second: 'approver', approvals: [approved('bob')] },
      person('ann'),
      owner,
      'second, last',
    ],
    [
      'by an administrator is no second of a plan',
      { second: 'approver', approvals: [approved('bob')] },
      person('ann'),
      administrator,
      'forbidden',
    ],
    [
      'by an owner is no second of a contract',
      { second: 'administrator', approvals: [approved('bob')] },
      person('ann'),
      owner,
      'forbidden',
    ],
    [
      'by an administrator is the second of a contract',
      { second: 'administrator', approvals: [approved('bob')] },
      person('ann'),
      administrator,
      'second, last',
    ],
    [
      'by one person counts once',
      { second: 'approver', approvals: [approved('ann')] },
      person('ann'),
      steward,
      'conflict',
    ],
    [
      'by two sessions that one person made counts once',
      { second: 'approver', approvals: [approved('service:a', 'eve')] },
      person('service:b', 'eve'),
      steward,
      'conflict',
    ],
    [
      'by two sessions that the operator made counts twice',
      { second: 'approver', approvals: [approved('service:a', 'operator')] },
      person('service:b', 'operator'),
      steward,
      'second, last',
    ],
    [
      'by two persons through services of one maker counts twice',
      { second: 'approver', approvals: [approved('bob', 'eve')] },
      person('ann', 'eve'),
      steward,
      'second, last',
    ],
    [
      'about break-glass is a steward’s review',
      { state: 'to_review', second: 'approver' },
      person('ann'),
      steward,
      'review, last',
    ],
    ['about break-glass is no owner’s', { state: 'to_review' }, person('ann'), owner, 'forbidden'],
    [
      'about break-glass is not made by who took it',
      { state: 'to_review' },
      person('rita'),
      steward,
      'forbidden',
    ],
    [
      'about a request that has waited too long is none',
      { isOverdue: true },
      person('ann'),
      steward,
      'conflict',
    ],
    ...['granted', 'denied', 'withdrawn', 'expired', 'confirmed', 'condemned'].map(
      (state): [string, Partial<RequestFacts>, ReturnType<typeof person>, DecidingRights, string] => [
        `about a request that is ${state} is none`,
        { state },
        person('ann'),
        steward,
        'conflict',
      ],
    ),
  ])('%s', (_, more, by, rights, expected) => {
    const verdict = reviewRequest({ ...facts, ...more }, by, rights, { approves: true, sha256: 'a' })
    const said =
      verdict.kind === 'refused' ? verdict.fault : `${verdict.level}${verdict.isLast ? ', last' : ''}`
    expect(said).toBe(expected)
  })

  test('that denies is the last one', () => {
    const verdict = reviewRequest({ ...facts, second: 'approver' }, person('ann'), steward, {
      ...{ approves: false, sha256: 'a' },
    })
    expect(verdict).toEqual({ kind: 'decided', level: 'first', isLast: true })
  })

  test('about another request than was read is refused', () => {
    const decision = { approves: true, sha256: 'b' }
    expect(reviewRequest(facts, person('ann'), steward, decision)).toMatchObject({ fault: 'conflict' })
  })

  test('waits for what was not given yet, whatever came first', () => {
    const approvals = [{ by: person('ann'), level: 'second' }]
    expect(missingOf({ ...facts, second: 'administrator', approvals })).toEqual(['first'])
  })
})

describe('an owner', () => {
  const people = [
    { username: 'ann', role: ' OWNER ' },
    { username: 'left', role: 'owner', until: '2026-01-01T00:00:00.000Z' },
    { username: 'twice', role: 'owner' },
    { username: 'twice' },
    { name: 'Named', role: 'owner' },
    { username: 'product', role: 'product owner' },
  ]
  const contacts = { people, channels: [] }
  const atMs = Date.parse('2026-01-01T00:00:00Z')
  test.each<[string, readonly string[], number, boolean]>([
    ['is named', ['ann'], atMs, true],
    ['is named by another case of letters only if it is the subject', ['Ann'], atMs, false],
    ['is one until they leave', ['left'], atMs - 1, true],
    ['is none from then on', ['left'], atMs, false],
    ['is none whom another entry gives no role', ['twice'], atMs, false],
    ['is none who has a name and no username', ['Named'], atMs, false],
    ['is none of something else', ['product'], atMs, false],
    ['is none without a name', [], atMs, false],
  ])('%s', (_, names, nowMs, expected) => {
    expect(isOwner(contacts, names, nowMs)).toBe(expected)
    expect(isOwner(undefined, names, nowMs)).toBe(false)
  })

  test('is named by an address only where the tenant matches people by it, and is no service', () => {
    const ann = { sub: 'ann', email: 'ann@shop.example' }
    expect(namesOf(ann, { matchesByEmail: false })).toEqual(['ann'])
    expect(namesOf(ann, { matchesByEmail: true })).toEqual(['ann', 'ann@shop.example'])
    expect(namesOf({ sub: 'ann' }, { matchesByEmail: true })).toEqual(['ann'])
    for (const sub of ['service:ann', 'SERVICE:ann', 'operator'])
      expect(namesOf({ ...ann, sub }, { matchesByEmail: true })).toEqual([])
  })
})
