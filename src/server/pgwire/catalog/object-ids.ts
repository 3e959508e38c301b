/**
 * Derives OIDs from names. A table keeps its OIDs on every replica and every load, because clients keep OIDs
 * across statements and connections.
 */

import { createHash } from 'node:crypto'
import { Lru } from '../../../base/lru.ts'

/** OIDs lie above those that initdb assigns and fit a signed integer. */
const first = 1_000_000
const count = 2_000_000_000

/** OIDs of tables that results name again and again. */
const tables = new Lru<string, number>(10_000)

/** The OID that a key has unless another key came first to it. */
function objectId(...key: readonly string[]): number {
  return first + (createHash('sha256').update(JSON.stringify(key)).digest().readUInt32BE() % count)
}

/** The OID of a table in the catalog. */
export function tableObjectId(schemaName: string, tableName: string): number {
  const name = JSON.stringify([schemaName, tableName])
  const oid = tables.get(name) ?? objectId('table', schemaName, tableName)
  tables.set(name, oid)
  return oid
}

/** Gives each key an OID of its own. The order of calls matters only where two keys collide. */
export function objectIds(): (...key: readonly string[]) => number {
  const taken = new Map<number, string>()
  return (...key) => {
    const text = JSON.stringify(key)
    let oid = objectId(...key)
    while (taken.has(oid) && taken.get(oid) !== text) oid += 1
    taken.set(oid, text)
    return oid
  }
}
