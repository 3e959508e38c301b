/**
 * Quotes untrusted text for SQL; all such text must pass through here. PostgreSQL (with standard_conforming_strings),
 * DuckDB and Trino read both forms alike and know no escapes inside plain quotes.
 */

/**
 * A text literal.
 * @throws RangeError for a text with NUL, which no engine can hold and some cut off there
 */
export function quoteText(text: string): string {
  if (text.includes('\0')) throw new RangeError('not text')
  return `'${text.replaceAll("'", "''")}'`
}

/**
 * An identifier in double quotes.
 * @throws RangeError for a name that no engine accepts
 */
export function quoteIdentifier(name: string): string {
  return quotedWith('"', name)
}

/**
 * An identifier as Spark quotes it.
 * @throws RangeError for a name that no engine accepts
 */
export function quoteInBackticks(name: string): string {
  return quotedWith('`', name)
}

/** Whether any engine accepts a name, quoted. */
export function isQuotable(name: string): boolean {
  return name !== '' && !name.includes('\0') && name.isWellFormed()
}

function quotedWith(mark: string, name: string): string {
  if (!isQuotable(name)) throw new RangeError('not an identifier')
  return `${mark}${name.replaceAll(mark, mark + mark)}${mark}`
}
