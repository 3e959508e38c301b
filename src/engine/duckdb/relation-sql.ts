/** Writes the SQL of a table's relation: all branches without deleted rows, under the table's column names. */

import { joinInTurns } from '../../base/in-turns.ts'
import { quoteIdentifier, quoteText } from '../../base/sql-text.ts'
import { appliesFrom } from '../../storage/iceberg/deletes.ts'
import type { Branch } from './branches.ts'
import type { EqualityTable } from './delete-tables.ts'
import { fieldValue, nestedValue } from './nested-value.ts'
import { type ReadColumn, type ShownColumn, schemaArgument } from './table-columns.ts'

export interface RelationParts {
  readonly shown: readonly ShownColumn[]
  /** Columns that only equality deletes need. */
  readonly hidden: readonly ReadColumn[]
  readonly branches: readonly Branch[]
  /** Names of the tables of deleted positions and of files; used where a branch has such deletes. */
  readonly positions: string
  readonly files: string
  readonly equalities: readonly EqualityTable[]
}

/** A SELECT of the shown columns. */
export async function duckdbRelationSql(parts: RelationParts, signal: AbortSignal): Promise<string> {
  const { shown, branches } = parts
  const [first, ...others] = branches
  if (first === undefined) {
    const nothing = shown.map(({ name, sqlType }) => `CAST(NULL AS ${sqlType}) AS ${quoteIdentifier(name)}`)
    return `SELECT ${nothing.join(', ') || '1 AS c0'} WHERE false`
  }
  // No subquery here, because each level costs DuckDB time for every vector.
  if (others.length === 0 && !first.hasPositions && !first.hasEquality)
    return `SELECT ${named(shown, (column) => valueSql(first, column))} FROM ${await filesSql(first, shown, signal)} AS d`
  const all: string[] = []
  for (const branch of branches) all.push(await branchSql(parts, branch, all.length, signal))
  return `SELECT ${named(shown, ({ alias }) => alias)} FROM (${all.join('\nUNION ALL\n')})`
}

function named(shown: readonly ShownColumn[], value: (column: ShownColumn) => string): string {
  return shown.map((column) => `${value(column)} AS ${quoteIdentifier(column.name)}`).join(', ') || '1 AS c0'
}

async function branchSql(
  parts: RelationParts,
  branch: Branch,
  index: number,
  signal: AbortSignal,
): Promise<string> {
  const columns = [...parts.shown, ...parts.hidden]
  const joins: string[] = []
  if (branch.hasPositions)
    joins.push(
      `ANTI JOIN temp.main.${parts.positions} AS p ON p.branch = ${index} AND p.file = d.file_index AND p.pos = d.file_row_number`,
    )
  if (branch.hasEquality) {
    joins.push(`JOIN temp.main.${parts.files} AS m ON m.branch = ${index} AND m.file = d.file_index`)
    for (const { name, columns: compared, isGlobal } of parts.equalities) {
      const same = compared.map(
        (column) => `e.${column.alias} IS NOT DISTINCT FROM ${valueSql(branch, column)}`,
      )
      const partition = isGlobal ? [] : ['e.part = m.part']
      joins.push(
        `ANTI JOIN temp.main.${name} AS e ON ${[...same, ...partition, `e.seq ${appliesFrom.equality} m.seq`].join(' AND ')}`,
      )
    }
  }
  const values = columns.map((column) => `${valueSql(branch, column)} AS ${column.alias}`).join(', ')
  return `SELECT ${values || '1 AS c0'} FROM ${await filesSql(branch, columns, signal)} AS d ${joins.join(' ')}`
}

/** A column's value in the files, whose alias is `d`. */
function valueSql({ names }: Branch, column: ReadColumn): string {
  if (names === undefined) return `d.${column.alias}`
  const found = names.get(column.alias)
  if (found === undefined) return column.fallback
  const value = `d.${quoteIdentifier(found.name)}`
  if (column.path === undefined) return `CAST(${value} AS ${column.sqlType})`
  return column.path.length === 0
    ? nestedValue(column.field.type, found.node, value)
    : fieldValue(column.path, found.node, value)
}

async function filesSql(
  { files, names }: Branch,
  columns: readonly ReadColumn[],
  signal: AbortSignal,
): Promise<string> {
  const paths = await joinInTurns(files, ', ', signal, ({ path }) => quoteText(path))
  if (names !== undefined) return `read_parquet([${paths}], hive_partitioning = false)`
  // read_parquet requires a column; one that no file has costs nothing.
  const schema =
    columns.length === 0
      ? "MAP {-1: {name: 'f', type: 'INTEGER', default_value: NULL}}"
      : schemaArgument(columns)
  return `read_parquet([${paths}], schema = ${schema}, hive_partitioning = false)`
}
