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
