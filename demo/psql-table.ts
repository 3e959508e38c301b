/** Formats a result as psql prints it: aligned, with its header and the number of rows. */

export interface PsqlColumn {
  readonly name: string
  /** Whether values are aligned to the right, as numbers are. */
  readonly right: boolean
}

/** The text that psql prints for rows of single-line values. null is NULL. */
export function psqlTable(
  columns: readonly PsqlColumn[],
  rows: readonly (readonly (string | null)[])[],
): string {
  const widths = columns.map(({ name }, at) =>
    Math.max(name.length, ...rows.map((row) => row[at]?.length ?? 0)),
  )
  const header = columns.map(({ name }, at) => ` ${centered(name, widths[at] ?? 0)} `).join('|')
  const rule = widths.map((width) => '-'.repeat(width + 2)).join('+')
  const lines = rows.map((row) =>
    columns
      .map(({ right }, at) => {
        const value = row[at] ?? ''
        if (right) return ` ${value.padStart(widths[at] ?? 0)}`
        return ` ${at === columns.length - 1 ? value : value.padEnd(widths[at] ?? 0)}`
      })
      .join(' |'),
  )
  return [header, rule, ...lines, `(${rows.length} ${rows.length === 1 ? 'row' : 'rows'})`, '', ''].join('\n')
}

function centered(text: string, width: number): string {
  return text.padStart(text.length + Math.floor((width - text.length) / 2)).padEnd(width)
}
