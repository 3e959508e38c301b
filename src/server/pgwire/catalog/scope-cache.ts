/**
 * What each tenant's catalog shows, kept for as long as it may be. Which tables are readable is asked anew
 * before every statement, so a table that lost its contract is gone from the next one on; a change of
 * columns shows within `limits.catalogColumnsMs`.
 */

import { createHash } from 'node:crypto'
import { Fault } from '../../../base/fault.ts'
import { Lru } from '../../../base/lru.ts'
import type { TenantId } from '../../../core/tenant.ts'
import { limits } from '../../../limits.ts'
import { type Scope, scopeOf } from './shadow-ddl.ts'
import type { ShadowTable } from './shadow-table.ts'

/** Where a tenant's tables come from. */
export interface TableSource {
  /** Changes whenever the set of readable tables does. */
  mark(tenant: TenantId): Promise<string>
  /** All of them, at most `limits.catalogTablesMax` + 1. */
  tables(tenant: TenantId): Promise<readonly ShadowTable[]>
}

interface Kept {
  readonly mark: string
  readonly staleAt: number
  /** Being made, or made: whoever asks meanwhile waits for it, since it may be of thousands of tables. */
  readonly scope: Promise<Scope>
}

const catalogsKeptMax = 50

/**
 * @param nowMs a clock that only goes forward
 * @returns a function that gives the scope of a tenant's catalog; it throws Fault `unprocessable` for one with
 *   too many tables, and what the source throws
 */
export function scopeCache(
  source: TableSource,
  nowMs: () => number,
): (tenant: TenantId, catalog: string) => Promise<Scope> {
  const kept = new Lru<string, Kept>(catalogsKeptMax)
  const load = async (tenant: TenantId, catalog: string, before: Kept | undefined): Promise<Scope> => {
    const tables = await source.tables(tenant)
    if (tables.length > limits.catalogTablesMax)
      throw new Fault('unprocessable', `The catalog has more than ${limits.catalogTablesMax} tables.`)
    const digest = createHash('sha256').update(JSON.stringify(tables)).digest('hex')
    const key = JSON.stringify([tenant, catalog, digest])
    const made = await before?.scope.catch(() => undefined)
    return made?.key === key ? made : scopeOf(key, catalog, tables)
  }
  return async (tenant, catalog) => {
    const name = JSON.stringify([tenant, catalog])
    const mark = await source.mark(tenant)
    const found = kept.get(name)
    if (found !== undefined && found.mark === mark && nowMs() < found.staleAt) return await found.scope
    const staleAt = nowMs() + limits.catalogColumnsMs
    const entry = { mark, staleAt, scope: load(tenant, catalog, found) }
    kept.set(name, entry)
    try {
      return await entry.scope
    } catch (error) {
      if (kept.get(name) === entry) kept.delete(name)
      throw error
    }
  }
}
