/**
 * Says what the values of a table's protected columns look like in storage. Columns whose protected values look like any
 * others have no form: those by FF1, of numbers, and masks of dates.
 */

import type { ProtectedForm } from '../core/protected-form.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import type { Store } from '../store/store.ts'
import type { ColumnRule } from '../transform/plan.ts'
import { resolveKnown } from './plan-table.ts'

const none = '(?!)'
const masked = '[xn(),.@-]'

/**
 * The forms of a table's present rules; none for a table that is not known.
 * @throws Fault of the store
 */
export async function protectedForms(
  store: Store,
  tenant: TenantId,
  table: TableRef,
): Promise<readonly ProtectedForm[]> {
  const run = <R extends object>(text: string, params: readonly string[]) =>
    store.tenantQuery<R>(tenant, text, params)
  const { columns = [] } = (await resolveKnown(run, tenant, table)) ?? {}
  return columns.flatMap((rule) => {
    const pattern = patternOf(rule)
    return pattern === undefined ? [] : [{ fieldId: rule.field_id, pattern }]
  })
}

/** The source of the expression for a rule; undefined where values cannot be told. */
export function patternOf(rule: ColumnRule): string | undefined {
  if (rule.action === 'redact') return rule.required ? fixedOf(rule) : none
  if (rule.type !== 'string') return undefined
  if (rule.action === 'tokenize') return rule.method === 'hmac' ? '^tok_[a-z2-7]{26}$' : undefined
  if (rule.action === 'encrypt') {
    const prefixes = rule.method === 'siv' ? 'cse1|css1' : 'cge1|cgs1'
    return `^(?:${prefixes})\\.[a-z0-9]{1,16}\\.`
  }
  if (rule.action !== 'mask') return undefined
  switch (rule.mask) {
    case 'replace-with-null':
      return none
    case 'mask-to-fixed-value':
      return fixedOf(rule)
    case 'sha-256-global':
      return '^[0-9a-f]{64}$'
    case 'mask-alphanum':
      return `^${masked}*$`
    case 'show-first-4':
      return `^.{0,4}${masked}*$`
    case 'show-last-4':
      return `^${masked}*.{0,4}$`
    default:
      return undefined
  }
}

function fixedOf({ type }: ColumnRule): string | undefined {
  if (type === 'string') return '^X{8}$'
  return type === 'int' || type === 'long' ? '^0$' : undefined
}
