/**
 * Reads snapshots as the system: without row filters and masks, for check runs alone. Statements are compiled and run
 * as all others; territory and quarantine hold as for every reader. A statement reads its one table and no other.
 */

import type { Logger } from 'pino'
import { CatalogError } from '../../catalog/catalog.ts'
import { catalogOf } from '../../core/catalog.ts'
import type { GovernedTable } from '../../core/governed-table.ts'
import { isNull } from '../../core/result-batch.ts'
import {
  quotedTable,
  type SystemCell,
  type SystemPair,
  type SystemReads,
  type SystemRows,
  type SystemSnapshot,
  type SystemTable,
} from '../../core/system-read.ts'
import { tableKey } from '../../core/table-ref.ts'
import type { EngineKinds } from '../../engine/engine-kinds.ts'

import { storageRoots } from '../../storage/roots.ts'
import { loadRead } from '../../store/governance/read-call.ts'
import { defaultTextOptions, textOf } from '../../wire/postgres/text-values.ts'
import { SqlError } from '../compile/base/sql-error.ts'
import type { CompiledQuery } from '../compile/compile.ts'
import type { SqlPart } from '../compile/emit/render.ts'
import { Attempt, type Load } from './attempt/attempt.ts'
import { runError } from './attempt/run-error.ts'
import { checkedOf, compileSystem, openTableOf, systemPrincipal } from './check-statement.ts'
import type { LoadedTables, LoadParts } from './load/load-tables.ts'
import { placeRead } from './load/place-read.ts'
import { assertNotQuarantined } from './load/quarantined.ts'

interface SystemReadParts extends LoadParts {
  readonly engines: EngineKinds
  readonly log: Logger
}

/** Reads of the system over these parts. */
export function systemReads(parts: SystemReadParts): SystemReads {
  return {
    async open(snapshot, signal) {
      try {
        return await openSnapshot(parts, snapshot, signal)
      } catch (thrown) {
        throw signal?.aborted ? signal.reason : runError(thrown)
      }
    },
  }
}

async function openSnapshot(
  parts: SystemReadParts,
  snapshot: SystemSnapshot,
  signal: AbortSignal | undefined,
): Promise<SystemTable> {
  const { tenant } = snapshot
  const opened = await loadSnapshot(parts, snapshot, signal)
  const { loaded, table, read } = opened
  const compile = (text: string): Load => ({ loaded, compiled: compileSystem(table, text) })
  const relation = quotedTable(table.ref)
  const rowsFor = async (load: Load, rowsMax: number, runSignal: AbortSignal) => {
    try {
      const run = {
        context: { tenant, principal: systemPrincipal },
        queryId: crypto.randomUUID(),
        parameters: [],
      }
      return await rowsOf(new Attempt(parts, load, run, runSignal), rowsMax)
    } catch (thrown) {
      throw runSignal.aborted ? runSignal.reason : runError(thrown)
    }
  }
  return {
    ...read,
    columns: table.columns.map(({ name, fieldId, type }) => ({ name, fieldId, type })),
    relation,
    check(text) {
      return checkedOf(table, compile(text).compiled)
    },
    async run(text, rowsMax, runSignal) {
      return await rowsFor(
        compiled(() => compile(text)),
        rowsMax,
        runSignal,
      )
    },
    async runNative(write, rowsMax, runSignal) {
      const load = compiled(() => compile(`SELECT count(*) FROM ${relation}`))
      return await rowsFor(
        { ...load, compiled: nativeQuery(load.compiled, table, write) },
        rowsMax,
        runSignal,
      )
    },
    async beside(other, besideSignal) {
      try {
        const both = await loadBeside(parts, snapshot, opened, other, besideSignal)
        return pairOf(both, rowsFor)
      } catch (thrown) {
        throw besideSignal.aborted ? besideSignal.reason : runError(thrown)
      }
    },
  }
}

/** Two tables of one catalog, to be read by one statement. */
interface LoadedPair {
  readonly loaded: LoadedTables
  readonly first: GovernedTable
  /** Undefined where it is the first one itself. */
  readonly second: GovernedTable | undefined
}

/** @throws as `loadSnapshot` */
async function loadBeside(
  parts: SystemReadParts,
  { tenant, catalog, engine }: SystemSnapshot,
  { loaded, table: first }: LoadedSnapshot,
  other: SystemSnapshot['table'],
  signal: AbortSignal,
): Promise<LoadedPair> {
  if (tableKey(other) === tableKey(first.ref)) return { loaded, first, second: undefined }
  const { table, loaded: added } = await loadSnapshot(
    parts,
    { tenant, catalog, table: other, engine },
    signal,
    true,
  )
  return {
    loaded: {
      ...loaded,
      governances: new Map([...loaded.governances, ...added.governances]),
      tables: [...loaded.tables, ...added.tables],
      snapshots: new Map([...loaded.snapshots, ...added.snapshots]),
    },
    first,
    second: table,
  }
}

function pairOf(
  { loaded, first, second }: LoadedPair,
  rowsFor: (load: Load, rowsMax: number, signal: AbortSignal) => Promise<SystemRows>,
): SystemPair {
  const target = second ?? first
  const compile = (text: string): Load =>
    compiled(() => ({ loaded, compiled: compileSystem(first, text, second === undefined ? [] : [second]) }))
  return {
    columns: target.columns.map(({ name, fieldId, type }) => ({ name, fieldId, type })),
    relation: quotedTable(target.ref),
    check: (text) => void compile(text),
    run: async (text, rowsMax, signal) => await rowsFor(compile(text), rowsMax, signal),
  }
}

interface LoadedSnapshot {
  readonly loaded: LoadedTables
  /** Without filters and masks. */
  readonly table: GovernedTable
  readonly read: Pick<SystemTable, 'snapshotId' | 'currentSnapshotId' | 'committedAtMs'>
}

/** @throws as `runError` says */
function compiled(compile: () => Load): Load {
  try {
    return compile()
  } catch (thrown) {
    throw runError(thrown)
  }
}

/** Stands for the relation in native SQL until the engine has named it. */
const relationMark = '\u0000relation\u0000'

/** A compiled query that reads the table as `query` does, by SQL that was written for the engine. */
function nativeQuery(
  query: CompiledQuery,
  table: GovernedTable,
  write: Parameters<SystemTable['runNative']>[0],
): CompiledQuery {
  const { sql, names } = write(relationMark)
  const parts = sql
    .split(relationMark)
    .flatMap((text, index): readonly SqlPart[] =>
      index === 0 ? [text] : [{ slot: 'relation', table }, text],
    )
  return { ...query, columns: names.map((name) => ({ name, type: 'text' as const })), emit: () => parts }
}

/**
 * @param isPinned whether the table's pin decides, where no snapshot is wanted
 * @throws SqlError as `loadTables`; 42P01 where the catalog has no such table
 */
async function loadSnapshot(
  { store, states }: SystemReadParts,
  { tenant, catalog, table: ref, snapshotId: wanted, engine }: SystemSnapshot,
  signal: AbortSignal | undefined,
  isPinned = false,
): Promise<LoadedSnapshot> {
  const stored = await loadRead(store, tenant, catalog, [ref])
  if (stored === undefined) throw new SqlError('3D000', 'There is no such catalog.')
  const governance = stored.governances.get(tableKey(ref))
  const isClone = governance?.isClone === true
  const state = await states.load(tenant, stored.credential, ref, signal).catch((thrown: unknown) => {
    if (!(thrown instanceof CatalogError)) throw thrown
    if (thrown.code === 'ErrTableNotFound') throw new SqlError('42P01', 'The catalog has no such table.')
    throw new SqlError('58000', 'The upstream catalog refused to load a table.', undefined, { cause: thrown })
  })
  if (state.restricted || (isClone && state.nameMapped))
    throw new SqlError('42501', 'The table is restricted in ways that are not applied here.')
  const snapshotId = wanted ?? (isPinned ? governance?.pin?.snapshotId : undefined) ?? state.currentSnapshotId
  const schemaId =
    (snapshotId === undefined ? undefined : state.snapshotSchemaIds.get(snapshotId)) ?? state.currentSchemaId
  const schema = state.schemas.get(schemaId)
  if (schema === undefined || (snapshotId !== undefined && !state.snapshotSchemaIds.has(snapshotId)))
    throw new SqlError('55000', 'The snapshot no longer exists.')
  const table = openTableOf(ref, schema)
  const { credential } = stored
  const owner = {
    catalog: catalogOf(credential),
    credentialId: credential.id,
    roots: storageRoots(credential.config),
    table: ref,
    tableUuid: state.tableUuid,
  }
  assertNotQuarantined(stored.territory, owner, snapshotId)
  const territory = await placeRead(
    { store, states },
    { tenant, credential, owner, state, found: stored.territory },
  )
  const { metadataLocation } = state
  return {
    table,
    read: {
      ...{ snapshotId, currentSnapshotId: state.currentSnapshotId },
      committedAtMs: snapshotId === undefined ? undefined : state.snapshotTimesMs.get(snapshotId),
    },
    loaded: {
      credential:
        engine === undefined
          ? credential
          : { ...credential, config: { ...credential.config, read_engine: engine } },
      governances: stored.governances,
      sessionId: undefined,
      governanceVersion: stored.governanceVersion,
      tables: [table],
      snapshots: new Map([[tableKey(ref), { metadataLocation, snapshotId, pinned: true, territory, owner }]]),
    },
  }
}

/** @throws SqlError 21000 for more rows */
async function rowsOf(attempt: Attempt, rowsMax: number): Promise<SystemRows> {
  const rows: SystemCell[][] = []
  try {
    for (;;) {
      const { done, value: batch } = await attempt.next()
      if (done) break
      for (let row = 0; row < batch.rowCount; row++) {
        if (rows.length === rowsMax) throw new SqlError('21000', 'The statement gives too many rows.')
        rows.push(batch.columns.map((column) => cellOf(column, row)))
      }
    }
    return { rows, engine: attempt.engine ?? '', bytes: attempt.stats?.bytesScanned ?? 0 }
  } finally {
    await attempt.vacate()
  }
}

function cellOf(column: Parameters<typeof textOf>[0], row: number): SystemCell {
  if (isNull(column, row)) return null
  if (column.type === 'bool') return column.values[row] !== 0
  return textOf(column, row, defaultTextOptions)
}
