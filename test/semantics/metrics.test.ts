/** Metrics from their definition to their numbers, over REST and over SQL, as each reader may see the columns. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createTable, replaceSchema } from '../../demo/commits.ts'
import { deleteContract } from '../../src/contract/delete-contract.ts'
import { putContract } from '../../src/contract/put-contract.ts'
import { putMask } from '../../src/contract/put-mask.ts'
import { putTag } from '../../src/contract/put-tag.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { actorOf } from '../support/actor.ts'
import { ask } from '../support/identity.ts'
import { type Lake, readAs, startLake } from '../support/lake.ts'
import { ordersTable, regionsTable } from '../support/lake-tables.ts'
import { licenseForAll } from '../support/license.ts'
import { makeTenant } from '../support/spare-tenants.ts'

setDefaultTimeout(120_000)

let lake: Lake
let steward: string
let second: string
let stranger: string
const orders = '/api/v1/semantics/tables/sales/orders'
const table = { namespace: ['sales'], name: 'orders' }

/** Salaries of 70 people in three teams: two of 30, one of 10. */
const payTable = {
  name: 'pay',
  columns: [
    ['person', 'bigint', 'i'],
    ['team', 'text', "CASE WHEN i <= 30 THEN 'large' WHEN i <= 40 THEN 'small' ELSE 'wide' END"],
    ['salary', 'integer', '100000 + i'],
    ['badge', 'text', "'badge ' || i"],
  ] as const,
  rowCount: 70,
}

beforeAll(async () => {
  lake = await startLake({
    tables: [ordersTable, regionsTable, payTable],
    env: { SVC_LICENSE: licenseForAll() },
  })
  const open = async (sub: string, tenant = lake.tenant) => {
    const principal = { sub, roles: ['steward'] }
    const session = { name: sub, principal, scopes: ['read', 'admin'] as const }
    return (await createServiceSession(lake.store, tenant, session)).secret
  }
  steward = await open('stella')
  second = await open('sam')
  stranger = await open('stan', (await makeTenant(lake.store, { name: 'foreign' })).id)
  const on = { store: lake.store, tenant: lake.tenant, actor: actorOf('stella'), checkPolicies }
  const pay = { namespace: ['sales'], name: 'pay' }
  await putMask(
    on,
    { tag: 'sensitive.pay' },
    { id: 'hide-pay', action: 'replace-with-null', exemptRoles: ['officer'] },
  )
  await putTag(on, pay, 'salary', 'sensitive.pay')
})
afterAll(() => lake[Symbol.asyncDispose]())

/** The rows of a statement over the wire. */
async function read(env: Parameters<typeof readAs>[0], text: string): Promise<readonly string[]> {
  const lines = await readAs(env, text)
  const error = lines.find((line) => line.startsWith('E'))
  if (error !== undefined) throw new Error(error)
  return lines.flatMap((line) => (line.startsWith('D ') ? [line.slice(2)] : []))
}

const as = { ann: () => lake.env.PGPASSWORD, bob: () => lake.restricted.PGPASSWORD }

async function made(method: string, path: string, body: object, secret = steward) {
  const { status, body: answer } = await ask(lake, method, path, secret, body)
  if (status >= 300) throw new Error(JSON.stringify(answer))
  return answer
}

const query = (secret: string, body: object) =>
  ask(lake, 'POST', '/api/v1/metrics/query', secret, { catalog: lake.catalog, ...body })

async function rows(secret: string, body: object): Promise<readonly (readonly unknown[])[]> {
  const { status, body: answer } = await query(secret, body)
  if (status !== 200) throw new Error(JSON.stringify(answer))
  return answer.rows as readonly (readonly unknown[])[]
}

const asText = (given: readonly (readonly unknown[])[]) => given.map((row) => row.join('|'))

describe('a semantic layer', () => {
  test('is declared by terms, models and metrics', async () => {
    await made('PUT', '/api/v1/glossary/revenue', { definition: 'What customers paid' })
    await made('PUT', '/api/v1/semantics/tables/sales/regions', {
      key: ['name'],
      dimensions: [{ name: 'name' }, { name: 'initial', expression: 'upper(left(name, 1))' }],
    })
    const model = await made('PUT', orders, {
      key: ['id'],
      time_dimension: 'day',
      dimensions: [
        { name: 'region' },
        { name: 'email' },
        { name: 'day', kind: 'time' },
        { name: 'big', expression: 'amount > 50' },
      ],
      relationships: [
        {
          name: 'area',
          to: { namespace: ['sales'], name: 'regions' },
          columns: ['region'],
          to_columns: ['name'],
        },
      ],
    })
    expect(model).toMatchObject({ version: 1, key: ['id'], time_dimension: 'day' })
    const metric = await made('PUT', '/api/v1/metrics/revenue', {
      table,
      expression: 'sum(amount)',
      filter: 'paid',
      term: 'revenue',
      unit: 'EUR',
    })
    expect(metric).toMatchObject({ version: 1, state: 'active', kind: 'simple', tags: [], problems: [] })
    await made('PUT', '/api/v1/metrics/order_count', { table, expression: 'count(*)' })
    await made('PUT', '/api/v1/metrics/basket', {
      kind: 'ratio',
      numerator: 'revenue',
      denominator: 'order_count',
    })
    await made('PUT', '/api/v1/metrics/revenue_so_far', { kind: 'cumulative', of: 'revenue' })
    const month = { count: 1, grain: 'month' }
    const moved = { kind: 'offset', of: 'revenue', offset_window: month }
    expect(await made('PUT', '/api/v1/metrics/revenue_last_month', moved)).toMatchObject({
      ...{ kind: 'offset', metric: 'revenue', offset_window: month, tables: [table] },
    })
  })

  test.each(['ann', 'bob'] as const)('answers %s by REST what SQL over the table answers', async (who) => {
    const env = who === 'ann' ? lake.env : lake.restricted
    const expected = await read(
      env,
      `SELECT date_trunc('quarter', day::timestamp)::date, region, sum(amount) FILTER (WHERE paid),
         (sum(amount) FILTER (WHERE paid))::float8 / count(*) FROM sales.orders GROUP BY 1, 2 ORDER BY 1, 2`,
    )
    const found = await rows(as[who](), {
      metrics: ['revenue', 'basket'],
      dimensions: [{ name: 'region' }],
      grain: 'quarter',
    })
    expect(found.length).toBeGreaterThan(6)
    expect(asText(found)).toEqual([...expected])
  })

  test.each(['ann', 'bob'] as const)('answers %s by SQL over the metric relation', async (who) => {
    const env = who === 'ann' ? lake.env : lake.restricted
    const expected = await read(
      env,
      `SELECT upper(left(region, 1)), sum(amount) FILTER (WHERE paid) FROM sales.orders
       GROUP BY 1 HAVING count(*) > 10 ORDER BY 2 DESC`,
    )
    const found = await read(
      env,
      `SELECT area__initial, MEASURE(revenue) FROM sales.orders__metrics
       GROUP BY 1 HAVING MEASURE(order_count) > 10 ORDER BY MEASURE(revenue) DESC`,
    )
    expect(found.length).toBeGreaterThan(1)
    expect(found).toEqual(expected)
  })

  test('adds up over time, also where a period has no row', async () => {
    const found = await rows(as.ann(), {
      metrics: ['revenue_so_far', 'revenue'],
      grain: 'month',
      from: '2024-01-01T00:00:00Z',
      to: '2025-03-01T00:00:00Z',
    })
    const months = await read(
      lake.env,
      "SELECT sum(amount) FILTER (WHERE paid) FROM sales.orders GROUP BY date_trunc('month', day::timestamp) ORDER BY date_trunc('month', day::timestamp)",
    )
    let sum = 0
    const expected = Array.from({ length: 14 }, (_, index) => {
      sum += Number(months[index] ?? 0)
      return sum.toFixed(2)
    })
    expect(found.map(([, soFar]) => soFar)).toEqual(expected)
  })

  test('says what hides rows and at which snapshot it read', async () => {
    const { body } = await query(as.bob(), { metrics: ['order_count'] })
    expect(body).toMatchObject({
      rows: [['500']],
      restricted_by: [table],
      as_of: [{ table, pinned: false }],
      columns: [{ name: 'order_count', type: 'int8', kind: 'metric' }],
    })
  })
})

describe('a metric relation', () => {
  const refused = [
    ['a bare measure', 'SELECT region, revenue FROM sales.orders__metrics', 'Use MEASURE(revenue)'],
    ['another aggregate', 'SELECT max(revenue) FROM sales.orders__metrics', 'Use MEASURE(revenue)'],
    ['a column that is no dimension', 'SELECT note FROM sales.orders__metrics', 'does not exist'],
    ['an unknown metric', 'SELECT MEASURE(nothing) FROM sales.orders__metrics', 'there is no metric'],
    [
      'a join, which could count rows twice',
      'SELECT MEASURE(revenue) FROM sales.orders__metrics m JOIN sales.orders o ON o.region = m.region',
      'cannot be joined',
    ],
    ['an accumulation', 'SELECT MEASURE(revenue_so_far) FROM sales.orders__metrics', 'there is no metric'],
  ] as const
  test.each(refused)('refuses %s', async (_, text, message) => {
    const found = await read(lake.env, text).then(
      (answer) => `answered ${answer}`,
      (cause: Error) => cause.message,
    )
    expect(found).toContain(message)
  })

  test('shows its dimensions for a star, and takes the aggregate of the definition', async () => {
    const [first] = await read(
      lake.restricted,
      'SELECT * FROM sales.orders__metrics ORDER BY day, email LIMIT 1',
    )
    expect(first?.split('|')).toHaveLength(7)
    const own = await read(lake.env, 'SELECT sum(revenue) FROM sales.orders__metrics')
    expect(own).toEqual(await read(lake.env, 'SELECT MEASURE(revenue) FROM sales.orders__metrics'))
  })
})

describe('the catalog', () => {
  const listed = () =>
    read(
      lake.restricted,
      `SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'orders__metrics' ORDER BY 1`,
    )

  test('lists the relation with dimensions and metrics, and a new metric at once', async () => {
    expect(await listed()).toEqual([
      'area__initial|text',
      'area__name|text',
      'basket|double precision',
      'big|boolean',
      'day|date',
      'email|text',
      'metric_time|date',
      'order_count|bigint',
      'region|text',
      'revenue|numeric',
    ])
    await made('PUT', '/api/v1/metrics/largest', { table, expression: 'max(amount)' })
    expect(await listed()).toContain('largest|numeric')
    const tables = await read(
      lake.restricted,
      "SELECT obj_description(c.oid) FROM pg_catalog.pg_class c WHERE relname = 'orders__metrics'",
    )
    expect(tables.join()).toContain('MEASURE')
  })
})

describe('a masked column', () => {
  const average = { metrics: ['average_pay'], dimensions: [{ name: 'team' }] }

  test('stays masked in a metric, in its members and in its description', async () => {
    await made('PUT', '/api/v1/semantics/tables/sales/pay', {
      key: ['person'],
      dimensions: [{ name: 'team' }, { name: 'salary' }, { name: 'person' }],
    })
    await made('PUT', '/api/v1/metrics/average_pay', {
      table: { namespace: ['sales'], name: 'pay' },
      expression: 'avg(salary)',
    })
    expect(await rows(as.bob(), average)).toEqual([
      ['large', null],
      ['small', null],
      ['wide', null],
    ])
    expect(await rows(as.bob(), { metrics: ['average_pay'], dimensions: [{ name: 'salary' }] })).toEqual([
      [null, null],
    ])
    const { body } = await ask(lake, 'GET', '/api/v1/metrics/average_pay', as.bob())
    expect(body).toMatchObject({ tags: ['sensitive.pay'], problems: [{ kind: 'masked', column: 'salary' }] })
    expect((await ask(lake, 'GET', '/api/v1/metrics/average_pay', as.ann())).body).toMatchObject({
      tags: ['sensitive.pay'],
      problems: [],
    })
  })

  const attestation = {
    tags: ['sensitive.pay'],
    reason: 'Averages of large teams tell nothing of a person',
    evidence: 'Reviewed with the works council',
    valid_until: new Date(Date.now() + 86_400_000).toISOString(),
    min_group_size: 20,
  }
  const attestations = '/api/v1/metrics/average_pay/attestations'

  test('cannot be attested by the author of the metric, nor without an end, nor for another tag', async () => {
    const statuses = await Promise.all([
      ask(lake, 'POST', attestations, steward, attestation),
      ask(lake, 'POST', attestations, second, { ...attestation, valid_until: '2099-01-01T00:00:00Z' }),
      ask(lake, 'POST', attestations, second, { ...attestation, tags: ['other'] }),
      ask(lake, 'POST', attestations, stranger, attestation),
    ])
    expect(statuses.map(({ status }) => status)).toEqual([403, 422, 422, 404])
    expect(await rows(as.bob(), average)).toEqual([
      ['large', null],
      ['small', null],
      ['wide', null],
    ])
  })

  test('is lifted by an attestation inside the aggregate of large groups alone', async () => {
    await made('POST', attestations, attestation, second)
    expect(await rows(as.bob(), average)).toEqual([
      ['large', expect.stringMatching(/^100015\.5/)],
      ['small', null],
      ['wide', expect.stringMatching(/^100055\.5/)],
    ])
    // Neither its members, nor a single row, nor another metric.
    const members = await read(
      lake.restricted,
      'SELECT salary, MEASURE(average_pay) FROM sales.pay__metrics GROUP BY 1',
    )
    expect(members).toHaveLength(1)
    const single = await rows(as.bob(), { ...average, dimensions: [{ name: 'person' }] })
    expect(single.every(([, value]) => value === null)).toBe(true)
    const { body } = await ask(lake, 'GET', '/api/v1/metrics/average_pay', as.bob())
    expect(body).toMatchObject({ tags: [], problems: [], declassified: [{ tags: ['sensitive.pay'] }] })
  })

  test('cannot be reached by the names that the compiler uses', async () => {
    const attempts = [
      `SELECT MEASURE(average_pay), (SELECT max("^3") FROM sales.pay AS "\u0001x") FROM sales.pay__metrics`,
      `SELECT "\u0001r3" FROM sales.pay__metrics`,
      `SELECT max("\u0001x"."^3") FROM sales.pay AS "\u0001x"`,
    ]
    for (const text of attempts) {
      const found = await read(lake.restricted, text).catch(({ message }: Error) => [message])
      expect(found.join()).not.toContain('1000')
    }
  })

  test('is masked again by a change of the definition, of the mask, and by the end of the attestation', async () => {
    const masked = [
      ['large', null],
      ['small', null],
      ['wide', null],
    ]
    await made('PUT', '/api/v1/metrics/average_pay', {
      table: { namespace: ['sales'], name: 'pay' },
      expression: 'avg(salary)',
      description: 'Changed',
    })
    expect(await rows(as.bob(), average)).toEqual(masked)
    const { id } = await made('POST', attestations, attestation, second)
    expect(await rows(as.bob(), average)).not.toEqual(masked)
    await made('POST', `${attestations}/${id}/end`, { reason: 'No longer agreed' }, second)
    expect(await rows(as.bob(), average)).toEqual(masked)
    await made('POST', attestations, attestation, second)
    const on = { store: lake.store, tenant: lake.tenant, actor: actorOf('stella'), checkPolicies }
    await putMask(
      on,
      { tag: 'sensitive.pay' },
      { id: 'hide-pay', action: 'mask-to-fixed-value', exemptRoles: ['officer'] },
    )
    const found = await rows(as.bob(), average)
    expect(JSON.stringify(found)).not.toContain('1000')
  })
})

describe('what cannot be right is refused', () => {
  const refused = [
    ['a metric outside of aggregates', { table, expression: 'amount' }, 'must be inside an aggregate'],
    ['a function that is not there', { table, expression: 'summ(amount)' }, 'no such function: `summ`'],
    [
      'one over an aggregate',
      { table, expression: 'plus(sum(amount))' },
      'function plus(numeric) does not exist',
    ],
    ['one over metrics', { kind: 'derived', expression: 'plus(revenue)' }, 'does not exist'],
    ['an offset to nowhere', { kind: 'offset', of: 'revenue' }, '`offset_window` or `offset_to_grain`'],
    [
      'an offset of an offset',
      { kind: 'offset', of: 'revenue_last_month', offset_to_grain: 'year' },
      'not in force',
    ],
    ['a column that is not there', { table, expression: 'sum(nothing)' }, 'no column `nothing`'],
    ['a subquery', { table, expression: 'sum((SELECT 1))' }, 'subqueries'],
    ['an aggregate that has no meaning', { table, expression: 'sum(region)' }, 'does not exist'],
    ['a ratio of nothing', { kind: 'ratio', numerator: 'revenue', denominator: 'nothing' }, 'not in force'],
    ['a metric that is made of itself', { kind: 'derived', expression: 'loop + 1' }, 'made of itself'],
  ] as const
  test.each(refused)('%s', async (_, body, message) => {
    const { status, body: answer } = await ask(lake, 'PUT', '/api/v1/metrics/loop', steward, body)
    expect([status, JSON.stringify(answer)]).toEqual([422, expect.stringContaining(message)])
  })

  test.each(['summ(amount)', 'plus(sum(amount))'])(
    '%s says that there is no such function',
    async (expression) => {
      const { body } = await ask(lake, 'PUT', '/api/v1/metrics/loop', steward, { table, expression })
      expect(body.error).toMatchObject({ sqlstate: '42883' })
    },
  )

  test('a relationship that leads to no key', async () => {
    const { status } = await ask(lake, 'PUT', '/api/v1/semantics/tables/sales/regions', steward, {
      key: ['name'],
      dimensions: [{ name: 'name' }],
      relationships: [{ name: 'sold', to: table, columns: ['name'], to_columns: ['region'] }],
    })
    expect(status).toBe(422)
  })

  test('a second metric for one concept', async () => {
    const body = { table, expression: 'sum(amount)', term: 'revenue' }
    expect((await ask(lake, 'PUT', '/api/v1/metrics/turnover', steward, body)).status).toBe(409)
    const other = { ...body, variant: 'unit', unit: 'USD' }
    expect((await ask(lake, 'PUT', '/api/v1/metrics/turnover', steward, other)).status).toBe(200)
  })
})

describe('a table that may not be read', () => {
  const regions = { namespace: ['sales'], name: 'regions' }
  const described = async (secret: string) =>
    (await ask(lake, 'GET', '/api/v1/metrics/revenue', secret)).body as {
      readonly dimensions: readonly { readonly name: string }[]
    }

  test('shows no dimension to the tables that lead to it', async () => {
    const names = async (secret: string) => (await described(secret)).dimensions.map(({ name }) => name)
    expect(await names(as.ann())).toContain('area__initial')
    const on = { store: lake.store, tenant: lake.tenant, actor: actorOf('stella'), checkPolicies }
    expect(await deleteContract(on, regions)).toBe(true)
    expect(await names(as.ann())).toEqual(expect.arrayContaining(['region', 'day']))
    expect((await names(as.ann())).filter((name) => name.startsWith('area__'))).toEqual([])
  })
})

/** A commit of ann through the gateway. */
async function commit(path: string, body: string): Promise<void> {
  const response = await fetch(`${lake.app.url}v1/iceberg/${lake.catalog}/v1/namespaces/sales/${path}`, {
    method: 'POST',
    headers: { 'x-svc-session': as.ann(), 'content-type': 'application/json' },
    body,
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
}

describe('a table of the name of a metric relation', () => {
  const odd = { namespace: ['sales'], name: 'pay__metrics' }
  const model = { key: ['person'], dimensions: [{ name: 'team' }] }
  const pay = '/api/v1/semantics/tables/sales/pay'
  const on = () => ({ store: lake.store, tenant: lake.tenant, actor: actorOf('stella'), checkPolicies })
  const text = 'SELECT team FROM sales.pay__metrics GROUP BY team ORDER BY team'

  test('that comes later keeps its name in SQL, and the model says so', async () => {
    expect(await read(lake.env, text)).toEqual(['large', 'small', 'wide'])
    await commit('tables', createTable(odd.name))
    // Nobody may read it yet, so it hides nothing.
    expect(await read(lake.env, text)).toEqual(['large', 'small', 'wide'])
    await putContract(on(), odd, { id: 'odd', version: 1 })
    const found = await read(lake.env, text).catch(({ message }: Error) => [message])
    expect(found.join()).not.toContain('large')
    expect((await ask(lake, 'GET', pay, steward)).body).toMatchObject({ hidden_by_table: true })
    // Requests name metrics, not the relation.
    expect((await query(as.ann(), { metrics: ['average_pay'] })).status).toBe(200)
  })

  test('that is there already refuses the model', async () => {
    const { status, body } = await ask(lake, 'PUT', pay, steward, model)
    expect([status, JSON.stringify(body)]).toEqual([
      409,
      expect.stringContaining('There is a table sales.pay__metrics'),
    ])
    expect(await deleteContract(on(), odd)).toBe(true)
    expect((await ask(lake, 'PUT', pay, steward, model)).status).toBe(200)
  })
})

describe('a column of a metric', () => {
  const orphan = { namespace: ['sales'], name: 'pay' }
  test('that was dropped or has another type shows in the metric at once', async () => {
    await made('PUT', '/api/v1/metrics/badges', { table: orphan, expression: 'count(badge)' })
    await made('PUT', '/api/v1/metrics/payroll', { table: orphan, expression: 'sum(salary)' })
    const fields = [
      { id: 1, name: 'person', required: false, type: 'long' },
      { id: 2, name: 'team', required: false, type: 'string' },
      { id: 3, name: 'salary', required: false, type: 'long' },
    ] as const
    await commit('tables/pay', replaceSchema(fields))
    const problems = async (name: string) =>
      (await ask(lake, 'GET', `/api/v1/metrics/${name}`, as.ann())).body.problems
    expect(await problems('badges')).toMatchObject([{ kind: 'dropped', column: 'badge' }])
    expect(await problems('payroll')).toMatchObject([
      { kind: 'retyped', column: 'salary', detail: 'The column was int, and is long now.' },
    ])
    expect((await query(as.ann(), { metrics: ['badges'] })).status).toBe(409)
  })
})

describe('another tenant', () => {
  test('sees and asks for none of it', async () => {
    const { body } = await ask(lake, 'GET', '/api/v1/metrics', stranger)
    expect(body).toEqual({ items: [] })
    expect((await ask(lake, 'GET', '/api/v1/metrics/revenue', stranger)).status).toBe(404)
    expect((await ask(lake, 'GET', '/api/v1/glossary/revenue', stranger)).status).toBe(404)
    expect((await ask(lake, 'GET', orders, stranger)).status).toBe(404)
    expect((await query(stranger, { metrics: ['revenue'] })).status).toBe(400)
  })
})

describe('versions', () => {
  test('follow one another, and a retired one can no longer be asked for', async () => {
    await made('PUT', '/api/v1/metrics/notes', { table, expression: 'count(note)' })
    await made('PUT', '/api/v1/metrics/notes', { table, expression: 'count(distinct note)' })
    const { body } = await ask(lake, 'GET', '/api/v1/metrics/notes/versions', steward)
    expect(body).toMatchObject({
      items: [
        { version: 2, state: 'active' },
        { version: 1, state: 'retired' },
      ],
    })
    await made('POST', '/api/v1/metrics/notes/versions/2/move', { to: 'retired' })
    expect((await query(as.ann(), { metrics: ['notes'] })).status).toBe(400)
    const again = await ask(lake, 'POST', '/api/v1/metrics/notes/versions/2/move', steward, { to: 'active' })
    expect(again.status).toBe(409)
  })
})
