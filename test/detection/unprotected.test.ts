/** Values that no writer protected, in columns that the transform protects, are found after the commit; tells no value. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { findUnprotected } from '../../src/detection/scan/find-unprotected.ts'
import { patternOf } from '../../src/protection/protected-forms.ts'
import { saveRule } from '../../src/store/transform/rules.ts'
import type { ColumnRule } from '../../src/transform/plan.ts'
import { type DetectionService, startDetectionService } from '../support/detection.ts'

setDefaultTimeout(300_000)

const canary = 'CANARY88c0'

describe('of values by a rule', () => {
  const base = { field_id: 1, name: 'c', type: 'string', required: false, scope: 's', kid: 'k1' }
  const ciphertext = `k1.${'A'.repeat(40)}`
  const cases: readonly (readonly [string, object, readonly string[], readonly string[]])[] = [
    ['HMAC', { action: 'tokenize', method: 'hmac' }, [`tok_${'a'.repeat(26)}`], ['tok_short', canary]],
    [
      'SIV',
      { action: 'encrypt', method: 'siv' },
      [`cse1.${ciphertext}`, `css1.${ciphertext}`],
      [`cge1.${ciphertext}`, canary],
    ],
    [
      'GCM',
      { action: 'encrypt', method: 'gcm' },
      [`cge1.${ciphertext}`, `cgs1.${ciphertext}`],
      [`cse1.${ciphertext}`, 'cge1.'],
    ],
    ['redact', { action: 'redact' }, [], [canary]],
    ['redact, required', { action: 'redact', required: true }, ['XXXXXXXX'], [canary]],
    ['a hash', { action: 'mask', mask: 'sha-256-global' }, ['0'.repeat(64)], [canary]],
    ['a mask', { action: 'mask', mask: 'mask-alphanum' }, ['xxx-nn@x.'], ['a', 'x1']],
    [
      'a mask that shows the end',
      { action: 'mask', mask: 'show-last-4' },
      ['xxnn😀234', 'abc'],
      ['abcde', '12345'],
    ],
    ['a mask that shows the start', { action: 'mask', mask: 'show-first-4' }, ['abcdxx'], ['abcde']],
  ]
  test.each(cases)('%s: tells what was protected from what was not', (_, rule, kept, found) => {
    const pattern = patternOf({ ...base, ...rule } as unknown as ColumnRule) ?? ''
    const sample = (values: readonly string[]) => [
      { name: 'c', columnName: 'c', fieldId: 1n, values, sampledCount: values.length },
      { name: 'c.path', columnName: 'c', fieldId: 1n, values: [], sampledCount: 0 },
    ]
    expect(findUnprotected(sample(kept), [{ fieldId: 1, pattern }])).toEqual([])
    const [one] = findUnprotected(sample([...kept, ...found]), [{ fieldId: 1, pattern }])
    expect(one?.finding).toMatchObject({ matched: found.length, sampled: kept.length + found.length })
    expect(JSON.stringify(one?.finding)).not.toContain(canary)
    expect(findUnprotected(sample(found), [{ fieldId: 2, pattern }])).toEqual([])
  })

  test.each([
    ['tokens by FF1', { action: 'tokenize', method: 'ff1', alphabet: 'digits' }],
    ['numbers', { action: 'tokenize', method: 'hmac', type: 'long' }],
    ['what is kept', { action: 'keep' }],
  ])('%s: has no form', (_, rule) => {
    expect(patternOf({ ...base, ...rule } as unknown as ColumnRule)).toBeUndefined()
  })
})

describe('on a service', () => {
  let d: DetectionService
  beforeAll(async () => {
    d = await startDetectionService()
  })
  afterAll(() => d[Symbol.asyncDispose]())

  const rows = (note: string | null) => [
    { rows: [1, 2, 3].map((id) => ({ id, email: null, ssn: null, note })) },
  ]
  const foundBy = async (path = 'findings?class=unprotected') => {
    const { items } = (await (await d.call('GET', path)).json()) as { items: Record<string, unknown>[] }
    return items
  }

  test('a commit without the plan alerts, one with it does not', async () => {
    await d.commitPeople(rows(canary), 'gateway')
    await d.detect()
    expect(await foundBy()).toEqual([])
    const { store, owner } = d.service
    const place = { table: { namespace: ['sales'], name: 'people' }, column: 'note' }
    await store.tenantTransaction(owner.tenant, async (tx) => {
      await saveRule(tx, owner.tenant, place, { action: 'encrypt', method: 'siv', scope: 'note' })
    })
    await d.commitPeople(rows(`cse1.k1.${'A'.repeat(40)}`), 'gateway')
    await d.detect()
    expect(await foundBy()).toEqual([])
    await d.commitPeople(rows(canary), 'gateway')
    await d.detect()
    const found = await foundBy()
    expect(found).toMatchObject([
      { column: 'note', class: 'unprotected', confidence: 0.92, matched: 3, sampled: 3, status: 'open' },
    ])
    expect(JSON.stringify(found)).not.toContain(canary)
    expect(d.service.log()).not.toContain(canary)
    const decided = await d.call('POST', `findings/${found[0]?.id}/decisions`, {
      body: { decision: 'confirm' },
    })
    expect(decided.status).toBe(200)
  })

  test('tells a foreign tenant nothing', async () => {
    const answer = await d.call('GET', 'findings?class=unprotected', { secret: d.foreign.secret })
    expect(JSON.stringify(await answer.json())).not.toContain('unprotected')
  })
})
