/** Policies of namespaces and tags on both surfaces: what they refuse, and how a denial names them. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createTable, setProperties } from '../../demo/commits.ts'
import { putTag } from '../../src/contract/put-tag.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import { unbindPolicy } from '../../src/store/policy/unbind-policy.ts'
import { actorOf } from '../support/actor.ts'
import {
  addTenant,
  audit,
  commit,
  startTestService,
  type TestService,
  type TestTenant,
} from '../support/service.ts'
import { govern, messageOf, send } from '../support/surface.ts'

setDefaultTimeout(300_000)

let service: TestService
let foreign: TestTenant

beforeAll(async () => {
  service = await startTestService()
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  for (const namespace of ['open', 'closed'])
    expect((await send(service, 'POST', '/namespaces', { namespace: [namespace] })).status).toBe(200)
  await govern(
    service,
    { namespace: ['closed'] },
    'stewards',
    'write_acl',
    'principal.role(principal, "steward")',
    {
      message: 'ask a steward',
    },
  )
})
afterAll(() => service[Symbol.asyncDispose]())

const steward = { roles: ['steward'] }
const denial = 'policy denied: stewards (namespace closed): ask a steward'
const create = (namespace: string, name: string, options = {}, change = (body: string) => body) =>
  send(service, 'POST', `/namespaces/${namespace}/tables`, change(createTable(name)), options)
const rename = (source: TableRef, destination: TableRef, options = {}) =>
  send(service, 'POST', '/tables/rename', { source, destination }, options)
const literal = (table: string, options = {}) =>
  commit(service, setProperties({ a: 'b' }), {
    path: `/v1/iceberg/main/namespaces/${table.replace('.', '/tables/')}`,
    ...options,
  })

async function expectDenied(answered: Response, said = denial): Promise<void> {
  expect(await messageOf(answered)).toBe(said)
  expect(answered.status).toBe(403)
}

describe('a table of a governed namespace', () => {
  test('is refused from its creation on, staged or not, and the denial names the namespace', async () => {
    await expectDenied(await create('closed', 'fresh'))
    await expectDenied(
      await create('closed', 'fresh', {}, (body) => body.replace('{', '{"stage-create":true,')),
    )
    expect((await create('closed', 'fresh', steward)).status).toBe(200)
    expect((await create('open', 'free')).status).toBe(200)
  })

  test('is refused on both surfaces, and its audit row says through what the policy governed', async () => {
    const denied = await literal('closed.fresh')
    expect([denied.status, await denied.text()]).toEqual([403, denial])
    await expectDenied(
      await send(service, 'POST', '/namespaces/closed/tables/fresh', setProperties({ a: 'b' })),
    )
    expect((await audit(service))[0]).toMatchObject({
      decision: 'REJECTED',
      policies: [{ id: 'stewards', scope: { namespace: ['closed'] } }],
    })
    expect((await literal('closed.fresh', steward)).status).toBe(200)
    expect((await literal('open.free')).status).toBe(200)
  })

  test('of another tenant is not governed by it', async () => {
    const other = await literal('closed.fresh', { secret: foreign.secret })
    expect(other.status).toBe(200)
  })

  test('brings a multi-table commit down with it', async () => {
    const change = (namespace: string, name: string) => ({
      identifier: { namespace: [namespace], name },
      ...JSON.parse(setProperties({ a: 'c' })),
    })
    const body = JSON.stringify({ 'table-changes': [change('open', 'free'), change('closed', 'fresh')] })
    const denied = await commit(service, body, { path: '/v1/iceberg/main/transactions/commit' })
    expect(denied.status).toBe(403)
    expect(await denied.text()).toContain('stewards (namespace closed): ask a steward')
  })
})

describe('a rename', () => {
  const free = { namespace: ['open'], name: 'free' }
  const fresh = { namespace: ['closed'], name: 'fresh' }

  test('into a governed namespace is judged by its policies, and so is the next commit', async () => {
    const moved = { ...free, namespace: ['closed'] }
    await expectDenied(await rename(free, moved))
    expect((await rename(free, moved, steward)).status).toBe(204)
    await expectDenied(
      await send(service, 'POST', '/namespaces/closed/tables/free', setProperties({ a: 'b' })),
    )
  })

  test('out of it is refused, because the new name is governed less', async () => {
    await expectDenied(
      await rename(fresh, { ...fresh, namespace: ['open'] }, steward),
      'policy denied: open.fresh is governed less than closed.fresh: policy stewards (namespace closed) does not apply there',
    )
  })
})

test('a table is refused from the moment that a column of it carries a governed tag', async () => {
  expect((await create('open', 'people')).status).toBe(200)
  await govern(service, { tag: 'pii' }, 'frozen', 'schema', 'false', { message: 'holds personal data' })
  expect((await literal('open.people')).status).toBe(200)
  const on = {
    store: service.store,
    tenant: service.owner.tenant,
    actor: actorOf('stella'),
    checkPolicies: () => [],
  }
  await putTag(on, { namespace: ['open'], name: 'people' }, 'id', 'pii')
  const denied = await literal('open.people')
  expect([denied.status, await denied.text()]).toEqual([
    403,
    'policy denied: frozen (tag pii): holds personal data',
  ])
})

test('a commit is no longer judged by a policy that was unbound from its table, from the next one on', async () => {
  const on = { namespace: ['open'], name: 'people' }
  await govern(service, on, 'frozen', 'schema', 'false', { message: 'holds personal data' })
  await unbindPolicy(service.store, service.owner.tenant, 'frozen', { tag: 'pii' })
  expect(await (await literal('open.people')).text()).toBe('policy denied: frozen: holds personal data')
  await govern(service, { namespace: ['elsewhere'] }, 'frozen', 'schema', 'false')
  await unbindPolicy(service.store, service.owner.tenant, 'frozen', on)
  expect((await literal('open.people')).status).toBe(200)
})

test('the root namespace is above every table of the tenant, and of no other', async () => {
  expect((await create('open', 'last')).status).toBe(200)
  await govern(service, { namespace: [] }, 'a-freeze', 'write_acl', 'false')
  const denied = await literal('open.last')
  expect([denied.status, await denied.text()]).toEqual([403, 'policy denied: a-freeze (every namespace)'])
  await expectDenied(
    await send(service, 'POST', '/namespaces', { namespace: ['more'] }),
    'policy denied: a-freeze (every namespace)',
  )
  expect((await literal('open.last', { secret: foreign.secret })).status).toBe(200)
})
