/**
 * Loads what a statement reads, again for each run: what governs its tables, from the store, and the snapshot of
 * each, from the upstream catalog, or the pinned one. It trusts nothing that an earlier run loaded.
 */

import { inParallel } from '../base/in-parallel.ts'
import { CatalogError } from '../catalog/catalog.ts'
import type { TableStates } from '../catalog/table-states.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import type { GovernedTable } from '../core/governed-table.ts'
import type { Principal } from '../core/principal.ts'
import { tableKey } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { limits } from '../limits.ts'
import type { Governance } from '../store/governance/governance.ts'
import { governedSnapshot, governedTable } from '../store/governance/governed-table.ts'
import { loadRead } from '../store/governance/read-call.ts'
import type { Store } from '../store/store.ts'
import type { TableState } from '../wire/iceberg/table-state.ts'
import { loadSpeculativeStates } from './ahead/speculative-states.ts'
import { namedRefs } from './named-refs.ts'
import type { QueryContext, SessionCheck } from './query-service.ts'
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

/** What the store says of a statement's tables. */
export interface StoredLoad {
  readonly credential: CatalogCredential
  /** By tableKey. The same object as that of another load only where the store said the same. */
  readonly governances: ReadonlyMap<string, Governance>
}

export interface LoadedTables extends StoredLoad {
  /** The service session that was valid when this was loaded, where that was checked. */
  readonly sessionId: string | undefined
  /** Of the tenant, as of what the store says. */
  readonly governanceVersion: bigint
  readonly tables: readonly GovernedTable[]
  /** By tableKey; of the tables that may be read. */
  readonly snapshots: ReadonlyMap<string, ReadSnapshot>
}

export interface LoadOptions {
  readonly signal?: AbortSignal | undefined
  readonly sessionCheck?: SessionCheck | undefined
  /** What the last load of the same statement was made from, for a speculative start. */
  readonly assumed?: StoredLoad | undefined
}

/**
 * Asks the store what governs the tables, then the upstream for their states. With `assumed`, both are asked
 * concurrently, and the upstream's reply is used only if the store confirms what was assumed.
 * @throws SqlError 28000 where the reader's session is not valid, 3D000 for an unknown
 *   catalog, 42501 for a table that the upstream restricts, 55000 where a pinned snapshot is gone, 58000 where the
 *   upstream does not answer; Fault of the store; the signal's reason
 */
export async function loadTables(
  { store, states }: LoadParts,
  context: LoadContext,
  text: string,
  { signal, sessionCheck, assumed }: LoadOptions = {},
): Promise<LoadedTables> {
  const { tenant, catalog } = context
  const refs = namedRefs(text, context.searchPath)
  const sessionId = sessionCheck?.take()
  const call = loadRead(store, tenant, catalog, refs, { sessionId, before: assumed?.credential })
  const load = (from: StoredLoad) => loadStates(states, tenant, from, signal)
  const speculative = loadSpeculativeStates(assumed, load)
  const stored = await call
  if (stored === undefined) throw new SqlError('3D000', 'There is no such database.')
  if (sessionId !== undefined) report(sessionCheck, stored.isSessionValid === true)
  signal?.throwIfAborted()
  const { credential, governances } = stored
  const loaded = await (speculative.confirm(stored) ?? load(stored))
  const present = loaded.flatMap(([governance, state]) => readAt(context, governance, state) ?? [])
  return {
    credential,
    governances,
    sessionId,
    governanceVersion: stored.governanceVersion,
    tables: present.map(({ table }) => table),
    snapshots: new Map(
      present.flatMap(({ table, snapshot }) =>
        snapshot === undefined ? [] : [[tableKey(table.ref), snapshot]],
      ),
    ),
  }
}

/** @throws SqlError 28000 where the session is not valid */
function report(sessionCheck: SessionCheck | undefined, isValid: boolean): void {
  sessionCheck?.report(isValid)
  if (!isValid) throw new SqlError('28000', 'The session was revoked or has expired.')
}

/** A table's state; `unread` for one that may not be read, undefined for one that this catalog does not have. */
type Loaded = readonly [Governance, TableState | 'unread' | undefined]

function loadStates(
  states: TableStates,
  tenant: TenantId,
  { credential, governances }: StoredLoad,
  signal: AbortSignal | undefined,
): Promise<readonly Loaded[]> {
  return inParallel(
    [...governances.values()],
    limits.statementLoadsMax,
    async (governance): Promise<Loaded> => {
      // What may not be read is refused when it is compiled, without a word to the upstream.
      if (governance.contract === undefined && !governance.readableWithoutContract)
        return [governance, 'unread']
      return [governance, await loadState(() => states.load(tenant, credential, governance.ref, signal))]
    },
  )
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

interface ReadTable {
  readonly table: GovernedTable
  /** Of a table that may be read. */
  readonly snapshot?: ReadSnapshot
}

/** By state, what was made of it last. */
const readLast = new WeakMap<
  TableState,
  { readonly governance: Governance; readonly principal: Principal; readonly read: ReadTable }
>()

/**
 * The very same object as the last time where it is made from the same three.
 * @returns undefined for a table that this catalog does not have
 */
function readAt({ principal }: LoadContext, governance: Governance, state: Loaded[1]): ReadTable | undefined {
  if (state === undefined) return undefined
  if (state === 'unread') return { table: governedTable(governance, principal) }
  const last = readLast.get(state)
  if (last?.governance === governance && Bun.deepEquals(last.principal, principal, true)) return last.read
  const read = readState(principal, governance, state)
  readLast.set(state, { governance, principal, read })
  return read
}

/** @throws SqlError 42501, 55000 */
function readState(principal: Principal, governance: Governance, state: TableState): ReadTable {
  const { pin, ref } = governance
  if (state.restricted)
    throw new SqlError(
      '42501',
      `The upstream catalog restricts reading table ${ref.name} in ways that are not applied here, so it cannot be read.`,
    )
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
