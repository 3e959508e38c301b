/** Choosing the engine that reads a catalog: settings with which queries would fail are refused. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { call, type IdentityService, startIdentityService } from '../support/identity.ts'

setDefaultTimeout(300_000)

let service: IdentityService
beforeAll(async () => {
  service = await startIdentityService()
})
afterAll(() => service[Symbol.asyncDispose]())

const settings: readonly [engine: Readonly<Record<string, unknown>>, status: number][] = [
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
]

test.each(settings)('%p answers %d', async (engine, status) => {
  const response = await call(service, 'PUT', `/admin/tenants/${service.owner.tenant}/catalogs/read`, {
    secret: service.operator,
    body: {
      catalog_kind: 'alpha',
      endpoint: service.catalog.url,
      config_json: { warehouse: 'dev', ...engine },
    },
  })
  expect(response.status).toBe(status)
  expect(await response.text()).not.toContain('s3cret')
})

test.each(settings)(
  '%p as a change of what is registered answers %d, and a refusal changes nothing',
  async (engine, status) => {
    const at = `/admin/tenants/${service.owner.tenant}/catalogs/changed`
    const config = { warehouse: 'dev' }
    const send = (method: 'GET' | 'PUT' | 'PATCH', body?: object, path = at) =>
      call(service, method, path, { secret: service.operator, ...(body && { body }) })
    await send('PUT', { catalog_kind: 'alpha', endpoint: service.catalog.url, config_json: config })
    const response = await send('PATCH', { config_json: engine })
    expect(response.status).toBe(status)
    expect(await response.text()).not.toContain('s3cret')
    const { items } = (await (await send('GET', undefined, at.replace('/changed', ''))).json()) as {
      readonly items: readonly { readonly nickname: string; readonly config_json: object }[]
    }
    const left = items.find(({ nickname }) => nickname === 'changed')?.config_json
    const { read_engine } = engine
    expect(left).toEqual({ ...config, ...(status === 200 && read_engine !== undefined && { read_engine }) })
  },
)

test('a change is refused where it does not go with what stays', async () => {
  const at = `/admin/tenants/${service.owner.tenant}/catalogs/stays`
  const send = (method: 'PUT' | 'PATCH', body: object) =>
    call(service, method, at, { secret: service.operator, body })
  const trino = { read_engine: 'trino', 'trino.uri': 'https://trino.example', 'trino.catalog': 'lake' }
  await send('PUT', {
    catalog_kind: 'alpha',
    endpoint: service.catalog.url,
    config_json: { warehouse: 'dev', ...trino },
  })
  expect((await send('PATCH', { config_json: { 'trino.uri': null } })).status).toBe(400)
  expect((await send('PATCH', { config_json: { 'trino.uri': null, read_engine: null } })).status).toBe(200)
})
