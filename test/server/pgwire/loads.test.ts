/** How often a statement over the wire loads the governance of its tables. */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { deleteRowFilter } from '../../../src/contract/delete-row-filter.ts'
import { putRowFilter } from '../../../src/contract/put-row-filter.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import type { Store } from '../../../src/store/store.ts'
import { actorOf } from '../../support/actor.ts'
import { type Lake, startLake } from '../../support/lake.ts'
import { openTestStore } from '../../support/store.ts'
import { frames, spoken, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(300_000)

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

describe('a Parse that came with its Execute', () => {
  const run = [frames.execute(), frames.sync()]

  test('asks once for both', async () => {
    const asked = await client.ask(frames.parse(statement), frames.bind(), frames.describe('P'), ...run)
    expect(asked).toContain('D 18')
    expect(loads).toBe(1)
    const named = [frames.parse(statement, 'both'), frames.describe('S', 'both')]
    const portal = [frames.bind({ statement: 'both', portal: 'p' }), frames.execute('p'), frames.sync()]
    expect(await client.ask(...named, ...portal)).toContain('D 18')
    expect(loads).toBe(2)
    await client.ask(frames.close('S', 'both'), frames.sync())
  })

  test.each([
    ['said', 'id = $1', [20]],
    ['not said', 'id = $1', []],
    ['said of some', 'id = $1 AND $2::text IS NOT NULL', [0, 25]],
  ])('asks once with parameters, their types %s', async (_, condition, oids) => {
    const parse = frames.parse(`SELECT id FROM sales.orders WHERE ${condition}`, '', oids)
    for (const id of ['18', '-1', '18']) {
      loads = 0
      const parameters = condition.includes('$2') ? [id, 'x'] : [id]
      const answers = await client.ask(parse, frames.bind({ parameters }), frames.describe('P'), ...run)
      expect(answers.filter((answer) => /^[DCE]/.test(answer))).toEqual(
        id === '18' ? ['D 18', 'C SELECT 1'] : ['C SELECT 0'],
      )
      expect(loads).toBe(1)
    }
  })

  test('gives what it loaded to the first Execute only', async () => {
    const again = [frames.bind(), frames.execute()]
    await client.ask(frames.parse(statement), ...again, ...again, ...again, frames.sync())
    expect(loads).toBe(3)
    await client.ask(...again, frames.sync())
    expect(loads).toBe(4)
  })

  test('asks once for all pieces that a portal is read in', async () => {
    const pieces = [frames.execute('', 1), frames.execute('', 1), frames.execute('', 1)]
    const all = frames.parse('SELECT id FROM sales.orders')
    const answers = await client.ask(all, frames.bind(), ...pieces, frames.sync())
    expect(answers.filter((answer) => answer.startsWith('D'))).toHaveLength(3)
    expect(loads).toBe(1)
  })

  test.each([
    ['is refused', '', [frames.bind({ statement: 'kept', parameters: ['1'] })]],
    ['finds its portal’s name taken', 'taken', [frames.bind({ statement: 'kept', portal: 'taken' })]],
    [
      'comes after a Describe that is refused',
      '',
      [frames.describe('S', 'none'), frames.bind({ statement: 'kept' })],
    ],
  ])('gives nothing to a later Execute where its Bind %s', async (_, portal, bind) => {
    await client.ask(frames.query('BEGIN'))
    const taken = frames.bind({ statement: 'one', portal: 'taken' })
    await client.ask(frames.parse('SELECT 1', 'one'), taken, frames.sync())
    loads = 0
    const refused = await client.ask(
      frames.parse(statement, 'kept'),
      ...bind,
      frames.execute(portal),
      frames.sync(),
    )
    expect(refused.at(-2)).toStartWith('E ')
    expect(loads).toBe(1)
    await client.ask(frames.query('ROLLBACK'))
    expect(await client.ask(frames.bind({ statement: 'kept' }), ...run)).toContain('D 18')
    expect(loads).toBe(2)
    await client.ask(frames.close('S', 'kept'), frames.close('S', 'one'), frames.sync())
  })
})

describe('Parse asks, and so does every Execute', () => {
  const bind = frames.bind()
  const execute = frames.execute()

  test('that came later', async () => {
    await client.ask(frames.parse(statement, 'later'), frames.sync())
    expect(loads).toBe(1)
    const later = frames.bind({ statement: 'later' })
    await client.ask(later, execute, frames.sync())
    expect(loads).toBe(2)
    await client.ask(later, execute, later, execute, frames.sync())
    expect(loads).toBe(4)
    await client.ask(frames.close('S', 'later'), frames.sync())
  })

  test('that came later than its Bind', async () => {
    client.send(frames.parse(statement), bind, frames.flush())
    await client.until('2')
    expect(await client.ask(execute, frames.sync())).toContain('D 18')
    expect(loads).toBe(2)
  })

  test.each([
    ['a Flush', [frames.flush(), bind, execute]],
    ['a Sync', [frames.sync(), bind, execute]],
    ['another Bind', [frames.bind({ portal: 'other' }), bind, execute]],
    ['a Close', [frames.close('P'), bind, execute]],
  ])('with %s before it', async (_, rest) => {
    client.send(frames.parse(statement), ...rest, frames.sync())
    const syncs = rest.some((each) => each[0] === 'S'.charCodeAt(0)) ? 2 : 1
    const answers = []
    for (let sync = 0; sync < syncs; sync++) answers.push(...(await client.until('Z')).map(spoken))
    expect(answers).toContain('D 18')
    expect(loads).toBe(2)
  })
})

test('a cursor asks when it is first fetched from', async () => {
  await client.ask(frames.query('BEGIN'))
  await client.ask(frames.query(`DECLARE c CURSOR FOR ${statement}`))
  expect(loads).toBe(1)
  expect(await client.ask(frames.query('FETCH c'))).toContain('D 18')
  expect(loads).toBe(2)
  await client.ask(frames.query('ROLLBACK'))
})

/** Ways to ask for the statement at once. */
const requests: readonly (readonly [string, readonly Uint8Array[]])[] = [
  ['Query messages', [frames.query(statement)]],
  [
    'Parses that came with their Execute',
    [frames.parse(statement), frames.bind(), frames.describe('P'), frames.execute(), frames.sync()],
  ],
  [
    'such with a parameter',
    [
      frames.parse('SELECT id FROM sales.orders WHERE id = $1'),
      frames.bind({ parameters: ['18'] }),
      frames.execute(),
      frames.sync(),
    ],
  ],
]

test.each(requests)(
  'a change between two %s is in the second’s answer, though its engine begins before it is asked',
  async (_, request) => {
    const on = { store: lake.store, tenant: lake.tenant, actor: actorOf('stella'), checkPolicies }
    const table = { namespace: ['sales'], name: 'orders' }
    for (let turn = 0; turn < 3; turn++) expect(await client.ask(...request)).toContain('D 18')
    for (let turn = 0; turn < 3; turn++) {
      await putRowFilter(on, { table }, { id: 'none', expression: 'id < 0', exemptRoles: [] })
      expect(await client.ask(...request)).toContain('C SELECT 0')
      await deleteRowFilter(on, { table }, 'none')
      expect(await client.ask(...request)).toContain('D 18')
      expect(await client.ask(...request)).toContain('D 18')
    }
  },
)
