/** Rows of batches as messages: slices, NULLs, and rows that cannot be written. */

import { describe, expect, test } from 'bun:test'
import type { ColumnVector, ResultBatch } from '../../../src/core/result-batch.ts'
import { utf8Values } from '../../../src/core/variable-width.ts'
import { limits } from '../../../src/limits.ts'
import { ByteReader } from '../../../src/wire/postgres/byte-reader.ts'
import { CopyWriter, defaultCopyFormat } from '../../../src/wire/postgres/copy.ts'
import { MessageWriter } from '../../../src/wire/postgres/message-writer.ts'
import { backend, type Format } from '../../../src/wire/postgres/protocol.ts'
import { dataRowWriter, type RowWriter } from '../../../src/wire/postgres/rows.ts'
import { defaultTextOptions } from '../../../src/wire/postgres/text-values.ts'
import { cutMessages } from '../../support/wire-messages.ts'
import { samples, seeded } from './samples.ts'

const seed = 20_261_121
const options = defaultTextOptions

/** The values of DataRows in hexadecimal; null for NULL. */
function cells(bytes: Uint8Array): (string | null)[][] {
  return cutMessages(bytes).map((message) => {
    expect(message.type).toBe(backend.dataRow)
    const reader = new ByteReader(message.bytes.subarray(5))
    const row = Array.from({ length: reader.uint16() }, () => {
      const length = reader.int32()
      return length === -1 ? null : Buffer.from(reader.bytes(length)).toString('hex')
    })
    reader.end()
    return row
  })
}

function writeAll(write: RowWriter, from: number, to: number): { out: MessageWriter; calls: number } {
  const out = new MessageWriter()
  let calls = 0
  for (let row = from; row < to; calls++) row = write(out, row, to)
  return { out, calls }
}

const clearBit = (validity: Uint8Array, row: number) => {
  validity[row >> 3] = (validity[row >> 3] ?? 0) & ~(1 << (row & 7))
}

describe(`rows of seed ${seed}`, () => {
  for (const format of [0, 1] as const satisfies Format[])
    test(`columns of every type side by side are what each is alone, NULL where it has no value (format ${format})`, () => {
      const random = seeded(seed)
      const all = samples(seed)
      const rowCount = Math.min(...all.map((sample) => sample.rowCount))
      const columns = all.map(({ column }) => {
        const validity = new Uint8Array(Math.ceil(rowCount / 8)).fill(255)
        for (let row = 0; row < rowCount; row++) if (random() < 0.4) clearBit(validity, row)
        return { ...column, validity } as ColumnVector
      })
      const together = dataRowWriter({ rowCount, columns }, () => format, options)
      const alone = columns.map((column) => {
        const write = dataRowWriter(
          { rowCount, columns: [{ ...column, validity: undefined }] },
          () => format,
          options,
        )
        return cells(writeAll(write, 0, rowCount).out.view()).map(([value]) => value as string)
      })
      const expected = Array.from({ length: rowCount }, (_, row) =>
        columns.map(({ validity }, index) =>
          ((validity?.[row >> 3] ?? 0) & (1 << (row & 7))) === 0 ? null : alone[index]?.[row],
        ),
      )
      expect(cells(writeAll(together, 0, rowCount).out.view())).toEqual(expected as never)
    })

  test('what stands where a row is NULL is never looked at', () => {
    const validity = Uint8Array.of(0)
    const columns: ColumnVector[] = [
      { type: 'date', values: Int32Array.of(-2_440_589), validity },
      { type: 'timestamp', values: BigInt64Array.of(-210_866_803_200_000_001n), validity },
      { type: 'numeric', values: [1n], scale: 20_000, validity },
    ]
    for (const format of [0, 1] as const)
      expect(
        cells(
          writeAll(
            dataRowWriter({ rowCount: 1, columns }, () => format, options),
            0,
            1,
          ).out.view(),
        ),
      ).toEqual([[null, null, null]])
  })

  test('rows of any length come whole and in order, whatever range is asked for', () => {
    const random = seeded(seed)
    const rowCount = 5_000
    const texts = Array.from({ length: rowCount }, (_, row) =>
      `${row} `.padEnd(random() < 0.01 ? 20_000 : random() * 90, 'ä'),
    )
    const batch: ResultBatch = {
      rowCount,
      columns: [
        { type: 'int4', values: Int32Array.from(texts.keys()) },
        { type: 'text', ...utf8Values(texts) },
      ],
    }
    const write = dataRowWriter(batch, (column) => (column === 0 ? 1 : 0), options)
    const [from, to] = [17, 4_321]
    const { out, calls } = writeAll(write, from, to)
    expect(calls).toBeGreaterThan(10)
    expect(cells(out.view())).toEqual(
      texts
        .slice(from, to)
        .map((text, index) => [
          (index + from).toString(16).padStart(8, '0'),
          Buffer.from(text).toString('hex'),
        ]),
    )
  })

  test('one call writes about as much as is sent at once, and one row at least', () => {
    const texts = Array.from({ length: 64 }, () => 'x'.repeat(limits.pgwireWriteBytes / 4))
    const long = 'x'.repeat(limits.pgwireWriteBytes * 3)
    const column: ColumnVector = { type: 'text', ...utf8Values([...texts, long, long]) }
    const batch = { rowCount: 66, columns: [column] }
    for (const write of [
      dataRowWriter(batch, () => 0, options),
      new CopyWriter(['t'], defaultCopyFormat('text'), options).rowWriter(batch),
    ]) {
      const out = new MessageWriter()
      const end = write(out, 0, 66)
      expect(end).toBeLessThanOrEqual(4)
      expect(out.length).toBeLessThanOrEqual(limits.pgwireWriteBytes * 1.25)
      out.clear()
      expect(write(out, 64, 66)).toBe(65)
    }
  })

  test.each(['DataRow', 'COPY'])('the rows before one that cannot be written are written (%s)', (how) => {
    const days = Int32Array.from({ length: 1_000 }, (_, row) => (row === 777 ? -2_440_589 : row))
    const batch: ResultBatch = { rowCount: 1_000, columns: [{ type: 'date', values: days }] }
    const write =
      how === 'COPY'
        ? new CopyWriter(['d'], defaultCopyFormat('csv'), options).rowWriter(batch)
        : dataRowWriter(batch, () => 0, options)
    const out = new MessageWriter()
    let row = 0
    expect(() => {
      while (row < 1_000) row = write(out, row, 1_000)
    }).toThrow('out of range')
    expect(row).toBe(777)
    expect(cutMessages(out.view())).toHaveLength(777)
  })

  test('a row that is too long is refused, those before it are written', () => {
    const texts = ['short', 'x'.repeat(limits.pgwireRowBytesMax)]
    const batch: ResultBatch = { rowCount: 2, columns: [{ type: 'text', ...utf8Values(texts) }] }
    for (const write of [
      dataRowWriter(batch, () => 0, options),
      new CopyWriter(['t'], defaultCopyFormat('text'), options).rowWriter(batch),
    ]) {
      const out = new MessageWriter()
      expect(write(out, 0, 2)).toBe(1)
      const { length } = out
      expect(() => write(out, 1, 2)).toThrow('A row is longer')
      expect(out.length).toBe(length)
    }
  })
})
