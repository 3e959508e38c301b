/** What roles and subjects say of a principal. */

import { expect, test } from 'bun:test'
import { isReservedSubject, oversees, readsRecordsOnly, serviceSubject } from '../../src/core/principal.ts'

test('stewards, administrators and owners oversee tables, and nobody else', () => {
  const overseeing = ['steward', 'administrator', 'owner', 'auditor', 'writer', 'Steward']
  expect(overseeing.filter((role) => oversees({ roles: ['reader', role] }))).toEqual([
    ...['steward', 'administrator', 'owner'],
  ])
  expect(oversees({ roles: [] })).toBe(false)
})

test('an auditor who is nothing else reads records only', () => {
  expect(readsRecordsOnly({ roles: ['auditor'] })).toBe(true)
  expect(readsRecordsOnly({ roles: ['auditor', 'auditor'] })).toBe(true)
  expect(readsRecordsOnly({ roles: ['auditor', 'reader'] })).toBe(false)
  expect(readsRecordsOnly({ roles: [] })).toBe(false)
})

test('a service has a subject that no person may have, in whichever case', () => {
  expect([serviceSubject('etl'), serviceSubject('service:etl')]).toEqual(['service:etl', 'service:etl'])
  for (const sub of ['service:etl', 'SERVICE:etl', 'operator', 'Operator'])
    expect(isReservedSubject(sub)).toBe(true)
  for (const sub of ['etl', 'my service:etl', 'operators', 'the operator'])
    expect(isReservedSubject(sub)).toBe(false)
})
