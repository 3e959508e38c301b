/** What the parts of a document of the Data Contract Specification become in ODCS, and what is refused with its place. */

import { describe, expect, test } from 'bun:test'
import { performDocumentTask } from '../../../src/wire/odcs/document-task.ts'
import { fromDcs } from '../../../src/wire/odcs/from-dcs.ts'
import { DocumentRefusal } from '../../../src/wire/odcs/problem.ts'
import { plainValue, readDocument } from '../../../src/wire/odcs/read-document.ts'
import { encode } from './fixtures.ts'

const head = `dataContractSpecification: 1.2.1
id: orders
info: { title: Orders, version: 1.0.0 }
`
// biome-ignore lint/suspicious/noExplicitAny: members of a made document are read by name
type Made = Record<string, any>

const convert = (text: string) =>
  plainValue(readDocument(fromDcs(readDocument(encode(head + text), 'yaml')), 'yaml').value) as Made

const field = (text: string) => convert(`models: { t: { fields: { c: ${text} } } }`).schema[0].properties[0]

function refusal(text: string): string {
  try {
    fromDcs(readDocument(encode(text), 'yaml'))
  } catch (thrown) {
    if (!(thrown instanceof DocumentRefusal)) throw thrown
    const [{ line, message } = { message: '' }] = thrown.problems
    return `${line}: ${message}`
  }
  return 'converted'
}

describe('a document', () => {
  test('is a draft of the standard with its title and version, and is accepted', () => {
    const bytes = fromDcs(readDocument(encode(head), 'yaml'))
    expect(performDocumentTask({ kind: 'read', bytes, format: 'yaml' }).kind).toBe('read')
    expect(convert('')).toEqual({
      ...{ apiVersion: 'v3.2.0', kind: 'DataContract', id: 'orders', name: 'Orders', version: '1.0.0' },
      status: 'draft',
    })
  })

  test('has its owner as the team, its contact as support and its terms in the description', () => {
    const { team, support, description, customProperties } = plainValue(
      readDocument(
        fromDcs(
          readDocument(
            encode(`dataContractSpecification: 1.1.0
id: a
info:
  title: A
  version: 1.0.0
  status: active
  owner: shop
  contact: { name: Ann, url: https://example.org/, email: ann@example.org }
terms: { usage: Reports, limitations: None, billing: free, policies: [ { name: privacy, url: https://example.org/p } ] }
`),
            'yaml',
          ),
        ),
        'yaml',
      ).value,
    ) as Made
    expect(team).toEqual({ name: 'shop' })
    expect(support).toEqual([
      { channel: 'Ann', url: 'https://example.org/' },
      { channel: 'Ann', url: 'mailto:ann@example.org', tool: 'email' },
    ])
    expect(description).toEqual({
      usage: 'Reports',
      limitations: 'None',
      authoritativeDefinitions: [{ url: 'https://example.org/p', type: 'privacy' }],
    })
    expect(customProperties).toEqual([{ property: 'terms.billing', value: 'free' }])
  })

  test('has levels of service with numbers and units', () => {
    const { slaProperties } = convert(`servicelevels:
  availability: { description: Mostly there, percentage: 99.9% }
  retention: { period: P1Y, unlimited: false }
  freshness: { threshold: 25h, timestampField: orders.at }
  support: { time: on business days, responseTime: 1h }
`)
    expect(slaProperties).toEqual([
      { property: 'availability', value: 99.9, unit: '%', description: 'Mostly there' },
      { property: 'retention', value: 1, unit: 'years' },
      { property: 'retention.unlimited', value: false },
      { property: 'freshness', value: 25, unit: 'h', element: 'orders.at' },
      { property: 'support', value: 'on business days' },
      { property: 'support.responseTime', value: 1, unit: 'h' },
    ])
  })

  test('has servers of their types; one that lacks something, or has a type of its own, is a custom one', () => {
    const { servers } = convert(`servers:
  whole: { type: postgres, host: db, port: "5432", database: shop, schema: public, driver: x }
  lacking: { type: snowflake, database: shop }
  own: { type: gcs, location: "gs://b/", roles: [ { name: reader } ] }
`)
    expect(servers).toEqual([
      {
        ...{ server: 'whole', type: 'postgres', host: 'db', port: 5432, database: 'shop', schema: 'public' },
        customProperties: [{ property: 'driver', value: 'x' }],
      },
      {
        ...{ server: 'lacking', type: 'custom', database: 'shop' },
        customProperties: [{ property: 'type', value: 'snowflake' }],
      },
      {
        ...{ server: 'own', type: 'custom', location: 'gs://b/', roles: [{ role: 'reader' }] },
        customProperties: [{ property: 'type', value: 'gcs' }],
      },
    ])
  })
})

describe('a field', () => {
  test.each([
    ['string', 'string'],
    ['varchar', 'string'],
    ['decimal', 'number'],
    ['long', 'integer'],
    ['boolean', 'boolean'],
    ['date', 'date'],
    ['record', 'object'],
    ['bytes', undefined],
    ['variant', undefined],
  ])('of the type %s has the logical type %s', (type, logicalType) => {
    expect([field(`{ type: ${type} }`).logicalType, field(`{ type: ${type} }`).physicalType]).toEqual([
      logicalType,
      type,
    ])
  })

  test('has its zone, size, bounds and pattern', () => {
    expect(field('{ type: timestamp_tz }').logicalTypeOptions).toEqual({ timezone: true })
    expect(field('{ type: timestamp_ntz }').logicalTypeOptions).toEqual({ timezone: false })
    expect(field('{ type: decimal, precision: 10, scale: 2 }').physicalType).toBe('decimal(10,2)')
    expect(field('{ type: string, minLength: 1, pattern: x, format: email }').logicalTypeOptions).toEqual({
      ...{ minLength: 1, pattern: 'x', format: 'email' },
    })
    expect(field('{ type: integer, minimum: 1, exclusiveMaximum: 9 }').logicalTypeOptions).toEqual({
      ...{ minimum: 1, exclusiveMaximum: 9 },
    })
  })

  test('is in the key by itself, or by the list of its model with its position', () => {
    expect(field('{ type: int, primaryKey: true }')).toMatchObject({ primaryKey: true })
    const { properties } = convert(
      'models: { t: { primaryKey: [ b, a ], fields: { a: { type: int }, b: { type: int } } } }',
    ).schema[0]
    expect(properties.map((one: Made) => one.primaryKeyPosition)).toEqual([2, 1])
  })

  test('has its values, references, examples, tags and what the standard has no place for', () => {
    expect(
      field('{ type: text, enum: [ a, b ], references: o.id, example: x, pii: true, tags: [ t ], other: 1 }'),
    ).toEqual({
      ...{ name: 'c', logicalType: 'string', physicalType: 'text', tags: ['t', 'pii'], examples: ['x'] },
      enum: [{ value: 'a' }, { value: 'b' }],
      relationships: [{ type: 'foreignKey', to: 'o.id' }],
      customProperties: [{ property: 'other', value: 1 }],
    })
  })

  test('has fields, items and the sides of a map', () => {
    expect(field('{ type: object, fields: { a: { type: int } } }').properties).toEqual([
      { name: 'a', logicalType: 'integer', physicalType: 'int' },
    ])
    expect(field('{ type: array, items: { type: string } }').items).toEqual({
      ...{ logicalType: 'string', physicalType: 'string' },
    })
    expect(field('{ type: map, keys: { type: string }, values: { type: long } }').map).toEqual({
      key: { logicalType: 'string', physicalType: 'string' },
      value: { logicalType: 'integer', physicalType: 'long' },
    })
  })

  test('stands over the definition that it refers to', () => {
    const { schema } =
      convert(`definitions: { number: { name: number, type: string, maxLength: 9, title: Number } }
models: { t: { fields: { c: { $ref: "#/definitions/number", title: Own } } } }
`)
    expect(schema[0].properties[0]).toEqual({
      ...{ name: 'c', businessName: 'Own', logicalType: 'string', physicalType: 'string' },
      logicalTypeOptions: { maxLength: 9 },
    })
  })

  test('has its quality rules, with the comparisons of the standard', () => {
    const { quality } = field(`{ type: int, quality: [
      { type: sql, query: select 1, mustBeGreaterThanOrEqualTo: 1, mine: 2 },
      { type: library, rule: duplicateCount, mustBe: 0 },
      { type: text, description: Looks right },
      { type: custom, engine: soda, implementation: x } ] }`)
    expect(quality).toEqual([
      {
        ...{ type: 'sql', query: 'select 1', mustBeGreaterOrEqualTo: 1 },
        customProperties: [{ property: 'mine', value: 2 }],
      },
      { type: 'library', metric: 'duplicateValues', mustBe: 0 },
      { type: 'text', description: 'Looks right' },
      { type: 'custom', engine: 'soda', implementation: 'x' },
    ])
  })
})

test.each([
  ['no id', 'dataContractSpecification: 1.1.0\ninfo: { version: 1.0.0 }\n', '1: The field id is missing'],
  ['another version', 'dataContractSpecification: 2.0.0\n', '1: The version must be 0.9 or 1.x'],
  ['models that are a list', `${head}models: [ a ]\n`, '4: The value must be an object'],
  [
    'a reference into another file',
    `${head}models: { t: { fields: { c: { $ref: other.yaml } } } }\n`,
    '4: Only a reference into the same document is read: #/definitions/…',
  ],
  [
    'a reference that leads nowhere',
    `${head}models: { t: { fields: { c: { $ref: "#/definitions/x" } } } }\n`,
    '4: The reference leads to nothing',
  ],
  [
    'a reference that leads back',
    `${head}definitions: { x: { $ref: "#/definitions/x" } }\nmodels: { t: { fields: { c: { $ref: "#/definitions/x" } } } }\n`,
    '5: The reference leads back to itself',
  ],
  [
    'a rule without a comparison',
    `${head}models: { t: { quality: [ { type: sql, query: select 1 } ] } }\n`,
    'undefined: What it becomes is no document of the standard: /schema/0/quality/0: One of the fields mustBe, mustNotBe, mustBeGreaterThan, mustBeGreaterOrEqualTo, mustBeLessThan, mustBeLessOrEqualTo, mustBeBetween, mustNotBeBetween is needed',
  ],
])('%s is refused with its line', (_, text, message) => {
  expect(refusal(text)).toBe(message)
})
