/**
 * Loads what a statement reads, anew for each run: what governs its tables, from the store, and the snapshot of
 * each, from the upstream catalog, or the pinned one. Nothing of a run before is taken for granted.
 */

import { inParallel } from '../base/in-parallel.ts'
import { CatalogError } from '../catalog/catalog.ts'
import type { TableStates } from '../catalog/table-states.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import type { GovernedTable } from '../core/governed-table.ts'
import { tableKey } from '../core/table-ref.ts'
import { limits } from '../limits.ts'
import type { Governance } from '../store/governance.ts'
import { governedSnapshot, governedTable } from '../store/governed-table.ts'
import { loadRead } from '../store/read-call.ts'
import type { Store } from '../store/store.ts'
import type { TableState } from '../wire/iceberg/table-state.ts'
import { namedRefs } from './named-refs.ts'
import type { QueryContext } from './query-service.ts'
import { SqlError } from './sql-error.ts'

export interface LoadParts {
  readonly store: Store
  readonly states: TableStates
}

/** Of a query's context, what decides which tables it reads and how. */
export type LoadContext = Pick<QueryContext, 'tenant' | 'catalog' | 'principal' | 'searchPath'>

/** The snapshot that a table is read at. */
export interface ReadSnapshot {
  readonly metadataLocation: string
  /** Undefined where the table has no snapshot. */
  readonly snapshotId: bigint | undefined
  readonly pinned: boolean
}

export interface LoadedTables {
  readonly credential: CatalogCredential
  readonly tables: readonly GovernedTable[]
  /** By tableKey; of the tables that may be read. */
  readonly snapshots: ReadonlyMap<string, ReadSnapshot>
}

/**
 * @throws SqlError 3D000 for an unknown catalog, 55000 where a pinned snapshot is gone, 58000 where the
 *   upstream does not answer; Fault of the store; the signal's reason
 */
export async function loadTables(
  { store, states }: LoadParts,
  context: LoadContext,
  text: string,
  signal: AbortSignal | undefined,
): Promise<LoadedTables> {
  const { tenant, catalog, principal } = context
  const refs = namedRefs(text, context.searchPath)
  const call = await loadRead(store, tenant, catalog, refs)
  if (call === undefined) throw new SqlError('3D000', 'There is no such database.')
  signal?.throwIfAborted()
  const { credential, governances } = call
  const loaded = await inParallel([...governances.values()], limits.statementLoadsMax, async (governance) => {
    // What may not be read is refused when it is compiled, without a word to the upstream.
    if (governance.contract === undefined && !governance.readableWithoutContract)
      return { table: governedTable(governance, principal) }
    const state = await loadState(() => states.load(tenant, credential, governance.ref, signal))
    return state && readAt(context, governance, state)
  })
  const present = loaded.filter((one) => one !== undefined)
  return {
    credential,
    tables: present.map(({ table }) => table),
    snapshots: new Map(
      present.flatMap(({ table, ...read }) =>
        'snapshot' in read ? [[tableKey(table.ref), read.snapshot]] : [],
      ),
    ),
  }
}

/** @returns undefined for a table that this catalog does not have */
async function loadState(load: () => Promise<TableState>): Promise<TableState | undefined> {
  try {
    return await load()
  } catch (thrown) {
    if (!(thrown instanceof CatalogError)) throw thrown
    if (thrown.code === 'ErrTableNotFound') return undefined
    throw new SqlError('58000', 'The upstream catalog refused to load a table.', undefined, {
      detail: thrown.code,
      cause: thrown,
    })
  }
}

function readAt({ principal }: LoadContext, governance: Governance, state: TableState) {
  const { pin, ref } = governance
  const { metadataLocation } = state
  const schema = state.schemas.get(pin?.schemaId ?? state.currentSchemaId)
  const isThere = pin === undefined || state.snapshotSchemaIds.has(pin.snapshotId)
  if (schema === undefined || !isThere)
    throw new SqlError('55000', `The snapshot that table ${ref.name} is pinned to is not there any more.`)
  const snapshotId = pin?.snapshotId ?? state.currentSnapshotId
  return {
    table: governedSnapshot(governance, schema, principal),
    snapshot: { metadataLocation, snapshotId, pinned: pin !== undefined },
  }
}
