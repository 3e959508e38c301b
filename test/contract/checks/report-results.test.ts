/** Results that another tool measured: who may report them, for which rules, and who sees them. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../../src/core/session.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { ordersTable } from '../../support/lake-tables.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { contractOf, type Json, outcomes, type QualityWorld, startQualityWorld } from '../quality/world.ts'

setDefaultTimeout(180_000)

let world: QualityWorld
let foreign: string
beforeAll(async () => {
  const { rowFilter: _, ...masked } = ordersTable
  world = await startQualityWorld({ tables: [masked] })
  const { store } = world.lake
  const other = await makeTenant(store, { name: 'foreign' })
  const made = { name: 'm', principal: { sub: 'mallory', roles: ['steward'] }, scopes: sessionScopes }
  foreign = (await createServiceSession(store, other.id, made)).secret
  await world.deploy(
    contractOf('2.0.0', {
      '': `[
        {id: drift, type: custom, engine: montecarlo, implementation: x},
        {id: fresh, type: custom, engine: soda, implementation: x, severity: warning},
        {id: counted, metric: rowCount, mustBe: 1000}]`,
      qty: '[{id: spread, type: custom, engine: greatExpectations, implementation: x}]',
    }),
  )
  await world.lake.app.checks.runner.runDue()
})
afterAll(() => world[Symbol.asyncDispose]())

const table = { contract: 'orders', namespace: ['sales'], table: 'orders' }
const report = (body: object, as = world.stella) =>
  world.ask('POST', '/api/v1/checks/results', as, { ...table, ...body })
const shown = async (id: unknown, as = world.stella) =>
  (await world.ask('GET', `/api/v1/checks/runs/${id}`, as)) as [number, Json]
const passed = { results: [{ check: 'drift', outcome: 'passed' }] }

test('results make a run that has ended, with tool, value, reporter and link', async () => {
  const link = 'https://ci.acme.example/runs/7'
  const [status, answer] = await report({
    ...{ link, once_key: 'run 7' },
    results: [
      { check: 'drift', outcome: 'passed', value: 0.25 },
      { check: 'fresh', outcome: 'failed' },
      { check: 'qty.spread', outcome: 'passed', value: 9 },
    ],
  })
  expect([status, answer]).toEqual([201, { id: expect.any(String), new: true } as never])
  const [, run] = await shown(answer.id)
  expect(run).toMatchObject({ cause: 'external', state: 'passed', requested_by: 'stella', number: 1 })
  expect(run).not.toHaveProperty('snapshot_id')
  expect(outcomes(run)).toEqual({ drift: 'passed 0.25', fresh: 'warned', 'qty.spread': 'passed 9' })
  expect(run.results as unknown).toMatchObject([
    { engine: 'montecarlo', custom: true, metric: 'custom', detail: { link } },
    { engine: 'soda', severity: 'warning' },
    { engine: 'greatExpectations', column: 'qty', value: '9' },
  ])
  const path = '/api/v1/checks/results?namespace=sales&table=orders&check=qty.spread&limit=1'
  expect((await world.ask('GET', path, world.stella))[1].items as unknown).toMatchObject([{ value: '9' }])

  const [, log] = await world.ask('GET', '/api/v1/administration?limit=1', world.stella)
  expect(log.items as unknown).toMatchObject([{ action: 'report-check-results', actor: { sub: 'stella' } }])
})

test('a repeat with the same key finds the first report, and is not told twice', async () => {
  const [, first] = await report({ ...passed, once_key: 'again' })
  const [status, second] = await report({
    results: [{ check: 'drift', outcome: 'failed' }],
    once_key: 'again',
  })
  expect([status, second]).toEqual([201, { id: first.id, new: false } as never])
  expect(outcomes((await shown(first.id))[1])).toEqual({ drift: 'passed' })
})

test('a failed result of severity error fails its run, and is a breach', async () => {
  const [, { id }] = await report({ results: [{ check: 'drift', outcome: 'failed' }] })
  expect((await shown(id))[1]).toMatchObject({ state: 'failed' })
  const [, broken] = await report({ results: [{ check: 'drift', outcome: 'error' }] })
  expect((await shown(broken.id))[1]).toMatchObject({ state: 'error' })
  expect((await world.ask('POST', `/api/v1/checks/runs/${broken.id}/resume`, world.stella))[0]).toBe(409)
})

test('a snapshot that the tool names must be one of the table', async () => {
  const [, { snapshot_id }] = [0, await world.measure()] as const
  const [status, { id }] = await report({ ...passed, snapshot_id })
  expect(status).toBe(201)
  expect((await shown(id))[1]).toMatchObject({ snapshot_id })
  expect((await report({ ...passed, snapshot_id: '7' }))[0]).toBe(422)
})

test.each<[string, object, number]>([
  ['a rule that the service measures itself', { results: [{ check: 'counted', outcome: 'passed' }] }, 422],
  ['a check that is not there', { results: [{ check: 'none', outcome: 'passed' }] }, 422],
  ['two results of one check', { results: [...passed.results, ...passed.results] }, 400],
  ['no result', { results: [] }, 400],
  ['an outcome of ours', { results: [{ check: 'drift', outcome: 'not_run' }] }, 400],
  [
    'a value of the data',
    { results: [{ check: 'drift', outcome: 'passed', value: 'ann@acme.example' }] },
    400,
  ],
  ['a link with a password', { ...passed, link: 'https://a:b@ci.example/' }, 400],
  ['a link that runs', { ...passed, link: 'javascript:alert(1)' }, 400],
  [
    'too many',
    { results: Array.from({ length: 501 }, (_, n) => ({ check: `c${n}`, outcome: 'passed' })) },
    400,
  ],
  ['another contract', { ...passed, contract: 'none' }, 404],
])('%s is refused', async (_, body, status) => {
  expect((await report(body))[0]).toBe(status)
})

test('only stewards of the tenant report', async () => {
  expect((await report(passed, world.bob))[0]).toBe(403)
  expect((await report(passed, world.ann))[0]).toBe(403)
  expect((await report(passed, foreign))[0]).toBe(404)
})

test('who is masked somewhere in the table sees nothing of it, because the tool may have read each column', async () => {
  const [, { id }] = await report({ results: [{ check: 'qty.spread', outcome: 'passed', value: 3 }] })
  const { store, tenant } = world.lake
  await store.ownerTransaction(tenant, async (tx) => {
    await tx.query(
      `update svc.check_run set requested_at = requested_at - interval '11 minutes' where run_id = $1`,
      [String(id)],
    )
  })
  const [status, seen] = await shown(id, world.bob)
  expect([status, seen.results as unknown]).toEqual([200, []])
  expect(outcomes((await shown(id, world.ann))[1])).toEqual({ 'qty.spread': 'passed 3' })
  expect((await shown(id, foreign))[0]).toBe(404)
})

test('a deployment waits for no result of another tool', async () => {
  const [, runs] = await world.ask('GET', '/api/v1/checks/runs?contract=orders', world.stella)
  const [first] = (runs.items as unknown as Json[]).filter(({ cause }) => cause === 'deploy')
  expect(outcomes((await shown(first?.id))[1])).toMatchObject({ drift: 'not_run custom' })
})
