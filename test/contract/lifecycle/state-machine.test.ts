/** The guards of the life cycle that a walk seldom meets: time, persons, and what only the system may do. */

import { expect, test } from 'bun:test'
import {
  breakGlassMs,
  decideMove,
  decideSignOff,
  isSamePerson,
  moves,
  type Person,
  type VersionFacts,
} from '../../../src/contract/lifecycle/state-machine.ts'

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
