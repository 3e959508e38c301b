/**
 * Patches of SCIM: as Entra ID and Okta document that they send them, what is refused, and that they agree with another
 * implementation. Shapes: learn.microsoft.com/entra/identity/app-provisioning/use-scim-to-provision-users-and-groups and
 * developer.okta.com/docs/api/openapi/okta-scim/guides/scim-20.
 */

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { scimPatch } from 'scim-patch'
import { toFault } from '../../../src/base/fault.ts'
import { splitMembers } from '../../../src/wire/scim/group-patch.ts'
import type { ScimObject } from '../../../src/wire/scim/match.ts'
import { applyPatch, readPatch } from '../../../src/wire/scim/patch.ts'
import { project, readProjection } from '../../../src/wire/scim/project.ts'
import { readResource } from '../../../src/wire/scim/read-resource.ts'
import { enterpriseSchema, groups, userSchema, users } from '../../../src/wire/scim/schemas.ts'

const patchOf = (operations: unknown) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: operations,
})
const patched = (resource: ScimObject, ...operations: readonly unknown[]) =>
  applyPatch(users, resource, readPatch(users, patchOf(operations)))
const refusal = (work: () => unknown) => {
  try {
    work()
  } catch (thrown) {
    const { members, publicMessage } = toFault(thrown)
    return `${members?.scimType}: ${publicMessage}`
  }
  return 'none'
}

const ada = {
  userName: 'ada',
  active: true,
  name: { givenName: 'Ada', familyName: 'Lovelace' },
  emails: [{ value: 'ada@work', type: 'work', primary: true }],
}

test('Entra ID: a user is disabled by a capitalised operation with a text', () => {
  expect(patched(ada, { op: 'Replace', path: 'active', value: 'False' })).toEqual({ ...ada, active: false })
  expect(patched(ada, { op: 'replace', path: 'active', value: false })).toEqual({ ...ada, active: false })
})

test('Entra ID: several properties are changed by paths with filters', () => {
  const after = patched(
    ada,
    { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updated@work' },
    { op: 'Replace', path: 'name.familyName', value: 'King' },
  )
  expect(after).toEqual({
    ...ada,
    name: { givenName: 'Ada', familyName: 'King' },
    emails: [{ value: 'updated@work', type: 'work', primary: true }],
  })
})

test('a removal removes the values that it names, and none where it names none', () => {
  const remove = (value: unknown) => patched(ada, { op: 'remove', path: 'emails', value }).emails
  expect(remove([])).toEqual(ada.emails)
  expect(remove([{ value: 'other' }])).toEqual(ada.emails)
  expect(remove([{ value: 'ada@work' }])).toBeUndefined()
  expect(remove(undefined)).toBeUndefined()
})

test('Entra ID: a value that is not there is made with what its filter demands', () => {
  expect(patched(ada, { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1 555' })).toEqual({
    ...ada,
    phoneNumbers: [{ type: 'mobile', value: '+1 555' }],
  })
})

test('Entra ID: without a path, members are paths with dots and URNs', () => {
  const value = {
    'name.givenName': 'Augusta',
    displayName: 'A. L.',
    [`${enterpriseSchema}:department`]: 'Engines',
  }
  expect(patched(ada, { op: 'Add', value })).toEqual({
    ...ada,
    displayName: 'A. L.',
    name: { givenName: 'Augusta', familyName: 'Lovelace' },
    [enterpriseSchema]: { department: 'Engines' },
  })
})

test('Entra ID: a manager is a bare id', () => {
  const after = patched(ada, { op: 'Add', path: `${enterpriseSchema}:manager`, value: 'm1' })
  expect(after[enterpriseSchema]).toEqual({ manager: { value: 'm1' } })
  expect(patched(after, { op: 'Remove', path: `${enterpriseSchema}:manager` })).toEqual(ada)
})

test('Okta: a user is deactivated without a path', () => {
  expect(patched(ada, { op: 'replace', value: { active: false } })).toEqual({ ...ada, active: false })
})

test('Okta: a group is renamed by a value that names its id too', () => {
  const operations = readPatch(
    groups,
    patchOf([{ op: 'replace', value: { id: 'abf4', displayName: 'New' } }]),
  )
  expect(applyPatch(groups, { displayName: 'Old' }, operations)).toEqual({ displayName: 'New' })
})

test('changes of members are taken apart from the group', () => {
  const operations = readPatch(
    groups,
    patchOf([
      { op: 'Add', path: 'members', value: [{ $ref: null, value: 'u1' }] },
      { op: 'Remove', path: 'members', value: [{ $ref: null, value: 'u2' }] },
      { op: 'remove', path: 'members[value eq "u3" or value eq "u4"]' },
      { op: 'replace', path: 'members', value: [{ value: 'u5', display: 'x' }] },
      { op: 'remove', path: 'members' },
      { op: 'replace', path: 'displayName', value: 'Y' },
    ]),
  )
  const { changes, others } = splitMembers(operations)
  expect(changes).toEqual([
    { kind: 'add', users: ['u1'] },
    { kind: 'remove', users: ['u2'] },
    { kind: 'remove', users: ['u3', 'u4'] },
    { kind: 'replace', users: ['u5'] },
    { kind: 'replace', users: [] },
  ])
  expect(others).toHaveLength(1)
})

test('a group within a group is refused', () => {
  const nested = patchOf([{ op: 'add', path: 'members', value: [{ value: 'g', type: 'Group' }] }])
  expect(refusal(() => splitMembers(readPatch(groups, nested)))).toStartWith('invalidValue: A group within')
})

test('a new primary value takes that from the one before', () => {
  const after = patched(ada, { op: 'add', path: 'emails', value: [{ value: 'b', primary: true }] })
  expect(after.emails).toEqual([
    { value: 'ada@work', type: 'work', primary: false },
    { value: 'b', primary: true },
  ])
})

test.each([
  [{ op: 'move', path: 'title' }, 'invalidSyntax'],
  [{ op: 'add', path: 'title' }, 'invalidValue'],
  [{ op: 'remove' }, 'noTarget'],
  [{ op: 'add', path: 'shoe', value: 'x' }, 'invalidPath'],
  [{ op: 'add', path: 'name.shoe', value: 'x' }, 'invalidPath'],
  [{ op: 'add', value: { shoe: 1 } }, 'invalidPath'],
  [{ op: 'replace', path: 'id', value: 'x' }, 'mutability'],
  [{ op: 'add', path: 'groups', value: [{ value: 'x' }] }, 'mutability'],
  [{ op: 'remove', path: 'userName' }, 'mutability'],
  [{ op: 'replace', path: 'userName', value: null }, 'invalidValue'],
  [{ op: 'replace', path: 'active', value: 'maybe' }, 'invalidValue'],
  [{ op: 'replace', path: 'emails[type eq "home"].value', value: 'x' }, 'noTarget'],
  [{ op: 'add', path: 'emails[type ne "work"].value', value: 'x' }, 'noTarget'],
  [{ op: 'add', path: 'emails[type eq].value', value: 'x' }, 'invalidFilter'],
  [{ op: 'add', path: 'userName[value eq "x"]', value: 'x' }, 'invalidPath'],
  [{ op: 'add', path: 7, value: 'x' }, 'invalidPath'],
  [{ op: 'replace', path: 'title', value: 'x'.repeat(5000) }, 'invalidValue'],
])('the operation %j is refused as %s', (operation, scimType) => {
  expect(refusal(() => patched(ada, operation))).toStartWith(`${scimType}: `)
})

test('a resource is read in any case of names, and passwords and read-only attributes are left out', () => {
  const sent = {
    schemas: [userSchema],
    USERNAME: 'ada',
    password: 'secret',
    id: 'x',
    groups: [],
    Emails: [{ Value: 'a@b' }],
    title: null,
  }
  expect(readResource(users, sent)).toEqual({ userName: 'ada', emails: [{ value: 'a@b' }] })
  expect(refusal(() => readResource(users, { userName: 'a', shoe: 1 }))).toStartWith('invalidSyntax')
  expect(refusal(() => readResource(users, { displayName: 'a' }))).toStartWith('invalidValue')
  expect(refusal(() => readResource(users, { schemas: ['urn:other'], userName: 'a' }))).toStartWith(
    'invalidSyntax',
  )
  expect(refusal(() => readResource(users, JSON.parse('{"userName":"a","__proto__":{"x":1}}')))).toStartWith(
    'invalidSyntax',
  )
})

test('an answer has the attributes that were asked for, and always its id', () => {
  const whole = { schemas: [userSchema], id: '1', ...ada }
  const shown = (only: string[], without: string[]) => project(readProjection(users, only, without), whole)
  expect(shown(['userName', 'NAME.givenName', 'shoe'], [])).toEqual({
    schemas: [userSchema],
    id: '1',
    userName: 'ada',
    name: { givenName: 'Ada' },
  })
  expect(shown(['emails.value', 'emails.type'], []).emails).toEqual([{ value: 'ada@work', type: 'work' }])
  expect(Object.keys(shown([], ['emails', 'id', 'name.familyName', 'active']))).toEqual([
    'schemas',
    'id',
    'userName',
    'name',
  ])
  expect(refusal(() => shown(['a'], ['b']))).toStartWith('invalidSyntax')
})

const word = fc.constantFrom('a', 'b', 'c')
const value = fc.record({ value: word, type: word })
const operation = fc.oneof(
  fc.record({
    op: fc.constantFrom('add', 'replace'),
    path: fc.constantFrom('title', 'name.givenName'),
    value: word,
  }),
  fc.record({ op: fc.constantFrom('remove'), path: fc.constantFrom('title', 'name.givenName', 'emails') }),
  fc.record({
    op: fc.constant('replace'),
    path: fc.constant('emails'),
    value: fc.uniqueArray(value, { minLength: 1, maxLength: 3, selector: ({ type }) => type }),
  }),
  fc.record({
    op: fc.constant('add'),
    path: fc.constant('emails'),
    value: word.map((one) => [{ value: one, type: 'd' }]),
  }),
  word.map((type) => ({ op: 'remove', path: `emails[type eq "${type}"]` })),
  fc
    .tuple(word, word)
    .map(([type, put]) => ({ op: 'add', path: `emails[type eq "${type}"].value`, value: put })),
)

test('random patches do what another implementation does', () => {
  const seed = 4919
  console.log(`seed ${seed}`)
  const start = { userName: 'u', title: 'a', name: { givenName: 'a', familyName: 'z' } }
  fc.assert(
    fc.property(
      fc.uniqueArray(value, { maxLength: 3, selector: ({ type }) => type }),
      fc.array(operation, { minLength: 1, maxLength: 5 }),
      (emails, made) => {
        // As JSON has them: fast-check makes objects without a prototype.
        const operations = JSON.parse(JSON.stringify(made)) as readonly unknown[]
        const before = { ...start, ...(emails.length > 0 && { emails }) }
        let other: Record<string, unknown>
        try {
          other = scimPatch(
            { schemas: [], ...structuredClone(before) } as never,
            operations as never,
          ) as never
        } catch {
          // It refuses to remove what is not there, which changes nothing here.
          return
        }
        const { schemas: _, ...expected } = other
        for (const name of ['emails'])
          if (Array.isArray(expected[name]) && expected[name].length === 0) delete expected[name]
        expect(patched(before, ...operations)).toEqual(expected)
      },
    ),
    { seed, numRuns: 2000 },
  )
})
