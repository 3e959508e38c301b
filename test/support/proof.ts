/** What tests of the audit tree share: a tree that is grown to its end, and its leaves made again from the rows. */

import { expect } from 'bun:test'
import type { TenantId } from '../../src/core/tenant.ts'
import { leafHash } from '../../src/proof/hash.ts'
import { rootOfLeaves } from '../../src/proof/merkle.ts'
import { tileWidth } from '../../src/proof/tiles.ts'
import { growTree } from '../../src/store/proof/grow-tree.ts'
import { type LeafEntry, readTileEntries } from '../../src/store/proof/read-entries.ts'
import { readEdge, rootOfStored } from '../../src/store/proof/tree-rows.ts'
import type { Store } from '../../src/store/store.ts'
import { eventually } from './eventually.ts'

/**
 * Adds what there is. Transactions of other tests on the same server may hold it up, so it is repeated until they have
 * ended.
 * @returns how many leaves
 */
export async function growAll(store: Store, tenant: TenantId): Promise<number> {
  let added = 0
  await eventually(async () => {
    added += await growOn(store, tenant)
    const waiting = await store.tenantQuery(tenant, 'select from audit_mark where passed < newest')
    return waiting.length === 0
  })
  return added
}

/** Adds what may be added now. @returns how many leaves */
export async function growOn(store: Store, tenant: TenantId): Promise<number> {
  return (await growTree(store, tenant, new AbortController().signal)).added
}

/** The size and the root of the stored tree, computed from its tiles. */
export function storedRoot(store: Store, tenant: TenantId) {
  return store.tenantTransaction(tenant, async (tx) => {
    const edge = await readEdge(tx, 'look')
    return { size: edge.size, root: await rootOfStored(tx, edge, edge.size) }
  })
}

/** Every leaf, in order, with its entry as it is made of the rows now. */
export async function allLeaves(store: Store, tenant: TenantId): Promise<readonly LeafEntry[]> {
  const { size } = await storedRoot(store, tenant)
  const leaves: LeafEntry[] = []
  for (let tile = 0; tile * tileWidth < size; tile += 1)
    leaves.push(...(await readTileEntries(store, tenant, tile, size)))
  return leaves
}

/** Expects the tree to be one that is built from the rows alone. @returns its leaves */
export async function expectTreeOfRows(store: Store, tenant: TenantId): Promise<readonly LeafEntry[]> {
  const leaves = await allLeaves(store, tenant)
  const again = leaves.map(({ entry, index }) => {
    if (entry === undefined) throw new Error(`leaf ${index} has no row`)
    return leafHash(entry)
  })
  const { size, root } = await storedRoot(store, tenant)
  expect(leaves.map(({ index }) => index)).toEqual(Array.from({ length: size }, (_, at) => at))
  expect(Buffer.from(rootOfLeaves(again)).toString('hex')).toBe(Buffer.from(root).toString('hex'))
  expect(new Set(leaves.map(({ kind, ref }) => `${kind} ${ref}`)).size).toBe(size)
  return leaves
}
