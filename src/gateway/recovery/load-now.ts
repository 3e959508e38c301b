/** Loads a table unconditionally, to find out whether a change was made. */

import type { Catalog } from '../../catalog/catalog.ts'
import type { TableRef } from '../../core/table-ref.ts'
import { type LoadTableResult, parseLoadTableResult } from '../../wire/iceberg/table-metadata.ts'
import { saysAbsent } from './says-absent.ts'

export interface LoadedNow {
  /** The LoadTableResult, byte for byte. */
  readonly body: Uint8Array
  readonly etag: string | undefined
  readonly result: LoadTableResult
}

/**
 * @returns undefined if the catalog says that there is no such table
 * @throws what the upstream throws
 */
export async function loadNow(
  catalog: Catalog,
  table: TableRef,
  signal: AbortSignal | undefined,
): Promise<LoadedNow | undefined> {
  try {
    const loaded = await catalog.loadTable(table, { signal })
    if (loaded.status !== 'loaded') throw new Error('an unconditional load was answered 304')
    return { body: loaded.body, etag: loaded.etag, result: parseLoadTableResult(loaded.body) }
  } catch (error) {
    if (saysAbsent(error)) return undefined
    throw error
  }
}
