/** Finds the data files of a table of the REST fixture on disk. */

import { join } from 'node:path'
import { Glob } from 'bun'
import type { TableRef } from '../../src/core/table-ref.ts'

/**
 * How many Parquet files there are in the table's folder.
 * @param warehouse the folder of the fixture; undefined where another catalog keeps its files out of reach
 */
export function dataFilesThere(warehouse: string | undefined, table: TableRef): number | undefined {
  if (warehouse === undefined) return undefined
  const folder = join(warehouse, ...table.namespace, table.name)
  return [...new Glob('**/*.parquet').scanSync(folder)].length
}
