/** Errors of a statement have the SQLSTATE, the message and the place that PostgreSQL gives them. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { PostgresError } from 'postgres'
import type { GovernedTable } from '../../../../src/core/governed-table.ts'
import { SqlError } from '../../../../src/query/compile/base/sql-error.ts'
import { compileQuery } from '../../../../src/query/compile/compile.ts'
import { type Oracle, startOracle } from '../../support/postgres.ts'

setDefaultTimeout(300_000)

const types = { id: 'int', region: 'string', amount: 'decimal(10,2)', day: 'date', tags: 'boolean' }
const orders: GovernedTable = {
  ref: { namespace: ['public'], name: 'orders' },
  schemaName: 'public',
  tableName: 'orders',
  relation: {},
  columns: Object.entries(types).map(([name, type], index) => ({
    ...{ name, fieldId: index + 1, type, required: false, masks: [] },
  })),
  rowFilters: [],
  contract: { id: 'c', version: 1 },
}

const statements = [
  'SELECT region, count(*) FROM orders',
  'SELECT o.region, count(*) FROM public.orders o GROUP BY o.id',
  'SELECT public.orders.region, count(*) FROM public.orders GROUP BY id',
  'SELECT count(*) FROM orders GROUP BY id HAVING max(id) > 1 ORDER BY region',
  'SELECT upper(region), sum(amount) FROM orders GROUP BY day',
  'SELECT id + region FROM orders',
  'SELECT * FROM orders WHERE id = region',
  'SELECT * FROM orders WHERE amount = day',
  'SELECT - region FROM orders',
  'SELECT * FROM orders WHERE region AND tags',
  'SELECT * FROM orders WHERE region',
  'SELECT * FROM orders a JOIN orders b ON a.region',
  'SELECT count(*) FROM orders HAVING max(region)',
  'SELECT day::integer FROM orders',
  'SELECT CAST(day AS numeric) FROM orders',
  "SELECT * FROM orders WHERE id = 'x'",
  "SELECT 'x'::integer",
  "SELECT 1, '2024-13-01'::date",
  'SELECT upper(id) FROM orders',
  'SELECT nothing(id) FROM orders',
  'SELECT * FROM orders WHERE nothing = 1',
  'SELECT o.nothing FROM orders o',
  'SELECT x.id FROM orders',
  'SELECT * FROM nothing',
  'SELECT * FROM orders WHERE count(*) > 1',
]

let oracle: Oracle | undefined
beforeAll(async () => {
  oracle = await startOracle()
  await oracle?.admin.unsafe(
    'CREATE TABLE orders (id int, region text, amount numeric(10,2), day date, tags boolean)',
  )
})
afterAll(() => oracle?.stop())

function refused(text: string) {
  try {
    compileQuery({ text, principal: { sub: 'ann', roles: [] }, tables: [orders], searchPath: ['public'] })
  } catch (thrown) {
    if (!(thrown instanceof SqlError)) throw thrown
    const { sqlState, publicMessage, position, hint } = thrown
    return {
      sqlState,
      message: publicMessage,
      position: position === undefined ? undefined : position + 1,
      hint,
    }
  }
  throw new Error(`not refused: ${text}`)
}

test.each(statements)('%s is refused as PostgreSQL refuses it', async (text) => {
  if (oracle === undefined) return console.log('skipped: there are no PostgreSQL binaries for this platform')
  const theirs = await oracle.admin.unsafe(text).then(
    () => undefined,
    (error: PostgresError) => error,
  )
  const { code: sqlState, message = '', position } = theirs ?? {}
  expect(refused(text)).toMatchObject({
    sqlState: String(sqlState),
    // A value is not repeated in messages, because they are logged.
    message: sqlState?.startsWith('22') ? message.replace(/: ".*"$/, '') : message,
    position: Number(position),
  })
})
