import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { FaultOperation } from '../../demo/catalog/faults.ts'
import { createTable, setProperties } from '../../demo/commits.ts'
import { countIntents } from '../../src/store/commit/commit-intents.ts'
import { audit, commit, startTestService, type TestService } from '../support/service.ts'
import { send } from '../support/surface.ts'

// A service with its database starts for it, which takes its time on a busy machine.
setDefaultTimeout(60_000)

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service[Symbol.asyncDispose]())
afterEach(() => service.catalog.faults.reset())

const forbid = (operation: FaultOperation) =>
  service.catalog.faults.add({ operation, effect: 'fail', status: 403, type: 'ForbiddenException' })

const words = 'The upstream catalog answered 403 (A failure was asked for.).'
const change = {
  identifier: { namespace: ['sales'], name: 'orders' },
  ...JSON.parse(setProperties({ a: '1' })),
}
const transaction = JSON.stringify({ 'table-changes': [change] })
const location = 'file:///x/1.metadata.json'

const changes: readonly (readonly [string, FaultOperation, string, string, unknown])[] = [
  ['a commit', 'commit', 'POST', '/namespaces/sales/tables/orders', setProperties({ a: '1' })],
  ['a multi-table commit', 'commit', 'POST', '/transactions/commit', transaction],
  ['a creation', 'other', 'POST', '/namespaces/sales/tables', createTable('made')],
  ['a drop', 'other', 'DELETE', '/namespaces/sales/tables/orders', undefined],
  [
    'a registration',
    'other',
    'POST',
    '/namespaces/sales/register',
    { name: 'made', 'metadata-location': location },
  ],
  ['a load before a commit', 'load', 'POST', '/namespaces/sales/tables/orders', setProperties({ a: '1' })],
  ['a listing', 'read', 'GET', '/namespaces/sales/tables', undefined],
]

test.each(changes)(
  'on the client surface, %s that the upstream forbids is 403 with its words, and leaves no intent',
  async (_what, operation, method, path, body) => {
    const rows = (await audit(service)).length
    forbid(operation)
    if (operation === 'load') forbid('conditional-load')
    const response = await send(service, method, path, body)
    expect(response.status).toBe(403)
    const { error } = (await response.json()) as { error: { message: string; type: string } }
    expect(error.type).toBe('ForbiddenException')
    expect(error.message).toEndWith(words)
    // No verdict forbade it, so the answer names no decision.
    expect(response.headers.get('x-svc-decision-id')).toBeNull()
    expect((await countIntents(service.store)).open).toBe(0)
    expect((await audit(service)).length).toBe(rows)
  },
)

test.each([
  ['single-table commit', '/v1/iceberg/main/namespaces/sales/tables/orders', setProperties({ a: '1' })],
  ['multi-table commit', '/v1/iceberg/main/transactions/commit', transaction],
])(
  'on its literal path, a %s that the upstream forbids is 502 with its words, and leaves no intent',
  async (_what, path, body) => {
    const rows = (await audit(service)).length
    forbid('commit')
    const response = await commit(service, body, { path })
    expect(response.status).toBe(502)
    const { error } = (await response.json()) as { error: { message: string; type: string } }
    expect(error.type).toBe('BadGatewayException')
    expect(error.message).toEndWith(words)
    expect((await countIntents(service.store)).open).toBe(0)
    expect((await audit(service)).length).toBe(rows)
  },
)

test('a commit is 401 where the upstream refuses a renewed token too', async () => {
  service.catalog.faults.add({ operation: 'commit', effect: 'fail', status: 401, times: 2 })
  const response = await send(service, 'POST', '/namespaces/sales/tables/orders', setProperties({ a: '1' }))
  expect(response.status).toBe(401)
  expect(service.catalog.faults.counts.commit).toBe(2)
  expect((await countIntents(service.store)).open).toBe(0)
})
