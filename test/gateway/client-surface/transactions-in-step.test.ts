/** Two atomic transactions at once on the same tables of a catalog whose metadata files the gateway cannot read. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createTable, setProperties } from '../../../demo/commits.ts'
import { listIntents } from '../../../src/store/commit/intent-settlements.ts'
import { eventually } from '../../support/eventually.ts'
import { wrongFiles } from '../../support/file-truth.ts'
import { type RecordingProxy, recordingProxy } from '../../support/recording-proxy.ts'
import {
  addTenant,
  audit,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../support/service.ts'
import { send } from '../../support/surface.ts'

setDefaultTimeout(60_000)

const tables = ['left', 'right'] as const
let service: TestService
let proxy: RecordingProxy
let tenant: TestTenant
/** What every audit of an accepted commit waits for. */
let held: Promise<void> | undefined
let audits = 0

beforeAll(async () => {
  service = await startTestService({
    wrapStore: (store) => ({
      ...store,
      async tenantCall(of, name, params) {
        if (name === 'record_verdict') audits++
        if (name === 'record_verdict') await held
        return await store.tenantCall(of, name, params)
      },
    }),
  })
  proxy = await recordingProxy(service.catalog.url)
  tenant = await addTenant(service.store, 'in-step', proxy.url, { atomic_transactions: true })
  for (const name of tables)
    expect(
      (await send(service, 'POST', '/namespaces/sales/tables', createTable(name), { tenant })).status,
    ).toBe(200)
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

const transact = (by: string) => {
  const changes = tables.map((name) => ({
    identifier: { namespace: ['sales'], name },
    ...JSON.parse(setProperties({ [by]: 'yes' })),
  }))
  return send(service, 'POST', '/transactions/commit', JSON.stringify({ 'table-changes': changes }), {
    tenant,
  })
}
const arrived = () => proxy.exchanges.filter((one) => one.path.endsWith('/transactions/commit')).length

test('the second is sent once the tables have shown the first, not once that is audited, and each row names its own file', async () => {
  // The bound of the wait would let it go ahead, too.
  Object.defineProperty(service.app.gateway.sendTurns, 'waitMs', { value: 2 ** 31 - 1 })
  const release = Promise.withResolvers<void>()
  held = release.promise
  audits = 0
  const first = transact('alice')
  await eventually(() => audits > 0)
  const second = transact('bob')
  await eventually(() => arrived() === 2)
  release.resolve()
  expect([(await first).status, (await second).status]).toEqual([204, 204])
  await eventually(async () => (await listIntents(service.store, tenant.tenant)).items.length === 0)
  const rows = await audit(service, tenant.tenant)
  expect(rows.filter(({ action }) => action === 'update-table')).toHaveLength(4)
  expect(await wrongFiles(service.store, tenant.tenant)).toMatchObject({ checked: 4, wrong: [] })
})
