import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { setProperties } from '../../demo/commits.ts'
import { type RecordingProxy, recordingProxy } from '../support/recording-proxy.ts'
import { addTenant, commit, startTestService, type TestService, type TestTenant } from '../support/service.ts'

setDefaultTimeout(300_000)

let service: TestService
let proxy: RecordingProxy
let tenant: TestTenant

beforeAll(async () => {
  service = await startTestService()
  proxy = await recordingProxy(service.catalog.url)
  tenant = await addTenant(service.store, 'behind-proxy', proxy.url)
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

test('after a commit of the gateway, the next one finds the table unchanged and is not sent it again', async () => {
  for (const n of ['1', '2', '3']) {
    const before = proxy.exchanges.length
    const answer = await commit(service, setProperties({ n }), { secret: tenant.secret })
    expect(answer.status).toBe(200)
    const loads = proxy.exchanges
      .slice(before)
      .filter(({ method, path }) => method === 'GET' && path.includes('/tables/'))
    if (n !== '1') expect(loads.map(({ status }) => status)).toEqual([304])
  }
})
