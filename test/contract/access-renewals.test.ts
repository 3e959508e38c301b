/** Grants of access are renewed by name: over HTTP, with a foreign tenant that has the same table and people. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../src/core/session.ts'
import { readEvents } from '../../src/store/event/events.ts'
import {
  type AccessLake,
  accessDocument,
  grantOf,
  itemsOf,
  accessPath as path,
  startAccessLake,
} from '../support/access.ts'
import { session } from '../support/identity.ts'

setDefaultTimeout(300_000)

let nowMs = Date.now()
let on: AccessLake
let rita: string
let stella: string
let mallory: string
let otherRita: string

beforeAll(async () => {
  on = await startAccessLake({ now: () => nowMs })
  rita = await on.person('rita', ['analyst'], true)
  stella = await on.person('stella', ['steward'])
  mallory = await session(on.lake, on.foreign, sessionScopes, ['steward', 'administrator'], 'mallory')
  otherRita = await session(on.lake, on.foreign, ['read'], ['analyst', 'oncall'], 'rita')
  await on.put(mallory, accessDocument())
})
afterAll(() => on?.lake[Symbol.asyncDispose]())

const plan = (access: object, more = {}) => on.put(stella, accessDocument({ plan: access, ...more }))
const post = (to: string, secret: string, body: object) => on.ask('POST', `${path}${to}`, secret, body)
const table = { namespace: ['sales'], table: 'orders' }

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
    await on.work()
    expect(await on.isMasked('rita', rita)).toBe(false)
    nowMs += 1_800_000
    expect(await on.isMasked('rita', rita)).toBe(true)
  })

  test('that is decided after the end begins at once', async () => {
    const first = await granted()
    const [, asked] = await renew(rita, first.id, { purpose: 'Audits' })
    nowMs += 3_600_000
    await on.work()
    expect(await on.isMasked('rita', rita)).toBe(true)
    const next = grantOf(await on.decide(stella, asked as never))
    expect(Date.parse(next.from)).toBe(nowMs)
    expect(await on.isMasked('rita', rita)).toBe(false)
    await on.revoke(rita, next.id)
  })

  test('ends with the grant where that is revoked, and is refused where it was', async () => {
    const first = await granted()
    const next = grantOf(await on.decide(stella, (await renew(rita, first.id))[1] as never))
    expect((await on.revoke(rita, first.id))[0]).toBe(204)
    expect((await on.revoke(rita, next.id))[0]).toBe(409)
    nowMs += 3_600_000
    expect(await on.isMasked('rita', rita)).toBe(true)
    const second = await granted()
    const [, asked] = await renew(rita, second.id)
    await on.revoke(stella, second.id)
    expect((await on.decide(stella, asked as never))[0]).toBe(409)
    expect((await renew(rita, second.id))[0]).toBe(409)
  })

  test('is asked for again where the one before was revoked, and the reminder comes', async () => {
    const first = await granted()
    const next = grantOf(await on.decide(stella, (await renew(rita, first.id))[1] as never))
    expect((await on.revoke(rita, next.id))[0]).toBe(204)
    const [status, asked] = await renew(rita, first.id)
    expect(status).toBe(201)
    await on.decide(stella, asked as never, false)
    nowMs += 3_500_000
    await on.work()
    const events = await readEvents(on.lake.store, on.lake.tenant, 0n)
    expect(
      events.filter(({ type, data }) => type === 'access.ends_soon' && data.grant === first.id),
    ).toHaveLength(1)
    await on.revoke(rita, first.id)
  })

  test('ends with break-glass that is condemned after its time, and is not made of it then', async () => {
    await plan({ breakGlassRoles: ['analyst'] })
    const taken = await on.requested(rita, { break_glass: true, ticket: 'INC-1', seconds: 600 })
    const next = grantOf(await on.decide(stella, (await renew(rita, taken.grant?.id ?? ''))[1] as never))
    nowMs += 600_000
    expect(await on.isMasked('rita', rita)).toBe(false)
    const [, later] = await renew(rita, next.id)
    expect((await on.decide(stella, taken, false))[0]).toBe(200)
    expect(await on.isMasked('rita', rita)).toBe(true)
    expect((await on.decide(stella, later as never))[0]).toBe(409)
    const again = await on.requested(rita, { break_glass: true, ticket: 'INC-2', seconds: 600 })
    const [, waits] = await renew(rita, again.grant?.id ?? '')
    nowMs += 600_000
    await on.work()
    expect((await on.decide(stella, again, false))[0]).toBe(200)
    expect((await on.decide(stella, waits as never))[0]).toBe(409)
    await plan({})
  })

  test('is for who has the grant, with nothing of its own but purpose, ticket and time', async () => {
    const { id } = await granted()
    const clerk = await on.person('cleo', ['clerk'], true)
    for (const secret of [clerk, otherRita, mallory, stella]) expect((await renew(secret, id))[0]).toBe(404)
    for (const more of [table, { columns: ['email'] }, { role: 'analyst' }, { break_glass: true }])
      expect((await renew(rita, id, more))[0]).toBe(400)
    expect((await post('/requests', rita, { seconds: 600, purpose: 'Refunds' }))[0]).toBe(400)
    await on.revoke(stella, id)
  })

  test('is asked for once, also at the same moment', async () => {
    const { id } = await granted()
    const both = await Promise.all([renew(rita, id), renew(rita, id)])
    expect(both.map(([status]) => status).toSorted()).toEqual([201, 409])
    await on.revoke(rita, id)
  })

  test('of what the contract hides otherwise by now is refused', async () => {
    const { id } = await granted()
    await on.put(stella, accessDocument({ plan: {}, action: 'replace-with-null' }))
    expect((await renew(rita, id))[0]).toBe(409)
    await plan({})
    await on.revoke(stella, id)
  })

  test('of a grant is not reminded of, because it goes on', async () => {
    const first = await granted()
    await on.decide(stella, (await renew(rita, first.id))[1] as never)
    nowMs += 3_500_000
    await on.work()
    const events = await readEvents(on.lake.store, on.lake.tenant, 0n)
    const soon = events.filter(({ type, data }) => type === 'access.ends_soon' && data.grant === first.id)
    expect(soon).toEqual([])
    await on.revoke(stella, first.id)
  })
})
