/** Filters of SCIM: what they select, what is refused, and that they agree with another implementation. */

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { filter as otherFilter, parse as otherParse } from 'scim2-parse-filter'
import { toFault } from '../../../src/base/fault.ts'
import { parseFilter } from '../../../src/wire/scim/filter.ts'
import { matches } from '../../../src/wire/scim/match.ts'
import { enterpriseSchema, users } from '../../../src/wire/scim/schemas.ts'

const ada = {
  userName: 'Ada@Example.com',
  externalId: 'E-1',
  active: true,
  name: { givenName: 'Ada', familyName: 'Lovelace' },
  title: 'Countess',
  emails: [
    { value: 'ada@work.example', type: 'work', primary: true },
    { value: 'ada@home.example', type: 'home' },
  ],
  meta: { created: '2026-01-01T00:00:00Z' },
  [enterpriseSchema]: { department: 'Engines', manager: { value: 'm1' } },
}

test.each([
  ['userName eq "ada@example.com"', true],
  ['USERNAME Eq "ADA@EXAMPLE.COM"', true],
  ['externalId eq "E-1"', true],
  ['externalId eq "e-1"', false],
  ['userName ne "ada@example.com"', false],
  ['title co "ount" and title sw "c" and title ew "SS"', true],
  ['name.familyName gt "k" and name.familyName le "lovelace"', true],
  ['nickName pr', false],
  ['nickName eq null', true],
  ['nickName ne "x"', true],
  ['name pr and not (nickName pr)', true],
  ['active eq true', true],
  ['active eq "True"', true],
  ['active ne true', false],
  ['emails eq "ada@home.example"', true],
  ['emails.type eq "home"', true],
  ['emails[type eq "work" and value co "@work"]', true],
  ['emails[type eq "home" and primary eq true]', false],
  ['not (emails[type eq "other"])', true],
  ['meta.created lt "2026-01-01T01:00:00+00:00"', true],
  ['meta.created ge "2026-01-01T01:00:00Z"', false],
  [`${enterpriseSchema}:department eq "engines"`, true],
  [`${enterpriseSchema}:manager.value eq "m1"`, true],
  ['urn:ietf:params:scim:schemas:core:2.0:User:userName sw "ada"', true],
  ['title eq "x" or title eq "y" and userName pr', false],
  ['title eq "countess" or title eq "y" and nickName pr', true],
  ['(title eq "countess" or title eq "y") and nickName pr', false],
  ['title eq "a\\"b"', false],
])('the filter %s over a user is %p', (text, expected) => {
  expect(matches(parseFilter(users, text), ada)).toBe(expected)
})

test.each([
  ['', 'ends too early'],
  ['userName', 'There is no operator'],
  ['userName eq', 'ends too early'],
  ['userName eq ada', 'cannot be read at "ada"'],
  ['userName eq "ada', 'cannot be read'],
  ['userName xx "ada"', 'There is no operator "xx"'],
  ['shoeSize eq "42"', 'There is no attribute "shoeSize"'],
  ['emails[shoe eq "42"]', 'There is no attribute "shoe"'],
  ['name.x pr', 'There is no attribute'],
  ['password eq "x"', 'A password is not compared'],
  ['name eq "x"', 'has parts'],
  ['active gt true', 'true or false'],
  ['active eq "yes"', 'true or false'],
  ['title gt null', 'null is compared'],
  ['title eq true', 'in double quotes'],
  ['meta.created gt "soon"', 'with a time'],
  ['(title pr', 'ends too early'],
  ['title pr)', 'cannot be read at ")"'],
  ['not title pr', 'cannot be read at "title"'],
  ['userName[value eq "x"]', 'has no parts'],
  [`${'('.repeat(30)}title pr${')'.repeat(30)}`, '20 levels'],
  [Array.from({ length: 201 }, () => 'title pr').join(' or '), '200 comparisons'],
  [`title eq "${'x'.repeat(5000)}"`, '4096 characters'],
])('the filter %s is refused', (text, expected) => {
  let thrown: unknown
  try {
    parseFilter(users, text)
  } catch (caught) {
    thrown = caught
  }
  const { kind, publicMessage, members } = toFault(thrown)
  expect({ kind, scimType: members?.scimType }).toEqual({
    kind: 'bad_request',
    scimType: 'invalidFilter',
  })
  expect(publicMessage).toContain(expected)
})

const word = fc.constantFrom('a', 'b', 'ab', 'ba', 'abc')
const resource = fc.record({
  userName: word,
  title: word,
  active: fc.boolean(),
  name: fc.record({ givenName: word }),
  emails: fc.array(fc.record({ value: word, type: word }), { minLength: 1, maxLength: 3 }),
})
const operators = fc.constantFrom('eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le')
const comparison = (names: readonly string[]) =>
  fc.tuple(fc.constantFrom(...names), operators, word).map(([name, op, value]) => `${name} ${op} "${value}"`)
const joined = (inner: fc.Arbitrary<string>) =>
  fc.oneof(
    fc.tuple(inner, fc.constantFrom('and', 'or'), inner).map(([one, op, other]) => `${one} ${op} ${other}`),
    inner.map((one) => `(${one})`),
    inner.map((one) => `not (${one})`),
    inner,
  )
// One comparison: the other one takes several out of the brackets, so that each may hold for another value.
const within = comparison(['value', 'type'])
const term = fc.oneof(
  comparison(['userName', 'title', 'name.givenName', 'emails.value', 'emails.type']),
  fc.constantFrom('active eq true', 'active ne false', 'title pr', 'emails pr'),
  within.map((inner) => `emails[${inner}]`),
)

test('random filters select the same as another implementation does', () => {
  const seed = 4917
  console.log(`seed ${seed}`)
  fc.assert(
    fc.property(joined(joined(joined(term))), resource, (text, one) => {
      expect(matches(parseFilter(users, text), one)).toBe(otherFilter(otherParse(text))(one))
    }),
    { seed, numRuns: 3000 },
  )
})

test('random texts are parsed or refused, and never fail otherwise', () => {
  const seed = 4918
  console.log(`seed ${seed}`)
  const token = fc.constantFrom(
    'userName',
    'emails',
    '[',
    ']',
    '(',
    ')',
    'eq',
    'and',
    'not',
    '"a"',
    '"',
    ' ',
    '\\',
    'pr',
    '.value',
    'null',
  )
  fc.assert(
    fc.property(fc.array(token, { maxLength: 14 }), (parts) => {
      try {
        parseFilter(users, parts.join(' '))
      } catch (thrown) {
        expect(toFault(thrown).kind).toBe('bad_request')
      }
    }),
    { seed, numRuns: 5000 },
  )
})
