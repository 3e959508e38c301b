/** What the quality rules of a contract measure, on the embedded engine, through the API. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { contractOf, outcomes, type QualityWorld, startQualityWorld } from './world.ts'

setDefaultTimeout(120_000)

let world: QualityWorld
beforeAll(async () => {
  world = await startQualityWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const rules = {
  '': `[
    {id: rows, metric: rowCount, mustBe: 1000},
    {id: too-few, metric: rowCount, mustBeGreaterThan: 1000, severity: warning},
    {id: twice, metric: duplicateValues, arguments: {properties: [region, qty]}, mustBe: 100},
    {id: own, type: sql, query: 'SELECT count(*) FROM {object} WHERE amount < 0', mustBe: 0},
    {id: truth, type: sql, query: 'SELECT bool_and(id > 0) FROM {object}', mustBe: true},
    {id: words, type: text, description: Orders are orders},
    {id: soda, type: custom, engine: soda, implementation: x}]`,
  id: '[{id: unique, metric: duplicateValues, mustBe: 0}]',
  region: `[
    {id: known, metric: invalidValues, arguments: {validValues: [north, south, east]}, mustBeLessThan: 300},
    {id: known-percent, metric: invalidValues, arguments: {validValues: [north, south, east]}, unit: percent, mustBe: 25},
    {id: shape, metric: invalidValues, arguments: {pattern: '^[a-z]+$'}, mustBe: 0},
    {id: found, metric: invalidValues, arguments: {pattern: 'st'}, mustBe: 500}]`,
  note: `[
    {id: nulls, metric: nullValues, mustBe: 200},
    {id: nulls-percent, metric: nullValues, unit: percent, mustBeBetween: [19, 21]},
    {id: markers, metric: missingValues, arguments: {missingValues: [note 1, note 2]}, mustBe: 2},
    {id: markers-null, metric: missingValues, arguments: {missingValues: [note 1, null]}, mustBe: 201},
    {id: ignored, metric: invalidValues, arguments: {pattern: note}, mustBe: 0},
    {id: same, metric: duplicateValues, mustBe: 0}]`,
  qty: `[
    {id: markers, metric: missingValues, arguments: {missingValues: [N/A, '-50', 0]}, mustBe: 20},
    {id: allowed, metric: invalidValues, arguments: {validValues: [N/A]}, mustBe: 1000},
    {id: repeated, metric: duplicateValues, mustBe: 100},
    {id: share, metric: duplicateValues, unit: percent, mustBe: 10}]`,
}

test('a deployment measures every rule and comes in force where they hold', async () => {
  const at = await world.deploy(contractOf('2.0.0', rules))
  expect((await world.ask('GET', at, world.stella))[1]).toMatchObject({ state: 'deploying' })
  await world.lake.app.checks.runner.runDue()
  const [, version] = await world.ask('GET', at, world.stella)
  expect(version).toMatchObject({ state: 'active', unverified: false })
})

test('each metric counts as the standard says, and nulls are neither invalid nor duplicates', async () => {
  const run = await world.measure()
  expect(run).toMatchObject({ state: 'passed', cause: 'request', progress: { rows: '1000' } })
  expect(outcomes(run)).toEqual({
    readable: 'passed 1000',
    rows: 'passed 1000',
    'too-few': 'warned 1000',
    twice: 'passed 100',
    own: 'passed 0',
    truth: 'passed true',
    words: 'not_run text',
    soda: 'not_run custom',
    'id.unique': 'passed 0',
    'region.known': 'passed 250',
    'region.known-percent': 'passed 25',
    'region.shape': 'passed 0',
    'region.found': 'passed 500',
    'note.nulls': 'passed 200',
    'note.nulls-percent': 'passed 20',
    'note.markers': 'passed 2',
    'note.markers-null': 'passed 201',
    'note.ignored': 'passed 0',
    'note.same': 'passed 0',
    'qty.markers': 'passed 20',
    'qty.allowed': 'passed 1000',
    'qty.repeated': 'passed 100',
    'qty.share': 'passed 10',
  })
})

test('all counts of a table are one step of a run, and each other statement is one of its own', async () => {
  const { progress } = await world.measure()
  // The scan, five checks of duplicates, two statements of the author, and what is not run.
  expect(progress).toMatchObject({ steps: 9, steps_done: 9 })
})

test('the history of a check has its snapshot, duration, value and threshold, newest first', async () => {
  const run = await world.measure({ checks: ['qty.repeated'] })
  const path = '/api/v1/checks/results?namespace=sales&table=orders&check=qty.repeated&limit=2'
  const [, history] = await world.ask('GET', path, world.stella)
  const [newest, before] = history.items as unknown as readonly Record<string, unknown>[]
  expect(newest).toMatchObject({
    ...{ key: 'qty.repeated', column: 'qty', run: run.id, snapshot_id: run.snapshot_id, engine: 'duckdb' },
    ...{
      outcome: 'passed',
      value: '100',
      operator: 'mustBe',
      threshold: 100,
      detail: { rows_concerned: '1000' },
    },
  })
  expect(newest?.ms).toBeGreaterThan(0)
  expect(Date.parse(String(newest?.at))).toBeGreaterThan(Date.parse(String(before?.at)))
})

test('a rule that fails alone blinds no other: all else is measured', async () => {
  // The compiler takes it, and the engine does not: it repeats too often.
  const bad = "{id: bad, metric: invalidValues, arguments: {pattern: 'a{1001}'}, mustBe: 0}"
  const at = await world.deploy(
    contractOf('2.1.0', {
      ...rules,
      region: rules.region.replace('[', `[${bad}, `),
      note: rules.note.replace('{id: markers,', `${bad}, {id: markers,`),
    }),
  )
  await world.lake.app.checks.runner.runDue()
  expect((await world.ask('GET', at, world.stella))[1]).toMatchObject({ state: 'failed' })
  const [, { items }] = await world.ask(
    'GET',
    '/api/v1/checks/runs?namespace=sales&table=orders&limit=1',
    world.stella,
  )
  const [{ id } = { id: '' }] = items as unknown as readonly { id: string }[]
  const [, run] = await world.ask('GET', `/api/v1/checks/runs/${id}`, world.stella)
  const found = outcomes(run)
  expect([found['region.bad'], found['note.bad']]).toEqual(['error 22000', 'error 22000'])
  expect(found).toMatchObject({
    ...{
      readable: 'passed 1000',
      rows: 'passed 1000',
      'region.known': 'passed 250',
      'note.nulls': 'passed 200',
    },
    ...{
      'region.shape': 'passed 0',
      'note.markers': 'passed 2',
      own: 'passed 0',
      'qty.repeated': 'passed 100',
    },
  })
})

test('service levels are measured by the columns of the table, and a missed one stops no deployment', async () => {
  const levels = `slaProperties:
- {property: freshness, value: 1, unit: d, element: orders.placed_at}
- {property: latency, value: 1000, unit: y, element: orders.created}
- {property: retention, value: 1, unit: d, element: orders.day}
- {property: frequency, value: 1000, unit: y}
- {property: endOfLife, value: '2020-01-01'}
- {property: availability, value: 99.9, unit: percent}`
  const columns = { placed_at: '[]', created: '[]', day: '[]' }
  const at = await world.deploy(contractOf('3.0.0', columns, levels))
  await world.lake.app.checks.runner.runDue()
  expect((await world.ask('GET', at, world.stella))[1]).toMatchObject({ state: 'active' })
  const found = outcomes(await world.measure())
  const words = Object.entries(found).map(([key, outcome]) => [key, outcome.replace(/ [\d:.TZ-]+$/, '')])
  expect(Object.fromEntries(words)).toEqual({
    readable: 'passed',
    'sla.freshness.orders.placed_at': 'warned',
    'sla.latency.orders.created': 'passed',
    'sla.retention.orders.day': 'warned',
    'sla.frequency': 'passed',
    'sla.endOfLife': 'warned',
    'sla.availability': 'not_run not measurable',
  })
  // Ages are whole seconds, by the newest row for freshness and by the oldest for retention.
  const age = (key: string) => Number(found[key]?.split(' ')[1])
  expect(age('sla.retention.orders.day')).toBeGreaterThan(age('sla.freshness.orders.placed_at'))
})
