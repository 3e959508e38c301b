/** The time of each stage of a commit: a histogram for operators, `Server-Timing` for callers that may see it. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createTable, setProperties } from '../../demo/commits.ts'
import { commitStages } from '../../src/gateway/base/stage-times.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { commit, governOrders, metric, startTestService, type TestService } from '../support/service.ts'
import { send } from '../support/surface.ts'

// A service with its database starts for it, which takes its time on a busy machine.
setDefaultTimeout(300_000)

let service: TestService
beforeAll(async () => {
  service = await startTestService()
  await governOrders(service, { id: 'all', definitionCel: 'true' })
})
afterAll(() => service[Symbol.asyncDispose]())

const asked = { headers: { 'x-svc-timing': '1' } }
const counted = (stage: string) =>
  metric(service, `svc_gateway_commit_stage_duration_seconds_count{stage="${stage}"}`)

/** The stages that a `Server-Timing` header names, sorted; every duration must be a number. */
function stagesOf(response: Response): readonly string[] {
  const entries = (response.headers.get('server-timing') ?? '').split(', ')
  for (const entry of entries) expect(entry).toMatch(/^[a-z]+;dur=\d+\.\d\d$/)
  return entries.map((entry) => entry.split(';')[0] ?? '').sort()
}

test('an administrator who asks is told the time of every stage, and of the whole', async () => {
  const response = await commit(service, setProperties({ a: '1' }), asked)
  expect(response.status).toBe(200)
  expect(stagesOf(response)).toEqual([...commitStages, 'total'].sort())
})

test('every stage is in the histogram, whether or not anybody asks', async () => {
  const before = await Promise.all(commitStages.map(counted))
  const response = await commit(service, setProperties({ a: '2' }))
  expect(response.headers.has('server-timing')).toBe(false)
  expect(await Promise.all(commitStages.map(counted))).toEqual(before.map((count) => count + 1))
})

test('without the scope `admin` nobody is told', async () => {
  const { secret } = await createServiceSession(service.store, service.owner.tenant, {
    name: 'writer',
    principal: { sub: 'writer', roles: [] },
    scopes: ['commit'],
  })
  const response = await commit(service, setProperties({ a: '3' }), { ...asked, secret })
  expect(response.status).toBe(200)
  expect(response.headers.has('server-timing')).toBe(false)
  const unknown = await commit(service, setProperties({ a: '3' }), { ...asked, secret: 'svc_unknown' })
  expect(unknown.status).toBe(401)
  expect(unknown.headers.has('server-timing')).toBe(false)
})

test('a denial is timed as far as it went', async () => {
  await governOrders(service, { id: 'none', definitionCel: 'false' })
  const response = await commit(service, setProperties({ a: '4' }), asked)
  expect(response.status).toBe(403)
  expect(stagesOf(response)).toEqual([...commitStages.filter((one) => one !== 'forward'), 'total'].sort())
})

test('so is a change on the client surface; what only reads is not in the histogram', async () => {
  const before = await counted('session')
  const created = await send(service, 'POST', '/namespaces/sales/tables', createTable('timed'), asked)
  expect(created.status).toBe(200)
  expect(stagesOf(created)).toContain('forward')
  expect(await counted('session')).toBe(before + 1)
  expect((await send(service, 'GET', '/namespaces/sales/tables/timed')).status).toBe(200)
  expect(await counted('session')).toBe(before + 1)
})
