/** Who may not decide about access, because it may be who asked or would have it: by another session, issuer or name. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type AccessLake, type NewPerson, startAccessLake } from '../support/access-lake.ts'
import { groupBody, type Scim, scimClient, userBody } from '../support/scim.ts'
import { makeTenant } from '../support/spare-tenants.ts'

setDefaultTimeout(300_000)

let on: AccessLake
let rita: string

beforeAll(async () => {
  on = await startAccessLake({})
  rita = await on.sessionOf({ sub: 'rita', roles: ['analyst'] })
})
afterAll(() => on?.[Symbol.asyncDispose]())

test.each<[string, NewPerson, NewPerson]>([
  ['who has the same subject by another issuer', { sub: 'dora' }, { sub: 'dora', roles: ['steward'] }],
  ['whose subject differs in case alone', { sub: 'Dana' }, { sub: 'dana', roles: ['steward'] }],
  [
    'who has the same e-mail address',
    { sub: 'idp|1', email: 'Dan@example.com' },
    { sub: 'other|2', email: 'dan@example.com', roles: ['steward'] },
  ],
])('a decision is not taken from a steward %s', async (_, asks, decides) => {
  const asked = await on.requested(await on.sessionOf({ roles: ['analyst'], ...asks }))
  const steward = await on.sessionOf(decides)
  expect((await on.decide(steward, asked))[0]).toBe(403)
  expect((await on.decide(steward, asked, false))[0]).toBe(403)
})

test.each<[string, NewPerson, string | undefined]>([
  ['by another session', { sub: 'stef' }, undefined],
  ['by another session, whose address is the same', { sub: 'x', email: 'stef@example.com' }, undefined],
  ['by a service session that they made', { sub: 'service:tool' }, 'stef'],
])('a decision about a role is not taken from a steward who has it %s', async (_, other, by) => {
  const steward = await on.sessionOf({ sub: 'stef', email: 'stef@example.com', roles: ['steward'] })
  const asked = await on.requested(rita, { role: 'analyst' })
  const made = await on.sessionOf({ ...other, roles: ['analyst'] }, by)
  expect((await on.decide(steward, asked))[0]).toBe(403)
  await on.endSession(made)
  expect((await on.decide(steward, asked, false))[0]).toBe(200)
})

test('a decision about a role is not taken from a steward in the group of the role, whatever a foreign tenant’s group says', async () => {
  const foreign = (await makeTenant(on.lake.store, { name: 'other' })).id
  const steward = await on.sessionOf({ sub: 'Sina', roles: ['steward'] })
  const join = async (scim: Scim) => {
    const { body } = await scim('POST', '/Users', userBody('sina'))
    expect((await scim('POST', '/Groups', groupBody('analyst', [body.id]))).status).toBe(201)
    return ['', 'Users', body.id].join('/')
  }
  await join(await scimClient(on.lake, foreign))
  expect((await on.decide(steward, await on.requested(rita, { role: 'analyst' }), false))[0]).toBe(200)
  const own = await scimClient(on.lake, on.lake.tenant)
  const user = await join(own)
  const asked = await on.requested(rita, { role: 'analyst' })
  expect((await on.decide(steward, asked))[0]).toBe(403)
  expect((await own('DELETE', user)).status).toBe(204)
  expect((await on.decide(on.stella, asked, false))[0]).toBe(200)
})

test('a decision about a role is not taken from a service where its maker made a service with the role, too', async () => {
  const asked = await on.requested(rita, { role: 'analyst' })
  const steward = await on.sessionOf({ sub: 'service:decider', roles: ['steward'] }, 'pat')
  const reader = await on.sessionOf({ sub: 'service:reader', roles: ['analyst'] }, 'pat')
  expect((await on.decide(steward, asked))[0]).toBe(403)
  await on.endSession(reader)
  expect((await on.decide(steward, asked, false))[0]).toBe(200)
})
