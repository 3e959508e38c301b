/** Opens the two sides of a reconciliation: a snapshot on an engine, and the same on another engine or a source's table. */

import { Fault } from '../../base/fault.ts'
import type { AddressRules } from '../../catalog/address.ts'
import { type ReadEngineName, readEngineOf } from '../../core/read-engine.ts'
import type { SystemReads, SystemTable } from '../../core/system-read.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { findCatalogCredential } from '../../store/catalog-credential/catalog-credentials.ts'
import { findSource } from '../../store/reconcile/sources.ts'
import type { Store } from '../../store/store.ts'
import type { ModelCounterpart } from '../../wire/odcs/model.ts'
import { type ColumnPair, icebergColumn, pairOf, type SideColumn } from './column-kind.ts'
import type { SideReader } from './locate.ts'
import { type SourceTable, withSourceTable } from './postgres-source.ts'

export interface SideParts {
  readonly store: Store
  readonly reads: SystemReads
  readonly addressRules: AddressRules
}

/** A snapshot to compare. */
export interface Compared {
  readonly tenant: TenantId
  /** Nickname of the catalog credential. */
  readonly catalog: string
  readonly table: TableRef
  readonly snapshotId: bigint | undefined
}

/** The counterparts that the input of a run names. */
export function counterpartsOf({
  counterparts,
}: Readonly<Record<string, unknown>>): readonly ModelCounterpart[] {
  return Array.isArray(counterparts) ? (counterparts as readonly ModelCounterpart[]) : []
}

/** Both sides, open. */
export interface Sides {
  readonly left: SideReader
  readonly right: SideReader
  readonly pairs: readonly ColumnPair[]
  /** Columns of the left that the right lacks, and those whose values cannot be compared. */
  readonly missing: readonly { readonly fieldId: number; readonly name: string }[]
  readonly unlike: readonly { readonly fieldId: number; readonly name: string }[]
  /** Bytes that the engines have read so far. */
  readonly bytes: () => number
}

/** Whether the snapshot can be read by a second engine: its credential names a Trino. */
export async function hasSecondEngine({ store }: SideParts, { tenant, catalog }: Compared): Promise<boolean> {
  const credential = await findCatalogCredential(store, tenant, catalog)
  return credential?.config['trino.uri'] !== undefined
}

/**
 * Opens both sides for `work`.
 * @throws Fault of either side
 */
export async function withSides<T>(
  parts: SideParts,
  compared: Compared,
  counterpart: ModelCounterpart,
  signal: AbortSignal,
  work: (sides: Sides) => Promise<T>,
): Promise<T> {
  const { tenant, catalog } = compared
  const credential = await findCatalogCredential(parts.store, tenant, catalog)
  if (credential === undefined) throw new Fault('not_found', 'There is no such catalog.')
  const own = readEngineOf(credential.config)
  let bytes = 0
  const open = async (engine: ReadEngineName): Promise<SourceTable> =>
    snapshotSide(await parts.reads.open({ ...compared, engine }, signal), engine, (read) => {
      bytes += read
    })
  const join = async (left: SourceTable, fieldIds: readonly number[], right: SourceTable) =>
    await work({ left, right, ...paired(left.columns, fieldIds, right.columns), bytes: () => bytes })
  if ('engine' in counterpart) {
    const other = counterpart.engine === 'duckdb' ? 'trino' : 'duckdb'
    const left = await open(other)
    return await join(left, left.fieldIds ?? [], await open(counterpart.engine))
  }
  const source = await findSource(parts.store, tenant, counterpart.source)
  if (source === undefined) throw new Fault('unprocessable', 'There is no such source.')
  const left = await open(own)
  return await withSourceTable(source, counterpart.table, parts.addressRules, signal, (right) =>
    join(left, left.fieldIds ?? [], right),
  )
}

function snapshotSide(
  table: SystemTable,
  engine: ReadEngineName,
  count: (bytes: number) => void,
): SourceTable {
  return {
    dialect: engine,
    columns: table.columns.map(({ name, type }) => icebergColumn(name, type)),
    fieldIds: table.columns.map(({ fieldId }) => fieldId),
    async read(write, rowsMax, signal) {
      const { rows, bytes } = await table.runNative(write, rowsMax, signal)
      count(bytes)
      return rows.map((row) => row.map((cell) => (cell === null ? null : String(cell))))
    },
  }
}

/** Pairs columns by name; a source that writes names in lower case pairs with any case. */
function paired(
  left: readonly SideColumn[],
  fieldIds: readonly number[],
  right: readonly SideColumn[],
): Pick<Sides, 'pairs' | 'missing' | 'unlike'> {
  const byName = new Map(right.map((column) => [column.name, column]))
  const pairs: ColumnPair[] = []
  const missing: { fieldId: number; name: string }[] = []
  const unlike: { fieldId: number; name: string }[] = []
  for (const [index, column] of left.entries()) {
    const fieldId = fieldIds[index] ?? 0
    const other = byName.get(column.name) ?? byName.get(column.name.toLowerCase())
    const pair = other && pairOf(fieldId, column, other)
    if (pair !== undefined) pairs.push(pair)
    else (other === undefined ? missing : unlike).push({ fieldId, name: column.name })
  }
  return { pairs, missing, unlike }
}
