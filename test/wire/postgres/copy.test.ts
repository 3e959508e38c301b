/** COPY … TO STDOUT, compared with PostgreSQL itself. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { PGlite } from '@electric-sql/pglite'
import type { ColumnVector, ResultBatch } from '../../../src/core/result-batch.ts'
import { utf8Values } from '../../../src/core/variable-width.ts'
import { type CopyFormat, CopyWriter, defaultCopyFormat } from '../../../src/wire/postgres/copy.ts'
import { MessageWriter } from '../../../src/wire/postgres/message-writer.ts'
import { backend } from '../../../src/wire/postgres/protocol.ts'
import { defaultTextOptions } from '../../../src/wire/postgres/text-values.ts'
import { cutMessages, queryFrames } from '../../support/wire-messages.ts'

setDefaultTimeout(300_000)

let postgres: PGlite
beforeAll(async () => {
  postgres = await PGlite.create()
})
afterAll(() => postgres.close())

const texts = [
  'plain',
  '',
  'tab\tnew\nreturn\rback\b\f\v',
  'a\\b',
  '"q"',
  'semi;comma,',
  '\\N',
  '\\.',
  "it's",
  'ä€😀',
  'NULL',
]
const rowCount = texts.length
const validity = new Uint8Array(2).fill(255)
validity[0] = 0b1111_1011
const batch: ResultBatch = {
  rowCount,
  columns: [
    { type: 'int4', values: Int32Array.from(texts.keys()) },
    { type: 'text', ...utf8Values(texts) },
    {
      type: 'numeric',
      values: BigInt64Array.from(texts, (_, index) => BigInt(index * 1250)),
      scale: 2,
      validity,
    },
  ],
}
const names = ['id', 'a "name"', 'n']
const literal = (text: string) => `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
const rows = texts.map((text, index) => {
  const amount = index === 2 ? 'null' : `${index * 1250}::numeric / 100`
  return `(${index}, ${literal(text)}, (${amount})::numeric(12, 2))`
})
const source = `(select * from (values ${rows.join(', ')}) v (id, "a ""name""", n))`

/** The bodies of the CopyData messages, and the CopyOutResponse. */
function bodies(bytes: Uint8Array): { readonly response: string; readonly data: readonly string[] } {
  const messages = cutMessages(bytes)
  const data = messages.filter(({ type }) => type === backend.copyData).map((each) => each.bytes.subarray(5))
  const response = messages.find(({ type }) => type === backend.copyOutResponse)
  return {
    response: Buffer.from(response?.bytes ?? new Uint8Array()).toString('hex'),
    data: data.map((each) => Buffer.from(each).toString('latin1')),
  }
}

function ours(format: CopyFormat, of: ResultBatch = batch, columns = names): ReturnType<typeof bodies> {
  const out = new MessageWriter()
  const copy = new CopyWriter(columns, format, defaultTextOptions)
  copy.begin(out)
  const write = copy.rowWriter(of)
  for (let row = 0; row < of.rowCount; ) row = write(out, row, of.rowCount)
  copy.end(out)
  return bodies(out.view())
}

async function theirs(options: string, from = source): Promise<ReturnType<typeof bodies>> {
  return bodies(await postgres.execProtocolRaw(queryFrames(`copy ${from} to stdout (${options})`)))
}

describe('COPY', () => {
  const cases: [options: string, format: CopyFormat][] = [
    ['format text', defaultCopyFormat('text')],
    ['format text, header', { ...defaultCopyFormat('text'), header: true }],
    ["format text, delimiter ',', null ''", { ...defaultCopyFormat('text'), delimiter: ',', nullText: '' }],
    ["format text, delimiter E'\\t', null 'x'", { ...defaultCopyFormat('text'), nullText: 'x' }],
    ['format csv', defaultCopyFormat('csv')],
    ['format csv, header', { ...defaultCopyFormat('csv'), header: true }],
    [
      "format csv, delimiter ';', null 'NULL'",
      { ...defaultCopyFormat('csv'), delimiter: ';', nullText: 'NULL' },
    ],
    ["format csv, quote '''', escape '\\'", { ...defaultCopyFormat('csv'), quote: "'", escape: '\\' }],
    ['format csv, force_quote *', { ...defaultCopyFormat('csv'), forceQuote: 'all' }],
    ['format csv, force_quote (id)', { ...defaultCopyFormat('csv'), forceQuote: new Set(['id']) }],
    ['format binary', defaultCopyFormat('binary')],
  ]
  test.each(cases)('(%s) sends the bytes that PostgreSQL sends', async (options, format) => {
    expect(ours(format)).toEqual(await theirs(options))
  })

  test('an empty result has the binary header and trailer in one message', async () => {
    const none = { rowCount: 0, columns: batch.columns }
    expect(ours(defaultCopyFormat('binary'), none)).toEqual(
      await theirs('format binary', `(select * from ${source} t where false)`),
    )
  })

  test('a line of \\. alone is quoted in CSV', async () => {
    const column: ColumnVector = { type: 'text', ...utf8Values(['\\.']) }
    expect(ours(defaultCopyFormat('csv'), { rowCount: 1, columns: [column] }, ['v']).data).toEqual([
      '"\\."\n',
    ])
  })
})
