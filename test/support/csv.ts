/** Reads CSV by RFC 4180 to the letter: CRLF ends a record, and a quote is doubled inside of quotes. */

function rowsOf(text: string): readonly (readonly string[])[] {
  const rows: string[][] = [[]]
  let at = 0
  while (at < text.length) {
    const cell = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/.exec(text.slice(at))
    if (cell === null) throw new Error(`no cell of RFC 4180 at ${at}`)
    const [whole, quoted, plain = '', end] = cell
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === '\r\n') rows.push([])
    at += whole.length
  }
  return rows.slice(0, -1)
}

/** The names in the first record. */
export function csvHead(text: string): readonly string[] {
  return rowsOf(text)[0] ?? []
}

/** The other records, by these names. */
export function csvRecords(text: string): readonly Readonly<Record<string, string>>[] {
  const [head = [], ...rows] = rowsOf(text)
  return rows.map((row) => {
    if (row.length !== head.length) throw new Error('a record has another number of cells than the head')
    return Object.fromEntries(head.map((name, index) => [name, row[index] ?? '']))
  })
}
