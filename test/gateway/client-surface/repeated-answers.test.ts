/** What a request is told that is sent again by its Idempotency-Key while something else would refuse it by now. */

import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createTable, setProperties } from '../../../demo/commits.ts'
import { Fault } from '../../../src/base/fault.ts'
import { answerKeyed } from '../../../src/gateway/client-surface/answer-keyed.ts'
import type { SurfaceRequest } from '../../../src/gateway/client-surface/surface-request.ts'
import { errorResponse } from '../../../src/http/fault-response.ts'
import { deletePolicy } from '../../../src/store/policy/policies.ts'
import { passOn } from '../../support/recording-proxy.ts'
import {
  addTenant,
  startTestService,
  type TestService,
  type TestTenant,
  upstreamHeaders,
} from '../../support/service.ts'
import { govern, send } from '../../support/surface.ts'

setDefaultTimeout(300_000)

const tablesPath = '/namespaces/sales/tables'
let service: TestService
let proxy: ReturnType<typeof Bun.serve>
let tenant: TestTenant
/** Answers in place of the catalog. */
let instead: ((method: string, path: string) => Response | undefined) | undefined

beforeAll(async () => {
  service = await startTestService()
  proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const path = new URL(request.url).pathname
      const body = await request.bytes()
      return instead?.(request.method, path) ?? (await passOn(request, service.catalog.url, body)).answer
    },
  })
  tenant = await addTenant(service.store, 'repeating', proxy.url.href.replace(/\/$/, ''))
})
afterEach(() => {
  instead = undefined
})
afterAll(async () => {
  await proxy.stop(true)
  await service[Symbol.asyncDispose]()
})

/** Sends a request, the same one each time it is called. */
function repeatable(method: string, path: string, body?: unknown) {
  const key = Bun.randomUUIDv7()
  return (headers: Readonly<Record<string, string>> = {}) =>
    send(service, method, path, body, { tenant, headers: { 'idempotency-key': key, ...headers } })
}

async function newTable(name: string): Promise<void> {
  expect((await send(service, 'POST', tablesPath, createTable(name), { tenant })).status).toBe(200)
}

const refusal = (status: number) =>
  Response.json({ error: { message: 'no', type: 'NotAuthorizedException', code: status } }, { status })

test.each([401, 403, 429])(
  'a change that was made is never told as refused, where the catalog answers loads with %i by then',
  async (status) => {
    const name = `refused_${status}`
    await newTable(name)
    const commit = repeatable('POST', `${tablesPath}/${name}`, setProperties({ owner: 'x' }))
    const drop = repeatable('DELETE', `${tablesPath}/${name}`)
    expect((await commit()).status).toBe(200)
    instead = (_method, path) => (path.endsWith('/tokens') ? undefined : refusal(status))
    expect((await commit()).status).toBe(502)
    instead = undefined
    expect((await drop()).status).toBe(204)
    instead = (_method, path) => (path.endsWith('/tokens') ? undefined : refusal(status))
    expect((await drop()).status).toBe(204)
  },
)

test('a request is looked up before it is told as refused, however long the refusal is', async () => {
  let asked = 0
  const store = {
    tenantCall: async () => {
      asked++
      return [{ known: '{"state":"open"}' }]
    },
  }
  const surface = {
    ...{ parts: { store }, tenant: 't', commitId: crypto.randomUUID() },
    keyed: { key: Bun.randomUUIDv7(), sha256: 'x' },
  } as unknown as SurfaceRequest
  const handle = async () => {
    throw new Fault('conflict', `Table ${'n.'.repeat(5_000)} exists already.`)
  }
  await expect(answerKeyed(surface, handle, errorResponse)).rejects.toMatchObject({ kind: 'unavailable' })
  expect(asked).toBe(1)
})

test('a repeat shows no other table that has the name by then', async () => {
  await newTable('secret')
  const shown = await send(service, 'POST', `${tablesPath}/secret`, setProperties({ canary: 'c4n4ry' }), {
    tenant,
  })
  const { 'metadata-location': location } = (await shown.json()) as Record<string, string>
  await newTable('mine')
  const commit = repeatable('POST', `${tablesPath}/mine`, setProperties({ a: 'b' }))
  expect((await commit()).status).toBe(200)
  const past = async (method: string, path: string, body?: unknown) =>
    await fetch(`${service.catalog.url}/v1/dev${path}`, {
      method,
      headers: await upstreamHeaders(service.catalog),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  expect((await past('DELETE', `${tablesPath}/mine`)).status).toBe(204)
  const registered = { name: 'mine', 'metadata-location': location }
  expect((await past('POST', '/namespaces/sales/register', registered)).status).toBe(200)
  const again = await commit()
  expect([again.status, (await again.text()).includes('c4n4ry')]).toEqual([502, false])
})

test('a creation is answered again with the table, whatever the client has of it', async () => {
  const create = repeatable('POST', tablesPath, createTable('conditional'))
  expect((await create()).status).toBe(200)
  const etag = (await send(service, 'GET', `${tablesPath}/conditional`, undefined, { tenant })).headers.get(
    'etag',
  )
  expect((await create({ 'if-none-match': etag ?? 'none' })).status).toBe(200)
})

test('a transaction that goes on is in progress between any two of its tables, and decided once its claim is old', async () => {
  const names = ['first', 'second']
  for (const name of names) await newTable(name)
  const changes = names.map((name) => ({
    identifier: { namespace: ['sales'], name },
    ...JSON.parse(setProperties({ owner: 'x' })),
  }))
  const transaction = repeatable('POST', '/transactions/commit', { 'table-changes': changes })
  instead = (method, path) =>
    method === 'POST' && path.endsWith('/tables/second') ? refusal(409) : undefined
  expect((await transaction()).status).toBe(502)
  const again = await transaction()
  expect([again.status, again.headers.get('retry-after')]).toEqual([503, expect.any(String)])
  await service.store.tenantQuery(
    tenant.tenant,
    `update svc.idempotency_key set claimed_at = claimed_at - interval '3 minutes'`,
    [],
  )
  expect((await transaction()).status).toBe(502)
})

test('what a later sending made is answered again for a whole lifetime from then on', async () => {
  await newTable('late')
  const commit = repeatable('POST', `${tablesPath}/late`, setProperties({ a: 'b' }))
  await govern(service, { namespace: ['sales'], name: 'late' }, 'late', 'schema', 'table.nothing == 1', {
    tenant,
  })
  expect((await commit()).status).toBe(503)
  await deletePolicy(service.store, tenant.tenant, 'late')
  const age = (interval: string) =>
    service.store.tenantQuery(
      tenant.tenant,
      `update svc.idempotency_key set claimed_at = claimed_at - $1::interval`,
      [interval],
    )
  await age('23 hours')
  expect((await commit()).status).toBe(200)
  await age('2 hours')
  const again = await commit()
  expect([again.status, again.headers.get('x-svc-replayed')]).toEqual([200, 'true'])
})
