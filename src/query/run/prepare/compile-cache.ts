/**
 * Caches compiled statements. The key holds all that a statement is compiled from, the governance of its tables
 * included. So a changed policy, role or schema never meets a stale statement.
 */

import { createHash } from 'node:crypto'
import { Lru } from '../../../base/lru.ts'
import type { TenantId } from '../../../core/tenant.ts'
import { type CompiledQuery, type CompileInput, compileQuery } from '../../compile/compile.ts'
import type { SqlPart } from '../../compile/emit/render.ts'
import type { Load } from '../attempt/attempt.ts'
import type { LoadedTables } from '../load/load-tables.ts'
import type { Statement } from '../load/statement.ts'

/** Estimated bytes in memory of a compiled statement, per character of its input. Measured on its trees. */
const compiledWeight = 8

export class CompileCache {
  readonly #compiled: Lru<string, CompiledQuery>

  /** @param bytesMax bound on the estimated memory of all entries */
  constructor(bytesMax: number) {
    this.#compiled = new Lru(bytesMax)
  }

  /** @throws SqlError as compileQuery; a refusal is not cached */
  compile(tenant: TenantId, input: CompileInput): CompiledQuery {
    const described = JSON.stringify([tenant, input])
    const key = createHash('sha256').update(described).digest('base64')
    const cached = this.#compiled.get(key)
    if (cached !== undefined) return cached
    const compiled = emittedOnce(compileQuery(input))
    this.#compiled.set(key, compiled, described.length * compiledWeight)
    return compiled
  }

  /**
   * Compiles a statement over the tables that were loaded for it.
   * @param last a load of the same statement; its compiled statement is reused if the tables are the same objects
   * @throws SqlError of the compiler
   */
  compileLoaded(statement: Statement, loaded: LoadedTables, last?: Load): Load {
    const { context, source, parameterTypes, parameterValues, expansion } = statement
    const { tenant, principal, searchPath, catalog: database, timeZone } = context
    const { tables } = loaded
    const compiled = isOfTables(last, tables)
      ? last.compiled
      : this.compile(tenant, {
          // What the service wrote as a tree always has an expansion, which takes the place of the text.
          text: typeof source === 'string' ? source : '',
          principal,
          tables,
          searchPath,
          database,
          timeZone,
          parameterTypes,
          parameterValues,
          ...(expansion && { expansion }),
        })
    return { loaded, compiled, ...(expansion && { expansion }) }
  }
}

/** Whether a load was compiled over the same table objects. */
function isOfTables(load: Load | undefined, tables: LoadedTables['tables']): load is Load {
  return (
    load?.loaded.tables.length === tables.length &&
    load.loaded.tables.every((table, index) => table === tables[index])
  )
}

/** Caches the SQL of each engine beside its compiled statement. */
function emittedOnce(compiled: CompiledQuery): CompiledQuery {
  const emitted = new Map<string, readonly SqlPart[]>()
  return {
    ...compiled,
    emit: (dialect, deletes) => {
      const key = `${dialect} ${compiled.reads.map(({ table }) => deletes?.has(table) === true)}`
      const parts = emitted.get(key) ?? compiled.emit(dialect, deletes)
      emitted.set(key, parts)
      return parts
    },
  }
}
