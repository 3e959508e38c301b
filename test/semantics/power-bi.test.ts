/**
 * DirectQuery of Power BI over the PostgreSQL wire, with the SQL that it writes around tables and around a statement of the
 * user: governed rows and metrics for two principals, and nothing for one of another tenant.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readAs } from '../support/lake.ts'
import { startXmlaLake, type XmlaLake } from '../support/xmla-lake.ts'

setDefaultTimeout(120_000)
const page = await Bun.file(new URL('../../docs/xmla.md', import.meta.url)).text()
/** The statement that the page gives to the connector. */
const [, own = ''] = /```sql\n(.*?)```/s.exec(page) ?? []

let one: XmlaLake
beforeAll(async () => {
  one = await startXmlaLake()
})
afterAll(() => one.lake[Symbol.asyncDispose]())

const readers = ['ann', 'bob'] as const
const envOf = (who: (typeof readers)[number]) => (who === 'ann' ? one.lake.env : one.lake.restricted)

/** What Power BI makes of a visual by region over `source`. */
const visual = (source: string, column: string) =>
  `select "_"."region" as "c1", "_"."a0" as "a0" from ( select "rows"."region" as "region", sum("rows"."${column}") as "a0" from ( select "region", "${column}" from ${source} "$Table" where "region" is not null ) "rows" group by "region" ) "_" where not "_"."a0" is null order by "_"."region" limit 1000001`

const byHand = 'SELECT region, sum(amount) FROM sales.orders GROUP BY region ORDER BY region'

describe.each(readers)('%s', (who) => {
  test('gets the sums of the rows that they see, from a table and from a statement over metrics', async () => {
    const expected = await readAs(envOf(who), byHand)
    expect(expected.length).toBe(who === 'ann' ? 5 : 3)
    expect(await readAs(envOf(who), visual('"sales"."orders"', 'amount'))).toEqual(expected)
    expect(await readAs(envOf(who), visual(`(${own})`, 'revenue'))).toEqual(expected)
  })

  test('gets no metric of a relation that is read row by row', async () => {
    const [answer] = await readAs(envOf(who), visual('"sales"."orders__metrics"', 'revenue'))
    expect(answer).toStartWith('E 42803 "revenue" is a metric of orders__metrics. Use MEASURE(revenue)')
  })
})

test('a principal of another tenant gets nothing of the database', async () => {
  const { user, secret } = one.stranger
  const env = { ...one.lake.env, PGUSER: user, PGPASSWORD: secret }
  for (const text of [visual('"sales"."orders"', 'amount'), visual(`(${own})`, 'revenue')])
    expect(await readAs(env, text)).toEqual([])
})
