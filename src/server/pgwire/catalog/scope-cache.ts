/**
 * Caches what each tenant's catalog shows. Every statement asks the store again which tables are readable, so a
 * table that lost its contract is gone from the next statement on. A change of columns shows within
 * `limits.catalogColumnsMs`, in a large catalog within a minute.
 */

import { createHash } from 'node:crypto'
import { Fault } from '../../../base/fault.ts'
import { eachInTurns } from '../../../base/in-turns.ts'
import { Lru } from '../../../base/lru.ts'
import type { TenantId } from '../../../core/tenant.ts'
import { limits } from '../../../limits.ts'
import { bulkScopeOf } from './shadow-bulk.ts'
import { type ShadowScope, shadowScopeOf } from './shadow-ddl.ts'
import type { ShadowTable } from './shadow-table.ts'

/** Where a tenant's tables come from. */
export interface TableSource {
  /** Its text changes when the set of readable tables changes. */
  mark(tenant: TenantId): Promise<{ readonly text: string; readonly tableCount: number }>
  /** All readable tables, at most `limits.catalogTablesMax` + 1. */
  tables(tenant: TenantId): Promise<readonly ShadowTable[]>
}

interface CachedScope {
  readonly mark: string
  readonly staleAt: number
  /** Concurrent callers share one load, because a scope may have thousands of tables. */
  readonly scope: Promise<ShadowScope>
}

/** Tables above which a catalog is loaded as rows, without keys, because creating each table takes 3 ms and 60 KiB. */
const keyedTables = 5_000
/** Milliseconds for which the columns of such a catalog may be out of date. */
const manyColumnsMs = 60_000
/** Characters of SQL of all cached catalogs. */
const cachedLengthMax = 128 * 1024 * 1024

/**
 * @param nowMs a monotonic clock
 * @param keyedTablesMax tables above which a catalog is loaded as rows, without keys
 * @returns a function that gives the scope of a tenant's catalog. It throws Fault `unprocessable` for a catalog
 *   with too many tables, and the errors of the source. A catalog with too many tables is counted, not read.
 */
export function scopeCache(
  source: TableSource,
  nowMs: () => number,
  keyedTablesMax: number = keyedTables,
): (tenant: TenantId, catalog: string) => Promise<ShadowScope> {
  const cached = new Lru<string, CachedScope>(cachedLengthMax)
  const load = async (
    tenant: TenantId,
    catalog: string,
    previous: CachedScope | undefined,
  ): Promise<ShadowScope> => {
    const tables = await source.tables(tenant)
    assertNotTooMany(tables.length)
    const digest = createHash('sha256')
    await eachInTurns(tables, undefined, (table) => digest.update(`${JSON.stringify(table)}\n`))
    const key = JSON.stringify([tenant, catalog, digest.digest('hex')])
    const unchanged = await previous?.scope.catch(() => undefined)
    if (unchanged?.key === key) return unchanged
    return tables.length > keyedTablesMax
      ? await bulkScopeOf(key, catalog, tables)
      : shadowScopeOf(key, catalog, tables)
  }
  return async (tenant, catalog) => {
    const name = JSON.stringify([tenant, catalog])
    const { text: mark, tableCount } = await source.mark(tenant)
    assertNotTooMany(tableCount)
    const found = cached.get(name)
    if (found !== undefined && found.mark === mark && nowMs() < found.staleAt) return await found.scope
    const isLarge = tableCount > keyedTablesMax
    const staleAt = nowMs() + (isLarge ? manyColumnsMs : limits.catalogColumnsMs)
    const entry = { mark, staleAt, scope: load(tenant, catalog, found) }
    cached.set(name, entry)
    try {
      const scope = await entry.scope
      if (cached.get(name) === entry) cached.set(name, entry, scope.textLength)
      return scope
    } catch (error) {
      if (cached.get(name) === entry) cached.delete(name)
      throw error
    }
  }
}

function assertNotTooMany(tableCount: number): void {
  if (tableCount > limits.catalogTablesMax)
    throw new Fault('unprocessable', `The catalog has more than ${limits.catalogTablesMax} tables.`)
}
