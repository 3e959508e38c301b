/** The SQL of a table's relation: its branches, less what its deletes say, under the names that the table has. */

import type { Branch } from './branches.ts'
import type { EqualityTable } from './delete-tables.ts'
import { quoteName, quoteText } from './sql-text.ts'
import { type ReadColumn, type ShownColumn, schemaArgument } from './table-columns.ts'

export interface RelationParts {
  readonly shown: readonly ShownColumn[]
  /** Compared by equality deletes and not shown. */
  readonly hidden: readonly ReadColumn[]
  readonly branches: readonly Branch[]
  /** Names of the tables with positions and with files, where a branch has such deletes. */
  readonly positions: string
  readonly files: string
  readonly equalities: readonly EqualityTable[]
}

/** A SELECT of the shown columns. */
export function relationSql(parts: RelationParts): string {
  const { shown, branches } = parts
  if (branches.length === 0) {
    const nothing = shown.map(({ name, sqlType }) => `CAST(NULL AS ${sqlType}) AS ${quoteName(name)}`)
    return `SELECT ${nothing.join(', ') || '1 AS c0'} WHERE false`
  }
  const names = shown.map(({ alias, name }) => `${alias} AS ${quoteName(name)}`)
  const all = branches.map((branch, index) => branchSql(parts, branch, index)).join('\nUNION ALL\n')
  return `SELECT ${names.join(', ') || '1 AS c0'} FROM (${all})`
}

function branchSql(parts: RelationParts, branch: Branch, index: number): string {
  const columns = [...parts.shown, ...parts.hidden]
  const joins: string[] = []
  if (branch.hasPositions)
    joins.push(
      `ANTI JOIN temp.main.${parts.positions} AS p ON p.branch = ${index} AND p.file = d.file_index AND p.pos = d.file_row_number`,
    )
  if (branch.hasEquality) {
    joins.push(`JOIN temp.main.${parts.files} AS m ON m.branch = ${index} AND m.file = d.file_index`)
    for (const { name, columns: compared, isGlobal } of parts.equalities) {
      const same = compared.map(({ alias }) => `e.${alias} IS NOT DISTINCT FROM d.${alias}`)
      const partition = isGlobal ? [] : ['e.part = m.part']
      joins.push(
        `ANTI JOIN temp.main.${name} AS e ON ${[...same, ...partition, 'e.seq > m.seq'].join(' AND ')}`,
      )
    }
  }
  const values = columns.map(({ alias }) => `d.${alias}`).join(', ') || '1 AS c0'
  return `SELECT ${values} FROM ${filesSql(branch, columns)} AS d ${joins.join(' ')}`
}

function filesSql({ files, names }: Branch, columns: readonly ReadColumn[]): string {
  const paths = files.map(({ path }) => quoteText(path)).join(', ')
  if (names === undefined) {
    // It wants one column at least; one that no file has costs nothing.
    const schema =
      columns.length === 0
        ? "MAP {-1: {name: 'f', type: 'INTEGER', default_value: NULL}}"
        : schemaArgument(columns)
    return `read_parquet([${paths}], schema = ${schema}, hive_partitioning = false)`
  }
  const values = columns.map((column) => {
    const found = names.get(column)
    const value =
      found === undefined ? column.fallback : `CAST(${quoteName(found.name)} AS ${column.sqlType})`
    return `${value} AS ${column.alias}`
  })
  return `(SELECT ${[...values, 'file_index', 'file_row_number'].join(', ')} FROM read_parquet([${paths}], hive_partitioning = false))`
}
