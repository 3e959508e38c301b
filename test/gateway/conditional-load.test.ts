import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { setProperties } from '../../demo/commits.ts'
import { addTenant, commit, startTestService, type TestService, type TestTenant } from '../support/service.ts'

setDefaultTimeout(60_000)

let service: TestService
let proxy: ReturnType<typeof Bun.serve>
let tenant: TestTenant
/** Statuses of the upstream's answers to loads. */
let loads: number[] = []

beforeAll(async () => {
  service = await startTestService()
  proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const headers = new Headers(request.headers)
      headers.delete('host')
      const body = await request.bytes()
      const answer = await fetch(`${service.catalog.url}${pathname}${search}`, {
        method: request.method,
        headers,
        ...(body.length > 0 && { body }),
      })
      if (request.method === 'GET' && pathname.includes('/tables/')) loads.push(answer.status)
      return new Response(answer.status === 304 ? null : await answer.bytes(), answer)
    },
  })
  tenant = await addTenant(service.store, 'behind-proxy', proxy.url.href.replace(/\/$/, ''))
})
afterAll(async () => {
  await proxy.stop(true)
  await service[Symbol.asyncDispose]()
})

test('after a commit of the gateway, the next one finds the table unchanged and is not sent it again', async () => {
  for (const n of ['1', '2', '3']) {
    loads = []
    const answer = await commit(service, setProperties({ n }), { secret: tenant.secret })
    expect(answer.status).toBe(200)
    if (n !== '1') expect(loads).toEqual([304])
  }
})
