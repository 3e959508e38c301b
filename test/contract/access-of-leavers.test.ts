/**
 * What happens to the access for a time of a person who is deactivated, renamed or deleted by provisioning: it ends with
 * that change, and does not come back with the person. A foreign tenant has the same person.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../src/core/tenant.ts'
import { type AccessLake, accessPath, contractOf, startAccessLake } from '../support/access-lake.ts'
import { patchBody, type Scim, scimClient, userBody } from '../support/scim.ts'
import { makeTenant } from '../support/spare-tenants.ts'

setDefaultTimeout(300_000)

let on: AccessLake
let scim: Scim
let foreign: TenantId
let theirs: Scim

beforeAll(async () => {
  on = await startAccessLake({})
  foreign = (await makeTenant(on.lake.store, { name: 'other' })).id
  scim = await scimClient(on.lake, on.lake.tenant)
  theirs = await scimClient(on.lake, foreign)
})
afterAll(() => on?.[Symbol.asyncDispose]())

const idOf = (of: 'requests' | 'grants', id: string) => ['', 'api/v1/access', of, id].join('/')
/** The path of a user of this name. */
async function provision(client: Scim, userName: string, more: object = {}): Promise<string> {
  const { status, body } = await client('POST', '/Users', userBody(userName, more))
  expect(status).toBe(201)
  return ['', 'Users', body.id].join('/')
}
const isActive = (value: boolean) => patchBody({ op: 'replace', path: 'active', value })
const stateOf = async (request: string) =>
  (await on.ask('GET', idOf('requests', request), on.stella))[1].state
const openOf = async (secret: string) => {
  const [, page] = await on.ask('GET', `${accessPath}/grants?open=true`, secret)
  return (page.items as unknown as { id: string }[]).map(({ id }) => id)
}
const sees = async (user: string, secret: string) =>
  !(await on.rows(user, secret, 'select email from sales.orders')).toString().includes('xxx')

describe('a person who', () => {
  test.each<[string, (user: string) => Promise<{ status: number }>]>([
    ['is deactivated', (user) => scim('PATCH', user, isActive(false))],
    ['is deleted', (user) => scim('DELETE', user)],
    ['gets another name', (user) => scim('PUT', user, userBody(`other-${user.slice(-8)}`))],
  ])('%s loses grants and waiting requests at once, and does not get them again', async (how, leave) => {
    const name = how.replaceAll(' ', '-')
    const user = await provision(scim, name.toUpperCase())
    const secret = await on.sessionOf({ sub: name, roles: ['analyst'] })
    const grant = await on.granted(secret)
    const forRole = await on.granted(secret, { role: 'analyst' })
    const other = await on.sessionOf({ sub: `${name}-2`, roles: [] })
    const kept = await on.granted(other)
    const { id: waiting } = await on.requested(secret)
    expect((await leave(user)).status).toBeLessThan(300)
    expect([String(await stateOf(waiting)), ...(await openOf(secret))]).toEqual(['expired', forRole])
    expect((await on.revoke(on.stella, forRole))[0]).toBe(204)
    expect([await sees(name, secret), await sees(`${name}-2`, other)]).toEqual([false, true])
    if ((await scim('PATCH', user, isActive(true))).status !== 200) await provision(scim, name)
    expect([await openOf(secret), await sees(name, secret)]).toEqual([[], false])
    expect(await on.told('grant', grant)).toEqual(['access.granted', 'access.ended'])
    expect(await on.told('request', waiting)).toEqual(['access.requested', 'access.expired'])
    const changes = await on.ask('GET', '/api/v1/contracts/changes?limit=50', on.stella)
    const ended = changes[1].items as unknown as { action: string; subject: object; actor: string }[]
    const table = { namespace: ['sales'], table: 'orders' }
    for (const [action, subject] of [
      ['revoke-access', { grant, ...table }],
      ['withdraw-access', { access: waiting, ...table }],
    ] as const)
      expect(ended).toContainEqual(expect.objectContaining({ action, subject, actor: 'provisioning' }))
    await on.revoke(on.stella, kept)
  })

  test('leaves another tenant takes nothing from the person of that name here', async () => {
    const user = await provision(theirs, 'twin')
    const secret = await on.sessionOf({ sub: 'twin', roles: ['analyst'] })
    const grant = await on.granted(secret)
    expect((await theirs('DELETE', user)).status).toBe(204)
    expect(await openOf(secret)).toEqual([grant])
    await on.revoke(secret, grant)
  })

  test('has left while the request came in is granted nothing, and the request can be denied', async () => {
    const user = await provision(scim, 'late')
    await scim('PATCH', user, isActive(false))
    const secret = await on.sessionOf({ sub: 'late' })
    const asked = await on.requested(secret)
    expect((await on.decide(on.stella, asked))[0]).toBe(409)
    expect((await on.decide(on.stella, asked, false))[0]).toBe(200)
    expect(await openOf(secret)).toEqual([])
  })

  test('has left while the request came in gets nothing from a review plan either', async () => {
    const user = await provision(scim, 'quick')
    await scim('PATCH', user, isActive(false))
    const secret = await on.sessionOf({ sub: 'quick', roles: ['support'] })
    const plan = '{selfServiceRoles: [support], breakGlassRoles: [support]}'
    await on.putContract(
      contractOf().replace(
        'schema:',
        `customProperties: [{property: covenant, value: {access: ${plan}}}]\nschema:`,
      ),
    )
    const wanted = { namespace: ['sales'], table: 'orders', columns: ['email'], purpose: 'p', seconds: 600 }
    for (const more of [{}, { break_glass: true, ticket: 'INC-1' }])
      expect((await on.ask('POST', `${accessPath}/requests`, secret, { ...wanted, ...more }))[0]).toBe(409)
    const stays = await on.sessionOf({ sub: 'stays-here', roles: ['support'] })
    expect((await on.ask('POST', `${accessPath}/requests`, stays, wanted))[0]).toBe(201)
    await on.putContract(contractOf())
  })

  test('keeps the access where something else of the person changes', async () => {
    const user = await provision(scim, 'stays')
    const secret = await on.sessionOf({ sub: 'stays', roles: ['analyst'] })
    const grant = await on.granted(secret)
    expect((await scim('PUT', user, userBody('stays', { displayName: 'New' }))).status).toBe(200)
    expect(await openOf(secret)).toEqual([grant])
    await on.revoke(secret, grant)
  })
})
