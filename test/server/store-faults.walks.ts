/**
 * Each call that an operation makes of the store fails in turn, alone and with all calls after it. Whatever fails,
 * nobody is told that a session, a right or a thing is not there because of it: the answer is the usual one or 503.
 * Requests that succeed are those of which answers are recorded; beside them each route is asked for what is not there.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../src/core/session.ts'
import { type FaultyStore, faultyStore, type StoreFailure, storeFailures } from '../support/faulty-store.ts'
import { type IdentityService, session, startIdentityService } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import recorded from './recorded-answers.json'
import { lineOf, recordSuccesses } from './recorded-answers.ts'
import { recordedRequests } from './recorded-requests.ts'

setDefaultTimeout(600_000)

let service: IdentityService
let faulty: FaultyStore
beforeAll(async () => {
  faulty = faultyStore()
  service = await startIdentityService({ env: { SVC_LICENSE: licenseForAll() }, wrapStore: faulty.wrap })
})
afterAll(() => service[Symbol.asyncDispose]())

const failures = Object.keys(storeFailures) as StoreFailure[]
const usual = recorded.successes as Readonly<Record<string, string>>

test('no operation says that something is unknown or forbidden because a call of the store failed', async () => {
  const wrong: string[] = []
  let failed = 0
  await recordSuccesses(service, recordedRequests, async (name, send) => {
    for (let at = 0; ; at++)
      for (const stays of [true, false]) {
        const failure = failures[(at + Number(stays)) % failures.length] as StoreFailure
        faulty.fail({ at, failure, stays })
        const response = await send()
        if (!faulty.heal()) return response
        failed += 1
        if (response.status === 503) continue
        const line = await lineOf(response.clone() as Response)
        if (line !== usual[name])
          wrong.push(`${name}: ${failure} at ${at}${stays ? ' and later' : ''}: ${line}`)
        // It is done, and would find its own work.
        if (!name.startsWith('GET ') && response.status < 400) return response
      }
  })
  expect(wrong).toEqual([])
  expect(failed).toBeGreaterThan(500)
})

test('no route says so of what is not there before it has looked', async () => {
  const secret = await session(service, service.owner.tenant, sessionScopes, ['steward', 'administrator'])
  const wrong: string[] = []
  let failed = 0
  for (const { method, path } of service.app.routes.list()) {
    // A stream of events has begun before it reads, and goes on when the store is back.
    if (method === 'ALL' || /\*|openapi.json$|\/events$/.test(path)) continue
    const target = path.replaceAll(/:\w+/g, 'x')
    const isRead = method === 'GET'
    const as = path.startsWith('/admin') ? service.operator : secret
    const headers = { 'x-svc-session': as }
    // Not over a socket, so that a call of the background, such as a look at the database's clock, is told apart.
    const send = () =>
      faulty.within(() =>
        service.app.routes.handle(
          new Request(new URL(target, service.app.url).href, { method, headers, body: isRead ? null : '{}' }),
        ),
      )
    for (let at = 0; ; at++) {
      faulty.fail({ at, failure: failures[at % failures.length] as StoreFailure, stays: true, ofWork: true })
      const response = await send()
      await response.body?.cancel()
      if (!faulty.heal()) break
      failed += 1
      if (response.status !== 503) wrong.push(`${method} ${path} at ${at}: ${response.status}`)
    }
  }
  expect(wrong).toEqual([])
  expect(failed).toBeGreaterThan(200)
})
