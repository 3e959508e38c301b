/**
 * The cases in which a writer must write nothing, one by one. `clients/python/tests/test_fail_closed.py` has the same
 * cases by the same names for the Python library. Each ends in one refusal that shows no value.
 */

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { tableFromArrays, tableFromIPC, tableToIPC } from 'apache-arrow'
import { fetchPlan } from '../../src/transform/fetch-plan.ts'
import { type OpenPlan, openPlan } from '../../src/transform/open-plan.ts'
import type { ColumnRule } from '../../src/transform/plan.ts'
import { protectTable } from '../../src/transform/protect-table.ts'
import { protectColumns } from '../../src/transform/protect-values.ts'
import { type RefusalCode, TransformRefused } from '../../src/transform/refusal.ts'
import { issuer, jwks, makePlan, now, signPlan, table, tableUuid, tenant, writer } from './make-vectors.ts'
import vectors from './transform-vectors.json'

const canary = 'CANARY-3b6f'
const expected = { issuer, tenant, table, tableUuid, schemaId: 4 }
const rule = (rest: object, more: object = {}): ColumnRule =>
  ({ field_id: 1, name: 'c', type: 'string', required: false, ...rest, ...more }) as ColumnRule
const keyed = { scope: 'sensitive.email', kid: 'k1' }
const hmac = { action: 'tokenize', method: 'hmac', ...keyed }
const ff1 = { action: 'tokenize', method: 'ff1', alphabet: 'digits', ...keyed }

const opened = (...rules: readonly ColumnRule[]): OpenPlan =>
  openPlan(signPlan(makePlan(rules)), jwks, expected, { writer }, now)
const protect = (open: OpenPlan, columns: Record<string, readonly (string | null)[]>, at = now) =>
  protectColumns(open, columns, at)
/** The plan of the vector file with this name. */
const vector = (name: string) => {
  const found = vectors.plans.find((each) => each.name === name)
  if (found === undefined) throw new Error(`there is no plan ${name}`)
  return openPlan(found.jws, jwks, expected, { writer }, now)
}
const asking = (answer: () => Promise<Response>, url: string | undefined = issuer) =>
  fetchPlan({
    url,
    table,
    headers: { 'X-Svc-Session': canary },
    fetch: answer,
    nowSeconds: () => now,
    timeoutMs: 1,
  })
const answering = (status: number) => asking(async () => new Response(canary, { status }))

/** What each does must not come to an end. */
const cases: Readonly<Record<string, readonly [RefusalCode, () => unknown]>> = {
  'no address in the environment': ['no_plan', () => asking(async () => new Response(), '')],
  'no answer': ['no_plan', () => asking(() => Promise.reject(new Error(canary)))],
  'no answer in time': [
    'no_plan',
    () =>
      fetchPlan({
        ...{ url: issuer, table, headers: {}, nowSeconds: () => now, timeoutMs: 1 },
        fetch: (_, { signal }) =>
          new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error(canary)))),
      }),
  ],
  'an answer of 4xx': ['no_plan', () => answering(403)],
  'an answer of 5xx': ['no_plan', () => answering(503)],
  'a bad signature': ['bad_signature', () => vector('a payload that was changed')],
  'the key of another signer': ['bad_signature', () => vector('another key')],
  'a wrong issuer': ['wrong_issuer', () => vector('another issuer')],
  'a wrong tenant': ['wrong_tenant', () => vector('another tenant')],
  'a plan that is replayed for another table': ['wrong_table', () => vector('another table')],
  'a wrong table uuid': ['wrong_table', () => vector('another table uuid')],
  'a wrong schema': ['wrong_schema', () => vector('another schema')],
  'an expired plan': ['expired', () => vector('expired')],
  'a cached plan at its end, without the service': [
    'expired',
    () => {
      const open = opened(rule(hmac))
      protect(open, { c: ['a'] }, open.plan.exp - 1)
      return protect(open, { c: [canary] }, open.plan.exp)
    },
  ],
  'a clock that is off by over a minute': ['clock', () => vector('a clock that is late')],
  'an unknown action': ['malformed_plan', () => opened(rule({ action: 'hide' }))],
  'an unknown method': ['malformed_plan', () => opened(rule({ ...hmac, method: 'rot13' }))],
  'an unknown mask': ['malformed_plan', () => opened(rule({ action: 'mask', mask: 'rot13' }))],
  'an unknown type': ['malformed_plan', () => opened(rule(hmac, { type: 'text' }))],
  'a nested column': ['malformed_plan', () => opened(rule({ action: 'redact' }, { type: 'struct' }))],
  'a plan that does not list every column': ['malformed_plan', () => vector('not complete')],
  'no key': ['no_key', () => vector('no keys')],
  'a key that was changed': ['no_key', () => vector('a key that was changed')],
  'an unknown key': [
    'no_key',
    () =>
      openPlan(
        signPlan({ ...makePlan([rule(hmac)]), columns: [rule({ ...hmac, kid: 'k9' })] }),
        jwks,
        expected,
        { writer },
        now,
      ),
  ],
  'a value outside the domain': ['outside_domain', () => protect(opened(rule(ff1)), { c: [canary] })],
  'NULL in a required column': [
    'null_in_required',
    () => protect(opened(rule({ action: 'redact' }, { required: true })), { c: [canary, null] }),
  ],
  'text that is no Unicode': ['wrong_type', () => protect(opened(rule(hmac)), { c: [`${canary}\ud83d`] })],
  'a column that the plan does not know': [
    'unknown_column',
    () => protect(opened(rule(hmac)), { c: ['a'], more: [canary] }),
  ],
  'a required column that is missing': [
    'missing_column',
    () =>
      protect(opened(rule(hmac), rule({ action: 'keep' }, { name: 'd', field_id: 2, required: true })), {
        c: [canary],
      }),
  ],
  'a value that was protected before': [
    'already_protected',
    () => protect(opened(rule(hmac)), { c: [`tok_${canary}`] }),
  ],
  'an exception on the way': [
    'failed',
    () => {
      const broken = {
        ...opened(rule(hmac)),
        keyOf: () => {
          throw new Error(canary)
        },
      }
      return protect(broken, { c: ['a'] })
    },
  ],
  'half of a batch': [
    'outside_domain',
    () => {
      const given = tableFromIPC(tableToIPC(tableFromArrays({ c: ['a'], d: [canary] })))
      const before = JSON.stringify(given.toArray())
      const plain = tableFromIPC(tableToIPC(given))
      try {
        return protectTable(opened(rule(hmac), rule(ff1, { name: 'd', field_id: 2 })), plain, now)
      } finally {
        expect(JSON.stringify(plain.toArray())).toBe(before)
      }
    },
  ],
}

describe('a writer writes nothing where it meets', () => {
  test.each(Object.entries(cases))('%s', async (_, [code, run]) => {
    let refused: unknown
    try {
      await run()
    } catch (thrown) {
      refused = thrown
    }
    expect(refused).toBeInstanceOf(TransformRefused)
    const { message, cause } = refused as TransformRefused
    expect([(refused as TransformRefused).code, cause]).toEqual([code, undefined])
    expect(`${message} ${JSON.stringify(refused)}`).not.toContain('CANARY')
  })
})

test('the Python library has the same cases', () => {
  const path = new URL('../../clients/python/tests/test_fail_closed.py', import.meta.url)
  const names = [...readFileSync(path, 'utf8').matchAll(/^ {4}def test_(\w+)\(self\) -> None:$/gm)].map(
    ([, name = '']) => name,
  )
  const asPython = (name: string) => name.toLowerCase().replaceAll(' ', '_').replaceAll(',', '')
  expect(names.toSorted()).toEqual(Object.keys(cases).map(asPython).toSorted())
})
