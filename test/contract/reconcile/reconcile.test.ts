/** Reconciliation of a lake's table with its source in a real PostgreSQL, through the API, and as a gate of a deployment. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Oracle, startOracle } from '../../query/support/postgres.ts'
import { freePort } from '../../support/free-port.ts'
import { session } from '../../support/identity.ts'
import { orderColumns, orderCount, payload, selectList } from '../../support/lake-tables.ts'
import { addTenant, type TestService } from '../../support/service.ts'
import { contractOf, type Json, outcomes, type QualityWorld, startQualityWorld } from '../quality/world.ts'

setDefaultTimeout(300_000)

const password = 'Zk4canary-of-the-source'
const port = freePort()
let oracle: Oracle
let world: QualityWorld
let administrator: string

beforeAll(async () => {
  const started = await startOracle({ port })
  if (started === undefined) throw new Error('this platform has no packaged PostgreSQL')
  oracle = started
  const columns = selectList([...orderColumns, ['payload', 'bytea', payload.postgres]])
  await oracle.admin.unsafe(
    `CREATE ROLE reader LOGIN PASSWORD '${password}'; CREATE SCHEMA sales; GRANT USAGE ON SCHEMA sales TO reader;
     CREATE TABLE sales.orders AS SELECT ${columns} FROM generate_series(1, ${orderCount}) AS t(i) ORDER BY random();
     GRANT SELECT ON ALL TABLES IN SCHEMA sales TO reader`,
  )
  world = await startQualityWorld()
  administrator = await session(world.lake as never, world.lake.tenant, ['read', 'admin'], ['administrator'])
})
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
  await oracle.stop()
})

const source = () => ({ host: '127.0.0.1', port, database: 'postgres', user: 'reader', tls: 'off', password })
const reconciling = ', reconciliation: [{source: crm, table: sales.orders}, {engine: trino}]'
const keyed = (version: string) =>
  contractOf(version, {}, '', reconciling).replace(
    '{name: id, quality: []}',
    '{name: id, primaryKey: true, quality: []}',
  )
const compare = async (more: object = {}): Promise<Json> => {
  const asked = { contract: 'orders', namespace: ['sales'], table: 'orders', ...more }
  const [status, { id }] = await world.ask('POST', '/api/v1/checks/reconciliations', world.stella, asked)
  expect(status).toBe(202)
  await world.lake.app.checks.runner.runDue()
  return (await world.ask('GET', `/api/v1/checks/runs/${id}`, world.stella))[1]
}
const failures = (run: Json) =>
  Object.entries(outcomes(run)).filter(([, outcome]) => !/^(passed|not_run)/.test(outcome))

describe('a source', () => {
  test('is kept without showing its password, and is another tenant’s business to none', async () => {
    const path = '/api/v1/reconciliation-sources'
    const [status, answer] = await world.ask('PUT', `${path}/crm`, administrator, source())
    expect([status, answer]).toEqual([204, {}])
    const [, listed] = await world.ask('GET', path, administrator)
    expect(listed.items).toEqual([
      { name: 'crm', host: '127.0.0.1', port, database: 'postgres', user: 'reader', tls: 'off' },
    ] as never)
    const foreign = await addTenant(world.lake.store, 'foreign', 'http://127.0.0.1:1')
    const outsider = await session(world.lake as never, foreign.tenant, ['read', 'admin'], ['administrator'])
    expect((await world.ask('GET', path, outsider))[1].items).toEqual([] as never)
    expect((await world.ask('DELETE', `${path}/crm`, outsider))[0]).toBe(404)
    const rows = await world.lake.store.tenantQuery(
      world.lake.tenant,
      'select row_to_json(s)::text as row from svc.reconciliation_source s',
    )
    expect(JSON.stringify(rows)).not.toContain(password)
  })

  test.each([
    ['a private address', { host: '10.1.2.3', tls: 'verify' }],
    ['a metadata address', { host: '169.254.169.254', tls: 'verify' }],
    ['no TLS to a public address', { host: '8.8.8.8' }],
    ['a host with a path', { host: 'crm.example/x' }],
    ['a host with a user', { host: 'a@b' }],
  ])('is refused with %s', async (_, change) => {
    const body = { ...source(), ...change }
    expect((await world.ask('PUT', '/api/v1/reconciliation-sources/other', administrator, body))[0]).toBe(400)
  })
})

describe('a deployment', () => {
  test('comes in force where the pinned snapshot and its source are equal', async () => {
    const at = await world.deploy(keyed('2.0.0'))
    await world.lake.app.checks.runner.runDue()
    expect((await world.ask('GET', at, world.stella))[1]).toMatchObject({
      state: 'active',
      unverified: false,
    })
    const [, runs] = await world.ask('GET', '/api/v1/checks/runs?kind=reconciliation', world.stella)
    const [{ id } = { id: '' }] = runs.items as unknown as { id: string }[]
    const [, run] = await world.ask('GET', `/api/v1/checks/runs/${id}`, world.stella)
    expect(run).toMatchObject({ state: 'passed', cause: 'deploy' })
    expect(outcomes(run)).toMatchObject({ totals: 'passed 1000', rows: 'passed', 'content amount': 'passed' })
    // The catalog has no second engine, and the contract does not insist on one.
    expect(outcomes(run)['engines of 2']).toBe('not_run the catalog has no second engine')
  })

  test('fails where one value of the source differs, and nothing changes for readers', async () => {
    await oracle.admin.unsafe(`UPDATE sales.orders SET note = '' WHERE id = 5`)
    try {
      const at = await world.deploy(keyed('2.0.1'))
      await world.lake.app.checks.runner.runDue()
      expect((await world.ask('GET', at, world.stella))[1]).toMatchObject({ state: 'failed' })
    } finally {
      await oracle.admin.unsafe('UPDATE sales.orders SET note = NULL WHERE id = 5')
    }
  })
})

describe('a difference', () => {
  test('names the column and both numbers, and keeps no value', async () => {
    await oracle.admin.unsafe('UPDATE sales.orders SET amount = amount + 0.01 WHERE id = 500')
    try {
      const run = await compare()
      expect(run.state).toBe('failed' as never)
      expect(failures(run).map(([key]) => key)).toEqual([
        'totals amount sum',
        'content amount content',
        'rows',
      ])
      const results = run.results as unknown as {
        key: string
        column?: string
        detail?: Record<string, string>
      }[]
      const { detail, column } = results.find(({ key }) => key === 'totals amount sum') ?? {}
      expect(column).toBe('amount')
      expect(Number(detail?.right) - Number(detail?.left)).toBeCloseTo(0.01, 6)
      expect(JSON.stringify(run)).not.toMatch(/example\.com|north|Zk4/)
      const stored = await world.lake.store.tenantQuery(
        world.lake.tenant,
        'select row_to_json(r)::text as row from svc.check_result r',
      )
      expect(JSON.stringify(stored)).not.toMatch(/example\.com|north|Zk4/)

      const path = `/api/v1/checks/runs/${run.id}/differences`
      const [status, found] = await world.ask('POST', path, world.stella, { columns: ['amount'] })
      expect(status).toBe(200)
      expect(found).toMatchObject({
        measures: [{ column: 'amount', measure: 'sum' }],
        keys: [{ key: { id: '500' }, left: 1, right: 1 }],
        complete: true,
        parts: 1,
      })
      for (const secret of [world.bob, world.ann])
        expect((await world.ask('POST', path, secret, {}))[0]).toBe(403)
      const [unknown] = await world.ask('POST', path, world.stella, { columns: ['none'] })
      expect(unknown).toBe(422)
    } finally {
      await oracle.admin.unsafe('UPDATE sales.orders SET amount = amount - 0.01 WHERE id = 500')
    }
  })

  test('of a least value shows both on demand', async () => {
    await oracle.admin.unsafe(`UPDATE sales.orders SET day = '1999-12-31' WHERE id = 7`)
    try {
      const run = await compare()
      const path = `/api/v1/checks/runs/${run.id}/differences`
      const [, found] = await world.ask('POST', path, world.stella, { columns: ['day'] })
      expect(found.measures).toContainEqual({
        column: 'day',
        measure: 'min',
        left: '2024-01-01',
        right: '1999-12-31',
      } as never)
      expect(failures(run).map(([key]) => key)).toContain('totals day min')
    } finally {
      await oracle.admin.unsafe(`UPDATE sales.orders SET day = date '2024-01-01' + 7 WHERE id = 7`)
    }
  })

  test('of columns: one that is missing, one of another type', async () => {
    await oracle.admin.unsafe(
      `CREATE TABLE sales.narrow AS SELECT id, region, email, amount, qty, ratio, paid, day, placed_at, created, uid, payload, 1 AS note FROM sales.orders;
       ALTER TABLE sales.narrow DROP COLUMN qty; GRANT SELECT ON sales.narrow TO reader`,
    )
    const run = await compare({ source: 'crm', source_table: 'sales.narrow' })
    expect(failures(run)).toEqual([
      ['totals qty column', 'failed missing on one side'],
      ['totals note type', 'failed values cannot be compared'],
    ])
  })
})

describe('a source that cannot be read', () => {
  test('is an error, which is never a pass', async () => {
    const run = await compare({ source: 'crm', source_table: 'sales.nothing' })
    expect(run.state).toBe('error' as never)
    await world.ask('PUT', '/api/v1/reconciliation-sources/wrong', administrator, {
      ...source(),
      database: 'none',
    })
    const refused = await compare({ source: 'wrong', source_table: 'sales.orders' })
    expect(refused.state).toBe('error' as never)
    expect(JSON.stringify([run, refused])).not.toContain(password)
  })

  test('or is not named, is refused', async () => {
    const asked = {
      contract: 'orders',
      namespace: ['sales'],
      table: 'orders',
      engine: 'trino',
      source: 'crm',
    }
    expect((await world.ask('POST', '/api/v1/checks/reconciliations', world.stella, asked))[0]).toBe(400)
  })
})

test('nothing of the source is in the log', () => {
  expect((world.lake as unknown as TestService).log?.() ?? '').not.toContain(password)
})
