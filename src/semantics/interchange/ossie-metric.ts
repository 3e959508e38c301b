/** Turns the expression of an Ossie metric, over fields of datasets, into one over columns of a table. */

import { toSqlError } from '../../query/compile/base/sql-error.ts'
import type { DraftRelationship, DraftTable } from './draft.ts'
import { pathsIn, renamed } from './sql-names.ts'

export interface Dataset {
  readonly name: string
  /** The expression of each field. */
  readonly fields: ReadonlyMap<string, string>
  readonly table: DraftTable
  /** Those of the table, which are read after it. */
  readonly relationships: DraftRelationship[]
}

/** @returns why it cannot be carried, as a sentence without a full stop */
export function metricOf(text: string, datasets: ReadonlyMap<string, Dataset>) {
  try {
    const over = datasetsOf(text, datasets)
    const [dataset, ...others] = over
    if (dataset === undefined) return 'It names a field that no dataset of the document has'
    if (others.length > 0)
      return `It reads several datasets (${over.map(({ name }) => name).join(', ')}). Define a metric for each, and one that is made of them`
    const expression = renamed(text, (path, last) => {
      const field = path.at(-1) ?? ''
      const written = dataset.fields.get(field) ?? last
      return /^\w+$/.test(written) ? (written === field ? last : written) : `(${written})`
    })
    return { table: dataset.table.table, expression }
  } catch (thrown) {
    return `It cannot be read: ${toSqlError(thrown).publicMessage.replace(/\.$/, '')}`
  }
}

/** The datasets that an expression names; none where a name is of none of them. */
function datasetsOf(text: string, datasets: ReadonlyMap<string, Dataset>): readonly Dataset[] {
  const all = [...datasets.values()]
  const found = new Set<Dataset>()
  const paths = pathsIn(text)
  for (const path of paths) {
    const [name = ''] = path
    const one =
      path.length === 2
        ? datasets.get(name)
        : path.length === 1
          ? all.length === 1
            ? all[0]
            : all.find(({ fields }) => fields.has(name))
          : undefined
    if (one === undefined) return []
    found.add(one)
  }
  if (paths.length === 0 && all.length === 1 && all[0] !== undefined) found.add(all[0])
  return [...found]
}
