/** The list of subjects: every one of a tenant once, whatever comes between two pages. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../../src/core/tenant.ts'
import { listSubjects } from '../../../src/store/transform/subject-keys.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'

setDefaultTimeout(300_000)

let store: TestStore
let tenant: TenantId
let foreign: TenantId

beforeAll(async () => {
  store = await openTestStore()
  tenant = (await makeTenant(store, { name: 'home' })).id
  foreign = (await makeTenant(store, { name: 'foreign' })).id
})
afterAll(() => store[Symbol.asyncDispose]())

const refOf = (number: number) => String(number).padStart(22, '0')

async function add(of: TenantId, kind: string, number: number): Promise<void> {
  await store.tenantQuery(
    of,
    `insert into svc.transform_subject_key (tenant_id, kind, ref, sid, wrapped) values ($1, $2, $3, $4, $5)`,
    [of, kind, refOf(number), `${kind}${number}`.padStart(22, '-'), new Uint8Array(8)],
  )
}

test('a subject of an earlier kind that comes between two pages leaves out and repeats nobody', async () => {
  for (const number of [1, 2, 3, 4]) await add(tenant, 'person', number)
  await add(foreign, 'person', 5)
  const first = await listSubjects(store, tenant, { limit: 2 })
  await add(tenant, 'account', 1)
  const second = await listSubjects(store, tenant, { limit: 2, ...(first.next && { after: first.next }) })
  expect([...first.items, ...second.items].map(({ kind, ref }) => [kind, ref])).toEqual(
    [1, 2, 3, 4].map((number) => ['person', refOf(number)]),
  )
  expect(second.next).toBeUndefined()
})

test('a list is of one kind, of those erased, or of those with a key, as asked for', async () => {
  const kinds = async (filter: Parameters<typeof listSubjects>[2]) =>
    (await listSubjects(store, tenant, filter)).items.map(({ kind }) => kind)
  expect(await kinds({ kind: 'account' })).toEqual(['account'])
  expect(await kinds({ shredded: true })).toEqual([])
  expect(await kinds({ shredded: false })).toEqual(['account', ...Array(4).fill('person')])
})

test.each(['', '1', 'x.person', `${refOf(1)}.`])('%p is no page token', async (after) => {
  expect(await listSubjects(store, tenant, { after }).catch((fault: unknown) => fault)).toMatchObject({
    kind: 'bad_request',
  })
})
