/**
 * Loads what a statement reads: the governance and the territory of its tables from the store, and the snapshot of each
 * from the upstream catalog. A pin replaces the current snapshot. Each run loads again and trusts no earlier load.
 */

import type { SelectStmt } from 'libpg-query'
import type { Clock } from '../../../base/clock.ts'
import { inParallel } from '../../../base/in-parallel.ts'
import { CatalogError } from '../../../catalog/catalog.ts'
import type { TableStates } from '../../../catalog/table-states.ts'
import { withGrantsOf } from '../../../core/access-grant.ts'
import { type CatalogCredential, catalogOf } from '../../../core/catalog.ts'
import type { Governance } from '../../../core/governance.ts'
import type { GovernedTable } from '../../../core/governed-table.ts'
import { foldTable, nameCaseOf } from '../../../core/name-case.ts'
import type { Principal } from '../../../core/principal.ts'
import {
  currentSchema,
  isReadable,
  seenTable,
  seenUntilMs,
  type Viewer,
  viewerAt,
} from '../../../core/seen-table.ts'
import { type TableRef, tableKey } from '../../../core/table-ref.ts'
import type { TenantId } from '../../../core/tenant.ts'
import type { Territory } from '../../../core/territory.ts'
import { NameCases } from '../../../storage/name-cases.ts'
import type { ReadOwner } from '../../../storage/read-territory.ts'
import { storageRoots } from '../../../storage/roots.ts'
import { loadRead, type ReadCall } from '../../../store/governance/read-call.ts'
import type { Store } from '../../../store/store.ts'
import type { TableState } from '../../../wire/iceberg/table-state.ts'
import { SqlError } from '../../compile/base/sql-error.ts'
import { namedRefs } from '../../compile/parse/named-refs.ts'
import type { QueryContext, SessionCheck } from '../../query-service.ts'
import { placeRead } from './place-read.ts'
import { assertNotQuarantined } from './quarantined.ts'
import { loadSpeculativeStates } from './speculative-states.ts'

/** Tables of one statement that are loaded from the upstream at once. */
const statementLoadsMax = 8

export interface LoadParts {
  readonly store: Store
  readonly states: TableStates
  readonly clock: Clock
}

/** The part of a query's context that decides which tables it reads and how. */
export type LoadContext = Pick<QueryContext, 'tenant' | 'catalog' | 'principal' | 'searchPath'>

/** The snapshot that a table is read at. */
export interface ReadSnapshot {
  readonly metadataLocation: string
  /** Undefined where the table has no snapshot. */
  readonly snapshotId: bigint | undefined
  /** Bytes of its files, where its summary tells them. */
  readonly fileBytes?: bigint | undefined
  readonly pinned: boolean
  /** Where the table's files may lie. */
  readonly territory: Territory
  readonly owner: ReadOwner
}

/** What the store holds about a statement's tables. */
interface StoredLoad {
  readonly credential: CatalogCredential
  /** By tableKey. Two loads share the object only where the store replied the same. */
  readonly governances: ReadonlyMap<string, Governance>
}

export interface LoadedTables extends StoredLoad {
  /** The service session that the load found valid; undefined where it was not checked. */
  readonly sessionId: string | undefined
  /** The tenant's governance version at the time of the load. */
  readonly governanceVersion: bigint
  /** When the tables were seen, by the service's clock; absent for a read of the system. */
  readonly atMs?: number
  readonly tables: readonly GovernedTable[]
  /** By tableKey. Only tables that may be read have one. */
  readonly snapshots: ReadonlyMap<string, ReadSnapshot>
}

export interface LoadOptions {
  readonly signal?: AbortSignal | undefined
  readonly sessionCheck?: SessionCheck | undefined
  /** The store's reply for the last load of the same statement, for a speculative load. */
  readonly assumed?: StoredLoad | undefined
}

/**
 * Loads the governance from the store, then the states from the upstream. With `assumed` both loads are concurrent,
 * and the upstream's reply is used only if the store confirms what was assumed.
 * @param source the statement's text, or its tree where metrics were written out
 * @throws SqlError 28000 where the reader's session is not valid, 3D000 for an unknown catalog, 42501 for a table that
 *   the upstream restricts, 55000 where a pinned snapshot is gone or a snapshot is quarantined, 58000 where the upstream fails; Fault of the store;
 *   the signal's reason
 */
export async function loadTables(
  { store, states, clock }: LoadParts,
  context: LoadContext,
  source: string | SelectStmt,
  { signal, sessionCheck, assumed }: LoadOptions = {},
): Promise<LoadedTables> {
  const { tenant, catalog } = context
  const named = namedRefs(source, context.searchPath)
  const sessionId = sessionCheck?.take()
  const refs = everyForm(named)
  const call = loadRead(store, tenant, catalog, refs, { sessionId, before: assumed?.credential })
  const load = (from: StoredLoad) => loadStates(states, tenant, from, signal)
  const speculative = loadSpeculativeStates(assumed, load)
  const answer = await call
  const stored =
    answer && (refs === named ? answer : await ownForms({ store, states, clock }, tenant, answer, named))
  if (stored === undefined)
    throw new SqlError('3D000', 'There is no such database. Use the nickname of a catalog credential.')
  if (sessionId !== undefined) report(sessionCheck, stored.isSessionValid === true)
  signal?.throwIfAborted()
  const { credential, governances } = stored
  const loaded = await (speculative.confirm(stored) ?? load(stored))
  const foldsNames = nameCaseOf(credential) === 'folded'
  const atMs = clock.now()
  const present = loaded.flatMap(
    ([governance, state]) => readAt(context, { governance, foldsNames, atMs }, state) ?? [],
  )
  const place = (read: ReadTable) => placed({ store, states, clock }, tenant, stored, read)
  const snapshots = await inParallel(present, statementLoadsMax, place)
  return {
    credential,
    governances,
    sessionId,
    ...{ governanceVersion: stored.governanceVersion, atMs },
    tables: present.map(({ table }) => table),
    snapshots: new Map(snapshots.flatMap((snapshot) => snapshot ?? [])),
  }
}

/** The snapshot of a table that may be read, with the territory that this load found. */
async function placed(
  parts: LoadParts,
  tenant: TenantId,
  { credential, territory }: ReadCall,
  { table, state, snapshot }: ReadTable,
): Promise<readonly (readonly [string, ReadSnapshot])[] | undefined> {
  if (snapshot === undefined || state === undefined) return undefined
  const owner = {
    ...{
      catalog: catalogOf(credential),
      credentialId: credential.id,
      roots: storageRoots(credential.config),
    },
    ...{ table: table.ref, tableUuid: state.tableUuid },
  }
  assertNotQuarantined(territory, owner, snapshot.snapshotId)
  const own = await placeRead(parts, { tenant, credential, owner, state, found: territory })
  return [[tableKey(table.ref), { ...snapshot, territory: own, owner }]]
}

/** @throws SqlError 28000 where the session is not valid */
function report(sessionCheck: SessionCheck | undefined, isValid: boolean): void {
  sessionCheck?.report(isValid)
  if (!isValid) throw new SqlError('28000', 'The session was revoked or has expired.')
}

/** A table with its state: `unread` where it may not be read, undefined where this catalog does not have it. */
type Loaded = readonly [Governance, TableState | 'unread' | undefined]

function loadStates(
  states: TableStates,
  tenant: TenantId,
  { credential, governances }: StoredLoad,
  signal: AbortSignal | undefined,
): Promise<readonly Loaded[]> {
  return inParallel([...governances.values()], statementLoadsMax, async (governance): Promise<Loaded> => {
    // The compiler refuses a table that may not be read, so the upstream is not asked for it.
    if (!isReadable(governance)) return [governance, 'unread']
    return [governance, await loadState(() => states.load(tenant, credential, governance.ref, signal))]
  })
}

/** The names with the form that each has in a catalog that folds names; the same list where all have it already. */
function everyForm(named: readonly TableRef[]): readonly TableRef[] {
  if (named.every((ref) => foldTable(ref) === ref)) return named
  const forms = [...named, ...named.map(foldTable)]
  return [...new Map(forms.map((ref) => [tableKey(ref), ref])).values()]
}

/** The answer with the names that the catalog has: its own form of each where it folds names, else those of the statement. */
async function ownForms(
  { store, states }: LoadParts,
  tenant: TenantId,
  first: ReadCall,
  named: readonly TableRef[],
): Promise<ReadCall> {
  const settled = await new NameCases(store, states.catalogs).settle(tenant, first.credential)
  // What was found out is part of the credential, and of what governs the tables.
  const again =
    settled !== first.credential &&
    (await loadRead(store, tenant, first.credential.nickname, everyForm(named)))
  const answer = again ? { ...again, isSessionValid: first.isSessionValid } : first
  const own = nameCaseOf(answer.credential) === 'folded' ? named.map(foldTable) : named
  const keys = new Set(own.map(tableKey))
  return { ...answer, governances: new Map([...answer.governances].filter(([key]) => keys.has(key))) }
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
  /** Both are set where the table may be read. */
  readonly state?: TableState
  readonly snapshot?: Omit<ReadSnapshot, 'territory' | 'owner'>
}

/** The last table made from each state, and the time for which it is the same by all grants. */
const readLast = new WeakMap<
  TableState,
  {
    readonly governance: Governance
    readonly principal: Principal
    readonly read: ReadTable
    readonly fromMs: number
    readonly untilMs: number
  }
>()

interface ReadBy {
  readonly governance: Governance
  readonly foldsNames: boolean
  /** When it is read, by which grants hold or not. */
  readonly atMs: number
}

/**
 * Returns the same object as last time for the same state, governance, principal and grants, which keeps caches valid.
 * @returns undefined for a table that this catalog does not have
 */
function readAt(
  { principal }: LoadContext,
  { governance, foldsNames, atMs }: ReadBy,
  state: Loaded[1],
): ReadTable | undefined {
  if (state === undefined) return undefined
  const viewer = viewerAt(principal, atMs)
  const own = (table: GovernedTable) => (foldsNames ? { ...table, foldsNames } : table)
  if (state === 'unread') return { table: own(seenTable(governance, currentSchema(governance), viewer)) }
  const last = readLast.get(state)
  const isLast = last?.governance === governance && (last.read.table.foldsNames ?? false) === foldsNames
  const isInTime = last !== undefined && last.fromMs <= atMs && atMs < last.untilMs
  if (isLast && isInTime && Bun.deepEquals(last.principal, principal, true)) return last.read
  const seen = readState(viewer, governance, state)
  const read = { ...seen, table: own(seen.table) }
  readLast.set(state, {
    ...{ governance, principal, read, fromMs: atMs },
    untilMs: seenUntilMs(governance, atMs),
  })
  return read
}

/** @throws SqlError 42501, 55000 */
function readState(viewer: Viewer, governance: Governance, state: TableState): ReadTable {
  const { pin, ref } = governance
  if (state.restricted)
    throw new SqlError(
      '42501',
      `The upstream catalog restricts reading table ${ref.name} in ways that are not applied here, so it cannot be read.`,
    )
  if (governance.isClone && state.nameMapped)
    throw new SqlError(
      '42501',
      `Table ${ref.name} shares files of another table by a grant, and maps columns by name, so the other table's filters and masks cannot be matched. Remove its name mapping.`,
    )
  const { metadataLocation } = state
  const schema = state.schemas.get(pin?.schemaId ?? state.currentSchemaId)
  const isThere = pin === undefined || state.snapshotSchemaIds.has(pin.snapshotId)
  if (schema === undefined || !isThere)
    throw new SqlError(
      '55000',
      `The snapshot that table ${ref.name} is pinned to no longer exists. Move the pin.`,
    )
  const snapshotId = pin?.snapshotId ?? state.currentSnapshotId
  const fileBytes = snapshotId === undefined ? 0n : state.snapshotBytes.get(snapshotId)
  return {
    // The upstream may have another table under the name than the one that the store knows.
    table: seenTable(withGrantsOf(governance, state.tableUuid), schema, viewer),
    state,
    snapshot: { metadataLocation, snapshotId, fileBytes, pinned: pin !== undefined },
  }
}
