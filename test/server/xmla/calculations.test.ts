/** KPIs, named sets and folders of a model: what clients of cubes list and evaluate, for two readers and a foreign tenant. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { ask as askRest } from '../../support/identity.ts'
import { readAs } from '../../support/lake.ts'
import { declaringAs } from '../../support/semantic-layer.ts'
import { ask, discoverBody, executeBody, rowsOf, type XmlaClientOptions } from '../../support/xmla.ts'
import { startXmlaLake, type XmlaLake } from '../../support/xmla-lake.ts'

setDefaultTimeout(120_000)

const region = '[orders].[region]'
const path = '/api/v1/semantics/tables/sales/orders'
const model = {
  key: ['id'],
  time_dimension: 'day',
  dimensions: [
    { name: 'region', folder: 'Places' },
    { name: 'email' },
    { name: 'day', kind: 'time', folder: 'Times\\Days' },
    { name: 'note' },
  ],
}
const sales = {
  ...{ name: 'sales', label: 'Sales of all', description: 'What comes in', folder: 'Board\\Money' },
  ...{ value: 'revenue', goal: '[Measures].[target] * 2', weight: '3' },
  status: 'IIF(KPIValue("sales") >= KPIGoal("sales"), 1, -1)',
  trend: `IIF([Measures].[revenue] > ([Measures].[revenue], ${region}.[All]) / 4, 1, 0)`,
  graphics: { status: 'Traffic Light', trend: 'Standard Arrow' },
}
const kpis = [
  sales,
  { name: 'buying', value: 'buyers', goal: 'target', parent: 'sales' },
  { name: 'noted', value: 'revenue', trend: '([Measures].[revenue], [orders].[note].[All])' },
]
const best = {
  ...{ name: 'best', label: 'The best', folder: 'Lists', description: 'Two regions' },
  expression: `TopCount(${region}.[region].Members, 2, [Measures].[revenue])`,
}
const sets = [
  best,
  {
    name: 'of_the_best',
    expression: `Head([best], 1) * ${region.replace('region', 'day')}.[All]`,
    dynamic: true,
  },
  { name: 'one_buyer', expression: '{[orders].[email].&[user1@example.com]}' },
  { name: 'noted_ones', expression: '[orders].[note].[note].Members' },
]

let started: XmlaLake
beforeAll(async () => {
  started = await startXmlaLake()
  const put = declaringAs(started.lake, started.steward)
  await put('/api/v1/metrics/revenue', {
    ...{ table: { namespace: ['sales'], name: 'orders' }, expression: 'sum(amount)', format: '#,##0.00' },
    folder: 'Money',
  })
  await put('/api/v1/metrics/target', { kind: 'derived', expression: 'buyers * 20' })
  await put(path, { ...model, kpis, sets })
})
afterAll(() => started.lake[Symbol.asyncDispose]())

const names = (rows: readonly Readonly<Record<string, unknown>>[], column: string) =>
  rows.map((row) => String(row[column]))
const list = (who: XmlaClientOptions, rowset: string, restrictions: Record<string, string> = {}) =>
  rowsOf(ask(who, discoverBody(rowset, restrictions)))

async function valuesOf(who: XmlaClientOptions, statement: string): Promise<readonly unknown[]> {
  const answer = await ask(who, executeBody(`${statement} CELL PROPERTIES VALUE`))
  if (answer.kind !== 'dataset') throw new Error(JSON.stringify(answer))
  return [...answer.dataset.cells.values()].map(Number)
}

async function bySql(who: XmlaClientOptions, text: string): Promise<readonly number[]> {
  const { lake, ann } = started
  const lines = await readAs(who === ann ? lake.env : lake.restricted, text)
  const row = lines.find((line) => line.startsWith('D '))
  if (row === undefined) throw new Error(lines.join('\n'))
  return row.slice(2).split('^').map(Number)
}

describe('KPIs', () => {
  test('are listed with their parts as members of the measures', async () => {
    const [first, second] = await list(started.ann, 'MDSCHEMA_KPIS')
    expect(first).toMatchObject({
      ...{ CATALOG_NAME: 'lake', CUBE_NAME: 'sales.orders', MEASUREGROUP_NAME: 'orders', SCOPE: '1' },
      ...{ KPI_NAME: 'sales', KPI_CAPTION: 'Sales of all', KPI_DESCRIPTION: 'What comes in' },
      ...{ KPI_DISPLAY_FOLDER: 'Board\\Money', KPI_VALUE: '[Measures].[revenue]' },
      ...{ KPI_GOAL: '[Measures].[sales goal]', KPI_STATUS: '[Measures].[sales status]' },
      ...{ KPI_TREND: '[Measures].[sales trend]', KPI_WEIGHT: '[Measures].[sales weight]' },
      ...{ KPI_STATUS_GRAPHIC: 'Traffic Light', KPI_TREND_GRAPHIC: 'Standard Arrow' },
    })
    expect(second).toMatchObject({
      ...{ KPI_NAME: 'buying', KPI_VALUE: '[Measures].[buyers]', KPI_GOAL: '[Measures].[target]' },
      KPI_PARENT_KPI_NAME: 'sales',
    })
    expect(await list(started.ann, 'MDSCHEMA_KPIS', { KPI_NAME: 'buying' })).toHaveLength(1)
  })

  test('of which a part names what a mask takes from the reader are not there for them', async () => {
    const { ann, bob } = started
    expect(names(await list(ann, 'MDSCHEMA_KPIS'), 'KPI_NAME')).toEqual(['sales', 'buying', 'noted'])
    expect(names(await list(bob, 'MDSCHEMA_KPIS'), 'KPI_NAME')).toEqual(['sales', 'buying'])
    const asked = (name: string) => `SELECT {KPIValue("${name}")} ON 0 FROM [sales.orders]`
    const hidden = await ask(bob, executeBody(asked('noted')))
    expect(hidden).toMatchObject({ kind: 'fault', message: 'MDX: there is no such KPI in this cube.' })
    expect(await ask(bob, executeBody(asked('nothing')))).toEqual(hidden)
  })

  test('give what SQL by hand gives, for each reader the rows that they see', async () => {
    for (const who of [started.ann, started.bob]) {
      const text =
        'SELECT {KPIValue("sales"), KPIGoal("Sales of all"), KPIStatus("sales"), KPIWeight("sales")} ON 0 FROM [sales.orders]'
      const [value = 0, goal = 0] = await bySql(
        who,
        "SELECT concat_ws('^', sum(amount), count(DISTINCT email) * 40) FROM sales.orders",
      )
      expect(await valuesOf(who, text)).toEqual([value, goal, value >= goal ? 1 : -1, 3])
      const rows = `SELECT {KPITrend("sales")} ON 0, {${region}.&[east], ${region}.&[west]} ON 1 FROM [sales.orders]`
      const trends = await bySql(
        who,
        "SELECT string_agg(CASE WHEN part > whole / 4 THEN '1' ELSE '0' END, '^' ORDER BY region) FROM (SELECT region, sum(amount) AS part, (SELECT sum(amount) FROM sales.orders) AS whole FROM sales.orders WHERE region IN ('east', 'west') GROUP BY region) s",
      )
      expect(await valuesOf(who, rows)).toEqual(trends)
    }
  })

  test('have no member for a part that was not declared, and none in lists of members', async () => {
    const { ann } = started
    const count =
      'WITH MEMBER [Measures].[n] AS {KPITrend("buying")}.Count SELECT {[Measures].[n]} ON 0 FROM [sales.orders]'
    expect(await valuesOf(ann, count)).toEqual([0])
    const all =
      'WITH MEMBER [Measures].[n] AS AddCalculatedMembers([Measures].Members).Count SELECT {[Measures].[n]} ON 0 FROM [sales.orders]'
    expect(await valuesOf(ann, all)).toEqual([4])
    const measures = names(await list(ann, 'MDSCHEMA_MEASURES'), 'MEASURE_NAME')
    expect(measures.sort()).toEqual(['buyers', 'revenue', 'target'])
  })

  test('cannot be hidden by a member of a session of the same name', async () => {
    const { sessionId = '' } = await ask(started.ann, executeBody(''), '<BeginSession mustUnderstand="1"/>')
    const header = `<Session SessionId="${sessionId}"/>`
    for (const made of [
      'MEMBER [sales.orders].[Measures].[sales goal] AS 1',
      `SET [sales.orders].[Best] AS {${region}.&[east]}`,
    ])
      expect(await ask(started.ann, executeBody(`CREATE SESSION ${made}`), header)).toMatchObject({
        kind: 'fault',
        message: expect.stringContaining('of this name already'),
      })
  })
})

describe('named sets', () => {
  test('are listed with their hierarchies', async () => {
    const [first, second] = await list(started.ann, 'MDSCHEMA_SETS')
    expect(first).toMatchObject({
      ...{ SET_NAME: 'best', SET_CAPTION: 'The best', SET_DISPLAY_FOLDER: 'Lists', SCOPE: '1' },
      ...{ DESCRIPTION: 'Two regions', DIMENSIONS: region, SET_EVALUATION_CONTEXT: '1' },
      EXPRESSION: 'TOPCOUNT([orders].[region].[region].MEMBERS, 2, [Measures].[revenue])',
    })
    expect(second).toMatchObject({ SET_NAME: 'of_the_best', SET_EVALUATION_CONTEXT: '2' })
    expect(await list(started.ann, 'MDSCHEMA_SETS', { HIERARCHY_UNIQUE_NAME: region })).toHaveLength(1)
  })

  test('that would show a reader a value that a mask hides are not there for them', async () => {
    const { ann, bob } = started
    expect(names(await list(ann, 'MDSCHEMA_SETS'), 'SET_NAME')).toEqual(sets.map(({ name }) => name))
    expect(names(await list(bob, 'MDSCHEMA_SETS'), 'SET_NAME')).toEqual(['best', 'of_the_best'])
    const asked = (name: string) => `SELECT {[${name}]} ON 0 FROM [sales.orders]`
    const hidden = await ask(bob, executeBody(asked('one_buyer')))
    expect(hidden.kind).toBe('fault')
    expect(await ask(bob, executeBody(asked('nothing')))).toEqual(hidden)
  })

  test('hold the members that SQL by hand gives, for each reader of the rows that they see', async () => {
    for (const who of [started.ann, started.bob]) {
      const text = 'SELECT {[Measures].[revenue]} ON 0, [best] ON 1 FROM [sales.orders]'
      const sums = await bySql(
        who,
        "SELECT string_agg(part::text, '^' ORDER BY part DESC) FROM (SELECT sum(amount) AS part FROM sales.orders GROUP BY region ORDER BY 1 DESC LIMIT 2) s",
      )
      expect(await valuesOf(who, text)).toEqual(sums)
    }
  })
})

test('folders are those of measures and hierarchies', async () => {
  const { ann } = started
  const [revenue] = await list(ann, 'MDSCHEMA_MEASURES', { MEASURE_NAME: 'revenue' })
  expect(revenue).toMatchObject({ MEASURE_DISPLAY_FOLDER: 'Money' })
  const hierarchies = await list(ann, 'MDSCHEMA_HIERARCHIES')
  const folders = hierarchies.map((row) => [row.HIERARCHY_NAME, row.HIERARCHY_DISPLAY_FOLDER])
  expect(folders).toContainEqual(['region', 'Places'])
  expect(folders).toContainEqual(['day.Calendar', 'Times\\Days'])
  expect(await list(ann, 'TMSCHEMA_MEASURES')).toContainEqual(
    expect.objectContaining({ Name: 'revenue', DisplayFolder: 'Money' }),
  )
})

test('another tenant sees none of it', async () => {
  for (const rowset of ['MDSCHEMA_KPIS', 'MDSCHEMA_SETS'])
    expect(await ask(started.stranger, discoverBody(rowset))).toMatchObject({
      kind: 'fault',
      message: 'There is no such catalog.',
    })
})

describe('over REST', () => {
  const show = async (secret: string) => (await askRest(started.lake, 'GET', path, secret)).body

  test('a steward is shown all, and a reader what is in their cube', async () => {
    const { lake, steward } = started
    expect(await show(steward)).toMatchObject({ kpis, sets })
    expect(await show(lake.env.PGPASSWORD)).toMatchObject({ kpis, sets })
    const found = (await show(lake.restricted.PGPASSWORD)) as {
      readonly kpis: readonly { readonly name: string }[]
      readonly sets: readonly { readonly name: string }[]
    }
    expect(found.kpis.map(({ name }) => name)).toEqual(['sales', 'buying'])
    expect(found.sets.map(({ name }) => name)).toEqual(['best', 'of_the_best'])
  })

  test('a metric says its folder', async () => {
    const { body } = await askRest(started.lake, 'GET', '/api/v1/metrics/revenue', started.steward)
    expect(body).toMatchObject({ folder: 'Money' })
  })

  test.each([
    [
      'a metric that there is not',
      { kpis: [{ name: 'k', value: 'nothing' }] },
      'The KPI `k` is refused: It names [Measures].[nothing]',
    ],
    [
      'a hierarchy that there is not',
      { sets: [{ name: 's', expression: '[orders].[nothing].Members' }] },
      'which is no metric and no hierarchy',
    ],
    [
      'what is no MDX',
      { kpis: [{ name: 'k', value: 'revenue', goal: '[Measures].[revenue] +' }] },
      'The KPI `k` is refused: MDX',
    ],
    [
      'a function that is not served',
      { sets: [{ name: 's', expression: `LinRegSlope(${region}.Members)` }] },
      'LINREGSLOPE',
    ],
    ['a set that is a number', { sets: [{ name: 's', expression: '1 + 1' }] }, 'is not a set'],
    ['a name that is there twice', { sets: [best, best] }, 'the name is there twice'],
    ['the name of a dimension', { sets: [{ ...best, name: 'orders' }] }, 'name of a dimension'],
    [
      'a KPI that comes later',
      { kpis: [{ name: 'k', value: 'KPIValue("sales")' }, sales] },
      'There is no KPI `sales` before it',
    ],
    ['a parent that there is not', { kpis: [{ ...sales, parent: 'nothing' }] }, 'can be its `parent`'],
    ['a parameter', { sets: [{ name: 's', expression: 'StrToSet(@x)' }] }, 'no parameter'],
  ])('%s is refused, and nothing is saved', async (_, more, message) => {
    const { lake, steward } = started
    const before = await show(steward)
    const { status, body } = await askRest(lake, 'PUT', path, steward, { ...model, ...more })
    expect({ status, text: JSON.stringify(body) }).toEqual({
      status: 422,
      text: expect.stringContaining(message),
    })
    expect(await show(steward)).toEqual(before)
  })

  test('an export is imported again without a change', async () => {
    const { lake, steward } = started
    const { body } = await askRest(lake, 'GET', '/api/v1/semantics/export?format=ossie', steward)
    const { document } = body as { readonly document: object }
    const before = await show(steward)
    const imported = await askRest(lake, 'POST', '/api/v1/semantics/imports', steward, {
      ...{ format: 'ossie', document: JSON.stringify(document) },
    })
    expect(imported.body).toMatchObject({ changes: [], not_carried: [] })
    expect(await show(steward)).toEqual(before)
  })

  test('an import brings a KPI and the metric that it names in one', async () => {
    const { lake, steward } = started
    const { body } = await askRest(lake, 'GET', '/api/v1/semantics/export?format=ossie', steward)
    const document = JSON.stringify((body as { readonly document: object }).document)
    const put = declaringAs(lake, steward)
    await put(path, model)
    const move = '/api/v1/metrics/target/versions/1/move'
    expect((await askRest(lake, 'POST', move, steward, { to: 'retired' })).status).toBe(200)
    const imported = await askRest(lake, 'POST', '/api/v1/semantics/imports', steward, {
      ...{ format: 'ossie', document },
    })
    expect(imported.body).toMatchObject({ metrics: expect.arrayContaining(['target']), not_carried: [] })
    expect(await show(steward)).toMatchObject({ kpis, sets })
  })

  test('a KPI is not shown while a metric of it is not in force', async () => {
    const { lake, steward, ann } = started
    const move = (version: number, to: string) =>
      askRest(lake, 'POST', `/api/v1/metrics/target/versions/${version}/move`, steward, { to })
    expect((await move(2, 'retired')).status).toBe(200)
    expect(names(await list(ann, 'MDSCHEMA_KPIS'), 'KPI_NAME')).toEqual(['noted'])
    await declaringAs(lake, steward)('/api/v1/metrics/target', { kind: 'derived', expression: 'buyers * 20' })
    expect(names(await list(ann, 'MDSCHEMA_KPIS'), 'KPI_NAME')).toEqual(['sales', 'buying', 'noted'])
  })
})
