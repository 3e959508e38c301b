/**
 * What goes on while somebody holds the lock of the audit log, as a careless migration does: everything that does not
 * need it, beside more waiting commits than there are connections.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import postgres from 'postgres'
import { appendSnapshot } from '../../demo/commits.ts'
import { sessionScopes } from '../../src/core/session.ts'
import { eventually } from '../support/eventually.ts'
import { call, session } from '../support/identity.ts'
import { commit, openUncontracted, startTestService, type TestService } from '../support/service.ts'
import type { TestStore } from '../support/store.ts'
import { frames, WireClient } from '../support/wire-client.ts'

setDefaultTimeout(300_000)

const hasServer = process.env.SVC_TEST_DATABASE_URL !== undefined
let service: TestService
let other: postgres.Sql
beforeAll(async () => {
  if (!hasServer) return
  service = await startTestService()
  await openUncontracted(service.store, service.owner)
  other = postgres((service.store as TestStore).databaseUrl ?? '', { max: 2, onnotice: () => {} })
})
afterAll(async () => {
  await other?.end()
  await service?.[Symbol.asyncDispose]()
})

const ready = async () => {
  const response = await fetch(new URL('/readyz', service.app.url))
  return { status: response.status, body: (await response.json()) as Readonly<Record<string, boolean>> }
}

// Skipped on the embedded store, which has one session: nobody else can hold a lock. `bun run test:db` runs it.
test.skipIf(!hasServer)('a lock of the audit log stops what needs it, and nothing else', async () => {
  const { secret, tenant } = service.owner
  const steward = await session(service, tenant, sessionScopes, ['steward'])
  await eventually(async () => (await ready()).status === 200)
  await using stack = new AsyncDisposableStack()
  const release = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const holder = other.begin(async (tx) => {
    await tx`lock table svc.audit_log in access exclusive mode`
    held.resolve()
    await release.promise
  })
  await held.promise
  const snapshot = (index: number) =>
    appendSnapshot({ snapshotId: 9_000n + BigInt(index), sequenceNumber: 1, timestampMs: 1_700_000_000_000 })
  // More than the pool has connections.
  const commits = Array.from({ length: 8 }, (_, index) => commit(service, snapshot(index)))
  const lists = Array.from({ length: 4 }, () =>
    call(service, 'GET', '/api/v1/decisions', { secret: steward }),
  )
  const waiting = () =>
    other`select 1 from pg_locks where not granted and relation = 'svc.audit_log'::regclass
      and database = (select oid from pg_database where datname = current_database())`
  await eventually(async () => (await waiting()).length >= 2)
  stack.defer(async () => {
    release.resolve()
    await holder
  })

  for (const path of [
    '/api/v1/session',
    '/v1/iceberg/main/v1/config',
    '/v1/iceberg/main/v1/namespaces/sales/tables/orders',
    '/healthz',
  ])
    expect([path, (await call(service, 'GET', path, { secret })).status]).toEqual([path, 200])
  const login = { user: 'someone', database: 'main', password: secret }
  const client = await WireClient.logIn({ port: service.app.pgwirePort ?? 0 }, { ...login, user: 'acme' })
  expect(await client.ask(frames.query('select current_user'))).toContain('D acme')
  client.close()
  const degraded = await eventually(async () => {
    const answer = await ready()
    return answer.body.degraded && answer
  })
  expect(degraded).toMatchObject({ status: 200, body: { database: true, writes: true, degraded: true } })
  expect(service.log()).toContain('Statements wait for the lock of svc.audit_log')

  release.resolve()
  await holder
  expect((await Promise.all(lists)).map(({ status }) => status)).toEqual(Array(4).fill(200))
  expect((await Promise.all(commits)).map(({ status }) => status)).toContain(200)
  await eventually(async () => (await ready()).body.degraded === false)
})
