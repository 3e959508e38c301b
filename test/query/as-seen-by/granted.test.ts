/** Rows as another principal reads them, shown by the grace of a grant of the caller: they end with it. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type AccessLake, startAccessLake } from '../../support/access-lake.ts'
import { scriptedEngine } from '../../support/scripted-engine.ts'

setDefaultTimeout(300_000)

let nowMs = Date.now()
let on: AccessLake
const scripted = scriptedEngine()

beforeAll(async () => {
  on = await startAccessLake({
    clock: { now: () => nowMs },
    engines: new Map([['duckdb', { engine: async () => scripted.engine, close: async () => {} }]]),
  })
})
afterAll(() => on?.[Symbol.asyncDispose]())

async function asOfficer(secret: string) {
  const table = { namespace: ['sales'], name: 'orders' }
  const body = { catalog: on.lake.catalog, table, principal: { roles: ['officer'] }, rows: 5 }
  const [status, answer] = await on.ask('POST', '/api/v1/query/as-seen-by', secret, body)
  expect(status).toBe(200)
  return Object.keys(answer).filter((name) => name.startsWith('rows'))
}

test('rows that a grant of the caller lets through are withheld where it ends before all of them came', async () => {
  const steward = await on.sessionOf({ sub: 'stan', roles: ['steward'] })
  expect(await asOfficer(steward)).toEqual(['rows_withheld'])
  await on.granted(steward)
  expect(await asOfficer(steward)).toEqual(['rows'])
  const runs = scripted.asked.length
  nowMs += 3_599_000
  scripted.opening = async () => {
    nowMs += 1_000
  }
  expect(await asOfficer(steward)).toEqual(['rows_withheld'])
  expect(scripted.asked).toHaveLength(runs + 1)
})
