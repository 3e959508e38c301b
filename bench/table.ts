/** Formats results as a table for people. */

import type { BenchResult } from './entry.ts'

/** One row per result: its case, figures and verdict. */
export function resultTable(name: string, results: readonly BenchResult[]): string {
  const { columns, rows } = cellsOf(results)
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...rows.map((row) => row[index]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => cell.padStart(widths[index] ?? 0))
      .join('  ')
      .trimEnd()
  return [name, line(columns), ...rows.map(line)].join('\n')
}

/** The same as a table of Markdown, for a page. */
export function markdownTable(results: readonly BenchResult[]): string {
  const { columns, rows } = cellsOf(results)
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(columns), `|${'---|'.repeat(columns.length)}`, ...rows.map(line)].join('\n')
}

function cellsOf(results: readonly BenchResult[]) {
  const columns = [
    ...new Set(results.flatMap((result) => [...Object.keys(result.case), ...Object.keys(result.figures)])),
    ...(results.some(({ verdict }) => verdict !== undefined) ? ['verdict'] : []),
  ]
  const rows = results.map((result) =>
    columns.map((column) => {
      const value = column === 'verdict' ? result.verdict : (result.case[column] ?? result.figures[column])
      return value === undefined ? '' : String(value)
    }),
  )
  return { columns, rows }
}

/** To four significant digits, because more would be noise. */
export function rounded(value: number): number {
  return Number(value.toPrecision(4))
}
