/** The stream of events over REST: numbers without gaps, resumption, who sees what, and when it ends. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createTable } from '../../../demo/commits.ts'
import { putTag } from '../../../src/contract/put-tag.ts'
import type { EventType } from '../../../src/core/event.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { appendEvent } from '../../../src/store/event/events.ts'
import { createServiceSession, revokeServiceSession } from '../../../src/store/session/sessions.ts'
import { actorOf } from '../../support/actor.ts'
import { session } from '../../support/identity.ts'
import { licenseForAll } from '../../support/license.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../../support/service.ts'
import { send } from '../../support/surface.ts'

setDefaultTimeout(60_000)

let service: TestService
let own: TestTenant
let foreign: TestTenant
let administrator: string
let steward: string

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  own = await addTenant(service.store, 'own', service.catalog.url)
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  administrator = await session(service, own.tenant, ['read'], ['administrator'], 'adam')
  steward = await session(service, own.tenant, ['read'], ['steward'], 'stella')
})
afterAll(() => service[Symbol.asyncDispose]())

const append = (tenant: TenantId, type: EventType, subject: string) =>
  service.store.tenantTransaction(tenant, (tx) => appendEvent(tx, { type, subject, data: { by: 'test' } }))

interface Sent {
  readonly id: string
  readonly event: string | undefined
  readonly data: { readonly type: string; readonly subject: string; readonly data: object } | undefined
}

interface Stream extends AsyncDisposable {
  readonly status: number
  /** The next event that has data; undefined once the stream has ended. */
  readonly next: () => Promise<Sent | undefined>
}

async function follow(secret: string, query = '', lastId?: string): Promise<Stream> {
  const leaving = new AbortController()
  const response = await fetch(new URL(`/api/v1/events${query}`, service.app.url), {
    headers: { 'x-svc-session': secret, ...(lastId !== undefined && { 'last-event-id': lastId }) },
    signal: leaving.signal,
  })
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  const block = async (): Promise<string | undefined> => {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end >= 0) {
        const found = text.slice(0, end)
        text = text.slice(end + 2)
        return found
      }
      const read = await reader?.read()
      if (read === undefined || read.done) return undefined
      text += decoder.decode(read.value, { stream: true })
    }
  }
  // The first block says that the stream is open.
  if (response.status === 200) expect(await block()).toContain(': open')
  return {
    status: response.status,
    async next() {
      for (;;) {
        const found = await block()
        if (found === undefined) return undefined
        const fields = new Map(
          found
            .split('\n')
            .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
        )
        const data = fields.get('data')
        if (data !== undefined)
          return {
            id: fields.get('id') ?? '',
            event: fields.get('event'),
            data: JSON.parse(data) as Sent['data'],
          }
      }
    },
    async [Symbol.asyncDispose]() {
      leaving.abort()
      await reader?.cancel().catch(() => undefined)
    },
  }
}

describe('the stream of events', () => {
  test('sends what happens as CloudEvents, numbered without a gap, and nothing of another tenant', async () => {
    await using stream = await follow(administrator)
    await append(foreign.tenant, 'contract.moved', 'theirs')
    for (const subject of ['a', 'b', 'c']) await append(own.tenant, 'contract.moved', subject)
    const found = [await stream.next(), await stream.next(), await stream.next()]
    expect(found.map((one) => one?.data?.subject)).toEqual(['a', 'b', 'c'])
    const numbers = found.map((one) => Number(one?.id))
    expect(numbers).toEqual([numbers[0] ?? 0, (numbers[0] ?? 0) + 1, (numbers[0] ?? 0) + 2])
    expect(found[0]).toMatchObject({
      event: 'contract.moved',
      data: { specversion: '1.0', data: { by: 'test' } },
    })
  })

  test('resumes behind the last event that a client received', async () => {
    await using first = await follow(administrator)
    await append(own.tenant, 'contract.moved', 'seen')
    const seen = await first.next()
    await first[Symbol.asyncDispose]()
    await append(own.tenant, 'contract.moved', 'missed')
    await using second = await follow(administrator, '', seen?.id)
    expect((await second.next())?.data?.subject).toBe('missed')
    await using third = await follow(administrator, `?after=${seen?.id}`)
    expect((await third.next())?.data?.subject).toBe('missed')
  })

  test('sends the types that are asked for', async () => {
    await using stream = await follow(administrator, '?types=table.pinned,breach.found')
    await append(own.tenant, 'contract.moved', 'other')
    await append(own.tenant, 'breach.found', 'wanted')
    expect((await stream.next())?.data?.subject).toBe('wanted')
  })

  test('shows sessions, breaches and webhooks to administrators and owners alone', async () => {
    await using stream = await follow(steward)
    for (const type of [
      'session.quarantined',
      'breach.found',
      'session.files_left',
      'webhook.unreadable',
    ] as const)
      await append(own.tenant, type, 'hidden')
    await append(own.tenant, 'contract.moved', 'shown')
    expect((await stream.next())?.data?.subject).toBe('shown')
  })

  test('says what becomes of tags', async () => {
    expect(
      (await send(service, 'POST', '/namespaces/sales/tables', createTable('tagged'), { tenant: own }))
        .status,
    ).toBe(200)
    await using stream = await follow(administrator, '?types=tag.set,tag.removed')
    const on = { store: service.store, tenant: own.tenant, actor: actorOf('stella'), checkPolicies }
    await putTag(on, { namespace: ['sales'], name: 'tagged' }, 'customer', 'pii')
    expect((await stream.next())?.data).toMatchObject({
      type: 'tag.set',
      data: { tag: 'pii', namespace: ['sales'], table: 'tagged', column: 'customer', by: 'stella' },
    })
  })

  test('refuses a number that is none, an unknown type, and a caller without a role', async () => {
    const reader = await session(service, own.tenant, ['read'], [], 'rita')
    const statuses = []
    for (const [secret, query, lastId] of [
      [administrator, '', 'x'],
      [administrator, '?types=nothing', undefined],
      [reader, '', undefined],
    ] as const) {
      await using stream = await follow(secret, query, lastId)
      statuses.push(stream.status)
    }
    expect(statuses).toEqual([400, 400, 403])
  })

  test('ends with the session, before anything more is sent', async () => {
    const principal = { sub: 'gone', roles: ['administrator'] }
    const made = { name: 'gone', principal, scopes: ['read'] as const }
    const { id, secret } = await createServiceSession(service.store, own.tenant, made)
    await using stream = await follow(secret)
    await revokeServiceSession(service.store, own.tenant, id, actorOf('ada'))
    await append(own.tenant, 'contract.moved', 'secret')
    expect(await stream.next()).toBeUndefined()
  })

  test('gives the place of a stream back when its client leaves', async () => {
    for (let round = 0; round < 12; round++) {
      await using stream = await follow(administrator)
      expect(stream.status).toBe(200)
    }
  })
})
