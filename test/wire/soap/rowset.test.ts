import { describe, expect, test } from 'bun:test'
import { type RowsetColumn, rowsetEnd, rowsetStart, writeRow } from '../../../src/wire/soap/rowset.ts'
import { envelopeEnd, envelopeStart } from '../../../src/wire/soap/write-envelope.ts'
import { readAnswer } from '../../support/xmla.ts'

const columns: readonly RowsetColumn[] = [
  { name: 'NAME', type: 'string', optional: false },
  { name: 'a b', type: 'int', optional: true },
  {
    ...{ name: 'Restrictions', type: 'string', optional: true },
    nested: [{ name: 'Name', type: 'string', optional: true }],
  },
  { name: 'AT', type: 'dateTime', optional: true },
]
const headers = new Map([
  ['x-transport-caps-negotiation-flags', '0,0,0,0,0'],
  ['x-ms-xmlacaps-negotiation-flags', '0,0,0,0,0'],
  ['content-type', 'text/xml'],
])
const bodyOf = (...rows: readonly string[]) =>
  `${envelopeStart('Discover', undefined)}${rowsetStart(columns, 'SchemaData')}${rows.join('')}${rowsetEnd}${envelopeEnd('Discover')}`
const read = (body: string) => readAnswer({ status: 200, headers, body })

describe('a rowset', () => {
  test('is read by position against its schema', () => {
    const rows = [
      writeRow(columns, ['<x>', 1, [['p'], ['q']], new Date(0)]),
      writeRow(columns, ['y', undefined, [], undefined]),
    ]
    expect(read(bodyOf(...rows))).toMatchObject({
      columns: ['NAME', 'a b', 'Restrictions', 'AT'],
      rows: [
        { NAME: '<x>', 'a b': '1', Restrictions: [{ Name: 'p' }, { Name: 'q' }], AT: '1970-01-01T00:00:00' },
        { NAME: 'y' },
      ],
    })
  })

  test('is not written with a row that its schema does not declare', () => {
    expect(() => writeRow(columns, [undefined, 1, [], undefined])).toThrow()
    expect(() => writeRow(columns, ['x', 1])).toThrow()
  })

  test.each([
    ['columns in another order', '<row><a_x0020_b>1</a_x0020_b><NAME>x</NAME></row>'],
    ['a column that is not declared', '<row><NAME>x</NAME><OTHER>x</OTHER></row>'],
    ['a column that is missing', '<row><a_x0020_b>1</a_x0020_b></row>'],
    ['a value of another type', '<row><NAME>x</NAME><a_x0020_b>one</a_x0020_b></row>'],
    [
      'restrictions that are not nested',
      '<row><NAME>x</NAME><Restrictions><Other>p</Other></Restrictions></row>',
    ],
  ])('is refused by the reader with %s', (_, row) => {
    expect(() => read(bodyOf(row))).toThrow()
  })
})
