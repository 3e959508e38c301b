/**
 * Describes a table to one principal: what its contract says of it, its columns, and which filters and masks apply to
 * that principal. A table that may not be read is described to nobody.
 */

import { primaryKeyOf } from '../core/contract-schema.ts'
import type { RowFilter } from '../core/governed-table.ts'
import type { IcebergType } from '../core/iceberg-type.ts'
import { chooseMask } from '../core/mask.ts'
import type { Principal } from '../core/principal.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { type ContractVersion, versionInForce } from '../store/contract/versions.ts'
import { boundColumn } from '../store/governance/declared-schema.ts'
import {
  findReadableTables,
  type ReadableColumn,
  type ReadableTable,
} from '../store/governance/readable-tables.ts'
import type { Store } from '../store/store.ts'

export interface DescribedColumn {
  readonly fieldId: number
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly tags: readonly string[]
  readonly description?: string
  /** The action of the mask that applies to the principal. */
  readonly mask?: string
}

export interface DescribedFilter {
  readonly id: string
  /** The columns that it names, where they are bound. */
  readonly columns: readonly string[]
  readonly expression: string
}

export interface DescribedTable {
  readonly ref: TableRef
  readonly contract: ReadableTable['contract']
  readonly description?: string
  readonly columns: readonly DescribedColumn[]
  readonly primaryKey: readonly string[]
  /** Those that apply to the principal. */
  readonly filters: readonly DescribedFilter[]
  /** Undefined where the table is not pinned. */
  readonly pinnedSnapshotId: bigint | undefined
}

/**
 * Describes one table.
 * @returns undefined where there is no such table, or it may not be read
 * @throws Fault as `listReadableTables`
 */
export async function describeTable(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  principal: Principal,
): Promise<DescribedTable | undefined> {
  return (await describeTablesNamed(store, tenant, [table], principal))[0]
}

/**
 * Describes several tables by name, without those that are not there or may not be read.
 * @throws Fault as {@link describeTable}
 */
export async function describeTablesNamed(
  store: Store,
  tenant: TenantId,
  refs: readonly TableRef[],
  principal: Principal,
): Promise<readonly DescribedTable[]> {
  return (await findReadableTables(store, tenant, principal, refs)).map(described)
}

/** The version of a contract in force; undefined where the contract has no document. */
export function contractVersion(
  store: Store,
  tenant: TenantId,
  contract: string,
): Promise<ContractVersion | undefined> {
  return versionInForce((text, params) => store.tenantQuery(tenant, text, params), tenant, contract)
}

/** Describes a table to the principal as whom it was loaded. */
export function described(table: ReadableTable): DescribedTable {
  const { ref, contract, declared } = table
  const declaredText = new Map(
    declared?.schema.properties?.map((property) => [
      boundColumn(declared, ref, property.name, table.columns)?.fieldId,
      property.description,
    ]),
  )
  const describeColumn = (column: ReadableColumn): DescribedColumn => {
    const { name, type, required, fieldId, tags, doc } = column
    const description = declaredText.get(fieldId) ?? doc
    const mask = maskOf(column)
    return {
      ...{ fieldId, name, type: typeName(type), required, tags },
      ...(description !== undefined && { description }),
      ...(mask !== undefined && { mask }),
    }
  }
  const description = declared?.schema.description ?? table.doc
  const keys = declared === undefined ? [] : primaryKeyOf(declared.schema)
  return {
    ref,
    contract,
    ...(description !== undefined && { description }),
    columns: table.columns.map(describeColumn),
    primaryKey: keys.flatMap((name) => {
      const column = declared && boundColumn(declared, ref, name, table.columns)
      return column === undefined ? [] : [column.name]
    }),
    filters: table.rowFilters.map((filter) => describeFilter(filter, table)),
    pinnedSnapshotId: table.pinnedSnapshotId,
  }
}

/**
 * @returns the action; `refused` where reading is refused, because no mask can be chosen; `nested` where fields inside
 *   the column are masked
 */
function maskOf({ masks, nestedMasks, type, required }: ReadableColumn): string | undefined {
  const { mask, problem } = chooseMask(masks, type, required)
  if (problem !== undefined) return 'refused'
  return mask?.action ?? (nestedMasks && 'nested')
}

function describeFilter(
  { policyId, fieldId, names = {}, expression }: RowFilter,
  { columns }: ReadableTable,
): DescribedFilter {
  const ids = new Set([...Object.values(names), ...(fieldId === undefined ? [] : [fieldId])])
  return {
    id: policyId,
    columns: columns
      .filter(({ fieldId, nestedIds }) => [fieldId, ...nestedIds].some((id) => ids.has(id)))
      .map(({ name }) => name),
    expression,
  }
}

function typeName(type: IcebergType): string {
  return typeof type === 'string' ? type : type.type
}
