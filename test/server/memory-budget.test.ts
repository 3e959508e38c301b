/** What a service still serves while large bodies fill its memory budget, and what it refuses. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { setProperties } from '../../demo/commits.ts'
import type { SessionScope } from '../../src/core/session.ts'
import { limits } from '../../src/limits.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { eventually } from '../support/eventually.ts'
import { addTenant, commit, metric, startTestService, type TestService } from '../support/service.ts'

setDefaultTimeout(60_000)

const MiB = 1024 * 1024
let service: TestService
beforeAll(async () => {
  // Leaves room for three commits of the largest size.
  service = await startTestService({ env: { SVC_MEMORY_MB: '1010', SVC_READ_MEMORY_MB: '256' } })
})
afterAll(() => service[Symbol.asyncDispose]())

const heldBodies = () => metric(service, 'svc_memory_held_bytes{kind="body"}')
const refused = () => metric(service, 'svc_memory_refused_total{kind="body"}')
const fillers = 3
const largest = Buffer.from(setProperties({ a: 'x' }).padEnd(limits.commitBodyBytesMax, ' '))

/** Commits of the largest size of one tenant, whose clients send their heads alone. */
async function fillBudget(secret = service.owner.secret): Promise<Disposable> {
  const { port, hostname } = service.app.url
  const connect = () => Bun.connect({ hostname, port: Number(port), socket: { data() {} } })
  const sockets = await Promise.all(Array.from({ length: fillers }, connect))
  const head = [
    'POST /v1/iceberg/main/namespaces/sales/tables/orders HTTP/1.1',
    'Host: x',
    `X-Svc-Session: ${secret}`,
    'Authorization: Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJzcGFyayJ9.',
    `Content-Length: ${limits.commitBodyBytesMax}`,
    '',
    '',
  ].join('\r\n')
  for (const socket of sockets) socket.write(head)
  await eventually(async () => (await heldBodies()) >= fillers * limits.commitBodyBytesMax)
  return {
    [Symbol.dispose]() {
      for (const socket of sockets) socket.terminate()
    },
  }
}

test('while it is full, a large commit of the tenant that fills it is 503 in the end, and small ones, probes, metrics and revocations are served', async () => {
  const session = (sub: string, roles: readonly string[], scopes: readonly SessionScope[]) =>
    createServiceSession(service.store, service.owner.tenant, {
      name: sub,
      principal: { sub, roles },
      scopes,
    })
  const revoked = await session('nightly', [], ['commit'])
  const administrator = await session('ada', ['administrator'], ['admin'])
  {
    using _ = await fillBudget()
    const before = await refused()
    const waiting = commit(service, largest)
    await eventually(async () => (await metric(service, 'svc_memory_waiting')) === 1)
    expect((await commit(service, setProperties({ a: '1' }))).status).toBe(200)
    for (const probe of ['/healthz', '/readyz'])
      expect((await fetch(new URL(probe, service.app.url))).status).toBe(200)
    const revoking = await fetch(new URL(`/api/v1/sessions/${revoked.id}`, service.app.url), {
      method: 'DELETE',
      headers: { 'x-svc-session': administrator.secret },
    })
    expect(revoking.status).toBe(200)
    expect((await commit(service, setProperties({ b: '1' }), { secret: revoked.secret })).status).toBe(401)
    const large = await waiting
    expect([large.status, large.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await large.text()).toContain('The service has no memory left for this request. Retry.')
    expect(await refused()).toBe(before + 1)
  }
})

test('while one tenant fills it with bodies that do not arrive, a large commit of another is served in their place', async () => {
  const foreign = await addTenant(service.store, 'globex', service.catalog.url)
  using _ = await fillBudget()
  const before = await refused()
  expect((await commit(service, largest, { secret: foreign.secret })).status).toBe(200)
  expect(await refused()).toBe(before + 1)
})

test('a flood of the largest commits by one tenant leaves those of another served', async () => {
  const foreign = await addTenant(service.store, 'initech', service.catalog.url)
  let isOver = false
  const statuses = new Set<number>()
  const flood = Array.from({ length: 5 }, async () => {
    while (!isOver) statuses.add((await commit(service, largest)).status)
  })
  await eventually(async () => (await metric(service, 'svc_memory_waiting')) > 0)
  expect((await commit(service, largest, { secret: foreign.secret })).status).toBe(200)
  isOver = true
  await Promise.all(flood)
  for (const status of statuses) expect([200, 409, 503]).toContain(status)
})

test('once its client has gone there is room again', async () => {
  {
    using _ = await fillBudget()
  }
  await eventually(async () => (await heldBodies()) === 0)
  expect((await commit(service, largest)).status).toBe(200)
  expect(await heldBodies()).toBe(0)
})

test('what is held and the bound are in metrics', async () => {
  expect(await metric(service, 'svc_memory_held_bytes{kind="engine"}')).toBe(0)
  expect(await metric(service, 'svc_memory_bound_bytes')).toBeGreaterThan(400 * MiB)
})
