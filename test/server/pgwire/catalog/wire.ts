/** Builds the messages that the catalog's tests send, and reads the replies. */

export interface Answer {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | null)[])[]
  readonly error?: { readonly code: string; readonly message: string; readonly fields: string }
  /** Message types in order. */
  readonly types: string
}

/** One message. */
export function frame(type: string, ...parts: readonly (string | number[] | Uint8Array)[]): Uint8Array {
  const body = Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(`${part}\0`) : Buffer.from(part))),
  )
  const whole = Buffer.alloc(5 + body.length, type)
  whole.writeUInt32BE(4 + body.length, 1)
  body.copy(whole, 5)
  return whole
}

/** A simple Query. */
export const query = (text: string) => frame('Q', text)

/** Parse, Bind of text parameters, Describe, Execute, Sync. */
export function extended(text: string, parameters: readonly string[] = [], statement = ''): Uint8Array {
  const values = parameters.flatMap((value) => {
    const bytes = Buffer.from(value)
    return [0, 0, bytes.length >> 8, bytes.length & 255, ...bytes]
  })
  return Buffer.concat([
    frame('P', statement, text, [0, 0]),
    frame('B', '', statement, [0, 0, 0, parameters.length, ...values, 0, 0]),
    frame('D', [0x50], ''),
    frame('E', '', [0, 0, 0, 0]),
    frame('S'),
  ])
}

/** Reads backend messages; of several results the rows are joined. */
export function readAnswer(bytes: Uint8Array): Answer {
  const buffer = Buffer.from(bytes)
  const columns: string[] = []
  const rows: (string | null)[][] = []
  let error: Answer['error']
  let types = ''
  for (let at = 0; at < buffer.length; ) {
    const end = at + 1 + buffer.readUInt32BE(at + 1)
    const type = String.fromCharCode(buffer[at] ?? 0)
    const body = buffer.subarray(at + 5, end)
    types += type
    if (type === 'T') columns.push(...readColumns(body))
    if (type === 'D') rows.push(readRow(body))
    if (type === 'E') error ??= readError(body)
    at = end
  }
  return { columns, rows, types, ...(error && { error }) }
}

function readColumns(body: Buffer): string[] {
  const names: string[] = []
  for (let at = 2; at < body.length; ) {
    const end = body.indexOf(0, at)
    names.push(body.toString('utf8', at, end))
    at = end + 19
  }
  return names
}

function readRow(body: Buffer): (string | null)[] {
  const row: (string | null)[] = []
  for (let at = 2; at < body.length; ) {
    const length = body.readInt32BE(at)
    row.push(length < 0 ? null : body.toString('utf8', at + 4, at + 4 + length))
    at += 4 + Math.max(0, length)
  }
  return row
}

function readError(body: Buffer): NonNullable<Answer['error']> {
  const fields = body.toString('utf8').split('\0').filter(Boolean)
  const field = (letter: string) => fields.find((each) => each.startsWith(letter))?.slice(1) ?? ''
  return { code: field('C'), message: field('M'), fields: fields.map((each) => each[0]).join('') }
}
