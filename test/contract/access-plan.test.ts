/**
 * The review plan of a contract over HTTP: who approves, for what purposes and how long, who is granted access at once, who
 * takes it by break-glass, owners who decide, and renewals; each with a foreign tenant that has the same table and people.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { endAccess } from '../../src/contract/access/access-job.ts'
import { sessionScopes } from '../../src/core/session.ts'
import { readEvents } from '../../src/store/event/events.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import {
  type AccessAnswer,
  type AccessLake,
  accessDocument,
  messageOf,
  accessPath as path,
  startAccessLake,
} from '../support/access.ts'
import { session } from '../support/identity.ts'

setDefaultTimeout(300_000)

let nowMs = Date.now()
let on: AccessLake
let rita: string
let stella: string
let sten: string
let adam: string
let mallory: string
let otherRita: string

beforeAll(async () => {
  on = await startAccessLake({ now: () => nowMs })
  rita = await on.person('rita', ['analyst'], true)
  stella = await on.person('stella', ['steward'])
  sten = await on.person('sten', ['steward'])
  adam = await on.person('adam', ['administrator'])
  mallory = await session(on.lake, on.foreign, sessionScopes, ['steward', 'administrator'], 'mallory')
  otherRita = await session(on.lake, on.foreign, ['read'], ['analyst', 'oncall'], 'rita')
  await on.put(mallory, accessDocument())
})
afterAll(() => on?.lake[Symbol.asyncDispose]())

const plan = (access: object, more = {}) => on.put(stella, accessDocument({ plan: access, ...more }))
const post = (to: string, secret: string, body: object) => on.ask('POST', `${path}${to}`, secret, body)
const table = { namespace: ['sales'], table: 'orders' }
const asking = { ...table, columns: ['email'], purpose: 'Refunds', seconds: 3_600 }
const revoke = (secret: string, id = '') => post(`/grants/${id}/revocation`, secret, { reason: 'enough' })
const requestOf = async (secret: string, id: string) =>
  (await on.ask('GET', `${path}/requests/${id}`, secret))[1]
const itemsOf = ([, page]: AccessAnswer) => (page.items ?? []) as Record<string, unknown>[]
const grantOf = ([status, answer]: AccessAnswer) => {
  expect(status).toBe(200)
  return answer.grant as { id: string; from: string; until: string }
}
const told = async (type: string, id: string) =>
  (await readEvents(on.lake.store, on.lake.tenant, 0n)).filter(
    (event) => event.type === type && event.data.request === id,
  )
const work = () =>
  endAccess(
    { store: on.lake.store, clock: { now: () => nowMs }, log: createLogger({ level: 'silent' }) },
    AbortSignal.timeout(60_000),
  )

describe('a plan with bounds', () => {
  test('refuses another purpose by naming its own, and a longer time', async () => {
    await plan({ maxSeconds: 3_600, purposes: ['Refunds', 'Fraud cases'] })
    const refused = await post('/requests', rita, { ...asking, purpose: 'refunds' })
    expect([refused[0], messageOf(refused)]).toEqual([422, expect.stringContaining('Refunds; Fraud cases')])
    const long = await post('/requests', rita, { ...asking, seconds: 3_601 })
    expect([long[0], messageOf(long)]).toEqual([422, expect.stringContaining('3600 seconds')])
    const asked = await on.requested(rita, { purpose: 'Fraud   cases' })
    const { id } = grantOf(await on.decide(stella, asked))
    await revoke(stella, id)
  })

  test('that is stricter by now refuses to approve an older request, and denies it still', async () => {
    const asked = await on.requested(rita)
    await plan({ purposes: ['Audits'] })
    expect((await on.decide(stella, asked))[0]).toBe(409)
    expect((await on.decide(stella, asked, false))[0]).toBe(200)
  })

  test('holds for its own tenant alone', async () => {
    await plan({ purposes: ['Audits'] })
    const [status] = await post('/requests', otherRita, asking)
    expect(status).toBe(201)
  })
})

describe('a plan with two approvers', () => {
  test('takes two persons, and shows the first decision while it waits for the second', async () => {
    await plan({ approvers: 2 })
    const asked = await on.requested(rita)
    expect(await requestOf(stella, asked.id)).toMatchObject({ waits_for: ['first', 'second'] })
    expect(await on.decide(stella, asked)).toEqual([200, {}])
    expect(await requestOf(rita, asked.id)).toMatchObject({
      ...{ state: 'waiting', waits_for: ['second'] },
      decisions: [{ approves: true, level: 'first', by: { sub: 'stella' } }],
    })
    expect(await on.isMasked('rita', rita)).toBe(true)
    expect((await on.decide(stella, asked))[0]).toBe(409)
    expect((await on.decide(adam, asked))[0]).toBe(403)
    expect((await on.decide(mallory, asked))[0]).toBe(404)
    const { id } = grantOf(await on.decide(sten, asked))
    expect(await on.isMasked('rita', rita)).toBe(false)
    await revoke(stella, id)
  })

  test('takes an administrator second where the contract asks for a second approval too', async () => {
    await plan({ approvers: 2 }, { roles: 'roles: [{role: reader, secondLevelApprovers: boss}]\n' })
    const asked = await on.requested(rita)
    expect(await on.decide(stella, asked)).toEqual([200, {}])
    expect((await on.decide(sten, asked))[0]).toBe(403)
    await revoke(stella, grantOf(await on.decide(adam, asked)).id)
  })
})

describe('self-service', () => {
  test('grants at once what somebody with the role asks for themself, and says that the plan did', async () => {
    await plan({ selfServiceRoles: ['analyst'], maxSeconds: 3_600, purposes: ['Refunds'], approvers: 2 })
    const made = await on.requested(rita)
    expect(made).toMatchObject({
      ...{ state: 'granted', grant: { granted_by: 'rita' } },
      decisions: [{ approves: true, level: 'plan', by: { sub: 'rita' } }],
    })
    expect(await on.isMasked('rita', rita)).toBe(false)
    expect((await told('access.granted', made.id))[0]?.data).toMatchObject({ by_plan: true, by: 'rita' })
    expect((await on.decide(stella, made))[0]).toBe(409)
    await revoke(rita, made.grant?.id)
    expect(await on.isMasked('rita', rita)).toBe(true)
  })

  test('grants nothing for a role, outside of the plan, or to somebody else', async () => {
    expect((await on.requested(rita, { role: 'analyst' })).state).toBe('waiting')
    expect((await post('/requests', rita, { ...asking, seconds: 7_200 }))[0]).toBe(422)
    const clerk = await on.person('carl', ['clerk'], true)
    expect((await on.requested(clerk)).state).toBe('waiting')
    const [status, foreign] = await post('/requests', otherRita, asking)
    expect([status, foreign.state]).toEqual([201, 'waiting'])
  })

  test('gives one person twenty open grants of a table at most', async () => {
    const many = await on.person('mona', ['analyst'], true)
    for (let index = 0; index < 20; index += 1) await on.requested(many)
    expect((await post('/requests', many, asking))[0]).toBe(409)
  })
})

describe('break-glass', () => {
  const glass = { ...asking, break_glass: true, ticket: 'INC-1' }
  let olaf: string
  beforeAll(async () => {
    olaf = await on.person('olaf', ['oncall'], true)
    await plan({ breakGlassRoles: ['oncall', 'steward'], breakGlassMaxSeconds: 7_200 })
  })

  test.each<[string, object, number]>([
    ['without a ticket', { ticket: undefined }, 400],
    ['for a role', { role: 'oncall' }, 400],
    ['for longer than the plan says', { seconds: 7_201 }, 422],
  ])('%s is refused', async (_, more, status) => {
    expect((await post('/requests', olaf, { ...glass, ...more }))[0]).toBe(status)
  })

  test('is for roles of the plan, and of no other tenant’s', async () => {
    expect((await post('/requests', rita, glass))[0]).toBe(403)
    expect((await post('/requests', otherRita, glass))[0]).toBe(403)
    await plan({ selfServiceRoles: ['oncall'] })
    expect((await post('/requests', olaf, glass))[0]).toBe(403)
    await plan({ breakGlassRoles: ['oncall', 'steward'], breakGlassMaxSeconds: 7_200 })
  })

  test('opens at once with an alarm, waits for its review, and ends when it is condemned', async () => {
    const made = await on.requested(olaf, glass)
    expect(made).toMatchObject({ state: 'to_review', break_glass: true, ticket: 'INC-1' })
    expect(await on.isMasked('olaf', olaf)).toBe(false)
    expect((await told('access.break_glass', made.id))[0]?.data).toMatchObject({
      ...{ by: 'olaf', purpose: 'Refunds', ticket: 'INC-1', grant: made.grant?.id },
    })
    expect(await requestOf(stella, made.id)).toMatchObject({ waits_for: ['review'] })
    expect((await on.decide(olaf, made))[0]).toBe(403)
    expect((await on.decide(adam, made))[0]).toBe(403)
    expect((await on.decide(mallory, made))[0]).toBe(404)
    expect(await on.decide(stella, made, false)).toEqual([200, {}])
    expect(await on.isMasked('olaf', olaf)).toBe(true)
    expect(await requestOf(olaf, made.id)).toMatchObject({
      ...{ state: 'condemned', waits_for: [] },
      decisions: [{ approves: false, level: 'review', by: { sub: 'stella' } }],
    })
    expect((await told('access.reviewed', made.id))[0]?.data).toMatchObject({ confirms: false })
    expect(await told('access.ended', made.id)).toHaveLength(1)
  })

  test('is reviewed by somebody else than the steward who took it, also after it has ended', async () => {
    const made = await on.requested(stella, glass)
    expect((await on.decide(stella, made))[0]).toBe(403)
    nowMs += 7_200_000
    expect(await on.decide(sten, made)).toEqual([200, {}])
    expect(await requestOf(sten, made.id)).toMatchObject({ state: 'confirmed' })
    expect((await on.decide(sten, made))[0]).toBe(409)
  })

  test('raises an event once a day while nobody reviews it', async () => {
    const made = await on.requested(olaf, glass)
    const reminders = async () => (await told('access.review_overdue', made.id)).length
    nowMs += 86_399_000
    await work()
    expect(await reminders()).toBe(0)
    nowMs += 1_000
    await work()
    await work()
    expect(await reminders()).toBe(1)
    nowMs += 86_400_000
    await work()
    expect(await reminders()).toBe(2)
    await on.decide(sten, made)
    nowMs += 86_400_000
    await work()
    expect(await reminders()).toBe(2)
  })

  test('and its review are in the log of changes', async () => {
    const changes = itemsOf(await on.ask('GET', '/api/v1/contracts/changes?limit=200', stella))
    const actions = changes.map(({ action }) => action)
    expect(actions).toContain('break-glass-access')
    expect(actions).toContain('review-access')
  })
})

describe('an owner whom the document names', () => {
  const owners = [
    { username: 'olga', role: 'Owner' },
    { username: 'gone', role: 'owner', dateOut: '2020-01-01' },
    { username: 'both', role: 'owner' },
    { username: 'both', role: 'steward of data' },
    { username: 'mia', role: 'member' },
    { username: 'service:loader', role: 'owner' },
  ]
  let olga: string
  beforeAll(async () => {
    olga = await on.person('olga', ['analyst'], true)
    await plan({}, { owners })
  })

  test('finds, reads, decides and revokes by a session that only reads', async () => {
    const asked = await on.requested(rita)
    const query = 'namespace=sales&table=orders'
    const waiting = await on.ask('GET', `${path}/requests?everyone=true&state=waiting&${query}`, olga)
    expect(itemsOf(waiting).map(({ id }) => id)).toContain(asked.id)
    expect((await on.ask('GET', `${path}/requests?everyone=true`, olga))[0]).toBe(403)
    expect(await requestOf(olga, asked.id)).toMatchObject({ reveals: { columns: [{ name: 'email' }] } })
    const { id } = grantOf(await on.decide(olga, asked))
    const grants = itemsOf(await on.ask('GET', `${path}/grants?everyone=true&open=true&${query}`, olga))
    expect(grants.map((one) => one.id)).toContain(id)
    expect((await revoke(olga, id))[0]).toBe(204)
  })

  test('does not decide about access of their own', async () => {
    expect((await on.decide(olga, await on.requested(olga)))[0]).toBe(403)
    const role = await on.requested(rita, { role: 'analyst' })
    expect((await on.decide(olga, role))[0]).toBe(403)
  })

  test.each([
    ['who has left the team', 'gone'],
    ['whom another line gives another role', 'both'],
    ['who is a member and no owner', 'mia'],
    ['who is a service', 'service:loader'],
    ['who is in no line', 'nobody'],
  ])('is nobody %s', async (_, sub) => {
    const asked = await on.requested(rita)
    const secret = await on.person(sub, ['clerk'])
    expect((await on.decide(secret, asked))[0]).toBe(404)
    expect((await on.ask('GET', `${path}/requests/${asked.id}`, secret))[0]).toBe(404)
    const query = 'everyone=true&namespace=sales&table=orders'
    expect((await on.ask('GET', `${path}/grants?${query}`, secret))[0]).toBe(403)
  })

  test('is the owner of another tenant’s contract in that tenant alone', async () => {
    const asked = await on.requested(rita)
    const otherOlga = await session(on.lake, on.foreign, ['read'], ['analyst'], 'olga')
    expect((await on.decide(otherOlga, asked))[0]).toBe(404)
    const query = 'everyone=true&namespace=sales&table=orders'
    expect((await on.ask('GET', `${path}/requests?${query}`, otherOlga))[0]).toBe(403)
  })

  test('is one of the two approvers of a plan', async () => {
    await plan({ approvers: 2 }, { owners })
    const asked = await on.requested(rita)
    expect(await on.decide(olga, asked)).toEqual([200, {}])
    expect((await on.decide(olga, asked))[0]).toBe(409)
    await revoke(stella, grantOf(await on.decide(stella, asked)).id)
  })

  test('named by an address decides where the tenant matches people by it', async () => {
    await plan({}, { owners: [{ username: 'omar@shop.example', role: 'owner' }] })
    const { createServiceSession } = await import('../../src/store/session/sessions.ts')
    const principal = { sub: 'user_01', email: 'omar@shop.example', roles: ['clerk'] }
    const { store, tenant } = on.lake
    const { secret } = await createServiceSession(store, tenant, { name: 'o', principal, scopes: ['read'] })
    const asked = await on.requested(rita)
    expect((await on.decide(secret, asked))[0]).toBe(404)
    const owner = await on.person('boss', ['owner'])
    const settings = { claim: 'email', attribute: 'email', roles_from: 'token' }
    expect((await on.ask('PUT', '/api/v1/provisioning', owner, settings))[0]).toBe(200)
    await revoke(stella, grantOf(await on.decide(secret, asked)).id)
    await on.ask('PUT', '/api/v1/provisioning', owner, { ...settings, claim: 'sub' })
  })
})

describe('a renewal', () => {
  const renew = (secret: string, renews: string, more = {}) =>
    post('/requests', secret, { renews, seconds: 1_800, ...more })
  const granted = async (more = {}) => grantOf(await on.decide(stella, await on.requested(rita, more)))
  beforeAll(() => plan({}))

  test('is decided as every request, and begins where the grant ends, with no gap', async () => {
    const first = await granted()
    const [status, asked] = await renew(rita, first.id)
    expect([status, asked]).toEqual([
      201,
      expect.objectContaining({ renews: first.id, columns: ['email'], purpose: 'Refunds', state: 'waiting' }),
    ])
    expect((await renew(rita, first.id))[0]).toBe(409)
    const next = grantOf(await on.decide(stella, asked as never))
    expect([next.from, Date.parse(next.until)]).toEqual([first.until, Date.parse(first.until) + 1_800_000])
    expect((await renew(rita, next.id))[0]).toBe(409)
    const open = async () =>
      itemsOf(await on.ask('GET', `${path}/grants?open=true`, rita)).map(({ id }) => id)
    nowMs += 3_599_999
    expect([await on.isMasked('rita', rita), await open()]).toEqual([false, [first.id]])
    nowMs += 1
    expect([await on.isMasked('rita', rita), await open()]).toEqual([false, [next.id]])
    await work()
    expect(await on.isMasked('rita', rita)).toBe(false)
    nowMs += 1_800_000
    expect(await on.isMasked('rita', rita)).toBe(true)
  })

  test('that is decided after the end begins at once', async () => {
    const first = await granted()
    const [, asked] = await renew(rita, first.id, { purpose: 'Audits' })
    nowMs += 3_600_000
    await work()
    expect(await on.isMasked('rita', rita)).toBe(true)
    const next = grantOf(await on.decide(stella, asked as never))
    expect(Date.parse(next.from)).toBe(nowMs)
    expect(await on.isMasked('rita', rita)).toBe(false)
    await revoke(rita, next.id)
  })

  test('ends with the grant where that is revoked, and is refused where it was', async () => {
    const first = await granted()
    const next = grantOf(await on.decide(stella, (await renew(rita, first.id))[1] as never))
    expect((await revoke(rita, first.id))[0]).toBe(204)
    expect((await revoke(rita, next.id))[0]).toBe(409)
    nowMs += 3_600_000
    expect(await on.isMasked('rita', rita)).toBe(true)
    const second = await granted()
    const [, asked] = await renew(rita, second.id)
    await revoke(stella, second.id)
    expect((await on.decide(stella, asked as never))[0]).toBe(409)
    expect((await renew(rita, second.id))[0]).toBe(409)
  })

  test('is for who has the grant, with nothing of its own but purpose, ticket and time', async () => {
    const { id } = await granted()
    const clerk = await on.person('cleo', ['clerk'], true)
    for (const secret of [clerk, otherRita, mallory, stella]) expect((await renew(secret, id))[0]).toBe(404)
    for (const more of [table, { columns: ['email'] }, { role: 'analyst' }, { break_glass: true }])
      expect((await renew(rita, id, more))[0]).toBe(400)
    expect((await post('/requests', rita, { seconds: 600, purpose: 'Refunds' }))[0]).toBe(400)
    await revoke(stella, id)
  })

  test('of what the contract hides otherwise by now is refused', async () => {
    const { id } = await granted()
    await on.put(stella, accessDocument({ plan: {}, action: 'replace-with-null' }))
    expect((await renew(rita, id))[0]).toBe(409)
    await plan({})
    await revoke(stella, id)
  })

  test('of a grant is not reminded of, because it goes on', async () => {
    const first = await granted()
    await on.decide(stella, (await renew(rita, first.id))[1] as never)
    nowMs += 3_500_000
    await work()
    const events = await readEvents(on.lake.store, on.lake.tenant, 0n)
    const soon = events.filter(({ type, data }) => type === 'access.ends_soon' && data.grant === first.id)
    expect(soon).toEqual([])
    await revoke(stella, first.id)
  })
})
