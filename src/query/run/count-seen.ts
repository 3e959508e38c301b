/**
 * Counts the rows of a table that a reader sees, and those that it would see if a grant lifted some row filters. The
 * statement is loaded, compiled and run as the reader's own, only that it gives a count, to who decides about the grant.
 */

import type { Logger } from 'pino'
import type { GovernedTable } from '../../core/governed-table.ts'
import type { Principal } from '../../core/principal.ts'
import { effectOf } from '../../core/protection-effect.ts'
import type { SeenRows, SeenRowsCount } from '../../core/seen-rows.ts'
import { quotedTable } from '../../core/system-read.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { EngineKinds } from '../../engine/engine-kinds.ts'
import { listCatalogCredentials } from '../../store/catalog-credential/catalog-credentials.ts'
import { defaultTextOptions, textOf } from '../../wire/postgres/text-values.ts'
import { SqlError } from '../compile/base/sql-error.ts'
import { compileQuery } from '../compile/compile.ts'
import { Attempt } from './attempt/attempt.ts'
import { runError } from './attempt/run-error.ts'
import { type LoadedTables, type LoadParts, loadTables } from './load/load-tables.ts'

interface CountParts extends LoadParts {
  readonly engines: EngineKinds
  readonly log: Logger
}

/** Milliseconds that the counts of one table may take. */
const countMs = 5_000

/** Counts over these parts. */
export function seenRows(parts: CountParts): SeenRows {
  return {
    async count(asked, signal) {
      const late = AbortSignal.timeout(countMs)
      try {
        return await countSeen(parts, asked, AbortSignal.any([signal, late]))
      } catch (thrown) {
        signal.throwIfAborted()
        if (late.aborted) return { problem: 'Counting the rows takes too long.' }
        const { sqlState, message } = runError(thrown)
        parts.log.info({ err: thrown, tenant: asked.tenant }, 'rows that a grant would show were not counted')
        return { problem: `The rows cannot be counted (${sqlState}): ${message}` }
      }
    },
  }
}

async function countSeen(
  parts: CountParts,
  { tenant, table, principal, lifts }: Parameters<SeenRows['count']>[0],
  signal: AbortSignal,
): Promise<SeenRowsCount> {
  const { items } = await listCatalogCredentials(parts.store, tenant, { limit: 2 })
  const [catalog] = items
  if (catalog === undefined || items.length > 1)
    return { problem: 'Rows are counted where the tenant has one catalog, and it has another number.' }
  const text = `SELECT count(*) FROM ${quotedTable(table)}`
  const context = { tenant, catalog: catalog.nickname, principal, searchPath: [] }
  const loaded = await loadTables(parts, context, text, { signal })
  const [seen] = loaded.tables
  if (seen === undefined) return { problem: 'The catalog has no such table that can be read.' }
  const count = (one: GovernedTable) =>
    countIn(parts, { tenant, principal, text, loaded, table: one }, signal)
  const before = await count(seen)
  const rowFilters = seen.rowFilters.filter((filter) => !lifts.filters.includes(effectOf(filter)))
  if (rowFilters.length === seen.rowFilters.length) return { before, after: before }
  return { before, after: await count({ ...seen, rowFilters }) }
}

interface Counted {
  readonly tenant: TenantId
  readonly principal: Principal
  readonly text: string
  readonly loaded: LoadedTables
  readonly table: GovernedTable
}

/** @throws SqlError, and what the engine throws */
async function countIn(
  parts: CountParts,
  { tenant, principal, text, loaded, table }: Counted,
  signal: AbortSignal,
): Promise<number> {
  const compiled = compileQuery({ text, principal, tables: [table], searchPath: [] })
  const load = { loaded: { ...loaded, tables: [table] }, compiled }
  const run = { context: { tenant, principal }, queryId: crypto.randomUUID(), parameters: [] }
  const attempt = new Attempt(parts, load, run, signal)
  try {
    const { done, value: batch } = await attempt.next()
    const column = done ? undefined : batch.columns[0]
    if (column === undefined) throw new SqlError('XX000', 'The engine gave no count.')
    return Number(textOf(column, 0, defaultTextOptions))
  } finally {
    await attempt.vacate()
  }
}
