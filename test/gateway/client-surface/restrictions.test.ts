/** Read restrictions over HTTP: who is told them, with what, how they join the upstream's, and what is not told. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { UnsecuredJWT } from 'jose'
import { createTable } from '../../../demo/commits.ts'
import { deleteRowFilter } from '../../../src/contract/delete-row-filter.ts'
import { putMask } from '../../../src/contract/put-mask.ts'
import { putRowFilter } from '../../../src/contract/put-row-filter.ts'
import { operator } from '../../../src/core/administration.ts'
import type { TableRef } from '../../../src/core/table-ref.ts'
import { createServiceSession, revokeServiceSession } from '../../../src/store/session/sessions.ts'
import { isTrustedEngine, putTrustedEngine } from '../../../src/store/session/trusted-engines.ts'
import { actorOf } from '../../support/actor.ts'
import { commitColumns } from '../../support/governed.ts'
import { licenseFor } from '../../support/license.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../../support/service.ts'
import { messageOf, send } from '../../support/surface.ts'
import { startVendingUpstream, type VendingUpstream, vendedTo } from '../../support/vending-upstream.ts'

setDefaultTimeout(300_000)

let service: TestService
let upstream: VendingUpstream
let tenant: TestTenant
let foreign: TestTenant
const people = { namespace: ['sales'], name: 'people' }

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseFor('vending') } })
  upstream = await startVendingUpstream()
  const config = {
    ...vendedTo('own', upstream.s3Url),
    ...{ credential: undefined, token: 'people', storage_roots: ['s3://lake/sales'] },
    ...{ 'vending.mode': 'sign', 'vending.scan-planning': 'server' },
  }
  tenant = await addTenant(service.store, 'told', upstream.url, config)
  foreign = await addTenant(service.store, 'other', upstream.url, config)
  for (const { tenant: id } of [tenant, foreign])
    await commitColumns(service.store, id, people, { id: 'long', email: 'string' })
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

interface Held extends TestTenant {
  readonly id: string
}
async function held(of: TestTenant, isTrusted: boolean, roles: readonly string[] = []): Promise<Held> {
  const { store } = service
  const session = { name: 'trino', principal: { sub: 'service:trino', roles }, scopes: ['commit'] } as const
  const made = await createServiceSession(store, of.tenant, session)
  if (isTrusted) await putTrustedEngine(store, of.tenant, made.id, true, operator())
  return { tenant: of.tenant, ...made }
}

type Headers = Readonly<Record<string, string>>
/** As the session's own principal, and not as another's bearer. */
const asSession = { authorization: 'Bearer None' }
const load = ({ name }: TableRef, as: TestTenant, headers: Headers = {}) =>
  send(service, 'GET', `/namespaces/sales/tables/${name}`, undefined, {
    tenant: as,
    headers: {
      ...asSession,
      'x-iceberg-access-delegation': 'vended-credentials, remote-signing',
      ...headers,
    },
  })
async function told(response: Response): Promise<unknown> {
  const text = await response.text()
  expect([response.status, response.status === 200 ? '' : text]).toEqual([200, ''])
  return (JSON.parse(text) as { 'read-restrictions'?: unknown })['read-restrictions']
}

let counter = 0
/** A new table in `sales` of the owner, with the columns of the samples. */
async function made(): Promise<TableRef> {
  const table = { namespace: ['sales'], name: `told${++counter}` }
  expect((await send(service, 'POST', '/namespaces/sales/tables', createTable(table.name))).status).toBe(200)
  return table
}
const on = (of: TestTenant = service.owner) => ({
  ...{ store: service.store, tenant: of.tenant, actor: actorOf('stella'), checkPolicies: () => [] },
})
const filter = (table: TableRef, expression: string, exemptRoles: readonly string[] = [], of?: TestTenant) =>
  putRowFilter(on(of), { table }, { id: 'rows', expression, exemptRoles })
const mask = (table: TableRef, column: string, action: string, expression?: string, of?: TestTenant) =>
  putMask(on(of), { table, column }, { id: `${column}-mask`, action, expression, exemptRoles: ['officer'] })

const reference = (id: number) => ({ type: 'reference', id })
const customerIsNot = (value: string) => ({
  type: 'and',
  left: { type: 'not-null', child: reference(2) },
  right: { type: 'not-eq', left: reference(2), right: { type: 'literal', value } },
})
const restrictions = {
  'required-row-filter': customerIsNot('hidden'),
  'required-column-projections': [
    { 'field-id': 2, action: 'mask-alphanum' },
    { 'field-id': 3, action: 'mask-to-fixed-value' },
  ],
}

describe('a trusted engine', () => {
  test('is told filters and masks, and nothing that is withheld from others', async () => {
    const table = await made()
    await filter(table, "customer <> 'hidden'")
    await mask(table, 'customer', 'mask-alphanum')
    await mask(table, 'amount', 'mask-to-fixed-value')
    const trusted = await held(service.owner, true)
    const response = await load(table, trusted)
    expect(response.headers.get('cache-control')).toBe('private, no-cache')
    const engine = (await response.json()) as Record<string, unknown>
    expect(engine['read-restrictions']).toEqual(restrictions)
    const plain = (await (await load(table, await held(service.owner, false))).json()) as Record<
      string,
      unknown
    >
    expect(plain).not.toHaveProperty('read-restrictions')
    // But for the restrictions, the replies are the same.
    const { 'read-restrictions': _, ...rest } = engine
    expect(rest).toEqual(plain)
    expect(JSON.stringify(rest)).not.toMatch(/s3\.access-key-id|signer|scan-planning-mode/)
    const path = `/namespaces/sales/tables/${table.name}`
    const as = { tenant: trusted, headers: asSession }
    expect((await send(service, 'GET', `${path}/credentials`, undefined, as)).status).toBeOneOf([403, 406])
  })

  test('is told what applies to its own principal, with the roles that were verified', async () => {
    const table = await made()
    await mask(table, 'customer', 'replace-with-null')
    expect(await told(await load(table, await held(service.owner, true)))).toEqual({
      'required-column-projections': [{ 'field-id': 2, action: 'replace-with-null' }],
    })
    expect(await told(await load(table, await held(service.owner, true, ['officer'])))).toBeUndefined()
  })

  test('is told what applies to the session’s subject, where no token names another', async () => {
    const table = await made()
    await filter(table, "current_principal() <> 'service:trino'")
    const session = await held(service.owner, true)
    expect(await told(await load(table, session))).toEqual({ 'required-row-filter': false })
    await filter(table, "current_principal() = 'service:trino' OR id > 5")
    expect(await told(await load(table, session))).toMatchObject({
      'required-row-filter': { type: 'or', left: true },
    })
  })

  test('is refused the table for a principal that nobody verified', async () => {
    const table = await made()
    await filter(table, "current_principal() = 'ann'")
    const bearer = new UnsecuredJWT({ sub: 'ann' }).encode()
    const claimed = await load(table, await held(service.owner, true), { authorization: `Bearer ${bearer}` })
    expect([claimed.status, await messageOf(claimed)]).toEqual([403, expect.stringContaining('not verified')])
  })

  test('is told nothing of a table that nothing restricts', async () => {
    expect(await told(await load(await made(), await held(service.owner, true)))).toBeUndefined()
  })

  test('is one only while an administrator says so, in its own tenant, and never by its own word', async () => {
    const { store, owner } = service
    const table = await made()
    await filter(table, 'id > 5')
    const session = await held(owner, false)
    const claims = { 'x-iceberg-client-capabilities': 'read-restrictions', 'x-trusted-engine': 'true' }
    expect(await told(await load(table, session, claims))).toBeUndefined()
    const foreigner = putTrustedEngine(store, foreign.tenant, session.id, true, operator())
    expect(await foreigner.then(String, ({ kind }) => kind)).toBe('not_found')
    await putTrustedEngine(store, owner.tenant, session.id, true, operator())
    expect(await told(await load(table, session))).toBeDefined()
    expect(await isTrustedEngine(store, foreign.tenant, session.id)).toBe(false)
    await putTrustedEngine(store, owner.tenant, session.id, false, operator())
    expect(await told(await load(table, session))).toBeUndefined()
    await putTrustedEngine(store, owner.tenant, session.id, true, operator())
    await revokeServiceSession(store, owner.tenant, session.id)
    expect(await isTrustedEngine(store, owner.tenant, session.id)).toBe(false)
    const revoked = putTrustedEngine(store, owner.tenant, session.id, true, operator())
    expect(await revoked.then(String, ({ kind }) => kind)).toBe('not_found')
  })

  test.each([
    ['a row filter that is no predicate', "lower(customer) = 'eu'", undefined],
    ['a mask by an expression', undefined, 'upper(customer)'],
  ])('is refused the table where it has %s, and is told where to read', async (what, expression, masks) => {
    const table = await made()
    if (expression !== undefined) await filter(table, expression)
    if (masks !== undefined) await mask(table, 'customer', 'apply-expression', masks)
    const response = await load(table, await held(service.owner, true))
    expect(response.status).toBe(403)
    const message = await messageOf(response)
    expect(message).toStartWith(`policy denied: sales.${table.name} has ${what}`)
    expect(message).toEndWith(
      'cannot be told to an engine. Read it by SQL through this service, which applies them.',
    )
    expect(message).not.toContain('customer')
    // Others are not told either, and load it without its counts.
    expect(await told(await load(table, await held(service.owner, false)))).toBeUndefined()
  })

  test('neither creates nor registers a table under filters, whose reply could not tell them', async () => {
    const table = { namespace: ['sales'], name: `told${++counter}` }
    await commitColumns(service.store, service.owner.tenant, table, { id: 'long', customer: 'string' })
    await filter(table, 'id > 5')
    const create = async (isTrusted: boolean) =>
      await send(service, 'POST', '/namespaces/sales/tables', createTable(table.name), {
        tenant: await held(service.owner, isTrusted),
        headers: asSession,
      })
    const refused = await create(true)
    expect([refused.status, await messageOf(refused)]).toEqual([
      403,
      expect.stringContaining('another session'),
    ])
    expect((await create(false)).status).toBe(200)
  })
})

describe('the ETag of a restricted table', () => {
  test('is of the principal and what applies to it', async () => {
    const table = await made()
    const open = (await load(table, await held(service.owner, true))).headers.get('etag') ?? ''
    await filter(table, 'id > 5', ['officer'])
    const [ann, bob] = [await held(service.owner, true), await held(service.owner, true, ['clerk'])]
    const tag = async (as: Held, headers: Headers = {}) => {
      const response = await load(table, as, headers)
      return [response.status, response.headers.get('etag') ?? ''] as const
    }
    const [, first] = await tag(ann)
    expect(first).toMatch(/^"restricted-[0-9a-f]{64}"$/)
    expect(await tag(ann, { 'if-none-match': first })).toEqual([304, first])
    // The same is told to another principal, under another ETag.
    expect((await tag(bob, { 'if-none-match': first }))[0]).toBe(200)
    // What was open before is not taken for what is restricted now.
    expect((await tag(ann, { 'if-none-match': open }))[0]).toBe(200)
    await filter(table, 'id > 6', ['officer'])
    const [status, second] = await tag(ann, { 'if-none-match': first })
    expect([status, second === first]).toEqual([200, false])
    // One whom nothing restricts does not get the other's answer, nor without the filter anyone.
    const officer = await held(service.owner, true, ['officer'])
    expect((await tag(officer, { 'if-none-match': second }))[0]).toBe(200)
    await deleteRowFilter(on(), { table }, 'rows')
    expect((await tag(ann, { 'if-none-match': second }))[0]).toBe(200)
  })

  test('is there for trusted engines only', async () => {
    const table = await made()
    await filter(table, 'id > 5')
    const { owner } = service
    const untrusted = await load(table, await held(owner, false))
    expect(untrusted.headers.has('etag')).toBe(false)
  })
})

describe('restrictions of the upstream', () => {
  const eq = (id: number, value: unknown) => ({
    ...{ type: 'eq', left: reference(id), right: { type: 'literal', value } },
  })
  /** While the upstream sends these. */
  async function sending(value: unknown, work: () => Promise<void>): Promise<void> {
    const { answer } = upstream
    upstream.answer = () => ({ config: vendedTo('own', upstream.s3Url), 'read-restrictions': value })
    try {
      await work()
    } finally {
      upstream.answer = answer
    }
  }

  test('are told to a trusted engine, joined with ours, and to nobody else', async () => {
    const theirs = {
      'required-row-filter': eq(1, 5),
      'required-column-projections': [{ 'field-id': 2, action: 'show-last-4' }],
    }
    const [engine, other, elsewhere] = [
      await held(tenant, true),
      await held(tenant, false),
      await held(foreign, true),
    ]
    await sending(theirs, async () => {
      expect(await told(await load(people, engine))).toEqual(theirs)
      const plain = await load(people, other)
      expect(await plain.clone().text()).not.toMatch(/KEY-own|signer|scan-planning-mode/)
      expect(await told(plain)).toBeUndefined()
      await filter(people, 'id > 0', [], tenant)
      await mask(people, 'email', 'mask-alphanum', undefined, tenant)
      expect(await told(await load(people, engine))).toEqual({
        'required-row-filter': {
          type: 'and',
          left: {
            type: 'and',
            left: { type: 'not-null', child: reference(1) },
            right: { type: 'gt', left: reference(1), right: { type: 'literal', value: 0 } },
          },
          right: eq(1, 5),
        },
        'required-column-projections': [{ 'field-id': 2, action: 'mask-alphanum' }],
      })
      // The other tenant has no filter of its own.
      expect(await told(await load(people, elsewhere))).toEqual(theirs)
    })
  })

  test.each([
    'nonsense',
    { 'required-row-filter': { type: 'like' } },
    { 'required-column-projections': [{ 'field-id': 2, action: 'hide' }] },
    { 'required-column-projections': [{ 'field-id': 9, action: 'replace-with-null' }] },
    { 'required-of-tomorrow': true },
  ])('that are malformed or not known withhold the table from trusted engines: %j', async (value) => {
    await sending(value, async () => {
      const refused = await load(people, await held(foreign, true))
      expect([refused.status, await messageOf(refused)]).toEqual([
        403,
        expect.stringContaining('upstream catalog'),
      ])
      const plain = await load(people, await held(foreign, false))
      expect([plain.status, await plain.text()]).toEqual([200, expect.not.stringMatching(/KEY-own|signer/)])
    })
  })
})
