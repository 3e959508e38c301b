/** Plans in a catalog that folds names: every spelling of a table has one plan, with the rules that any spelling has. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { setProperties } from '../../demo/commits.ts'
import { sessionScopes } from '../../src/core/session.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { fetchPlan } from '../../src/transform/fetch-plan.ts'
import { commitColumns } from '../support/governed.ts'
import { licenseFor } from '../support/license.ts'
import { commit, startTestService, type TestService } from '../support/service.ts'

setDefaultTimeout(120_000)

let service: TestService
let steward: string

beforeAll(async () => {
  service = await startTestService({ foldsNames: true, env: { SVC_LICENSE: licenseFor('transform') } })
  const { store, owner } = service
  const stella = { sub: 'stella', roles: ['steward'] }
  const { secret } = await createServiceSession(store, owner.tenant, {
    name: 'stella',
    principal: stella,
    scopes: [...sessionScopes],
  })
  steward = secret
  expect((await commit(service, setProperties({ owner: 'sales' }))).status).toBe(200)
})
afterAll(() => service[Symbol.asyncDispose]())

const rule = (method: 'PUT' | 'DELETE', table: string) =>
  fetch(new URL(`/api/v1/transform/rules/columns/sales/${table}/customer`, service.app.url), {
    method,
    headers: { 'x-svc-session': steward, 'content-type': 'application/json' },
    ...(method === 'PUT' && { body: JSON.stringify({ action: 'encrypt', method: 'siv', scope: 's' }) }),
  })
const planOf = async (...table: string[]) => {
  // It refuses a plan of a table that has another name than the one in the request.
  const { plan } = await fetchPlan({
    url: service.app.url.origin,
    table,
    headers: { 'x-svc-session': service.owner.secret },
  })
  return plan.columns.filter(({ action }) => action === 'encrypt').map(({ name }) => name)
}

test('every spelling has the plan of the table, with what is saved for any of them', async () => {
  const plain: string[] = []
  expect(await planOf('sales', 'orders')).toEqual(plain)
  expect(await planOf('SALES', 'Orders')).toEqual(plain)

  const spelling = { namespace: ['sales'], name: 'ORDERS' }
  await commitColumns(service.store, service.owner.tenant, spelling, { id: 'long', customer: 'string' })
  expect((await rule('PUT', 'ORDERS')).status).toBe(204)
  const hidden = ['customer']
  expect(await planOf('sales', 'orders')).toEqual(hidden)
  expect(await planOf('sales', 'ORDERS')).toEqual(hidden)
  expect((await rule('DELETE', 'ORDERS')).status).toBe(204)
  expect(await planOf('sales', 'orders')).toEqual(plain)

  expect((await rule('PUT', 'orders')).status).toBe(204)
  expect(await planOf('sales', 'orders')).toEqual(hidden)
  expect(await planOf('SALES', 'ORDERS')).toEqual(hidden)
})
