/** Values under a rotated key: what is protected again equals what the new key gives at once. */

import { describe, expect, test } from 'bun:test'
import { type BytesColumn, bytesAt, columnOfBytes, isValid } from '../../src/transform/bytes-column.ts'
import { deriveScopeKey } from '../../src/transform/derive-keys.ts'
import type { KeyedRule } from '../../src/transform/plan.ts'
import { protectBytes } from '../../src/transform/protect-bytes.ts'
import { type KeyedProtection, reprotectBytes } from '../../src/transform/reprotect.ts'
import { openColumn } from '../../src/transform/seal.ts'
import { inputs } from './inputs.ts'
import { tenant, tenantKey } from './make-vectors.ts'

function protection(method: string, kid: string, more: object = {}): KeyedProtection {
  const action = method === 'siv' || method === 'gcm' ? 'encrypt' : 'tokenize'
  const base = { field_id: 1, name: 'c', type: 'string', required: false, scope: 's', kid }
  const rule = { ...base, action, method, ...more } as unknown as KeyedRule
  return {
    rule,
    tenant,
    key: deriveScopeKey(tenantKey, { tenant, scope: rule.scope, method: rule.method, kid }),
  }
}
const protect = ({ rule, key }: KeyedProtection, column: BytesColumn) =>
  protectBytes(rule, tenant, key, column)
const textsOf = (column: BytesColumn) =>
  Array.from({ length: column.length }, (_, index) =>
    isValid(column, index) ? Buffer.from(bytesAt(column, index)).toString() : null,
  )
const texts = columnOfBytes([...(inputs.string ?? []).map((text) => Buffer.from(String(text))), null])
const digits = columnOfBytes(
  ['4111-1111-1111-1111', null, '000000'].map((text) => (text === null ? null : Buffer.from(text))),
)

describe('after a rotation', () => {
  test('SIV and FF1 values become what the new key gives', () => {
    const cases = [
      ['siv', texts, {}],
      ['ff1', digits, { alphabet: 'digits' }],
    ] as const
    for (const [method, column, more] of cases) {
      const [from, to] = [protection(method, 'k1', more), protection(method, 'k2', more)]
      expect(textsOf(reprotectBytes(from, to, protect(from, column)))).toEqual(textsOf(protect(to, column)))
    }
  })

  test('GCM values open under the new key, and those that have it already are kept', () => {
    const [from, to] = [protection('gcm', 'k1'), protection('gcm', 'k2')]
    const once = reprotectBytes(from, to, protect(from, texts))
    const context = { method: 'gcm', type: 'string', tenant, scope: 's', kid: 'k2', key: to.key } as const
    expect(textsOf(openColumn(context, once))).toEqual(textsOf(texts))
    expect(textsOf(reprotectBytes(from, to, once))).toEqual(textsOf(once))
  })

  test('what cannot be undone, or is of another key, is refused', () => {
    const code = (run: () => unknown) => {
      try {
        run()
        return undefined
      } catch (error) {
        return (error as { code?: string }).code
      }
    }
    const [from, to] = [protection('siv', 'k1'), protection('siv', 'k2')]
    expect(code(() => reprotectBytes(protection('hmac', 'k1'), protection('hmac', 'k2'), texts))).toBe(
      'malformed_plan',
    )
    expect(code(() => reprotectBytes(from, protection('gcm', 'k2'), texts))).toBe('malformed_plan')
    expect(code(() => reprotectBytes(from, to, texts))).toBe('not_authentic')
    const foreign = protection('siv', 'k1', { scope: 'other' })
    expect(code(() => reprotectBytes(from, to, protect(foreign, texts)))).toBe('not_authentic')
  })
})
