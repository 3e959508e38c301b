/** The review plan in a contract document: what it may say, and where a mistake in it is. */

import { describe, expect, test } from 'bun:test'
import { performDocumentTask } from '../../../src/wire/odcs/document-task.ts'
import { encode } from './fixtures.ts'

function read(access: unknown, more = {}) {
  const document = {
    ...{ apiVersion: 'v3.1.0', kind: 'DataContract', id: 'orders', version: '1.0.0', status: 'active' },
    customProperties: [{ property: 'covenant', value: { access } }],
    schema: [{ name: 'orders', ...more }],
  }
  return performDocumentTask({ kind: 'read', bytes: encode(JSON.stringify(document)), format: 'yaml' })
}

const at = '/customProperties/0/value/access'

describe('a review plan', () => {
  test.each<[string, object]>([
    ['that says nothing', {}],
    [
      'with all members',
      {
        ...{ approvers: 2, maxSeconds: 86_400, purposes: ['Refunds', 'Fraud cases'] },
        ...{
          selfServiceRoles: ['analyst'],
          breakGlassRoles: ['oncall', 'steward'],
          breakGlassMaxSeconds: 60,
        },
      },
    ],
    ['with the bounds of time', { maxSeconds: 2_592_000, breakGlassMaxSeconds: 86_400 }],
    ['without roles', { selfServiceRoles: [], breakGlassRoles: [] }],
  ])('%s is read as it is', (_, access) => {
    const outcome = read(access)
    expect(outcome.kind === 'read' && outcome.read.model.access).toEqual(access)
  })

  test.each<[string, unknown, string]>([
    ['three approvers', { approvers: 3 }, `${at}/approvers`],
    ['no approver', { approvers: 0 }, `${at}/approvers`],
    ['less than a minute', { maxSeconds: 59 }, `${at}/maxSeconds`],
    ['more than 30 days', { maxSeconds: 2_592_001 }, `${at}/maxSeconds`],
    ['a part of a second', { maxSeconds: 60.5 }, `${at}/maxSeconds`],
    ['a time as text', { maxSeconds: '1h' }, `${at}/maxSeconds`],
    ['no purpose at all', { purposes: [] }, `${at}/purposes`],
    ['an empty purpose', { purposes: ['Refunds', ''] }, `${at}/purposes/1`],
    ['one purpose twice', { purposes: ['Refunds', 'Refunds'] }, `${at}/purposes`],
    ['a purpose with spaces at its end', { purposes: ['Refunds '] }, `${at}/purposes/0`],
    ['a purpose of two lines', { purposes: ['a', 'b\nc'] }, `${at}/purposes/1`],
    ['a purpose with an unseen character', { purposes: ['Ref\u200bunds'] }, `${at}/purposes/0`],
    ['self-service of stewards', { selfServiceRoles: ['clerk', 'steward'] }, `${at}/selfServiceRoles/1`],
    ['self-service of auditors', { selfServiceRoles: ['auditor'] }, `${at}/selfServiceRoles/0`],
    ['a role that is no text', { breakGlassRoles: [1] }, `${at}/breakGlassRoles/0`],
    ['break-glass for more than a day', { breakGlassMaxSeconds: 86_401 }, `${at}/breakGlassMaxSeconds`],
    [
      'break-glass for longer than a grant',
      { maxSeconds: 60, breakGlassMaxSeconds: 61 },
      `${at}/breakGlassMaxSeconds`,
    ],
    ['a member that it does not have', { approver: 1 }, at],
    ['text', 'two', at],
  ])('with %s is refused at its place', (_, access, path) => {
    const outcome = read(access)
    const problems = outcome.kind === 'refused' ? outcome.problems : []
    expect(problems.map((one) => one.path)).toEqual([path])
    expect(problems[0]?.line).toBeGreaterThan(0)
  })

  test('is enforced where the document governs a table, and stored where it governs none', () => {
    const outcomeOf = (more: object) => {
      const outcome = read({ approvers: 2 }, more)
      const fields = outcome.kind === 'read' ? outcome.read.fields : []
      return fields.find(({ path }) => path === 'customProperties.covenant.access')?.outcome
    }
    const table = { property: 'covenant', value: { table: { namespace: ['sales'], name: 'orders' } } }
    expect([outcomeOf({ customProperties: [table] }), outcomeOf({})]).toEqual(['enforced', 'stored'])
  })
})
