/** Writes COPY … TO STDOUT in PostgreSQL's text, CSV and binary formats, one CopyData message per row. */

import { type ColumnVector, isNull, type ResultBatch } from '../../core/result-batch.ts'
import type { VariableWidth } from '../../core/variable-width.ts'
import { limits } from '../../limits.ts'
import { binaryEncoder } from './binary-values.ts'
import { bytesOf } from './encoded.ts'
import type { MessageWriter } from './message-writer.ts'
import { backend } from './protocol.ts'
import { checkRowBytes, type RowWriter, sliceWriter, tupleWriter } from './rows.ts'
import { type TextOptions, textEncoder } from './text-values.ts'

export interface CopyFormat {
  readonly format: 'text' | 'csv' | 'binary'
  /** One ASCII character. */
  readonly delimiter: string
  readonly nullText: string
  readonly header: boolean
  /** One ASCII character each; CSV only. */
  readonly quote: string
  readonly escape: string
  /** CSV columns that are always quoted; `all` for every column. */
  readonly forceQuote: 'all' | ReadonlySet<string>
}

/** A format's defaults. */
export function defaultCopyFormat(format: CopyFormat['format']): CopyFormat {
  const isCsv = format === 'csv'
  return {
    format,
    delimiter: isCsv ? ',' : '\t',
    nullText: isCsv ? '' : '\\N',
    header: false,
    quote: '"',
    escape: '"',
    forceQuote: new Set(),
  }
}

function writeCopyOutResponse(out: MessageWriter, { format }: CopyFormat, columnCount: number): void {
  const code = format === 'binary' ? 1 : 0
  out.begin(backend.copyOutResponse)
  out.byte(code)
  out.uint16(columnCount)
  for (let index = 0; index < columnCount; index++) out.uint16(code)
  out.end()
}

/** Signature, flags and the length of the header extension, 0. */
const binaryHeader = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')

/** Writes one COPY: `begin`, then rows batch by batch, then `end`. */
export class CopyWriter {
  /** PostgreSQL sends the binary header in one message with the first row, and drivers rely on it. */
  #headerIsDue: boolean

  constructor(
    readonly names: readonly string[],
    readonly format: CopyFormat,
    readonly options: TextOptions,
  ) {
    this.#headerIsDue = format.format === 'binary'
  }

  /** Writes CopyOutResponse, and the header line where the format has one. */
  begin(out: MessageWriter): void {
    const { format, names } = this
    writeCopyOutResponse(out, format, names.length)
    if (!format.header) return
    const field = fieldWriter(format)
    out.begin(backend.copyData)
    for (const [index, name] of names.entries()) {
      if (index > 0) out.ascii(format.delimiter)
      field(out, Buffer.from(name), false, names.length === 1)
    }
    out.byte(0x0a)
    out.end()
  }

  /** Writes the trailer of the binary format. */
  end(out: MessageWriter): void {
    if (this.format.format !== 'binary') return
    out.begin(backend.copyData)
    if (this.#headerIsDue) out.raw(binaryHeader)
    out.int16(-1)
    out.end()
  }

  /** The writer of a batch's rows as CopyData. */
  rowWriter(batch: ResultBatch): RowWriter {
    return this.format.format === 'binary' ? this.#binaryRows(batch) : this.#textRows(batch)
  }

  #binaryRows({ columns }: ResultBatch): RowWriter {
    const encoders = columns.map(binaryEncoder)
    const writeFirst = tupleWriter(columns, encoders, backend.copyData, binaryHeader)
    const write = tupleWriter(columns, encoders, backend.copyData)
    return (out, from, to) => {
      if (!this.#headerIsDue) return write(out, from, to)
      const end = writeFirst(out, from, from + 1)
      this.#headerIsDue = false
      return end
    }
  }

  #textRows({ columns }: ResultBatch): RowWriter {
    const encoders = columns.map((column) => textEncoder(column, this.options))
    const writeRow = this.#rowText(columns)
    return sliceWriter((out, from, to) => {
      const encoded = encoders.map((encoder) => encoder.encode(from, to))
      const values = encoded.map((each) => ({ bytes: bytesOf(each), offsets: each.offsets }))
      const { length } = out
      let row = from
      for (; row < to && out.length - length < limits.pgwireWriteBytes; row++) {
        const start = out.length
        writeRow(out, values, row)
        if (row === from) checkRowBytes(out.length - start)
        else if (out.length - start > limits.pgwireRowBytesMax) {
          out.truncate(start)
          break
        }
      }
      return row
    })
  }

  #rowText(columns: readonly ColumnVector[]) {
    const { format, names } = this
    const field = fieldWriter(format)
    const nullText = Buffer.from(format.nullText)
    const forced = names.map((name) => format.forceQuote === 'all' || format.forceQuote.has(name))
    const isPlain = plainTest(format)
    return (out: MessageWriter, values: readonly VariableWidth[], row: number): void => {
      out.begin(backend.copyData)
      for (const [index, { bytes, offsets }] of values.entries()) {
        if (index > 0) out.ascii(format.delimiter)
        if (isNull(columns[index] as ColumnVector, row)) {
          out.raw(nullText)
          continue
        }
        const start = offsets[row] ?? 0
        const end = offsets[row + 1] ?? 0
        const isForced = forced[index] === true
        const value = bytes.subarray(start, end)
        if (!isForced && isPlain(bytes, start, end)) out.raw(value)
        else field(out, value, isForced, columns.length === 1)
      }
      out.byte(0x0a)
      out.end()
    }
  }
}

/** Whether a value is written unchanged: it needs no escapes and cannot be mistaken for NULL. */
function plainTest({ format, delimiter, quote, nullText }: CopyFormat) {
  const special = new Uint8Array(256)
  const codes =
    format === 'csv'
      ? [...`${delimiter}${quote}\n\r`].map((each) => each.charCodeAt(0))
      : [...textEscapes.keys(), delimiter.charCodeAt(0)]
  for (const code of codes) special[code] = 1
  const nullLength = Buffer.byteLength(nullText)
  return (bytes: Uint8Array, start: number, end: number): boolean => {
    // A value as long as the text for NULL, or as `\\.`, is left to the field writer, which compares it.
    if (format === 'csv' && (end - start === nullLength || end - start === 2)) return false
    for (let at = start; at < end; at++) if (special[bytes[at] ?? 0] === 1) return false
    return true
  }
}

type FieldWriter = (out: MessageWriter, text: Uint8Array, forceQuote: boolean, alone: boolean) => void

function fieldWriter(format: CopyFormat): FieldWriter {
  return format.format === 'csv' ? csvFieldWriter(format) : textFieldWriter(format)
}

/** The letter behind the backslash for each escaped character (CopyAttributeOutText). */
const textEscapes: ReadonlyMap<number, number> = new Map(
  Object.entries({ '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't', '\v': 'v', '\\': '\\' }).map(
    ([character, letter]) => [character.charCodeAt(0), letter.charCodeAt(0)],
  ),
)

function textFieldWriter({ delimiter }: CopyFormat): FieldWriter {
  const delimiterCode = delimiter.charCodeAt(0)
  return (out, text) => {
    out.ensure(text.length * 2)
    for (const each of text) {
      const letter = textEscapes.get(each)
      if (letter !== undefined) {
        out.bytes[out.length++] = 0x5c
        out.bytes[out.length++] = letter
        continue
      }
      if (each === delimiterCode) out.bytes[out.length++] = 0x5c
      out.bytes[out.length++] = each
    }
  }
}

function csvFieldWriter(format: CopyFormat): FieldWriter {
  const { delimiter, nullText } = format
  const quoteCode = format.quote.charCodeAt(0)
  const escapeCode = format.escape.charCodeAt(0)
  const special = new Set([delimiter.charCodeAt(0), quoteCode, 0x0a, 0x0d])
  const nullBytes = Buffer.from(nullText)
  const endOfData = Buffer.from('\\.')
  return (out, text, forceQuote, alone) => {
    const quoted =
      forceQuote ||
      nullBytes.equals(text) ||
      // A line that is only `\.` would mean the end of the data.
      (alone && endOfData.equals(text)) ||
      text.some((each) => special.has(each))
    if (!quoted) {
      out.raw(text)
      return
    }
    out.ensure(text.length * 2 + 2)
    out.bytes[out.length++] = quoteCode
    for (const each of text) {
      if (each === quoteCode || each === escapeCode) out.bytes[out.length++] = escapeCode
      out.bytes[out.length++] = each
    }
    out.bytes[out.length++] = quoteCode
  }
}
