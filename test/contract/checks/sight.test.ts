/** Numbers of checks tell nobody what a filter or mask hides: by thresholds, by own statements, by the time of a run. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { deleteContract } from '../../../src/contract/delete-contract.ts'
import { putContract } from '../../../src/contract/put-contract.ts'
import { sessionScopes } from '../../../src/core/session.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { addVersion } from '../../../src/store/contract/versions.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { actorOf } from '../../support/actor.ts'
import { requestRun } from '../../support/check-rows.ts'
import { commitColumns } from '../../support/governed.ts'
import { ordersTable } from '../../support/lake-tables.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { contractOf, type Json, type QualityWorld, startQualityWorld } from '../quality/world.ts'

setDefaultTimeout(180_000)

const secret = 'user7@example.com'
const rules = (bound: string) => ({
  '': `[
    {id: own, type: sql, query: "SELECT count(*) FROM {object} WHERE email = '${secret}'", ${bound}},
    {id: harmless, type: sql, query: 'SELECT max(qty) FROM {object}', mustBeLessThan: 100},
    {id: broken, type: sql, query: 'SELECT 1 / (count(*) - 1000) FROM {object}', mustBe: 1, severity: warning}]`,
  email: `[
    {id: probe, metric: invalidValues, arguments: {validValues: ['${secret}']}, mustBe: 999},
    {id: twin, metric: duplicateValues, mustBe: 0}]`,
  qty: '[{id: nulls, metric: nullValues, mustBe: 0}]',
})

let world: QualityWorld
let foreign: string
beforeAll(async () => {
  const { rowFilter: _, ...masked } = ordersTable
  world = await startQualityWorld({ tables: [masked] })
  const { store } = world.lake
  const other = await makeTenant(store, { name: 'foreign' })
  const made = { name: 'm', principal: { sub: 'mallory', roles: ['steward'] }, scopes: sessionScopes }
  foreign = (await createServiceSession(store, other.id, made)).secret
  await world.deploy(contractOf('2.0.0', rules('mustBe: 1')))
  await world.lake.app.checks.runner.runDue()
})
afterAll(() => world[Symbol.asyncDispose]())

/** Says that a run was requested before the longest time of a run. */
async function age(run: Json): Promise<void> {
  const { store, tenant } = world.lake
  await store.ownerTransaction(tenant, async (tx) => {
    await tx.query(
      `update svc.check_run set requested_at = requested_at - interval '11 minutes' where run_id = $1`,
      [String(run.id)],
    )
  })
}
const shown = async (run: Json, as: string) => await world.ask('GET', `/api/v1/checks/runs/${run.id}`, as)
const resultsOf = (answer: Json): Record<string, object> =>
  Object.fromEntries((answer.results as unknown as { key: string }[]).map((one) => [one.key, one]))

test('a steward sees every number', async () => {
  const run = await world.measure()
  expect(resultsOf(run)).toMatchObject({
    own: { outcome: 'passed', value: '1', custom: true },
    harmless: { outcome: 'passed', value: '49' },
    broken: { outcome: 'error', reason: '22012' },
    'email.probe': { outcome: 'passed', value: '999', operator: 'mustBe', threshold: 999 },
    'qty.nulls': { outcome: 'passed', value: '0' },
  })
  expect(JSON.stringify(run)).not.toContain(secret)
})

test('who is masked sees of a masked column whether a metric passed, and no own statement about it', async () => {
  const run = await world.measure()
  await age(run)
  const [status, seen] = await shown(run, world.bob)
  expect(status).toBe(200)
  expect(resultsOf(seen)).toEqual({
    readable: {
      key: 'readable',
      metric: 'readable',
      severity: 'error',
      custom: false,
      outcome: 'passed',
      value: '1000',
      unit: 'rows',
      engine: 'duckdb',
    },
    harmless: {
      key: 'harmless',
      metric: 'sql',
      severity: 'error',
      custom: true,
      outcome: 'passed',
      value: '49',
      operator: 'mustBeLessThan',
      threshold: 100,
      engine: 'duckdb',
    },
    broken: {
      key: 'broken',
      metric: 'sql',
      severity: 'warning',
      custom: true,
      outcome: 'error',
      reason: '22012',
    },
    'email.probe': {
      key: 'email.probe',
      column: 'email',
      metric: 'invalidValues',
      severity: 'error',
      custom: false,
      outcome: 'passed',
    },
    'email.twin': {
      key: 'email.twin',
      column: 'email',
      metric: 'duplicateValues',
      severity: 'error',
      custom: false,
      outcome: 'passed',
    },
    'qty.nulls': {
      key: 'qty.nulls',
      column: 'qty',
      metric: 'nullValues',
      severity: 'error',
      custom: false,
      outcome: 'passed',
      value: '0',
      unit: 'rows',
      operator: 'mustBe',
      threshold: 0,
      engine: 'duckdb',
    },
  })
  const [, history] = await world.ask('GET', '/api/v1/checks/results?namespace=sales&table=orders', world.bob)
  expect(JSON.stringify(history)).not.toContain('"own"')
  expect(JSON.stringify(history)).not.toContain('999')
  // Who is exempt from the mask sees the numbers.
  expect(resultsOf((await shown(run, world.ann))[1])).toMatchObject({
    own: { value: '1' },
    'email.probe': { value: '999' },
  })
})

test.each([
  ['a text, without a threshold', 'SELECT min(email) FROM {object}', 'not a number'],
  ['a text that is compared', `SELECT min(email) FROM {object} WHERE email > '${secret}'`, 'not a number'],
  ['a date', 'SELECT max(day) FROM {object}', 'not a number'],
  ['an array of numbers', 'SELECT array_agg(qty) FROM {object}', 'not a number'],
  ['two numbers', 'SELECT min(qty), max(qty) FROM {object}', 'not one value'],
  ['many rows', 'SELECT qty FROM {object}', '21000'],
  ['a file', `SELECT count(*) FROM read_csv('/etc/passwd')`, '42883'],
  ['a file as a table', `SELECT count(*) FROM '/etc/passwd'`, '42601'],
  ['several statements', 'SELECT 1; SELECT 2', '0A000'],
  ['a change', 'DELETE FROM {object}', '0A000'],
  [
    'a pause, by which a value could be told',
    'SELECT count(*) FROM {object} WHERE pg_sleep(1) IS NULL',
    '42883',
  ],
])(
  'an own statement that gives or reads %s is an error, and nothing of it is kept',
  async (_, query, reason) => {
    const { store, tenant, app } = world.lake
    const body = new TextEncoder().encode(query)
    const measures = JSON.stringify([query, null, null, null])
    const quality = [{ key: 'own', type: 'sql', measures }]
    const schema = {
      ...{ name: 'orders', table: { namespace: ['sales'], name: 'orders' }, properties: [] },
      ...{ relationships: [], quality, rowFilters: [] },
    }
    const contract = `attack-${Bun.hash(query)}`
    const number = await store.tenantTransaction(tenant, async (tx) => {
      return await addVersion(tx, tenant, {
        ...{ contract, format: 'yaml', body, sha256: 'cd'.repeat(32), state: 'active' },
        ...{ unverified: true, lifeCycle: true, by: { ...actorOf('stella'), roles: ['steward'] } },
        model: {
          ...({ apiVersion: 'v3.2.0', id: contract, version: '1.0.0', compatibility: 'none' } as const),
          ...{ secondApproval: false, sla: [], schemas: [schema] },
        },
      })
    })
    const id = await requestRun(store, tenant, { contract, number, catalog: 'lake', snapshotId: undefined })
    await app.checks.runner.runDue()
    const [, run] = await world.ask('GET', `/api/v1/checks/runs/${id}`, world.stella)
    expect(resultsOf(run).own).toMatchObject({ outcome: 'error', reason })
    const rows = await store.tenantQuery(
      tenant,
      `select to_jsonb(r)::text as row from svc.check_result r where run_id = '${id}'`,
    )
    expect(JSON.stringify(rows)).not.toContain('@example.com')
    expect(resultsOf(run).own).not.toHaveProperty('value')
  },
)

test('thresholds tell nothing, because nobody but a steward has a version measured', async () => {
  const versions = '/api/v1/contracts/documents/orders/versions'
  const [, added] = await world.ask('POST', versions, world.bob, contractOf('9.0.0', rules('mustBe: 0')))
  const at = `${versions}/${added.number}`
  const [, proposed] = await world.ask('POST', `${at}/moves`, world.bob, { move: 'propose' })
  if (proposed.state === 'proposed')
    await world.ask('POST', `${at}/sign-offs`, world.sten, { sha256: proposed.sha256 })
  expect((await world.ask('GET', at, world.stella))[1]).toMatchObject({ state: 'approved' })
  expect((await world.ask('POST', `${at}/moves`, world.bob, { move: 'deploy' }))[0]).toBe(403)
  const run = { contract: 'orders', namespace: ['sales'], table: 'orders' }
  expect((await world.ask('POST', '/api/v1/checks/runs', world.bob, run))[0]).toBe(403)
  expect((await world.ask('POST', '/api/v1/checks/runs', foreign, run))[0]).toBe(404)
})

test('a version that came in force without a steward is not measured', async () => {
  const { store, tenant, app, catalog } = world.lake
  const body = new TextEncoder().encode('sneaked in')
  const quality = [
    {
      key: 'own',
      type: 'sql',
      measures: JSON.stringify([`SELECT count(*) FROM {object}`, null, null, null]),
    },
  ]
  const name = { contract: 'sneaky', number: 1 }
  await store.tenantTransaction(tenant, async (tx) => {
    await addVersion(tx, tenant, {
      ...{ contract: 'sneaky', format: 'yaml', body, sha256: 'ab'.repeat(32), state: 'active' },
      ...{ unverified: true, lifeCycle: true, by: actorOf('bob') },
      model: {
        ...{
          apiVersion: 'v3.2.0',
          id: 'sneaky',
          version: '1.0.0',
          compatibility: 'none',
          secondApproval: false,
          sla: [],
        },
        schemas: [
          {
            ...{ name: 'orders', table: { namespace: ['sales'], name: 'orders' }, properties: [] },
            ...{ relationships: [], quality, rowFilters: [] },
          },
        ],
      },
    })
  })
  const id = await requestRun(store, tenant, { ...name, catalog, snapshotId: undefined })
  await app.checks.runner.runDue()
  const [, run] = await world.ask('GET', `/api/v1/checks/runs/${id}`, world.stella)
  expect(run).toMatchObject({ state: 'error', reason: 'forbidden', results: [] })
})

test('no time tells a pass from a failure: all steps run, and others see a run after its longest time', async () => {
  const passed = await world.measure()
  const at = await world.deploy(contractOf('10.0.0', rules('mustBe: 2')))
  await world.lake.app.checks.runner.runDue()
  const [, version] = await world.ask('GET', at, world.stella)
  expect(version).toMatchObject({ state: 'failed' })
  const [, listed] = await world.ask('GET', '/api/v1/checks/runs?contract=orders&limit=1', world.stella)
  const [failed] = listed.items as unknown as Json[]
  const steps = ({ progress }: Json) => (progress ?? {}) as unknown as { steps: number; steps_done: number }
  expect(steps(failed as Json)).toMatchObject({ steps: steps(passed).steps, steps_done: steps(passed).steps })
  for (const run of [passed, failed as Json]) {
    expect((await shown(run, world.bob))[0]).toBe(404)
    expect((await shown(run, foreign))[0]).toBe(404)
    await age(run)
    expect(Object.keys((await shown(run, world.bob))[1]).toSorted()).toEqual(
      Object.keys((await shown(passed, world.bob))[1]).toSorted(),
    )
    const [, seen] = await shown(run, world.bob)
    for (const time of ['state', 'ms', 'started_at', 'finished_at', 'progress', 'reason'])
      expect(seen).not.toHaveProperty(time)
    expect(JSON.stringify(seen.results)).not.toContain('"ms"')
    expect((await shown(run, foreign))[0]).toBe(404)
  }
  expect((await world.ask('GET', '/api/v1/checks/runs', foreign))[1]).toMatchObject({ items: [] })
})

test('the end of a run of one own statement tells nothing about a masked column, whatever it found', async () => {
  const answers: string[] = []
  for (const [version, bound] of [
    ['11.0.0', 'mustBe: 1'],
    ['12.0.0', 'mustBe: 0'],
  ] as const) {
    const at = await world.deploy(contractOf(version, rules(bound)))
    await world.lake.app.checks.runner.runDue()
    const [, { state }] = await world.ask('GET', at, world.stella)
    expect(state).toBe((bound === 'mustBe: 1' ? 'active' : 'failed') as never)
    const [, listed] = await world.ask('GET', '/api/v1/checks/runs?contract=orders&limit=1', world.stella)
    const [run] = listed.items as unknown as [Json]
    await age(run)
    const [, list] = await world.ask('GET', '/api/v1/checks/runs?contract=orders&limit=1', world.bob)
    const [, one] = await shown(run, world.bob)
    answers.push(
      JSON.stringify([list, one]).replace(
        /"(id|requested_at|number)":("[^"]*"|\d+)|"next_page_token":"[^"]*"/g,
        '',
      ),
    )
  }
  expect(answers[1]).toBe(answers[0] as string)
})

test('nothing is shown to readers once the table has no contract', async () => {
  const { store, tenant } = world.lake
  const table = { namespace: ['sales'], name: 'brief' }
  const on = { store, tenant, actor: actorOf('stella'), checkPolicies }
  await commitColumns(store, tenant, table, { id: 'long' })
  await putContract(on, table, { id: 'brief', version: 1 })
  const run = { id: await requestRun(store, tenant, { table, contract: 'brief' }) } as unknown as Json
  await store.ownerTransaction(tenant, async (tx) => {
    await tx.query(
      `update svc.check_run set state = 'passed', finished_at = clock_timestamp() where run_id = $1`,
      [String(run.id)],
    )
  })
  await age(run)
  const listed = async (reader: string) =>
    (await world.ask('GET', '/api/v1/checks/runs?contract=brief', reader))[1].items as unknown as unknown[]
  for (const [isReadable, status, count] of [
    [true, 200, 1],
    [false, 404, 0],
  ] as const) {
    if (!isReadable) await deleteContract(on, table)
    for (const reader of [world.bob, world.ann])
      expect([(await shown(run, reader))[0], (await listed(reader)).length]).toEqual([status, count])
    expect((await shown(run, world.stella))[0]).toBe(200)
  }
})
