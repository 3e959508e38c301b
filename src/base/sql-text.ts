/**
 * The only ways by which text that others wrote gets into SQL: PostgreSQL (with standard_conforming_strings), DuckDB
 * and Trino read both alike, and know no escapes inside plain quotes.
 */

/** A text literal. @throws RangeError for a text with NUL, which none of them holds and some end at */
export function quoteText(text: string): string {
  if (text.includes('\0')) throw new RangeError('not text')
  return `'${text.replaceAll("'", "''")}'`
}

/** An identifier in double quotes. @throws RangeError for what is no name to any of them */
export function quoteIdentifier(name: string): string {
  if (name === '' || name.includes('\0') || !name.isWellFormed()) throw new RangeError('not an identifier')
  return `"${name.replaceAll('"', '""')}"`
}
