/**
 * Contracts, row filters, column masks and tags as nodes and edges of the graph, each saved or removed within a
 * transaction of the caller's. Who may, whether it holds and what is recorded of it is the caller's.
 */

import type { ContractSchema } from '../../core/contract-schema.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId } from '../database/names.ts'
import type { Tx } from '../database/session.ts'
import { bindSchema, schemaProperties } from '../governance/declared-schema.ts'
import { deleteEdge, deleteNode, type NodeRef, upsertNode } from '../graph/graph.ts'
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
} from './targets.ts'

const separator = '\u001f'

/** Tables whose policies a change concerns. */
export type Concerned = readonly TableRef[]

/**
 * Puts a table under an active contract, in place of the one that it is under.
 * @throws Fault `unprocessable` where it declares a column that its table does not have
 */
export async function saveContract(
  tx: Tx,
  tenant: TenantId,
  table: TableRef,
  contract: { readonly id: string; readonly version: number; readonly schema: ContractSchema },
): Promise<Concerned> {
  const { id, version, schema } = contract
  await ensureTable(tx, tenant, table)
  await upsertNode(tx, tenant, { label: 'Contract', id, properties: { version, state: 'active' } })
  const declared = schemaProperties(await bindSchema(tx, table, schema))
  const edge = tableId(table)
  await deleteEdge(tx, 'GOVERNS', edge)
  await connect(tx, tenant, 'GOVERNS', edge, ['Contract', id], ['Table', edge], declared)
  return [table]
}

/** Ends a table's contract. @returns whether there was one */
export function removeContract(tx: Tx, table: TableRef): Promise<boolean> {
  return deleteEdge(tx, 'GOVERNS', tableId(table))
}

/** What a saved policy holds besides its id. */
interface PolicyValue {
  readonly id: string
  readonly expression?: string | undefined
  readonly exempt_roles: readonly string[]
}

/** Saves a row filter, in place of the one of this id there. @throws Fault `not_found` for an unknown column */
export async function saveRowFilter(
  tx: Tx,
  tenant: TenantId,
  target: FilterTarget,
  { id: policyId, ...value }: PolicyValue,
): Promise<Concerned> {
  const [end, tables] = await holdTarget(tx, tenant, target)
  const id = filterId(end, policyId)
  await deleteNode(tx, { label: 'RowFilter', id })
  const names = await boundNames(tx, target, value.expression)
  await upsertNode(tx, tenant, {
    label: 'RowFilter',
    id,
    properties: { policy_id: policyId, ...value, names },
  })
  await connect(tx, tenant, end[0] === 'Tag' ? 'APPLIES_TO' : 'FILTERS', id, ['RowFilter', id], end)
  return tables
}

/** Removes a row filter, of dropped columns too. @returns whether there was one */
export function removeRowFilter(tx: Tx, target: FilterTarget, id: string): Promise<boolean> {
  return deleteAtTarget(tx, target, (end) => ({ label: 'RowFilter', id: filterId(end, id) }))
}

/** Saves a mask, in place of the one of this id there. @throws Fault `not_found` for an unknown column */
export async function saveMask(
  tx: Tx,
  tenant: TenantId,
  target: MaskTarget,
  { id: policyId, ...value }: PolicyValue & { readonly action: string },
): Promise<Concerned> {
  const [end, tables] = await holdTarget(tx, tenant, target)
  const id = maskId(end, policyId)
  await deleteNode(tx, { label: 'ColumnMask', id })
  const names = await boundNames(tx, target, value.expression)
  await upsertNode(tx, tenant, {
    label: 'ColumnMask',
    id,
    properties: { policy_id: policyId, ...value, names },
  })
  await connect(tx, tenant, end[0] === 'Tag' ? 'APPLIES_TO' : 'MASKS', id, ['ColumnMask', id], end)
  return tables
}

/** Removes a mask, of dropped columns too. @returns whether there was one */
export function removeMask(tx: Tx, target: MaskTarget, id: string): Promise<boolean> {
  return deleteAtTarget(tx, target, (end) => ({ label: 'ColumnMask', id: maskId(end, id) }))
}

/** A column of a table. */
export interface ColumnPlace {
  readonly table: TableRef
  readonly column: string
}

/** Tags a column. @throws Fault `not_found` for an unknown column */
export async function saveTag(tx: Tx, tenant: TenantId, place: ColumnPlace, tag: string): Promise<Concerned> {
  const { id } = await holdColumn(tx, tenant, place)
  await ensureTag(tx, tenant, tag)
  await connect(tx, tenant, 'TAGGED', tagEdge(id, tag), ['Column', id], ['Tag', nodeId(tag)])
  return [place.table]
}

/** Removes a tag from a column, dropped ones included. @returns whether there was one */
export async function removeTag(tx: Tx, place: ColumnPlace, tag: string): Promise<boolean> {
  const deleted: boolean[] = []
  for (const { id } of await columnsNamed(tx, place))
    deleted.push(await deleteEdge(tx, 'TAGGED', tagEdge(id, tag)))
  return deleted.includes(true)
}

// Ids hold what they are attached to: a policy is never taken from one table by a change of another, since names
// that are admitted hold no separator. A table's key does not begin with it, so its filters are not mistaken for
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
