/**
 * What a list of groups with very many members answers: no more memberships than one answer holds. On the embedded
 * store, or on the server that SVC_TEST_DATABASE_URL names.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type IdentityService, startIdentityService } from '../../support/identity.ts'
import { groupBody, type Scim, scimClient, userBody } from '../../support/scim.ts'

setDefaultTimeout(120_000)

let service: IdentityService
let scim: Scim
beforeAll(async () => {
  service = await startIdentityService()
  scim = await scimClient(service, service.owner.tenant)
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

const create = async (name: string, more: object = {}) =>
  (await scim('POST', '/Users', userBody(name, more))).body

const search = (filter: string, more = '') => `/Groups?filter=${encodeURIComponent(filter)}${more}`

/** Users, and groups that have all of them. */
async function fill(users: number, groups: number, name: string): Promise<void> {
  const { tenant } = service.owner
  await service.store.adminTransaction(async (tx) => {
    await tx.query(
      `insert into svc.scim_user (tenant_id, user_id, user_name_key, active, resource)
       select $1::uuid, gen_random_uuid(), $2 || n, true, jsonb_build_object('userName', $2 || n, 'active', true)
       from generate_series(1, $3::int) n`,
      [tenant, name, users],
    )
    await tx.query(
      `insert into svc.scim_group (tenant_id, group_id, display_name, display_key)
       select $1::uuid, gen_random_uuid(), $2 || n, $2 || n from generate_series(1, $3::int) n`,
      [tenant, name, groups],
    )
    await tx.query(
      `insert into svc.scim_member select u.tenant_id, g.group_id, u.user_id from svc.scim_user u
       join svc.scim_group g using (tenant_id)
       where u.tenant_id = $1 and starts_with(u.user_name_key, $2) and starts_with(g.display_key, $2)`,
      [tenant, name],
    )
  })
}

test('an answer holds 100,000 memberships at most: a list of more is refused, and says what to do', async () => {
  await fill(1_001, 100, 'wide ')
  const { id } = await create('wide-one')
  const group = (await scim('POST', '/Groups', groupBody('wide-own', [id]))).body.id
  for (const path of [search('displayName sw "wide "'), search('members.display co "wide"')]) {
    const refused = await scim('GET', path)
    expect([refused.status, refused.body.scimType]).toEqual([400, 'tooMany'])
    expect(refused.body.detail).toContain('excludedAttributes')
  }
  const fewer = await scim('GET', search('displayName sw "wide "', '&count=2'))
  expect(fewer.body.Resources.map((one: { members: object[] }) => one.members.length)).toEqual([1001, 1001])
  const without = await scim('GET', search('displayName sw "wide "', '&excludedAttributes=members'))
  expect([without.body.totalResults, without.body.Resources[0].members]).toEqual([100, undefined])
  const own = await scim('GET', search(`members.value eq "${id}"`))
  expect(own.body.Resources).toMatchObject([{ id: group, members: [{ value: id }] }])
})
