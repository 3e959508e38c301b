/** The stored tree: its right edge, its tiles, and where rows stand in it. */

import { Fault } from '../../base/fault.ts'
import { type Edge, emptyEdge, type FullTile } from '../../proof/growing-tree.ts'
import { type HashAt, inclusionProof, treeRoot } from '../../proof/merkle.ts'
import { hashesOfTiles, type TileName, tilesReadBy, tileWidth } from '../../proof/tiles.ts'
import type { Tx } from '../database/session.ts'

/** Bytes of a key. */
const keyBytes = 8

/** The right edge, with the keys of its partial tile. */
export interface StoredEdge extends Edge {
  readonly keys: Uint8Array
}

const fromHex = (text: string) => new Uint8Array(Buffer.from(text, 'hex'))
const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** The tenant's tree. @param lock whether nobody else may add leaves until the transaction ends */
export async function readEdge(tx: Tx, lock: 'lock' | 'look'): Promise<StoredEdge> {
  if (lock === 'lock')
    await tx.query(
      `insert into audit_tree (size, tails, keys) values (0, '{}', '') on conflict (tenant_id) do nothing`,
    )
  const [row] = await tx.query<{ size: string; tails: readonly string[]; keys: string }>(
    `select size, encode(keys, 'hex') as keys,
       (select coalesce(jsonb_agg(encode(t.hashes, 'hex') order by t.place), '[]') from unnest(tails) with ordinality t (hashes, place))
         as tails
     from audit_tree${lock === 'lock' ? ' for update' : ''}`,
  )
  if (row === undefined) return { ...emptyEdge, keys: new Uint8Array() }
  return { size: Number(row.size), tails: row.tails.map(fromHex), keys: fromHex(row.keys) }
}

/** What is added to a tree. */
interface Growth {
  readonly before: StoredEdge
  readonly edge: Edge
  readonly filled: readonly FullTile[]
  /** The keys of the new leaves, in their order. */
  readonly keys: readonly bigint[]
}

/** Stores new leaves in the transaction that holds the lock of the tree. */
export async function writeGrowth(tx: Tx, { before, edge, filled, keys }: Growth): Promise<void> {
  await tx.query(
    `insert into audit_leaf (key, index)
     select k.key::int8, $2::int8 + k.place - 1 from jsonb_array_elements_text($1::text::jsonb) with ordinality k (key, place)`,
    [JSON.stringify(keys.map(String)), before.size],
  )
  const packed = new Uint8Array(Buffer.concat([before.keys, ...keys.map(packKey)]))
  const firstTile = Math.floor(before.size / tileWidth)
  const tileKeys = tileWidth * keyBytes
  const tiles = filled.map(({ level, index, hashes }) => {
    const from = (index - firstTile) * tileKeys
    return {
      ...{ level, index, hashes: toHex(hashes) },
      keys: level === 0 ? toHex(packed.subarray(from, from + tileKeys)) : null,
    }
  })
  if (tiles.length > 0)
    await tx.query(
      `insert into audit_tile (level, index, hashes, keys)
       select t.level, t.index, decode(t.hashes, 'hex'), decode(t.keys, 'hex')
       from jsonb_to_recordset($1::text::jsonb) t (level int2, index int8, hashes text, keys text)`,
      [JSON.stringify(tiles)],
    )
  const whole = Math.floor(edge.size / tileWidth) - firstTile
  await tx.query(
    `update audit_tree set size = $1::int8, keys = decode($2, 'hex'), grown_at = clock_timestamp(),
       tails = array(select decode(t.hashes, 'hex') from jsonb_array_elements_text($3::text::jsonb) with ordinality t (hashes, place)
         order by t.place)`,
    [edge.size, toHex(packed.subarray(whole * tileKeys)), JSON.stringify(edge.tails.map(toHex))],
  )
}

function packKey(key: bigint): Uint8Array {
  const bytes = new Uint8Array(keyBytes)
  new DataView(bytes.buffer).setBigInt64(0, key)
  return bytes
}

/** Keys that lie one after another. */
export function unpackKeys(bytes: Uint8Array): readonly bigint[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Array.from({ length: bytes.length / keyBytes }, (_, at) => view.getBigInt64(at * keyBytes))
}

/** A tile, with its keys on level 0. A partial one has what there is. */
interface StoredTile {
  readonly hashes: Uint8Array
  readonly keys: Uint8Array
}

/** Reads tiles. @throws Fault `unavailable` where one is missing: the tree was damaged */
export async function readTiles(
  tx: Tx,
  edge: StoredEdge,
  names: readonly TileName[],
): Promise<(name: TileName) => StoredTile> {
  const found = new Map<string, StoredTile>()
  const rows = await tx.query<{ level: number; index: string; hashes: string; keys: string | null }>(
    `select t.level, t.index, encode(t.hashes, 'hex') as hashes, encode(t.keys, 'hex') as keys
     from jsonb_to_recordset($1::text::jsonb) n (level int2, index int8)
       join audit_tile t on t.level = n.level and t.index = n.index`,
    [JSON.stringify(names.map(({ level, index }) => ({ level, index })))],
  )
  for (const { level, index, hashes, keys } of rows)
    found.set(`${level} ${index}`, { hashes: fromHex(hashes), keys: fromHex(keys ?? '') })
  return ({ level, index }) => {
    const tile = found.get(`${level} ${index}`)
    if (tile !== undefined) return tile
    const tail = edge.tails[level]
    // The partial tile of its level.
    if (tail === undefined || index !== Math.floor(edge.size / tileWidth ** (level + 1)))
      throw new Fault('unavailable', 'The audit tree is damaged: a tile is missing.')
    return { hashes: tail, keys: level === 0 ? edge.keys : new Uint8Array() }
  }
}

/**
 * Computes something from the hashes of the stored tree. It is called twice: to learn which tiles it reads, and with them.
 * @throws Fault `unavailable` where a tile is missing or too short
 */
export async function computeFromTree<T>(
  tx: Tx,
  edge: StoredEdge,
  compute: (hashAt: HashAt) => T,
): Promise<T> {
  return computed(compute, await readTiles(tx, edge, tilesReadBy(compute)))
}

function computed<T>(compute: (hashAt: HashAt) => T, tile: (name: TileName) => StoredTile): T {
  try {
    return compute(hashesOfTiles((name) => tile(name).hashes))
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw new Fault('unavailable', 'The audit tree is damaged: a tile is too short.', { cause })
  }
}

/** The root of the first `size` leaves of the stored tree. @throws Fault as {@link computeFromTree} */
export function rootOfStored(tx: Tx, edge: StoredEdge, size: number): Promise<Uint8Array> {
  return computeFromTree(tx, edge, (hashAt) => treeRoot(size, hashAt))
}

/** A leaf, its key, and the hashes that prove it to be in the tree of `size`. @throws Fault as {@link computeFromTree} */
export async function readPath(
  tx: Tx,
  edge: StoredEdge,
  index: number,
  size: number,
): Promise<{ readonly leaf: Uint8Array; readonly key: bigint; readonly hashes: readonly Uint8Array[] }> {
  const name = { level: 0, index: Math.floor(index / tileWidth) }
  const compute = (hashAt: HashAt) => ({
    leaf: hashAt(0, index),
    hashes: inclusionProof(index, size, hashAt),
  })
  const tile = await readTiles(tx, edge, tilesReadBy(compute))
  const key = unpackKeys(tile(name).keys)[index % tileWidth]
  if (key === undefined) throw new Fault('unavailable', 'The audit tree is damaged: a leaf is missing.')
  return { key, ...computed(compute, tile) }
}

/** Where a row stands. @returns undefined where it has no leaf yet */
export async function leafIndex(tx: Tx, key: bigint): Promise<number | undefined> {
  const [row] = await tx.query<{ index: string }>('select index from audit_leaf where key = $1::int8', [key])
  return row && Number(row.index)
}

/** The first leaf of a kind with this number or a higher one. @param last the greatest key that may be found */
export async function nextLeaf(
  tx: Tx,
  key: bigint,
  last: bigint,
): Promise<{ readonly index: number; readonly key: bigint } | undefined> {
  const [row] = await tx.query<{ index: string; key: string }>(
    'select index, key from audit_leaf where key >= $1::int8 and key <= $2::int8 order by key limit 1',
    [key, last],
  )
  return row && { index: Number(row.index), key: BigInt(row.key) }
}
