/** Who has tables without an active contract on the Iceberg surface, by the tenant's setting. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { putContract } from '../../../src/contract/put-contract.ts'
import type { Uncontracted } from '../../../src/core/uncontracted.ts'
import { putReadSettings } from '../../../src/store/contract/read-settings.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { actorOf } from '../../support/actor.ts'
import { commitColumns } from '../../support/governed.ts'
import { licenseFor } from '../../support/license.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../../support/service.ts'
import { messageOf, send } from '../../support/surface.ts'
import { startTableUpstream, type TableUpstream, upstreamKeys } from '../../support/table-upstream.ts'

setDefaultTimeout(300_000)

let service: TestService
let upstream: TableUpstream
let writer: TestTenant
let reader: TestTenant
let foreign: TestTenant
/** Names that the upstream lists, a page at a time. */
const listed = ['a', 'b', 'open_1', 'c', 'open_2', 'open_3', 'd', 'e', 'open_4', 'f']

const readerOf = async (tenant: TestTenant): Promise<TestTenant> => {
  const principal = { sub: 'rita', roles: [] }
  const made = await createServiceSession(service.store, tenant.tenant, {
    ...{ name: 'rita', principal, scopes: ['read'] },
  })
  return { tenant: tenant.tenant, secret: made.secret }
}
const set = (uncontracted: Uncontracted, of = writer) =>
  putReadSettings(service.store, of.tenant, actorOf('stella'), { uncontracted })

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseFor('vending', 'contracts') } })
  upstream = startTableUpstream()
  const url = upstream.url.replace(/\/$/, '')
  writer = await addTenant(service.store, 'lake', url, { storage_roots: ['s3://lake'] })
  foreign = await addTenant(service.store, 'other', url, { storage_roots: ['s3://lake'] })
  reader = await readerOf(writer)
  upstream.listed = listed
  for (const name of ['t', 'open_1']) upstream.tables.set(name, { location: `s3://lake/${name}` })
  for (const name of listed.filter((one) => one.startsWith('open'))) {
    const table = { namespace: ['n'], name }
    await commitColumns(service.store, writer.tenant, table, { id: 'long' })
    const on = {
      store: service.store,
      tenant: writer.tenant,
      actor: actorOf('stella'),
      checkPolicies: () => [],
    }
    await putContract(on, table, { id: name, version: 1 })
  }
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await upstream.stop()
})

const headers = { 'x-iceberg-access-delegation': 'vended-credentials' }
const path = (name: string) => `/namespaces/n/tables/${name}`
const doors: readonly (readonly [string, (as: TestTenant, name: string) => Promise<Response>])[] = [
  ['load', (tenant, name) => send(service, 'GET', path(name), undefined, { tenant, headers })],
  [
    '/credentials',
    (tenant, name) => send(service, 'GET', `${path(name)}/credentials`, undefined, { tenant, headers }),
  ],
  ['/plan', (tenant, name) => send(service, 'POST', `${path(name)}/plan`, {}, { tenant })],
  ['/metrics', (tenant, name) => send(service, 'POST', `${path(name)}/metrics`, {}, { tenant })],
  ['HEAD', (tenant, name) => send(service, 'HEAD', path(name), undefined, { tenant })],
]

describe('a table without a contract', () => {
  test.each(doors)('is refused to a reader by %s, as one that does not exist is', async (door, ask) => {
    for (const mode of ['to_writers', 'denied'] as const) {
      await set(mode)
      const answers = []
      for (const name of ['t', 'no_such_table']) {
        const response = await ask(reader, name)
        const told = door === 'HEAD' ? '' : (await messageOf(response)).replaceAll(`n.${name} `, 'n.T ')
        answers.push([response.status, told])
      }
      expect(answers[0]).toEqual([
        403,
        door === 'HEAD' ? '' : expect.stringContaining('Ask a steward of the tenant for a contract'),
      ])
      expect(answers[1]).toEqual(answers[0] as never)
    }
    await set('to_writers')
  })

  test('goes on working for a session that may commit, unless the tenant denies it to all', async () => {
    await set('to_writers')
    expect(await (await doors[0]?.[1](writer, 't'))?.text()).toMatch(upstreamKeys)
    await set('denied')
    expect((await doors[0]?.[1](writer, 't'))?.status).toBe(403)
    const schema = { type: 'struct', fields: [] }
    const made = await send(
      service,
      'POST',
      '/namespaces/n/tables',
      { name: 'made', schema, location: 's3://lake/made' },
      { tenant: writer, headers },
    )
    expect(made.status).toBe(200)
    expect(await made.text()).not.toMatch(upstreamKeys)
    await set('to_writers')
  })

  test('is loaded by a reader where the tenant says readable, and of this tenant alone', async () => {
    await set('readable')
    expect((await doors[0]?.[1](reader, 't'))?.status).toBe(200)
    expect((await doors[0]?.[1](await readerOf(foreign), 't'))?.status).toBe(403)
    await set('to_writers')
  })
})

test('a table with an active contract is loaded by a reader, whatever the setting', async () => {
  for (const mode of ['denied', 'to_writers', 'readable'] as const) {
    await set(mode)
    expect((await doors[0]?.[1](reader, 'open_1'))?.status).toBe(200)
    // The contract is of the other tenant.
    expect((await doors[0]?.[1](await readerOf(foreign), 'open_1'))?.status).toBe(403)
  }
  await set('to_writers')
})

describe('a list of tables', () => {
  test.each([undefined, 1, 2, 3, 100])(
    'has full pages of what a reader may have; page size %p',
    async (size) => {
      const names: string[] = []
      let token: string | undefined = size === undefined ? undefined : ''
      let pages = 0
      do {
        const query: string = size === undefined ? '' : `?pageSize=${size}&pageToken=${token}`
        const response = await send(service, 'GET', `/namespaces/n/tables${query}`, undefined, {
          tenant: reader,
        })
        expect(response.status).toBe(200)
        const page = (await response.json()) as {
          identifiers: { name: string }[]
          'next-page-token': string | null
        }
        names.push(...page.identifiers.map(({ name }) => name))
        token = page['next-page-token'] ?? undefined
        if (token !== undefined) expect(page.identifiers).toHaveLength(size ?? 0)
        pages++
      } while (token !== undefined && pages < 20)
      expect(names).toEqual(['open_1', 'open_2', 'open_3', 'open_4'])
    },
  )

  test('is the upstream’s for a session that may commit, and refuses a token that is none', async () => {
    const whole = await send(service, 'GET', '/namespaces/n/tables', undefined, { tenant: writer })
    expect(((await whole.json()) as { identifiers: unknown[] }).identifiers).toHaveLength(listed.length)
    const wrong = await send(service, 'GET', '/namespaces/n/tables?pageToken=x', undefined, {
      tenant: reader,
    })
    expect(wrong.status).toBe(400)
  })
})
