/** Which tables are listed as covered badly by contracts, to whom, and page by page. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { showCoverage } from '../../src/admin/coverage-verb.ts'
import { shadowMs } from '../../src/contract/commit/sync-policies.ts'
import { putMask } from '../../src/contract/put-mask.ts'
import { putTag } from '../../src/contract/put-tag.ts'
import { coverageKinds } from '../../src/core/coverage.ts'
import { sessionScopes } from '../../src/core/session.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import { appendDigest } from '../../src/store/contract/coverage-digest.ts'
import { lastEvent, readEvents } from '../../src/store/event/events.ts'
import { recordUsage } from '../../src/store/query/usage.ts'
import { addSubscription } from '../../src/store/webhook/subscriptions.ts'
import { actorOf } from '../support/actor.ts'
import { countStatements } from '../support/counted-store.ts'
import { recordFinding } from '../support/detection-rows.ts'
import { commitColumns } from '../support/governed.ts'
import { graphql } from '../support/graphql.ts'
import { ask, call, session } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import { addTenant, startTestService, type TestService } from '../support/service.ts'
import { take } from '../support/territory.ts'
import { usageRecord } from '../support/usage.ts'

setDefaultTimeout(120_000)

const path = '/api/v1/contracts/coverage'
let service: TestService
let steward: string
let auditor: string
let reader: string
let stranger: string
let foreign: TenantId
let nowMs = Date.now()
const statements = countStatements()

/** `covered` has all; each of the others lacks one thing, and `bare` has no contract. */
const tables = ['bare', 'covered', 'masked_by_tag', 'ownerless', 'recorded', 'seldom', 'exposed']

const documentOf = (name: string) => `apiVersion: v3.2.0
kind: DataContract
id: ${name}
version: 1.0.0
${name === 'ownerless' ? "support: [{channel: '#help'}]" : 'team: {name: shop}'}
customProperties:
- {property: covenant, vendor: covenant, value: {${name === 'recorded' ? '' : 'mode: enforce'}}}
schema:
- name: ${name}
  customProperties:
  - {property: covenant, vendor: covenant, value: {table: {namespace: [sales], name: ${name}}}}
  properties: [{name: id, logicalType: integer}]
`

beforeAll(async () => {
  service = await startTestService({
    ...{ env: { SVC_LICENSE: licenseForAll() }, clock: { now: () => nowMs }, wrapStore: statements.wrap },
  })
  const { store, owner } = service
  const { tenant } = owner
  foreign = (await addTenant(store, 'foreign', service.catalog.url)).tenant
  for (const of of [tenant, foreign])
    for (const name of tables)
      await commitColumns(store, of, { namespace: ['sales'], name }, { id: 'long', email: 'string' })
  steward = await session(service, tenant, sessionScopes, ['steward'], 'stella')
  auditor = await session(service, tenant, ['read'], ['auditor'], 'otto')
  reader = await session(service, tenant, ['read'], [], 'rita')
  stranger = await session(service, foreign, sessionScopes, ['steward'], 'eve')
  const headers = { 'content-type': 'application/yaml' }
  for (const name of tables.filter((one) => one !== 'bare')) {
    const given = { secret: steward, headers, body: documentOf(name) }
    expect((await call(service, 'PUT', `/api/v1/contracts/documents/${name}`, given)).status).toBe(200)
  }
  const on = { store, tenant, actor: actorOf('stella'), checkPolicies }
  const at = (name: string) => ({ namespace: ['sales'], name })
  for (const name of ['covered', 'masked_by_tag', 'exposed'])
    await recordFinding(store, tenant, at(name), { fieldId: 2n, columnName: 'email' })
  const mask = { id: 'hide', action: 'mask-alphanum', exemptRoles: [] } as const
  await putMask(on, { table: at('covered'), column: 'email' }, mask)
  await putTag(on, at('masked_by_tag'), 'email', 'secret', {})
  await putMask(on, { tag: 'secret' }, { ...mask, id: 'hide-secret' })
  const day = 86_400_000
  for (const [name, daysAgo, outcome] of [
    ...tables.filter((one) => one !== 'seldom').map((one) => [one, 1, 'completed'] as const),
    ['seldom', 91, 'completed'],
    ['seldom', 1, 'refused'],
  ] as const)
    await recordUsage(
      store,
      tenant,
      usageRecord({
        ...{
          startedAtMs: nowMs - daysAgo * day,
          reads: [{ ...at(name), columns: ['id'], snapshot_id: '1' }],
        },
        ...{
          contracts: [{ id: name, version: 1 }],
          outcome,
          sqlState: outcome === 'refused' ? '42501' : undefined,
        },
      }),
    )
})
afterAll(() => service?.[Symbol.asyncDispose]())

const expected = {
  uncontracted: ['bare'],
  without_owner: ['ownerless'],
  unprotected_findings: ['exposed'],
  in_shadow: ['recorded'],
  unread: ['seldom'],
}

interface Listed {
  readonly counts?: Record<string, number>
  readonly items: readonly { readonly table: { readonly name: string }; readonly contract?: string }[]
  readonly next_page_token?: string
}
const covering = async (query = '', secret = steward) => {
  const { status, body } = await ask(service, 'GET', `${path}${query}`, secret)
  return { status, ...(body as unknown as Listed) }
}

describe('the coverage of contracts', () => {
  test('counts the tables of each kind', async () => {
    expect((await covering()).counts).toEqual({
      ...{ tables: 7, uncontracted: 1, without_owner: 1, unprotected_findings: 1, in_shadow: 1, unread: 1 },
    })
  })

  test.each(coverageKinds)('lists the tables of the kind %s', async (kind) => {
    const { items, counts } = await covering(`?kind=${kind}`)
    expect(items.map(({ table }) => table.name)).toEqual(expected[kind])
    expect(counts?.[kind]).toBe(items.length)
    expect(items.map(({ contract }) => contract)).toEqual(
      kind === 'uncontracted' ? [undefined] : [...expected[kind]],
    )
  })

  test('counts a contract that is recorded no more once it is enforced', async () => {
    const was = nowMs
    nowMs += shadowMs
    expect((await covering('?kind=in_shadow')).items).toEqual([])
    nowMs = was
  })

  test('takes one statement for counts, and one for a page, however many tables there are', async () => {
    await covering('?kind=unread')
    statements.take()
    await covering()
    const counts = statements.take()
    await covering('?kind=unread')
    expect(statements.take()).toBe(counts + 1)
  })

  test('is for stewards, administrators and auditors, and of their own tenant', async () => {
    expect((await covering('?kind=unread', auditor)).items).toHaveLength(1)
    expect((await covering('', reader)).status).toBe(403)
    const other = await covering('?kind=uncontracted', stranger)
    expect(other.counts).toMatchObject({ tables: 7, uncontracted: 7, unprotected_findings: 0, unread: 0 })
    expect(other.items).toHaveLength(7)
  })

  test('is given in pages, of which the first has the counts', async () => {
    const names: string[] = []
    let token: string | undefined
    do {
      const query = `?kind=uncontracted&limit=3${token === undefined ? '' : `&page_token=${encodeURIComponent(token)}`}`
      const page = await covering(query, stranger)
      expect(page.counts === undefined).toBe(token !== undefined)
      names.push(...page.items.map(({ table }) => table.name))
      token = page.next_page_token
    } while (token !== undefined)
    expect(names).toEqual(tables.toSorted())
    expect((await covering('?kind=nothing')).status).toBe(400)
  })
})

test('GraphQL has the same counts and pages, for the same roles', async () => {
  const text = `query ($after: String) {
    contractCoverage { tables uncontracted withoutOwner unprotectedFindings inShadow unread }
    uncoveredTables(kind: uncontracted, first: 4, after: $after) {
      edges { node { namespace tableName contractName } } pageInfo { hasNextPage endCursor } }
  }`
  const { data } = await graphql(service, auditor, text)
  expect(data.contractCoverage).toEqual({
    ...{ tables: 7, uncontracted: 1, withoutOwner: 1, unprotectedFindings: 1, inShadow: 1, unread: 1 },
  })
  expect(data.uncoveredTables.edges).toEqual([
    { node: { namespace: ['sales'], tableName: 'bare', contractName: null } },
  ])
  const first = (await graphql(service, stranger, text)).data.uncoveredTables
  const after = first.pageInfo.endCursor
  const second = (await graphql(service, stranger, text, { after })).data.uncoveredTables
  expect([first.pageInfo.hasNextPage, second.pageInfo.hasNextPage]).toEqual([true, false])
  const names = [...first.edges, ...second.edges].map(({ node }) => node.tableName)
  expect(names).toEqual(tables.toSorted())
  const refused = await graphql(service, reader, text)
  expect(refused.data).toEqual({ contractCoverage: null, uncoveredTables: null })
  expect(refused.errors.map(({ extensions }) => extensions?.code)).toEqual(['FORBIDDEN', 'FORBIDDEN'])
})

describe('covenant coverage', () => {
  async function run(words: readonly string[], secret = steward) {
    const [out, err]: [string[], string[]] = [[], []]
    const status = await showCoverage(words, {
      env: { COVENANT_URL: service.app.url.origin, COVENANT_SESSION: secret },
      stdin: async () => '',
      print: (one) => out.push(one),
      complain: (one) => err.push(one),
    })
    return { status, out, err }
  }

  test('prints the counts, and the tables of a kind with their contracts', async () => {
    const { status, out } = await run(['--kind', 'in_shadow'])
    expect(status).toBe(0)
    expect(out).toHaveLength(7)
    expect(out[0]).toStartWith('7  tables ')
    expect(out.at(-1)).toBe('sales.recorded  recorded')
  })

  test('prints JSON', async () => {
    const { out } = await run(['--json', '--kind', 'uncontracted'])
    expect(JSON.parse(out.join(''))).toMatchObject({
      counts: { tables: 7, uncontracted: 1 },
      items: [{ table: { namespace: ['sales'], name: 'bare' } }],
    })
  })

  test('says what is wrong with its words, and who may ask', async () => {
    expect((await run(['--kind', 'nothing'])).status).toBe(64)
    expect((await run(['more'])).status).toBe(64)
    expect(await run([], reader)).toMatchObject({
      status: 1,
      out: [],
      err: [expect.stringContaining('role')],
    })
  })
})

test('a table that only a sweep has listed is one without a contract, and is counted once', async () => {
  const { store, owner } = service
  const { tenant } = owner
  await take(store, tenant, 'listed', 's3://lake/listed/')
  await take(store, tenant, 'listed', 's3://lake/data-of-listed/', { kind: 'data-path' })
  await take(store, tenant, 'bare', 's3://lake/bare/')
  const { counts, items } = await covering('?kind=uncontracted')
  expect(counts).toMatchObject({ tables: 8, uncontracted: 2 })
  expect(items.map(({ table }) => table.name)).toEqual(['bare', 'listed'])
  const drop = `update svc.territory set dropped_at = now() where tenant_id = $1 and table_name = 'listed'`
  await store.tenantQuery(tenant, drop, [tenant])
  expect((await covering()).counts).toMatchObject({ tables: 7, uncontracted: 1 })
})

describe('the digest', () => {
  const digests = async (tenant: TenantId) =>
    (await readEvents(service.store, tenant, 0n)).filter(({ type }) => type === 'contracts.coverage')
  const webhook = (types: readonly string[]) => {
    const { store, owner } = service
    const receiver = { name: types.join(), url: new URL('https://events.example.com/x'), types }
    return addSubscription(store, owner.tenant, receiver, 'whsec_a', 0n, actorOf('ada'))
  }

  test('is told once a day, where a webhook names it, however many replicas run the job', async () => {
    const { tenant } = service.owner
    // The events before the first reading are not told.
    await lastEvent(service.store, tenant)
    await webhook(['*'])
    await service.app.jobs.run('digest-coverage')
    expect(await digests(tenant)).toEqual([])
    await webhook(['contracts.coverage'])
    await service.app.jobs.run('digest-coverage')
    await service.app.jobs.run('digest-coverage')
    const day = new Date(nowMs).toISOString().slice(0, 10)
    const counts = {
      tables: 7,
      uncontracted: 1,
      without_owner: 1,
      unprotected_findings: 1,
      in_shadow: 1,
      unread: 1,
    }
    expect(await digests(tenant)).toMatchObject([{ subject: day, data: { day, counts } }])
    const second = await Promise.all(
      ['a', 'b'].map(() => appendDigest(service.store, tenant, '2020-01-01', { ...counts, tables: 8 })),
    )
    expect(second.toSorted()).toEqual([false, true])
    expect(await digests(foreign)).toEqual([])
  })

  test('is told again on the next day', async () => {
    const was = nowMs
    nowMs += 86_400_000
    await service.app.jobs.run('digest-coverage')
    nowMs = was
    expect((await digests(service.owner.tenant)).map(({ subject }) => subject)).toContain(
      new Date(was + 86_400_000).toISOString().slice(0, 10),
    )
  })
})
