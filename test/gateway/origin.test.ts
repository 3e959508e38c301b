/** Through what a change came: in the audit, in its filters, and for policies. A foreign tenant is there too. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createTable, setProperties } from '../../demo/commits.ts'
import { jsonObject } from '../../src/base/json.ts'
import { originOf } from '../../src/gateway/base/origin.ts'
import { findAudit } from '../../src/store/commit/audit.ts'
import { listDecisions } from '../../src/store/commit/decision-list.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../support/service.ts'
import { govern, send } from '../support/surface.ts'

setDefaultTimeout(60_000)

let service: TestService
let foreign: TestTenant
beforeAll(async () => {
  service = await startTestService()
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
})
afterAll(() => service[Symbol.asyncDispose]())

const path = '/namespaces/sales/tables/orders'
const append = (id: number, branch: string) => ({
  requirements: [],
  updates: [
    {
      action: 'add-snapshot',
      snapshot: {
        'snapshot-id': id,
        'sequence-number': id,
        'timestamp-ms': 1_800_000_000_000 + id,
        'manifest-list': `file:///demo/${id}.avro`,
        summary: { operation: 'append', 'spark.app.id': `app-${id}` },
        'schema-id': 0,
      },
    },
    { action: 'set-snapshot-ref', 'ref-name': branch, type: 'branch', 'snapshot-id': id },
  ],
})
/** By the session alone. */
const commit = async (headers: Readonly<Record<string, string>>, body: unknown, tenant = service.owner) =>
  await fetch(new URL(`/v1/iceberg/main/v1${path}`, service.app.url), {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', 'x-svc-session': tenant.secret, ...headers },
  })
const decisionOf = (answer: Response) => answer.headers.get('x-svc-decision-id') ?? ''

describe('a commit', () => {
  test('is recorded with its session, client, application and branch beside the subject', async () => {
    const answer = await commit({ 'user-agent': 'PyIceberg/0.12.0' }, append(11, 'main'))
    expect(answer.status).toBe(200)
    const found = await findAudit(service.store, service.owner.tenant, decisionOf(answer))
    expect(found?.committer).toBe(service.owner.tenant)
    expect(found).toMatchObject({
      session: { id: expect.any(String), name: expect.any(String) },
      client: 'PyIceberg/0.12.0',
      applicationId: 'app-11',
      branch: 'main',
    })
  })

  test('is found by each of them, and by no other tenant', async () => {
    await commit({ 'user-agent': 'seldom/1' }, append(12, 'audit'))
    await commit({ 'user-agent': 'other/1' }, setProperties({ a: '1' }))
    const { tenant } = service.owner
    const [newest] = (await listDecisions(service.store, tenant, { client: 'seldom/1', limit: 10 })).items
    const session = newest?.session?.id ?? ''
    expect(newest?.branch).toBe('audit')
    for (const filter of [
      { session },
      { client: 'seldom/1' },
      { applicationId: 'app-12' },
      { branch: 'audit' },
    ]) {
      const { items } = await listDecisions(service.store, tenant, { ...filter, limit: 10 })
      expect(items.map(({ commitId }) => commitId)).toContain(newest?.commitId ?? '')
      expect((await listDecisions(service.store, foreign.tenant, { ...filter, limit: 10 })).items).toEqual([])
    }
    for (const filter of [
      { session: crypto.randomUUID() },
      { session: 'no id' },
      { client: 'seldom' },
      { applicationId: 'app' },
      { branch: 'main', client: 'seldom/1' },
    ])
      expect((await listDecisions(service.store, tenant, { ...filter, limit: 10 })).items).toEqual([])
  })

  test('by an access token has the same session and roles as by the session itself', async () => {
    const bySession = await commit({}, setProperties({ by: 'session' }))
    const one = await findAudit(service.store, service.owner.tenant, decisionOf(bySession))
    const credential = Buffer.from(`${one?.session?.id}:${service.owner.secret}`).toString('base64')
    const issued = await fetch(new URL('/v1/iceberg/main/v1/oauth/tokens', service.app.url), {
      method: 'POST',
      body: 'grant_type=client_credentials',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        authorization: `Basic ${credential}`,
      },
    })
    const { access_token: token } = (await issued.json()) as { access_token: string }
    const byToken = await fetch(new URL(`/v1/iceberg/main/v1${path}`, service.app.url), {
      method: 'POST',
      body: setProperties({ by: 'token' }),
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    })
    expect([bySession.status, byToken.status]).toEqual([200, 200])
    const two = await findAudit(service.store, service.owner.tenant, decisionOf(byToken))
    expect(two?.session).toEqual(one?.session)
    expect(two?.principal.roles).toEqual(one?.principal.roles ?? [])
    expect(two?.committer).toBe(two?.session?.name ?? '')
  })

  test('is judged by them, also when it creates a table', async () => {
    const rule = `commit.client.agent.startsWith("good/") && commit.session.id != "" && commit.session.name != "" &&
      commit.branch in ["", "main"] && commit.client.application_id in ["", "app-13"]`
    for (const name of ['orders', 'made_by'])
      await govern(service, { namespace: ['sales'], name }, `origin-${name}`, 'write_acl', rule)
    expect((await commit({ 'user-agent': 'bad/1' }, append(13, 'main'))).status).toBe(403)
    expect((await commit({ 'user-agent': 'good/1' }, append(13, 'side'))).status).toBe(403)
    expect((await commit({ 'user-agent': 'good/1' }, append(13, 'main'))).status).toBe(200)
    const create = (agent: string) =>
      send(service, 'POST', '/namespaces/sales/tables', createTable('made_by'), {
        headers: { 'user-agent': agent },
      })
    expect((await create('bad/1')).status).toBe(403)
    expect((await create('good/1')).status).toBe(200)
  })
})

test('what a client says of itself is shortened and holds no characters that are not seen', () => {
  const update = jsonObject({ action: 'set-snapshot-ref', 'ref-name': `a\u202eb${'x'.repeat(600)}` })
  const { branch } = originOf({}, { updates: [update] })
  expect(branch).toHaveLength(500)
  expect(branch).toStartWith('abxxx')
  const tag = jsonObject({ action: 'set-snapshot-ref', 'ref-name': 'v1', type: 'tag' })
  expect(originOf({}, { updates: [tag] })).toEqual({})
})
