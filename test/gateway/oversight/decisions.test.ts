/** Decisions over HTTP and on the command line: filters, explanations, and export, with a foreign tenant beside. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Fault } from '../../../src/base/fault.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { exportDecisions } from '../../../src/gateway/oversight/export-decisions.ts'
import { openIntent } from '../../../src/store/commit/commit-intents.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { runOn, runRemotely } from '../../admin/command-line.ts'
import { approvedOf, intentOf, rejectedOf } from '../../support/commits.ts'
import { csvHead, csvRecords } from '../../support/csv.ts'
import { call, type IdentityService, session, startIdentityService } from '../../support/identity.ts'
import { addTenant, type TestTenant } from '../../support/service.ts'

setDefaultTimeout(300_000)

let service: IdentityService
let foreign: TestTenant
let steward: string
let outsider: string

type Json = Readonly<Record<string, unknown>>
const nasty = [
  "=cmd|' /C calc'!A0",
  '+1',
  '-2',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  ' =1',
  '\uff1d1',
  'a "quoted", text',
  'two\r\nlines',
  'one\nline feed',
  'ends with ,',
  'é 🙂 漢',
  "'=plain",
]
const table = { namespace: ['sales', 'eu'], name: 'orders' }
const explained = {
  policies: [
    {
      id: 'p',
      kind: 'schema',
      mode: 'enforce',
      definitionCel: 'secret text',
      scope: { namespace: ['sales'] },
    },
  ],
  outcomes: [{ policyId: 'p', name: 'p', mode: 'enforce', value: false, explanation: 'x == 1, x is 2' }],
} as const

async function record(tenant: TenantId, reason: string | undefined, sub: string, requestId: string) {
  const intent = intentOf({ table, principal: { sub, roles: ['r'] }, requestId })
  await openIntent(service.store, tenant, intent)
  const verdict = reason === undefined ? approvedOf(intent) : { ...rejectedOf(intent, reason), ...explained }
  await recordVerdict(service.store, tenant, verdict)
}

const manyCount = 230
beforeAll(async () => {
  service = await startIdentityService()
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  steward = await session(service, service.owner.tenant, ['read'], ['steward'])
  outsider = await session(service, foreign.tenant, ['read'], ['steward'])
  const { tenant } = service.owner
  for (const [index, reason] of nasty.entries()) await record(tenant, reason, 'mallory', `bad-${index}`)
  for (let index = 0; index < manyCount; index++) await record(tenant, undefined, 'spark', `good-${index}`)
  await record(foreign.tenant, 'theirs', 'mallory', 'bad-0')
})
afterAll(() => service[Symbol.asyncDispose]())

const ask = (path: string, secret = steward) => call(service, 'GET', path, { secret })
const list = async (query: string, secret = steward) => {
  const response = await ask(`/api/v1/decisions?${query}`, secret)
  expect(response.status).toBe(200)
  return ((await response.json()) as { items: readonly Json[] }).items
}
const exported = (query: string, secret = steward) => ask(`/api/v1/decisions/export?${query}`, secret)
const admin = (path: string, tenant: string = service.owner.tenant) => `/admin/tenants/${tenant}${path}`
const lines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Json)

describe('a list of decisions', () => {
  test('is narrowed by who, what, which policy, which request and when', async () => {
    const all = await list('limit=1000')
    expect(all).toHaveLength(nasty.length + manyCount)
    expect(await list('principal=mallory')).toHaveLength(nasty.length)
    expect(await list('decision=REJECTED&principal=spark')).toEqual([])
    expect(await list('policy=p&limit=1000')).toHaveLength(nasty.length)
    expect(await list('policy=secret')).toEqual([])
    expect(await list('request_id=bad-3')).toMatchObject([{ reason: nasty[3], request_id: 'bad-3' }])
    expect(await list('namespace=sales%1Feu&table=none')).toEqual([])
    const middle = String(all[100]?.created_at)
    const before = await list(`to=${middle}&limit=1000`)
    const since = await list(`from=${middle}&limit=1000`)
    expect(before.length + since.length).toBe(all.length)
    expect(since.every(({ created_at }) => String(created_at) >= middle)).toBe(true)
    expect((await ask('/api/v1/decisions?from=yesterday')).status).toBe(400)
  })

  test('explains each decision where it is asked to, without the texts of policies', async () => {
    const [plain] = await list('request_id=bad-0')
    const [told] = await list('request_id=bad-0&explain=true')
    expect(plain).not.toHaveProperty('outcomes')
    expect(told).toMatchObject({
      ...plain,
      principal: { sub: 'mallory', roles: ['r'] },
      policies: [{ id: 'p', scope: { namespace: ['sales'] } }],
      outcomes: [{ policy_id: 'p', value: false, explanation: 'x == 1, x is 2' }],
    })
    expect(JSON.stringify(told)).not.toContain('secret text')
  })

  test('is one tenant’s, and for those alone who may see explanations', async () => {
    expect(await list('request_id=bad-0', outsider)).toMatchObject([{ reason: 'theirs' }])
    const reader = await session(service, service.owner.tenant, ['read'], ['analyst'])
    for (const path of ['/api/v1/decisions', '/api/v1/decisions/export'])
      expect((await ask(path, reader)).status).toBe(403)
  })
})

/** An export as the operator gets it. */
const withoutValues = (text: string) => text.replaceAll(/,(""?)explanation\1:\1x == 1, x is 2\1/g, '')
const where = () => ({ store: service.store, tenant: service.owner.tenant })

describe('an export of decisions', () => {
  const wanted = { filter: {}, format: 'jsonl', reader: { sub: 'stella', roles: ['steward'] } } as const
  test('as JSON Lines has every decision once, newest first, as an explained list has it', async () => {
    const response = await exported('')
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
    expect(lines(await response.text())).toEqual([...(await list('explain=true&limit=1000'))])
  })

  test('as CSV is read back whole by a reader of RFC 4180, and holds no formula', async () => {
    const response = await exported('format=csv&principal=mallory')
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="decisions.csv"')
    const text = await response.text()
    expect(text).toEndWith('\r\n')
    const records = csvRecords(text)
    expect(csvHead(text).slice(0, 4)).toEqual(['commit_id', 'created_at', 'decision', 'reason'])
    const reasons = records.map(({ reason }) => reason ?? '').toReversed()
    expect(reasons).toEqual(nasty.map((one, index) => (index < 8 ? `'${one}` : one)))
    for (const cell of records.flatMap((one) => Object.values(one)))
      expect(cell).not.toMatch(/^\s*[=+\-@\uff1d]/)
    expect(records[0]).toMatchObject({
      table: 'sales.eu.orders',
      committer: 'mallory',
      policies: 'p',
      roles: 'r',
    })
    expect(JSON.parse(records[0]?.outcomes ?? '')).toMatchObject([{ explanation: 'x == 1, x is 2' }])
  })

  test('without a decision is a head alone, or nothing', async () => {
    expect((await (await exported('format=csv&principal=nobody')).text()).split('\r\n')).toHaveLength(2)
    expect(await (await exported('principal=nobody')).text()).toBe('')
  })

  test('is the same under /admin but for values that were written, and one tenant’s alone', async () => {
    const own = await (await exported('format=csv')).text()
    const operated = await (await ask(admin('/decisions/export?format=csv'), service.operator)).text()
    expect(own).toContain('x is 2')
    expect(operated).toBe(withoutValues(own))
    expect(lines(await (await exported('', outsider)).text())).toMatchObject([{ reason: 'theirs' }])
    const theirs = await ask(admin('/decisions/export', foreign.tenant), service.operator)
    expect(lines(await theirs.text())).toMatchObject([{ reason: 'theirs' }])
    expect((await ask(admin('/decisions/export', crypto.randomUUID()), service.operator)).status).toBe(404)
  })

  test('refuses an unknown format and half a table with 400', async () => {
    for (const query of ['format=xlsx', 'table=orders', 'from=x'])
      expect((await exported(query)).status).toBe(400)
  })

  test('does not hold what comes after it began', async () => {
    const response = await exported('')
    await record(service.owner.tenant, undefined, 'late', 'late')
    const found = lines(await response.text())
    expect(found).toHaveLength(nasty.length + manyCount)
    expect(found.some(({ committer }) => committer === 'late')).toBe(false)
  })

  test('breaks off once access has ended, so that it does not look whole', async () => {
    const ended = new Fault('unauthenticated', 'The session has ended.')
    await using server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      development: false,
      fetch: ({ signal }) =>
        exportDecisions({ ...wanted, ...where(), signal, again: () => Promise.reject(ended) }),
    })
    const response = await fetch(server.url)
    expect(response.status).toBe(200)
    expect(await response.text().catch(() => 'broken off')).toBe('broken off')
  })

  test('loads a page once the one before was taken, and none after its client has gone', async () => {
    let checked = 0
    const again = async () => checked++
    const response = await exportDecisions({
      ...wanted,
      ...where(),
      signal: new AbortController().signal,
      again,
    })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    expect(checked).toBe(0)
    await reader.read()
    expect(checked).toBe(1)
    await reader.cancel()
    expect(checked).toBe(1)
  })

  test('is printed by the command line alike, on the store and over HTTP', async () => {
    const { tenant } = service.owner
    for (const format of ['csv', 'jsonl']) {
      const words = `audit export --tenant ${tenant} --principal mallory --format ${format}`.split(' ')
      const printed = await runOn(service.store, words)
      expect(printed).toMatchObject({ status: 0, stderr: '' })
      const query = `format=${format}&principal=mallory`
      expect(printed.stdout).toBe(withoutValues(await (await exported(query)).text()))
      const env = { COVENANT_SESSION: service.operator }
      expect(await runRemotely([...words, '--url', service.app.url.origin], { env })).toEqual(printed)
    }
  })
})
