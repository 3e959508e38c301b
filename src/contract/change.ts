/**
 * Makes changes to what governs reading a table. Each change is one transaction, and records who made it. It is rolled
 * back when a policy of a concerned table cannot be applied afterwards.
 */

import { Fault } from '../base/fault.ts'
import type { Actor } from '../core/administration.ts'
import type { GovernedTable } from '../core/governed-table.ts'
import { currentSchema, seenTable } from '../core/seen-table.ts'
import type { CheckedStatement } from '../core/system-read.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { SchemaColumn } from '../core/table-schema.ts'
import type { TenantId } from '../core/tenant.ts'
import { limits } from '../limits.ts'
import { changeSigned, tablesOfSubject } from '../store/contract/change-signed.ts'
import { type ContractChange, recordChange } from '../store/contract/changes.ts'
import type { ConcernedTables } from '../store/contract/rows.ts'
import type { Tx } from '../store/database/session.ts'
import { readGovernance } from '../store/governance/governance.ts'
import { type CatalogSchema, recordSchemas } from '../store/governance/record-schema.ts'
import type { Store } from '../store/store.ts'

/** Lists the problems that keep the policies of a table from being applied. */
export type CheckPolicies = (table: GovernedTable) => readonly { readonly message: string }[]

/** Warns of a row filter or mask that can be applied and is hardly what was meant, in plain sentences. */
export type WarnPolicy = (
  policy: { readonly use: 'row filter' | 'mask'; readonly id: string; readonly expression: string },
  tables: readonly GovernedTable[],
) => readonly string[]

/** Compiles a statement over a table with these columns, as the system reads it. @throws Fault with a SQLSTATE */
export type CheckStatement = (
  table: TableRef,
  columns: readonly SchemaColumn[],
  text: string,
) => CheckedStatement

/** The store, tenant and principal of a change, and the check of its outcome. */
export interface ChangeContext {
  readonly store: Store
  readonly tenant: TenantId
  readonly actor: Actor
  readonly checkPolicies: CheckPolicies
  /** Absent where nobody reads warnings. */
  readonly warnPolicy?: WarnPolicy
  /** Compiles the statements of quality rules. Absent where none comes. */
  readonly checkStatement?: CheckStatement | undefined
  /** What catalogs have of the change's tables, which is recorded before it is made. */
  readonly catalogSchemas?: readonly CatalogSchema[]
}

const namePattern = /^[A-Za-z0-9_.:-]{1,255}$/
const exemptRolesMax = 100

/**
 * Makes and records a change. One that loosens what a deployed contract promises needs a sign-off.
 * @param work makes it, and returns the tables that it concerns
 * @throws Fault `unprocessable` when a policy of those tables could not be applied, `conflict` where a sign-off is
 * missing; nothing is changed then
 */
export async function changeContracts(
  on: ChangeContext,
  made: ContractChange,
  work: (tx: Tx) => Promise<ConcernedTables>,
): Promise<void> {
  await changeSigned(on, made, tablesOfSubject(made.subject), (tx) => changeIn(tx, on, made, work))
}

/** As {@link changeContracts}, as one of the changes of a transaction that holds the lock of contracts. */
export async function changeIn(
  tx: Tx,
  { actor, checkPolicies, catalogSchemas = [] }: ChangeContext,
  made: ContractChange,
  work: (tx: Tx) => Promise<ConcernedTables>,
): Promise<void> {
  await recordSchemas(tx, catalogSchemas)
  for (const table of await work(tx)) {
    const governance = await readGovernance((text, params) => tx.query(text, params), table)
    const problems = governance
      ? checkPolicies(seenTable(governance, currentSchema(governance), 'anyone'))
      : []
    if (problems.length > 0)
      throw new Fault('unprocessable', [...new Set(problems.map(({ message }) => message))].join(' '))
  }
  await recordChange(tx, actor, made)
}

/** The warnings about a row filter or mask of these tables, which was saved in this transaction. */
export async function warningsOf(
  tx: Tx,
  { warnPolicy }: ChangeContext,
  policy: Parameters<WarnPolicy>[0],
  tables: ConcernedTables,
): Promise<readonly string[]> {
  if (warnPolicy === undefined) return []
  const seen: GovernedTable[] = []
  for (const table of tables) {
    const governance = await readGovernance((text, params) => tx.query(text, params), table)
    if (governance !== undefined) seen.push(seenTable(governance, currentSchema(governance), 'anyone'))
  }
  return warnPolicy(policy, seen)
}

/** Removes something, and records the removal if there was something to remove. @returns whether there was */
export function removeContracts(
  on: ChangeContext,
  made: ContractChange,
  work: (tx: Tx) => Promise<boolean>,
): Promise<boolean> {
  return changeSigned(on, made, tablesOfSubject(made.subject), async (tx) => {
    const removed = await work(tx)
    if (removed) await recordChange(tx, on.actor, made)
    return removed
  })
}

/** Throws `bad_request` when the text is no valid id or tag. */
export function checkName(text: string): void {
  if (!namePattern.test(text))
    throw new Fault('bad_request', 'An id or tag must have 1 to 255 characters: letters, digits and _ . : -')
}

/** Throws `bad_request` for a malformed id, an expression that is too long, or malformed roles. */
export function checkFilterOrMask({
  id,
  expression = '',
  exemptRoles,
}: {
  readonly id: string
  readonly expression?: string | undefined
  readonly exemptRoles: readonly string[]
}): void {
  checkName(id)
  if (Buffer.byteLength(expression) > limits.policyTextBytesMax)
    throw new Fault('bad_request', `An expression must be at most ${limits.policyTextBytesMax} bytes.`)
  if (exemptRoles.length > exemptRolesMax || exemptRoles.some((role) => role === '' || role.length > 255))
    throw new Fault(
      'bad_request',
      `\`exempt_roles\` must hold at most ${exemptRolesMax} roles of 1 to 255 characters.`,
    )
}
