/** Amounts of several currencies as a metric in one, by a table of rates, as each reader may see both tables. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { deleteContract } from '../../src/contract/delete-contract.ts'
import { putMask } from '../../src/contract/put-mask.ts'
import { putTag } from '../../src/contract/put-tag.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import { actorOf } from '../support/actor.ts'
import { generator } from '../support/generator.ts'
import { ask } from '../support/identity.ts'
import { type Lake, readAs, startLake } from '../support/lake.ts'
import { licenseForAll } from '../support/license.ts'
import { openSteward } from '../support/semantic-layer.ts'
import { makeTenant } from '../support/spare-tenants.ts'

setDefaultTimeout(120_000)

/** No pound has a rate, nor has a payment without a currency. Others than officers see two regions. */
const payments = {
  name: 'payments',
  columns: [
    ['id', 'bigint', 'i'],
    ['day', 'date', "CAST(date '2024-01-01' + CAST(i % 60 AS integer) AS date)"],
    [
      'currency',
      'text',
      "CASE i % 6 WHEN 0 THEN 'EUR' WHEN 1 THEN 'USD' WHEN 2 THEN 'CHF' WHEN 3 THEN 'JPY' WHEN 4 THEN 'GBP' END",
    ],
    ['amount', 'numeric(10,2)', 'CASE WHEN i % 17 = 0 THEN NULL ELSE (i * 37 % 10000) * 0.01 END'],
    ['pieces', 'integer', 'i % 5'],
    [
      'region',
      'text',
      "CASE i % 7 WHEN 0 THEN 'north' WHEN 1 THEN 'south' WHEN 2 THEN 'east' ELSE 'west' END",
    ],
    ['paid', 'boolean', 'i % 2 = 0'],
  ] as const,
  rowCount: 900,
  rowFilter: `region IN ('east', 'west')`,
}
/** Of each day; some rates are NULL. Others than officers see none of the yen. */
const rates = {
  name: 'fx',
  columns: [
    ['currency', 'text', "CASE i % 3 WHEN 0 THEN 'USD' WHEN 1 THEN 'CHF' ELSE 'JPY' END"],
    ['day', 'date', "CAST(date '2024-01-01' + CAST((i - 1) // 3 AS integer) AS date)"],
    ['rate', 'numeric(10,2)', 'CASE WHEN i % 20 = 0 THEN NULL ELSE round(0.5 + i * 0.01, 2) END'],
    ['source', 'text', "'bank ' || i % 2"],
  ] as const,
  rowCount: 180,
  rowFilter: `currency <> 'JPY'`,
}

let lake: Lake
let steward: string
let stranger: string
const table = { namespace: ['sales'], name: 'payments' }
const fx = { namespace: ['sales'], name: 'fx' }
const inEuro = { column: 'currency', to: 'EUR', rate: 'fx__rate' }

beforeAll(async () => {
  lake = await startLake({ tables: [payments, rates], env: { SVC_LICENSE: licenseForAll() } })
  steward = await openSteward(lake)
  stranger = await openSteward(lake, (await makeTenant(lake.store, { name: 'foreign' })).id, 'stan')
  await put('/api/v1/semantics/tables/sales/fx', {
    key: ['currency', 'day'],
    dimensions: [{ name: 'rate' }, { name: 'source' }, { name: 'half', expression: 'rate / 2' }],
  })
  await put('/api/v1/semantics/tables/sales/payments', {
    ...{ key: ['id'], time_dimension: 'day' },
    dimensions: [{ name: 'region' }, { name: 'currency' }, { name: 'paid' }, { name: 'day', kind: 'time' }],
    relationships: [{ name: 'fx', to: fx, columns: ['currency', 'day'], to_columns: ['currency', 'day'] }],
  })
  for (const of of ['sum', 'avg', 'min', 'max'])
    await put(`/api/v1/metrics/${of}_eur`, { table, expression: `${of}(amount)`, currency: inEuro })
  await put('/api/v1/metrics/value_eur', {
    ...{ table, expression: 'sum(amount * pieces)', filter: 'paid', currency: inEuro },
  })
  await put('/api/v1/metrics/payments', { table, expression: 'count(*)' })
  await put('/api/v1/metrics/basket', { kind: 'ratio', numerator: 'sum_eur', denominator: 'payments' })
  await put('/api/v1/metrics/so_far', { kind: 'cumulative', of: 'sum_eur' })
})
afterAll(() => lake[Symbol.asyncDispose]())

const putting = (path: string, body: object) => ask(lake, 'PUT', path, steward, body)

async function put(path: string, body: object) {
  const { status, body: answer } = await putting(path, body)
  if (status >= 300) throw new Error(JSON.stringify(answer))
  return answer
}

const readers = ['officer', 'reader'] as const
type Reader = (typeof readers)[number]
const secretOf = (who: Reader) => (who === 'officer' ? lake.env : lake.restricted).PGPASSWORD

const query = (secret: string, body: object) =>
  ask(lake, 'POST', '/api/v1/metrics/query', secret, { catalog: lake.catalog, ...body })

const wireText = (cell: unknown) => {
  if (typeof cell === 'boolean') return cell ? 't' : 'f'
  return cell === null ? 'NULL' : String(cell)
}

async function answered(who: Reader, body: object) {
  const { status, body: answer } = await query(secretOf(who), body)
  if (status !== 200) throw new Error(JSON.stringify(answer))
  const rows = answer.rows as readonly (readonly unknown[])[]
  return {
    rows: rows.map((row) => row.map(wireText).join('|')),
    warnings: answer.warnings as readonly string[],
  }
}

/** The rows of a statement over the tables themselves. */
async function byHand(who: Reader, text: string): Promise<readonly string[]> {
  const lines = await readAs(who === 'officer' ? lake.env : lake.restricted, text)
  const error = lines.find((line) => line.startsWith('E'))
  if (error !== undefined) throw new Error(`${error} ${text}`)
  return lines.flatMap((line) => (line.startsWith('D ') ? [line.slice(2)] : []))
}

const joined = 'FROM sales.payments p LEFT JOIN sales.fx f ON p.currency = f.currency AND p.day = f.day'
const converted = (amount: string) =>
  `CASE WHEN p.currency = 'EUR' THEN ${amount} ELSE ${amount} * f.rate END`
const hand: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['sum', 'avg', 'min', 'max'].map((of) => [`${of}_eur`, `${of}(${converted('p.amount')})`]),
  ),
  value_eur: `sum(${converted('p.amount * p.pieces')}) FILTER (WHERE p.paid)`,
  payments: 'count(*)',
  basket: `sum(${converted('p.amount')})::float8 / nullif(count(*)::float8, 0)`,
}
/** Of each metric in a request, which rows would count but for their rate. */
const counted: Readonly<Record<string, { readonly of: string; readonly rows: string }>> = {
  ...Object.fromEntries(
    ['sum', 'avg', 'min', 'max'].map((of) => [
      `${of}_eur`,
      { of: `${of}_eur`, rows: 'p.amount IS NOT NULL' },
    ]),
  ),
  value_eur: { of: 'value_eur', rows: 'p.amount * p.pieces IS NOT NULL AND p.paid' },
  basket: { of: 'sum_eur', rows: 'p.amount IS NOT NULL' },
}

async function warningsByHand(who: Reader, metrics: readonly string[], where: string) {
  const found = new Map<string, string>()
  for (const { of, rows } of metrics.flatMap((name) => counted[name] ?? [])) {
    const lost = await byHand(
      who,
      `SELECT count(*) || ' of ' || coalesce(p.currency, 'no currency') ${joined}
       WHERE ${where} AND ${rows} AND (p.currency IS NULL OR p.currency <> 'EUR') AND f.rate IS NULL
       GROUP BY p.currency ORDER BY count(*) DESC, p.currency`,
    )
    if (lost.length > 0) found.set(of, `Amounts without a rate are left out of ${of}: ${lost.join(', ')}.`)
  }
  return [...found.values()]
}

describe('amounts of several currencies', () => {
  test.each(readers)('are told to the %s in one, by the rates that they see', async (who) => {
    const { rows, warnings } = await answered(who, {
      metrics: ['sum_eur', 'basket'],
      dimensions: [{ name: 'region' }],
    })
    expect(rows.length).toBeGreaterThan(1)
    expect(rows).toEqual([
      ...(await byHand(
        who,
        `SELECT p.region, ${hand.sum_eur}, ${hand.basket} ${joined} GROUP BY 1 ORDER BY 1`,
      )),
    ])
    expect(warnings).toEqual(await warningsByHand(who, ['sum_eur'], 'true'))
    expect(warnings.join()).toContain('of GBP')
    expect(warnings.join()).toContain('of no currency')
  })

  test('that are all in the currency of the result, or have a rate, are told without a warning', async () => {
    const where = [{ dimension: 'currency', operator: '=', values: ['EUR'] }]
    const { rows, warnings } = await answered('officer', { metrics: ['sum_eur'], where })
    expect(rows).toEqual([
      ...(await byHand('officer', "SELECT sum(amount * 1.00) FROM sales.payments WHERE currency = 'EUR'")),
    ])
    expect(warnings).toEqual([])
  })

  test('without any rate are no number, and not the amounts themselves', async () => {
    const where = [{ dimension: 'currency', operator: '=', values: ['GBP'] }]
    const { rows, warnings } = await answered('officer', { metrics: ['sum_eur'], where })
    expect(rows).toEqual(['NULL'])
    expect(warnings.join()).toMatch(/^Amounts without a rate are left out of sum_eur: \d+ of GBP\.$/)
  })

  test('have the currency of the result as their unit', async () => {
    const { body } = await query(secretOf('officer'), { metrics: ['sum_eur'] })
    expect(body.columns).toEqual([{ name: 'sum_eur', type: 'numeric', kind: 'metric', unit: 'EUR' }])
    expect((await ask(lake, 'GET', '/api/v1/metrics/sum_eur', steward)).body).toMatchObject({
      ...{ unit: 'EUR', currency: inEuro },
    })
  })

  test('add up over time, and the warning counts the rows that were added up', async () => {
    const period = { grain: 'month', from: '2024-02-01T00:00:00Z', to: '2024-03-01T00:00:00Z' }
    const { rows, warnings } = await answered('officer', { metrics: ['so_far'], ...period })
    const [all = ''] = await byHand('officer', `SELECT ${hand.sum_eur} ${joined}`)
    expect(rows).toEqual([`2024-02-01|${all}`])
    expect(warnings).toEqual(await warningsByHand('officer', ['sum_eur'], 'true'))
  })

  test('are told as by hand in any request', async () => {
    const seed = Number(process.env.FX_SEED ?? 20_261_129)
    console.log(`seed ${seed}`)
    const next = generator(seed)
    const oneOf = <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)] as T
    const some = <T>(values: readonly T[]) => values.filter(() => next() < 0.4)
    let told = 0
    for (let round = 0; round < 24; round++) {
      const who = oneOf(readers)
      const metrics = some(Object.keys(hand))
      if (metrics.length === 0) metrics.push('sum_eur')
      const dimensions = some(['region', 'currency', 'paid', 'fx__source'])
      const sqlOf = (name: string) => (name === 'fx__source' ? 'f.source' : `p.${name}`)
      const wanted = oneOf(['', 'USD', 'CHF', 'GBP'])
      const from = oneOf(['2024-01-01', '2024-01-20', '2024-02-10'])
      const where = [`p.day >= date '${from}'`, ...(wanted === '' ? [] : [`p.currency <> '${wanted}'`])].join(
        ' AND ',
      )
      const found = await answered(who, {
        metrics,
        dimensions: dimensions.map((name) => ({ name })),
        from: `${from}T00:00:00Z`,
        ...(wanted !== '' && { where: [{ dimension: 'currency', operator: '!=', values: [wanted] }] }),
      })
      const keys = dimensions.map((_, index) => index + 1).join(', ')
      const expected = await byHand(
        who,
        `SELECT ${[...dimensions.map(sqlOf), ...metrics.map((name) => hand[name])].join(', ')} ${joined}
         WHERE ${where}${keys === '' ? '' : ` GROUP BY ${keys} ORDER BY ${keys}`}`,
      )
      expect([round, ...found.rows]).toEqual([round, ...expected])
      expect([round, ...found.warnings]).toEqual([round, ...(await warningsByHand(who, metrics, where))])
      told += found.warnings.length
    }
    expect(told).toBeGreaterThan(10)
  })
})

describe('a metric that converts currencies', () => {
  test('is refused in SQL, which cannot say what was left out, and is in no catalog', async () => {
    const lines = await readAs(lake.env, 'SELECT MEASURE(sum_eur) FROM sales.payments__metrics')
    expect(lines.join('\n')).toContain('left out here without a word')
    expect(await readAs(lake.env, 'SELECT MEASURE(basket) FROM sales.payments__metrics')).toEqual(
      expect.arrayContaining([expect.stringContaining('left out here without a word')]),
    )
    const names = await byHand(
      'officer',
      "SELECT column_name FROM information_schema.columns WHERE table_name = 'payments__metrics'",
    )
    expect(names).toContain('payments')
    expect(names.filter((name) => /_eur|basket/.test(name))).toEqual([])
  })

  test('cannot be attested', async () => {
    const second = await openSteward(lake, lake.tenant, 'sam')
    const { status, body } = await ask(lake, 'POST', '/api/v1/metrics/sum_eur/attestations', second, {
      ...{ tags: [], reason: 'r', evidence: 'e', valid_until: new Date(Date.now() + 86_400_000) },
    })
    expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining('converted by rates')])
  })

  test.each([
    ['a currency that no column holds', { column: 'coin' }, {}, 'no column `coin`'],
    ['a currency that is no text', { column: 'amount' }, {}, 'holds no texts'],
    [
      'a rate that no relationship over the currency leads to',
      { rate: 'region' },
      {},
      'no dimension of a table',
    ],
    ['a rate that there is not', { rate: 'fx__none' }, {}, 'no dimension of a table'],
    ['a rate that is no number', { rate: 'fx__source' }, {}, 'is no number'],
    ['an amount that is no number', {}, { expression: 'max(region)' }, ''],
    ['several aggregates', {}, { expression: 'sum(amount) - sum(pieces)' }, 'one sum, avg, min or max'],
    ['a count', {}, { expression: 'count(amount)' }, 'one sum, avg, min or max'],
    ['different amounts', {}, { expression: 'sum(distinct amount)' }, 'without DISTINCT'],
    ['a stock', {}, { semi_additive: { dimension: 'day', take: 'last' } }, 'semi_additive'],
    [
      'a metric of others',
      {},
      { kind: 'ratio', numerator: 'sum_eur', denominator: 'payments' },
      'kind simple',
    ],
  ])('is not saved for %s', async (_, currency, more, why) => {
    const { status, body } = await putting('/api/v1/metrics/wrong', {
      ...{ table, expression: 'sum(amount)', currency: { ...inEuro, ...currency }, ...more },
    })
    expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining(why)])
  })

  test('is not saved for what is no code of a currency', async () => {
    const currency = { ...inEuro, to: 'euro' }
    const { status } = await putting('/api/v1/metrics/wrong', { table, expression: 'sum(amount)', currency })
    expect(status).toBe(400)
  })

  test('takes a rate that is an expression', async () => {
    const currency = { ...inEuro, rate: 'fx__half' }
    await put('/api/v1/metrics/half_eur', { table, expression: 'sum(amount)', currency, unit: 'half EUR' })
    const where = [{ dimension: 'currency', operator: '=', values: ['USD'] }]
    const { rows } = await answered('officer', { metrics: ['half_eur'], where })
    const sum = `SELECT sum(p.amount * (f.rate / 2)) ${joined} WHERE p.currency = 'USD'`
    expect(rows).toEqual([...(await byHand('officer', sum))])
  })

  test('keeps the dimension of its rate in the model of the other table', async () => {
    const { status } = await putting('/api/v1/semantics/tables/sales/fx', {
      ...{ key: ['currency', 'day'], dimensions: [{ name: 'source' }] },
    })
    expect(status).toBe(422)
  })

  test('keeps the relationship over the currency in the model of its table', async () => {
    const other = { name: 'fx', to: fx, columns: ['region', 'day'], to_columns: ['currency', 'day'] }
    const { status, body } = await putting('/api/v1/semantics/tables/sales/payments', {
      ...{ key: ['id'], time_dimension: 'day', relationships: [other] },
      dimensions: [{ name: 'region' }, { name: 'currency' }, { name: 'paid' }, { name: 'day', kind: 'time' }],
    })
    expect([status, JSON.stringify(body)]).toEqual([
      422,
      expect.stringContaining('over the column `currency`'),
    ])
  })

  test('leaves and comes back by a document of Ossie unchanged', async () => {
    const { body: exported } = await ask(lake, 'GET', '/api/v1/semantics/export?format=ossie', steward)
    const imported = { format: 'ossie', document: JSON.stringify(exported.document) }
    const { status, body } = await ask(lake, 'POST', '/api/v1/semantics/imports', steward, imported)
    expect([status, body.changes]).toEqual([expect.any(Number), expect.objectContaining({})])
    expect((await ask(lake, 'GET', '/api/v1/metrics/sum_eur', steward)).body).toMatchObject({
      ...{ version: 1, currency: inEuro },
    })
    expect(JSON.stringify(exported.document)).toContain('fx__rate')
  })

  test('is unknown to another tenant', async () => {
    expect((await ask(lake, 'GET', '/api/v1/metrics/sum_eur', stranger)).status).toBe(404)
    const { body } = await query(stranger, { metrics: ['sum_eur'] })
    expect(JSON.stringify(body)).not.toContain('fx')
  })

  test.each([
    ['rate', fx, 'rate'],
    ['currency', table, 'currency'],
  ] as const)('is refused to who sees the %s masked, and not to others', async (_, of, column) => {
    const on = { store: lake.store, tenant: lake.tenant, actor: actorOf('stella'), checkPolicies }
    const tag = `hidden.${column}`
    await putMask(
      on,
      { tag },
      { id: `hide-${column}`, action: 'replace-with-null', exemptRoles: ['officer'] },
    )
    await putTag(on, of, column, tag)
    for (const metric of ['max_eur', 'basket']) {
      const { status, body } = await query(secretOf('reader'), { metrics: [metric] })
      expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining('masked_rate')])
      expect((await query(secretOf('officer'), { metrics: [metric] })).status).toBe(200)
    }
  })

  test('is as one that there is not where the table of rates may not be read', async () => {
    const on = { store: lake.store, tenant: lake.tenant, actor: actorOf('stella'), checkPolicies }
    await deleteContract(on, fx)
    const of = async (name: string) =>
      JSON.stringify((await query(secretOf('officer'), { metrics: [name] })).body).replaceAll(name, '?')
    const hidden = await of('sum_eur')
    expect(hidden).toBe(await of('nowhere'))
    expect(hidden).not.toContain('fx')
    const sql = async (name: string) =>
      (await readAs(lake.env, `SELECT MEASURE(${name}) FROM sales.payments__metrics`))
        .join('\n')
        .replaceAll(name, '?')
    expect((await sql('sum_eur')).replace(/\s*\^$/m, '')).toBe((await sql('nowhere')).replace(/\s*\^$/m, ''))
  })
})
