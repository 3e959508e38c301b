/**
 * The sequencer: appends what was committed to the tree of its tenant, in bounded steps, off the path of commits.
 *
 * A row's number may be drawn long before its row is committed. So a step first notes the highest number that it sees,
 * and a later one takes the rows up to it, once every transaction has ended that was open then. Leaves are numbered under
 * one lock, in the transaction that adds them; a replica that dies leaves nothing behind.
 */

import { mapInTurns } from '../../base/in-turns.ts'
import type { TenantId } from '../../core/tenant.ts'
import { canonicalJson } from '../../proof/canonical-json.ts'
import { leafKinds } from '../../proof/entry.ts'
import { grow } from '../../proof/growing-tree.ts'
import { leafHash } from '../../proof/hash.ts'
import { rootOfLeaves } from '../../proof/merkle.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'
import { ensureSalts, lateRows, leafKey, rowsAfter, type SourceRow, sourceEntry } from './read-rows.ts'
import { batchSources, type RowSource, rowSources } from './sources.ts'
import { readEdge, writeGrowth } from './tree-rows.ts'

/** Leaves that one step adds, at most. Its transaction holds the lock of the tree. */
const stepLeaves = 500
/** Rows that one leaf stands for, at most. */
export const batchRows = 2_000
/** How far below what was passed a step looks for rows that were committed very late. */
const lateNumbers = 1_000n

/** What a step did. */
interface Step {
  readonly added: number
  /** Whether another step may go on at once. */
  readonly goesOn: boolean
}

interface Mark {
  readonly kind: number
  readonly passed: bigint
  readonly newest: bigint
  /** Whether every transaction has ended that might add rows up to `newest`. */
  readonly isPassed: boolean
  /** Whether another hour has begun since `newest` was noted. */
  readonly isHourOver: boolean
  readonly importedTo: bigint
}

/** A leaf to be added. */
interface NewLeaf {
  readonly key: bigint
  readonly entry: Uint8Array
}

/** Where a step leaves a kind. */
interface NextMark {
  readonly kind: number
  readonly passed: bigint
  /** Absent: what it was. */
  readonly newest?: bigint
}

/**
 * Adds leaves, for as long as there are some and the signal allows.
 * @param forMs no step begins after so many milliseconds
 */
export async function growTree(
  store: Store,
  tenant: TenantId,
  signal: AbortSignal,
  forMs = Number.POSITIVE_INFINITY,
): Promise<Step> {
  const endMs = performance.now() + forMs
  let added = 0
  for (;;) {
    signal.throwIfAborted()
    const step = await growOnce(store, tenant)
    added += step.added
    if (!step.goesOn || performance.now() >= endMs) return { added, goesOn: step.goesOn }
  }
}

/** One step. It looks without a lock first, and takes that of the tree only where there is something to do. */
export async function growOnce(store: Store, tenant: TenantId, most = stepLeaves): Promise<Step> {
  const look = async (tx: Tx) => hasMoved(await readSeen(tx, tenant), await readMarks(tx))
  if (!(await store.tenantTransaction(tenant, look, { readOnly: true }))) return { added: 0, goesOn: false }
  return await store.tenantTransaction(tenant, async (tx) => {
    // Before this transaction draws an id: rows up to here belong to transactions with lower ones.
    const seen = await readSeen(tx, tenant)
    const edge = await readEdge(tx, 'lock')
    const marks = await readMarks(tx)
    const leaves: NewLeaf[] = []
    const next: NextMark[] = []
    for (const source of rowSources) {
      const newest = seen.get(source.kind) ?? 0n
      const mark = marks.get(leafKinds[source.kind])
      if (mark === undefined) next.push({ kind: leafKinds[source.kind], passed: 0n, newest })
      else {
        const rows = await dueRows(tx, tenant, source, mark, most - leaves.length)
        leaves.push(...(await leavesOf(tx, rows.due, mark, edge.size)))
        const moved = movedMark(mark, rows.passed, newest)
        if (moved !== undefined) next.push(moved)
      }
    }
    for (const source of batchSources) {
      const newest = seen.get(source.kind) ?? 0n
      const mark = marks.get(leafKinds[source.kind])
      if (mark === undefined) next.push({ kind: leafKinds[source.kind], passed: 0n, newest })
      else if (leaves.length < most) {
        const { leaf, passed } = await dueBatch(tx, tenant, source, mark, edge.size)
        if (leaf !== undefined) leaves.push(leaf)
        const moved = movedMark(mark, passed, mark.isHourOver ? newest : mark.newest)
        if (moved !== undefined) next.push(moved)
      }
    }
    if (leaves.length > 0) {
      const hashes = leaves.map(({ entry }) => leafHash(entry))
      await writeGrowth(tx, { before: edge, ...grow(edge, hashes), keys: leaves.map(({ key }) => key) })
    }
    if (next.length > 0) await writeMarks(tx, next)
    return { added: leaves.length, goesOn: next.length > 0 }
  })
}

/** Whether a step would move a mark. */
function hasMoved(seen: ReadonlyMap<string, bigint>, marks: ReadonlyMap<number, Mark>): boolean {
  const isDue = ({ kind }: RowSource, isBatch: boolean) => {
    const mark = marks.get(leafKinds[kind])
    if (mark === undefined) return true
    if (mark.passed < mark.newest) return mark.isPassed
    return (seen.get(kind) ?? 0n) > mark.newest && (!isBatch || mark.isHourOver)
  }
  return (
    rowSources.some((source) => isDue(source, false)) || batchSources.some((source) => isDue(source, true))
  )
}

/** The highest number of each kind. */
async function readSeen(tx: Tx, tenant: TenantId): Promise<ReadonlyMap<string, bigint>> {
  const columns = [...rowSources, ...batchSources].map(({ kind, from, where, number, newest }) => {
    const found = newest ?? `(select max(${number}) from ${from} where ${where})`
    return `coalesce(${found}, 0) as "${kind}"`
  })
  const [row] = await tx.query<Readonly<Record<string, string>>>(`select ${columns.join(',\n')}`, [tenant])
  return new Map(Object.entries(row ?? {}).map(([kind, number]) => [kind, BigInt(number)]))
}

async function readMarks(tx: Tx): Promise<ReadonlyMap<number, Mark>> {
  const rows = await tx.query<{
    kind: number
    passed: string
    newest: string
    is_passed: boolean
    is_hour_over: boolean
    imported_to: string
  }>(
    // A number that no transaction has yet is of another server, from which the rows were copied.
    `select kind, passed, newest, imported_to,
       pg_snapshot_xmin(pg_current_snapshot()) >= newest_xid or newest_xid >= pg_snapshot_xmax(pg_current_snapshot())
         as is_passed,
       date_trunc('hour', newest_at) < date_trunc('hour', clock_timestamp()) as is_hour_over
     from audit_mark`,
  )
  return new Map(
    rows.map(({ kind, passed, newest, is_passed: isPassed, is_hour_over: isHourOver, imported_to }) => {
      const mark = { kind, passed: BigInt(passed), newest: BigInt(newest), isPassed, isHourOver }
      return [kind, { ...mark, importedTo: BigInt(imported_to) }]
    }),
  )
}

async function dueRows(
  tx: Tx,
  tenant: TenantId,
  source: RowSource,
  { passed: after, newest: upto, isPassed }: Mark,
  most: number,
): Promise<{ readonly due: readonly SourceRow[]; readonly passed: bigint }> {
  if (!isPassed || after >= upto || most === 0) return { due: [], passed: after }
  // record_verdict has its transaction's id before it draws a number, so none of these is ever late.
  const late =
    source.kind === 'verdict'
      ? []
      : await lateRows(tx, tenant, source, { after: after - lateNumbers, upto: after, most })
  const rows = await rowsAfter(tx, tenant, source, { after, upto, most: most - late.length })
  const isAll = rows.length < most - late.length
  return { due: [...late, ...rows], passed: isAll ? upto : (rows.at(-1)?.ref ?? after) }
}

async function leavesOf(
  tx: Tx,
  rows: readonly SourceRow[],
  { importedTo }: Mark,
  size: number,
): Promise<readonly NewLeaf[]> {
  if (rows.length === 0) return []
  const salts = await ensureSalts(
    tx,
    rows.map(({ person }) => person),
    size,
  )
  return await mapInTurns(rows, undefined, (row) => {
    return { key: leafKey(row.kind, row.ref), entry: sourceEntry(row, salts, row.ref <= importedTo) }
  })
}

/** The leaf over the rows of an hour, or the next part of them. It is kept, because the rows may be removed. */
async function dueBatch(
  tx: Tx,
  tenant: TenantId,
  source: RowSource,
  mark: Mark,
  size: number,
): Promise<{ readonly leaf?: NewLeaf; readonly passed: bigint }> {
  const { passed: after, newest: upto } = mark
  if (!mark.isPassed || after >= upto) return { passed: after }
  const rows = await rowsAfter(tx, tenant, source, { after, upto, most: batchRows })
  const passed = rows.length < batchRows ? upto : (rows.at(-1)?.ref ?? upto)
  if (rows.length === 0) return { passed }
  const entries = await leavesOf(tx, rows, mark, size)
  const hashes = await mapInTurns(entries, undefined, ({ entry }) => leafHash(entry))
  const members = new Map<string, string | bigint | boolean>([
    ['after', after],
    ['ref', passed],
    ['rows', BigInt(rows.length)],
    ['root', Buffer.from(rootOfLeaves(hashes)).toString('hex')],
  ])
  if (passed <= mark.importedTo) members.set('imported', true)
  const entry = Buffer.from(`covenant/${source.kind}/v1\n${canonicalJson(members)}`)
  const key = leafKey(source.kind, passed)
  await tx.query(`insert into audit_batch (key, entry) values ($1::int8, decode($2, 'hex'))`, [
    key,
    entry.toString('hex'),
  ])
  return { leaf: { key, entry }, passed }
}

function movedMark(mark: Mark, passed: bigint, seen: bigint): NextMark | undefined {
  const { kind } = mark
  if (passed >= mark.newest && seen > mark.newest) return { kind, passed, newest: seen }
  return passed === mark.passed ? undefined : { kind, passed }
}

async function writeMarks(tx: Tx, marks: readonly NextMark[]): Promise<void> {
  const rows = marks.map(({ kind, passed, newest }) => {
    return { kind, passed: String(passed), newest: newest === undefined ? null : String(newest) }
  })
  await tx.query(
    `insert into audit_mark as m (kind, passed, newest, newest_xid, newest_at, imported_to)
     select n.kind, n.passed, coalesce(n.newest, 0), pg_current_xact_id(), clock_timestamp(), coalesce(n.newest, 0)
     from jsonb_to_recordset($1::text::jsonb) n (kind int2, passed int8, newest int8)
     on conflict (kind) do update set passed = excluded.passed`,
    [JSON.stringify(rows)],
  )
  const noted = rows.filter(({ newest }) => newest !== null)
  if (noted.length > 0)
    await tx.query(
      `update audit_mark m set newest = n.newest, newest_xid = pg_current_xact_id(), newest_at = clock_timestamp()
       from jsonb_to_recordset($1::text::jsonb) n (kind int2, newest int8) where m.kind = n.kind and n.newest > m.newest`,
      [JSON.stringify(noted)],
    )
}

/** How far a tree has come. */
interface ImportProgress {
  /** Of the import of what was there before the tree: numbers up to which rows of each kind are in it, added up. */
  readonly done: bigint
  /** Equals `done` once the import is over. */
  readonly all: bigint
  /** Seconds since the oldest rows were seen that are not in it; 0 where none wait. */
  readonly waitsSeconds: number
}

/** How far the tree of a tenant has come. */
export async function importProgress(store: Store, tenant: TenantId): Promise<ImportProgress> {
  const [row] = await store.tenantQuery<{ done: string; total: string; waits: number }>(
    tenant,
    // The numbers of detection are times.
    `select coalesce(sum(least(passed, imported_to)) filter (where kind <> $1::int), 0) as done,
       coalesce(sum(imported_to) filter (where kind <> $1::int), 0) as total,
       coalesce(extract(epoch from clock_timestamp() - min(newest_at) filter (where passed < newest)), 0)::float8 as waits
     from audit_mark`,
    [leafKinds['detection-hour']],
    { readOnly: true },
  )
  return {
    ...{ done: BigInt(row?.done ?? 0), all: BigInt(row?.total ?? 0) },
    waitsSeconds: Math.max(0, row?.waits ?? 0),
  }
}
