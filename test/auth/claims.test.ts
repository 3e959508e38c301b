/** What is read of a token's claims: organization and roles, in the forms that identity providers send. */

import { describe, expect, test } from 'bun:test'
import { organizationOf, rolesIn } from '../../src/auth/claims.ts'
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
  })
})
