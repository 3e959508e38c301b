/**
 * KPIs and named sets of a table where reports, programs and agents look for them: the entity model and rowsets of a live
 * connection, GraphQL and MCP, for an officer, for a reader from whom a mask takes a column, and for a foreign tenant.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readXml, type XmlElement } from '../../src/wire/soap/xml.ts'
import { graphql } from '../support/graphql.ts'
import { connectMcp } from '../support/mcp.ts'
import { declaringAs } from '../support/semantic-layer.ts'
import {
  ask,
  discoverBody,
  envelope,
  executeBody,
  postText,
  rowsOf,
  XmlaConnection,
} from '../support/xmla.ts'
import { startXmlaLake, type XmlaLake } from '../support/xmla-lake.ts'

setDefaultTimeout(120_000)

const kpis = [
  {
    ...{ name: 'sales', label: 'Sales of all', description: 'What comes in', folder: 'Board' },
    ...{ value: 'revenue', goal: 'target', status: 'standing', trend: 'IIF(KPIValue("sales") > 0, 1, 0)' },
    graphics: { status: 'Traffic Light', trend: 'Standard Arrow' },
  },
  { name: 'again', value: 'revenue', goal: 'buyers', status: 'standing' },
  {
    name: 'noted',
    value: 'buyers',
    goal: 'target',
    status: '([Measures].[standing], [orders].[note].[All])',
  },
  { name: 'twice', value: '[Measures].[revenue] * 2', parent: 'sales' },
]
const sets = [
  {
    name: 'best',
    label: 'The best',
    expression: 'Head([orders].[region].[region].Members, 2)',
    dynamic: true,
  },
  { name: 'noted_ones', expression: '[orders].[note].[note].Members' },
  { name: 'noted_buyer', expression: '{[orders].[email].&[user1@example.com]}' },
]

let one: XmlaLake
let secrets: Readonly<Record<'ann' | 'bob' | 'stranger', string>>
beforeAll(async () => {
  one = await startXmlaLake()
  const put = declaringAs(one.lake, one.steward)
  await put('/api/v1/metrics/target', { kind: 'derived', expression: 'buyers * 20' })
  await put('/api/v1/metrics/standing', {
    kind: 'derived',
    expression: 'CASE WHEN revenue >= target THEN 1 ELSE -1 END',
  })
  await put('/api/v1/semantics/tables/sales/orders', {
    key: ['id'],
    dimensions: [{ name: 'region' }, { name: 'email' }, { name: 'note' }],
    ...{ kpis, sets },
  })
  secrets = { ann: one.ann.secret ?? '', bob: one.bob.secret ?? '', stranger: one.stranger.secret ?? '' }
})
afterAll(() => one.lake[Symbol.asyncDispose]())

const readers = ['ann', 'bob'] as const
type Who = keyof typeof secrets
/** The names of those that a reader is shown. */
const shown = <T extends { readonly name: string }>(who: Who, all: readonly T[]) =>
  all.filter(({ name }) => who === 'ann' || !name.startsWith('noted')).map(({ name }) => name)

const named = (parent: XmlElement | undefined, name: string) =>
  (parent?.children ?? []).filter((child) => child.name === name)

/** The properties of the cube's own table, as the entity model has them. */
async function properties(who: Who, version: string): Promise<readonly XmlElement[]> {
  using connection = await XmlaConnection.open(one[who].port)
  connection.write(postText(one[who], envelope(discoverBody('DISCOVER_CSDL_METADATA', { VERSION: version }))))
  const { body } = await connection.answer()
  const [, text = ''] = /<METADATA>(.*)<\/METADATA>/s.exec(body) ?? []
  const [orders] = named(readXml(text, { depthMax: 50, elementsMax: 10_000 }), 'EntityType')
  return named(orders, 'Property')
}

describe.each(readers)('the entity model of %s', (who) => {
  test('has a KPI in the measure of its value, whose goal and status are properties', async () => {
    const all = await properties(who, '2.5')
    const names = all.map(({ attributes }) => attributes.get('Name'))
    const found = all.flatMap((property) =>
      named(named(property, 'Measure')[0], 'Kpi').map((kpi) => ({
        of: property.attributes.get('Name'),
        graphic: kpi.attributes.get('StatusGraphic'),
        parts: kpi.children.map((part) => [part.name, named(part, 'PropertyRef')[0]?.attributes.get('Name')]),
      })),
    )
    expect(found).toEqual([
      {
        ...{ of: 'revenue', graphic: 'Traffic Light' },
        parts: [
          ['KpiGoal', 'target'],
          ['KpiStatus', 'standing'],
        ],
      },
    ])
    expect(names).toEqual(expect.arrayContaining(['target', 'standing']))
  })

  test('has none in the version that knows none', async () => {
    const all = await properties(who, '1.0')
    expect(all.some((property) => named(named(property, 'Measure')[0], 'Kpi').length > 0)).toBe(false)
  })

  test('and the rowset of KPIs name the same measures, whose parts a query computes', async () => {
    const list = (rowset: string) => rowsOf(ask(one[who], discoverBody(rowset)))
    const [measures, rows] = await Promise.all([list('TMSCHEMA_MEASURES'), list('TMSCHEMA_KPIS')])
    const measureOf = (id: unknown) => measures.find(({ KPIID }) => KPIID === id)
    expect(
      rows.map((row) => [measureOf(row.ID)?.Name, row.TargetExpression, row.StatusExpression ?? '']),
    ).toEqual([['revenue', '[target]', '[standing]'], ...(who === 'ann' ? [['buyers', '[target]', '']] : [])])
    expect(rows.map(({ MeasureID }) => MeasureID)).toEqual(rows.map(({ ID }) => measureOf(ID)?.ID))
    const query = 'EVALUATE ROW("v", [revenue], "g", [target], "s", [standing])'
    const [values] = await rowsOf(ask(one[who], executeBody(query)))
    const [value, goal, status] = Object.values(values ?? {}).map(Number)
    expect(status).toBe((value ?? 0) >= (goal ?? 0) ? 1 : -1)
  })
})

describe('over GraphQL', () => {
  const query =
    '{ table(namespace: ["sales"], name: "orders") { kpis { name label description folder value goal status trend weight statusGraphic trendGraphic parent } namedSets { name label expression dynamic } } }'

  test.each(readers)('%s is shown those of which every name is in their cube', async (who) => {
    const { data, errors } = await graphql(one.lake, secrets[who], query)
    expect(errors).toEqual([])
    // What a mask hides is in no text either.
    expect(JSON.stringify(data).includes('user1@example.com')).toBe(who === 'ann')
    const names = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name)
    expect(names(data.table.kpis)).toEqual(shown(who, kpis))
    expect(names(data.table.namedSets)).toEqual(shown(who, sets))
    expect(data.table.kpis[0]).toEqual({
      ...{ name: 'sales', label: 'Sales of all', description: 'What comes in', folder: 'Board' },
      ...{ value: 'revenue', goal: 'target', status: 'standing', weight: null, parent: null },
      trend: 'IIF(KPIVALUE("sales") > 0, 1, 0)',
      ...{ statusGraphic: 'Traffic Light', trendGraphic: 'Standard Arrow' },
    })
    expect(data.table.kpis.at(-1)).toMatchObject({ name: 'twice', parent: 'sales', label: null })
    expect(data.table.namedSets[0]).toEqual({
      ...{ name: 'best', label: 'The best', dynamic: true },
      expression: 'HEAD([orders].[region].[region].MEMBERS, 2)',
    })
  })

  test('a foreign tenant finds no table', async () => {
    const { data } = await graphql(one.lake, secrets.stranger, query)
    expect(data.table).toBeNull()
  })
})

describe('over MCP', () => {
  const whole = async (who: Who, name: string) => {
    await using client = await connectMcp('2026', one.lake.app.url, secrets[who])
    return await client.call('list_metrics', { names: [name] })
  }
  interface Whole {
    readonly kpis?: readonly { readonly name: string; readonly value: string; readonly goal?: string }[]
    readonly sets?: readonly { readonly name: string; readonly expression: string }[]
  }
  const metric = async (who: Who, name: string) => {
    const { structured } = await whole(who, name)
    const [found] = (structured as { readonly metrics: readonly Whole[] }).metrics
    return found ?? {}
  }

  test.each(readers)('%s is shown the KPIs of a metric, and the sets of its tables', async (who) => {
    const revenue = await metric(who, 'revenue')
    expect(revenue.kpis?.map(({ name }) => name)).toEqual(['sales', 'again', 'twice'])
    expect(revenue.kpis?.[0]).toMatchObject({ table: 'sales.orders', value: 'revenue', goal: 'target' })
    expect(revenue.sets?.map(({ name }) => name)).toEqual(shown(who, sets))
    expect(JSON.stringify(revenue).includes('user1@example.com')).toBe(who === 'ann')
    // Of the KPI that names a column which a mask empties, nothing is left for who is masked.
    const standing = await metric(who, 'standing')
    expect(standing.kpis?.map(({ name }) => name)).toEqual(
      who === 'ann' ? ['sales', 'again', 'noted'] : ['sales', 'again'],
    )
  })

  test('a foreign tenant finds no metric', async () => {
    const { isError, text } = await whole('stranger', 'revenue')
    expect({ isError, text }).toEqual({ isError: true, text: expect.not.stringContaining('target') })
  })
})
