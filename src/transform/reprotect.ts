/**
 * Protects values again under another key, after the rotation of their scope. The clear text stays within this call.
 * Tokens by HMAC cannot be undone, so they can only be made again from their source.
 */

import { type BytesColumn, bytesAt, columnOfBytes, isValid } from './bytes-column.ts'
import { bindingOf } from './derive-keys.ts'
import { ff1Column } from './ff1.ts'
import { isSubjectRule, type KeyedRule } from './plan.ts'
import { protectBytes } from './protect-bytes.ts'
import { TransformRefused } from './refusal.ts'
import { kidOfSealed, openColumn, type SealContext } from './seal.ts'

/** A rule with the tenant and scope key that it was, or is to be, carried out with. */
export interface KeyedProtection {
  readonly rule: KeyedRule
  readonly tenant: string
  readonly key: Uint8Array
}

/**
 * The column under `to` instead of `from`. Sealed values that name the key of `to` already are kept.
 *
 * @throws TransformRefused `malformed_plan` where the two rules differ in more than their key, or cannot be undone;
 * `not_authentic` where a value is of neither
 */
export function reprotectBytes(from: KeyedProtection, to: KeyedProtection, column: BytesColumn): BytesColumn {
  const { rule } = from
  if (
    rule.method !== to.rule.method ||
    rule.type !== to.rule.type ||
    alphabetOf(rule) !== alphabetOf(to.rule)
  )
    throw new TransformRefused('malformed_plan', 'only the scope and the key of a rule may change', rule.name)
  if (rule.method === 'hmac')
    throw new TransformRefused(
      'malformed_plan',
      'tokens by HMAC cannot be undone: make them from their source',
      rule.name,
    )
  if (isSubjectRule(rule) || isSubjectRule(to.rule))
    throw new TransformRefused(
      'malformed_plan',
      'columns with keys of subjects are written again from their source',
      rule.name,
    )
  if (rule.method === 'ff1') {
    const { tenant, key } = from
    const clear = ff1Column(
      'decrypt',
      key,
      rule.alphabet,
      Buffer.from(bindingOf({ tenant, ...rule })),
      column,
    )
    return protectBytes(to.rule, to.tenant, to.key, clear)
  }
  const method = rule.method
  const type = rule.type as SealContext['type']
  const isDone = (index: number) => kidOfSealed(method, type, bytesAt(column, index)) === to.rule.kid
  const indices = Array.from({ length: column.length }, (_, index) => index)
  const old = columnOfBytes(
    indices.map((index) => (isValid(column, index) && !isDone(index) ? bytesAt(column, index) : null)),
  )
  const { tenant, key } = from
  const clear = openColumn({ method, type, tenant, scope: rule.scope, kid: rule.kid, key }, old)
  const again = protectBytes(to.rule, to.tenant, to.key, clear)
  return columnOfBytes(
    indices.map((index) => {
      if (!isValid(column, index)) return null
      return isDone(index) ? bytesAt(column, index) : bytesAt(again, index)
    }),
  )
}

function alphabetOf(rule: KeyedRule): string | undefined {
  return rule.method === 'ff1' ? rule.alphabet : undefined
}
