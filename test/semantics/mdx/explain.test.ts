/** Explaining an MDX query: its statements, filters and masks, and no value. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { ask } from '../../support/identity.ts'
import type { Lake } from '../../support/lake.ts'
import { openSteward } from '../../support/semantic-layer.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { startCubeLake } from './cube-lake.ts'

setDefaultTimeout(120_000)

let lake: Lake
beforeAll(async () => {
  lake = await startCubeLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

const statement =
  'SELECT {[Measures].[revenue]} ON 0, [orders].[email].Members ON 1 FROM [sales.orders] WHERE ([orders].[region].&[east])'
const explain = (secret: string, text = statement) =>
  ask(lake, 'POST', '/api/v1/xmla/lake/explain', secret, { statement: text })

test('a reader learns the statements over metrics, and which filters and masks apply', async () => {
  const { status, body } = await explain(lake.restricted.PGPASSWORD)
  expect(status).toBe(200)
  const { read_as, statements } = body as { read_as: string; statements: readonly Record<string, unknown>[] }
  expect(read_as).toContain('FROM [sales.orders]')
  expect(statements.length).toBeGreaterThan(1)
  const last = statements.at(-1)
  expect(last).toMatchObject({
    statement: expect.stringContaining('GROUP BY GROUPING SETS'),
    tables: [{ table: { namespace: ['sales'], name: 'orders' } }],
    policies: expect.arrayContaining([
      expect.objectContaining({ kind: 'row_filter', id: 'orders-rows' }),
      expect.objectContaining({ kind: 'column_mask', column: 'email', action: 'mask-alphanum' }),
    ]),
  })
  expect(last).not.toHaveProperty('sql')
  // Neither values of rows nor of the query.
  expect(JSON.stringify(statements)).not.toMatch(/example\.com|nnn|east/)
})

test('a query by month is explained as it runs', async () => {
  const byMonth = statement.replace('[email].Members', '[day.Calendar].[Month].Members')
  const { status, body } = await explain(await openSteward(lake), byMonth)
  expect([status, JSON.stringify(body)]).toEqual([200, expect.stringContaining('make_date')])
})

test('a steward also sees the SQL for the engine', async () => {
  const { body } = await explain(await openSteward(lake))
  const { statements } = body as { statements: readonly { sql: string }[] }
  expect(statements.at(-1)?.sql).toContain('GROUPING SETS')
})

test('what is not supported is refused by its name, and a foreign tenant finds no cube', async () => {
  const { status, body } = await explain(lake.restricted.PGPASSWORD, statement.replace('Members', 'Foo(1)'))
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('.FOO( ) is not supported')])
  const foreign = await openSteward(lake, (await makeTenant(lake.store, { name: 'foreign' })).id)
  expect((await explain(foreign)).status).not.toBe(200)
})
