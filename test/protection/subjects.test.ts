/**
 * Keys of subjects from end to end: a writer encrypts each customer's values under a key of its own, a reader sees them,
 * and erasing a customer makes its values NULL in every snapshot. With a foreign tenant beside.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Int64, Table, Utf8, vectorFromArray } from 'apache-arrow'
import { transform } from '../../src/admin/transform-verb.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { fetchPlan, type PlanRequest } from '../../src/transform/fetch-plan.ts'
import { withSubjectKeys } from '../../src/transform/fetch-subject-keys.ts'
import type { OpenPlan } from '../../src/transform/open-plan.ts'
import { protectTable } from '../../src/transform/protect-table.ts'
import { protectColumns } from '../../src/transform/protect-values.ts'
import { TransformRefused } from '../../src/transform/refusal.ts'
import { type ClientEnvironment, readAs } from '../support/lake.ts'
import { type ProtectedLake, startProtectedLake } from '../support/protected-lake.ts'

setDefaultTimeout(300_000)

const canary = 'CANARY31d7'
let on: ProtectedLake
let support: ClientEnvironment
let log = ''

beforeAll(async () => {
  const destination = {
    write(line: string) {
      log += line
    },
  }
  on = await startProtectedLake({ log: createLogger({ level: 'trace', destination }) })
  // A table is known by its first commit, and its rules come before the rows that they protect.
  for (const name of ['orders', 'visits'])
    await on.write(name, [
      { name: 'customer_id', type: 'long', values: [0] },
      { name: 'email', type: 'string', values: [null] },
      { name: 'note', type: 'string', values: [null] },
    ])
  const rule = { action: 'encrypt', subject_key_of: 'customer_id', subject_kind: 'customer' }
  for (const table of ['orders', 'visits']) {
    await put(`rules/columns/sales/${table}/email`, { ...rule, method: 'siv', scope: 'email' })
    await put(`rules/columns/sales/${table}/note`, { ...rule, method: 'gcm', scope: 'note' })
  }
  support = await on.reader('sue', ['support'])
})
afterAll(() => on[Symbol.asyncDispose]())

async function put(path: string, body: object): Promise<void> {
  const answer = await on.call('PUT', `/transform/${path}`, body)
  expect([path, answer.status, answer.body]).toEqual([path, 204, {}])
}

const request = (table: string, secret = on.steward): PlanRequest => ({
  url: on.lake.app.url.origin,
  table: ['sales', table],
  headers: { 'x-svc-session': secret },
})
const nowOf = ({ plan }: OpenPlan) => plan.iat
const batchOf = (ids: readonly (number | null)[]) => ({
  customer_id: ids.map((id) => (id === null ? null : BigInt(id))),
  email: ids.map((id) => (id === null ? null : `${id}.${canary}@example.org`)),
  note: ids.map((id) => (id === null ? null : `${canary} note`)),
})

async function protect(table: string, batch: ReturnType<typeof batchOf>) {
  const open = await fetchPlan(request(table))
  const keyed = await withSubjectKeys(request(table), open, batch)
  return protectColumns(keyed, batch, nowOf(open))
}

async function refusalOf(work: Promise<unknown>): Promise<TransformRefused> {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(thrown instanceof TransformRefused)) throw new Error('it was not refused', { cause: thrown })
  for (const text of [thrown.message, JSON.stringify(thrown), String(thrown.stack)])
    expect(text).not.toContain(canary)
  return thrown
}

/** What the administration log has of an action, newest first. */
const recorded = (action: string) =>
  on.lake.store.tenantQuery<{ subject: object; value: object; actor_sub: string }>(
    on.lake.tenant,
    `select subject, value, actor_sub from svc.administration_log
     where tenant_id = $1 and action = $2 order by administration_seq desc`,
    [on.lake.tenant, action],
  )

describe('a plan', () => {
  test('names the subject of a column, and brings no key that opens a value', async () => {
    const { plan } = await fetchPlan(request('orders'))
    expect(plan.columns[1]).toMatchObject({ subject_key_of: 'customer_id', subject_kind: 'customer' })
    expect(plan.subject_keys).toEqual({ max: 1_000 })
    expect(plan.keys?.wrapped.map(({ scope, method }) => [scope, method])).toEqual([['customer', 'subject']])
  })

  test.each([
    ['a column that is not there', { subject_key_of: 'nothing' }, 422],
    ['the column itself', { subject_key_of: 'note' }, 422],
    ['a kind that is not well-formed', { subject_key_of: 'customer_id', subject_kind: 'a b' }, 400],
    ['a kind without a column', { subject_kind: 'customer' }, 400],
    ['tokens', { action: 'tokenize', method: 'hmac', subject_key_of: 'customer_id' }, 400],
  ])('is refused at save for %s', async (_, more, status) => {
    const body = { action: 'encrypt', method: 'gcm', scope: 'note', ...more }
    expect((await on.call('PUT', '/transform/rules/columns/sales/orders/note', body)).status).toBe(status)
  })
})

describe('a writer', () => {
  test('encrypts equal values of two subjects differently, and of one subject alike by SIV', async () => {
    const { email = [], note = [] } = await protect('orders', batchOf([1, 2, 1]))
    for (const value of email) expect(value).toMatch(/^css1\.k1\.[\w-]{22}\.[\w-]+$/)
    for (const value of note) expect(value).toMatch(/^cgs1\.k1\.[\w-]{22}\.[\w-]+$/)
    expect(email[0]).toBe(email[2] as string)
    expect(email[0]).not.toBe(email[1] as string)
    expect(new Set(note).size).toBe(3)
    const again = await protect('visits', batchOf([1]))
    expect(again.email?.[0]).toBe(email[0] as string)
  })

  test('protects Arrow tables as plain columns, over batches and dictionaries', async () => {
    const batch = batchOf([1, 2, 1, null])
    const plain = await protect('orders', batch)
    const table = new Table({
      customer_id: vectorFromArray(batch.customer_id, new Int64()),
      email: vectorFromArray(batch.email, new Utf8()),
      note: vectorFromArray(batch.note, new Utf8()),
    })
    const open = await fetchPlan(request('orders'))
    const keyed = await withSubjectKeys(request('orders'), open, table)
    const safe = protectTable(keyed, table, nowOf(open))
    expect([...(safe.getChild('email') ?? [])]).toEqual([...(plain.email ?? [])] as never)
    expect([...(safe.getChild('note') ?? [])].map((value) => value !== null)).toEqual([
      true,
      true,
      true,
      false,
    ])
  })

  test('without the keys of the batch writes nothing', async () => {
    const open = await fetchPlan(request('orders'))
    const refused = await refusalOf((async () => protectColumns(open, batchOf([1]), nowOf(open)))())
    expect([refused.code, refused.column]).toEqual(['subject_keys', 'email'])
    const one = await withSubjectKeys(request('orders'), open, batchOf([1]))
    const other = await refusalOf((async () => protectColumns(one, batchOf([1, 777]), nowOf(open)))())
    expect(other.code).toBe('subject_keys')
  })

  test('refuses a value without a subject, and a batch without the subject column', async () => {
    const batch = { ...batchOf([1, 2]), customer_id: [1n, null] }
    expect((await refusalOf(protect('orders', batch))).code).toBe('no_subject')
    const { customer_id: _, ...rest } = batchOf([1])
    expect((await refusalOf(protect('orders', rest as never))).code).toBe('no_subject')
    const wrong = { ...batchOf([1]), customer_id: [canary] }
    expect((await refusalOf(protect('orders', wrong as never))).code).toBe('wrong_type')
    const twice = { ...batchOf([1]), email: [`css1.${canary}`] }
    expect((await refusalOf(protect('orders', twice))).code).toBe('already_protected')
  })

  test.each([
    ['the answer of a stranger', { subject_keys: 'a.b.c' }],
    ['no answer', {}],
    ['the plan in its place', undefined],
  ])('refuses %s', async (_, answer) => {
    const asked = request('orders')
    const open = await fetchPlan(asked)
    const plan = await on.call('GET', '/tables/sales/orders/transform-plan')
    const swapped: PlanRequest = {
      ...asked,
      fetch: async (url, init) =>
        url.endsWith('transform-subject-keys')
          ? Response.json(answer ?? { subject_keys: plan.body.plan })
          : await fetch(url, init),
    }
    expect((await refusalOf(withSubjectKeys(swapped, open, batchOf([1])))).code).toBe('subject_keys')
  })

  test('does not open the keys of another request', async () => {
    const open = await fetchPlan(request('orders'))
    let kept: string | undefined
    const replaying: PlanRequest = {
      ...request('orders'),
      fetch: async (url, init) => {
        if (!url.endsWith('transform-subject-keys')) return await fetch(url, init)
        kept ??= await (await fetch(url, init)).text()
        return new Response(kept)
      },
    }
    await withSubjectKeys(replaying, open, batchOf([1]))
    expect((await refusalOf(withSubjectKeys(replaying, open, batchOf([1])))).code).toBe('subject_keys')
  })

  test('asks for at most a thousand subjects at once, and by references that name nobody', async () => {
    const bodies: string[] = []
    const counting: PlanRequest = {
      ...request('orders'),
      fetch: async (url, init) => {
        if (init.body != null) bodies.push(String(init.body))
        return await fetch(url, init)
      },
    }
    const ids = Array.from({ length: 1_001 }, (_, index) => 10_000_000 + index)
    const open = await fetchPlan(counting)
    await withSubjectKeys(counting, open, batchOf(ids))
    const counts = bodies.map((body) => JSON.parse(body).subjects[0].refs.length)
    expect(counts).toEqual([1_000, 1])
    expect(bodies.join()).not.toContain('10000000')
  })
})

describe('the service gives keys of subjects', () => {
  const body = async (more: object = {}) => {
    const { plan } = await fetchPlan(request('orders'))
    return {
      ...{ plan: `${plan.policy_version}:${plan.nonce}`, schema_id: 0, public_key: `${'A'.repeat(42)}E` },
      ...{ subjects: [{ kind: 'customer', refs: ['A'.repeat(22)] }], ...more },
    }
  }
  const ask = async (more: object = {}, table = 'orders', secret = on.steward) =>
    (await on.call('POST', `/tables/sales/${table}/transform-subject-keys`, await body(more), secret)).status

  test('to a plan of this table and these rules alone', async () => {
    expect(await ask()).toBe(200)
    expect(await ask({}, 'visits')).toBe(409)
    expect(await ask({ plan: `sha256:${'0'.repeat(64)}:${'A'.repeat(43)}` })).toBe(409)
    expect(await ask({ schema_id: 99 })).toBe(409)
    expect(await ask({ subjects: [{ kind: 'employee', refs: [] }] })).toBe(400)
    expect(await ask({ subjects: [{ kind: 'customer', refs: ['short'] }] })).toBe(400)
    const refs = Array.from({ length: 501 }, (_, index) => String(index).padStart(22, 'A'))
    const others = refs.map((ref) => `B${ref.slice(1)}`)
    const many = [
      { kind: 'customer', refs },
      { kind: 'customer', refs: others },
    ]
    expect(await ask({ subjects: many })).toBe(400)
  })

  test('to writers of the tenant alone', async () => {
    const foreign = (await createTenant(on.lake.store, { name: 'foreign' })).id
    const mallory = await on.reader('mallory', ['steward'], foreign)
    expect(await ask({}, 'orders', mallory.PGPASSWORD)).toBe(404)
    expect((await on.call('GET', '/transform/subjects', undefined, mallory.PGPASSWORD)).body.items).toEqual(
      [],
    )
    const shredded = await on.call(
      'POST',
      '/transform/subjects/customer/shreddings',
      { subject: '1' },
      mallory.PGPASSWORD,
    )
    expect(shredded.status).toBe(200)
    // The same value is another subject there: nothing of this tenant is erased.
    expect((await protect('orders', batchOf([1]))).email).toHaveLength(1)
  })

  test('on record', async () => {
    await ask()
    const [entry] = await recorded('issue-subject-keys')
    expect(entry).toEqual({
      subject: { table: { namespace: ['sales'], name: 'orders' } },
      value: { subjects: 1 },
      actor_sub: 'stella',
    })
  })
})

describe('erasing a subject', () => {
  test('makes its values NULL for readers, refuses its writes, and leaves the others', async () => {
    const safe = await protect('orders', batchOf([41, 42, 41]))
    await on.write('kept', [
      { name: 'customer_id', type: 'long', values: [41, 42, 41] },
      { name: 'email', type: 'string', values: safe.email as string[] },
      { name: 'note', type: 'string', values: safe.note as string[] },
    ])
    const rule = { action: 'encrypt', subject_key_of: 'customer_id', subject_kind: 'customer' }
    for (const [column, method] of [
      ['email', 'siv'],
      ['note', 'gcm'],
    ] as const) {
      await put(`rules/columns/sales/kept/${column}`, { ...rule, method, scope: column })
      await put(`reveals/columns/sales/kept/${column}`, { roles: ['support'] })
    }
    const read = async () =>
      (await readAs(support, 'SELECT email, note FROM sales.kept')).slice(0, -1).toSorted()
    const before = await read()
    expect(before.join('\n').split(`${canary} note`)).toHaveLength(4)
    expect(before.join()).toContain(`42.${canary}@example.org`)
    const answer = await on.call('POST', '/transform/subjects/customer/shreddings', { subject: '41' })
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        ...{ kind: 'customer', ref: expect.stringMatching(/^[\w-]{22}$/) },
        ...{ key_id: expect.stringMatching(/^[\w-]{22}$/), shredded_at: expect.any(String) },
      },
    ] as never)
    const after = await read()
    expect(after.filter((row) => row.includes(canary))).toEqual(before.filter((row) => row.includes('42.')))
    expect(after.filter((row) => !row.includes(canary))).toEqual(['D NULL|NULL', 'D NULL|NULL'])
    const refused = await refusalOf(protect('visits', batchOf([42, 41])))
    expect([refused.code, refused.column]).toEqual(['subject_shredded', 'email'])
    const again = await on.call('POST', '/transform/subjects/customer/shreddings', { subject: '41' })
    expect(again.body).toMatchObject({ shredded_at: answer.body.shredded_at as string })
    expect(again.body.key_id).toBeUndefined()
  })

  test('is for good: the store gives no key to it again', async () => {
    const { store, tenant } = on.lake
    for (const text of [
      `update svc.transform_subject_key set shredded_at = null, sid = '${'A'.repeat(22)}', wrapped = 'x'
       where shredded_at is not null`,
      'delete from svc.transform_subject_key',
    ])
      await expect(store.tenantTransaction(tenant, (tx) => tx.query(text, []))).rejects.toThrow()
    const left = await store.tenantQuery(
      tenant,
      'select 1 from svc.transform_subject_key where shredded_at is not null and (wrapped is not null or sid is not null)',
      [],
    )
    expect(left).toEqual([])
  })

  test('also refuses writes of a subject that had no key, and takes its reference', async () => {
    const path = '/transform/subjects/customer/shreddings'
    const first = await on.call('POST', path, { subject: '90' })
    expect(first.body.key_id).toBeUndefined()
    expect((await refusalOf(protect('orders', batchOf([90])))).code).toBe('subject_shredded')
    await protect('orders', batchOf([91]))
    const page = await on.call('GET', '/transform/subjects?kind=customer&shredded=true')
    const items = page.body.items as { ref: string; shredded_at?: string }[]
    expect(items).toHaveLength(2)
    expect(items.every((item) => item.shredded_at !== undefined)).toBe(true)
    expect(JSON.stringify(items)).not.toContain('"41"')
    const byRef = await on.call('POST', path, { ref: first.body.ref })
    expect(byRef.body.shredded_at).toBe(first.body.shredded_at as string)
    expect((await on.call('POST', path, {})).status).toBe(400)
    expect((await on.call('POST', path, { subject: '1', ref: first.body.ref })).status).toBe(400)
    expect((await on.call('POST', path, { subject: '1' }, support.PGPASSWORD)).status).toBe(403)
  })

  test('is proven by the record and the status', async () => {
    const entries = await recorded('shred-transform-subject')
    expect(entries.map(({ value }) => (value as { key_id: string | null }).key_id === null)).toEqual([
      true,
      true,
      true,
      false,
    ])
    expect(entries[3]).toMatchObject({ actor_sub: 'stella', subject: { kind: 'customer' } })
    const status = await on.call('GET', '/transform/status')
    expect(status.body).toMatchObject({ provider: 'secrets-key', tenant_key: { provider: 'secrets-key' } })
    const [customers] = status.body.subjects as { kind: string; keys: number; shredded: number }[]
    expect([customers?.kind, customers?.shredded]).toEqual(['customer', 2])
  })
})

test('a rotated scope gives the same subject another key, and readers open both', async () => {
  const [before] = (await protect('orders', batchOf([55]))).email ?? []
  expect((await on.call('POST', '/transform/scopes/email/rotations')).status).toBe(200)
  const [after] = (await protect('orders', batchOf([55]))).email ?? []
  expect([String(before).slice(0, 8), String(after).slice(0, 8)]).toEqual(['css1.k1.', 'css1.k2.'])
  await on.write('rotated', [
    { name: 'customer_id', type: 'long', values: [55, 55] },
    { name: 'email', type: 'string', values: [before as string, after as string] },
  ])
  await put('rules/columns/sales/rotated/email', {
    ...{ action: 'encrypt', method: 'siv', scope: 'email' },
    ...{ subject_key_of: 'customer_id', subject_kind: 'customer' },
  })
  await put('reveals/columns/sales/rotated/email', { roles: ['support'] })
  const found = await readAs(support, 'SELECT email FROM sales.rotated')
  expect(found.slice(0, -1)).toEqual(Array(2).fill(`D 55.${canary}@example.org`))
})

test('the command shows rows before and after, and keeps no key of their subjects', async () => {
  const count = async () =>
    ((await on.call('GET', '/transform/status')).body.subjects as { keys: number }[])[0]?.keys
  const before = await count()
  const out: string[] = []
  const status = await transform('preview --table sales.orders --file -'.split(' '), {
    env: { COVENANT_URL: on.lake.app.url.origin, COVENANT_SESSION: on.steward },
    stdin: async () => '{"customer_id": 123456, "email": "a@example.org", "note": "x"}\n',
    print: (line: string) => void out.push(line),
    complain: (line: string) => void out.push(line),
  })
  expect([status, out.length]).toEqual([0, 2])
  expect(out[1]).toMatch(
    /^after {2}\{"customer_id":123456,"email":"css1\.k2\.[^"]+","note":"cgs1\.k1\.[^"]+"\}$/,
  )
  expect(await count()).toBe(before as number)
})

test('no value and no key reaches the log', () => {
  expect(log).not.toContain(canary)
  expect(log.length).toBeGreaterThan(0)
})
