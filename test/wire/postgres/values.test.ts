/** Values in both formats, compared with PostgreSQL itself. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { PGlite } from '@electric-sql/pglite'
import { type ColumnVector, isNull, type ResultBatch } from '../../../src/core/result-batch.ts'
import { typeOid } from '../../../src/core/sql-type.ts'
import { ByteReader } from '../../../src/wire/postgres/byte-reader.ts'
import { intervalStyles } from '../../../src/wire/postgres/interval-text.ts'
import { MessageWriter } from '../../../src/wire/postgres/message-writer.ts'
import { parameterText } from '../../../src/wire/postgres/parameters.ts'
import { backend, type Format } from '../../../src/wire/postgres/protocol.ts'
import { executeFrames } from '../../../src/wire/postgres/relayed-messages.ts'
import { dataRowWriter, type FormatOf } from '../../../src/wire/postgres/rows.ts'
import { defaultTextOptions, type TextOptions } from '../../../src/wire/postgres/text-values.ts'
import { cutMessages, errorState, queryFrames } from '../../support/wire-messages.ts'
import { samples } from './samples.ts'

setDefaultTimeout(300_000)
const seed = 20_251_121

let postgres: PGlite
beforeAll(async () => {
  postgres = await PGlite.create()
  await postgres.execProtocolRaw(queryFrames("set timezone = 'UTC'"))
})
afterAll(() => postgres.close())

/** PostgreSQL's own output of one parameter per column, in a format. */
async function echo(type: string, oid: number, values: readonly Uint8Array[], from: Format, to: Format) {
  const text = `select ${values.map((_, index) => `$${index + 1}::${type}`).join(', ')}`
  const answer = await postgres.execProtocolRaw(
    executeFrames(
      text,
      values.map(() => oid),
      { parameterFormats: [from], parameters: values, resultFormats: [to] },
    ),
  )
  const messages = cutMessages(answer)
  const failed = messages.find((message) => errorState(message) !== undefined)
  if (failed !== undefined) throw new Error(Buffer.from(failed.bytes).toString('latin1'))
  const row = messages.find((message) => message.type === backend.dataRow)
  const reader = new ByteReader((row?.bytes ?? new Uint8Array()).subarray(5))
  return Array.from({ length: reader.uint16() }, () => Buffer.from(reader.bytes(reader.int32())))
}

function written(column: ColumnVector, rowCount: number, format: Format): Buffer[] {
  return rowsOf({ rowCount, columns: [column] }, () => format).map(([value]) => value ?? Buffer.alloc(0))
}

/** The values of a batch's rows as DataRows have them; null for NULL. */
function rowsOf(
  batch: ResultBatch,
  formatOf: FormatOf,
  options: Partial<TextOptions> = {},
): (Buffer | null)[][] {
  const out = new MessageWriter()
  const write = dataRowWriter(batch, formatOf, { ...defaultTextOptions, ...options })
  for (let row = 0; row < batch.rowCount; ) row = write(out, row, batch.rowCount)
  return cutMessages(out.view()).map(({ bytes }) => {
    const reader = new ByteReader(bytes.subarray(5))
    const values = Array.from({ length: reader.uint16() }, () => {
      const length = reader.int32()
      return length === -1 ? null : Buffer.from(reader.bytes(length))
    })
    reader.end()
    return values
  })
}

describe(`values of seed ${seed}`, () => {
  for (const { name, type, column, rowCount } of samples(seed)) {
    test(`${name}: the text is what PostgreSQL prints`, async () => {
      const ours = written(column, rowCount, 0)
      const theirs = await echo(type, typeOid(type), ours, 0, 0)
      expect(ours.map(String)).toEqual(theirs.map(String))
    })

    test(`${name}: PostgreSQL reads the binary as the same value`, async () => {
      const theirs = await echo(type, typeOid(type), written(column, rowCount, 1), 1, 0)
      expect(theirs.map(String)).toEqual(written(column, rowCount, 0).map(String))
    })

    test(`${name}: the binary is byte for byte PostgreSQL's`, async () => {
      const ours = written(column, rowCount, 1)
      const theirs = await echo(type, typeOid(type), written(column, rowCount, 0), 0, 1)
      expect(ours.map((value) => value.toString('hex'))).toEqual(theirs.map((value) => value.toString('hex')))
    })

    test(`${name}: a binary parameter is read as PostgreSQL's text`, async () => {
      const binary = await echo(type, typeOid(type), written(column, rowCount, 0), 0, 1)
      expect(binary.map((value) => parameterText(value, 1, type))).toEqual(
        written(column, rowCount, 0).map(String),
      )
    })
  }

  test.each([0, -3, -14, 2, 3])(
    'extra_float_digits %d rounds as PostgreSQL does',
    async (extraFloatDigits) => {
      for (const { type, column, rowCount } of samples(seed).filter(({ column }) =>
        /^float/.test(column.type),
      )) {
        const batch = { rowCount, columns: [column] }
        const ours = rowsOf(batch, () => 0, { extraFloatDigits }).map(([value]) => String(value))
        await postgres.execProtocolRaw(queryFrames(`set extra_float_digits = ${extraFloatDigits}`))
        const theirs = await echo(type, typeOid(type), written(column, rowCount, 1), 1, 0)
        await postgres.execProtocolRaw(queryFrames('reset extra_float_digits'))
        expect(ours).toEqual(theirs.map(String))
      }
    },
  )

  test.each(intervalStyles)('intervals of the style %s are what PostgreSQL prints', async (intervalStyle) => {
    const parts = [0, 1, -1, 11, -13, 25]
    const times = [
      0n,
      1n,
      -1n,
      999_999n,
      1_000_000n,
      -61_500_000n,
      3_600_000_000n,
      -3_600_000_000n,
      7_384_000_000n,
    ]
    const cases = parts.flatMap((months) =>
      parts.flatMap((days) => times.map((micros) => ({ months, days, micros }))),
    )
    const edges: ColumnVector = {
      type: 'interval',
      months: Int32Array.from(cases, ({ months }) => months),
      days: Int32Array.from(cases, ({ days }) => days),
      micros: BigInt64Array.from(cases, ({ micros }) => micros),
    }
    const random = samples(seed).filter(({ type }) => type === 'interval')
    expect(random).not.toBeEmpty()
    for (const { column, rowCount } of [...random, { column: edges, rowCount: cases.length }]) {
      const batch = { rowCount, columns: [column] }
      const ours = rowsOf(batch, () => 0, { intervalStyle }).map(([value]) => String(value))
      await postgres.execProtocolRaw(queryFrames(`set intervalstyle = ${intervalStyle}`))
      const theirs = await echo('interval', typeOid('interval'), written(column, rowCount, 1), 1, 0)
      await postgres.execProtocolRaw(queryFrames('reset intervalstyle'))
      expect(ours).toEqual(theirs.map(String))
    }
  })

  test('a date before the calendar of PostgreSQL is refused in both formats', () => {
    const day: ColumnVector = { type: 'date', values: Int32Array.of(-2_440_589) }
    const instant: ColumnVector = { type: 'timestamp', values: BigInt64Array.of(-210_866_803_200_000_001n) }
    for (const column of [day, instant])
      for (const format of [0, 1] as const) expect(() => written(column, 1, format)).toThrow('out of range')
  })

  test('a parameter that is cut short or too long is refused, whatever its type', async () => {
    for (const { type, column, rowCount } of samples(seed)) {
      const [first] = written(column, rowCount, 1)
      if (first === undefined || ['text', 'varchar', 'json', 'bytea', 'jsonb'].includes(type)) continue
      expect(() => parameterText(first.subarray(0, -1), 1, type)).toThrow('incorrect binary data')
      expect(() => parameterText(Buffer.concat([first, Buffer.of(0)]), 1, type)).toThrow(
        'incorrect binary data',
      )
    }
  })

  test('a binary time that is none is refused as PostgreSQL refuses it', async () => {
    for (const micros of [-1n, 86_400_000_001n, 2n ** 62n]) {
      const bytes = Buffer.alloc(8)
      bytes.writeBigInt64BE(micros)
      expect(() => parameterText(bytes, 1, 'time')).toThrow('time out of range')
      expect(String(await echo('time', typeOid('time'), [bytes], 1, 0).catch(String))).toContain('22008')
    }
    const midnight = Buffer.alloc(8)
    midnight.writeBigInt64BE(86_400_000_000n)
    expect(parameterText(midnight, 1, 'time')).toBe('24:00:00')
  })

  test('text that is not UTF-8 or holds a zero byte is no parameter', () => {
    for (const bytes of [Uint8Array.of(0xff), Uint8Array.of(0x61, 0)])
      expect(() => parameterText(bytes, 0, 'text')).toThrow('invalid byte sequence')
  })

  test('a value without a bit in the validity is NULL', () => {
    const column: ColumnVector = { type: 'int4', values: Int32Array.of(1, 2), validity: Uint8Array.of(0b10) }
    expect([isNull(column, 0), isNull(column, 1)]).toEqual([true, false])
  })
})
