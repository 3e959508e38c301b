/**
 * Writes the library metrics of the standard as SQL in PostgreSQL's dialect, which the read path's compiler turns into
 * each engine's. NULL is neither invalid nor a duplicate. `missingValues` counts NULL only where the markers hold it.
 */

import { quoteIdentifier, quoteText } from '../../base/sql-text.ts'
import type { SystemColumn } from '../../core/system-read.ts'

/** The arguments of a metric, as the document has them. */
export type MetricArguments = Readonly<Record<string, unknown>>

/** An aggregate of the one scan, and which of its values is measured. */
interface ScanMetric {
  readonly kind: 'scan'
  readonly expression: string
}

/** A statement of its own, whose first column is the value and whose second the number of all rows. */
interface StatementMetric {
  readonly kind: 'statement'
  readonly text: string
}

export type Metric = ScanMetric | StatementMetric

/** Why a metric cannot be measured, as a word. */
export class MetricProblem extends Error {}

/**
 * The SQL of a metric.
 * @param columns one for a metric of a column; those of the key for duplicates; none for one of the table
 * @throws MetricProblem
 */
export function metricOf(
  metric: string,
  columns: readonly SystemColumn[],
  given: MetricArguments,
  relation: string,
): Metric {
  const [column] = columns
  if (metric === 'rowCount') return { kind: 'scan', expression: 'count(*)' }
  if (column === undefined) throw new MetricProblem('no column')
  const name = quoteIdentifier(column.name)
  switch (metric) {
    case 'nullValues':
      return { kind: 'scan', expression: `count(*) - count(${name})` }
    case 'missingValues':
      return counted(missing(column, listOf(given.missingValues)))
    case 'invalidValues':
      return counted(invalid(column, given))
    case 'duplicateValues':
      return duplicatesOf(
        columns.map((one) => quoteIdentifier(one.name)),
        relation,
      )
    default:
      throw new MetricProblem('unknown metric')
  }
}

/** An aggregate that counts the rows for which a condition holds. */
export function counted(condition: string): ScanMetric {
  return { kind: 'scan', expression: `count(*) FILTER (WHERE ${condition})` }
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new MetricProblem('arguments')
  return value
}

function missing(column: SystemColumn, markers: readonly unknown[]): string {
  const name = quoteIdentifier(column.name)
  const literals = literalsOf(column, markers)
  const conditions = [
    ...(markers.includes(null) ? [`${name} IS NULL`] : []),
    ...(literals.length > 0 ? [`${name} IN (${literals.join(', ')})`] : []),
  ]
  return conditions.length === 0 ? 'false' : conditions.join(' OR ')
}

function invalid(column: SystemColumn, { validValues, pattern }: MetricArguments): string {
  const name = quoteIdentifier(column.name)
  const conditions: string[] = []
  if (validValues !== undefined) {
    const literals = literalsOf(column, listOf(validValues))
    conditions.push(literals.length > 0 ? `${name} NOT IN (${literals.join(', ')})` : `${name} IS NOT NULL`)
  }
  if (pattern !== undefined) {
    if (typeof pattern !== 'string') throw new MetricProblem('arguments')
    // The standard's patterns search, they are not anchored.
    conditions.push(`NOT (${name} ~ ${quoteText(pattern)})`)
  }
  if (conditions.length === 0) throw new MetricProblem('arguments')
  return conditions.join(' OR ')
}

/**
 * Values that occur more than once, beside the rows that hold them.
 * @param values the parts of the key, as SQL
 */
export function duplicatesOf(values: readonly string[], relation: string): StatementMetric {
  const present = values.map((value) => `${value} IS NOT NULL`).join(' AND ')
  const text = `SELECT count(*), (SELECT count(*) FROM ${relation}), coalesce(sum(d.n), 0) FROM (
    SELECT count(*) AS n FROM ${relation} WHERE ${present} GROUP BY ${values.join(', ')} HAVING count(*) > 1) AS d`
  return { kind: 'statement', text }
}

/** The values that a column of the type can hold, as literals; no value of an integer equals a text. */
export function literalsOf(
  { type }: Pick<SystemColumn, 'type'>,
  values: readonly unknown[],
): readonly string[] {
  if (values.length > valuesMax) throw new MetricProblem('too many values')
  return values.flatMap((value) => {
    if (value === null) return []
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      throw new MetricProblem('arguments')
    if (type === 'string') return quoteText(String(value))
    if (type === 'boolean') return typeof value === 'boolean' ? String(value) : []
    if (typeof type === 'string' && /^(int|long|float|double|decimal\()/.test(type))
      return /^-?\d+(\.\d+)?$/.test(String(value)) ? String(value) : []
    return typeof value === 'string' ? quoteText(value) : []
  })
}

const valuesMax = 1_000

/** The text of a `sql` rule with its placeholders filled in. */
export function ownStatement(query: string, relation: string, column: SystemColumn | undefined): string {
  const name = column && quoteIdentifier(column.name)
  return query.replace(/\$?\{(object|schema|table|model|property|column|field)\}/g, (found, word: string) =>
    ['object', 'schema', 'table', 'model'].includes(word) ? relation : (name ?? found),
  )
}
