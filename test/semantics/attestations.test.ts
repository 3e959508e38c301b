/**
 * What attestations of metrics may say: by which dimensions masks are lifted, for metrics of which kind, and how often a
 * day. What shows by them: test/query/compile/metrics/guard.test.ts.
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

const payTable = {
  name: 'pay',
  columns: [
    ['person', 'bigint', 'i'],
    ['team', 'text', "CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END"],
    ['badge', 'text', "'badge ' || i"],
    ['paid', 'date', "CASE WHEN i % 2 = 0 THEN DATE '2026-01-05' ELSE DATE '2026-02-05' END"],
    ['salary', 'integer', '100 + i'],
    ['ticket', 'bigint', 'i'],
    ['code', 'text', "'code ' || i"],
  ] as const,
  rowCount: 60,
  schema: { properties: [{ name: 'ticket', unique: true }] },
} as const
const table = { namespace: ['sales'], name: 'pay' }

let lake: Lake
let author: string
let second: string
const open = async (sub: string, roles: readonly string[], scopes: readonly ('read' | 'admin')[]) =>
  (await createServiceSession(lake.store, lake.tenant, { name: sub, principal: { sub, roles }, scopes }))
    .secret

beforeAll(async () => {
  lake = await startLake({
    tables: [payTable],
    env: { SVC_LICENSE: licenseForAll(), SVC_READ_DIR: tmpdir() },
  })
  await identifyBy('code')
  author = await open('stella', ['steward'], ['read', 'admin'])
  second = await open('sam', ['steward'], ['read', 'admin'])
  const on = { store: lake.store, tenant: lake.tenant, actor: actorOf('stella'), checkPolicies }
  for (const [column, tag] of [
    ['salary', 'pay'],
    ['badge', 'badges'],
  ] as const) {
    await putMask(on, { tag }, { id: `hide-${tag}`, action: 'replace-with-null', exemptRoles: ['officer'] })
    await putTag(on, table, column, tag)
  }
  const dimensions = [
    ...[{ name: 'team' }, { name: 'badge' }, { name: 'person' }, { name: 'salary' }],
    ...[{ name: 'ticket' }, { name: 'code' }],
    ...[
      { name: 'is_late', expression: "paid > DATE '2026-01-31'" },
      { name: 'paid', kind: 'time' },
    ],
  ]
  await made('PUT', '/api/v1/semantics/tables/sales/pay', {
    key: ['person'],
    dimensions,
    time_dimension: 'paid',
  })
  await made('PUT', '/api/v1/metrics/pays', { table, expression: 'sum(salary)' })
  await made('PUT', '/api/v1/metrics/mean', { table, expression: 'avg(salary)' })
  await made('PUT', '/api/v1/metrics/share', { kind: 'ratio', numerator: 'pays', denominator: 'mean' })
  await made('PUT', '/api/v1/metrics/so_far', { kind: 'cumulative', of: 'pays', to_date: 'year' })
  await made('PUT', '/api/v1/metrics/held', {
    ...{ table, expression: 'sum(salary)' },
    semi_additive: { dimension: 'paid', take: 'last' },
  })
})
afterAll(async () => await lake[Symbol.asyncDispose]())

/** A commit through the gateway that makes a column the table's identifier field. */
async function identifyBy(column: string) {
  const path = '/v1/iceberg/lake/v1/namespaces/sales/tables/pay'
  const writer = lake.env.PGPASSWORD
  const { body } = await ask(lake, 'GET', path, writer)
  const { metadata } = body as unknown as {
    metadata: { schemas: readonly { fields: readonly { id: number; name: string }[] }[] }
  }
  const fields = metadata.schemas[0]?.fields ?? []
  const id = fields.find(({ name }) => name === column)?.id
  const schema = {
    ...{ type: 'struct', 'identifier-field-ids': [id] },
    fields: fields.map((field) => ({ ...field, ...(field.id === id && { required: true }) })),
  }
  const updates = [
    { action: 'add-schema', schema },
    { action: 'set-current-schema', 'schema-id': -1 },
  ]
  await made('POST', path, { requirements: [], updates }, writer)
}

async function made(method: string, path: string, body: object, secret = author) {
  const { status, body: answer } = await ask(lake, method, path, secret, body)
  if (status >= 300) throw new Error(JSON.stringify(answer))
  return answer
}
const attest = (metric: string, more: object = {}) =>
  ask(lake, 'POST', `/api/v1/metrics/${metric}/attestations`, second, {
    ...{ tags: ['pay'], reason: 'Averages', evidence: 'Reviewed', min_group_size: 20 },
    valid_until: new Date(Date.now() + 86_400_000).toISOString(),
    ...more,
  })
const refusal = async (metric: string, more: object = {}) => {
  const { status, body } = await attest(metric, more)
  return `${status} ${(body as unknown as { error?: { message: string } }).error?.message}`
}
const end = (metric: string, id: unknown) =>
  made('POST', `/api/v1/metrics/${metric}/attestations/${id}/end`, { reason: 'No longer agreed' }, second)
const query = (body: object, secret = lake.restricted.PGPASSWORD) =>
  ask(lake, 'POST', '/api/v1/metrics/query', secret, { catalog: 'lake', ...body })
const rows = async (body: object, secret?: string) => {
  const { status, body: answer } = await query(body, secret)
  if (status !== 200) throw new Error(JSON.stringify(answer))
  return answer.rows as readonly (readonly unknown[])[]
}

describe('the dimensions of an attestation', () => {
  test('are by default those that read nothing unique, masked or guarded, and no time', async () => {
    const { status, body } = await attest('pays')
    expect([status, body]).toMatchObject([201, { dimensions: [{ name: 'team' }, { name: 'is_late' }] }])
    await end('pays', body.id)
  })

  test('are those that were named, and nothing is lifted for others', async () => {
    const dimensions = [{ name: 'team' }, { name: 'metric_time', grain: 'month' }]
    const { body } = await attest('pays', { dimensions })
    expect(body).toMatchObject({ dimensions })
    const by = (name: string) => rows({ metrics: ['pays'], dimensions: [{ name }] })
    expect(await by('team')).toEqual([
      ['a', expect.any(String)],
      ['b', expect.any(String)],
    ])
    expect(await rows({ metrics: ['pays'], grain: 'month' })).toEqual([
      ['2026-01-01', expect.any(String)],
      ['2026-02-01', expect.any(String)],
    ])
    expect((await by('is_late')).map(([, value]) => value)).toEqual([null, null])
    await end('pays', body.id)
  })

  test.each([
    ['is none of the metric', [{ name: 'nothing' }]],
    ['tells single rows apart', [{ name: 'person' }]],
    ['tells single rows apart', [{ name: 'ticket' }]],
    ['tells single rows apart', [{ name: 'code' }]],
    ['is what the attestation guards', [{ name: 'salary' }]],
    ['reads a masked column', [{ name: 'badge' }]],
    ['is a time, and needs a `grain`', [{ name: 'paid' }]],
    ['is no time, and has no `grain`', [{ name: 'team', grain: 'month' }]],
  ])('cannot hold one that %s', async (why, dimensions) => {
    const told = await refusal('pays', { dimensions })
    expect(told).toStartWith('422 ')
    expect(told).toContain(why)
  })
})

describe('a metric of another kind', () => {
  test('that is made of others names those that lack an attestation', async () => {
    const { body } = await attest('mean')
    expect(await refusal('share')).toContain('Those without an attestation: pays.')
    await end('mean', body.id)
  })

  test('that does not add up over time cannot be attested', async () => {
    expect(await refusal('held')).toContain('does not add up over time cannot be attested')
  })

  test('that is cumulative needs an attestation of its own, by its time', async () => {
    expect(await refusal('so_far')).toContain('name `metric_time` with a `grain`')
    const asked = {
      ...{ metrics: ['so_far'], grain: 'month' },
      ...{ from: '2026-01-01T00:00:00Z', to: '2026-03-01T00:00:00Z' },
    }
    const values = async () => (await rows(asked)).map(([, value]) => value)
    const { body: base } = await attest('pays', { dimensions: [{ name: 'metric_time', grain: 'month' }] })
    expect(await values()).toEqual([null, null])
    await end('pays', base.id)
    const { status, body } = await attest('so_far', { dimensions: [{ name: 'metric_time', grain: 'month' }] })
    expect(status).toBe(201)
    expect(await values()).toEqual([expect.any(String), expect.any(String)])
    expect((await ask(lake, 'GET', '/api/v1/metrics/so_far', lake.restricted.PGPASSWORD)).body).toMatchObject(
      {
        tags: [],
        declassified: [{ attestation: body.id }],
      },
    )
    // Another definition of what it adds up ends it.
    await made('PUT', '/api/v1/metrics/pays', { table, expression: 'sum(salary)', description: 'Changed' })
    expect(await values()).toEqual([null, null])
    const { items } = (await ask(lake, 'GET', '/api/v1/metrics/so_far/attestations', author)).body as {
      items?: readonly object[]
    }
    expect(items?.[0]).toMatchObject({ ended: { cause: 'replaced' } })
  })
})

describe('a bound of queries by the day', () => {
  const asked = { metrics: ['pays'] }

  test('refuses the next query of the same principal until the day ends, and no query of others', async () => {
    const { body } = await attest('pays', { lifted_queries_per_day: 2 })
    expect(body).toMatchObject({ lifted_queries_per_day: 2 })
    const other = await open('olga', [], ['read'])
    expect(await rows(asked)).toEqual([[expect.any(String)]])
    // Nothing is lifted here, so it is not counted.
    expect(await rows({ ...asked, dimensions: [{ name: 'badge' }] })).toEqual([[null, null]])
    expect(await rows(asked)).toEqual([[expect.any(String)]])
    const { status, body: refused } = await query(asked)
    expect([status, refused]).toMatchObject([403, { error: { reason: 'lifted_queries_exhausted' } }])
    expect(JSON.stringify(refused)).toMatch(/Ask again from \d{4}-\d\d-\d\dT00:00:00.000Z on/)
    expect(await rows(asked, other)).toEqual([[expect.any(String)]])
    expect(await rows({ metrics: ['mean'] })).toEqual([[null]])
    await end('pays', body.id)
    expect(await rows(asked)).toEqual([[null]])
  })

  test('does not count who sees the column without a mask', async () => {
    const { body } = await attest('pays', { lifted_queries_per_day: 1 })
    const officer = await open('olaf', ['officer'], ['read'])
    for (let round = 0; round < 3; round++) expect(await rows(asked, officer)).toEqual([[expect.any(String)]])
    await end('pays', body.id)
  })
})
