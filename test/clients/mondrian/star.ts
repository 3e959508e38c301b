/** One star schema twice: as a cube of a lake, and as a cube of Mondrian over the same rows in PostgreSQL. */

import type { Oracle } from '../../query/support/postgres.ts'
import { type Lake, startLake } from '../../support/lake.ts'
import { type LakeTable, selectList } from '../../support/lake-tables.ts'
import { licenseForAll } from '../../support/license.ts'
import { declaringAs, openSteward } from '../../support/semantic-layer.ts'

export const cubeName = 'sales.sold'
export type Reader = 'ann' | 'bob'

/** So few rows that many combinations have none. */
const sold: LakeTable = {
  ...{ name: 'sold', rowCount: 400, rowFilter: "region <> 'r3'" },
  mask: { column: 'channel', action: 'mask-alphanum' },
  columns: [
    ['id', 'bigint', 'i'],
    ['region', 'text', "'r' || (i * i * 7 % 101 % 6)"],
    ['status', 'text', "'s' || ((i * i * 13 + i) % 97 % 5)"],
    // Two of these have one mask.
    [
      'channel',
      'text',
      "CASE (i * i * 3 + i * 5) % 89 % 5 WHEN 0 THEN 'web' WHEN 1 THEN 'app' WHEN 2 THEN 'shop' WHEN 3 THEN 'phone' END",
    ],
    ['shop', 'bigint', '1 + i * 13 % 11'],
    ['amount', 'numeric(10,2)', '(1 + i * 6007 % 9973) * 0.01'],
    ['qty', 'integer', '1 + i * 37 % 9'],
    ['customer', 'bigint', 'i * 17 % 90'],
    ['day', 'date', "CAST(date '2023-01-01' + CAST(i * 101 % 640 AS integer) AS date)"],
  ],
}

const shops: LakeTable = {
  ...{ name: 'shops', rowCount: 11 },
  columns: [
    ['id', 'bigint', 'i'],
    ['city', 'text', "'c' || (i % 4)"],
  ],
}

/** Metrics by name: of the lake, and how Mondrian aggregates which column. */
export const measures = {
  revenue: { sql: 'sum(amount)', aggregator: 'sum', column: 'amount' },
  items: { sql: 'sum(qty)', aggregator: 'sum', column: 'qty' },
  sales: { sql: 'count(*)', aggregator: 'count', column: 'id' },
  customers: { sql: 'count(DISTINCT customer)', aggregator: 'distinct-count', column: 'customer' },
  dearest: { sql: 'max(amount)', aggregator: 'max', column: 'amount' },
} as const

/** Starts the lake: ann sees every row and value, bob some of them, masked. */
export async function startStarLake(): Promise<Lake> {
  const lake = await startLake({ tables: [sold, shops], env: { SVC_LICENSE: licenseForAll() } })
  const put = declaringAs(lake, await openSteward(lake))
  const table = { namespace: ['sales'], name: 'sold' }
  await put('/api/v1/semantics/tables/sales/shops', { key: ['id'], dimensions: [{ name: 'city' }] })
  await put('/api/v1/semantics/tables/sales/sold', {
    key: ['id'],
    time_dimension: 'day',
    dimensions: [
      { name: 'region' },
      { name: 'status' },
      { name: 'channel' },
      { name: 'origin', expression: 'channel' },
      { name: 'day', kind: 'time' },
    ],
    relationships: [
      { name: 'place', to: { namespace: ['sales'], name: 'shops' }, columns: ['shop'], to_columns: ['id'] },
    ],
  })
  for (const [name, { sql }] of Object.entries(measures))
    await put(`/api/v1/metrics/${name}`, { table, expression: sql })
  return lake
}

/** The fact table that stands for what a reader sees. */
const factOf: Readonly<Record<Reader, string>> = { ann: 'sold', bob: 'sold_seen' }

/** Mondrian puts members of NULL in different places, so that it gets this instead, which is last in any order. */
export const nullKey = '~'

/** Writes the rows into PostgreSQL; what bob sees of them is a view by hand. */
export async function fillStar({ admin }: Oracle): Promise<void> {
  const rows = ({ columns, rowCount }: LakeTable) =>
    `SELECT ${selectList(columns)} FROM generate_series(1, ${rowCount}) AS t(i)`
  const first = (grain: string) => `date_trunc('${grain}', day)::date::text AS ${grain}_key`
  await admin.unsafe(`
    CREATE SCHEMA sales;
    CREATE TABLE sales.shops AS ${rows(shops)};
    CREATE TABLE sales.sold AS SELECT *, coalesce(channel, '${nullKey}') AS channel_key, ${['year', 'quarter', 'month', 'day'].map(first).join(', ')} FROM (${rows(sold)}) s;
    CREATE VIEW sales.sold_seen AS
      SELECT id, region, status, regexp_replace(channel, '[a-z]', 'x', 'g') AS channel,
             coalesce(regexp_replace(channel, '[a-z]', 'x', 'g'), '${nullKey}') AS channel_key, shop, amount, qty, customer, day,
             year_key, quarter_key, month_key, day_key
      FROM sales.sold WHERE region <> 'r3'`)
}

/** Mondrian's description of the cube for a reader, with the names that the lake's cube has. */
export function mondrianSchema(who: Reader): string {
  const level = (name: string, column: string) =>
    `<Level name="${name}" column="${column}" type="String" uniqueMembers="true"/>`
  const hierarchy = (name: string, levels: string, more = '') =>
    `<Hierarchy name="${name}" hasAll="true" allMemberName="All"${more}>${levels}</Hierarchy>`
  const calendar = ['Year', 'Quarter', 'Month', 'Day'].map((name) => level(name, `${name.toLowerCase()}_key`))
  const own = [
    ...['region', 'status'].map((name) => hierarchy(name, level(name, name))),
    hierarchy('channel', level('channel', 'channel_key')),
    hierarchy('origin', level('origin', 'channel')),
    hierarchy('day.Calendar', calendar.join('')),
  ]
  const place = hierarchy(
    'city',
    `<Table schema="sales" name="shops"/>${level('city', 'city')}`,
    ' primaryKey="id"',
  )
  const values = Object.entries(measures).map(
    ([name, { aggregator, column }]) =>
      `<Measure name="${name}" column="${column}" aggregator="${aggregator}"/>`,
  )
  return `<Schema name="${who}"><Cube name="${cubeName}"><Table schema="sales" name="${factOf[who]}"/>
<Dimension name="sold">${own.join('')}</Dimension>
<Dimension name="place" foreignKey="shop">${place}</Dimension>
${values.join('')}</Cube></Schema>`
}
