/**
 * Who reads protected values in clear: principals with a role that a reveal rule names, in results only. Everyone else
 * sees what is stored, or its mask; with a foreign tenant beside.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { putMask } from '../../../../src/contract/put-mask.ts'
import { checkPolicies } from '../../../../src/query/compile/protect/protect.ts'
import {
  findCatalogCredential,
  putCatalogCredential,
} from '../../../../src/store/catalog-credential/catalog-credentials.ts'
import { createTenant } from '../../../../src/store/tenant/tenants.ts'
import { createLogger } from '../../../../src/telemetry/log.ts'
import { actorOf } from '../../../support/actor.ts'
import { ask } from '../../../support/identity.ts'
import { type ClientEnvironment, readAs } from '../../../support/lake.ts'
import { type ProtectedLake, startProtectedLake } from '../../../support/protected-lake.ts'

setDefaultTimeout(300_000)

const canary = 'CANARY9e2f'
const emails = ['ada', 'bea', 'ada'].map((name) => `${name}.${canary}@example.org`)
const notes = [`${canary} one`, null, `${canary} three`]
const cards = ['4111-1111-1111-1111', '5500-0000-0000-0004', '4111-1111-1111-1111']
const blobs = [Buffer.from(canary).toString('hex'), null, '00ff']

let on: ProtectedLake
let support: ClientEnvironment
let other: ClientEnvironment
let stored: readonly (readonly (string | null)[])[]
let log = ''

beforeAll(async () => {
  const destination = {
    write(line: string) {
      log += line
    },
  }
  on = await startProtectedLake({ log: createLogger({ level: 'trace', destination }) })
  stored = [
    await on.seal({ method: 'siv', scope: 'email', kid: 'k1' }, emails),
    await on.seal({ method: 'gcm', scope: 'note', kid: 'k1' }, notes),
    await on.seal({ method: 'ff1', scope: 'card', kid: 'k1', alphabet: 'digits' }, cards),
    await on.seal({ method: 'gcm', scope: 'blob', kid: 'k1', type: 'binary' }, blobs),
  ]
  const [email = [], note = [], card = [], blob = []] = stored
  await on.write('orders', [
    { name: 'id', type: 'long', values: [1, 2, 3] },
    { name: 'email', type: 'string', values: email },
    { name: 'note', type: 'string', values: note },
    { name: 'card', type: 'string', values: card },
    { name: 'blob', type: 'binary', values: blob },
  ])
  await rule('email', { action: 'encrypt', method: 'siv', scope: 'email' })
  await rule('note', { action: 'encrypt', method: 'gcm', scope: 'note' })
  await rule('card', { action: 'tokenize', method: 'ff1', scope: 'card', alphabet: 'digits' })
  await rule('blob', { action: 'encrypt', method: 'gcm', scope: 'blob' })
  for (const column of ['email', 'note', 'card', 'blob']) await reveal(column, ['support'])
  support = await on.reader('sue', ['support'])
  other = await on.reader('oto', ['sales'])
})
afterAll(() => on[Symbol.asyncDispose]())

async function rule(column: string, body: object): Promise<void> {
  const answer = await on.call('PUT', `/transform/rules/columns/sales/orders/${column}`, body)
  expect([answer.status, answer.body]).toEqual([204, {}])
}

async function reveal(column: string, roles: readonly string[]): Promise<void> {
  const answer = await on.call('PUT', `/transform/reveals/columns/sales/orders/${column}`, { roles })
  expect([answer.status, answer.body]).toEqual([204, {}])
}

/** The rows of a statement, without its end. */
async function rowsOf(env: ClientEnvironment, text: string): Promise<readonly string[]> {
  const answers = await readAs(env, text)
  expect(answers.at(-1)).toStartWith('C SELECT')
  return answers.slice(0, -1)
}

const all = 'SELECT id, email, note, card FROM sales.orders ORDER BY id'

describe('a reader with the role', () => {
  test('gets the values in clear', async () => {
    const found = await rowsOf(support, all)
    expect(found.join('\n')).toContain(emails[0] as string)
    for (const [index, row] of found.entries()) {
      expect(row).toContain(emails[index] as string)
      expect(row).toContain(cards[index] as string)
      expect(row).not.toContain('cse1.')
      expect(row).not.toContain('cge1.')
    }
    expect(found[0]).toContain(`${canary} one`)
    expect(found[1]).not.toContain(canary.concat(' '))
  })

  test('gets bytes in clear, and values through subqueries, joins and common tables', async () => {
    const text = `WITH w AS (SELECT id, email FROM sales.orders)
      SELECT s.email, o.blob FROM (SELECT * FROM w) s JOIN sales.orders o ON o.id = s.id
      WHERE o.id < 2 AND EXISTS (SELECT email FROM w) ORDER BY o.id LIMIT 5`
    const [row] = await rowsOf(support, text)
    expect(row).toContain(emails[0] as string)
    expect(row).toContain(`\\x${blobs[0]}`)
  })

  test('is on record with what was revealed', async () => {
    await rowsOf(support, 'SELECT email FROM sales.orders')
    const { body } = await on.call('GET', '/usage?principal=sue')
    const [record] = (body.items as { policies: object[]; fingerprint: string }[]) ?? []
    expect(record?.policies).toEqual([
      {
        ...{ id: 'reveal', kind: 'reveal', table: { namespace: ['sales'], name: 'orders' } },
        ...{ column: 'email', action: 'siv' },
      },
    ])
  })

  test.each([
    ['a filter', `SELECT id FROM sales.orders WHERE email = 'x'`],
    ['a filter by a pattern', `SELECT id FROM sales.orders WHERE note LIKE '%x%'`],
    ['whether it is NULL', 'SELECT id FROM sales.orders WHERE note IS NULL'],
    ['an expression', 'SELECT length(email) FROM sales.orders'],
    ['a cast', 'SELECT email::varchar(3) FROM sales.orders'],
    ['ORDER BY', 'SELECT id FROM sales.orders ORDER BY email'],
    ['ORDER BY a place', 'SELECT email FROM sales.orders ORDER BY 1'],
    ['GROUP BY', 'SELECT email, count(*) FROM sales.orders GROUP BY email'],
    ['an aggregate', 'SELECT min(card) FROM sales.orders'],
    ['a count', 'SELECT count(DISTINCT email) FROM sales.orders'],
    ['DISTINCT', 'SELECT DISTINCT email FROM sales.orders'],
    ['DISTINCT ON', 'SELECT DISTINCT ON (email) id FROM sales.orders'],
    ['HAVING', "SELECT id FROM sales.orders GROUP BY id HAVING max(email) > 'a'"],
    ['a window', 'SELECT rank() OVER (ORDER BY email) FROM sales.orders'],
    ['a join', 'SELECT a.id FROM sales.orders a JOIN sales.orders b ON a.email = b.email'],
    ['USING', 'SELECT a.id FROM sales.orders a JOIN sales.orders b USING (email)'],
    ['a natural join', 'SELECT count(*) FROM sales.orders a NATURAL JOIN sales.orders b'],
    ['UNION', 'SELECT email FROM sales.orders UNION ALL SELECT card FROM sales.orders'],
    ['EXCEPT', `SELECT email FROM sales.orders EXCEPT SELECT 'x'`],
    ['a scalar subquery', 'SELECT (SELECT email FROM sales.orders LIMIT 1)'],
    ['IN of a subquery', `SELECT 1 WHERE 'x' IN (SELECT email FROM sales.orders)`],
    [
      'a correlated subquery',
      'SELECT id FROM sales.orders o WHERE EXISTS (SELECT 1 FROM sales.orders i WHERE i.email = o.email AND i.id <> o.id)',
    ],
    [
      'a filter around a subquery',
      `SELECT id FROM (SELECT id, email AS e FROM sales.orders) s WHERE e > 'a'`,
    ],
    [
      'a filter in a common table',
      `WITH w AS (SELECT id FROM sales.orders WHERE email > 'a') SELECT id FROM w`,
    ],
    ['an array', 'SELECT ARRAY(SELECT email FROM sales.orders)'],
    ['a set-returning function', 'SELECT * FROM sales.orders o, unnest(ARRAY[o.email]) u'],
    ['LATERAL', "SELECT l.n FROM sales.orders o, LATERAL (SELECT o.email || 'x' AS n) l"],
  ])('cannot use them in %s', async (_, text) => {
    const answers = await readAs(support, text)
    expect([text, answers.length, answers[0]]).toEqual([
      text,
      1,
      expect.stringMatching(/0A000.*is revealed to you/) as never,
    ])
    expect(answers[0]).not.toContain(canary)
  })
})

describe('everyone else', () => {
  test('gets what is stored, and may compare it', async () => {
    expect((await rowsOf(other, 'SELECT email, note, card FROM sales.orders WHERE id = 1')).join()).toContain(
      stored[0]?.[0] as string,
    )
    const found = (await rowsOf(other, all)).join('\n')
    for (const value of [canary, ...cards]) expect(found).not.toContain(value)
    const groups = await rowsOf(other, 'SELECT count(*) FROM sales.orders GROUP BY email ORDER BY 1')
    expect(groups.map((row) => row.at(-1))).toEqual(['1', '2'])
  })

  test('is shown by nobody else with the role: a steward who reads as them sees what is stored', async () => {
    const body = {
      ...{ catalog: on.lake.catalog, table: { namespace: ['sales'], name: 'orders' }, rows: 3 },
      principal: { sub: 'sue', roles: ['support'] },
    }
    const seen = await on.call('POST', '/query/as-seen-by', body)
    expect(seen.status).toBe(200)
    expect(JSON.stringify(seen.body)).toContain('cse1.k1.')
    expect(JSON.stringify(seen.body)).not.toContain(canary)
  })

  test('of a foreign tenant with the same table and role opens nothing of this one', async () => {
    const { store } = on.lake
    const foreign = (await createTenant(store, { name: 'foreign' })).id
    const mallory = await on.reader('mallory', ['support', 'steward'], foreign)
    const steward = mallory.PGPASSWORD
    const { items } = (await on.call('GET', '/transform/reveals')).body as { items: unknown[] }
    expect(items).toHaveLength(4)
    expect((await on.call('GET', '/transform/reveals', undefined, steward)).body.items).toEqual([])
    const refused = await on.call(
      'PUT',
      '/transform/reveals/columns/sales/orders/email',
      { roles: ['support'] },
      steward,
    )
    expect(refused.status).toBe(404)
    expect(
      (await on.call('DELETE', '/transform/reveals/columns/sales/orders/email', undefined, steward)).status,
    ).toBe(404)
    await putCatalogCredential(store, foreign, {
      nickname: on.lake.catalog,
      kind: 'alpha',
      ...(await credentialOf(on)),
    })
    const body = { updates: [{ action: 'set-properties', updates: { owner: 'mallory' } }], requirements: [] }
    const path = `/v1/iceberg/${on.lake.catalog}/v1/namespaces/sales/tables/orders`
    expect((await ask(on.lake, 'POST', path, steward, body)).status).toBe(200)
    for (const [to, what] of [
      ['/transform/rules/columns/sales/orders/email', { action: 'encrypt', method: 'siv', scope: 'email' }],
      ['/transform/reveals/columns/sales/orders/email', { roles: ['support'] }],
      ['/contracts/settings', { uncontracted: 'readable' }],
    ] as const)
      expect([to, (await on.call('PUT', to, what, steward)).status]).toEqual([to, 204])
    const found = await readAs(mallory, 'SELECT id, email FROM sales.orders ORDER BY id')
    expect(found.join()).not.toContain(canary)
    expect(found.filter((row) => row.startsWith('D'))).toHaveLength(3)
  })
})

test('a mask that applies to the reader stands above the reveal rule', async () => {
  const by = { store: on.lake.store, tenant: on.lake.tenant, actor: actorOf('stella'), checkPolicies }
  const place = { table: { namespace: ['sales'], name: 'orders' }, column: 'email' }
  await putMask(by, place, { id: 'm', action: 'mask-to-fixed-value', exemptRoles: ['officer'] })
  expect((await rowsOf(support, 'SELECT email FROM sales.orders WHERE id = 1'))[0]).toContain('XXXXXXXX')
  const both = await on.reader('ute', ['support', 'officer'])
  expect((await rowsOf(both, 'SELECT email FROM sales.orders WHERE id = 1'))[0]).toContain(
    emails[0] as string,
  )
  const removed = await on.call('DELETE', '/contracts/tables/sales/orders/columns/email/masks/m')
  expect(removed.status).toBe(204)
})

test('a rotated key opens older values still, but no tokens by FF1, which name no key', async () => {
  const rotated = async (scope: string) =>
    expect((await on.call('POST', `/transform/scopes/${scope}/rotations`)).status).toBe(200)
  await rotated('email')
  await rotated('card')
  const [row] = await rowsOf(support, 'SELECT email, card FROM sales.orders WHERE id = 1')
  expect(row).toContain(emails[0] as string)
  expect(row).toContain(stored[2]?.[0] as string)
})

test('a sealed value that does not open is NULL, and one that is not sealed is as it is stored', async () => {
  const [good] = await on.seal({ method: 'siv', scope: 'email', kid: 'k1' }, ['good'])
  const [elsewhere] = await on.seal({ method: 'siv', scope: 'elsewhere', kid: 'k1' }, ['bad'])
  const [later] = await on.seal({ method: 'siv', scope: 'email', kid: 'k77' }, ['later'])
  const changed = `${good?.slice(0, -3)}AAA`
  await on.write('odd', [
    { name: 'id', type: 'long', values: [1, 2, 3, 4, 5, 6] },
    {
      name: 'email',
      type: 'string',
      values: [good ?? '', elsewhere ?? '', later ?? '', changed, 'clear', 'cse1.k1.'],
    },
  ])
  const path = '/columns/sales/odd/email'
  const declared = { action: 'encrypt', method: 'siv', scope: 'email' }
  expect((await on.call('PUT', `/transform/rules${path}`, declared)).status).toBe(204)
  expect((await on.call('PUT', `/transform/reveals${path}`, { roles: ['support'] })).status).toBe(204)
  const found = await rowsOf(support, 'SELECT email FROM sales.odd ORDER BY id')
  expect(found).toEqual(['D good', 'D NULL', 'D NULL', 'D NULL', 'D clear', 'D NULL'])
})

test('a reveal rule is refused where nothing can be opened, without roles, and without a steward', async () => {
  const put = (column: string, body: object, secret?: string) =>
    on.call('PUT', `/transform/reveals/columns/sales/orders/${column}`, body, secret)
  expect((await put('id', { roles: ['support'] })).status).toBe(422)
  expect((await put('nothing', { roles: ['support'] })).status).toBe(404)
  expect((await put('email', { roles: [] })).status).toBe(400)
  expect((await put('email', { roles: ['sales'] }, other.PGPASSWORD)).status).toBe(403)
})

test('a removed rule reveals nothing more', async () => {
  expect((await on.call('DELETE', '/transform/reveals/columns/sales/orders/note')).status).toBe(204)
  expect((await on.call('DELETE', '/transform/reveals/columns/sales/orders/note')).status).toBe(404)
  expect((await rowsOf(support, 'SELECT note FROM sales.orders WHERE id = 1'))[0]).toContain('cge1.')
  const { body } = await on.call('GET', '/contracts/changes')
  const actions = (body.items as { action: string }[]).map(({ action }) => action)
  expect(actions).toContain('put-transform-reveal')
  expect(actions).toContain('delete-transform-reveal')
})

test('no value reaches the log', () => {
  for (const value of [canary, ...cards]) expect(log).not.toContain(value)
})

async function credentialOf({ lake, folder }: ProtectedLake) {
  const found = await findCatalogCredential(lake.store, lake.tenant, lake.catalog)
  if (found === undefined) throw new Error(`no credential for ${folder}`)
  return { endpoint: String(found.config.endpoint), config: found.config }
}
