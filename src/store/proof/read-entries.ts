/** Makes the entries of leaves again from the rows that they prove. */

import type { TenantId } from '../../core/tenant.ts'
import type { LeafKind } from '../../proof/entry.ts'
import { hashBytes } from '../../proof/hash.ts'
import { tileWidth } from '../../proof/tiles.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'
import { findSalts, leafKey, readLeafKey, rowsNamed, type SourceRow, sourceEntry } from './read-rows.ts'
import { batchSources, rowSources } from './sources.ts'
import { readEdge, readTiles, unpackKeys } from './tree-rows.ts'

/** A leaf with what it proves. */
export interface LeafEntry {
  readonly index: number
  readonly kind: LeafKind
  /** The row's number among those of its kind. */
  readonly ref: bigint
  /** As the tree has it. */
  readonly hash: Uint8Array
  /** Undefined where its row was removed with its month, or the salt of its person was erased. */
  readonly entry: Uint8Array | undefined
}

/**
 * The leaves of a tile that are in the tree of `size`, with their entries as they are made of the rows now.
 * @throws Fault `unavailable` where the tree is damaged
 */
export async function readTileEntries(
  store: Store,
  tenant: TenantId,
  tile: number,
  size: number,
): Promise<readonly LeafEntry[]> {
  return await store.tenantTransaction(
    tenant,
    async (tx) => {
      const edge = await readEdge(tx, 'look')
      const name = { level: 0, index: tile }
      const { hashes, keys } = (await readTiles(tx, edge, [name]))(name)
      const first = tile * tileWidth
      const leaves = unpackKeys(keys)
        .slice(0, Math.max(0, size - first))
        .map((key, place) => {
          const hash = hashes.subarray(place * hashBytes, (place + 1) * hashBytes)
          return { index: first + place, key, hash }
        })
      const entries = await entriesOf(tx, tenant, leaves)
      return leaves.map(({ index, key, hash }) => {
        return { index, ...readLeafKey(key), hash, entry: entries.get(key) }
      })
    },
    { readOnly: true, isolation: 'repeatable read' },
  )
}

/** The entries of leaves, by their keys. */
export async function entriesOf(
  tx: Tx,
  tenant: TenantId,
  leaves: readonly { readonly index: number; readonly key: bigint }[],
): Promise<ReadonlyMap<bigint, Uint8Array>> {
  const named = Map.groupBy(leaves, ({ key }) => readLeafKey(key).kind)
  const indexes = new Map(leaves.map(({ index, key }) => [key, index]))
  const rows: SourceRow[] = []
  for (const source of rowSources) {
    const refs = (named.get(source.kind) ?? []).map(({ key }) => readLeafKey(key).ref)
    if (refs.length > 0) rows.push(...(await rowsNamed(tx, tenant, source, refs)))
  }
  const entries = new Map(await batchEntries(tx, named))
  const salts = await findSalts(
    tx,
    rows.map(({ person }) => person),
  )
  const marks = await importedTo(tx)
  for (const row of rows) {
    const key = leafKey(row.kind, row.ref)
    const since = salts.get(row.person)?.since
    // An older leaf was hashed with a salt that is erased.
    if (since === undefined || (indexes.get(key) ?? 0) < since) continue
    entries.set(key, sourceEntry(row, salts, key <= (marks.get(row.kind) ?? 0n)))
  }
  return entries
}

async function batchEntries(
  tx: Tx,
  named: ReadonlyMap<LeafKind, readonly { readonly key: bigint }[]>,
): Promise<readonly (readonly [bigint, Uint8Array])[]> {
  const keys = batchSources.flatMap(({ kind }) => (named.get(kind) ?? []).map(({ key }) => String(key)))
  if (keys.length === 0) return []
  const rows = await tx.query<{ key: string; entry: string }>(
    `select key, encode(entry, 'hex') as entry from audit_batch
     where key = any (array(select jsonb_array_elements_text($1::text::jsonb)::int8))`,
    [JSON.stringify(keys)],
  )
  return rows.map(({ key, entry }) => [BigInt(key), new Uint8Array(Buffer.from(entry, 'hex'))] as const)
}

/** The greatest key of each kind that was imported. */
async function importedTo(tx: Tx): Promise<ReadonlyMap<LeafKind, bigint>> {
  const rows = await tx.query<{ kind: number; imported_to: string }>(
    'select kind, imported_to from audit_mark',
  )
  return new Map(
    rows.map(({ kind, imported_to: to }) => {
      const { kind: name } = readLeafKey(BigInt(kind) << 55n)
      return [name, leafKey(name, BigInt(to))]
    }),
  )
}
