/**
 * Saves and removes contracts, row filters, column masks and tags as nodes and edges of the graph, in the caller's
 * transaction. The caller checks access, validates the change and records it.
 */

import type { ContractSchema } from '../../core/contract-schema.ts'
import type { PurposeDemand } from '../../core/purpose.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId } from '../database/names.ts'
import type { Tx } from '../database/session.ts'
import { bindSchema, schemaProperties } from '../governance/declared-schema.ts'
import { deleteEdge, deleteNode, type NodeRef, upsertNode } from '../graph/graph.ts'
import type { TagPlace } from './tag-changes.ts'
import {
  addEdge,
  boundNames,
  columnsNamed,
  ensureColumn,
  ensureTable,
  ensureTag,
  ensureTarget,
  type FilterTarget,
  type MaskTarget,
  type TargetNode,
  tableId,
  tableWithColumns,
  targetNodes,
} from './targets.ts'

const separator = '\u001f'

/** The tables whose filters and masks a change affects. */
export type ConcernedTables = readonly TableRef[]

/**
 * Puts a table under an active contract, in place of its current one.
 * @throws Fault `unprocessable` where the contract declares a column that the table does not have
 */
export async function saveContract(
  tx: Tx,
  tenant: TenantId,
  table: TableRef,
  contract: {
    readonly id: string
    readonly version: number
    readonly schema: ContractSchema
    readonly purposes?: PurposeDemand | undefined
  },
): Promise<ConcernedTables> {
  const { id, version, schema, purposes = null } = contract
  await ensureTable(tx, tenant, table)
  await upsertNode(tx, tenant, { label: 'Contract', id, properties: { version, state: 'active', purposes } })
  const declared = schemaProperties(await bindSchema(tx, table, schema))
  const edge = tableId(table)
  await deleteEdge(tx, 'GOVERNS', edge)
  await addEdge(tx, tenant, 'GOVERNS', edge, ['Contract', id], ['Table', edge], declared)
  return [table]
}

/** Ends a table's contract. @returns whether there was one */
export function removeContract(tx: Tx, table: TableRef): Promise<boolean> {
  return deleteEdge(tx, 'GOVERNS', tableId(table))
}

/** A row filter or mask to save. */
interface PolicyValue {
  readonly id: string
  readonly expression?: string | undefined
  readonly exempt_roles: readonly string[]
}

/** Saves a row filter, in place of the target's one of this id. @throws Fault `not_found` for an unknown column */
export async function saveRowFilter(
  tx: Tx,
  tenant: TenantId,
  target: FilterTarget,
  { id: policyId, ...value }: PolicyValue,
): Promise<ConcernedTables> {
  const [end, tables] = await ensureTarget(tx, tenant, target)
  const id = filterId(end, policyId)
  await deleteNode(tx, { label: 'RowFilter', id })
  const names = await boundNames(tx, target, value.expression)
  await upsertNode(tx, tenant, {
    label: 'RowFilter',
    id,
    properties: { policy_id: policyId, ...value, names },
  })
  await addEdge(tx, tenant, end[0] === 'Tag' ? 'APPLIES_TO' : 'FILTERS', id, ['RowFilter', id], end)
  return tables
}

/** Removes a row filter, also from dropped columns. @returns whether there was one */
export function removeRowFilter(tx: Tx, target: FilterTarget, id: string): Promise<boolean> {
  return deleteAtTarget(tx, target, (end) => ({ label: 'RowFilter', id: filterId(end, id) }))
}

/** Saves a mask, in place of the target's one of this id. @throws Fault `not_found` for an unknown column */
export async function saveMask(
  tx: Tx,
  tenant: TenantId,
  target: MaskTarget,
  { id: policyId, ...value }: PolicyValue & { readonly action: string },
): Promise<ConcernedTables> {
  const [end, tables] = await ensureTarget(tx, tenant, target)
  const id = maskId(end, policyId)
  await deleteNode(tx, { label: 'ColumnMask', id })
  const names = await boundNames(tx, target, value.expression)
  await upsertNode(tx, tenant, {
    label: 'ColumnMask',
    id,
    properties: { policy_id: policyId, ...value, names },
  })
  await addEdge(tx, tenant, end[0] === 'Tag' ? 'APPLIES_TO' : 'MASKS', id, ['ColumnMask', id], end)
  return tables
}

/** Removes a mask, also from dropped columns. @returns whether there was one */
export function removeMask(tx: Tx, target: MaskTarget, id: string): Promise<boolean> {
  return deleteAtTarget(tx, target, (end) => ({ label: 'ColumnMask', id: maskId(end, id) }))
}

/**
 * Tags a table or a column of it.
 * @throws Fault `not_found` for an unknown column, or a table of which no column is known
 */
export async function saveTag(
  tx: Tx,
  tenant: TenantId,
  { table, column }: TagPlace,
  tag: string,
): Promise<ConcernedTables> {
  const node: TargetNode =
    column === undefined
      ? ['Table', await tableWithColumns(tx, table)]
      : ['Column', (await ensureColumn(tx, tenant, { table, column })).id]
  await ensureTag(tx, tenant, tag)
  await addEdge(tx, tenant, 'TAGGED', tagEdge(node, tag), node, ['Tag', nodeId(tag)])
  return [table]
}

/** Removes a tag from a table, or from a column, also from a dropped one. @returns whether there was one */
export async function removeTag(tx: Tx, { table, column }: TagPlace, tag: string): Promise<boolean> {
  const nodes: readonly TargetNode[] =
    column === undefined
      ? [['Table', tableId(table)]]
      : (await columnsNamed(tx, { table, column })).map(({ id }) => ['Column', id] as const)
  const deleted: boolean[] = []
  for (const node of nodes) deleted.push(await deleteEdge(tx, 'TAGGED', tagEdge(node, tag)))
  return deleted.includes(true)
}

// An id contains the id of the target, and allowed names contain no separator, so a change of one table never touches
// a filter of another. A table's key does not begin with the separator, so a filter on a table and one on a column or
// tag never have the same id.
const maskId = ([label, end]: TargetNode, id: string) =>
  nodeId([label.toLowerCase(), end, id].join(separator))
const filterId = (end: TargetNode, id: string) =>
  end[0] === 'Table' ? nodeId([end[1], id].join(separator)) : nodeId(`${separator}${maskId(end, id)}`)
const tagEdge = ([label, id]: TargetNode, tag: string) =>
  nodeId([...(label === 'Table' ? ['', 'table'] : []), id, tag].join(separator))

/** Deletes the node that `at` gives for each node of the target. @returns whether there was one */
async function deleteAtTarget(
  tx: Tx,
  target: FilterTarget,
  at: (end: TargetNode) => NodeRef,
): Promise<boolean> {
  const deleted: boolean[] = []
  for (const end of await targetNodes(tx, target)) deleted.push(await deleteNode(tx, at(end)))
  return deleted.includes(true)
}
