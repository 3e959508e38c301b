/** A graph query whose client leaves ends on the database server too, which needs a server to look at. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import postgres from 'postgres'
import { graphName } from '../../src/store/database/names.ts'
import { eventually } from '../support/eventually.ts'
import { session } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import { startTestService, type TestService } from '../support/service.ts'
import type { TestStore } from '../support/store.ts'

setDefaultTimeout(300_000)

const cypher = 'MATCH (t:Table) RETURN t.name'
const ways: readonly (readonly [surface: string, path: string, body: object])[] = [
  ['REST', '/api/v1/graph/query', { query: cypher }],
  [
    'MCP',
    '/mcp',
    {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'graph_query', arguments: { cypher } },
    },
  ],
]

// Skipped where no server is named: `npm run test:db` names one.
describe.skipIf(process.env.SVC_TEST_DATABASE_URL === undefined)('a client that leaves', () => {
  let service: TestService
  let superuser: postgres.Sql
  let reader: string

  beforeAll(async () => {
    service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
    superuser = postgres((service.store as TestStore).databaseUrl ?? '', { max: 2, onnotice: () => {} })
    reader = await session(service, service.owner.tenant, ['read'])
  })
  afterAll(async () => {
    await superuser?.end()
    await service?.[Symbol.asyncDispose]()
  })

  test.each(ways)('ends its graph query over %s', async (_, path, body) => {
    const lock = await superuser.reserve()
    await lock.unsafe(
      `begin; lock table "${graphName(service.owner.tenant)}"."Table" in access exclusive mode`,
    )
    // The statement waits for the lock: nothing but its client ends it before its bound.
    const waiting = async () =>
      await superuser<{ pid: number }[]>`select pid from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database() and query like '%"Table"%'`
    const client = new AbortController()
    const left = fetch(new URL(path, service.app.url), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${reader}`,
        'x-svc-session': reader,
      },
      body: JSON.stringify(body),
      signal: client.signal,
    }).catch((thrown: unknown) => thrown)
    const { pid } = await eventually(async () => (await waiting())[0])
    client.abort()
    expect(await left).toMatchObject({ name: 'AbortError' })
    // A statement whose time is up leaves its session open; one that is cut off takes the session with it.
    await eventually(
      async () => (await superuser`select 1 from pg_stat_activity where pid = ${pid}`).length === 0,
    )
    await lock.unsafe('rollback')
    lock.release()
    expect(await service.store.healthy()).toBe(true)
  })
})
