/** What a seen table shows of the rows of `access-world.ts`, a line for each cell, in the words of the oracle. */

import type { SeenTable } from '../../src/core/seen-table.ts'
import { rows } from './access-world.ts'

/** The cells: a value, or what masks it. Filters are `east`, or `region = 'east'`. */
export function cellsOf({ columns, rowFilters }: SeenTable): readonly string[] {
  const regions = rowFilters.map(({ expression }) => /east|west/.exec(expression)?.[0])
  return rows
    .filter(({ region }) => regions.every((one) => one === region))
    .flatMap((row) =>
      columns.map(({ name, masks }) => {
        const applying = [...new Set(masks.map(({ action }) => action))].sort()
        return applying.length === 0 ? row[name as keyof typeof row] : applying.join('+')
      }),
    )
}
