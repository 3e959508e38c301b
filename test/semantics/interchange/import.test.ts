/** Documents of other formats over REST: what is saved, what is listed, what is exported, and for whom. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { ask } from '../../support/identity.ts'
import { type Lake, startLake } from '../../support/lake.ts'
import { ordersTable, regionsTable } from '../../support/lake-tables.ts'
import { licenseForAll } from '../../support/license.ts'
import { makeTenant } from '../../support/spare-tenants.ts'

setDefaultTimeout(120_000)

let lake: Lake
let steward: string
let stranger: string

beforeAll(async () => {
  lake = await startLake({ tables: [ordersTable, regionsTable], env: { SVC_LICENSE: licenseForAll() } })
  const open = async (sub: string, tenant = lake.tenant) => {
    const session = { name: sub, principal: { sub, roles: ['steward'] }, scopes: ['read', 'admin'] as const }
    return (await createServiceSession(lake.store, tenant, session)).secret
  }
  steward = await open('stella')
  stranger = await open('stan', (await makeTenant(lake.store, { name: 'foreign' })).id)
})
afterAll(() => lake[Symbol.asyncDispose]())

const dbt = `
models:
- name: regions
  semantic_model: true
  columns:
  - {name: name, entity: {type: primary, name: area}, dimension: categorical}
- name: orders
  agg_time_dimension: day
  semantic_model: true
  columns:
  - {name: id, entity: {type: primary, name: order}}
  - {name: region, entity: {type: foreign, name: area}, dimension: categorical}
  - {name: day, dimension: time}
  - {name: gone, dimension: categorical}
  metrics:
  - {name: revenue, agg: sum, expr: amount, description: Paid, filter: "{{ Dimension('order__region') }} <> 'north'"}
  - {name: order_count, agg: count, expr: 1}
  - {name: lost, agg: sum, expr: nothing}
metrics:
- {name: basket, type: ratio, numerator: revenue, denominator: order_count}
- {name: so_far, type: cumulative, input_metric: revenue}
`
const imports = '/api/v1/semantics/imports'

async function imported(body: object, secret = steward) {
  const { status, body: answer } = await ask(lake, 'POST', imports, secret, body)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(answer)}`)
  return answer as unknown as {
    readonly tables: readonly { readonly name: string }[]
    readonly metrics: readonly string[]
    readonly not_carried: readonly { readonly at: string; readonly why: string }[]
    readonly not_carried_count: number
    readonly changes: readonly { readonly metric?: string; readonly change: string }[]
  }
}
const exported = async (format: string, secret = steward) =>
  (await ask(lake, 'GET', `/api/v1/semantics/export?format=${format}`, secret)).body as unknown as {
    readonly document: { readonly semantic_model: readonly { readonly datasets: readonly unknown[] }[] }
    readonly not_carried: readonly { readonly at: string }[]
  }
const versionOf = async (metric: string) =>
  (await ask(lake, 'GET', `/api/v1/metrics/${metric}`, steward)).body.version

test('a dry run saves nothing', async () => {
  const found = await imported({ format: 'dbt', document: dbt, namespace: ['sales'], dry_run: true })
  expect(found.metrics).toEqual(['revenue', 'order_count', 'lost', 'basket', 'so_far'])
  expect((await ask(lake, 'GET', '/api/v1/metrics', steward)).body).toEqual({ items: [] })
})

test('semantic models of dbt become models and metrics that can be asked for', async () => {
  const found = await imported({ format: 'dbt', document: dbt, namespace: ['sales'] })
  expect(found.tables.map(({ name }) => name)).toEqual(['regions', 'orders'])
  expect(found.metrics).toEqual(['revenue', 'order_count', 'basket', 'so_far'])
  expect(found.not_carried).toEqual([
    { at: '/models/1', why: expect.stringContaining('no column `gone`') },
    { at: '/models/1/metrics/2', why: expect.stringContaining('no column `nothing`') },
  ])
  const query = {
    catalog: lake.catalog,
    metrics: ['revenue', 'basket'],
    dimensions: [{ name: 'area__name' }],
  }
  const { status, body } = await ask(lake, 'POST', '/api/v1/metrics/query', lake.env.PGPASSWORD, query)
  expect([status, (body.rows as unknown[]).length]).toEqual([200, 4])
})

test('the same document again changes nothing, so attestations stay', async () => {
  const before = await Promise.all(['revenue', 'basket', 'so_far'].map(versionOf))
  await imported({ format: 'dbt', document: dbt, namespace: ['sales'] })
  expect(await Promise.all(['revenue', 'basket', 'so_far'].map(versionOf))).toEqual(before)
})

test('what was exported in Ossie is imported without a change, and exported again the same', async () => {
  const first = await exported('ossie')
  expect(first.document.semantic_model[0]?.datasets).toHaveLength(2)
  expect(first.not_carried).toMatchObject([{ at: 'metric so_far' }])
  const before = await Promise.all(['revenue', 'so_far'].map(versionOf))
  const found = await imported({ format: 'ossie', document: JSON.stringify(first.document) })
  expect(found.not_carried).toEqual([])
  expect(found.metrics).toHaveLength(4)
  expect(await Promise.all(['revenue', 'so_far'].map(versionOf))).toEqual(before)
  expect(await exported('ossie')).toEqual(first)
})

describe('a document that gives a metric of the same name another table', () => {
  const other = `
models:
- name: regions
  semantic_model: true
  columns:
  - {name: name, entity: {type: primary, name: area}, dimension: categorical}
  metrics:
  - {name: order_count, agg: count, expr: 1}
  - {name: areas, agg: count, expr: 1}
  - {name: areas, agg: count_distinct, expr: name}
`
  const body = { format: 'dbt', document: other, namespace: ['sales'] }
  const tables = async (metric: string) =>
    (await ask(lake, 'GET', `/api/v1/metrics/${metric}`, steward)).body.tables

  test('is told by a dry run, with what else changes', async () => {
    const { changes, not_carried: lost } = await imported({ ...body, dry_run: true })
    const [orders, regions] = ['orders', 'regions'].map((name) => ({ namespace: ['sales'], name }))
    expect(changes).toMatchObject([
      { metric: 'order_count', change: 'replaced', before: [orders], after: [regions] },
      { metric: 'areas', change: 'added' },
    ])
    expect(lost).toEqual([{ at: '/models/0/metrics/2/name', why: 'There is a metric of that name already' }])
  })

  test('is refused whole with 409, which names each', async () => {
    const { status, body: answer } = await ask(lake, 'POST', imports, steward, body)
    expect([status, answer.error]).toEqual([
      409,
      expect.objectContaining({
        message: expect.stringContaining('order_count (over sales.orders, then over sales.regions)'),
        replaces: ['order_count'],
      }),
    ])
    expect(await tables('order_count')).toEqual([{ namespace: ['sales'], name: 'orders' }])
    expect((await ask(lake, 'GET', '/api/v1/metrics/areas', steward)).status).toBe(404)
  })

  test('is carried where the importer says so', async () => {
    const first = { format: 'dbt', document: dbt, namespace: ['sales'] }
    const own = dbt.replaceAll('order_count', 'own_count').replaceAll('basket', 'own_basket')
    await imported({ ...first, document: own })
    const found = await imported({
      ...body,
      document: other.replaceAll('order_count', 'own_basket'),
      replace: true,
    })
    expect(found.changes.map(({ metric, change }) => [metric, change])).toEqual([
      ['own_basket', 'replaced'],
      ['areas', 'added'],
    ])
    expect(await tables('own_basket')).toEqual([{ namespace: ['sales'], name: 'regions' }])
  })

  test('a changed definition and lost dimensions are named, and need no word', async () => {
    const fewer = dbt
      .replace('  - {name: gone, dimension: categorical}\n', '')
      .replace(', dimension: categorical}\n  - {name: day', '}\n  - {name: day')
      .replace(`, filter: "{{ Dimension('order__region') }} <> 'north'"`, '')
      .replace('  - {name: lost, agg: sum, expr: nothing}\n', '')
    const given = { format: 'dbt', document: fewer, namespace: ['sales'] }
    const { changes } = await imported({ ...given, dry_run: true })
    expect(changes).toMatchObject([
      { table: { namespace: ['sales'], name: 'orders' }, change: 'changed', removes: ['region'] },
      { metric: 'revenue', change: 'changed' },
    ])
  })
})

test('of several metrics of one name a document of Ossie carries the first, and lists the others', async () => {
  const { document } = await exported('ossie')
  const [model] = document.semantic_model
  const twice = {
    ...document,
    semantic_model: [{ ...model, metrics: [0, 0].flatMap(() => metricsOf(model)) }],
  }
  const found = await imported({ format: 'ossie', document: JSON.stringify(twice), dry_run: true })
  expect(new Set(found.metrics).size).toBe(found.metrics.length)
  expect(found.not_carried.map(({ why }) => why)).toContain('The document has the metric revenue before')
})
const metricsOf = (model: object | undefined) => (model as { readonly metrics: readonly object[] }).metrics

test('measures and dimensions of ODCS are exported and imported', async () => {
  const { document, not_carried: lost } = await exported('odcs')
  expect(lost.map(({ at }) => at)).toEqual(expect.arrayContaining(['metric so_far']))
  const found = await imported({ format: 'odcs', document: JSON.stringify(document), dry_run: true })
  expect(found.metrics).toEqual(expect.arrayContaining(['revenue', 'order_count', 'basket']))
})

test('a document that cannot be read is refused with its place', async () => {
  const { status, body } = await ask(lake, 'POST', imports, steward, { format: 'ossie', document: 'a: [' })
  expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining('Line 1')])
})

test('only stewards import, and another tenant exports nothing of it', async () => {
  const body = { format: 'dbt', document: dbt, namespace: ['sales'] }
  expect((await ask(lake, 'POST', imports, lake.env.PGPASSWORD, body)).status).toBe(403)
  expect((await exported('ossie', stranger)).document.semantic_model).toEqual([])
  const foreign = await imported(body, stranger)
  expect([foreign.tables, foreign.metrics]).toEqual([[], []])
  expect((await exported('ossie', stranger)).document.semantic_model).toEqual([])
})

test('a hostile definition is checked like any other', async () => {
  const data = (definition: object) =>
    JSON.stringify({ covenant: { metrics: [{ name: 'evil', definition }] } })
  const table = { namespace: ['sales'], name: 'orders' }
  for (const definition of [
    { kind: 'simple', table, expression: 'max((SELECT 1))' },
    { kind: 'cumulative', of: 'revenue', to_date: "day'); DROP" },
    { kind: 'simple', table, expression: 'sum(amount)', label: 'x'.repeat(20_000) },
    { kind: 'simple', table: { namespace: [], name: 'orders' }, expression: 'sum(amount)' },
    { kind: 'none' },
  ]) {
    const document = JSON.stringify({
      version: '0.1.1',
      semantic_model: [
        {
          name: 'evil',
          datasets: [],
          custom_extensions: [{ vendor_name: 'COMMON', data: data(definition) }],
        },
      ],
    })
    const { metrics, not_carried: lost } = await imported({ format: 'ossie', document })
    expect([metrics, lost.length]).toEqual([[], 1])
  }
})
