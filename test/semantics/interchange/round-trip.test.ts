/** An export is imported again without a change: random layers, over Ossie whole, over ODCS as far as it goes. */

import { describe, expect, test } from 'bun:test'
import type { MetricComputation } from '../../../src/core/metric.ts'
import type { SemanticDraft } from '../../../src/semantics/interchange/draft.ts'
import type {
  ExportedDimension,
  ExportedLayer,
  ExportedMetric,
  ExportedTable,
} from '../../../src/semantics/interchange/layer.ts'
import { readInterchange } from '../../../src/semantics/interchange/read-interchange.ts'
import { writeOdcs } from '../../../src/semantics/interchange/write-odcs.ts'
import { writeOssie } from '../../../src/semantics/interchange/write-ossie.ts'
import { readDocument } from '../../../src/wire/odcs/read-document.ts'
import { standardProblems } from '../../../src/wire/odcs/validate-document.ts'
import { generator } from '../../support/generator.ts'
import { isLongForm } from '../../support/long-form.ts'

function read(format: 'ossie' | 'odcs', document: object): SemanticDraft {
  const outcome = readInterchange({ format, files: [{ name: '', text: JSON.stringify(document) }] })
  if (outcome.kind === 'refused') throw new Error(JSON.stringify(outcome.problems))
  return outcome.draft
}

const seed = 20_261_125
const rounds = isLongForm ? 2_000 : 150

/** A layer of two tables, one of which leads to the other. */
function randomLayer(random: () => number): ExportedLayer {
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T
  const maybe = <T extends object>(value: T) => (random() < 0.4 ? value : {})
  const texts = ['Größe', "it's", 'a "b"', '{"x":1}', 'line\nbreak', '']
  const about = () => ({ ...maybe({ label: pick(texts) }), ...maybe({ description: pick(texts) }) })
  const dimension = (name: string): ExportedDimension => ({
    ...{ name, kind: pick(['categorical', 'time'] as const), type: undefined, ...about() },
    expression: pick([name, 'amount > 50', `upper("Größe") || 'a.b'`, 'CAST(day AS date)']),
    ...maybe({ term: 'concept' }),
  })
  const table = (name: string): ExportedTable => {
    const dimensions = ['region', 'day', 'order'].filter(() => random() < 0.7).map(dimension)
    const time = dimensions.find(({ kind }) => kind === 'time')?.name
    return {
      ...{ table: { namespace: ['sales'], name }, key: pick([[], ['id'], ['id', 'line']]), dimensions },
      ...{ relationships: [], time_dimension: time },
    }
  }
  const customers = table('customers')
  const to = customers.table
  const orders: ExportedTable = {
    ...table('orders'),
    relationships:
      random() < 0.5 ? [{ name: 'customer', to, columns: ['customer_id'], to_columns: ['id'] }] : [],
  }
  const metrics = new Map<string, ExportedMetric>()
  const add = (name: string, computation: object, body: object) => {
    const kind = Reflect.get(computation, 'kind') as string
    const more = { ...about(), ...maybe({ unit: 'EUR' }), ...maybe({ default_grain: 'month' }) }
    metrics.set(name, {
      name,
      definition: { computation: computation as MetricComputation, ...more },
      body: { kind, ...body, ...more },
    })
  }
  for (const name of ['one', 'two', 'three']) {
    const over = pick([orders, customers]).table
    const expression = pick([
      'sum(amount)',
      'count(*)',
      'sum("Größe") - count(DISTINCT id)',
      'max(amount * 2)',
    ])
    const filter = maybe({ filter: pick(["status = 'paid'", '"Größe" > 3']) })
    const semi = random() < 0.2 ? { dimension: 'day', take: 'last' as const, over: [] } : undefined
    add(
      name,
      { kind: 'simple', table: over, ...(semi && { semiAdditive: semi }) },
      { table: over, expression, ...filter, ...(semi && { semi_additive: semi }) },
    )
  }
  const ratio = { numerator: pick(['one', 'two']), denominator: 'three' }
  add('ratio', { kind: 'ratio', ...ratio }, ratio)
  const expression = pick(['one + two', 'one / two', 'coalesce(one, 0) - two'])
  add('derived', { kind: 'derived', expression, metrics: ['one', 'two'] }, { expression })
  add('so_far', { kind: 'cumulative', metric: 'one', toDate: 'year' }, { of: 'one', to_date: 'year' })
  const month = { count: 1, grain: 'month' } as const
  add('before', { kind: 'offset', metric: 'one', offsetWindow: month }, { of: 'one', offset_window: month })
  add(
    'at_start',
    { kind: 'offset', metric: 'one', offsetToGrain: 'year' },
    { of: 'one', offset_to_grain: 'year' },
  )
  return { tables: [orders, customers], metrics }
}

const asJson = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown

describe('a round trip', () => {
  test(`over Ossie gives the same tables and metrics (seed ${seed})`, () => {
    const random = generator(seed)
    for (let round = 0; round < rounds; round++) {
      const layer = randomLayer(random)
      const { document } = writeOssie(layer, 'shop', [])
      const draft = read('ossie', document)
      const tables = [...layer.tables].sort((a, b) => (a.table.name < b.table.name ? -1 : 1))
      const found = [...draft.tables].sort((a, b) => (a.table.name < b.table.name ? -1 : 1))
      expect(asJson(found.map(({ table, body }) => ({ table, ...body })))).toEqual(
        asJson(
          tables.map(({ table, key, dimensions, relationships, time_dimension: time }) => ({
            ...{ table, key, relationships, time_dimension: time },
            dimensions: dimensions.map(({ type: _, expression, ...one }) => ({
              ...one,
              ...(expression !== one.name && { expression }),
            })),
          })),
        ),
      )
      expect(new Map(draft.metrics.map(({ name, body }) => [name, asJson(body)]))).toEqual(
        new Map([...layer.metrics].map(([name, { body }]) => [name, asJson(body)])),
      )
      expect(draft.notCarried.filter(({ why }) => !why.includes('Several fields'))).toEqual([])
    }
  })

  test(`over ODCS gives what it can say, lists the rest, and is a document of the standard (seed ${seed})`, () => {
    const random = generator(seed)
    for (let round = 0; round < Math.ceil(rounds / 5); round++) {
      const layer = randomLayer(random)
      const { document, notCarried } = writeOdcs(layer, 'shop')
      const bytes = new TextEncoder().encode(JSON.stringify(document))
      expect(standardProblems(readDocument(bytes, 'json'))).toEqual([])
      const draft = read('odcs', document)
      const named = new Set(draft.metrics.map(({ name }) => name))
      for (const name of layer.metrics.keys())
        expect([name, named.has(name) || notCarried.some(({ at }) => at === `metric ${name}`)]).toEqual([
          name,
          true,
        ])
      for (const { name, body } of draft.metrics) {
        const before = layer.metrics.get(name)
        if (before?.definition.computation.kind !== 'simple') continue
        const { expression, filter } = before.body
        const whole = filter === undefined ? expression : `${expression} FILTER (WHERE ${filter})`
        expect(body.expression).toBe(whole as string)
      }
    }
  })
})

describe('an export after an import', () => {
  const theirs = { vendor_name: 'DBT', data: '{ "order" : [1,  2.50], "é": "\\u00e9" }' }
  const expression = (text: string, more: object[] = []) => ({
    dialects: [{ dialect: 'ANSI_SQL', expression: text }, ...more],
  })
  const model = {
    name: 'shop',
    description: 'Ours',
    ai_context: { instructions: 'Be kind', other: [1] },
    datasets: [
      {
        name: 'fct_orders',
        source: 'lake.sales.orders',
        unique_keys: [['number']],
        description: 'All orders',
        fields: [
          {
            name: 'region',
            expression: expression('region', [{ dialect: 'TABLEAU', expression: '[Region]' }]),
            dimension: { is_time: false },
            ai_context: 'Where',
            custom_extensions: [theirs],
          },
          { name: 'net', expression: expression('amount - tax'), label: 'Net' },
        ],
        custom_extensions: [theirs],
      },
    ],
    metrics: [{ name: 'one', expression: expression('SUM(net)'), ai_context: { synonyms: ['uno'] } }],
    custom_extensions: [theirs, { vendor_name: 'COMMON', data: '{"theirs": 1}' }],
  }

  test('keeps what others said byte for byte', () => {
    const table = { namespace: ['sales'], name: 'orders' }
    const region = { name: 'region', kind: 'categorical', expression: 'region', type: 'string' } as const
    const layer: ExportedLayer = {
      tables: [{ table, key: [], dimensions: [region], relationships: [], time_dimension: undefined }],
      metrics: new Map([
        [
          'one',
          {
            name: 'one',
            definition: { computation: { kind: 'simple', table, expression: { text: '', names: {} } } },
            body: { kind: 'simple', table, expression: 'sum((amount - tax))' },
          },
        ],
      ]),
    }
    const { document } = writeOssie(layer, 'shop', [JSON.stringify(model)])
    const [written] = document.semantic_model as (typeof model)[]
    const [dataset] = written?.datasets ?? []
    expect(written).toMatchObject({ description: 'Ours', ai_context: model.ai_context })
    expect(written?.custom_extensions).toEqual(model.custom_extensions)
    expect(dataset).toMatchObject({
      ...{
        name: 'fct_orders',
        source: 'lake.sales.orders',
        unique_keys: [['number']],
        description: 'All orders',
      },
    })
    expect(dataset?.custom_extensions?.[0]).toEqual(theirs)
    expect(dataset?.fields[0]).toEqual(model.datasets[0]?.fields[0] as never)
    expect(dataset?.fields[1]).toEqual(model.datasets[0]?.fields[1] as never)
    expect(written?.metrics[0]).toMatchObject({ ai_context: { synonyms: ['uno'] } })
    expect(JSON.stringify(document)).toContain(JSON.stringify(theirs.data))
  })

  test('whose expression was changed elsewhere takes the change', () => {
    const layer = randomLayer(generator(1))
    const { document } = writeOssie(layer, 'shop', [])
    const changed = JSON.parse(JSON.stringify(document)) as {
      semantic_model: { metrics: { name: string; expression: ReturnType<typeof expression> }[] }[]
    }
    const metric = changed.semantic_model[0]?.metrics[0]
    if (metric === undefined) throw new Error('nothing is exported')
    metric.expression = expression('SUM(orders.other)')
    const draft = read('ossie', changed)
    expect(draft.metrics.find(({ name }) => name === metric.name)?.body.expression).toBe('SUM(other)')
    expect(draft.notCarried.map(({ why }) => why).join()).toContain('changed since the export')
  })
})
