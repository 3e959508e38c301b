/** Glossary terms, metrics, check runs and what they found over GraphQL: who sees which, and in how many statements. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { putContract } from '../../../src/contract/put-contract.ts'
import { putMask } from '../../../src/contract/put-mask.ts'
import { putRowFilter } from '../../../src/contract/put-row-filter.ts'
import { putTag } from '../../../src/contract/put-tag.ts'
import type { CheckFinding } from '../../../src/core/check-run.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { nodeIdOf } from '../../../src/server/graphql/node-id.ts'
import { addResults } from '../../../src/store/check/check-results.ts'
import { actorOf } from '../../support/actor.ts'
import { requestRun } from '../../support/check-rows.ts'
import { countStatements } from '../../support/counted-store.ts'
import { commitColumns } from '../../support/governed.ts'
import { graphql } from '../../support/graphql.ts'
import { ask, type IdentityService, session, startIdentityService } from '../../support/identity.ts'
import { licenseFor, licenseForAll } from '../../support/license.ts'
import { addTenant, type TestTenant } from '../../support/service.ts'

setDefaultTimeout(300_000)

let service: IdentityService
let foreign: TestTenant
let reader: string
let officer: string
let steward: string
let stranger: string
const statements = countStatements()
const tables = ['orders', 'items', 'people', 'shops', 'hidden']
const refOf = (name: string) => ({ namespace: ['sales'], name })

const finding: Omit<CheckFinding, 'key'> = {
  ...{ element: '', metric: 'rowCount', severity: 'error', outcome: 'passed', fieldIds: [], custom: false },
}
const findings: readonly CheckFinding[] = [
  { ...finding, key: 'rows', value: '10', unit: 'rows', expected: { operator: 'mustBe', threshold: 10 } },
  { ...finding, key: 'email.probe', element: 'email', metric: 'nullValues', fieldIds: [2], value: '999' },
  {
    ...{ ...finding, key: 'email.broken', element: 'email', metric: 'nullValues', fieldIds: [2] },
    ...{ outcome: 'error', reason: '22012' },
  },
  { ...finding, key: 'own', metric: 'sql', fieldIds: [2], custom: true, value: '998' },
]

/** A run of a table that ended, requested so many minutes ago. @returns its id */
async function addRun(tenant: TenantId, name: string, minutes: number, more: object = {}): Promise<string> {
  const { store } = service
  const runId = await requestRun(store, tenant, { table: refOf(name), contract: name, ...more })
  await store.tenantTransaction(tenant, (tx) =>
    addResults(tx, tenant, { runId, step: 'scan', ms: 5 }, findings),
  )
  await store.ownerTransaction(tenant, async (tx) => {
    await tx.query(
      `update svc.check_run set state = 'error', reason = '22012', finished_at = clock_timestamp(),
         requested_at = clock_timestamp() - make_interval(mins => $2::int) where run_id = $1`,
      [runId, minutes],
    )
  })
  return runId
}

const runs: string[] = []
let young: string
let hidden: string
let theirs: string

beforeAll(async () => {
  service = await startIdentityService({ env: { SVC_LICENSE: licenseForAll() }, wrapStore: statements.wrap })
  const { store, owner } = service
  foreign = await addTenant(store, 'foreign', service.catalog.url)
  for (const { tenant } of [owner, foreign]) {
    const on = { store, tenant, actor: actorOf('stella'), checkPolicies }
    const steering = await session(service, tenant, ['read', 'admin'], ['steward'], 'stella')
    const put = async (path: string, body: object) => {
      const { status } = await ask(service, 'PUT', path, steering, body)
      if (status >= 300 && !path.includes('hidden')) throw new Error(`${path}: ${status}`)
    }
    await put('/api/v1/glossary/income', { definition: 'What comes in' })
    await put('/api/v1/glossary/revenue', { definition: 'What customers paid', broader: 'income' })
    for (const name of tables) {
      await commitColumns(store, tenant, refOf(name), { id: 'long', email: 'string', region: 'string' })
      await putContract(on, refOf(name), { id: name, version: 1 })
      await put(`/api/v1/semantics/tables/sales/${name}`, { key: ['id'], dimensions: [{ name: 'region' }] })
      const term = name === 'orders' ? { term: 'revenue' } : {}
      const body = { table: refOf(name), expression: 'count(email)', unit: 'EUR', ...term }
      await put(`/api/v1/metrics/${name}_count`, body)
    }
    await putTag(on, refOf('orders'), 'email', 'pii', {})
    const mask = { id: 'mask', action: 'mask-alphanum', exemptRoles: ['officer'] } as const
    await putMask(on, { table: refOf('orders'), column: 'email' }, mask)
    const filter = { id: 'east', expression: "region = 'east'", exemptRoles: ['officer'] }
    await putRowFilter(on, { table: refOf('items') }, filter)
  }
  for (const name of tables) runs.push(await addRun(owner.tenant, name, 20))
  young = await addRun(owner.tenant, 'orders', 0, { kind: 'reconciliation' })
  hidden = runs.at(-1) ?? ''
  theirs = await addRun(foreign.tenant, 'orders', 20)
  const steering = await session(service, owner.tenant, ['read', 'admin'], ['steward'], 'stella')
  const gone = await ask(service, 'DELETE', '/api/v1/contracts/tables/sales/hidden', steering)
  expect(gone.status).toBeLessThan(300)
  reader = await session(service, owner.tenant, ['read'])
  officer = await session(service, owner.tenant, ['read'], ['officer'], 'ann')
  steward = steering
  stranger = await session(service, foreign.tenant, ['read', 'admin'], ['steward'], 'eve')
}, 300_000)
afterAll(() => service?.[Symbol.asyncDispose]())

const given = async (secret: string, query: string, variables: object = {}) => {
  const { data, errors } = await graphql(service, secret, query, variables)
  expect(errors).toEqual([])
  return data
}
// biome-ignore lint/suspicious/noExplicitAny: the shape is the document's.
const nodes = (connection: any) => connection.edges.map(({ node }: { node: unknown }) => node)

describe('a metric', () => {
  const query = `query M($name: String!) { metric(name: $name) {
    name version state kind unit expression filter madeOf masked tags { name } problems { kind column }
    dimensions { name kind } tables { name } term { name definition broader { name } } createdBy } }`

  test('says what it means, and that it is computed from masked values for who is masked', async () => {
    const seen = await given(reader, query, { name: 'orders_count' })
    expect(seen.metric).toEqual({
      ...{ name: 'orders_count', version: 1, state: 'active', kind: 'simple', unit: 'EUR' },
      ...{ expression: 'count(email)', filter: null, madeOf: [], masked: true, tags: [{ name: 'pii' }] },
      problems: [{ kind: 'masked', column: 'email' }],
      dimensions: [{ name: 'region', kind: 'categorical' }],
      tables: [{ name: 'orders' }],
      term: { name: 'revenue', definition: 'What customers paid', broader: { name: 'income' } },
      createdBy: 'stella',
    })
    expect((await given(officer, query, { name: 'orders_count' })).metric).toMatchObject({
      ...{ masked: false, problems: [] },
    })
  })

  test('is found by its term, its table and in pages', async () => {
    const { glossaryTerm, table } = await given(
      reader,
      `{ glossaryTerm(name: "revenue") { version synonyms links metrics(first: 5) { totalCount edges { node { name } } } }
         table(namespace: ["sales"], name: "items") { metrics(first: 5) { edges { node { name } } } } }`,
    )
    expect(glossaryTerm).toMatchObject({ version: 1, synonyms: [], links: [] })
    expect(glossaryTerm.metrics).toEqual({ totalCount: 1, edges: [{ node: { name: 'orders_count' } }] })
    expect(nodes(table.metrics)).toEqual([{ name: 'items_count' }])
    const paged = async (field: 'metrics' | 'glossaryTerms') => {
      const names: string[] = []
      const list = `query L($after: String) { page: ${field}(first: 2, after: $after) { edges { node { name } } pageInfo { endCursor } } }`
      for (let after: string | null | undefined; after !== null; ) {
        const { page } = await given(reader, list, { after })
        names.push(...nodes(page).map(({ name }: { name: string }) => name))
        after = page.pageInfo.endCursor
      }
      return names
    }
    // The metric over the table that may not be read is not there.
    expect(await paged('metrics')).toEqual(['items_count', 'orders_count', 'people_count', 'shops_count'])
    expect(await paged('glossaryTerms')).toEqual(['income', 'revenue'])
  })

  test('over a table that may not be read is like one that there is not, to a steward too', async () => {
    for (const secret of [reader, steward])
      for (const name of ['hidden_count', 'nothing_count'])
        expect(await given(secret, query, { name })).toEqual({ metric: null })
  })
})

describe('a check run', () => {
  const shown = `runId kind state cause snapshotId number catalog requestedBy ms startedAt finishedAt stepsDone steps rows bytes reason
    contract { name } table { name }
    checks(first: 9) { edges { node { key column metric severity custom outcome value unit operator threshold engine reason at } } }`
  const one = `query R($id: String!) { qualityRun(id: $id) { ${shown} } }`
  const list = `query T($name: String!) { table(namespace: ["sales"], name: $name) {
    qualityRuns(first: 5) { edges { node { runId state } } }
    qualityChecks(first: 9) { edges { node { key outcome value } } } } }`

  test('shows a steward every number, time and error', async () => {
    const { qualityRun } = await given(steward, one, { id: runs[0] })
    expect(qualityRun).toMatchObject({
      ...{ runId: runs[0], kind: 'quality', state: 'error', cause: 'request', snapshotId: '7', number: 1 },
      ...{ reason: '22012', ms: 0, rows: '0', contract: { name: 'orders' }, table: { name: 'orders' } },
    })
    expect(qualityRun.finishedAt).toBeString()
    expect(nodes(qualityRun.checks)).toMatchObject([
      { key: 'rows', value: '10', unit: 'rows', operator: 'mustBe', threshold: '10' },
      { key: 'email.probe', column: 'email', outcome: 'passed', value: '999' },
      { key: 'email.broken', outcome: 'error', value: null, reason: '22012' },
      { key: 'own', custom: true, value: '998' },
    ])
    expect(nodes(qualityRun.checks)[0].at).toBeString()
    const { table } = await given(steward, list, { name: 'orders' })
    expect(nodes(table.qualityRuns).map(({ runId }: { runId: string }) => runId)).toEqual([young, runs[0]])
  })

  test('shows who is masked no number of the masked column, no own statement, no state, no time, and no error', async () => {
    const { qualityRun } = await given(reader, one, { id: runs[0] })
    expect(qualityRun).toMatchObject({
      ...{ state: null, ms: null, startedAt: null, finishedAt: null, stepsDone: null, steps: null },
      ...{ rows: null, bytes: null, reason: null },
    })
    expect(
      nodes(qualityRun.checks).map(({ key, outcome, value, reason, at }: Record<string, unknown>) => [
        ...[key, outcome, value, reason, at],
      ]),
    ).toEqual([
      ['rows', 'passed', '10', null, null],
      ['email.probe', 'passed', null, null, null],
      ['email.broken', 'failed', null, null, null],
    ])
    // An officer is exempt from the mask.
    expect(nodes((await given(officer, one, { id: runs[0] })).qualityRun.checks)).toHaveLength(4)
  })

  test('shows who is filtered no number at all', async () => {
    const { table } = await given(reader, list, { name: 'items' })
    expect(nodes(table.qualityChecks)).toEqual([
      { key: 'email.broken', outcome: 'failed', value: null },
      { key: 'email.probe', outcome: 'passed', value: null },
      { key: 'rows', outcome: 'passed', value: null },
    ])
  })

  test('is not shown to who is masked before its longest time has passed', async () => {
    expect(await given(reader, one, { id: young })).toEqual({ qualityRun: null })
    const { table } = await given(reader, list, { name: 'orders' })
    expect(nodes(table.qualityRuns)).toEqual([{ runId: runs[0], state: null }])
    expect((await given(officer, one, { id: young })).qualityRun.runId).toBe(young)
  })

  test('of a table that may not be read is like one that there is not, to a steward too', async () => {
    for (const secret of [reader, steward])
      for (const id of [hidden, theirs, crypto.randomUUID(), 'x'])
        expect(await given(secret, one, { id })).toEqual({ qualityRun: null })
  })

  test('is followed in pages, by kind and by key', async () => {
    const page = `query P($after: String, $key: String) { table(namespace: ["sales"], name: "orders") {
      qualityChecks(first: 3, after: $after, key: $key) { edges { node { key run { runId } } } pageInfo { endCursor } }
      qualityRuns(first: 1, kind: quality) { edges { node { runId } } pageInfo { endCursor } } } }`
    const first = (await given(steward, page)).table
    const second = (await given(steward, page, { after: first.qualityChecks.pageInfo.endCursor })).table
    const keys = [...nodes(first.qualityChecks), ...nodes(second.qualityChecks)]
    expect(keys.map(({ key, run }) => `${run.runId === young ? 'young' : 'old'} ${key}`)).toEqual([
      ...[
        'young own',
        'young email.broken',
        'young email.probe',
        'young rows',
        'old own',
        'old email.broken',
      ],
    ])
    expect(first.qualityRuns).toEqual({
      edges: [{ node: { runId: runs[0] } }],
      pageInfo: { endCursor: expect.any(String) },
    })
    expect(nodes((await given(steward, page, { key: 'rows' })).table.qualityChecks)).toHaveLength(2)
  })
})

test.each([
  [
    'metrics',
    'metrics(first: $n) { edges { node { name term { name metrics(first: $n) { edges { node { name } } } } tables { name } } } }',
  ],
  [
    'runs',
    'qualityRuns(first: $n) { edges { node { runId contract { name } checks(first: $n) { edges { node { key } } } } } }',
  ],
  [
    'checks',
    'qualityChecks(first: $n) { edges { node { key run { checks(first: $n) { edges { node { key } } } } } } }',
  ],
])('statements do not grow with tables and their %s', async (_, inner) => {
  const query = `query Q($first: Int!, $n: Int!) { tables(first: $first) { edges { node { ${inner} } } } }`
  const counts: number[] = []
  // The first table alone has no metric with a term.
  for (const first of [2, 3, 4]) {
    await given(steward, query, { first, n: 3 })
    statements.take()
    const { tables: found } = await given(steward, query, { first, n: 3 })
    counts.push(statements.take())
    expect(found.edges).toHaveLength(first)
  }
  expect(new Set(counts).size).toBe(1)
  expect(counts[0]).toBeLessThan(20)
})

describe('a node', () => {
  const node = 'query N($id: ID!) { node(id: $id) { __typename id } }'

  test('is found by its id, and by another tenant it is answered like an unknown one', async () => {
    const ids = [
      nodeIdOf('Metric', 'orders_count'),
      nodeIdOf('GlossaryTerm', 'revenue'),
      nodeIdOf('QualityRun', runs[0] ?? ''),
      nodeIdOf('QualityCheck', runs[0] ?? '', 'rows'),
    ]
    const types = ['Metric', 'GlossaryTerm', 'QualityRun', 'QualityCheck']
    for (const [index, id] of ids.entries())
      expect(await given(reader, node, { id })).toEqual({ node: { __typename: types[index], id } })
    const unknown = [
      nodeIdOf('Metric', 'nothing_count'),
      nodeIdOf('Metric', 'hidden_count'),
      nodeIdOf('GlossaryTerm', 'nothing'),
      nodeIdOf('QualityRun', theirs),
      nodeIdOf('QualityRun', hidden),
      nodeIdOf('QualityRun', young),
      nodeIdOf('QualityCheck', theirs, 'rows'),
      nodeIdOf('QualityCheck', runs[0] ?? '', 'own'),
      nodeIdOf('QualityCheck', runs[0] ?? '', 'nothing'),
      nodeIdOf('QualityCheck', 'x'),
    ]
    for (const id of unknown) expect(await given(reader, node, { id })).toEqual({ node: null })
    // The run is of this tenant, so the other finds neither it nor what it found.
    for (const id of ids.slice(2)) expect(await given(stranger, node, { id })).toEqual({ node: null })
  })

  test('of another tenant is shown by names that both have only as the caller’s own', async () => {
    const put = await ask(
      ...([service, 'PUT', '/api/v1/glossary/secret_word', stranger, { definition: 'canary' }] as const),
    )
    expect(put.status).toBe(200)
    const query = '{ glossaryTerm(name: "secret_word") { definition } }'
    expect(await given(stranger, query)).toEqual({ glossaryTerm: { definition: 'canary' } })
    expect(await given(steward, query)).toEqual({ glossaryTerm: null })
  })
})

test('each field needs the license of its REST operation, and a node without one is not there', async () => {
  await using bare = await startIdentityService({ env: { SVC_LICENSE: licenseFor('graphql') } })
  const { store, owner } = bare
  await commitColumns(store, owner.tenant, refOf('orders'), { id: 'long' })
  const on = { store, tenant: owner.tenant, actor: actorOf('stella'), checkPolicies }
  await putContract(on, refOf('orders'), { id: 'orders', version: 1 })
  const secret = await session(bare, owner.tenant, ['read', 'admin'], ['steward'], 'stella')
  const table = (inner: string) => `{ table(namespace: ["sales"], name: "orders") { ${inner} } }`
  for (const query of [
    '{ glossaryTerm(name: "revenue") { name } }',
    '{ glossaryTerms(first: 1) { totalCount } }',
    '{ metric(name: "x") { name } }',
    '{ metrics(first: 1) { totalCount } }',
    '{ metricValues(catalog: "lake", metrics: ["x"], first: 1) { rows } }',
    `{ qualityRun(id: "${crypto.randomUUID()}") { state } }`,
    table('metrics(first: 1) { totalCount }'),
    table('qualityRuns(first: 1) { totalCount }'),
    table('qualityChecks(first: 1) { totalCount }'),
  ]) {
    const { errors } = await graphql(bare, secret, query)
    expect([query, errors.map(({ extensions }) => extensions?.code)]).toEqual([query, ['FORBIDDEN']])
  }
  for (const id of [nodeIdOf('Metric', 'x'), nodeIdOf('GlossaryTerm', 'x'), nodeIdOf('QualityRun', 'x')])
    expect(await graphql(bare, secret, `{ node(id: "${id}") { id } }`)).toMatchObject({
      ...{ data: { node: null }, errors: [] },
    })
})
