/** How often a statement over the wire asks what governs its tables. */

import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { checkPolicies } from '../../../src/query/protect.ts'
import { deleteRowFilter, putRowFilter } from '../../../src/store/contracts.ts'
import type { Store } from '../../../src/store/store.ts'
import { type Lake, startLake } from '../../support/lake.ts'
import { openTestStore } from '../../support/store.ts'
import { frames, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(60_000)

const statement = 'SELECT id FROM sales.orders WHERE id = 18'
const stack = new AsyncDisposableStack()
let lake: Lake
let client: WireClient
let loads = 0

beforeAll(async () => {
  const store = stack.use(await openTestStore())
  lake = stack.use(await startLake({ store: counting(store) }))
  const { PGPORT, PGUSER, PGPASSWORD, PGDATABASE } = lake.restricted
  const login = { user: PGUSER, database: PGDATABASE, password: PGPASSWORD }
  client = await WireClient.logIn({ port: Number(PGPORT) }, login)
  stack.defer(() => client.close())
})
afterAll(() => stack.disposeAsync())
beforeEach(() => {
  loads = 0
})

function counting(store: Store): Store {
  return {
    ...store,
    async tenantCall(tenant, name, params) {
      if (name === 'load_read' && params[1]?.toString().includes('orders')) loads++
      return await store.tenantCall(tenant, name, params)
    },
  }
}

test('a Query message asks once for each of its statements', async () => {
  expect(await client.ask(frames.query(statement))).toContain('D 18')
  expect(loads).toBe(1)
  await client.ask(frames.query(`${statement};${statement}`))
  expect(loads).toBe(3)
})

test('Parse asks, and so does every Execute, however soon it follows', async () => {
  await client.ask(frames.parse(statement), frames.bind(), frames.execute(), frames.sync())
  expect(loads).toBe(2)
  await client.ask(frames.bind(), frames.execute(), frames.sync())
  expect(loads).toBe(3)
})

test('a cursor asks when it is first fetched from', async () => {
  await client.ask(frames.query('BEGIN'))
  await client.ask(frames.query(`DECLARE c CURSOR FOR ${statement}`))
  expect(loads).toBe(1)
  expect(await client.ask(frames.query('FETCH c'))).toContain('D 18')
  expect(loads).toBe(2)
  await client.ask(frames.query('ROLLBACK'))
})

test('a change between two Query messages is in the second’s answer, though its engine begins before it is asked', async () => {
  const on = { store: lake.store, tenant: lake.tenant, actor: 'stella', checkPolicies }
  const table = { namespace: ['sales'], name: 'orders' }
  for (let turn = 0; turn < 3; turn++) expect(await client.ask(frames.query(statement))).toContain('D 18')
  for (let turn = 0; turn < 3; turn++) {
    await putRowFilter(on, { table }, { id: 'none', expression: 'id < 0', exemptRoles: [] })
    expect(await client.ask(frames.query(statement))).toContain('C SELECT 0')
    await deleteRowFilter(on, { table }, 'none')
    expect(await client.ask(frames.query(statement))).toContain('D 18')
    expect(await client.ask(frames.query(statement))).toContain('D 18')
  }
})
