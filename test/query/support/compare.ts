/** Converts results of PostgreSQL and of an engine to one form, in which equal values are equal text. */

import type { SqlType } from '../../../src/core/sql-type.ts'
import type { Answer } from './duckdb.ts'

/** PostgreSQL has types that the read path serves as another: name and unknown literals are text. */
export function typeIn(oid: string): string {
  return oid === '705' || oid === '19' ? '25' : oid
}

/** Rows in a form in which equal values are equal text; unordered results are sorted. */
export function normal(rows: Answer['rows'], types: readonly SqlType[], ordered: boolean): string[] {
  const lines = rows.map((row) =>
    JSON.stringify(row.map((cell, index) => normalCell(cell, types[index] ?? 'text'))),
  )
  return ordered ? lines : lines.sort()
}

function normalCell(cell: string | null, type: SqlType): unknown {
  if (cell === null) return null
  switch (type) {
    case 'numeric':
    case 'float4':
    case 'float8':
      // Quotients and averages are doubles here (docs/sql.md): 12 significant digits must agree.
      return Number.isFinite(Number(cell))
        ? String(Number(Number(cell).toPrecision(type === 'float4' ? 6 : 12)))
        : cell
    case 'json':
    case 'jsonb':
      return JSON.parse(cell)
    case 'numeric[]':
      // The elements of an array share one scale here.
      return cell.replace(/(\.\d*?)0+(?=[,}])/g, '$1').replace(/\.(?=[,}])/g, '')
    case 'interval':
      return intervalText(cell)
    default:
      return cell
  }
}

/** Months, days and microseconds of an interval as either engine writes it. */
function intervalText(text: string): string {
  let months = 0
  let days = 0
  let seconds = 0
  for (const [, amount = '0', unit = ''] of text.matchAll(/(-?\d+) (year|mon|day)/g)) {
    if (unit === 'year') months += 12 * Number(amount)
    else if (unit === 'mon') months += Number(amount)
    else days += Number(amount)
  }
  const clock = /(-?)(\d+):(\d\d):(\d\d(?:\.\d+)?)/.exec(text)
  if (clock)
    seconds =
      (Number(clock[2]) * 3600 + Number(clock[3]) * 60 + Number(clock[4])) * (clock[1] === '-' ? -1 : 1)
  return `${months} ${days} ${seconds}`
}
