/**
 * Changes to what governs reading a table: its contract, row filters, column masks and tags. Each is one
 * transaction that holds only if every policy of every table it touches can be applied.
 */

import { Fault } from '../base/fault.ts'
import type { GovernedTable } from '../core/governed-table.ts'
import { isMaskAction } from '../core/mask.ts'
import { type TableRef, tableKey } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { limits } from '../limits.ts'
import { readGovernance, type StoredColumn } from './governance.ts'
import { governedTable } from './governed-table.ts'
import { deleteEdge, deleteNode, parseAgtype, upsertEdge, upsertNode } from './graph.ts'
import { nodeId } from './names.ts'
import type { Tx } from './session.ts'
import type { Store } from './store.ts'

/** The problems that keep the policies of a table from being applied. */
export type CheckPolicies = (table: GovernedTable) => readonly { readonly message: string }[]

/** Where changes are made, and how their outcome is checked. */
export interface ContractStore {
  readonly store: Store
  readonly tenant: TenantId
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

/** What a mask is attached to: a column of a table, or a tag wherever it is. */
export type MaskTarget = { readonly table: TableRef; readonly column: string } | { readonly tag: string }

const namePattern = /^[A-Za-z0-9_.:-]{1,255}$/
const exemptRolesMax = 100
const separator = '\u001f'
const tableId = (table: TableRef) => nodeId(tableKey(table))

/**
 * Puts a table under an active contract, in place of the one that it is under.
 * @throws Fault `bad_request` for a malformed id or version
 */
export async function putContract(
  on: ContractStore,
  table: TableRef,
  { id, version }: { readonly id: string; readonly version: number },
): Promise<void> {
  checkName(id)
  if (!Number.isSafeInteger(version) || version < 1)
    throw new Fault('bad_request', '`version` must be a whole number from 1.')
  await change(on, async (tx) => {
    await ensureTable(tx, on.tenant, table)
    await upsertNode(tx, on.tenant, { label: 'Contract', id, properties: { version, state: 'active' } })
    await deleteEdge(tx, 'GOVERNS', tableId(table))
    await connect(tx, on.tenant, 'GOVERNS', tableId(table), ['Contract', id], ['Table', tableId(table)])
    return [table]
  })
}

/** Ends a table's contract; filters, masks and tags stay. @returns whether there was one */
export function deleteContract(on: ContractStore, table: TableRef): Promise<boolean> {
  return on.store.tenantTransaction(on.tenant, (tx) => deleteEdge(tx, 'GOVERNS', tableId(table)))
}

/**
 * Saves a row filter of a table, in place of the one of this id.
 * @throws Fault `bad_request` where it is malformed, `unprocessable` where it cannot be applied
 */
export async function putRowFilter(on: ContractStore, table: TableRef, filter: NewRowFilter): Promise<void> {
  checkPolicy(filter)
  const id = filterId(table, filter.id)
  await change(on, async (tx) => {
    await ensureTable(tx, on.tenant, table)
    await deleteNode(tx, { label: 'RowFilter', id })
    await upsertNode(tx, on.tenant, {
      label: 'RowFilter',
      id,
      properties: {
        policy_id: filter.id,
        expression: filter.expression,
        exempt_roles: filter.exemptRoles,
      },
    })
    await connect(tx, on.tenant, 'FILTERS', id, ['RowFilter', id], ['Table', tableId(table)])
    return [table]
  })
}

/** @returns whether there was one */
export function deleteRowFilter(on: ContractStore, table: TableRef, id: string): Promise<boolean> {
  return on.store.tenantTransaction(on.tenant, (tx) =>
    deleteNode(tx, { label: 'RowFilter', id: filterId(table, id) }),
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
  await change(on, async (tx) => {
    const column = 'tag' in target ? undefined : await holdColumn(tx, tenant, target)
    const id = maskId('tag' in target ? target : { column: column?.id ?? '' }, mask.id)
    await deleteNode(tx, { label: 'ColumnMask', id })
    await upsertNode(tx, tenant, {
      label: 'ColumnMask',
      id,
      properties: {
        policy_id: mask.id,
        action: mask.action,
        ...(mask.expression !== undefined && { expression: mask.expression }),
        exempt_roles: mask.exemptRoles,
      },
    })
    if ('tag' in target) {
      await ensureTag(tx, tenant, target.tag)
      await connect(tx, tenant, 'APPLIES_TO', id, ['ColumnMask', id], ['Tag', nodeId(target.tag)])
      return await taggedTables(tx, target.tag)
    }
    await connect(tx, tenant, 'MASKS', id, ['ColumnMask', id], ['Column', column?.id ?? ''])
    return [target.table]
  })
}

/** Removes a mask of a column, dropped ones included, or of a tag. @returns whether there was one */
export function deleteMask(on: ContractStore, target: MaskTarget, id: string): Promise<boolean> {
  return on.store.tenantTransaction(on.tenant, async (tx) => {
    const places =
      'tag' in target ? [target] : (await columnsNamed(tx, target)).map((column) => ({ column: column.id }))
    const deleted: boolean[] = []
    for (const place of places)
      deleted.push(await deleteNode(tx, { label: 'ColumnMask', id: maskId(place, id) }))
    return deleted.includes(true)
  })
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
  await change(on, async (tx) => {
    const { id } = await holdColumn(tx, tenant, { table, column: columnName })
    await ensureTag(tx, tenant, tag)
    await connect(tx, tenant, 'TAGGED', tagEdge(id, tag), ['Column', id], ['Tag', nodeId(tag)])
    return [table]
  })
}

/** Removes a tag from a column, dropped ones included. @returns whether there was one */
export function deleteTag(on: ContractStore, table: TableRef, column: string, tag: string): Promise<boolean> {
  return on.store.tenantTransaction(on.tenant, async (tx) => {
    const deleted: boolean[] = []
    for (const { id } of await columnsNamed(tx, { table, column }))
      deleted.push(await deleteEdge(tx, 'TAGGED', tagEdge(id, tag)))
    return deleted.includes(true)
  })
}

// Ids hold what they are attached to: a policy is never taken from one table by a put on another.
const filterId = (table: TableRef, id: string) => nodeId([tableId(table), id].join(separator))
const tagEdge = (column: string, tag: string) => nodeId([column, tag].join(separator))

function maskId(on: { readonly tag: string } | { readonly column: string }, id: string): string {
  return nodeId(('tag' in on ? ['tag', on.tag, id] : ['column', on.column, id]).join(separator))
}

/** Makes a change; it does not hold where a policy of the tables that `work` names cannot be applied. */
async function change(on: ContractStore, work: (tx: Tx) => Promise<readonly TableRef[]>): Promise<void> {
  await on.store.tenantTransaction(on.tenant, async (tx) => {
    // Two changes that only together conflict must not both pass.
    await tx.query(
      `select pg_advisory_xact_lock(hashtextextended('contracts ' || svc.current_tenant()::text, 0))`,
    )
    for (const table of await work(tx)) {
      const governance = await readGovernance((text, params) => tx.query(text, params), table)
      const problems = governance ? on.checkPolicies(governedTable(governance, undefined)) : []
      if (problems.length > 0)
        throw new Fault('unprocessable', [...new Set(problems.map(({ message }) => message))].join(' '))
    }
  })
}

async function connect(
  tx: Tx,
  tenant: TenantId,
  label: 'GOVERNS' | 'FILTERS' | 'MASKS' | 'APPLIES_TO' | 'TAGGED',
  id: string,
  from: readonly ['Contract' | 'RowFilter' | 'ColumnMask' | 'Column', string],
  to: readonly ['Table' | 'Column' | 'Tag', string],
): Promise<void> {
  const edge = { label, id, from: { label: from[0], id: from[1] }, to: { label: to[0], id: to[1] } }
  if (!(await upsertEdge(tx, tenant, edge)))
    throw new Fault('internal', 'Internal error.', { detail: `the ${label} edge could not be made` })
}

const ensureTable = (tx: Tx, tenant: TenantId, { namespace, name }: TableRef) =>
  upsertNode(tx, tenant, {
    label: 'Table',
    id: tableId({ namespace, name }),
    properties: { namespace, name },
  })

const ensureTag = (tx: Tx, tenant: TenantId, tag: string) =>
  upsertNode(tx, tenant, { label: 'Tag', id: nodeId(tag), properties: { name: tag } })

async function columnsNamed(
  tx: Tx,
  { table, column }: { readonly table: TableRef; readonly column: string },
): Promise<readonly StoredColumn[]> {
  const governance = await readGovernance((text, params) => tx.query(text, params), table)
  return governance?.columns.filter(({ name }) => name === column) ?? []
}

/** The current column of a name, made to name its table, so that it is found when it is dropped. */
async function holdColumn(
  tx: Tx,
  tenant: TenantId,
  place: { readonly table: TableRef; readonly column: string },
): Promise<StoredColumn> {
  const column = (await columnsNamed(tx, place)).find(({ current }) => current)
  if (column === undefined)
    throw new Fault('not_found', 'No commit through the gateway has given the table such a column.')
  const properties = { table_id: tableId(place.table) }
  await upsertNode(tx, tenant, { label: 'Column', id: column.id, properties })
  return column
}

async function taggedTables(tx: Tx, tag: string): Promise<readonly TableRef[]> {
  const rows = await tx.query<{ properties: string }>(
    `select t.properties from "Table" t where t.id in (
       select h.start_id from "Tag" g join "TAGGED" e on e.end_id = g.id join "HAS_COLUMN" h on h.end_id = e.start_id
       where agtype_access_operator(variadic array[g.properties, '"id"'::agtype]) = to_jsonb($1::text)::text::agtype)`,
    [nodeId(tag)],
  )
  return rows.map(({ properties }) => parseAgtype(properties) as TableRef)
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
