/**
 * Documents of Apache Ossie of each version that is read. They have the shapes of the example `tpcds_semantic_model.yaml`
 * and of the schema in the repository apache/ossie, at the tag `osi-0.1.1-rc1`, at 88e0011 (0.2.0.dev0 with a list of
 * models) and after pull request 383 (0.2.0.dev0 as one model), with other names.
 */

import { describe, expect, test } from 'bun:test'
import { readInterchange } from '../../../src/semantics/interchange/read-interchange.ts'

function outcomeOf(document: object) {
  return readInterchange({ format: 'ossie', files: [{ name: '', text: JSON.stringify(document) }] })
}
function read(document: object) {
  const outcome = outcomeOf(document)
  if (outcome.kind === 'refused') throw new Error(JSON.stringify(outcome.problems))
  const { tables, metrics, notCarried, kept } = outcome.draft
  return { tables, metrics, kept, lost: notCarried.map(({ at, why }) => `${at}: ${why}`) }
}
function refusal(document: object) {
  const outcome = outcomeOf(document)
  return outcome.kind === 'refused' ? outcome.problems.map(({ path, message }) => `${path}: ${message}`) : []
}

const ansi = (expression: string) => ({ dialects: [{ dialect: 'ANSI_SQL', expression }] })
const field = (name: string, more: object = {}) => ({ name, expression: ansi(name), ...more })

/** A model without types. @param typed members of the fields and metrics beside */
function modelOf(typed: (datatype: string) => object = () => ({})) {
  return {
    name: 'rentals_model',
    description: 'Rentals of bicycles',
    ai_context: { instructions: 'Use it for rentals.', synonyms: ['hires'] },
    datasets: [
      {
        name: 'rentals',
        source: 'city.public.rentals',
        primary_key: ['rental_id'],
        unique_keys: [['rental_id']],
        fields: [
          field('began_on', { dimension: { is_time: true }, ...typed('Date') }),
          field('station_id', { dimension: { is_time: false }, ...typed('Integer') }),
          field('fee', { description: 'What was paid', ...typed('Decimal') }),
        ],
      },
      {
        name: 'stations',
        source: 'city.public.stations',
        primary_key: ['id'],
        fields: [field('id'), field('district', { dimension: {}, ...typed('String') })],
      },
    ],
    relationships: [
      { name: 'station', from: 'rentals', to: 'stations', from_columns: ['station_id'], to_columns: ['id'] },
    ],
    metrics: [
      { name: 'fees', expression: ansi('SUM(rentals.fee)'), description: 'Fees', ...typed('Decimal') },
    ],
    custom_extensions: [{ vendor_name: 'DBT', data: '{"project_name":"city"}' }],
  }
}
const typed = modelOf((datatype) => ({ datatype }))

describe('Apache Ossie', () => {
  test.each([
    ['0.1.1, with its list of models', { version: '0.1.1', semantic_model: [modelOf()] }],
    [
      '0.1.1, with the lists of what it knows',
      {
        ...{
          version: '0.1.1',
          dialects: ['ANSI_SQL'],
          vendors: ['COMMON', 'DBT'],
          semantic_model: [modelOf()],
        },
      },
    ],
    ['0.2.0.dev0, with a list of models', { version: '0.2.0.dev0', semantic_model: [typed] }],
    ['0.2.0.dev0, as one model', { version: '0.2.0.dev0', ...typed }],
  ])('%s is read', (_, document) => {
    const { tables, metrics } = read(document)
    expect(tables.map(({ table, body }) => [table.name, body.key, body.time_dimension])).toEqual([
      ['stations', ['id'], undefined],
      ['rentals', ['rental_id'], 'began_on'],
    ])
    expect(tables[1]?.body.dimensions).toEqual([
      { name: 'began_on', kind: 'time' },
      { name: 'station_id', kind: 'categorical' },
    ])
    expect(tables[1]?.body.relationships.map(({ name }) => name)).toEqual(['station'])
    expect(metrics.map(({ name, body }) => [name, body.expression, body.description])).toEqual([
      ['fees', 'SUM(fee)', 'Fees'],
    ])
  })

  test('lists every type of 0.2 as not exported, at its place', () => {
    const why = 'It is not exported, because 0.1.1 has no types'
    const types = ({ lost }: ReturnType<typeof read>) => lost.filter((line) => line.includes('datatype'))
    expect(types(read({ version: '0.2.0.dev0', ...typed }))).toEqual([
      ...['0/fields/0', '0/fields/1', '0/fields/2', '1/fields/1'].map(
        (at) => `/datasets/${at}/datatype: ${why}`,
      ),
      `/metrics/0/datatype: ${why}`,
    ])
    expect(types(read({ version: '0.2.0.dev0', semantic_model: [typed] }))[0]).toBe(
      `/semantic_model/0/datasets/0/fields/0/datatype: ${why}`,
    )
  })

  test('has no types in 0.1.1, where they say nothing', () => {
    const document = { version: '0.1.1', semantic_model: [typed] }
    expect(read(document).lost).toContain(
      '/semantic_model/0/datasets/0/fields/0/datatype: It has no meaning here',
    )
  })

  test('keeps a model of 0.2 for the export without its types, and one of 0.1.1 whole', () => {
    for (const document of [
      { version: '0.2.0.dev0', ...typed },
      { version: '0.2.0.dev0', semantic_model: [typed] },
      { version: '0.1.1', semantic_model: [modelOf()] },
    ])
      expect(read(document).kept.map(({ name, json }) => [name, JSON.parse(json)])).toEqual([
        ['rentals_model', modelOf()],
      ])
  })

  test.each([
    ['a date is a time', { dimension: {}, datatype: 'Date' }, 'time'],
    ['a date is one without `dimension` too', { datatype: 'DateTimeTz' }, 'time'],
    [
      'a date that says it is none is none',
      { dimension: { is_time: false }, datatype: 'DateTime' },
      'categorical',
    ],
    ['a year that is a number groups', { dimension: { is_time: true }, datatype: 'Integer' }, 'categorical'],
    ['a time of day groups', { dimension: {}, datatype: 'Time' }, 'categorical'],
    ['a text is no time', { dimension: {}, datatype: 'String' }, 'categorical'],
    ['a number without `dimension` is no dimension', { datatype: 'Integer' }, undefined],
    ['an unknown type says nothing', { dimension: {}, datatype: 'date' }, 'categorical'],
  ])('0.2: %s', (_, more, kind) => {
    const datasets = [{ name: 'rentals', source: 'city.public.rentals', fields: [field('one', more)] }]
    const { tables, lost } = read({ version: '0.2.0.dev0', name: 'm', datasets })
    expect(tables[0]?.body.dimensions[0]?.kind).toBe(kind as 'time')
    expect(lost.some((line) => line.startsWith('/datasets/0/fields/0/datatype: '))).toBe(true)
    expect(lost.some((line) => line.includes('no dates'))).toBe(
      'dimension' in more && ['Integer', 'Time'].includes(more.datatype),
    )
  })

  test.each([
    [
      '0.1',
      { version: '0.1', semantic_model: [] },
      '/version: Version "0.1" is not supported; 0.1.1 and 0.2.0.dev0 are',
    ],
    [
      '1.0',
      { version: '1.0', semantic_model: [] },
      '/version: Version "1.0" is not supported; 0.1.1 and 0.2.0.dev0 are',
    ],
    [
      'a number',
      { version: 0.2, name: 'm', datasets: [] },
      '/version: Version 0.2 is not supported; 0.1.1 and 0.2.0.dev0 are',
    ],
    [
      '0.2.0, which no release is established of',
      { version: '0.2.0', name: 'm', datasets: [] },
      '/version: Version "0.2.0" is not supported; 0.1.1 and 0.2.0.dev0 are',
    ],
    [
      'a model without a list in 0.1.1',
      { version: '0.1.1', name: 'm', datasets: [] },
      '/semantic_model: It must be a list',
    ],
    ['a model without datasets in 0.2', { version: '0.2.0.dev0', name: 'm' }, '/datasets: It must be a list'],
    [
      'both forms of 0.2 at once',
      { version: '0.2.0.dev0', name: 'm', datasets: [], semantic_model: [] },
      '/datasets: A document has a list of models, or is one',
    ],
  ])('%s is refused by name', (_, document, message) => {
    expect(refusal(document)).toEqual([message])
  })
})
