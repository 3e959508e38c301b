/** The judgement of a change's territory, where it needs no store. Others are in test/gateway/territory. */

import { expect, test } from 'bun:test'
import type { Verdict } from '../../../src/core/decision.ts'
import { askedPrefixes, taking, territoryDenial } from '../../../src/gateway/stages/territory.ts'

test('only a change that its policies allow takes its territory, and a territory that is taken refuses it', async () => {
  let taken = 0
  const refusal = { kind: 'deny', reason: 'taken', policyId: 'territory', outcomes: [] } as unknown as Verdict
  const allow = { kind: 'allow', outcomes: [] } as unknown as Verdict
  const deny = { ...refusal, reason: 'policy' } as Verdict
  const take = (verdict: Verdict | undefined) => async () => {
    taken++
    return verdict
  }
  expect(await taking(deny, { take: take(refusal) })).toBe(deny)
  expect(taken).toBe(0)
  expect(await taking(allow, { take: take(undefined) })).toBe(allow)
  expect(await taking(allow, { take: take(refusal) })).toBe(refusal)
  expect(await taking(allow, {})).toBe(allow)
  expect(taken).toBe(2)
})

test('the index is asked for the folders of what is named and all above them, of at most 64', () => {
  const file = (text: string) => ({ use: 'file', text }) as const
  const asked = askedPrefixes([
    file('s3://lake/sales/orders/a.parquet'),
    file('s3://lake/sales/orders/b.parquet'),
  ])
  expect(asked).toContain('s3://lake/sales/orders/')
  expect(asked).toContain('s3://lake/sales/')
  expect(new Set(asked).size).toBe(asked.length)
  const many = Array.from({ length: 100 }, (_, index) => file(`s3://lake/t${index}/a.parquet`))
  expect(askedPrefixes(many).filter((prefix) => /\/t\d+\/$/.test(prefix))).toHaveLength(64)
})

test('a denial says to the writer what failed, and to stewards why, as an outcome that is enforced', () => {
  expect(territoryDenial('outside', 'it is people’s')).toEqual({
    ...{ kind: 'deny', reason: 'territory: outside', policyId: 'territory' },
    outcomes: [
      {
        ...{ policyId: 'territory', name: 'territory', mode: 'enforce', value: false },
        explanation: 'it is people’s',
      },
    ],
  })
})
