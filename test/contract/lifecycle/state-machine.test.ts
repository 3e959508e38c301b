/** The guards of the life cycle that a walk seldom meets: time, persons, and what only the system may do. */

import { expect, test } from 'bun:test'
import {
  breakGlassMs,
  decideMove,
  decideSignOff,
  moves,
  type Person,
  type VersionFacts,
} from '../../../src/contract/lifecycle/state-machine.ts'
import { isSamePerson } from '../../../src/core/same-person.ts'

const ann: Person = { sub: 'ann', roles: ['steward', 'administrator'] }
const stella: Person = { sub: 'stella', roles: ['steward', 'administrator'] }
const facts = (changes: Partial<VersionFacts> = {}): VersionFacts => ({
  ...{ state: 'proposed', sha256: 'a', author: ann, signOffs: [], needsSignOff: true, needsSecond: false },
  ...{ stepProblem: undefined, otherDeploying: false, baseHolds: true, breakGlassUntilMs: undefined },
  ...{ mayActivate: true, nowMs: 0 },
  ...changes,
})

test('an approval by break-glass is not deployed once its day is over', () => {
  const at = (nowMs: number) =>
    decideMove(
      'deploy',
      facts({ state: 'approved', breakGlassUntilMs: breakGlassMs, nowMs }),
      stella,
      undefined,
    ).kind
  expect([at(breakGlassMs - 1), at(breakGlassMs)]).toEqual(['allowed', 'refused'])
})

test('a deployment whose checks have not passed does not become active', () => {
  const decided = (mayActivate: boolean) =>
    decideMove('activate', facts({ state: 'deploying', mayActivate }), undefined, undefined).kind
  expect([decided(true), decided(false)]).toEqual(['allowed', 'refused'])
})

test('nobody may ask for what the system decides, and the system asks for nothing else', () => {
  for (const move of moves) {
    const system = move === 'approve' || move === 'activate'
    const state = { approve: 'proposed', activate: 'deploying' }[move as string] ?? 'proposed'
    const at = facts({ state, needsSignOff: false })
    expect([move, decideMove(move, at, system ? stella : undefined, 'x').kind]).toEqual([move, 'refused'])
  }
})

test('a sign-off for another document does not approve', () => {
  const signed = (sha256: string) =>
    decideMove('approve', facts({ signOffs: [{ by: stella, level: 'first', sha256 }] }), undefined, undefined)
      .kind
  expect([signed('a'), signed('b')]).toEqual(['allowed', 'refused'])
})

test('a session that the author made, or that made the author’s, is the author', () => {
  const made: Person = { sub: 'service:ci', roles: ['steward'], createdBy: 'ann' }
  expect([isSamePerson(ann, made), isSamePerson(made, ann), isSamePerson(ann, stella)]).toEqual([
    true,
    true,
    false,
  ])
  expect(decideSignOff(facts(), made, 'a').kind).toBe('refused')
  expect(decideSignOff(facts(), stella, 'a')).toEqual({ kind: 'allowed', level: 'first' })
})

test('nobody signs twice, also where both roles are theirs, or through a session that one made for the other', () => {
  const made: Person = { sub: 'service:ci', roles: ['steward', 'administrator'], createdBy: 'stella' }
  for (const [signed, again] of [
    [stella, stella],
    [stella, made],
    [made, stella],
  ] as const) {
    const signOffs = [{ by: signed, level: 'first', sha256: 'a' }] as const
    expect(decideSignOff(facts({ needsSecond: true, signOffs }), again, 'a')).toMatchObject({
      ...{ kind: 'refused', why: 'A version is signed once by each person' },
    })
  }
  const signOffs = [{ by: stella, level: 'first', sha256: 'a' }] as const
  const otto: Person = { ...made, createdBy: 'otto' }
  expect(decideSignOff(facts({ needsSecond: true, signOffs }), otto, 'a')).toEqual({
    ...{ kind: 'allowed', level: 'second' },
  })
})

const states = [
  ...['draft', 'proposed', 'approved', 'deploying', 'active', 'deprecated', 'retired'],
  ...['rejected', 'withdrawn', 'failed'],
]
const tess: Person = { sub: 'tess', roles: ['steward', 'administrator'] }
/** Facts that no guard is against. */
const free = { needsSignOff: false, author: ann }

test.each([
  ['propose', ['draft'], 'proposed'],
  ['approve', ['proposed'], 'approved'],
  ['break_glass', ['proposed'], 'approved'],
  ['reject', ['proposed'], 'rejected'],
  ['withdraw', ['draft', 'proposed', 'approved'], 'withdrawn'],
  ['deploy', ['approved'], 'deploying'],
  ['activate', ['deploying'], 'active'],
  ['cover', ['approved'], 'active'],
  ['cancel', ['deploying'], 'failed'],
  ['fail', ['deploying'], 'failed'],
  ['deprecate', ['active'], 'deprecated'],
  ['retire', ['deprecated'], 'retired'],
] as const)('the move %s leads from these states alone, to one state', (move, from, to) => {
  const by = ['approve', 'activate', 'cover', 'fail'].includes(move) ? undefined : tess
  const decided = (state: string) => decideMove(move, facts({ ...free, state }), by, 'why')
  expect(states.filter((state) => decided(state).kind === 'allowed')).toEqual([...from])
  for (const state of from) expect(decided(state)).toEqual({ kind: 'allowed', to })
})

const stateOf = {
  ...{ propose: 'draft', break_glass: 'proposed', reject: 'proposed', withdraw: 'proposed' },
  ...{ deploy: 'approved', cancel: 'deploying', deprecate: 'active', retire: 'deprecated' },
} as const

test('who holds no role of it may make no move of another’s version, and its author few', () => {
  const allowedTo = (by: Person) =>
    Object.entries(stateOf)
      .filter(
        ([move, state]) =>
          decideMove(move as keyof typeof stateOf, facts({ ...free, state }), by, 'why').kind === 'allowed',
      )
      .map(([move]) => move)
  expect(allowedTo({ sub: 'nobody', roles: [] })).toEqual([])
  expect(allowedTo({ sub: 'ann', roles: [] })).toEqual(['propose', 'withdraw'])
  expect(allowedTo({ sub: 'ann', roles: ['administrator'] })).toEqual(['propose', 'withdraw'])
  expect(allowedTo({ sub: 'admin', roles: ['administrator'] })).toEqual(['break_glass'])
  const ofStewards = ['propose', 'reject', 'withdraw', 'deploy', 'cancel', 'deprecate', 'retire']
  expect(allowedTo({ sub: 'stella', roles: ['steward'] })).toEqual(ofStewards)
  // Who wrote a version neither breaks the glass for it nor rejects it.
  expect(allowedTo(ann)).toEqual(ofStewards.filter((move) => move !== 'reject'))
})

test('moves that somebody must answer for need a reason, others none', () => {
  const needing = Object.entries(stateOf)
    .filter(([move, state]) =>
      [undefined, '', ' \n'].every(
        (reason) =>
          decideMove(move as keyof typeof stateOf, facts({ ...free, state }), tess, reason).kind ===
          'refused',
      ),
    )
    .map(([move]) => move)
  expect(needing).toEqual(['break_glass', 'reject', 'cancel', 'deprecate', 'retire'])
})

test('each guard is against the moves that it is about, and no other', () => {
  const refusedBy = (changes: Partial<VersionFacts>) =>
    moves.filter((move) => {
      const by = ['approve', 'activate', 'cover', 'fail'].includes(move) ? undefined : tess
      const state = {
        ...stateOf,
        approve: 'proposed',
        activate: 'deploying',
        cover: 'approved',
        fail: 'deploying',
      }[move]
      return decideMove(move, facts({ ...free, state, ...changes }), by, 'why').kind === 'refused'
    })
  expect(refusedBy({})).toEqual([])
  expect(refusedBy({ stepProblem: 'too small' })).toEqual(['propose'])
  expect(refusedBy({ retireProblem: 'too early' })).toEqual(['retire'])
  expect(refusedBy({ needsSignOff: true })).toEqual(['approve'])
  expect(refusedBy({ otherDeploying: true })).toEqual(['deploy', 'activate', 'cover'])
  expect(refusedBy({ baseHolds: false })).toEqual(['deploy', 'activate', 'cover'])
  expect(refusedBy({ breakGlassUntilMs: 0 })).toEqual(['deploy', 'activate', 'cover'])
  expect(refusedBy({ mayActivate: false })).toEqual(['activate'])
})

test('a version is signed only while it is proposed, as it is, and where it needs that', () => {
  const why = (changes: Partial<VersionFacts>, by: Person = tess, sha256 = 'a') => {
    const decided = decideSignOff(facts(changes), by, sha256)
    return decided.kind === 'refused' ? decided.why : decided.level
  }
  for (const state of states.filter((each) => each !== 'proposed'))
    expect(why({ state })).toBe(`A version that is ${state} is not signed`)
  expect(why({}, tess, 'b')).toBe('The version has another document than the one that was signed')
  expect(why({ needsSignOff: false })).toBe('The version needs no sign-off')
  const admin: Person = { sub: 'admin', roles: ['administrator'] }
  const steward: Person = { sub: 'steward', roles: ['steward'] }
  expect(why({}, admin)).toBe('The first sign-off takes the role steward')
  expect(why({}, steward)).toBe('first')
  // An administrator may be first to sign where two must.
  expect(why({ needsSecond: true }, admin)).toBe('second')
  const first = [{ by: stella, level: 'first', sha256: 'a' }] as const
  expect(why({ needsSecond: true, signOffs: first }, steward)).toBe(
    'The second sign-off takes the role administrator',
  )
  expect(why({ needsSecond: true, signOffs: first }, admin)).toBe('second')
})

test('a sign-off by the author, or by one of the author’s sessions, counts for nothing', () => {
  const waits = (by: Person) =>
    decideMove('approve', facts({ signOffs: [{ by, level: 'first', sha256: 'a' }] }), undefined, undefined)
      .kind
  const made: Person = { ...stella, createdBy: 'ann' }
  expect([waits(stella), waits(ann), waits(made)]).toEqual(['allowed', 'refused', 'refused'])
})
