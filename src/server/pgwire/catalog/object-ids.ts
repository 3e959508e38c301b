/**
 * Derives OIDs from names. A table keeps its OIDs on every replica and every load, because clients keep OIDs
 * across statements and connections.
 */

import { createHash } from 'node:crypto'

/** OIDs lie above those that initdb assigns and fit a signed integer. */
const first = 1_000_000
const count = 2_000_000_000

/** Gives each key an OID of its own. The order of calls matters only where two keys collide. */
export function objectIds(): (...key: readonly string[]) => number {
  const taken = new Map<number, string>()
  return (...key) => {
    const text = JSON.stringify(key)
    let oid = first + (createHash('sha256').update(text).digest().readUInt32BE() % count)
    while (taken.has(oid) && taken.get(oid) !== text) oid += 1
    taken.set(oid, text)
    return oid
  }
}
