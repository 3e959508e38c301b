import { describe, expect, test } from 'bun:test'
import type { Fault } from '../../src/base/fault.ts'
import type { LineageName } from '../../src/core/lineage.ts'
import { limits } from '../../src/limits.ts'
import { parseLineageEvent } from '../../src/lineage/parse-event.ts'
import { lineageEvent, producer } from '../support/lineage.ts'

const receivedAtMs = 1_750_000_000_000
const parse = (event: unknown) =>
  parseLineageEvent(Buffer.from(typeof event === 'string' ? event : JSON.stringify(event)), receivedAtMs)
const refusal = (event: unknown) => {
  try {
    parse(event)
  } catch (error) {
    return `${(error as Fault).kind}: ${(error as Fault).publicMessage}`
  }
  return 'accepted'
}
const without = (key: string) => {
  const { [key as 'run']: _, ...rest } = lineageEvent({})
  return rest
}

describe('required fields', () => {
  test.each(['eventType', 'producer', 'run'])('%s is required', (key) => {
    expect(refusal(without(key))).toMatch(/^bad_request: .*required\./)
    expect(refusal({ ...lineageEvent({}), [key]: null })).toStartWith('bad_request')
    expect(refusal({ ...lineageEvent({}), [key]: '' })).toStartWith('bad_request')
    expect(refusal({ ...lineageEvent({}), [key]: 7 })).toStartWith('bad_request')
  })

  test('everything else may be absent or null', () => {
    const bare = { eventType: 'START', producer, run: { runId: crypto.randomUUID() } }
    expect(parse(bare)).toMatchObject({ job: undefined, inputs: [], outputs: [], eventTimeMs: receivedAtMs })
    const nulls = { eventTime: null, job: null, inputs: null, outputs: null, schemaURL: null }
    expect(parse({ ...bare, ...nulls })).toMatchObject({ job: undefined, inputs: [], outputs: [] })
  })

  test.each(['START', 'RUNNING', 'COMPLETE', 'ABORT', 'FAIL'])('the event type %s is taken', (eventType) => {
    expect(parse({ ...lineageEvent({}), eventType }).eventType).toBe(eventType as 'START')
  })

  test('an event type in lower case and OTHER are refused in words that help', () => {
    expect(refusal({ ...lineageEvent({}), eventType: 'start' })).toContain('in upper case: send START')
    expect(refusal({ ...lineageEvent({}), eventType: 'OTHER' })).toMatch(
      /OTHER is not accepted\..*set RUNNING/,
    )
    expect(refusal(without('eventType'))).toMatch(/required\. Clients .*: set START.*schemaURL/)
    expect(refusal({ ...lineageEvent({}), eventType: 'DONE' })).toContain('must be one of START')
  })

  test('a run id is a UUID of any version, and its case does not matter', () => {
    const runId = '018F3C1E-7B1A-7CCC-8DDD-0123456789AB'
    expect(parse(lineageEvent({ runId })).runId).toBe(runId.toLowerCase())
    for (const bad of ['x', '018f3c1e7b1a7ccc8ddd0123456789ab', `${runId} `, `{${runId}}`])
      expect(refusal(lineageEvent({ runId: bad }))).toContain('must be a UUID')
  })
})

describe('eventTime', () => {
  test.each([
    ['2026-03-01T10:00:00Z', Date.UTC(2026, 2, 1, 10)],
    ['2026-03-01T10:00:00.123456789+02:00', Date.UTC(2026, 2, 1, 8, 0, 0, 123)],
    ['2026-03-01T10:00:00', receivedAtMs],
    ['2026-02-30T10:00:00Z', receivedAtMs],
    ['2026-02-28T24:00:00Z', receivedAtMs],
    ['0000-06-01T00:00:00Z', Date.parse('0000-06-01T00:00:00Z')],
    ['0000-01-01T00:00:00+01:00', receivedAtMs],
    ['9999-12-31T23:59:59-01:00', receivedAtMs],
    ['9999-12-31T23:59:59Z', Date.UTC(9999, 11, 31, 23, 59, 59)],
    ['yesterday', receivedAtMs],
    [17, receivedAtMs],
  ])('%p', (eventTime, expected) => {
    const { eventTimeMs } = parse({ ...lineageEvent({}), eventTime })
    expect(eventTimeMs).toBe(expected)
  })
})

describe('datasets', () => {
  test('each counts once, whatever its facets', () => {
    const dataset = { namespace: 'n', name: 'a' }
    const { inputs } = parse(lineageEvent({ inputs: [dataset, { ...dataset, facets: { x: 1 } }] }))
    expect(inputs.map(({ name }) => name)).toEqual(['a'])
  })

  test('one without namespace or name is refused, by its place', () => {
    expect(refusal(lineageEvent({ inputs: [{ namespace: 'n' }] }))).toContain('inputs[0].name is required')
    expect(refusal(lineageEvent({ outputs: ['a', { namespace: '', name: 'b' }] }))).toContain(
      'outputs[1].namespace is required',
    )
    expect(refusal(lineageEvent({ inputs: [[]] }))).toContain('inputs[0] must be an object')
    expect(refusal({ ...lineageEvent({}), inputs: {} })).toContain('inputs must be an array')
  })

  test('a name with U+0000 is refused, since the database would make it another name', () => {
    expect(refusal(lineageEvent({ inputs: [{ namespace: 'n', name: 'a\0' }] }))).toContain('U+0000')
    expect(refusal({ ...lineageEvent({}), producer: '\0' })).toContain('U+0000')
  })

  test('a name with U+001F is refused, since two datasets would have one node', () => {
    const [a, b] = [
      { namespace: 'n\u001fx', name: 'y' },
      { namespace: 'n', name: 'x\u001fy' },
    ]
    expect(refusal(lineageEvent({ inputs: [a], outputs: ['o'] }))).toContain(
      'inputs[0] must not hold the character U+001F',
    )
    expect(refusal(lineageEvent({ inputs: ['i'], outputs: [b] }))).toContain(
      'outputs[0] must not hold the character U+001F',
    )
    expect(refusal({ ...lineageEvent({}), job: a })).toContain('job must not hold the character U+001F')
  })

  test('an event whose edges would be too many is refused before it gets to the database', () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => `d${i}`)
    expect(refusal(lineageEvent({ inputs: many(limits.lineageDatasetsMax + 1) }))).toContain('at most')
    expect(refusal(lineageEvent({ inputs: many(200), outputs: many(200) }))).toContain(
      'this one has 200 inputs and 200 outputs',
    )
    expect(refusal(lineageEvent({ inputs: many(100), outputs: many(100) }))).toBe('accepted')
  })
})

describe('hostile bodies', () => {
  test.each([
    ['no JSON', '{'],
    ['empty', ''],
    ['an array', '[]'],
    ['two documents', '{}{}'],
    ['duplicate keys', '{"producer":"a","producer":"b"}'],
    ['deep nesting', `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`],
    ['a byte order mark', '\uFEFF{}'],
    ['a lone surrogate', '{"producer":"\\ud800"}'],
  ])('%s', (_, body) => {
    expect(refusal(body)).toStartWith('bad_request')
  })

  test('bytes that are not UTF-8', () => {
    expect(() => parseLineageEvent(Buffer.from([0x22, 0xff, 0x22]), 0)).toThrow('not UTF-8')
  })

  test('names such as __proto__ are only names', () => {
    const event = parse(lineageEvent({ inputs: [{ namespace: '__proto__', name: 'constructor' }] }))
    expect(event.inputs[0]).toMatchObject({ namespace: '__proto__', name: 'constructor' })
  })

  test('a producer that would not fit an index entry is refused', () => {
    expect(refusal({ ...lineageEvent({}), producer: 'ü'.repeat(1_001) })).toContain('at most 2000 bytes')
  })
})

describe('job and dataset events', () => {
  const base = { eventTime: '2026-03-01T10:00:00Z', producer }
  const schema = (name: string) => `https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/${name}`

  test('are told by their schemaURL and need what OpenLineage requires of them', () => {
    const job = { ...base, schemaURL: schema('JobEvent'), job: { namespace: 'n', name: 'j' } }
    expect(parse(job)).toMatchObject({ kind: 'job', job: { name: 'j' }, eventType: undefined })
    expect(refusal({ ...job, job: { namespace: 'n' } })).toContain('job.name is required')
    const dataset = { ...base, schemaURL: schema('DatasetEvent'), dataset: { namespace: 'n', name: 'd' } }
    expect(parse(dataset)).toMatchObject({ kind: 'dataset', inputs: [], outputs: [{ name: 'd' }] })
    expect(refusal({ ...dataset, dataset: undefined })).toContain('dataset must be an object')
    expect(refusal({ ...job, producer: undefined })).toContain('producer is required')
  })

  test('a run event that lacks its eventType is not taken for a job event', () => {
    expect(refusal({ ...without('eventType'), schemaURL: schema('JobEvent') })).toContain(
      'eventType is required',
    )
    expect(refusal({ ...base, schemaURL: schema('RunEvent'), job: { namespace: 'n', name: 'j' } })).toContain(
      'eventType is required',
    )
    expect(refusal({ ...base, job: { namespace: 'n', name: 'j' } })).toContain('eventType is required')
  })
})

describe('column lineage', () => {
  const input = (name: string, field: string, more = {}) => ({ namespace: 's3://lake', name, field, ...more })
  const output = (columnLineage: unknown) => ({
    namespace: 's3://lake',
    name: 'out',
    facets: { columnLineage },
  })

  test('is kept by pair of datasets, with transformations, whole-dataset dependencies and nothing malformed', () => {
    const transformations = [
      { type: 'INDIRECT', subtype: 'FILTER', masking: false, description: 'd', odd: { a: 1 } },
    ]
    const { columns } = parse(
      lineageEvent({
        inputs: ['a', 'b'],
        outputs: [
          output({
            fields: {
              x: {
                inputFields: [input('a', 'p', { transformations }), input('b', 'q'), input('elsewhere', 'z')],
              },
              y: { inputFields: 'odd' },
              z: 7,
              w: { inputFields: [null, { name: 'a' }] },
            },
            dataset: [input('b', 'r')],
          }),
        ],
      }),
    )
    const { odd: _, ...kept } = transformations[0] as Record<string, unknown>
    const named = ({ namespace, name }: LineageName) => `${namespace} ${name}`
    const found = columns.map((pair) => [named(pair.input), named(pair.output), pair.columns])
    expect(found as unknown).toEqual([
      ['s3://lake a', 's3://lake out', [{ input: 'p', output: 'x', transformations: [kept] }]],
      [
        's3://lake b',
        's3://lake out',
        [
          { input: 'q', output: 'x', transformations: [] },
          { input: 'r', output: null, transformations: [] },
        ],
      ],
      // Another event of the run may say that it reads it.
      ['s3://lake elsewhere', 's3://lake out', [{ input: 'z', output: 'x', transformations: [] }]],
    ])
  })

  test('may name an input by any of its symlinks', () => {
    const symlinks = {
      identifiers: ['hive', 'glue'].map((namespace) => ({ namespace, name: 'db.a', type: 'TABLE' })),
    }
    const fields = { x: { inputFields: [{ namespace: 'glue', name: 'db.a', field: 'p' }] } }
    const { columns } = parse(
      lineageEvent({
        inputs: [{ namespace: 's3://lake', name: 'a', facets: { symlinks } }],
        outputs: [output({ fields })],
      }),
    )
    expect(columns.map(({ input: { namespace, name } }) => [namespace, name])).toEqual([['s3://lake', 'a']])
  })

  test('a facet of another shape is passed over', () => {
    for (const facet of [null, 7, [], {}, { fields: [] }, { fields: { x: null } }])
      expect(parse(lineageEvent({ inputs: ['a'], outputs: [output(facet)] })).columns).toEqual([])
  })
})

describe('tables', () => {
  const claims = (namespace: string, name: string, facets = {}) =>
    parse(lineageEvent({ outputs: [{ namespace, name, facets }] })).outputs[0]?.tableClaims

  test('a dataset in the catalog URI of the gateway claims its table', () => {
    const claim = [{ prefix: 'main', levels: ['sales', 'orders'] }]
    expect(claims('https://svc.example/v1/iceberg/main', 'sales.orders')).toEqual(claim)
    expect(claims('http://127.0.0.1:8080/v1/iceberg/main/', 'sales.orders')).toEqual(claim)
    expect(claims('main', 'sales.orders')).toEqual(claim)
    expect(claims('iceberg://main', 'sales.orders')).toEqual(claim)
  })

  test('so does a symlink', () => {
    const identifiers = [
      null,
      { namespace: 'https://svc.example/v1/iceberg/main', name: 'sales.orders', type: 'TABLE' },
    ]
    expect(claims('s3://bucket', 'warehouse/sales/orders', { symlinks: { identifiers } })).toEqual([
      { prefix: 'main', levels: ['sales', 'orders'] },
    ])
  })

  test('other databases, bare names and names no gateway path could hold claim nothing', () => {
    expect(claims('postgres://db:5432', 'sales.orders')).toEqual([])
    expect(claims('main', 'orders')).toEqual([])
    expect(claims('main', 'sales..orders')).toEqual([])
    expect(claims('main', 'sales.or ders')).toEqual([])
  })
})
