/**
 * Puts in force what a version of a contract says of its tables: the contract itself, its row filters and masks. It is
 * one part of the caller's transaction. What the earlier version protected and this one no longer names stays.
 */

import { Fault } from '../../base/fault.ts'
import type { ContractSchema } from '../../core/contract-schema.ts'
import { type TableRef, tableKey, tableName } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { ContractModel, ModelProperty, ModelSchema } from '../../wire/odcs/model.ts'
import type { Tx } from '../database/session.ts'
import { readGovernance } from '../governance/governance.ts'
import {
  type ConcernedTables,
  removeContract,
  removeMask,
  removeRowFilter,
  saveContract,
  saveMask,
  saveRowFilter,
} from './rows.ts'

interface PutInForce {
  readonly contract: string
  readonly number: number
  /** What was in force; undefined for the first version. */
  readonly before: ContractModel | undefined
  readonly after: ContractModel
  /** What each table of `after` declares, by tableKey. */
  readonly declared: ReadonlyMap<string, ContractSchema>
}

/** A schema object that governs a table. */
export type GoverningSchema = ModelSchema & { readonly table: TableRef }

/** The schema objects that govern a table. */
export function governing(model: ContractModel | undefined): readonly GoverningSchema[] {
  return (model?.schemas ?? []).filter((schema): schema is GoverningSchema => schema.table !== undefined)
}

/** The name of a property's column. */
export function columnOf({ name, physicalName }: ModelProperty): string {
  return physicalName ?? name
}

/**
 * Puts a version in force.
 * @throws Fault `conflict` where another contract governs one of its tables, `not_found` or `unprocessable` for a column
 * that a table does not have
 */
export async function putInForce(tx: Tx, tenant: TenantId, change: PutInForce): Promise<ConcernedTables> {
  const { contract, number, before, after, declared } = change
  const [old, now] = [governing(before), governing(after)]
  const kept = new Set(now.map(({ table }) => tableKey(table)))
  for (const { table } of old)
    if (!kept.has(tableKey(table)) && (await governorOf(tx, table)) === contract)
      await removeContract(tx, table)
  for (const schema of now) {
    const { table } = schema
    const governor = await governorOf(tx, table)
    if (governor !== undefined && governor !== contract)
      throw new Fault(
        'conflict',
        `The table ${tableName(table)} is under the contract ${governor}. End that first.`,
      )
    const declares = declared.get(tableKey(table)) ?? {}
    await saveContract(tx, tenant, table, {
      ...{ id: contract, version: number, schema: declares },
      purposes: after.purposes,
    })
    const former = old.find((one) => tableKey(one.table) === tableKey(table))
    await putProtection(tx, tenant, former, schema)
  }
  return now.map(({ table }) => table)
}

/** Ends a contract on every table that a version governs; filters and masks stay. */
export async function endForce(tx: Tx, contract: string, model: ContractModel): Promise<void> {
  for (const { table } of governing(model))
    if ((await governorOf(tx, table)) === contract) await removeContract(tx, table)
}

/** The contract that a table is under; undefined for none. */
export async function governorOf(tx: Tx, table: TableRef): Promise<string | undefined> {
  return (await readGovernance((text, params) => tx.query(text, params), table))?.contract?.id
}

async function putProtection(
  tx: Tx,
  tenant: TenantId,
  before: ModelSchema | undefined,
  { table, rowFilters, properties }: GoverningSchema,
): Promise<void> {
  const gone = <P extends { readonly id: string }>(was: readonly P[] = [], is: readonly P[] = []) =>
    was.filter(({ id }) => !is.some((one) => one.id === id))
  for (const { id } of gone(before?.rowFilters, rowFilters)) await removeRowFilter(tx, { table }, id)
  for (const filter of rowFilters) await saveRowFilter(tx, tenant, { table }, asStored(filter))
  for (const property of properties) {
    const column = columnOf(property)
    const former = before?.properties.find((one) => columnOf(one) === column)
    for (const { id } of gone(former?.masks, property.masks)) await removeMask(tx, { table, column }, id)
    for (const { id } of gone(former?.rowFilters, property.rowFilters))
      await removeRowFilter(tx, { table, column }, id)
    for (const mask of property.masks) await saveMask(tx, tenant, { table, column }, asStored(mask))
    for (const filter of property.rowFilters)
      await saveRowFilter(tx, tenant, { table, column }, asStored(filter))
  }
}

function asStored<P extends { readonly exemptRoles: readonly string[] }>({ exemptRoles, ...rest }: P) {
  return { ...rest, exempt_roles: exemptRoles }
}
