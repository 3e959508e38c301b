/** Contracts over HTTP, and their effect on POST /api/v1/query/explain. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../../src/core/session.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { commitColumns } from '../../support/governed.ts'
import { call, session } from '../../support/identity.ts'
import { startTestService, type TestService } from '../../support/service.ts'

setDefaultTimeout(300_000)

const people = { namespace: ['hr'], name: 'people' }
const types = { id: 'long', email: 'string', region: 'string' }
const base = '/api/v1/contracts/tables/hr/people'
let service: TestService
let steward: string
let reader: string
let foreign: string

beforeAll(async () => {
  service = await startTestService()
  const { tenant } = service.owner
  const other = (await createTenant(service.store, { name: 'foreign' })).id
  await commitColumns(service.store, tenant, people, types)
  await commitColumns(service.store, tenant, { namespace: ['hr'], name: 'free' }, types)
  steward = await session(service, tenant, ['read', 'admin'], ['steward'], 'stella')
  reader = await session(service, tenant, ['read'], ['analyst'], 'ada')
  foreign = await session(service, other, sessionScopes, ['steward'])
  const put = async (path: string, body?: object) => {
    const response = await call(service, 'PUT', path, { secret: steward, body })
    expect({ path, status: response.status }).toEqual({ path, status: 204 })
  }
  await put(base, { id: 'people', version: 3 })
  await put(`${base}/row-filters/eu`, { expression: "region = 'eu'", exempt_roles: ['officer'] })
  await put('/api/v1/contracts/tags/pii/masks/hide', { action: 'mask-alphanum', exempt_roles: ['officer'] })
  await put(`${base}/columns/email/tags/pii`)
})
afterAll(() => service[Symbol.asyncDispose]())

interface Explained {
  readonly sql?: string
  readonly principal: { readonly sub: string }
  readonly policies: readonly { readonly id: string; readonly origin?: object }[]
  readonly error?: { readonly sqlstate?: string; readonly message: string }
}

async function explain(body: object, secret = steward): Promise<[number, Explained]> {
  const response = await call(service, 'POST', '/api/v1/query/explain', {
    secret,
    body: { statement: 'SELECT email FROM hr.people', dialect: 'duckdb', ...body },
  })
  return [response.status, (await response.json()) as Explained]
}

describe('explain', () => {
  test.each(['duckdb', 'trino'])(
    'on %s shows filter and mask, and where they are attached',
    async (dialect) => {
      const [status, answer] = await explain({ dialect })
      expect({ status, ...answer }).toMatchObject({
        status: 200,
        dialect,
        principal: { sub: 'stella', roles: ['steward'] },
        parameters: [],
        columns: [{ name: 'email', type: 'text' }],
        reads: [{ table: people, contract: { id: 'people', version: 3 }, columns: ['email'] }],
        policies: [
          { id: 'eu', kind: 'row_filter', origin: { kind: 'table' } },
          { id: 'hide', kind: 'column_mask', column: 'email', origin: { kind: 'tag', tag: 'pii' } },
        ],
      })
      expect(answer.sql).toContain('"hr"."people"')
      expect(answer.sql).toContain("'eu'")
    },
  )

  test('for an exempt principal has neither', async () => {
    const [status, answer] = await explain({ principal: { sub: 'otto', roles: ['officer'] } })
    expect({ status, sub: answer.principal.sub, policies: answer.policies }).toEqual({
      status: 200,
      sub: 'otto',
      policies: [],
    })
    expect(answer.sql).not.toContain("'eu'")
  })

  test('takes the role of a steward for another principal, and to see the text of policies', async () => {
    const [status] = await explain({ principal: { sub: 'otto', roles: ['officer'] } }, reader)
    expect(status).toBe(403)
    const [own, answer] = await explain({}, reader)
    expect([own, answer.principal.sub, answer.policies.length]).toEqual([200, 'ada', 2])
    expect(answer.sql).toBeUndefined()
    expect(answer.policies.some(({ origin }) => origin !== undefined)).toBe(false)
  })

  test('takes parameters, which Trino needs', async () => {
    const statement = 'SELECT id FROM hr.people WHERE region = $1'
    const [status, answer] = await explain({ statement, dialect: 'trino', parameters: ["o'x"] })
    expect(status).toBe(200)
    expect(answer.sql).toContain("'o''x'")
    expect((await explain({ statement }))[1].sql).toContain('$1')
    const literal = { statement: 'SELECT id FROM hr.people WHERE region ~ $1', parameters: ['^e'] }
    expect((await explain(literal))[1].sql).toContain("'(?s)^e'")
    const [absent, { error: none }] = await explain({ ...literal, parameters: undefined })
    expect([absent, none?.sqlstate]).toEqual([400, '42P02'])
    const [missing, { error }] = await explain({ statement, dialect: 'trino' })
    expect([missing, error?.sqlstate]).toEqual([400, '42P02'])
  })

  test.each([
    ['a table without a contract', 'SELECT id FROM hr.free', 403, '42501'],
    ['an unknown table', 'SELECT id FROM hr.none', 400, '42P01'],
    ['a name without a schema', 'SELECT id FROM people', 400, '42P01'],
    ['no SQL', 'SELEKT', 400, '42601'],
    ['a write', 'DELETE FROM hr.people', 400, undefined],
    [
      'too many tables',
      `SELECT 1 FROM ${Array.from({ length: 65 }, (_, i) => `a.t${i}`).join(',')}`,
      400,
      '54001',
    ],
  ])('refuses %s with its SQLSTATE', async (_, statement, expected, sqlstate) => {
    const [status, { error }] = await explain({ statement })
    expect(status).toBe(expected)
    if (sqlstate === undefined) expect(error?.sqlstate).toMatch(/^(0A000|42601)$/)
    else expect(error?.sqlstate).toBe(sqlstate)
  })

  test.each([
    { dialect: 'mysql' },
    { statement: 1 },
    { principal: { sub: '' } },
    { principal: 'otto' },
    { principal: null },
    { principal: { sub: 'a', roles: [1] } },
    { parameters: [1] },
    { unknown: 1 },
  ])('refuses the body %p', async (body) => {
    expect((await explain(body))[0]).toBe(400)
  })

  test('shows a foreign tenant nothing', async () => {
    const [status, { error }] = await explain({}, foreign)
    expect([status, error?.sqlstate]).toEqual([400, '42P01'])
  })
})
