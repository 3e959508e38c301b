/** The demo's queries in order: which principal queries the table, and the rows that are expected. */

import { putContract } from '../src/contract/put-contract.ts'
import { putMask } from '../src/contract/put-mask.ts'
import { putRowFilter } from '../src/contract/put-row-filter.ts'
import { operator } from '../src/core/administration.ts'
import { checkPolicies } from '../src/query/compile/protect/protect.ts'
import { type PsqlColumn, psqlTable } from './psql-table.ts'
import { orders, type World } from './world.ts'

export interface ReadStep {
  readonly title: string
  /** Why these rows are expected; one sentence. */
  readonly because: string
  readonly reader: 'ann' | 'bob'
  readonly statement: string
  /** What psql prints. */
  readonly printed: string
  readonly usage: ReadUsage
}

/** What the usage record of a query must say. */
export interface ReadUsage {
  readonly principal: string
  readonly outcome: string
  readonly rowsOut: number
  /** Ids of the filters and masks that were applied, sorted by name. */
  readonly policies: readonly string[]
}

const exemptRoles = ['officer']

/** Puts acme's sales.orders under a contract with a mask and a row filter, from which officers are exempt. */
export async function governReading({ store, acme }: World): Promise<void> {
  const on = { store, tenant: acme.id, actor: operator(), checkPolicies }
  await putContract(on, orders, { id: 'orders', version: 1 })
  await putMask(
    on,
    { table: orders, column: 'customer' },
    { id: 'hide-customer', action: 'mask-alphanum', exemptRoles },
  )
  await putRowFilter(on, { table: orders }, { id: 'small-orders', expression: 'amount < 1000', exemptRoles })
}

const columns: readonly PsqlColumn[] = [
  { name: 'id', right: true },
  { name: 'customer', right: false },
  { name: 'amount', right: true },
  { name: 'placed_at', right: false },
]
const everything = 'SELECT * FROM sales.orders ORDER BY id'
const policies = ['hide-customer', 'small-orders']

/** The queries, to be run after both snapshots are committed and {@link governReading} is done. */
export const readSteps: readonly ReadStep[] = [
  {
    title: 'An officer reads the table',
    because: 'the role officer is exempt from the mask and the row filter of the contract',
    reader: 'ann',
    statement: everything,
    printed: psqlTable(columns, [
      ['1', 'ada@example.com', '120.00', '2026-01-05 09:30:00+00'],
      ['2', 'bo@example.org', '4800.00', '2026-01-05 11:02:00+00'],
      ['3', 'cy@example.net', '75.50', '2026-01-06 08:15:00+00'],
      ['4', 'ada@example.com', '15000.00', '2026-01-06 16:40:00+00'],
    ]),
    usage: { principal: 'service:ann', outcome: 'completed', rowsOut: 4, policies: [] },
  },
  {
    title: 'An analyst sends the same statement',
    because: 'without the role, orders of 1000 and more are not there and customers are masked',
    reader: 'bob',
    statement: everything,
    printed: psqlTable(columns, [
      ['1', 'xxx@xxxxxxx.xxx', '120.00', '2026-01-05 09:30:00+00'],
      ['3', 'xx@xxxxxxx.xxx', '75.50', '2026-01-06 08:15:00+00'],
    ]),
    usage: { principal: 'service:bob', outcome: 'completed', rowsOut: 2, policies },
  },
  {
    title: 'The analyst guesses at a customer',
    because: 'a condition sees what the principal sees: the address is masked before it is compared',
    reader: 'bob',
    statement: "SELECT count(*) FROM sales.orders WHERE customer = 'ada@example.com'",
    printed: psqlTable([{ name: 'count', right: true }], [['0']]),
    usage: { principal: 'service:bob', outcome: 'completed', rowsOut: 1, policies },
  },
]
