/** Finds the data files of a table of the REST fixture on disk. */

import { join } from 'node:path'
import { Glob } from 'bun'
import type { TableRef } from '../../src/core/table-ref.ts'
import type { FixtureServer } from './servers.ts'

/** How many Parquet files there are in the table's folder. */
export function dataFilesThere(fixture: FixtureServer, table: TableRef): number {
  const folder = join(fixture.folder, ...table.namespace, table.name)
  return [...new Glob('**/*.parquet').scanSync(folder)].length
}
