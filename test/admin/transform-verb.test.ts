/** `covenant transform`: rows before and after the plan of a running service, and the plan as SQL. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { setProperties } from '../../demo/commits.ts'
import { transform } from '../../src/admin/transform-verb.ts'
import { sessionScopes } from '../../src/core/session.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { licenseFor } from '../support/license.ts'
import { commit, startTestService, type TestService } from '../support/service.ts'

setDefaultTimeout(120_000)

let service: TestService
beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseFor('transform') } })
  expect((await commit(service, setProperties({ owner: 'sales' }))).status).toBe(200)
  const { secret } = await createServiceSession(service.store, service.owner.tenant, {
    name: 'stella',
    principal: { sub: 'stella', roles: ['steward'] },
    scopes: [...sessionScopes],
  })
  const rules = {
    customer: { action: 'tokenize', method: 'ff1', alphabet: 'digits', scope: 'card' },
    amount: { action: 'redact' },
    placed_at: { action: 'mask', mask: 'truncate-to-month' },
  }
  steward = secret
  await putRules(rules)
})
afterAll(() => service[Symbol.asyncDispose]())

let steward = ''
async function putRules(rules: Readonly<Record<string, object>>): Promise<void> {
  for (const [column, rule] of Object.entries(rules)) {
    const path = `/api/v1/transform/rules/columns/sales/orders/${column}`
    const headers = { 'x-svc-session': steward, 'content-type': 'application/json' }
    const answer = await fetch(new URL(path, service.app.url), {
      method: 'PUT',
      headers,
      body: JSON.stringify(rule),
    })
    expect(answer.status).toBe(204)
  }
}

async function run(text: string, stdin = '', env: Record<string, string> = {}) {
  const [out, err]: [string[], string[]] = [[], []]
  const status = await transform(text.split(' '), {
    env: { COVENANT_URL: service.app.url.origin, COVENANT_SESSION: service.owner.secret, ...env },
    stdin: async () => stdin,
    print: (line: string) => void out.push(line),
    complain: (line: string) => void err.push(line),
  })
  return { status, out, err: err.join('\n') }
}

const row =
  '{"id": 7, "customer": "4111-1111-1111-1111", "amount": "9.50", "placed_at": "2026-11-23T08:00:00Z"}'
const base = 'preview --table sales.orders --file -'

test('shows each row before and after', async () => {
  const { status, out, err } = await run(base, `${row}\n`)
  expect([status, err]).toEqual([0, ''])
  expect(out).toHaveLength(2)
  expect(out[1]).toMatch(
    /^after {2}\{"id":7,"customer":"\d{4}-\d{4}-\d{4}-\d{4}","amount":null,"placed_at":"2026-11-01T00:00:00.000Z"\}$/,
  )
  expect(out[1]).not.toContain('4111-1111')
})

test('shows ten rows, or as many as it is asked for', async () => {
  const rows = `${row}\n`.repeat(20)
  expect((await run(base, rows)).out).toHaveLength(20)
  expect((await run(`${base} --rows 2`, rows)).out).toHaveLength(4)
})

test('refuses with the column and the reason, and never the value', async () => {
  const refused = await run(base, '{"customer": "CANARY"}')
  expect([refused.status, refused.out]).toEqual([1, []])
  expect(refused.err).toBe(
    'Refused (outside_domain): column customer: a value has a character outside digits.',
  )
  const unknown = await run(base, '{"more": 1}')
  expect(unknown.err).toContain('column more: the plan does not know it')
  const noSession = await run(base, row, { COVENANT_SESSION: 'svc_none' })
  expect([noSession.status, noSession.err]).toEqual([
    1,
    'Refused (no_plan): there is no plan: the service answered 401.',
  ])
})

test('says what is wrong with its words', async () => {
  for (const words of [
    'preview',
    'preview --table orders --file -',
    'show',
    'sql --table sales.orders',
    'sql --table sales.orders --dialect oracle',
    'sql --table sales.orders --dialect duckdb --rows 3',
    `${base} --dialect duckdb`,
    `${base} --rows 0`,
    `${base} --no`,
  ])
    expect((await run(words)).status).toBe(64)
  const broken = await run(base, 'CANARY')
  expect([broken.status, broken.err.includes('CANARY')]).toEqual([64, false])
  expect((await run('--help')).out.join()).toContain('covenant transform preview')
})

test('writes no SQL for a plan with a key, not even for its other columns', async () => {
  const { status, out, err } = await run('sql --table sales.orders --dialect spark')
  expect([status, out]).toEqual([1, []])
  expect(err).toMatch(/^Refused \(no_key\): column customer: tokenize by ff1 needs a key/)
})

test('writes the plan as the columns of a SELECT, which DuckDB reads', async () => {
  await putRules({ customer: { action: 'mask', mask: 'show-last-4' } })
  const { status, out, err } = await run('sql --table sales.orders --dialect duckdb')
  expect([status, err]).toEqual([0, ''])
  expect(out[0]).toMatch(/^-- covenant\.transform-plan=sha256:[0-9a-f]{64}:\S+$/)
  const given = `SELECT 7 AS id, '4111-1111' AS customer, 9.50 AS amount, TIMESTAMPTZ '2026-11-23 08:00:00Z' AS placed_at`
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const sql = `SELECT ${out.join('\n')} FROM (${given})`
  const [row] = (await connection.runAndReadAll(sql)).getRowObjectsJson()
  connection.closeSync()
  instance.closeSync()
  expect([row?.id, row?.customer, row?.amount]).toEqual([7, 'nnnn-1111', null])
  expect((await run('sql --table sales.orders --dialect spark')).out.join()).toContain('AS `customer`')
})
