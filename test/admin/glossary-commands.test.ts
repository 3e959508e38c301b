/** Listing and removing terms of the glossary on the command line, as a session. A foreign tenant has the same term. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { ask } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import { addTenant, startTestService, type TestService } from '../support/service.ts'
import { runRemotely } from './command-line.ts'

let service: TestService
let secret: string
let foreign: string
beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  const other = await addTenant(service.store, 'other', service.catalog.url)
  const stewardOf = async (tenant: typeof other.tenant) =>
    (
      await createServiceSession(service.store, tenant, {
        name: 'sam',
        principal: { sub: 'sam', roles: ['steward'] },
        scopes: ['admin', 'read'],
      })
    ).secret
  secret = await stewardOf(service.owner.tenant)
  foreign = await stewardOf(other.tenant)
  for (const as of [secret, foreign])
    await ask(service, 'PUT', '/api/v1/glossary/revenue', as, { definition: 'What was paid' })
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

function run(command: string, as = secret) {
  const args = [...command.split(' '), '--url', service.app.url.origin]
  return runRemotely(args, { env: { COVENANT_SESSION: as }, stdin: '' })
}

test('glossary list and remove work on the tenant of the session', async () => {
  expect(JSON.parse((await run('glossary list')).stdout)).toMatchObject([{ name: 'revenue' }])
  expect((await run('glossary remove --term revenue')).status).toBe(0)
  expect(JSON.parse((await run('glossary list')).stdout)).toEqual([])
  expect(await run('glossary remove --term revenue')).toMatchObject({ status: 1 })
  expect(JSON.parse((await run('glossary list', foreign)).stdout)).toMatchObject([{ name: 'revenue' }])
})

test('glossary list finds terms by names, synonyms and stems, best first, and never those of another tenant', async () => {
  const put = (term: string, body: object, as = secret) =>
    ask(service, 'PUT', `/api/v1/glossary/${term}`, as, body)
  await put('turnover', { definition: 'Revenues before returns', synonyms: ['gross sales'] })
  await put('net_revenue', { definition: 'Turnover less returns' })
  await put('headcount', { definition: 'People at the end of a month' })
  await put('foreign_revenue', { definition: 'Not theirs' }, foreign)
  const found = async (words: string) => {
    const { stdout } = await runRemotely(
      ['glossary', 'list', '--query', words, '--url', service.app.url.origin],
      { env: { COVENANT_SESSION: secret }, stdin: '' },
    )
    return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)
  }
  expect(await found('revenue')).toEqual(['net_revenue', 'turnover'])
  expect(await found('sale')).toEqual(['turnover'])
  expect(await found('months of people')).toEqual(['headcount'])
  expect(await found('nothing like it')).toEqual([])
  const paged = await ask(service, 'GET', '/api/v1/glossary?query=returns&limit=1', secret)
  expect(paged).toMatchObject({
    status: 200,
    body: { items: [{ name: 'net_revenue' }], next_page_token: '1' },
  })
  expect((await ask(service, 'GET', '/api/v1/glossary?query=%20%2C', secret)).status).toBe(400)
  expect((await ask(service, 'GET', '/api/v1/glossary?query=returns&page_token=x', secret)).status).toBe(400)
})
