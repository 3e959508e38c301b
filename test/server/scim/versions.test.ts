/**
 * Versions of SCIM resources, and what answers hold of groups and their members: what is sent again, and what a list
 * leaves out. On the embedded store, or on the server that SVC_TEST_DATABASE_URL names.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type IdentityService, startIdentityService } from '../../support/identity.ts'
import { groupBody, patchBody, type Scim, scimClient, userBody } from '../../support/scim.ts'
import { makeTenant } from '../../support/spare-tenants.ts'

setDefaultTimeout(120_000)

let service: IdentityService
let scim: Scim
let foreign: Scim
beforeAll(async () => {
  service = await startIdentityService()
  const { id } = await makeTenant(service.store, { name: 'theirs' })
  foreign = await scimClient(service, id)
  scim = await scimClient(service, service.owner.tenant)
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

const at = (kind: string, id: string, rest = '') => `${['', kind, id].join('/')}${rest}`
const create = async (name: string, more: object = {}) =>
  (await scim('POST', '/Users', userBody(name, more))).body

test('a version that has changed is not overwritten, and one that has not is not sent again', async () => {
  const { id } = await create('etag')
  const path = at('Users', id)
  expect(
    (await scim('PATCH', path, patchBody({ op: 'add', path: 'title', value: 'x' }), { 'if-match': 'W/"1"' }))
      .status,
  ).toBe(200)
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const body =
      method === 'PUT'
        ? userBody('etag')
        : method === 'PATCH'
          ? patchBody({ op: 'remove', path: 'title' })
          : undefined
    const { status, body: error } = await scim(method, path, body, { 'if-match': 'W/"1"' })
    expect([status, error.status]).toEqual([412, '412'])
  }
  const plain = `${path}?excludedAttributes=groups`
  expect((await scim('GET', plain, undefined, { 'if-none-match': 'W/"2"' })).status).toBe(304)
  expect((await scim('GET', plain, undefined, { 'if-none-match': 'W/"1"' })).status).toBe(200)
  const same = await scim('PATCH', path, patchBody({ op: 'replace', path: 'title', value: 'x' }), {
    'if-match': '*',
  })
  expect(same.headers.get('etag')).toBe('W/"2"')
})

test('groups of a user and members of a group are sent again, because they change without the version', async () => {
  const { id, meta } = await create('etag-member')
  const group = (await scim('POST', '/Groups', groupBody('etag-group', [id]))).body
  const again = (path: string, { version }: { version: string }) =>
    scim('GET', path, undefined, { 'if-none-match': version })
  const user = await again(at('Users', id), meta)
  expect([user.status, user.body.meta.version]).toEqual([200, meta.version])
  expect(user.body.groups).toMatchObject([{ value: group.id, display: 'etag-group' }])
  expect((await again(at('Users', id, '?attributes=groups'), meta)).status).toBe(200)
  expect((await again(at('Users', id, '?attributes=userName'), meta)).status).toBe(304)
  await scim('DELETE', at('Users', id))
  const emptied = await again(at('Groups', group.id), group.meta)
  expect([emptied.status, emptied.body.members]).toEqual([200, undefined])
  expect((await again(at('Groups', group.id, '?excludedAttributes=members'), group.meta)).status).toBe(304)
})

const search = (filter: string, more = '') => `/Groups?filter=${encodeURIComponent(filter)}${more}`

test('groups are found by their members, in each form that names one, and a foreign tenant finds none', async () => {
  const { id } = await create('found-one')
  const { id: other } = await create('found-other')
  const group = (await scim('POST', '/Groups', groupBody('found-own', [id, other]))).body.id
  await scim('POST', '/Groups', groupBody('found-not', [other]))
  for (const filter of [
    `members.value eq "${id}"`,
    `members eq "${id}"`,
    `members[value eq "${id}"]`,
    `displayName sw "found" and members[value eq "${id}" or value eq "no-id"]`,
    `members.value eq "${id}" and not (displayName sw "x")`,
    `members.value eq "${id}" or members.value eq "no-id"`,
  ]) {
    const found = await scim('GET', search(filter))
    expect([filter, found.status, found.body.totalResults]).toEqual([filter, 200, 1])
    expect(found.body.Resources).toMatchObject([
      { id: group, members: expect.arrayContaining([expect.objectContaining({ value: id })]) },
    ])
    expect((await foreign('GET', search(filter))).body.totalResults).toBe(0)
  }
  const others = await scim(
    'GET',
    search(`not (members.value eq "${id}") and displayName sw "found"`, '&attributes=id'),
  )
  expect(others.body.totalResults).toBe(1)
  expect((await scim('GET', search(`members.value eq "no-id"`))).body.totalResults).toBe(0)
  expect((await scim('GET', search(`members eq null and id eq "${group}"`))).body.totalResults).toBe(0)
  expect(
    (await scim('GET', `/Users?filter=${encodeURIComponent('userName sw "found-on"')}`)).body,
  ).toMatchObject({
    totalResults: 1,
    Resources: [{ groups: [{ value: group }] }],
  })
  const named = 'groups.display eq "found-own" and userName sw "found-on"'
  const ofUsers = await scim('GET', `/Users?filter=${encodeURIComponent(named)}`)
  expect([ofUsers.status, ofUsers.body.totalResults]).toEqual([200, 1])
})
