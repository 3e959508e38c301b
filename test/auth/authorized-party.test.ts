/** For which client a token was issued: `azp` of ID tokens, and the clients that an issuer's trust lists. */

import { describe, expect, test } from 'bun:test'
import type { JWTPayload } from 'jose'
import { assertAuthorizedParty } from '../../src/auth/authorized-party.ts'

const isTaken = (claims: JWTPayload, authorizedParties?: readonly string[]) => {
  try {
    assertAuthorizedParty(claims, { audience: 'covenant', authorizedParties })
    return true
  } catch {
    return false
  }
}

describe('an ID token', () => {
  // Keycloak says `typ`; others are told by members that only ID tokens have.
  test.each([{ typ: 'ID' }, { nonce: 'n' }, { at_hash: 'h' }])('(%p) is for its client alone', (of) => {
    expect(isTaken({ ...of, aud: 'covenant' })).toBe(true)
    expect(isTaken({ ...of, aud: 'covenant', azp: 'covenant' })).toBe(true)
    expect(isTaken({ ...of, aud: 'covenant', azp: 'another' })).toBe(false)
    expect(isTaken({ ...of, aud: ['covenant', 'another'], azp: 'covenant' })).toBe(true)
    expect(isTaken({ ...of, aud: ['covenant', 'another'], azp: 'another' })).toBe(false)
    expect(isTaken({ ...of, aud: ['covenant', 'another'] })).toBe(false)
    expect(isTaken({ ...of, aud: ['covenant'] })).toBe(true)
    expect(isTaken({ ...of, aud: 'covenant', azp: ['covenant'] })).toBe(false)
  })
})

describe('an access token', () => {
  test('is taken from any client where none is listed', () => {
    for (const claims of [
      { azp: 'spark' },
      { client_id: 'spark' },
      {},
      { typ: 'Bearer', nonce: 'n', azp: 'x' },
    ])
      expect([claims, isTaken({ aud: ['covenant', 'account'], ...claims })]).toEqual([claims, true])
  })

  test('is taken from a listed client, by azp or else by client_id', () => {
    const listed = ['spark', 'trino']
    for (const claims of [{ azp: 'spark' }, { client_id: 'trino' }, { azp: 'spark', client_id: 'spark' }])
      expect([claims, isTaken(claims, listed)]).toEqual([claims, true])
    for (const claims of [
      { azp: 'other' },
      { client_id: 'other' },
      {},
      { azp: 'spark', client_id: 'other' },
      { azp: 'other', client_id: 'spark' },
      { azp: ['spark'] },
      { azp: null, client_id: null },
    ])
      expect([claims, isTaken(claims, listed)]).toEqual([claims, false])
  })

  test('is from no client where the list is empty', () => {
    expect(isTaken({ azp: 'spark' }, [])).toBe(false)
  })

  test('stays for listed clients where it is an ID token', () => {
    expect(isTaken({ typ: 'ID', aud: ['covenant', 'web'], azp: 'web' }, ['web'])).toBe(true)
  })
})
