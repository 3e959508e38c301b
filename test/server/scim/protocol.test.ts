/**
 * SCIM over HTTP: the sequences that Entra ID and Okta document, what the specification demands of answers, refusals in
 * its form, bounds, and a foreign tenant. Shapes of requests:
 * learn.microsoft.com/entra/identity/app-provisioning/use-scim-to-provision-users-and-groups,
 * developer.okta.com/docs/api/openapi/okta-scim/guides/scim-20 and RFC 7644. On the embedded store, or on the server that
 * SVC_TEST_DATABASE_URL names.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type IdentityService, startIdentityService } from '../../support/identity.ts'
import { groupBody, patchBody, type Scim, scimClient, userBody } from '../../support/scim.ts'
import { makeTenant } from '../../support/spare-tenants.ts'

setDefaultTimeout(120_000)

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

let service: IdentityService
let scim: Scim
let foreign: Scim
beforeAll(async () => {
  service = await startIdentityService()
  const { id } = await makeTenant(service.store, { name: 'theirs' })
  scim = await scimClient(service, service.owner.tenant)
  foreign = await scimClient(service, id)
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

const at = (kind: string, id: string, rest = '') => `${['', kind, id].join('/')}${rest}`
const search = (kind: string, filter: string, more = '') =>
  `/${kind}?filter=${encodeURIComponent(filter)}${more}`
const create = async (name: string, more: object = {}) =>
  (await scim('POST', '/Users', userBody(name, more))).body

test('Entra ID: a user is looked for, created, changed, disabled and deleted', async () => {
  const none = await scim('GET', search('Users', 'userName eq "non-existent user"'))
  expect(none.body).toMatchObject({ totalResults: 0, Resources: [], startIndex: 1, itemsPerPage: 0 })
  const sent = {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User', enterprise],
    externalId: '0a21f0f2',
    userName: 'Test_User_ab6490ee',
    active: true,
    emails: [{ primary: true, type: 'work', value: 'ab6490ee@testuser.example' }],
    meta: { resourceType: 'User' },
    name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
    roles: [],
    [enterprise]: { department: 'Engines' },
  }
  const made = await scim('POST', '/Users', sent)
  const { id } = made.body
  expect(made.status).toBe(201)
  expect(made.headers.get('content-type')).toBe('application/scim+json')
  expect(made.headers.get('location')).toEndWith(`/scim/v2/Users/${id}`)
  expect(made.headers.get('etag')).toBe('W/"1"')
  expect(made.body).toMatchObject({
    ...{
      schemas: sent.schemas,
      externalId: '0a21f0f2',
      active: true,
      name: sent.name,
      [enterprise]: { department: 'Engines' },
    },
    meta: { resourceType: 'User', version: 'W/"1"', location: made.headers.get('location') },
  })
  const found = await scim('GET', search('Users', 'userName eq "test_user_AB6490EE"'))
  expect(found.body).toMatchObject({ totalResults: 1, Resources: [{ id }] })
  const changed = await scim(
    'PATCH',
    at('Users', id),
    patchBody(
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updatedEmail@example.com' },
      { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
    ),
  )
  expect(changed.body).toMatchObject({
    emails: [{ value: 'updatedEmail@example.com', type: 'work', primary: true }],
    name: { familyName: 'updatedFamilyName', givenName: 'givenName' },
  })
  const renamed = { op: 'Replace', path: 'userName', value: '5b50642d@testuser.example' }
  expect((await scim('PATCH', at('Users', id), patchBody(renamed))).body.userName).toBe(renamed.value)
  const disabled = await scim(
    'PATCH',
    at('Users', id),
    patchBody({ op: 'Replace', path: 'active', value: false }),
  )
  expect([disabled.status, disabled.body.active]).toEqual([200, false])
  expect(
    (await scim('GET', search('Users', 'active eq false'))).body.Resources.map(
      (one: { id: string }) => one.id,
    ),
  ).toContain(id)
  expect((await scim('DELETE', at('Users', id))).status).toBe(204)
  expect((await scim('GET', at('Users', id))).status).toBe(404)
  expect((await scim('DELETE', at('Users', id))).status).toBe(404)
})

test('Entra ID: a group gets and loses members, and is asked for without them', async () => {
  const { id: user } = await create('entra-member')
  const made = await scim('POST', '/Groups', {
    ...groupBody('EntraGroup'),
    externalId: '8aa1a0c0',
    members: [],
  })
  const group = made.body.id
  expect(made.status).toBe(201)
  const add = patchBody({ op: 'Add', path: 'members', value: [{ $ref: null, value: user }] })
  const added = await scim('PATCH', at('Groups', group), add)
  expect([added.status, added.body, added.headers.get('etag')]).toEqual([204, undefined, 'W/"2"'])
  const again = await scim('PATCH', at('Groups', group), add)
  expect(again.headers.get('etag')).toBe('W/"2"')
  const without = await scim('GET', at('Groups', group, '?excludedAttributes=members'))
  expect(without.body.members).toBeUndefined()
  const listed = await scim(
    'GET',
    search('Groups', 'displayName eq "entragroup"', '&excludedAttributes=members'),
  )
  expect(listed.body.Resources).toMatchObject([{ id: group, displayName: 'EntraGroup' }])
  const member = await scim('GET', search('Groups', `id eq "${group}" and members eq "${user}"`))
  expect(member.body).toMatchObject({ totalResults: 1 })
  expect((await scim('GET', at('Users', user))).body.groups).toMatchObject([
    { value: group, display: 'EntraGroup', type: 'direct' },
  ])
  const remove = patchBody({ op: 'Remove', path: 'members', value: [{ $ref: null, value: user }] })
  expect((await scim('PATCH', at('Groups', group), remove)).status).toBe(204)
  expect((await scim('GET', at('Groups', group))).body.members).toBeUndefined()
  await scim('PATCH', at('Groups', group), add)
  const nobody = patchBody({ op: 'Remove', path: 'members', value: [] })
  expect((await scim('PATCH', at('Groups', group), nobody)).status).toBe(204)
  expect((await scim('GET', at('Groups', group))).body.members).toMatchObject([{ value: user }])
  const rename = patchBody({ op: 'Replace', path: 'displayName', value: 'Renamed' })
  expect((await scim('PATCH', at('Groups', group), rename)).status).toBe(204)
  expect((await scim('GET', at('Groups', group))).body.displayName).toBe('Renamed')
  expect((await scim('DELETE', at('Groups', group))).status).toBe(204)
})

test('Okta: a user is created, read, put, and deactivated', async () => {
  const missing = await scim(
    'GET',
    search('Users', 'userName eq "test.user@okta.local"', '&startIndex=1&count=100'),
  )
  expect(missing.body.totalResults).toBe(0)
  const sent = {
    ...userBody('test.user@okta.local'),
    name: { givenName: 'Test', familyName: 'User' },
    emails: [{ primary: true, value: 'test.user@okta.local', type: 'work' }],
    ...{
      displayName: 'Test User',
      locale: 'en-US',
      externalId: '00ujl29u0le5T6Aj10h7',
      groups: [],
      password: '1mz050nq',
    },
  }
  const made = await scim('POST', '/Users', sent)
  expect(made.status).toBe(201)
  expect(JSON.stringify(made.body)).not.toContain('1mz050nq')
  const { id } = made.body
  const put = { ...made.body, name: { ...sent.name, middleName: 'M' } }
  expect((await scim('PUT', at('Users', id), put)).body.name).toEqual({ ...sent.name, middleName: 'M' })
  const off = await scim('PATCH', at('Users', id), patchBody({ op: 'replace', value: { active: false } }))
  expect(off.body.active).toBe(false)
  // A put that says nothing of `active` lets nobody in.
  expect((await scim('PUT', at('Users', id), { userName: 'test.user@okta.local' })).body.active).toBe(false)
})

test('Okta: a group is created empty, renamed, given members, put and deleted', async () => {
  const [one, two] = [(await create('okta-1')).id, (await create('okta-2')).id]
  const { body } = await scim('POST', '/Groups', groupBody('Test SCIMv2'))
  const path = at('Groups', body.id)
  await scim(
    'PATCH',
    path,
    patchBody({ op: 'replace', value: { id: body.id, displayName: 'Test SCIMv2-2' } }),
  )
  const members = [{ value: one, display: 'okta-1' }]
  await scim('PATCH', path, patchBody({ op: 'add', path: 'members', value: members }))
  await scim(
    'PATCH',
    path,
    patchBody(
      { op: 'remove', path: `members[value eq "${one}"]` },
      { op: 'add', path: 'members', value: [{ value: two }] },
    ),
  )
  expect((await scim('GET', path)).body).toMatchObject({
    displayName: 'Test SCIMv2-2',
    members: [{ value: two, type: 'User' }],
  })
  await scim('PATCH', path, patchBody({ op: 'replace', path: 'members', value: members }))
  expect((await scim('GET', path)).body.members).toMatchObject([{ value: one }])
  const put = await scim('PUT', path, groupBody('Test SCIMv2-2', [two]))
  expect(put.body.members).toMatchObject([{ value: two }])
  expect((await scim('DELETE', path)).status).toBe(204)
})

test.each(['', ' ', '\t\n'])(
  'a name of %j is refused where a patch sets it, and nothing is changed',
  async (name) => {
    const { id } = await create(`named-${crypto.randomUUID()}`)
    const group = (await scim('POST', '/Groups', groupBody(`g-${id}`))).body.id
    for (const [path, attribute] of [
      [at('Users', id), 'userName'],
      [at('Groups', group), 'displayName'],
    ] as const)
      for (const operation of [
        { op: 'replace', path: attribute, value: name },
        { op: 'add', value: { [attribute]: name } },
      ]) {
        const { status, body } = await scim('PATCH', path, patchBody(operation))
        expect([status, body.scimType]).toEqual([400, 'invalidValue'])
        expect((await scim('GET', path)).body.meta.version).toBe('W/"1"')
      }
  },
)

test('a list is paged, in one order, with its total', async () => {
  for (const at of [1, 2, 3, 4, 5]) await create(`paged-${at}`, { title: 'paged' })
  const names: string[] = []
  for (const startIndex of [1, 3, 5]) {
    const { body } = await scim(
      'GET',
      search('Users', 'title eq "paged"', `&startIndex=${startIndex}&count=2`),
    )
    expect(body).toMatchObject({ totalResults: 5, startIndex })
    names.push(...body.Resources.map((one: { userName: string }) => one.userName))
  }
  expect(names.toSorted()).toEqual(['paged-1', 'paged-2', 'paged-3', 'paged-4', 'paged-5'])
  const counted = await scim('GET', '/Users?count=0')
  expect(counted.body.Resources).toEqual([])
  expect(counted.body.totalResults).toBeGreaterThan(4)
  const asked = {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
    ...{ filter: 'title eq "paged" and userName sw "paged-1"', attributes: ['userName'] },
  }
  const posted = await scim('POST', at('Users', '.search'), asked)
  expect(posted.body.Resources).toEqual([
    { schemas: expect.anything(), id: expect.anything(), userName: 'paged-1' },
  ])
})

test('what is served is described', async () => {
  const { body: config } = await scim('GET', '/ServiceProviderConfig')
  expect(config).toMatchObject({
    patch: { supported: true },
    bulk: { supported: false },
    etag: { supported: true },
  })
  const { body: types } = await scim('GET', '/ResourceTypes')
  expect(types.Resources.map((one: { endpoint: string }) => one.endpoint)).toEqual(['/Users', '/Groups'])
  expect((await scim('GET', '/ResourceTypes/User')).body.schemaExtensions).toEqual([
    { schema: enterprise, required: false },
  ])
  const { body: all } = await scim('GET', '/Schemas')
  for (const { id, attributes } of all.Resources) {
    expect((await scim('GET', `/Schemas/${id}`)).body.attributes).toEqual(attributes)
    expect(attributes.length).toBeGreaterThan(1)
  }
  expect((await scim('GET', '/Schemas/urn:other')).status).toBe(404)
})

test.each([
  ['POST', '/Users', '{', 400, 'invalidSyntax'],
  ['POST', '/Users', { userName: '' }, 400, 'invalidValue'],
  ['POST', '/Users', userBody('x', { shoeSize: 42 }), 400, 'invalidSyntax'],
  ['POST', '/Users', userBody('taken'), 409, 'uniqueness'],
  ['POST', '/Users', userBody('TAKEN'), 409, 'uniqueness'],
  ['POST', '/Users', userBody('x'.repeat(2000)), 400, undefined],
  ['POST', '/Groups', groupBody('taken-group'), 409, 'uniqueness'],
  ['POST', '/Groups', groupBody('g', ['00000000-0000-4000-8000-000000000000']), 400, 'invalidValue'],
  ['POST', '/Groups', groupBody('g', ['no-id']), 400, 'invalidValue'],
  ['GET', search('Users', 'shoeSize eq "42"'), undefined, 400, 'invalidFilter'],
  ['GET', '/Users?sortBy=userName', undefined, 400, 'invalidSyntax'],
  ['GET', '/Users?fitler=x', undefined, 400, 'invalidSyntax'],
  ['GET', '/Users?count=many', undefined, 400, 'invalidValue'],
  ['GET', '/Users?attributes=a&excludedAttributes=b', undefined, 400, 'invalidSyntax'],
  [
    'PATCH',
    at('Users', '00000000-0000-4000-8000-000000000000'),
    patchBody({ op: 'remove', path: 'title' }),
    404,
    undefined,
  ],
  ['PUT', '/Groups/no-id', groupBody('g'), 404, undefined],
  ['POST', '/Bulk', {}, 501, undefined],
  ['POST', '/.search', {}, 501, undefined],
  ['GET', '/Me', undefined, 501, undefined],
])('%s %s is refused in the form of SCIM', async (method, path, body, status, scimType) => {
  await create('taken')
  await scim('POST', '/Groups', groupBody('taken-group'))
  const answer = await scim(method, path, body)
  expect(answer.headers.get('content-type')).toBe('application/scim+json')
  expect([answer.status, answer.body.status, answer.body.scimType]).toEqual([
    status,
    String(status),
    scimType,
  ])
  expect(answer.body.schemas).toEqual(['urn:ietf:params:scim:api:messages:2.0:Error'])
  expect(answer.body.detail.length).toBeGreaterThan(10)
})

test('a body of another media type, and one that is too large, are refused', async () => {
  expect((await scim('POST', '/Users', userBody('m'), { 'content-type': 'text/plain' })).status).toBe(415)
  expect((await scim('POST', '/Users', `"${'x'.repeat(5 * 1024 * 1024)}"`)).status).toBe(413)
  expect(
    (await scim('POST', '/Users', userBody('m'), { 'content-type': 'application/json; charset=utf-8' }))
      .status,
  ).toBe(201)
})

test('another tenant sees, changes and counts nothing of ours, and may have the same names', async () => {
  const { id } = await create('shared')
  const group = (await scim('POST', '/Groups', groupBody('shared-group', [id]))).body.id
  for (const [kind, one] of [
    ['Users', id],
    ['Groups', group],
  ] as const) {
    expect((await foreign('GET', at(kind, one))).status).toBe(404)
    expect((await foreign('DELETE', at(kind, one))).status).toBe(404)
    expect(
      (await foreign('PATCH', at(kind, one), patchBody({ op: 'add', path: 'externalId', value: 'x' })))
        .status,
    ).toBe(404)
    expect((await foreign('GET', `/${kind}`)).body.totalResults).toBe(0)
    expect((await foreign('GET', search(kind, `id eq "${one}" or externalId pr`))).body.totalResults).toBe(0)
  }
  expect((await foreign('POST', '/Groups', groupBody('theirs', [id]))).body.scimType).toBe('invalidValue')
  expect((await foreign('POST', '/Users', userBody('shared'))).status).toBe(201)
  expect((await scim('GET', at('Groups', group))).body.members).toMatchObject([{ value: id }])
})

test('a group of ten thousand gains and loses one without the others being written', async () => {
  await service.store.adminTransaction(async (tx) => {
    await tx.query(
      `insert into svc.scim_user (tenant_id, user_id, user_name_key, active, resource)
       select $1::uuid, gen_random_uuid(), 'many ' || n, true, jsonb_build_object('userName', 'many ' || n, 'active', true)
       from generate_series(1, 10000) n`,
      [service.owner.tenant],
    )
  })
  const { body } = await scim('POST', '/Groups', groupBody('many'))
  await service.store.adminTransaction((tx) =>
    tx.query(
      `insert into svc.scim_member select tenant_id, $2::uuid, user_id from svc.scim_user
       where tenant_id = $1 and user_name_key like 'many %'`,
      [service.owner.tenant, body.id],
    ),
  )
  const { id } = await create('one-more')
  const written = () =>
    service.store.adminQuery<{ mark: string; count: number }>(
      `select xmin::text as mark, count(*)::int as count from svc.scim_member where group_id = $1 group by 1 order by 2`,
      [body.id],
    )
  const [before] = await written()
  await scim(
    'PATCH',
    at('Groups', body.id),
    patchBody({ op: 'add', path: 'members', value: [{ value: id }] }),
  )
  expect(await written()).toEqual([{ mark: expect.anything(), count: 1 }, before] as never)
  await scim('PATCH', at('Groups', body.id), patchBody({ op: 'remove', path: `members[value eq "${id}"]` }))
  expect(await written()).toEqual([before] as never)
})
