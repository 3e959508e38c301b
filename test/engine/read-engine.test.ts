/** Registering which engine reads a catalog: what a query would stumble over is refused. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { call, type IdentityService, startIdentityService } from '../support/identity.ts'

setDefaultTimeout(60_000)

let service: IdentityService
beforeAll(async () => {
  service = await startIdentityService()
})
afterAll(() => service[Symbol.asyncDispose]())

test.each([
  [{}, 200],
  [{ read_engine: 'duckdb' }, 200],
  [{ read_engine: 'trino', 'trino.uri': 'https://trino.example', 'trino.catalog': 'lake' }, 200],
  [{ read_engine: 'trino' }, 400],
  [{ read_engine: 'trino', 'trino.uri': 'https://trino.example' }, 400],
  [
    {
      read_engine: 'trino',
      'trino.uri': 'http://trino.example',
      'trino.catalog': 'lake',
      'trino.token': 's3cret',
    },
    400,
  ],
  [{ 'trino.uri': 'not a URL s3cret', 'trino.catalog': 'lake' }, 400],
  [{ read_engine: 'spark' }, 400],
])('%p answers %d', async (engine, status) => {
  const response = await call(service, 'PUT', `/admin/tenants/${service.owner.tenant}/catalogs/read`, {
    secret: service.operator,
    body: { kind: 'alpha', endpoint: service.catalog.url, config: { warehouse: 'dev', ...engine } },
  })
  expect(response.status).toBe(status)
  expect(await response.text()).not.toContain('s3cret')
})
