/** Whose rights count for reads and privileged actions. */

import { expect, test } from 'bun:test'
import { requireData, requireRole, verifiedPart } from '../../src/auth/verified-principal.ts'
import type { Fault } from '../../src/base/fault.ts'
import type { IdentifiedPrincipal, PrivilegedRole } from '../../src/core/principal.ts'
import type { Session } from '../../src/core/session.ts'

const session = { principal: { sub: 'etl', roles: ['steward'] } } as unknown as Session
const ann = { sub: 'ann', roles: ['owner'] }

test('a principal that nobody verified gives way to the session’s own', () => {
  const part = (given: Pick<IdentifiedPrincipal, 'source' | 'verified'>) =>
    verifiedPart({ principal: ann, ...given }, session).sub
  expect(part({ source: 'auth_header', verified: true })).toBe('ann')
  expect(part({ source: 'mtls_san', verified: true })).toBe('ann')
  expect(part({ source: 'auth_header', verified: false })).toBe('etl')
  expect(part({ source: 'session', verified: true })).toBe('etl')
})

function said(check: () => void): string {
  try {
    check()
    return 'passed'
  } catch (thrown) {
    return `${(thrown as Fault).kind}: ${(thrown as Fault).publicMessage}`
  }
}

test('one of the roles is enough, and none of them is refused with their names', () => {
  const wanted: readonly PrivilegedRole[] = ['steward', 'owner']
  const asked = (...roles: readonly string[]) => said(() => requireRole({ roles }, ...wanted))
  expect(asked('reader', 'owner')).toBe('passed')
  expect(asked('steward')).toBe('passed')
  for (const roles of [[], ['administrator'], ['reader', 'auditor']])
    expect(asked(...roles)).toBe(
      'forbidden: This request needs the role `steward` or `owner`, from a verified credential.',
    )
})

test('an auditor who is nothing else may not read data', () => {
  expect(said(() => requireData({ roles: ['auditor'] }))).toStartWith('forbidden: ')
  expect(said(() => requireData({ roles: ['auditor', 'reader'] }))).toBe('passed')
  expect(said(() => requireData({ roles: [] }))).toBe('passed')
})
