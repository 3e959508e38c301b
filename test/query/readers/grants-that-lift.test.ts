/** Which grants of access who-can-read lists, and what it says that each lifts. */

import { describe, expect, test } from 'bun:test'
import type { StoredGrant } from '../../../src/core/access-grant.ts'
import type { Governance, StoredColumn, StoredMask, StoredRowFilter } from '../../../src/core/governance.ts'
import { effectOf } from '../../../src/core/protection-effect.ts'
import { grantsThatLift } from '../../../src/query/readers/grants-that-lift.ts'

const mask: StoredMask = { policyId: 'hide', action: 'hash', exemptRoles: [], origin: { kind: 'column' } }
const filter: StoredRowFilter = {
  ...{ policyId: 'eu', exemptRoles: [], origin: { kind: 'table' }, expression: "region = 'eu'" },
}
const email: StoredColumn = {
  ...{ id: 'email', fieldId: 1, name: 'email', type: 'string', required: false, current: true },
  ...{ tags: [], masks: [mask] },
}
const grant = (more: Partial<StoredGrant> = {}): StoredGrant => ({
  ...{ id: 'g', grantee: { sub: 'ann' }, fromMs: 100, untilMs: 200, purpose: 'audit' },
  lifts: { columns: [{ fieldId: 1, tags: [], masks: [effectOf(mask)] }], filters: [effectOf(filter)] },
  ...more,
})
const governed = (grants: readonly StoredGrant[], more: Partial<Governance> = {}): Governance => ({
  ...{ ref: { namespace: ['sales'], name: 'orders' }, contract: { id: 'c', version: 1 }, pin: undefined },
  ...{ readableWithoutContract: false, rowFilters: [filter], tags: [], columns: [email], grants, ...more },
})
const lifted = (governance: Governance, names = ['email'], atMs = 150): (readonly string[])[] =>
  grantsThatLift(governance, names, atMs).map((one) => one.lifted)
const both = ['row filter eu', 'mask hide on email']

describe('a grant', () => {
  test.each<[string, Governance, (readonly string[])[]]>([
    ['is listed with what it lifts', governed([grant()]), [both]],
    ['for a role is listed', governed([grant({ grantee: { role: 'analyst' } })]), [both]],
    ['is listed beside a longer one', governed([grant(), grant({ id: 'h', untilMs: 300 })]), [both, both]],
    ['that has not begun is not listed', governed([grant({ fromMs: 151 })]), []],
    ['that is over is not listed', governed([grant({ untilMs: 150 })]), []],
    ['of a clone is not listed', governed([grant()], { isClone: true }), []],
    [
      'is said to lift no mask of a column with one more tag',
      governed([grant()], { columns: [{ ...email, tags: ['pii'] }] }),
      [['row filter eu']],
    ],
    [
      'that lifts nothing any more is not listed',
      governed([grant()], { rowFilters: [], columns: [{ ...email, masks: [{ ...mask, action: 'null' }] }] }),
      [],
    ],
    ['of a table without any is none', { ...governed([]), grants: [] }, []],
  ])('%s', (_, governance, expected) => {
    expect(lifted(governance)).toEqual(expected)
  })

  test('is about the columns that are asked about, and about filters always', () => {
    expect(lifted(governed([grant()]), ['region'])).toEqual([['row filter eu']])
  })
})
