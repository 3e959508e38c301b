/** Proves rows of the tenant: that their leaves are in the tree of its last checkpoint, and what a tree began with. */

import { Fault } from '../../base/fault.ts'
import { mapInTurns } from '../../base/in-turns.ts'
import { isJsonObject, parseJson } from '../../base/json.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type LeafKind, readEntry } from '../../proof/entry.ts'
import { leafHash, sameBytes } from '../../proof/hash.ts'
import { consistencyProof, hashesOfLeaves, inclusionProof, rootOfLeaves } from '../../proof/merkle.ts'
import { isUuid } from '../database/page.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'
import { checkpointsIn, type StoredCheckpoint } from './checkpoints.ts'
import { batchRows } from './grow-tree.ts'
import { entriesOf } from './read-entries.ts'
import { findSalts, leafKey, readLeafKey, rowsAfter, sourceEntry } from './read-rows.ts'
import { batchSources } from './sources.ts'
import { computeFromTree, leafIndex, nextLeaf, readEdge, readPath } from './tree-rows.ts'

/** What is to be proven. */
export type Proven =
  | { readonly commit: string }
  /** The id of a query or of a record of raw reads: the leaf of its hour. */
  | { readonly query: string }
  /** A number of the list of changes. */
  | { readonly change: bigint }
  | { readonly index: number }

/** That an entry is in the tree of a checkpoint. */
export interface Proof {
  readonly kind: LeafKind
  /** The row's number among those of its kind. */
  readonly ref: bigint
  readonly index: number
  readonly leaf: Uint8Array
  /** From the leaf upwards. */
  readonly hashes: readonly Uint8Array[]
  readonly checkpoint: StoredCheckpoint
  /** Undefined where the row was removed, or the salt of its person erased. */
  readonly entry: Uint8Array | undefined
  /** Of a query: that its record is among those that the leaf stands for. Undefined where some of them are removed. */
  readonly within: InnerProof | undefined
}

/** That a record is among those that a leaf stands for. */
interface InnerProof {
  readonly index: number
  readonly size: number
  readonly hashes: readonly Uint8Array[]
  readonly entry: Uint8Array
}

const reading = { readOnly: true, isolation: 'repeatable read' } as const

/**
 * Proves a row.
 * @throws Fault `not_found` where the tenant has no such row, `conflict` where no checkpoint covers it yet, `unavailable`
 * where the tree is damaged
 */
export async function prove(store: Store, tenant: TenantId, what: Proven): Promise<Proof> {
  return await store.tenantTransaction(
    tenant,
    async (tx) => {
      const [checkpoint] = await checkpointsIn(tx, undefined)
      const edge = await readEdge(tx, 'look')
      const { index, number } = await placeOf(tx, tenant, what, edge.size)
      if (checkpoint === undefined || index === undefined || index >= checkpoint.size)
        throw new Fault('conflict', 'No checkpoint covers it yet: one is made every minute.')
      const { leaf, key, hashes } = await readPath(tx, edge, index, checkpoint.size)
      const entry = (await entriesOf(tx, tenant, [{ index, key }])).get(key)
      const within =
        number === undefined || entry === undefined ? undefined : await proveWithin(tx, tenant, entry, number)
      return { ...readLeafKey(key), index, leaf, hashes, checkpoint, entry, within }
    },
    reading,
  )
}

/** @returns `index` undefined where the row has no leaf yet; of a query also the number of its record */
async function placeOf(
  tx: Tx,
  tenant: TenantId,
  what: Proven,
  size: number,
): Promise<{ readonly index: number | undefined; readonly number?: bigint }> {
  if ('index' in what) return { index: what.index < size ? what.index : noRow() }
  if ('change' in what) {
    const [row] = await tx.query(
      'select from svc.contract_change where tenant_id = $1::uuid and change_seq = $2::int8',
      [tenant, what.change],
    )
    return { index: row === undefined ? noRow() : await leafIndex(tx, leafKey('change', what.change)) }
  }
  if ('commit' in what) {
    const number = await numberOf(tx, tenant, 'svc.audit_log', 'commit_id', 'audit_seq', what.commit)
    return { index: await leafIndex(tx, leafKey('verdict', number)) }
  }
  const number = await numberOf(tx, tenant, 'svc.query_usage', 'query_id', 'usage_seq', what.query)
  // The leaf over a range has the number of its last row.
  const found = await nextLeaf(tx, leafKey('usage-hour', number), leafKey('usage-hour', (1n << 54n) - 1n))
  return { index: found?.index, number }
}

const noRow = (): never => {
  throw new Fault('not_found', 'The tenant has no such row.')
}

async function numberOf(
  tx: Tx,
  tenant: TenantId,
  ...[table, id, number, value]: readonly [string, string, string, string]
): Promise<bigint> {
  if (!isUuid(value)) return noRow()
  const [row] = await tx.query<{ number: string }>(
    `select ${number} as number from ${table} where tenant_id = $1::uuid and ${id} = $2::uuid`,
    [tenant, value],
  )
  return row === undefined ? noRow() : BigInt(row.number)
}

/** Where a record is among those of its leaf. Its hash is computed again from all of them. */
async function proveWithin(
  tx: Tx,
  tenant: TenantId,
  entry: Uint8Array,
  number: bigint,
): Promise<InnerProof | undefined> {
  const [source] = batchSources
  const members = readEntry(entry, parseJson)?.members
  const [after, upto, root] = ['after', 'ref', 'root'].map((name) => members?.get(name))
  if (source === undefined || after === undefined || upto === undefined) return undefined
  const range = { after: BigInt(String(after)), upto: BigInt(String(upto)), most: batchRows }
  const rows = await rowsAfter(tx, tenant, source, range)
  const salts = await findSalts(
    tx,
    rows.map(({ person }) => person),
  )
  const index = rows.findIndex(({ ref }) => ref === number)
  if (index < 0 || rows.some(({ person }) => !salts.has(person))) return undefined
  const imported = isJsonObject(members) && members.get('imported') === true
  const entries = await mapInTurns(rows, undefined, (row) => sourceEntry(row, salts, imported))
  const leaves = await mapInTurns(entries, undefined, (one) => leafHash(one))
  if (!sameBytes(rootOfLeaves(leaves), Buffer.from(String(root), 'hex'))) return undefined
  const hashes = inclusionProof(index, leaves.length, hashesOfLeaves(leaves))
  return { index, size: leaves.length, hashes, entry: entries[index] ?? new Uint8Array() }
}

/** That a tree began with another. */
interface Consistency {
  readonly from: number
  readonly to: number
  readonly hashes: readonly Uint8Array[]
  /** The last checkpoint of each size; undefined where none has it. */
  readonly checkpoints: { readonly from: string | undefined; readonly to: string | undefined }
}

/**
 * Proves that the tree of `to` leaves begins with that of `from`.
 * @param to absent: the size of the last checkpoint
 * @throws Fault `bad_request` where `from` is not between 1 and `to`, `not_found` where the tree is smaller than `to`
 */
export async function proveConsistency(
  store: Store,
  tenant: TenantId,
  from: number,
  to: number | undefined,
): Promise<Consistency> {
  return await store.tenantTransaction(
    tenant,
    async (tx) => {
      const edge = await readEdge(tx, 'look')
      const [last] = await checkpointsIn(tx, undefined)
      const end = to ?? last?.size ?? 0
      if (end > edge.size || end === 0) throw new Fault('not_found', 'There is no tree of this size yet.')
      if (from > end) throw new Fault('bad_request', 'from must not be greater than to.')
      const hashes = await computeFromTree(tx, edge, (hashAt) => consistencyProof(from, end, hashAt))
      const [[before], [after]] = [await checkpointsIn(tx, from), await checkpointsIn(tx, end)]
      return { from, to: end, hashes, checkpoints: { from: before?.note, to: after?.note } }
    },
    reading,
  )
}
