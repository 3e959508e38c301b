/** Each tool for each kind of caller: no answer differs for what the caller may not see. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { deleteContract } from '../../../src/contract/delete-contract.ts'
import { putContract } from '../../../src/contract/put-contract.ts'
import { putMask } from '../../../src/contract/put-mask.ts'
import type { SessionScope } from '../../../src/core/session.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { listedTools } from '../../../src/server/mcp/tools.ts'
import { putCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { openIntent } from '../../../src/store/commit/commit-intents.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { actorOf } from '../../support/actor.ts'
import { intentOf, rejectedOf } from '../../support/commits.ts'
import { commitColumns } from '../../support/governed.ts'
import { ask } from '../../support/identity.ts'
import { type Lake, startLake } from '../../support/lake.ts'
import type { LakeTable } from '../../support/lake-tables.ts'
import { licenseForAll } from '../../support/license.ts'
import { lineageEvent } from '../../support/lineage.ts'
import { connectMcp, type McpClient } from '../../support/mcp.ts'
import { makeTenant } from '../../support/spare-tenants.ts'

setDefaultTimeout(120_000)

const tableOf = (name: string): LakeTable => ({
  ...{ name, rowCount: 3 },
  columns: [
    ['id', 'bigint', 'i'],
    ['note', 'text', "'secret_canary ' || i"],
  ],
  schema: { description: `About ${name}`, properties: [{ name: 'note', description: 'free text' }] },
})
const refOf = (name: string) => ({ namespace: ['sales'], name })

let lake: Lake
let bob: McpClient
/** A query and a rejected commit of bob. */
let ran = ''
let rejected = ''
beforeAll(async () => {
  lake = await startLake({
    env: { SVC_LICENSE: licenseForAll() },
    tables: [tableOf('shown'), tableOf('shewn'), tableOf('closed')],
  })
  const { store, tenant } = lake
  const on = { store, tenant, actor: actorOf('stella'), checkPolicies }
  const definer = await secretOf(tenant, ['read', 'admin', 'lineage'], ['steward'])
  const put = async (path: string, body: object, method = 'PUT') => {
    const { status, body: answer } = await ask(lake, method, path, definer, body)
    if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`)
  }
  const stored = (name: string) => ({ namespace: lake.catalog, name: `sales.${name}` })
  for (const name of ['shown', 'closed']) {
    await put(`/api/v1/semantics/tables/sales/${name}`, { key: ['id'], dimensions: [{ name: 'id' }] })
    const expression = 'max(note)'
    await put(`/api/v1/glossary/about_${name}`, { definition: `About ${name}` })
    await put(`/api/v1/metrics/${name}_most`, { table: refOf(name), expression, term: `about_${name}` })
    await put(
      '/v1/lineage',
      lineageEvent({ inputs: [stored(name)], outputs: [`${name}_copy`], job: name }),
      'POST',
    )
  }
  // It stays in the upstream catalog, in the graph and in the semantic layer.
  await deleteContract(on, refOf('closed'))
  const mask = { id: 'm', action: 'replace-with-null', exemptRoles: ['steward'] } as const
  await putMask(on, { table: refOf('shown'), column: 'note' }, mask)
  bob = await connectMcp('2026', lake.app.url, lake.restricted.PGPASSWORD)
  ran = String((await bob.call('query', { sql: 'select 1' })).structured?.query_id)
  const intent = intentOf({ principal: { sub: 'service:stella', roles: [] } })
  await openIntent(store, tenant, intent)
  await recordVerdict(store, tenant, rejectedOf(intent, 'It drops the canary.'))
  rejected = intent.commitId
}, 300_000)
afterAll(async () => {
  await bob?.[Symbol.asyncDispose]()
  await lake?.[Symbol.asyncDispose]()
})

async function secretOf(
  tenant: Lake['tenant'],
  scopes: readonly SessionScope[],
  roles: readonly string[],
): Promise<string> {
  const principal = { sub: `service:of ${roles.join('-')}`, roles }
  return (await createServiceSession(lake.store, tenant, { name: 'x', principal, scopes })).secret
}

const connected = async (...given: Parameters<typeof secretOf>) =>
  await connectMcp('2026', lake.app.url, await secretOf(...given))

type Args = Record<string, unknown>
const nobodys = '00000000-0000-4000-8000-000000000000'
/** The calls of every tool about one table and about what somebody did. */
const callsOf = (name: string, query = nobodys, decision = nobodys): readonly (readonly [string, Args])[] => [
  ['find_datasets', { query: name }],
  ['find_datasets', { term: `about_${name}` }],
  ['explain_contract', { table: `sales.${name}` }],
  ['describe_columns', { table: `sales.${name}` }],
  ['list_metrics', { query: `${name}_most` }],
  ['query_metric', { metrics: [`${name}_most`] }],
  ['query', { sql: `select count(*) as n, max(note) from sales.${name}` }],
  ['query', { sql: `select * from shewn s join ${name} c on c.id = s.id` }],
  ['check_query', { sql: `select note from sales.${name}` }],
  ['lineage', { of: `sales.${name}` }],
  ['lineage', { of: `job/etl/${name}` }],
  ['lineage_path', { from: `sales.${name}`, to: `dataset/warehouse/${name}_copy` }],
  [
    'graph_query',
    {
      cypher: 'MATCH (t:Table {name: $t})-[:HAS_COLUMN]->(c:Column) RETURN t, c',
      parameters: { t: name },
    },
  ],
  ['why_denied', { query_id: query }],
  ['why_denied', { decision_id: decision }],
  ['who_may_see', { table: `sales.${name}` }],
  ['list_my_access', {}],
  ['request_access', { table: `sales.${name}`, purpose: 'because', seconds: 3_600 }],
  [
    'propose_contract_change',
    { table: `sales.${name}`, edits: [{ op: 'remove', path: '/x' }], reason: 'because' },
  ],
]

/** An answer without what differs because the question did. */
const without = (text: string, name: string) =>
  text.replaceAll(name, 'NAME').replace(/"query_id":"[^"]+"/, '')

/** Asks about both, and expects the same answer from each tool. */
async function expectAlike(client: McpClient, seen: Parameters<typeof callsOf>, none: string): Promise<void> {
  const others = callsOf(none)
  for (const [index, [tool, args]] of callsOf(...seen).entries()) {
    const [about, nothing] = [await client.call(tool, args), await client.call(tool, others[index]?.[1])]
    expect([tool, without(about.text, seen[0])]).toEqual([tool, without(nothing.text, none)])
    expect([tool, about.isError]).toEqual([tool, nothing.isError])
    expect(about.text).not.toContain('canary')
  }
}

test('each tool is one that these tests call, and answers its reader', async () => {
  const called = new Set(callsOf('shown').map(([tool]) => tool))
  expect([...called].sort()).toEqual(listedTools.map(({ name }) => name).sort())
  // What is refused elsewhere is there to be found.
  await using stella = await connected(lake.tenant, ['read', 'admin'], ['steward'])
  for (const [tool, args] of callsOf('shown', ran, rejected)) {
    // A steward sees all of it, so there is nothing to ask for.
    if (
      ['propose_contract_change', 'request_access'].includes(tool) ||
      'sql' in args ||
      String(args.of).startsWith('job/')
    )
      continue
    expect([tool, (await stella.call(tool, args)).isError]).toEqual([tool, false])
  }
})

test('a table is found by the term that a metric over it, or a dimension of it, means', async () => {
  const definer = await secretOf(lake.tenant, ['read', 'admin'], ['steward'])
  const model = { key: ['id'], dimensions: [{ name: 'id', term: 'about_shown' }] }
  const put = await ask(lake, 'PUT', '/api/v1/semantics/tables/sales/shewn', definer, model)
  expect(put.status).toBeLessThan(300)
  const found = async (args: Args) => {
    const { structured = {} } = await bob.call('find_datasets', args)
    return (structured.datasets as readonly { readonly table: string }[]).map(({ table }) => table).sort()
  }
  expect(await found({ term: 'about_shown' })).toEqual(['sales.shewn', 'sales.shown'])
  expect(await found({ term: 'about_shown', query: 'shewn' })).toEqual(['sales.shewn'])
  expect(await found({ term: 'nothing' })).toEqual([])
})

test('a caller of another tenant learns nothing of this one, whatever the roles', async () => {
  const { store } = lake
  const foreign = (await makeTenant(store, { name: 'foreign' })).id
  const endpoint = 'https://catalog.example'
  const config = { endpoint, warehouse: 'w' }
  await putCatalogCredential(store, foreign, { nickname: 'theirs', kind: 'alpha', endpoint, config })
  const on = { store, tenant: foreign, actor: actorOf('stella'), checkPolicies }
  await commitColumns(store, foreign, refOf('own'), { id: 'long' })
  await putContract(on, refOf('own'), { id: 'own', version: 1 })
  for (const roles of [[], ['steward', 'administrator', 'owner']]) {
    await using client = await connected(foreign, ['read', 'admin'], roles)
    await expectAlike(client, ['shown', ran, rejected], 'nowhere')
  }
})

test('a table that may not be read is like one that there is not, to readers, officers and stewards', async () => {
  for (const roles of [[], ['officer'], ['steward'], ['administrator', 'owner']]) {
    await using client = await connected(lake.tenant, ['read', 'admin'], roles)
    await expectAlike(client, ['closed'], 'clozed')
  }
})

test('a masked reader and a steward get what each may see from the same call', async () => {
  await using stella = await connected(lake.tenant, ['read', 'admin'], ['steward'])
  await using rita = await connected(lake.tenant, ['read', 'admin'], [])
  const cypher = 'MATCH (m:ColumnMask)-[:MASKS]->(c:Column) RETURN m.action, c.name'
  /** What tells the reader's answer from the steward's; undefined where both are the same. */
  const asked: readonly (readonly [string, Args, RegExp | undefined])[] = [
    ['find_datasets', { query: 'shown' }, undefined],
    ['explain_contract', { table: 'sales.shown' }, /"masked":\[\{"column":"note"/],
    ['describe_columns', { table: 'sales.shown' }, /"mask":"replace-with-null"/],
    ['list_metrics', { query: 'shown_most' }, /"masked":true/],
    ['query_metric', { metrics: ['shown_most'] }, /"rows":\[\[null\]\]/],
    ['query', { sql: 'select max(note) from sales.shown' }, /"rows":\[\[null\]\]/],
    ['check_query', { sql: 'select note from sales.shown' }, /"kind":"column_mask"/],
    ['lineage', { of: 'sales.shown' }, undefined],
    ['lineage_path', { from: 'sales.shown', to: 'sales.shewn' }, undefined],
    ['graph_query', { cypher }, /for stewards/],
    ['why_denied', { query_id: ran }, /not_found/],
    ['why_denied', { decision_id: rejected }, /not_found/],
    ['who_may_see', { table: 'sales.shown' }, /forbidden/],
    ['list_my_access', {}, undefined],
    ['request_access', { table: 'sales.shown', purpose: 'because', seconds: 60 }, /"state":"waiting"/],
    [
      'propose_contract_change',
      { table: 'sales.shown', edits: [{ op: 'remove', path: '/x' }], reason: 'because' },
      undefined,
    ],
  ]
  expect([...new Set(asked.map(([tool]) => tool))].sort()).toEqual(listedTools.map(({ name }) => name).sort())
  for (const [tool, args, masked] of asked) {
    const [reader, steward] = [(await rita.call(tool, args)).text, (await stella.call(tool, args)).text]
    if (masked === undefined) expect([tool, reader]).toEqual([tool, steward])
    else {
      expect([tool, reader]).toEqual([tool, expect.stringMatching(masked)])
      expect([tool, masked.test(steward)]).toEqual([tool, false])
    }
    if (!tool.startsWith('why')) expect(reader).not.toContain('canary')
  }
})

test('who has no session, no scope, or too narrow a scope is refused alike, whatever is asked about', async () => {
  const [reader, writer] = [
    await secretOf(lake.tenant, ['read'], []),
    await secretOf(lake.tenant, ['lineage', 'commit'], ['steward']),
  ]
  const post = async (secret: string | undefined, name: string, args: Args) => {
    const response = await fetch(new URL('/mcp', lake.app.url), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: args },
      }),
    })
    const challenge = response.headers.get('www-authenticate')
    const text = (await response.text()).replace(/"error_id":"[^"]+"/g, '')
    return { status: response.status, challenge, text }
  }
  const others = callsOf('nowhere')
  for (const [index, [tool, args]] of callsOf('shown', ran, rejected).entries())
    for (const [secret, status] of [
      [undefined, 401],
      [writer, 403],
      [reader, ['propose_contract_change', 'request_access'].includes(tool) ? 403 : 200],
    ] as const) {
      const answer = await post(secret, tool, args)
      expect([tool, answer.status]).toEqual([tool, status])
      if (status !== 200) expect(answer).toEqual(await post(secret, tool, others[index]?.[1] ?? {}))
    }
})
