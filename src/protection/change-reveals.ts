/** Saves and removes the rules by which readers see protected values in clear. Nobody does where there is none. */

import { Fault } from '../base/fault.ts'
import type { Actor } from '../core/administration.ts'
import type { RevealRule } from '../core/reveal.ts'
import { tableName } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { changeSigned, tablesOfSubject } from '../store/contract/change-signed.ts'
import { lockContracts, recordChange } from '../store/contract/changes.ts'
import { ensureColumn } from '../store/contract/targets.ts'
import type { Tx } from '../store/database/session.ts'
import type { Store } from '../store/store.ts'
import { type ColumnPlace, removeReveal, saveReveal } from '../store/transform/reveals.ts'
import type { ColumnRule } from '../transform/plan.ts'
import { problemSentence, resolveKnown } from './plan-table.ts'

interface RevealChange {
  readonly store: Store
  readonly tenant: TenantId
  readonly actor: Actor
}

/**
 * Lets principals with one of the roles read the values of a column in clear. What the column is protected by now is
 * kept with the rule.
 *
 * @throws Fault `not_found` for an unknown column, `unprocessable` where its values cannot be opened again, `conflict`
 * where a contract with a life cycle governs the table and nobody has signed
 */
export async function putReveal(
  on: RevealChange,
  place: ColumnPlace,
  roles: readonly string[],
): Promise<void> {
  const { tenant, actor } = on
  const asked = { action: 'put-transform-reveal', subject: { ...place }, value: { roles } }
  await changeSigned(on, asked, tablesOfSubject(asked.subject), async (tx) => {
    const { fieldId } = await ensureColumn(tx, tenant, place)
    const rule = revealRule(await columnRule(tx, tenant, place, fieldId), place, roles)
    await saveReveal(tx, tenant, { table: place.table, fieldId }, rule)
    await recordChange(tx, actor, { action: 'put-transform-reveal', subject: { ...place }, value: rule })
  })
}

/** @throws Fault `unprocessable` */
async function columnRule(
  tx: Tx,
  tenant: TenantId,
  { table }: ColumnPlace,
  fieldId: number,
): Promise<ColumnRule | undefined> {
  const run = <R extends object>(text: string, params: readonly string[]) => tx.query<R>(text, params)
  const { columns = [], problems = [] } = (await resolveKnown(run, tenant, table)) ?? {}
  if (problems.length > 0) throw new Fault('unprocessable', problemSentence(table, problems))
  return columns.find((column) => column.field_id === fieldId)
}

/** @throws Fault `unprocessable` */
function revealRule(
  rule: ColumnRule | undefined,
  { table, column }: ColumnPlace,
  roles: readonly string[],
): RevealRule {
  if (rule === undefined || !('method' in rule) || rule.method === 'hmac')
    throw new Fault(
      'unprocessable',
      `Column ${column} of ${tableName(table)} is not encrypted, nor tokenized by ff1, so nothing can be revealed.`,
    )
  const { method, scope, kid } = rule
  return { roles, method, scope, ...(method === 'ff1' && { alphabet: rule.alphabet, kid }) }
}

/** Removes the reveal rule of a column. @returns whether there was one */
export async function deleteReveal(
  { store, tenant, actor }: RevealChange,
  place: ColumnPlace,
): Promise<boolean> {
  return await store.tenantTransaction(tenant, async (tx) => {
    await lockContracts(tx)
    const removed = await removeReveal(tx, tenant, place)
    if (removed) await recordChange(tx, actor, { action: 'delete-transform-reveal', subject: { ...place } })
    return removed
  })
}
