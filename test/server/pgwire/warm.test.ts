/** Statements that have run before run speculatively, and still see every change. */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { deleteContract } from '../../../src/contract/delete-contract.ts'
import { putContract } from '../../../src/contract/put-contract.ts'
import { putMask } from '../../../src/contract/put-mask.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { listUsage } from '../../../src/store/query/usage.ts'
import { createServiceSession, revokeServiceSession } from '../../../src/store/session/sessions.ts'
import type { Store } from '../../../src/store/store.ts'
import { resumeTenant, suspendTenant } from '../../../src/store/tenant/tenants.ts'
import { actorOf } from '../../support/actor.ts'
import { type Lake, startLake } from '../../support/lake.ts'
import { openTestStore } from '../../support/store.ts'
import { frames, spoken, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(300_000)

const statement = 'SELECT id, email FROM sales.orders WHERE id = 18'
const execute = [frames.bind({ statement: 's' }), frames.execute(), frames.sync()]
const whole = [frames.parse(statement), frames.bind(), frames.execute(), frames.sync()]
const refusal = 'E 57P01 the session was revoked or has expired'
const stack = new AsyncDisposableStack()
let lake: Lake
let client: WireClient
let session: string
/** Names of the calls that ask the store about a session, or what a statement is loaded by. */
let asked: string[] = []

beforeAll(async () => {
  const store = stack.use(await openTestStore())
  lake = stack.use(await startLake({ store: listening(store) }))
})
afterAll(() => stack.disposeAsync())
beforeEach(async () => {
  const principal = { sub: 'bob', roles: [] }
  const { id, secret } = await createServiceSession(lake.store, lake.tenant, {
    name: 'bob',
    principal,
    scopes: ['read'],
  })
  session = id
  const login = { user: 'bob', database: lake.catalog, password: secret }
  client = await WireClient.logIn({ port: Number(lake.env.PGPORT) }, login)
  await client.ask(frames.parse(statement, 's'), frames.sync())
  for (let turn = 0; turn < 4; turn++) {
    expect(await client.ask(...execute)).toContain('C SELECT 1')
    expect(await client.ask(frames.query(statement))).toContain('C SELECT 1')
    expect(await client.ask(...whole)).toContain('C SELECT 1')
  }
  asked = []
})

function listening(store: Store): Store {
  return {
    ...store,
    async tenantCall(tenant, name, params) {
      if (name === 'load_read') asked.push(params[2] === session ? 'load_read of the session' : name)
      return await store.tenantCall(tenant, name, params)
    },
    async adminCall(name, params) {
      asked.push(name)
      return await store.adminCall(name, params)
    },
  }
}

/** Everything until the connection is closed. */
const left = async () => (await client.until('never')).map(spoken)

const requests = [
  ['Execute', execute],
  ['Query', [frames.query(statement)]],
  ['Parse that came with its Execute', whole],
] as const

describe('the credential is asked about', () => {
  test.each(requests)('in the call that loads, and by nothing else, for a %s', async (_, request) => {
    expect(await client.ask(...request)).toContain('C SELECT 1')
    expect(asked).toEqual(['load_read of the session'])
  })

  test('by itself for what loads nothing', async () => {
    expect(await client.ask(frames.query('SHOW timezone'))).toContain('C SHOW')
    expect(asked).toEqual(['find_service_session'])
  })

  test('once for each run', async () => {
    await client.ask(...execute.slice(0, 2), ...execute)
    await client.ask(frames.query(`${statement};${statement}`))
    expect(asked).toEqual(Array(4).fill('load_read of the session'))
  })

  test('for each piece that a portal is read in', async () => {
    const pieces = [frames.execute('', 1), frames.execute('', 1), frames.sync()]
    await client.ask(frames.parse('SELECT id FROM sales.orders'), frames.bind(), ...pieces)
    expect(asked).toEqual(['load_read of the session', 'find_service_session'])
  })
})

describe('between two runs of a warm statement', () => {
  test.each(requests)('a session that is revoked is refused by the very next %s', async (_, request) => {
    await revokeServiceSession(lake.store, lake.tenant, session)
    client.send(...request)
    expect(await left()).toEqual([refusal])
    const { items } = await listUsage(lake.store, lake.tenant, {}, { limit: 1 })
    expect(items[0]).toMatchObject({ outcome: 'refused', sqlState: '28000', rowsOut: 0 })
  })

  test.each(requests)('a tenant that is suspended is refused by the very next %s', async (_, request) => {
    await suspendTenant(lake.store, lake.tenant)
    client.send(...request)
    expect(await left()).toEqual([refusal])
    await resumeTenant(lake.store, lake.tenant)
  })

  test.each(requests)(
    'a contract that ends, and a mask that changes, are in the very next %s',
    async (_, request) => {
      const ref = { namespace: ['sales'], name: 'orders' }
      const on = { store: lake.store, tenant: lake.tenant, actor: actorOf('stella'), checkPolicies }
      const column = { table: ref, column: 'email' }
      await putMask(on, column, { id: 'orders-email', action: 'replace-with-null', exemptRoles: [] })
      expect(await client.ask(...request)).toContain('D 18|NULL')
      await putMask(on, column, { id: 'orders-email', action: 'mask-alphanum', exemptRoles: ['officer'] })
      await deleteContract(on, ref)
      expect((await client.ask(...request)).some((answer) => answer.startsWith('E 42P01'))).toBe(true)
      await putContract(on, ref, { id: 'orders', version: 1 })
      expect(await client.ask(...request)).toContain('C SELECT 1')
    },
  )
})
