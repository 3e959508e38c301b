/** Great Expectations finds of governed tables what it finds of a PostgreSQL 18 with the rows and values that are left. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { compareServers, type Driver, inPython, type Servers, startServers } from './pgwire/drivers.ts'

setDefaultTimeout(300_000)

let servers: Servers
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  servers = await startServers(stack)
})
afterAll(() => stack.disposeAsync())

const driver: Driver = { command: inPython('python:data-quality', 'great_expectations_client.py') }

test('Great Expectations holds a table and a query to expectations as on PostgreSQL', async () => {
  const { lake, oracle } = servers
  const roles = { ours: lake.env, theirs: oracle.env }
  const { steps, found } = await compareServers('Great Expectations', driver, roles)
  expect(steps.length).toBeGreaterThan(15)
  expect(found).toEqual([])
})

test('Great Expectations gets no row that is filtered and no value that is masked for its principal', async () => {
  const { lake, oracle } = servers
  const roles = { ours: lake.restricted, theirs: oracle.restricted }
  const { steps, found } = await compareServers('Great Expectations', driver, roles)
  expect(found).toEqual([])
  expect(JSON.stringify(steps)).toContain('xxxxn@xxxxxxx.xxx')
  expect(JSON.stringify(steps)).not.toMatch(/user\d+@/)
})
