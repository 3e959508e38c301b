/**
 * Caches what each tenant's catalog shows. Every statement asks the store again which tables are readable, so a
 * table that lost its contract is gone from the next statement on. A change of columns shows within
 * `limits.catalogColumnsMs`.
 */

import { createHash } from 'node:crypto'
import { Fault } from '../../../base/fault.ts'
import { Lru } from '../../../base/lru.ts'
import type { TenantId } from '../../../core/tenant.ts'
import { limits } from '../../../limits.ts'
import { type ShadowScope, shadowScopeOf } from './shadow-ddl.ts'
import type { ShadowTable } from './shadow-table.ts'

/** Where a tenant's tables come from. */
export interface TableSource {
  /** Changes when the set of readable tables changes. */
  mark(tenant: TenantId): Promise<string>
  /** All readable tables, at most `limits.catalogTablesMax` + 1. */
  tables(tenant: TenantId): Promise<readonly ShadowTable[]>
}

interface CachedScope {
  readonly mark: string
  readonly staleAt: number
  /** Concurrent callers share one load, because a scope may have thousands of tables. */
  readonly scope: Promise<ShadowScope>
}

const cachedCatalogsMax = 50

/**
 * @param nowMs a monotonic clock
 * @returns a function that gives the scope of a tenant's catalog. It throws Fault `unprocessable` for a catalog
 *   with too many tables, and the errors of the source.
 */
export function scopeCache(
  source: TableSource,
  nowMs: () => number,
): (tenant: TenantId, catalog: string) => Promise<ShadowScope> {
  const cached = new Lru<string, CachedScope>(cachedCatalogsMax)
  const load = async (
    tenant: TenantId,
    catalog: string,
    previous: CachedScope | undefined,
  ): Promise<ShadowScope> => {
    const tables = await source.tables(tenant)
    if (tables.length > limits.catalogTablesMax)
      throw new Fault('unprocessable', `The catalog has more than ${limits.catalogTablesMax} tables.`)
    const digest = createHash('sha256').update(JSON.stringify(tables)).digest('hex')
    const key = JSON.stringify([tenant, catalog, digest])
    const unchanged = await previous?.scope.catch(() => undefined)
    return unchanged?.key === key ? unchanged : shadowScopeOf(key, catalog, tables)
  }
  return async (tenant, catalog) => {
    const name = JSON.stringify([tenant, catalog])
    const mark = await source.mark(tenant)
    const found = cached.get(name)
    if (found !== undefined && found.mark === mark && nowMs() < found.staleAt) return await found.scope
    const staleAt = nowMs() + limits.catalogColumnsMs
    const entry = { mark, staleAt, scope: load(tenant, catalog, found) }
    cached.set(name, entry)
    try {
      return await entry.scope
    } catch (error) {
      if (cached.get(name) === entry) cached.delete(name)
      throw error
    }
  }
}
