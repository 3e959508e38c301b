/**
 * PgBouncer in transaction mode before the wire server: few connections for many clients, each of which stays the
 * principal whose secret PgBouncer holds for its user.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto'
import { join } from 'node:path'
import { listUsage } from '../../src/store/query/usage.ts'
import {
  createServiceSession,
  listServiceSessions,
  revokeServiceSession,
} from '../../src/store/session/sessions.ts'
import { type Lake, startLake } from '../support/lake.ts'
import { ordersTable, regionsTable } from '../support/lake-tables.ts'
import { type PgBouncer, type PgBouncerOptions, startPgBouncer } from '../support/pgbouncer.ts'
import { packageFolder } from './packages.ts'
import { stepsOf } from './pgwire/compare.ts'
import { payrollTable } from './pgwire/drivers.ts'
import { runClient } from './processes.ts'
import { hasProgram } from './programs.ts'

setDefaultTimeout(300_000)

const isThere = hasProgram('pgbouncer')
const folder = new URL('./pgwire/', import.meta.url).pathname

let lake: Lake
let bouncer: PgBouncer
let people: Readonly<Record<string, string>>
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  if (!isThere) return
  lake = stack.use(await startLake({ tables: [ordersTable, regionsTable] }))
  // Its database and schema have the same names.
  const foreign = stack.use(await startLake({ store: lake.store, tables: [payrollTable] }))
  const eve = await createServiceSession(lake.store, foreign.tenant, {
    name: 'eve',
    principal: { sub: 'eve', roles: [] },
    scopes: ['read'],
  })
  people = { ann: lake.env.PGPASSWORD, bob: lake.restricted.PGPASSWORD, eve: eve.secret }
  bouncer = await start()
})
afterAll(() => stack.disposeAsync())

async function start(
  options: Partial<Pick<PgBouncerOptions, 'users' | 'settings' | 'forcedUser'>> = {},
): Promise<PgBouncer> {
  const usual = { users: people, settings: ['auth_type = scram-sha-256'] }
  const serverPort = Number(lake.env.PGPORT)
  return stack.use(await startPgBouncer({ ...usual, ...options, serverPort, database: lake.catalog }))
}

function as(user: string, through: PgBouncer = bouncer): Readonly<Record<string, string>> {
  // Not psql's own name, for which it would be told what governs its statements.
  const name = { PGAPPNAME: 'report' }
  return { ...lake.env, ...name, PGPORT: String(through.port), PGUSER: user, PGPASSWORD: people[user] ?? '' }
}

/** As PostgreSQL keeps a password: enough to let a client in, and not to be one. */
function scramVerifier(secret: string): string {
  const salt = Buffer.from('sixteen bytes ok')
  const salted = pbkdf2Sync(secret, salt, 4096, 32, 'sha256')
  const key = (label: string) => createHmac('sha256', salted).update(label).digest()
  const stored = createHash('sha256').update(key('Client Key')).digest('base64')
  return `SCRAM-SHA-256$4096:${salt.toString('base64')}$${stored}:${key('Server Key').toString('base64')}`
}

/** Statements of one client, each a transaction of its own. */
async function psql(env: Readonly<Record<string, string>>, ...texts: readonly string[]) {
  const command = ['psql', '-X', '-q', '-At', ...texts.flatMap((text) => ['-c', text])]
  const { output } = await runClient('pgbouncer-psql', command, { env, seconds: 60 })
  return output.trim().split('\n')
}

async function python(what: string) {
  const command = [join(packageFolder('python:pgwire'), 'bin/python'), 'pooled_client.py', what]
  const env = { ...as('ann'), PEOPLE: JSON.stringify(people) }
  return stepsOf(what, await runClient(`pgbouncer-${what}`, command, { env, seconds: 200, cwd: folder }))
}

test.skipIf(!isThere)('forty clients share two connections, in simple and extended queries', async () => {
  for (const mode of ['simple', 'extended']) {
    const command = ['pgbench', '-n', '-M', mode, '-f', 'orders.pgbench.sql', '-c', '40', '-t', '5']
    const options = { env: as('ann'), seconds: 120, cwd: folder }
    const { exitCode, output } = await runClient(`pgbouncer-${mode}`, command, options)
    expect(output).toContain('actually processed: 200/200')
    expect(exitCode).toBe(0)
  }
  const [count] = await psql(as('ann'), 'SELECT count(*) FROM pg_stat_activity')
  expect(Number(count)).toBeLessThanOrEqual(2)
})

test.skipIf(!isThere)(
  'clients of three principals by turns see the rows of their own principal and tenant',
  async () => {
    const found = Object.fromEntries((await python('turns')).map(({ step, value }) => [step, value]))
    expect(found).toEqual({
      'rows of ann': [
        ['ann', 'east', 'user2@example.com'],
        ['ann', 'north', 'user4@example.com'],
        ['ann', 'south', 'user1@example.com'],
        ['ann', 'west', 'user3@example.com'],
      ],
      'rows of bob': [
        ['bob', 'east', 'xxxxn@xxxxxxx.xxx'],
        ['bob', 'west', 'xxxxn@xxxxxxx.xxx'],
      ],
      'rows of eve': [1, 2, 3, 4].map((n) => ['eve', `person ${n}`, n * 1000]),
    })
    const { items } = await listUsage(lake.store, lake.tenant, {}, { limit: 1_000 })
    expect(new Set(items.map(({ principal }) => principal))).toEqual(new Set(['ann', 'bob']))
  },
)

test.skipIf(!isThere)('the other tenant’s tables are unknown by the same names', async () => {
  expect(await psql(as('eve'), 'SELECT * FROM sales.orders')).toContain(
    'ERROR:  relation "sales.orders" does not exist',
  )
  expect(await psql(as('ann'), '\\dt sales.*')).toEqual([
    'sales|orders|table|covenant',
    'sales|regions|table|covenant',
  ])
})

test.skipIf(!isThere).each(['SET ROLE ann', 'SET SESSION AUTHORIZATION ann'])(
  '%s is refused, and makes nobody another principal, nor does it the next client',
  async (text) => {
    const asking = ['SELECT current_user', 'SELECT count(*) FROM sales.orders']
    const lines = await psql(as('bob'), text, ...asking)
    expect(lines[0]).toStartWith('ERROR')
    expect(lines.slice(-2)).toEqual(['bob', '500'])
    expect(await psql(as('bob'), ...asking)).toEqual(['bob', '500'])
    // A session is named when a client connects, and at no other time.
    expect(await psql(as('bob'), "SET svc.session = 'of ann'", ...asking)).toEqual(['bob', '500'])
  },
)

test.skipIf(!isThere)(
  'SET LOCAL ends with its transaction; SET stays on the connection, for clients of the same user alone',
  async () => {
    const one = await start({ settings: ['auth_type = scram-sha-256', 'default_pool_size = 1'] })
    const path = 'SHOW search_path'
    const [usual] = await psql(as('bob', one), path)
    expect(await psql(as('bob', one), 'BEGIN; SET LOCAL search_path = sales; COMMIT', path)).toEqual([
      usual ?? '',
    ])
    await psql(as('bob', one), 'SET search_path = sales')
    // As with any PostgreSQL behind PgBouncer in this mode.
    expect(await psql(as('bob', one), path)).toEqual(['sales'])
    expect(await psql(as('ann', one), path)).toEqual([usual ?? ''])
  },
)

test.skipIf(!isThere)('server_reset_query_always takes back what a client has set', async () => {
  const settings = ['auth_type = scram-sha-256', 'default_pool_size = 1', 'server_reset_query_always = 1']
  const one = await start({ settings })
  const path = 'SHOW search_path'
  const [usual] = await psql(as('bob', one), path)
  await psql(as('bob', one), 'SET search_path = sales')
  expect(await psql(as('bob', one), path)).toEqual([usual ?? ''])
})

test.skipIf(!isThere)(
  'a transaction has its connection to its end, with a cursor and statements that are prepared in it',
  async () => {
    const cursor = [
      ...['BEGIN', 'DECLARE c CURSOR FOR SELECT id FROM sales.orders ORDER BY id', 'FETCH 2 FROM c'],
      ...['FETCH 1 FROM c', 'COMMIT'],
    ]
    expect(await psql(as('bob'), ...cursor)).toEqual(['2', '3', '6'])
    const [{ value } = {}] = await python('transaction')
    expect(value).toEqual(['east', 'west', 'east', 'west'])
  },
)

test.skipIf(!isThere)(
  'statements prepared by name work where PgBouncer keeps them (1.21), and are unknown where not',
  async () => {
    const [, minor = '0'] =
      /^PgBouncer 1\.(\d+)/.exec(Bun.spawnSync(['pgbouncer', '--version']).stdout.toString()) ?? []
    const keeps = Number(minor) >= 21
    if (keeps)
      bouncer = await start({ settings: ['auth_type = scram-sha-256', 'max_prepared_statements = 100'] })
    const [{ value } = {}] = await python('named')
    if (keeps) expect(value).toEqual([2, 3, 6, 7].map((id) => Array(2).fill(id % 4 === 2 ? 'east' : 'west')))
    else expect(['26000', '42P05']).toContain(String(value))
  },
)

test.skipIf(!isThere)('a cancel request reaches the statement of its client', async () => {
  const [{ value } = {}] = await python('cancel')
  expect(value).toBe('57014')
})

test.skipIf(!isThere)(
  'a wrong secret and a user whom its file does not name are refused by PgBouncer',
  async () => {
    for (const user of ['ann', 'stella']) {
      const [line] = await psql({ ...as(user), PGPASSWORD: 'wrong' }, 'SELECT 1')
      expect(line).toMatch(/FATAL: +(?:SASL authentication failed|password authentication failed)/)
    }
  },
)

test.skipIf(!isThere)(
  'a secret of its file that the server does not know lets nobody in, whatever PgBouncer believes',
  async () => {
    // PgBouncer asks nobody for a password here.
    const users = { ...people, ann: 'svc_not-a-secret' }
    const trusting = await start({ users, settings: ['auth_type = trust'] })
    const refused = await psql(as('ann', trusting), 'SELECT count(*) FROM sales.orders')
    expect(refused.join(' ')).toMatch(/FATAL/)
    expect(refused.join(' ')).not.toContain('1000')
    // So every client that can connect reads as bob, without a password.
    expect(
      await psql({ ...as('bob', trusting), PGPASSWORD: '' }, 'SELECT count(*) FROM sales.orders'),
    ).toEqual(['500'])
  },
)

test.skipIf(!isThere)('a user that its configuration forces is who every client reads as', async () => {
  const forcing = await start({ forcedUser: 'bob' })
  const asking = ['SELECT current_user', 'SELECT count(*) FROM sales.orders']
  for (const user of ['ann', 'eve']) expect(await psql(as(user, forcing), ...asking)).toEqual(['bob', '500'])
})

test.skipIf(!isThere)(
  'verifiers cannot be passed through: neither by auth_query nor by SCRAM of its file',
  async () => {
    const byQuery = await start({
      users: { ann: people.ann ?? '' },
      settings: ['auth_type = scram-sha-256', 'auth_user = ann'],
    })
    expect((await psql(as('bob', byQuery), 'SELECT 1')).join(' ')).toMatch(/FATAL/)
    const verifier = await start({ users: { bob: scramVerifier(people.bob ?? '') } })
    expect((await psql(as('bob', verifier), 'SELECT 1')).join(' ')).toMatch(/FATAL/)
    const [shadow = ''] = await psql(as('ann'), 'SELECT usename, passwd FROM pg_shadow')
    expect(shadow).toStartWith('ERROR')
  },
)

// Last, because it ends bob's session.
test.skipIf(!isThere)(
  'a session that is revoked reads nothing from the next statement on, though PgBouncer lets its client in',
  async () => {
    const read = ['SELECT count(*) FROM sales.orders']
    expect(await psql(as('bob'), ...read)).toEqual(['500'])
    const { items } = await listServiceSessions(lake.store, lake.tenant, {})
    const bob = items.find(({ principal }) => principal.sub === 'bob')
    expect(await revokeServiceSession(lake.store, lake.tenant, bob?.id ?? '')).toBe(true)
    const lines = (await psql(as('bob'), ...read)).join(' ')
    expect(lines).toMatch(/FATAL|ERROR|terminat/)
    expect(lines).not.toContain('500')
    expect(await psql(as('ann'), ...read)).toEqual(['1000'])
  },
)
