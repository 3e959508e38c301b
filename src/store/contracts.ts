/**
 * Changes to what governs reading a table: its contract, row filters, column masks and tags. Each is one
 * transaction that holds only if every policy of every table it touches can be applied.
 */

import { Fault } from '../base/fault.ts'
import type { ContractSchema } from '../core/contract-schema.ts'
import type { GovernedTable } from '../core/governed-table.ts'
import { isMaskAction } from '../core/mask.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { limits } from '../limits.ts'
import { type ContractChange, holdContracts, recordChange } from './contract-changes.ts'
import {
  boundNames,
  columnsNamed,
  connect,
  type End,
  endsOf,
  ensureTable,
  ensureTag,
  type FilterTarget,
  holdColumn,
  holdTarget,
  type MaskTarget,
  tableId,
} from './contract-targets.ts'
import { bindSchema, schemaProperties } from './declared-schema.ts'
import { readGovernance } from './governance.ts'
import { governedTable } from './governed-table.ts'
import { deleteEdge, deleteNode, type NodeRef, upsertNode } from './graph.ts'
import { nodeId } from './names.ts'
import type { Tx } from './session.ts'
import type { Store } from './store.ts'

/** The problems that keep the policies of a table from being applied. */
export type CheckPolicies = (table: GovernedTable) => readonly { readonly message: string }[]

/** Where changes are made, by whom, and how their outcome is checked. */
export interface ContractStore {
  readonly store: Store
  readonly tenant: TenantId
  /** Subject of the verified principal. */
  readonly actor: string
  readonly checkPolicies: CheckPolicies
}

export interface NewRowFilter {
  readonly id: string
  readonly expression: string
  readonly exemptRoles: readonly string[]
}

export interface NewMask {
  readonly id: string
  readonly action: string
  readonly expression?: string | undefined
  readonly exemptRoles: readonly string[]
}

const namePattern = /^[A-Za-z0-9_.:-]{1,255}$/
const exemptRolesMax = 100
const separator = '\u001f'

export interface NewContract {
  readonly id: string
  readonly version: number
  /** What it declares of the table; nothing where absent. */
  readonly schema?: ContractSchema
}

/**
 * Puts a table under an active contract, in place of the one that it is under and of what that declared.
 * @throws Fault `bad_request` for a malformed id or version, `unprocessable` where it declares a column that
 *   its table does not have
 */
export async function putContract(
  on: ContractStore,
  table: TableRef,
  { id, version, schema = {} }: NewContract,
): Promise<void> {
  checkName(id)
  if (!Number.isSafeInteger(version) || version < 1)
    throw new Fault('bad_request', '`version` must be a whole number from 1.')
  const made = { action: 'put-contract', subject: { table }, value: { id, version, ...schema } } as const
  await change(on, made, async (tx) => {
    await ensureTable(tx, on.tenant, table)
    await upsertNode(tx, on.tenant, { label: 'Contract', id, properties: { version, state: 'active' } })
    const declared = schemaProperties(await bindSchema(tx, table, schema))
    const edge = tableId(table)
    await deleteEdge(tx, 'GOVERNS', edge)
    await connect(tx, on.tenant, 'GOVERNS', edge, ['Contract', id], ['Table', edge], declared)
    return [table]
  })
}

/** Ends a table's contract; filters, masks and tags stay. @returns whether there was one */
export function deleteContract(on: ContractStore, table: TableRef): Promise<boolean> {
  return remove(on, { action: 'delete-contract', subject: { table } }, (tx) =>
    deleteEdge(tx, 'GOVERNS', tableId(table)),
  )
}

/**
 * Saves a row filter of a table, column or tag, in place of the one of this id there.
 * @throws Fault `bad_request` where it is malformed, `not_found` for an unknown column, `unprocessable` where
 *   it cannot be applied to a table that it then filters
 */
export async function putRowFilter(
  on: ContractStore,
  target: FilterTarget,
  filter: NewRowFilter,
): Promise<void> {
  checkPolicy(filter)
  if ('tag' in target) checkName(target.tag)
  const { tenant } = on
  const { expression, exemptRoles: exempt_roles } = filter
  const value = { expression, exempt_roles }
  const made = { action: 'put-row-filter', subject: { ...target, id: filter.id }, value } as const
  await change(on, made, async (tx) => {
    const [end, tables] = await holdTarget(tx, tenant, target)
    const id = filterId(end, filter.id)
    await deleteNode(tx, { label: 'RowFilter', id })
    await upsertNode(tx, tenant, {
      label: 'RowFilter',
      id,
      properties: { policy_id: filter.id, ...value, names: await boundNames(tx, target, expression) },
    })
    await connect(tx, tenant, end[0] === 'Tag' ? 'APPLIES_TO' : 'FILTERS', id, ['RowFilter', id], end)
    return tables
  })
}

/**
 * Removes a row filter of a table, of a column, dropped ones included, or of a tag.
 * @returns whether there was one
 * @throws Fault `bad_request` for a malformed id
 */
export async function deleteRowFilter(on: ContractStore, target: FilterTarget, id: string): Promise<boolean> {
  checkName(id)
  return await remove(on, { action: 'delete-row-filter', subject: { ...target, id } }, (tx) =>
    deleteAtTarget(tx, target, (end) => ({ label: 'RowFilter', id: filterId(end, id) })),
  )
}

/**
 * Saves a mask of a column or tag, in place of the one of this id there.
 * @throws Fault `bad_request` where it is malformed, `not_found` for an unknown column, `unprocessable` where
 *   it cannot be applied to a column that it then masks
 */
export async function putMask(on: ContractStore, target: MaskTarget, mask: NewMask): Promise<void> {
  checkPolicy(mask)
  if (!isMaskAction(mask.action)) throw new Fault('bad_request', 'The mask action is not known.')
  if ((mask.action === 'apply-expression') !== (mask.expression !== undefined))
    throw new Fault('bad_request', 'apply-expression, and no other action, needs an expression.')
  if ('tag' in target) checkName(target.tag)
  const { tenant } = on
  const { action, expression, exemptRoles: exempt_roles } = mask
  const value = { action, expression, exempt_roles }
  const made = { action: 'put-mask', subject: { ...target, id: mask.id }, value } as const
  await change(on, made, async (tx) => {
    const [end, tables] = await holdTarget(tx, tenant, target)
    const id = maskId(end, mask.id)
    await deleteNode(tx, { label: 'ColumnMask', id })
    await upsertNode(tx, tenant, {
      label: 'ColumnMask',
      id,
      properties: { policy_id: mask.id, ...value, names: await boundNames(tx, target, expression) },
    })
    await connect(tx, tenant, end[0] === 'Tag' ? 'APPLIES_TO' : 'MASKS', id, ['ColumnMask', id], end)
    return tables
  })
}

/**
 * Removes a mask of a column, dropped ones included, or of a tag.
 * @returns whether there was one
 * @throws Fault `bad_request` for a malformed id
 */
export async function deleteMask(on: ContractStore, target: MaskTarget, id: string): Promise<boolean> {
  checkName(id)
  return await remove(on, { action: 'delete-mask', subject: { ...target, id } }, (tx) =>
    deleteAtTarget(tx, target, (end) => ({ label: 'ColumnMask', id: maskId(end, id) })),
  )
}

/**
 * Tags a column.
 * @throws Fault `bad_request` for a malformed tag, `not_found` for an unknown column, `unprocessable` where a
 *   mask of the tag cannot be applied to it
 */
export async function putTag(
  on: ContractStore,
  table: TableRef,
  columnName: string,
  tag: string,
): Promise<void> {
  checkName(tag)
  const { tenant } = on
  const made = { action: 'put-tag', subject: { table, column: columnName, tag }, value: {} } as const
  await change(on, made, async (tx) => {
    const { id } = await holdColumn(tx, tenant, { table, column: columnName })
    await ensureTag(tx, tenant, tag)
    await connect(tx, tenant, 'TAGGED', tagEdge(id, tag), ['Column', id], ['Tag', nodeId(tag)])
    return [table]
  })
}

/**
 * Removes a tag from a column, dropped ones included.
 * @returns whether there was one
 * @throws Fault `bad_request` for a malformed tag
 */
export async function deleteTag(
  on: ContractStore,
  table: TableRef,
  column: string,
  tag: string,
): Promise<boolean> {
  checkName(tag)
  return await remove(on, { action: 'delete-tag', subject: { table, column, tag } }, async (tx) => {
    const deleted: boolean[] = []
    for (const { id } of await columnsNamed(tx, { table, column }))
      deleted.push(await deleteEdge(tx, 'TAGGED', tagEdge(id, tag)))
    return deleted.includes(true)
  })
}

// Ids hold what they are attached to: a policy is never taken from one table by a change of another, since names
// that `checkName` admits hold no separator. A table's key does not begin with it, so its filters are not mistaken for
// another's.
const maskId = ([label, end]: End, id: string) => nodeId([label.toLowerCase(), end, id].join(separator))
const filterId = (end: End, id: string) =>
  end[0] === 'Table' ? nodeId([end[1], id].join(separator)) : nodeId(`${separator}${maskId(end, id)}`)
const tagEdge = (column: string, tag: string) => nodeId([column, tag].join(separator))

/** Deletes the node that `at` names at each place that a target stands for. @returns whether there was one */
async function deleteAtTarget(tx: Tx, target: FilterTarget, at: (end: End) => NodeRef): Promise<boolean> {
  const deleted: boolean[] = []
  for (const end of await endsOf(tx, target)) deleted.push(await deleteNode(tx, at(end)))
  return deleted.includes(true)
}

/** Makes and records a change; it does not hold where a policy of the tables that `work` names cannot be applied. */
async function change(
  on: ContractStore,
  made: ContractChange,
  work: (tx: Tx) => Promise<readonly TableRef[]>,
): Promise<void> {
  await on.store.tenantTransaction(on.tenant, async (tx) => {
    await holdContracts(tx)
    for (const table of await work(tx)) {
      const governance = await readGovernance((text, params) => tx.query(text, params), table)
      const problems = governance ? on.checkPolicies(governedTable(governance, undefined)) : []
      if (problems.length > 0)
        throw new Fault('unprocessable', [...new Set(problems.map(({ message }) => message))].join(' '))
    }
    await recordChange(tx, on.actor, made)
  })
}

/** Removes something, and records that where there was something. */
function remove(
  on: ContractStore,
  made: ContractChange,
  work: (tx: Tx) => Promise<boolean>,
): Promise<boolean> {
  return on.store.tenantTransaction(on.tenant, async (tx) => {
    await holdContracts(tx)
    const removed = await work(tx)
    if (removed) await recordChange(tx, on.actor, made)
    return removed
  })
}

function checkName(text: string): void {
  if (!namePattern.test(text))
    throw new Fault('bad_request', 'Ids and tags hold 1 to 255 letters, digits and _ . : -')
}

function checkPolicy({
  id,
  expression = '',
  exemptRoles,
}: Partial<NewMask> & Pick<NewMask, 'id' | 'exemptRoles'>): void {
  checkName(id)
  if (Buffer.byteLength(expression) > limits.policyTextBytesMax)
    throw new Fault('bad_request', `An expression is at most ${limits.policyTextBytesMax} bytes.`)
  if (exemptRoles.length > exemptRolesMax || exemptRoles.some((role) => role === '' || role.length > 255))
    throw new Fault(
      'bad_request',
      `\`exempt_roles\` holds up to ${exemptRolesMax} roles of 1 to 255 characters.`,
    )
}
