/**
 * The review plan of a contract over HTTP: who approves, for what purposes and how long, who is granted access at once, who
 * takes it by break-glass, owners who decide, and renewals; each with a foreign tenant that has the same table and people.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../src/core/session.ts'
import {
  type AccessLake,
  accessDocument,
  grantOf,
  itemsOf,
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

describe('a plan with bounds', () => {
  test('refuses another purpose by naming its own, and a longer time', async () => {
    await plan({ maxSeconds: 3_600, purposes: ['Refunds', 'Fraud cases'] })
    const refused = await post('/requests', rita, { ...asking, purpose: 'refunds' })
    expect([refused[0], messageOf(refused)]).toEqual([422, expect.stringContaining('Refunds; Fraud cases')])
    const long = await post('/requests', rita, { ...asking, seconds: 3_601 })
    expect([long[0], messageOf(long)]).toEqual([422, expect.stringContaining('3600 seconds')])
    const asked = await on.requested(rita, { purpose: 'Fraud   cases' })
    const { id } = grantOf(await on.decide(stella, asked))
    await on.revoke(stella, id)
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

test('a looser plan waits for a sign-off where the contract has a life cycle, and a wrong one is refused', async () => {
  await plan({ approvers: 2, maxSeconds: 3_600 })
  const compare = (access: object) =>
    on.ask('POST', '/api/v1/contracts/documents/orders/compare', stella, accessDocument({ plan: access }))
  const [status, looser] = await compare({ maxSeconds: 3_600 })
  expect([status, looser]).toMatchObject([200, { loosens_access: true, waits_for: ['first'] }])
  expect((looser.findings as { message: string }[]).map(({ message }) => message)).toContain(
    'The approvers of a request are 1 instead of 2',
  )
  const [, stricter] = await compare({ approvers: 2, maxSeconds: 60 })
  expect(stricter).toMatchObject({ loosens_access: false, breaking: false, waits_for: [] })
  const refused = await on.ask(
    'PUT',
    '/api/v1/contracts/documents/orders',
    stella,
    accessDocument({ plan: { maxSeconds: 1 } }),
  )
  expect([refused[0], JSON.stringify(refused[1])]).toEqual([
    422,
    expect.stringContaining('/customProperties/0/value/access/maxSeconds'),
  ])
})

describe('a plan with two approvers', () => {
  test('takes two persons, and shows the first decision while it waits for the second', async () => {
    await plan({ approvers: 2 })
    const asked = await on.requested(rita)
    expect(await on.shown(stella, asked.id)).toMatchObject({ waits_for: ['first', 'second'] })
    expect(await on.decide(stella, asked)).toEqual([200, {}])
    expect(await on.shown(rita, asked.id)).toMatchObject({
      ...{ state: 'waiting', waits_for: ['second'] },
      decisions: [{ approves: true, level: 'first', by: { sub: 'stella' } }],
    })
    expect(await on.isMasked('rita', rita)).toBe(true)
    expect((await on.decide(stella, asked))[0]).toBe(409)
    expect((await on.decide(adam, asked))[0]).toBe(403)
    expect((await on.decide(mallory, asked))[0]).toBe(404)
    const { id } = grantOf(await on.decide(sten, asked))
    expect(await on.isMasked('rita', rita)).toBe(false)
    await on.revoke(stella, id)
  })

  test('takes an administrator second where the contract asks for a second approval too', async () => {
    await plan({ approvers: 2 }, { roles: 'roles: [{role: reader, secondLevelApprovers: boss}]\n' })
    const asked = await on.requested(rita)
    expect(await on.decide(stella, asked)).toEqual([200, {}])
    expect((await on.decide(sten, asked))[0]).toBe(403)
    await on.revoke(stella, grantOf(await on.decide(adam, asked)).id)
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
    expect((await on.events('access.granted', made.id))[0]?.data).toMatchObject({ by_plan: true, by: 'rita' })
    expect((await on.decide(stella, made))[0]).toBe(409)
    await on.revoke(rita, made.grant?.id)
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
    expect((await on.events('access.break_glass', made.id))[0]?.data).toMatchObject({
      ...{ by: 'olaf', purpose: 'Refunds', ticket: 'INC-1', grant: made.grant?.id },
    })
    expect(await on.shown(stella, made.id)).toMatchObject({ waits_for: ['review'] })
    expect((await on.decide(olaf, made))[0]).toBe(403)
    expect((await on.decide(adam, made))[0]).toBe(403)
    expect((await on.decide(mallory, made))[0]).toBe(404)
    expect(await on.decide(stella, made, false)).toEqual([200, {}])
    expect(await on.isMasked('olaf', olaf)).toBe(true)
    expect(await on.shown(olaf, made.id)).toMatchObject({
      ...{ state: 'condemned', waits_for: [] },
      decisions: [{ approves: false, level: 'review', by: { sub: 'stella' } }],
    })
    expect((await on.events('access.reviewed', made.id))[0]?.data).toMatchObject({ confirms: false })
    expect(await on.events('access.ended', made.id)).toHaveLength(1)
  })

  test('is reviewed by somebody else than the steward who took it, also after it has ended', async () => {
    const made = await on.requested(stella, glass)
    expect((await on.decide(stella, made))[0]).toBe(403)
    nowMs += 7_200_000
    expect(await on.decide(sten, made)).toEqual([200, {}])
    expect(await on.shown(sten, made.id)).toMatchObject({ state: 'confirmed' })
    expect((await on.decide(sten, made))[0]).toBe(409)
  })

  test('raises an event once a day while nobody reviews it', async () => {
    const made = await on.requested(olaf, glass)
    const reminders = async () => (await on.events('access.review_overdue', made.id)).length
    nowMs += 86_399_000
    await on.work()
    expect(await reminders()).toBe(0)
    nowMs += 1_000
    await on.work()
    await on.work()
    expect(await reminders()).toBe(1)
    nowMs += 86_400_000
    await on.work()
    expect(await reminders()).toBe(2)
    await on.decide(sten, made)
    nowMs += 86_400_000
    await on.work()
    expect(await reminders()).toBe(2)
  })

  test('and its review are in the log of changes', async () => {
    const changes = itemsOf(await on.ask('GET', '/api/v1/contracts/changes?limit=200', stella))
    const actions = changes.map(({ action }) => action)
    expect(actions).toContain('break-glass-access')
    expect(actions).toContain('review-access')
  })
})
