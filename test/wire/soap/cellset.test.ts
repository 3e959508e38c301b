import { describe, expect, test } from 'bun:test'
import { type Dataset, writeDataset } from '../../../src/wire/soap/cellset.ts'
import { envelopeEnd, envelopeStart } from '../../../src/wire/soap/write-envelope.ts'
import { readAnswer } from '../../support/xmla.ts'

const member = (hierarchy: string, uniqueName: string, properties: readonly (string | null)[] = []) => ({
  ...{ hierarchy, uniqueName, caption: uniqueName, levelUniqueName: `${hierarchy}.[L]`, levelNumber: 1 },
  ...{ displayInfo: 0x2_0000, properties },
})

const dataset: Dataset = {
  cubeName: 'a & b',
  dataUpdatedAt: new Date(0),
  schemaUpdatedAt: new Date(0),
  axes: [
    {
      hierarchies: [{ uniqueName: '[D].[H]', properties: ['PARENT_UNIQUE_NAME', 'MEMBER KEY'] }],
      tuples: [
        [member('[D].[H]', '[D].[H].[All]', [null, '<'])],
        [member('[D].[H]', '[D].[H].&[x]]y]', ['[D].[H].[All]', null])],
      ],
    },
  ],
  slicer: {
    hierarchies: [{ uniqueName: '[Measures]', properties: [] }],
    tuples: [[member('[Measures]', '[Measures].[m]')]],
  },
  cellProperties: ['VALUE', 'FORMAT_STRING', 'LANGUAGE', 'BACK_COLOR'],
  cells: [{ ordinal: 1, type: 'double', value: 1.5, formatted: '1.50', format: '0.00' }],
}

function read(given: Dataset) {
  const body = [
    envelopeStart('Execute', undefined),
    ...writeDataset(given, 'SchemaData'),
    envelopeEnd('Execute'),
  ].join('')
  const flags = ['x-transport-caps-negotiation-flags', 'x-ms-xmlacaps-negotiation-flags']
  const headers = new Map([
    ...flags.map((name) => [name, '0,0,0,0,0'] as const),
    ['content-type', 'text/xml'] as const,
  ])
  return { body, answer: readAnswer({ status: 200, headers, body }) }
}

describe('a dataset', () => {
  test('is read by its declarations, with a slicer and sparse cells', () => {
    const { answer } = read(dataset)
    expect(answer.kind === 'dataset' && answer.dataset.axes).toEqual([
      [['[D].[H].[All]'], ['[D].[H].&[x]]y]']],
      [['[Measures].[m]']],
    ])
    expect(answer.kind === 'dataset' && [...answer.dataset.cells]).toEqual([[1, '1.5']])
  })

  test('gives a member each property that is declared, also one without a value', () => {
    const { body } = read(dataset)
    expect(body).toContain(
      '<PARENT_UNIQUE_NAME></PARENT_UNIQUE_NAME><MEMBER_x0020_KEY>&lt;</MEMBER_x0020_KEY>',
    )
  })

  test('tells when data and schema were changed, each where that is told', () => {
    const update = (text: string, name: string) => new RegExp(`<${name} [^>]*>([^<]*)<`).exec(text)?.[1]
    const { body } = read({ ...dataset, dataUpdatedAt: new Date('2026-01-02T03:04:05.678Z') })
    expect(update(body, 'LastDataUpdate')).toBe('2026-01-02T03:04:05')
    expect(update(body, 'LastSchemaUpdate')).toBe('1970-01-01T00:00:00')
    expect(update(read({ ...dataset, dataUpdatedAt: undefined }).body, 'LastDataUpdate')).toBeUndefined()
  })

  test('has no nil, and a type for every value', () => {
    const { body } = read(dataset)
    expect(body).not.toContain('nil')
    expect(body).toContain('<Value xsi:type="xsd:double">1.5</Value>')
  })

  const crashes: readonly (readonly [string, (body: string) => string])[] = [
    [
      'a child that is not declared',
      (body) =>
        body.replace(
          '</DisplayInfo><PARENT',
          '</DisplayInfo><CHILDREN_CARDINALITY>1</CHILDREN_CARDINALITY><PARENT',
        ),
    ],
    ['a property that is missing', (body) => body.replace('<PARENT_UNIQUE_NAME></PARENT_UNIQUE_NAME>', '')],
    [
      'a cell that is nil',
      (body) => body.replace('<Value xsi:type="xsd:double">1.5', '<Value xsi:nil="true">'),
    ],
    ['a value without a type', (body) => body.replace(' xsi:type="xsd:double"', '')],
    ['no schema', (body) => body.replace(/<xsd:schema.*<\/xsd:schema>/s, '')],
    ['no slicer', (body) => body.replace(/<Axis name="SlicerAxis">.*?<\/Axis>/s, '')],
    ['an ordinal beyond the axes', (body) => body.replace('CellOrdinal="1"', 'CellOrdinal="2"')],
    [
      'a property that is declared twice',
      (body) => body.replace(/(<PARENT_UNIQUE_NAME name="[^"]*"\/>)/, '$1$1'),
    ],
  ]
  test.each(crashes)('is refused by the reader with %s', (_, change) => {
    const { body } = read(dataset)
    const changed = change(body)
    expect(changed).not.toBe(body)
    const headers = new Map([
      ['x-transport-caps-negotiation-flags', '0,0,0,0,0'],
      ['x-ms-xmlacaps-negotiation-flags', '0,0,0,0,0'],
      ['content-type', 'text/xml'],
    ])
    expect(() => readAnswer({ status: 200, headers, body: changed })).toThrow()
  })
})
