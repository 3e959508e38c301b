/** What a contract demands of a purpose in the store: of its table and tenant, of files, and under a new name. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { PurposeDemand } from '../../../src/core/purpose.ts'
import { tableKey } from '../../../src/core/table-ref.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { saveContract } from '../../../src/store/contract/rows.ts'
import { nodeId } from '../../../src/store/database/names.ts'
import { loadGovernance, parseGovernances } from '../../../src/store/governance/governance.ts'
import { governanceKinds } from '../../../src/store/governance/governance-rows.ts'
import { fileSight, isProtectedAlike } from '../../../src/store/governance/protections.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { commitColumns } from '../../support/governed.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'

setDefaultTimeout(300_000)

let store: TestStore
let ours: TenantId
let theirs: TenantId
const refOf = (name: string) => ({ namespace: ['sales'], name })

beforeAll(async () => {
  store = await openTestStore()
  ours = (await createTenant(store, { name: 'ours' })).id
  theirs = (await createTenant(store, { name: 'theirs' })).id
  for (const tenant of [ours, theirs])
    for (const name of ['orders', 'other']) await commitColumns(store, tenant, refOf(name), { id: 'long' })
})
afterAll(() => store[Symbol.asyncDispose]())

const put = (name: string, purposes?: unknown, tenant = ours) =>
  store.tenantTransaction(tenant, async (tx) => {
    const contract = { id: name, version: 1, schema: {}, purposes: purposes as PurposeDemand }
    await saveContract(tx, tenant, refOf(name), contract)
  })
const demanded = async (name: string, tenant = ours) =>
  (await loadGovernance(store, tenant, refOf(name)))?.purposeDemands

test('a demand is of its contract and tenant, and ends with the version that makes none', async () => {
  await put('orders', ['audit'])
  await put('orders', undefined, theirs)
  expect([await demanded('orders'), await demanded('orders', theirs)]).toEqual([[['audit']], undefined])
  await put('orders')
  expect(await demanded('orders')).toBeUndefined()
})

test('a demand that cannot be read lets nobody read', async () => {
  await put('orders', { any: true })
  expect(await demanded('orders')).toEqual([[]])
  const asked = { atMs: 0, openMs: 0, purpose: 'audit' }
  expect(await fileSight(store, ours, refOf('orders'), 'anyone', asked)).toMatchObject({
    masked: true,
    demands: 'sales.orders may be read for no purpose',
  })
})

test('files are shown for a purpose that is demanded alone', async () => {
  await put('orders', ['audit'])
  const sight = (purpose?: string) =>
    fileSight(store, ours, refOf('orders'), 'anyone', { atMs: 0, openMs: 0, purpose })
  expect([(await sight()).masked, (await sight('Audit')).masked]).toEqual([true, false])
  expect(await sight('Audit')).not.toHaveProperty('demands')
})

test('a name under which less is demanded protects less', async () => {
  await put('orders', ['audit'])
  await put('other')
  const alike = () => isProtectedAlike(store, ours, refOf('orders'), refOf('other'))
  expect(await alike()).toBe(false)
  await put('other', ['audit'])
  expect(await alike()).toBe(true)
})

test('a clone demands what its source demands, beside what its own contract does', () => {
  const id = (name: string) => nodeId(tableKey(refOf(name)))
  const tableRow = (name: string, graphId: string) => ['table', '', graphId, { id: id(name) }]
  const contractRow = (graphId: string, purposes: unknown) => {
    return ['contract', graphId, '', { id: `of ${graphId}`, version: 1, state: 'active', purposes }]
  }
  const rows = [
    ['table', '', '0', { id: '', sentinel: true }],
    ['column', '0', '1', { id: '', sentinel: true }],
    ['tag', '1', '2', { id: '', sentinel: true, name: '' }],
    ...governanceKinds
      .filter((kind) => !['table', 'column', 'tag'].includes(kind))
      .map((kind) => [
        kind.replace('column-filter', 'filter'),
        kind === 'column-filter' ? '1' : kind.startsWith('tag-') ? '2' : kind === 'mask' ? '1' : '0',
        '',
        { sentinel: true },
      ]),
    tableRow('clone', '3'),
    tableRow('source', '4'),
    contractRow('3', 'any'),
    contractRow('4', ['audit']),
    ['source', '', '', { table: id('clone'), source: id('source') }],
  ]
  const text = rows.map((row) => JSON.stringify(row)).join(',')
  const clone = parseGovernances([refOf('clone')], text).governances.get(tableKey(refOf('clone')))
  expect([clone?.isClone, clone?.purposeDemands]).toEqual([true, ['any', ['audit']]])
})
