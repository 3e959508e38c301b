/** Whom a team names as an owner decides about access, so one more is a looser contract, and waits for a sign-off. */

import { describe, expect, test } from 'bun:test'
import { classify } from '../../../src/contract/classify/classify.ts'
import { judgeChange } from '../../../src/contract/classify/judge-change.ts'
import { readContacts } from '../../../src/core/whom-to-ask.ts'
import type { ContractModel } from '../../../src/wire/odcs/model.ts'

type Team = readonly object[]

function contract(members: Team): ContractModel {
  const terms = { compatibility: 'backward', secondApproval: false, sla: [] } as const
  const contacts = readContacts({ name: 'shop', members }, undefined)
  const schemas = [
    {
      ...{ name: 'orders', table: { namespace: ['sales'], name: 'orders' } },
      ...{ properties: [], relationships: [], quality: [], rowFilters: [] },
    },
  ]
  return { apiVersion: 'v3.2.0', id: 'c', version: '1.0.0', ...terms, schemas, ...(contacts && { contacts }) }
}

const ann = { username: 'ann', role: 'owner' }
const member = { username: 'ann', role: 'member' }
const until = (dateOut: string) => ({ ...ann, dateOut })

describe('a team', () => {
  const longer = '“ann” is an owner, who decides about access, for a longer time'
  const shorter = '“ann” is an owner, who decides about access, for a shorter time'
  const more = '“ann” becomes an owner, who decides about access'
  const fewer = '“ann” is no longer an owner, who decides about access'
  const rows: [string, Team, Team, readonly [access: string, message: string][]][] = [
    ['that stays', [ann], [ann], []],
    ['with a new owner', [], [ann], [['loosened', more]]],
    [
      'with a new owner whose role has other letters',
      [],
      [{ ...ann, role: ' OWNER ' }],
      [['loosened', more]],
    ],
    [
      'with a new owner beside another',
      [{ ...ann, username: 'bob' }],
      [ann, { ...ann, username: 'bob' }],
      [['loosened', more]],
    ],
    ['whose member becomes an owner', [member], [ann], [['loosened', more]]],
    ['whose member without a role becomes an owner', [{ username: 'ann' }], [ann], [['loosened', more]]],
    ['that loses the entry which took the right of an owner', [ann, member], [ann], [['loosened', more]]],
    ['whose owner stays longer', [until('2030-01-01')], [until('2030-01-02')], [['loosened', longer]]],
    ['whose owner stays for good', [until('2020-01-01')], [ann], [['loosened', longer]]],
    [
      'whose owner loses the entry that ended first',
      [ann, until('2030-01-01')],
      [ann],
      [['loosened', longer]],
    ],
    ['whose owner goes', [ann], [], [['tightened', fewer]]],
    ['whose owner becomes a member', [ann], [member], [['tightened', fewer]]],
    ['whose owner gets an entry with another role', [ann], [ann, member], [['tightened', fewer]]],
    ['whose owner leaves at a time', [ann], [until('2030-01-01')], [['tightened', shorter]]],
    [
      'with one owner for another',
      [{ ...ann, username: 'bob' }],
      [ann],
      [
        ['tightened', '“bob” is no longer an owner, who decides about access'],
        ['loosened', more],
      ],
    ],
    ['with another member who is no owner', [ann], [ann, { username: 'bob', role: 'data owner' }], []],
    ['with an owner whom only a name names', [], [{ name: 'Ann', role: 'owner' }], []],
  ]
  test.each(rows)('%s', (_, before, after, expected) => {
    const found = classify(contract(before), contract(after))
    expect(found.map(({ access, message }) => [access as string, message])).toEqual(
      expected.map(([access, message]) => [access, message]),
    )
    expect(found.map(({ at, change }) => [at, change])).toEqual(
      expected.map(([access]) => ['', `owner-${access}`]),
    )
    const isLooser = expected.some(([access]) => access === 'loosened')
    const { loosensAccess, breaking, step } = judgeChange([contract(before)], contract(after))
    expect([loosensAccess, breaking]).toEqual([isLooser, false])
    expect(step).toBe(isLooser ? 'minor' : expected.length > 0 ? 'patch' : 'none')
  })

  test('that an earlier release did not read has no owner, so the next version with one is looser', () => {
    const { contacts: _, ...unread } = contract([ann])
    expect(judgeChange([unread], contract([ann])).loosensAccess).toBe(true)
  })
})
