/**
 * Two tenants with tables and metrics of the same names, in one process: an attestation of one opens nothing for the
 * other, by numbers, members, errors, counts or caches, and the conditions of an attestation hold in every query.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { putMask } from '../../src/contract/put-mask.ts'
import { putTag } from '../../src/contract/put-tag.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { actorOf } from '../support/actor.ts'
import { ask } from '../support/identity.ts'
import { type Lake, startLake } from '../support/lake.ts'
import { licenseForAll } from '../support/license.ts'

setDefaultTimeout(120_000)

/** 30 people in one team, of whom four share a manager each; 10 in another, and 30 in a third like the first. */
const payTable = (base: number) => ({
  name: 'pay',
  columns: [
    ['person', 'bigint', 'i'],
    ['team', 'text', "CASE WHEN i <= 30 THEN 'large' WHEN i <= 40 THEN 'small' ELSE 'wide' END"],
    ['manager', 'text', "CASE WHEN i <= 30 OR i > 40 THEN 'm' || (i % 7) ELSE 'only' END"],
    ['salary', 'integer', `${base} + i`],
  ] as const,
  rowCount: 70,
})

interface Party {
  readonly lake: Lake
  readonly author: string
  readonly second: string
}

let one: Party
let other: Party

async function party(lake: Lake): Promise<Party> {
  const open = async (sub: string) => {
    const session = { name: sub, principal: { sub, roles: ['steward'] }, scopes: ['read', 'admin'] as const }
    return (await createServiceSession(lake.store, lake.tenant, session)).secret
  }
  const on = { store: lake.store, tenant: lake.tenant, actor: actorOf('stella'), checkPolicies }
  const tag = 'sensitive.pay'
  await putMask(on, { tag }, { id: 'hide-pay', action: 'replace-with-null', exemptRoles: ['officer'] })
  await putTag(on, { namespace: ['sales'], name: 'pay' }, 'salary', tag)
  return { lake, author: await open('stella'), second: await open('sam') }
}

/** Both are asked of the first one's process, whose caches they share. */
async function call({ lake: _ }: Party, method: string, path: string, secret: string, body?: object) {
  return await ask(one.lake, method, path, secret, body)
}

async function made(who: Party, method: string, path: string, body: object, secret = who.author) {
  const { status, body: answer } = await call(who, method, path, secret, body)
  if (status >= 300) throw new Error(JSON.stringify(answer))
  return answer
}

const query = (who: Party, body: object) =>
  call(who, 'POST', '/api/v1/metrics/query', who.lake.restricted.PGPASSWORD, { catalog: 'lake', ...body })
const byTeam = async (who: Party) => {
  const { status, body } = await query(who, { metrics: ['average_pay'], dimensions: [{ name: 'team' }] })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.rows as readonly (readonly (string | null)[])[]
}
const attestation = {
  tags: ['sensitive.pay'],
  reason: 'Averages of large teams',
  evidence: 'Reviewed',
  valid_until: new Date(Date.now() + 86_400_000).toISOString(),
  min_group_size: 20,
}
const hidden = [
  ['large', null],
  ['small', null],
  ['wide', null],
]

beforeAll(async () => {
  const env = { SVC_LICENSE: licenseForAll(), SVC_READ_DIR: tmpdir() }
  const first = await startLake({ tables: [payTable(100_000)], env })
  one = await party(first)
  other = await party(await startLake({ tables: [payTable(900_000)], env, store: first.store }))
  for (const who of [one, other]) {
    const model = { key: ['person'], dimensions: [{ name: 'team' }, { name: 'salary' }, { name: 'person' }] }
    await made(who, 'PUT', '/api/v1/semantics/tables/sales/pay', model)
    const metric = { table: { namespace: ['sales'], name: 'pay' }, expression: 'avg(salary)' }
    await made(who, 'PUT', '/api/v1/metrics/average_pay', metric)
  }
})
afterAll(async () => {
  await other.lake[Symbol.asyncDispose]()
  await one.lake[Symbol.asyncDispose]()
})

describe('an attestation of one tenant', () => {
  test('opens its numbers to that tenant, and nothing to the other, however often both ask', async () => {
    expect(await byTeam(one)).toEqual(hidden)
    await made(one, 'POST', '/api/v1/metrics/average_pay/attestations', attestation, one.second)
    for (let round = 0; round < 4; round++) {
      expect(await byTeam(one)).toEqual([
        ['large', expect.stringMatching(/^100015\.5/)],
        ['small', null],
        ['wide', expect.stringMatching(/^100055\.5/)],
      ])
      expect(await byTeam(other)).toEqual(hidden)
    }
  })

  test('shows in no member, description or list of the other', async () => {
    const members = await query(other, { metrics: ['average_pay'], dimensions: [{ name: 'salary' }] })
    expect(members.body.rows).toEqual([[null, null]])
    const secret = other.lake.restricted.PGPASSWORD
    for (const path of ['/api/v1/metrics', '/api/v1/metrics/average_pay', '/api/v1/semantics/export'])
      expect(JSON.stringify((await call(other, 'GET', path, secret)).body)).not.toContain('Averages of large')
    const { body } = await call(other, 'GET', '/api/v1/metrics/average_pay', secret)
    expect(body).toMatchObject({ tags: ['sensitive.pay'], declassified: [] })
  })

  test('cannot be ended or read by the other', async () => {
    const path = '/api/v1/metrics/average_pay/attestations'
    const { items } = (await call(one, 'GET', path, one.author)).body as { items?: readonly { id: string }[] }
    const id = items?.[0]?.id ?? ''
    expect((await call(other, 'GET', path, other.author)).body).toEqual({ items: [] })
    const ended = await call(other, 'POST', `${path}/${id}/end`, other.author, { reason: 'x' })
    expect(ended.status).toBe(404)
    expect((await byTeam(one))[0]?.[1]).toStartWith('100015.5')
  })
})

describe('a name that only one tenant has', () => {
  test('is answered to the other like a name that nobody has', async () => {
    await made(one, 'PUT', '/api/v1/metrics/only_here', {
      table: { namespace: ['sales'], name: 'pay' },
      expression: 'count(*)',
    })
    const told = async (name: string) => {
      const { status, body } = await query(other, { metrics: [name] })
      const { error } = body as unknown as { error: { message: string } }
      return [status, error.message.replaceAll(name, '…')]
    }
    expect(await told('only_here')).toEqual(await told('nobodys'))
    const shown = (name: string) => call(other, 'GET', `/api/v1/metrics/${name}`, other.author)
    expect((await shown('only_here')).body.error).toEqual((await shown('nobodys')).body.error)
    const { items } = (await call(other, 'GET', '/api/v1/metrics', other.author)).body as {
      items?: unknown[]
    }
    expect(items).toHaveLength(1)
  })
})

describe('the conditions of an attestation', () => {
  const rows = async (body: object) => (await query(other, body)).body.rows as readonly (readonly unknown[])[]

  test('hold for groups of every kind: k different subjects, and enough values', async () => {
    // Seven managers are in the large team: k of 7 holds, k of 8 does not.
    for (const [k, isShown] of [
      [8, false],
      [7, true],
    ] as const) {
      const conditions = { ...attestation, min_group_size: 2, k_anonymity: { k, column: 'manager' } }
      await made(other, 'POST', '/api/v1/metrics/average_pay/attestations', conditions, other.second)
      const [large, small] = await byTeam(other)
      expect([large?.[0], large?.[1] !== null, small]).toEqual(['large', isShown, ['small', null]])
    }
    // A group of one person, by a dimension, a filter, or both.
    const people = await rows({ metrics: ['average_pay'], dimensions: [{ name: 'person' }] })
    expect(people.map(([, value]) => value)).toEqual(people.map(() => null))
    const where = (operator: string, values: readonly string[]) => [{ dimension: 'person', operator, values }]
    expect(await rows({ metrics: ['average_pay'], where: where('=', ['1']) })).toEqual([[null]])
    expect(await rows({ metrics: ['average_pay'], where: where('in', ['1', '2', '3']) })).toEqual([[null]])
    expect(await rows({ metrics: ['average_pay'], where: where('>', ['35']) })).toEqual([[null]])
  })

  test('hold below a ratio that is made of the metric', async () => {
    await made(other, 'PUT', '/api/v1/metrics/heads', {
      table: { namespace: ['sales'], name: 'pay' },
      expression: 'count(*)',
    })
    const ratio = { kind: 'ratio', numerator: 'average_pay', denominator: 'heads' }
    await made(other, 'PUT', '/api/v1/metrics/odd', ratio)
    const found = await rows({ metrics: ['odd'], dimensions: [{ name: 'team' }] })
    expect(found.map(([team, value]) => [team, value === null])).toEqual([
      ['large', false],
      ['small', true],
      ['wide', false],
    ])
  })
})
