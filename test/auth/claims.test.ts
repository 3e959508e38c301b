/** What is read of a token's claims: organization and roles, in the forms that identity providers send. */

import { describe, expect, test } from 'bun:test'
import { emailIn, isClaimName, organizationOf, rolesIn, yieldingNothing } from '../../src/auth/claims.ts'
import { Fault } from '../../src/base/fault.ts'

describe('roles', () => {
  test('are those of the claim roles, else of groups', () => {
    expect(rolesIn({ roles: 'steward writer', groups: ['x'] }, undefined)).toEqual(['steward', 'writer'])
    expect(rolesIn({ groups: ['steward'] }, undefined)).toEqual(['steward'])
    expect(rolesIn({ roles: 1 }, undefined)).toEqual([])
  })

  test('are found by a path, or by a name that holds dots', () => {
    const claims = {
      realm_access: { roles: ['steward'] },
      'https://acme.example/roles': ['owner'],
      roles: ['no'],
    }
    expect(rolesIn(claims, 'realm_access.roles')).toEqual(['steward'])
    expect(rolesIn(claims, 'https://acme.example/roles')).toEqual(['owner'])
    for (const path of ['realm_access.none', 'none.roles', 'roles.0', 'constructor.name', 'realm_access'])
      expect(rolesIn(claims, path)).toEqual([])
  })

  test('are groups without the slash with which a path of groups begins', () => {
    expect(rolesIn({ groups: ['/steward', '/teams/writers', 'owner'] }, undefined)).toEqual([
      'steward',
      'teams/writers',
      'owner',
    ])
  })

  test.each([
    { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://graph.example' } } },
    { hasgroups: true },
  ])('are not guessed where the provider left out too many groups: %p', (claims) => {
    const refused = (rolesClaim?: string) => {
      try {
        return rolesIn(claims, rolesClaim)
      } catch (thrown) {
        return thrown instanceof Fault ? [thrown.kind, thrown.publicMessage] : thrown
      }
    }
    const expected = ['unauthenticated', expect.stringMatching(/groups.*app roles/)]
    expect(refused()).toEqual(expected)
    expect(refused('groups')).toEqual(expected)
    expect(refused('realm_access.roles')).toEqual([])
    expect(rolesIn({ ...claims, roles: ['steward'] }, undefined)).toEqual(['steward'])
  })
})

describe('roles of a claim that is set by name', () => {
  // ZITADEL, "Retrieve user roles": for each role, the organizations that grant it, by id and domain.
  const zitadel = 'urn:zitadel:iam:org:project:roles'
  const granted = {
    admin: { '358981944035333912': 'acme.zitadel.example' },
    viewer: { '358981944035333912': 'acme.zitadel.example', '358981944035333913': 'b.zitadel.example' },
  }

  test('are the members of an object of grants, as ZITADEL sends them', () => {
    expect(rolesIn({ [zitadel]: granted }, zitadel)).toEqual(['admin', 'viewer'])
    expect(rolesIn({ roles: { admin: {} } }, 'roles')).toEqual([])
    expect(rolesIn({ roles: {} }, 'roles')).toEqual([])
  })

  test('are not the members of an object of another shape, such as the clients of Keycloak', () => {
    const clients = { owner: { roles: ['viewer'] }, account: { roles: ['manage-account'] } }
    for (const roles of [clients, { owner: true }, { owner: 'x' }, { admin: {}, owner: null }, { a: [] }])
      expect([roles, rolesIn({ roles }, 'roles')]).toEqual([roles, []])
  })

  test('are the names or the roles of a list of objects that have one of both', () => {
    expect(rolesIn({ roles: [{ name: 'data steward', id: 1 }, { name: '/teams/etl' }] }, 'roles')).toEqual([
      'data steward',
      'teams/etl',
    ])
    expect(rolesIn({ roles: [{ role: 'a' }, { name: 'b' }] }, 'roles')).toEqual(['a', 'b'])
  })

  test('are none of a list in which an object has both, neither or no text', () => {
    const lists = [
      [{ name: 'a', role: 'b' }],
      [{ name: 'a' }, { id: 1 }],
      [{ name: 1 }],
      [{ name: 'a' }, 'b'],
    ]
    for (const roles of lists) expect([roles, rolesIn({ roles }, 'roles')]).toEqual([roles, []])
  })

  // oauth2-proxy's tests of complex groups, providers/provider_data_test.go: a group's id and its roles.
  test('are found by a path through a list of objects', () => {
    const groups = [
      { groupId: 'Admin Group Id', roles: ['Admin'] },
      { groupId: 'Other', roles: ['Reader', 'Writer'] },
    ]
    expect(rolesIn({ groups }, 'groups.roles')).toEqual(['Admin', 'Reader', 'Writer'])
    expect(rolesIn({ groups }, 'groups.groupId')).toEqual(['Admin Group Id', 'Other'])
    for (const claim of [[...groups, {}], [...groups, 'x'], [groups], [{ roles: [['Admin']] }], [null]])
      expect([claim, rolesIn({ groups: claim }, 'groups.roles')]).toEqual([claim, []])
  })

  test('are read of texts alone where no claim is set, so that no shape gives roles by surprise', () => {
    for (const roles of [granted, [{ name: 'owner' }]])
      expect(rolesIn({ roles, groups: ['viewer'] }, undefined)).toEqual(['viewer'])
  })
})

describe('a path to a claim', () => {
  // Keycloak's mappers say: "To prevent nesting and use dot literally, escape the dot with backslash (\\.)".
  test('has a dot within a name behind a backslash, as Keycloak writes it', () => {
    const claims = {
      resource_access: { 'my.client': { roles: ['steward'] }, my: { client: { roles: ['no'] } } },
      'a\\b': { c: 'org_acme' },
    }
    expect(rolesIn(claims, 'resource_access.my\\.client.roles')).toEqual(['steward'])
    expect(rolesIn(claims, 'resource_access.my.client.roles')).toEqual(['no'])
    expect(organizationOf(claims, 'a\\\\b.c')).toBe('org_acme')
    expect(rolesIn({ 'https://acme.example/roles': 'a' }, 'https://acme\\.example/roles')).toEqual(['a'])
  })

  test('has names that are not empty, and no other use of a backslash', () => {
    for (const text of ['roles', 'a.b', 'a\\.b', '\\.', 'urn:x:y', 'https://acme.example/roles', 'a b'])
      expect([text, isClaimName(text)]).toEqual([text, true])
    for (const text of ['', '.', 'a.', '.a', 'a..b', 'a\\', 'a\\b', '\\', 'a\\\\\\'])
      expect([text, isClaimName(text)]).toEqual([text, false])
  })

  test('that cannot be read yields nothing', () => {
    expect(rolesIn({ a: { b: ['x'] } }, 'a..b')).toEqual([])
    expect(organizationOf({ a: { b: 'x' } }, '.a.b')).toBeUndefined()
  })
})

describe('what yields nothing', () => {
  const names = { organization: 'org', roles: 'access.roles' }
  test('are the claims that are set and missing, or have a shape that is not read', () => {
    expect(yieldingNothing({ org: 'a', access: { roles: [] } }, names)).toEqual([])
    expect(yieldingNothing({}, names)).toEqual(['organization', 'roles'])
    expect(yieldingNothing({ org: ['a', 'b'], access: { roles: 7 } }, names)).toEqual([
      'organization',
      'roles',
    ])
  })

  test('is not a claim that nobody set', () => {
    const defaults = { organization: 'org_id', roles: undefined }
    expect(yieldingNothing({}, defaults)).toEqual([])
    expect(yieldingNothing({ org_id: ['a', 'b'] }, defaults)).toEqual(['organization'])
  })
})

describe('an organization', () => {
  test('is a text, the text of a list of one, or the member of an object of one', () => {
    for (const org of ['org_acme', ['org_acme'], { org_acme: { id: '1' } }])
      expect(organizationOf({ org }, 'org')).toBe('org_acme')
    expect(organizationOf({}, 'org')).toBeUndefined()
  })

  test('is none of several, of nothing and of what is no text', () => {
    for (const org of [null, 1, [], ['a', 'b'], [1], {}, { a: {}, b: {} }, ''])
      expect([org, organizationOf({ org }, 'org')]).toEqual([org, null])
  })

  test('is found by a path', () => {
    expect(organizationOf({ acme: { org: 'org_acme' } }, 'acme.org')).toBe('org_acme')
    expect(organizationOf({ orgs: [{ id: 'org_acme' }] }, 'orgs.id')).toBe('org_acme')
    for (const orgs of [[{ id: 'a' }, { id: 'b' }], [{ id: 'a' }, {}], [{}], []])
      expect([orgs, organizationOf({ orgs }, 'orgs.id')]).toEqual([orgs, null])
  })
})

describe('an e-mail address', () => {
  const email = 'ada@acme.example'
  test('names a person where its provider calls it verified, or says nothing of that', () => {
    for (const verified of [
      {},
      { email_verified: true },
      { email_verified: 'true' },
      { email_verified: 'True' },
    ])
      expect(emailIn({ email, ...verified })).toBe(email)
  })

  test('names nobody where `email_verified` is anything else', () => {
    for (const verified of [false, 'false', 'False', '', 0, 1, null, 'no', [], [true]])
      expect(emailIn({ email, email_verified: verified })).toBeUndefined()
  })

  test('is none where the claim is no text', () => {
    for (const other of [undefined, null, 1, [email], '']) expect(emailIn({ email: other })).toBeUndefined()
  })
})
