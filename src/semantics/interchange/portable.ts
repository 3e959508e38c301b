/** Writes a metric as one SQL expression over columns, for formats that have nothing else. */

import { tableKey } from '../../core/table-ref.ts'
import { parseExpression } from '../../query/compile/parse/parse.ts'
import type { ExportedLayer, ExportedMetric } from './layer.ts'
import { renamed } from './sql-names.ts'

type Portable =
  | { readonly kind: 'sql'; readonly sql: string; readonly table: string }
  | { readonly kind: 'none'; readonly why: string }

const none = (why: string): Portable => ({ kind: 'none', why })

/** @param qualify writes a column of a table, given as written */
export function portableOf(
  layer: ExportedLayer,
  { name, definition: { computation }, body }: ExportedMetric,
  qualify: (table: string, column: string) => string,
): Portable {
  const part = (input: string): Portable => {
    const metric = layer.metrics.get(input)
    return metric === undefined ? none(`${input} is not exported`) : portableOf(layer, metric, qualify)
  }
  switch (computation.kind) {
    case 'simple': {
      if (computation.semiAdditive) return none('It does not add up over time')
      if (computation.currency) return none('Its amounts are converted by rates of another table')
      if (computation.filter?.dimensions) return none('Its filter reads another table')
      const table = tableKey(computation.table)
      const write = (text: unknown) => renamed(String(text), (_, last) => qualify(table, last))
      const sql = write(body.expression)
      if (body.filter === undefined) return { kind: 'sql', sql, table }
      const filtered = `${sql} FILTER (WHERE ${write(body.filter)})`
      return isFiltered(filtered)
        ? { kind: 'sql', sql: filtered, table }
        : none('Its filter is on several aggregates')
    }
    case 'ratio': {
      const [over, under] = [part(computation.numerator), part(computation.denominator)]
      if (over.kind === 'none') return over
      if (under.kind === 'none') return under
      if (over.table !== under.table)
        return none('Its parts are of two tables, which a join would count twice')
      const double = (sql: string) => `CAST(${sql} AS DOUBLE PRECISION)`
      return { kind: 'sql', sql: `${double(over.sql)} / NULLIF(${double(under.sql)}, 0)`, table: over.table }
    }
    case 'derived': {
      if (/[/%]/.test(computation.expression)) return none('A division by zero is NULL in it')
      const parts = new Map(computation.metrics.map((input) => [input, part(input)]))
      const tables = new Set<string>()
      for (const found of parts.values()) {
        if (found.kind === 'none') return found
        tables.add(found.table)
      }
      const [table, ...more] = tables
      if (table === undefined || more.length > 0) return none('Its parts are of several tables')
      const sql = renamed(computation.expression, ([input = '']) => {
        const found = parts.get(input)
        return found?.kind === 'sql' ? `(${found.sql})` : undefined
      })
      return { kind: 'sql', sql, table }
    }
    case 'cumulative':
      return none(`${name} accumulates over time`)
    case 'offset':
      return none(`${name} is of another time`)
    case 'conversion':
      return none(`${name} follows rows from one table to another`)
  }
}

/** Whether the text is one aggregate with its filter, and not an expression in which the filter is on a part. */
function isFiltered(text: string): boolean {
  try {
    const call = parseExpression(text)
    return 'FuncCall' in call && call.FuncCall.agg_filter !== undefined
  } catch {
    return false
  }
}
