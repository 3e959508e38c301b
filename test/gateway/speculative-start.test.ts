/** A returning caller: the store calls of its commit, and what happens when an assumption proves wrong. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setProperties } from '../../demo/commits.ts'
import { Fault } from '../../src/base/fault.ts'
import { countIntents } from '../../src/store/commit/commit-intents.ts'
import { deletePolicy } from '../../src/store/policy/policies.ts'
import { createServiceSession, revokeServiceSession } from '../../src/store/session/sessions.ts'
import type { Store } from '../../src/store/store.ts'
import {
  commit,
  commitUpstream,
  governOrders,
  prefix,
  startTestService,
  type TestService,
} from '../support/service.ts'
import { send } from '../support/surface.ts'

// A service with its database starts for it, which takes its time on a busy machine.
setDefaultTimeout(300_000)

type SessionCall = Store['sessionCall']

/** The names of the store's functions as they were called. */
const called: string[] = []
/** What stands between the service and the store's `sessionCall`. */
let between: (through: SessionCall) => SessionCall = (through) => through

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    wrapStore: (store) => ({
      ...store,
      tenantCall: (tenant, name, params) => {
        called.push(name)
        return store.tenantCall(tenant, name, params)
      },
      adminCall: (name, params) => {
        called.push(name)
        return store.adminCall(name, params)
      },
      sessionCall: (tenant, name, params) => {
        called.push(name)
        return between(store.sessionCall)(tenant, name, params)
      },
    }),
  })
  await governOrders(service, { id: 'all', definitionCel: 'true' })
})
afterAll(() => service[Symbol.asyncDispose]())
beforeEach(async () => {
  for (let turn = 0; turn < 2; turn++) expect((await write()).status).toBe(200)
  called.length = 0
})
afterEach(async () => {
  between = (through) => through
  // Whatever happened, nothing is left for recovery.
  expect((await countIntents(service.store)).open).toBe(0)
})

let commits = 0
const body = () => setProperties({ n: `${++commits}` })
const write = (secret = service.owner.secret) => commit(service, body(), { secret })
const upstreamCommits = () => service.catalog.faults.counts.commit ?? 0

const atOnce = ['begin_commit', 'record_verdict']
const stepByStep = ['find_service_session', 'load_policies', 'open_intent', 'record_verdict']

test('the first commit of a caller asks step by step, the next all at once', async () => {
  const { secret } = await createServiceSession(service.store, service.owner.tenant, {
    name: 'new',
    principal: { sub: 'new', roles: [] },
    scopes: ['commit'],
  })
  expect((await write(secret)).status).toBe(200)
  expect(called).toEqual(stepByStep)
  called.length = 0
  expect((await write(secret)).status).toBe(200)
  expect(called).toEqual(atOnce)
})

test('so does a commit on the client surface', async () => {
  expect((await send(service, 'POST', '/namespaces/sales/tables/orders', body())).status).toBe(200)
  expect(called).toEqual(atOnce)
})

test('a session without the scope `commit` is not started speculatively, and may not commit', async () => {
  const { secret } = await createServiceSession(service.store, service.owner.tenant, {
    name: 'reader',
    principal: { sub: 'reader', roles: [] },
    scopes: ['read'],
  })
  for (let turn = 0; turn < 2; turn++) expect((await write(secret)).status).toBe(403)
  expect(called).not.toContain('begin_commit')
})

test('nothing is forwarded before the store has confirmed the caller', async () => {
  const reached = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  between =
    (through) =>
    async (...call) => {
      reached.resolve()
      await released.promise
      return await through(...call)
    }
  const before = { commits: upstreamCommits(), loads: service.catalog.faults.counts['conditional-load'] ?? 0 }
  const answer = write()
  await reached.promise
  // The upstream was asked for the table meanwhile, and for nothing else.
  while ((service.catalog.faults.counts['conditional-load'] ?? 0) === before.loads)
    await new Promise((resolve) => setImmediate(resolve))
  expect(upstreamCommits()).toBe(before.commits)
  released.resolve()
  expect((await answer).status).toBe(200)
  expect(upstreamCommits()).toBe(before.commits + 1)
})

test('a table that changes while the body is still to come is judged as it is once the body is whole', async () => {
  await governOrders(service, { id: 'frozen', definitionCel: '!("frozen" in table.properties)' })
  expect((await write()).status).toBe(200)
  const text = body()
  const { hostname, port, host } = service.app.url
  const head = [
    `POST /v1/iceberg/${prefix}/namespaces/sales/tables/orders HTTP/1.1`,
    `Host: ${host}`,
    `X-Svc-Session: ${service.owner.secret}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
  ]
  const socket = connect(Number(port), hostname)
  socket.write(`${head.join('\r\n')}\r\n\r\n${text.slice(0, 10)}`)
  // By the time that this one is answered, the other has long been begun.
  expect((await write()).status).toBe(200)
  await commitUpstream(service.catalog, setProperties({ frozen: 'yes' }))
  const before = upstreamCommits()
  socket.write(text.slice(10))
  const [answer] = await once(socket, 'data')
  socket.destroy()
  expect(String(answer)).toStartWith('HTTP/1.1 403')
  expect(upstreamCommits()).toBe(before)
  const thawed = '{"requirements":[],"updates":[{"action":"remove-properties","removals":["frozen"]}]}'
  await commitUpstream(service.catalog, thawed)
  await deletePolicy(service.store, service.owner.tenant, 'frozen')
})

test('a caller whose session was revoked is refused, and its commit reaches nobody', async () => {
  const { id, secret } = await createServiceSession(service.store, service.owner.tenant, {
    name: 'revoked',
    principal: { sub: 'revoked', roles: [] },
    scopes: ['commit'],
  })
  for (let turn = 0; turn < 2; turn++) expect((await write(secret)).status).toBe(200)
  await revokeServiceSession(service.store, service.owner.tenant, id)
  called.length = 0
  const before = upstreamCommits()
  expect((await write(secret)).status).toBe(401)
  expect(called).toEqual(['begin_commit', 'find_service_session'])
  expect(upstreamCommits()).toBe(before)
  // It is forgotten: nothing is asked on its behalf any more.
  called.length = 0
  expect((await write(secret)).status).toBe(401)
  expect(called).toEqual(['find_service_session'])
})

test('a store that fails at the beginning is asked again step by step', async () => {
  between = () => () => Promise.reject(new Fault('unavailable', 'The database is not available.'))
  expect((await write()).status).toBe(200)
  expect(called).toEqual(['begin_commit', ...stepByStep])
})

test('an intent whose acknowledgement was lost is withdrawn', async () => {
  between =
    (through) =>
    async (...call) => {
      await through(...call)
      throw new Fault('unavailable', 'The database connection was lost.')
    }
  expect((await write()).status).toBe(200)
})

test('policies that cannot be read deny nothing and allow nothing: 503', async () => {
  between =
    (through) =>
    async <Row extends object>(...call: Parameters<SessionCall>) => {
      await through(...call)
      return [{ governance: null }] as unknown as readonly Row[]
    }
  const response = await write()
  expect(response.status).toBe(503)
  expect(await response.text()).toBe('policy-engine-unavailable')
})

test('a body that cannot be read is 400, as without a speculative start', async () => {
  expect((await commit(service, '{"requirements":')).status).toBe(400)
  const other = JSON.stringify({
    identifier: { namespace: ['sales'], name: 'other' },
    requirements: [],
    updates: [],
  })
  expect((await commit(service, other)).status).toBe(400)
  expect(called).not.toContain('begin_commit')
})
