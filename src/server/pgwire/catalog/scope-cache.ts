/**
 * Caches what each tenant's catalog shows. Every statement asks the store again which tables are readable, so a
 * table that lost its contract is gone from the next statement on. A change of columns shows within
 * `limits.catalogColumnsMs`, in a large catalog within a minute.
 */

import { createHash } from 'node:crypto'
import { Fault } from '../../../base/fault.ts'
import { eachInTurns } from '../../../base/in-turns.ts'
import { Lru } from '../../../base/lru.ts'
import type { Viewer } from '../../../core/seen-table.ts'
import type { TenantId } from '../../../core/tenant.ts'
import { limits } from '../../../limits.ts'
import type { CatalogSession } from '../catalog-service.ts'
import { bulkScopeOf } from './shadow-bulk.ts'
import { type ShadowScope, shadowScopeOf } from './shadow-ddl.ts'
import type { ShadowTable } from './shadow-table.ts'

interface Mark {
  readonly text: string
  readonly tableCount: number
}

/** Where a tenant's tables come from. */
export interface TableSource {
  /** Its text changes when the set of readable tables changes. */
  mark(tenant: TenantId): Promise<Mark>
  /** All readable tables as one viewer sees them, at most `limits.catalogTablesMax` + 1. */
  tables(tenant: TenantId, viewer: Viewer): Promise<readonly ShadowTable[]>
}

/** The part of a session that decides what its catalog shows. */
type CatalogViewer = Pick<CatalogSession, 'tenant' | 'catalog' | 'principal'>

interface Scoped {
  readonly scope: ShadowScope
  readonly rolesThatShow: readonly string[]
}

interface CachedScope {
  readonly mark: string
  readonly staleAt: number
  /** Concurrent callers share one load, because a scope may have thousands of tables. */
  readonly scoped: Promise<Scoped>
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
 * @returns a function that gives the scope of a tenant's catalog. All share one, except those whose roles show them
 *   more columns. It throws Fault `unprocessable` for a catalog
 *   with too many tables, and the errors of the source. A catalog with too many tables is counted, not read.
 */
export function scopeCache(
  source: TableSource,
  nowMs: () => number,
  keyedTablesMax: number = keyedTables,
): (viewer: CatalogViewer) => Promise<ShadowScope> {
  const cached = new Lru<string, CachedScope>(cachedLengthMax)
  const load = async (
    tenant: TenantId,
    catalog: string,
    viewer: Viewer,
    previous: CachedScope | undefined,
  ): Promise<Scoped> => {
    const tables = await source.tables(tenant, viewer)
    assertNotTooMany(tables.length)
    const digest = createHash('sha256')
    await eachInTurns(tables, undefined, (table) => digest.update(`${JSON.stringify(table)}\n`))
    const key = JSON.stringify([tenant, catalog, digest.digest('hex')])
    const rolesThatShow = [...new Set(tables.flatMap((table) => table.rolesThatShow ?? []))].sort()
    const unchanged = await previous?.scoped.catch(() => undefined)
    if (unchanged?.scope.key === key) return { scope: unchanged.scope, rolesThatShow }
    const scope =
      tables.length > keyedTablesMax
        ? await bulkScopeOf(key, catalog, tables)
        : shadowScopeOf(key, catalog, tables)
    return { scope, rolesThatShow }
  }
  const scopeOf = async (
    { tenant, catalog }: CatalogViewer,
    { text: mark, tableCount }: Mark,
    viewer: Viewer,
  ): Promise<Scoped> => {
    const name = JSON.stringify([tenant, catalog, viewer])
    const found = cached.get(name)
    if (found !== undefined && found.mark === mark && nowMs() < found.staleAt) return await found.scoped
    const isLarge = tableCount > keyedTablesMax
    const staleAt = nowMs() + (isLarge ? manyColumnsMs : limits.catalogColumnsMs)
    const entry = { mark, staleAt, scoped: load(tenant, catalog, viewer, found) }
    cached.set(name, entry)
    try {
      const scoped = await entry.scoped
      if (cached.get(name) === entry) cached.set(name, entry, scoped.scope.textLength)
      return scoped
    } catch (error) {
      if (cached.get(name) === entry) cached.delete(name)
      throw error
    }
  }
  return async (asking) => {
    const mark = await source.mark(asking.tenant)
    assertNotTooMany(mark.tableCount)
    const { scope, rolesThatShow } = await scopeOf(asking, mark, 'anyone')
    const roles = rolesThatShow.filter((role) => asking.principal.roles.includes(role))
    return roles.length === 0 ? scope : (await scopeOf(asking, mark, { roles })).scope
  }
}

function assertNotTooMany(tableCount: number): void {
  if (tableCount > limits.catalogTablesMax)
    throw new Fault('unprocessable', `The catalog has more than ${limits.catalogTablesMax} tables.`)
}
