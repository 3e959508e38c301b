/**
 * What a tool answers where the caller names no number of items has less than 10,000 tokens, however long and many the
 * texts of the tenant are; and who goes on by cursors sees all of them.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { putContract } from '../../../src/contract/put-contract.ts'
import { putMask } from '../../../src/contract/put-mask.ts'
import { putRowFilter } from '../../../src/contract/put-row-filter.ts'
import { putTag } from '../../../src/contract/put-tag.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { openIntent } from '../../../src/store/commit/commit-intents.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { receiveLineage } from '../../../src/store/lineage/events.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { actorOf } from '../../support/actor.ts'
import { intentOf, rejectedOf } from '../../support/commits.ts'
import { commitColumns } from '../../support/governed.ts'
import { ask } from '../../support/identity.ts'
import { type Lake, startLake } from '../../support/lake.ts'
import type { LakeTable } from '../../support/lake-tables.ts'
import { licenseForAll } from '../../support/license.ts'
import { receivedEvent } from '../../support/lineage.ts'
import { connectMcp, type McpClient } from '../../support/mcp.ts'

setDefaultTimeout(300_000)

/** Three bytes a character. */
const long = (start: string, chars: number) => start + '表'.repeat(chars)
const columns = Array.from({ length: 60 }, (_, index) => `column_${index}_${'x'.repeat(40)}`)
const wide: LakeTable = {
  name: 'wide',
  columns: [
    ['id', 'bigint', 'i'],
    ...columns.map((name) => [name, 'text', `'${'値'.repeat(200)}' || i`] as const),
  ],
  rowCount: 200,
  schema: {
    description: long('wide ', 2_000),
    properties: columns.map((name) => ({ name, description: long('column ', 990) })),
  },
}
const wideRef = { namespace: ['sales'], name: 'wide' }
const many = Array.from({ length: 40 }, (_, index) => `t${String(index).padStart(2, '0')}_${'y'.repeat(100)}`)
const metricCount = 30

let lake: Lake
let agent: McpClient
let decision = ''

beforeAll(async () => {
  lake = await startLake({ env: { SVC_LICENSE: licenseForAll() }, tables: [wide] })
  const { store, tenant } = lake
  const on = { store, tenant, actor: actorOf('stella'), checkPolicies }
  const open = async (sub: string) => {
    const principal = { sub, roles: ['steward'] }
    const made = { name: sub, principal, scopes: ['read', 'admin'] as const }
    return (await createServiceSession(store, tenant, made)).secret
  }
  const stella = await open('stella')
  const put = async (path: string, body: object) => {
    const { status, body: answer } = await ask(lake, 'PUT', path, stella, body)
    if (status >= 300) throw new Error(`${path}: ${JSON.stringify(answer)}`)
  }
  for (const name of many) {
    const ref = { namespace: ['sales'], name }
    await commitColumns(store, tenant, ref, { id: 'long' })
    await putContract(on, ref, {
      id: name,
      version: 1,
      schema: { description: long('many ', 1_000), properties: [] },
    })
  }
  const mask = { action: 'mask-alphanum', exemptRoles: [] } as const
  await putMask(on, { tag: 'pii' }, { id: 'm', ...mask })
  for (const name of columns.slice(0, -1)) await putTag(on, wideRef, name, 'pii')
  for (let index = 0; index < 10; index += 1)
    await putRowFilter(
      on,
      { table: wideRef },
      {
        id: `filter-${index}`,
        expression: `${columns.map((name) => `${name} <> ''`).join(' and ')}`,
        exemptRoles: [],
      },
    )
  const term = `term_${'z'.repeat(49)}`
  await put(`/api/v1/glossary/${term}`, { definition: 'A word of the business' })
  await put('/api/v1/semantics/tables/sales/wide', {
    key: ['id'],
    dimensions: columns.map((name) => ({ name: name.slice(0, 54), expression: name, term })),
  })
  for (let index = 0; index < metricCount; index += 1)
    await put(`/api/v1/metrics/metric_${String(index).padStart(2, '0')}`, {
      ...{ table: wideRef, expression: 'count(*)', description: long('metric ', 900) },
    })
  const dataset = (name: string) => ({ namespace: 'warehouse', name })
  const stored = { namespace: lake.catalog, name: 'sales.wide' }
  const chain = Array.from({ length: 80 }, (_, index) =>
    receivedEvent({
      ...{
        inputs: [stored],
        outputs: [dataset(long(`out ${index} `, 240))],
        job: long(`job ${index} `, 240),
      },
    }),
  )
  await receiveLineage(store, tenant, chain, true)
  const intent = intentOf({ principal: { sub: 'stella', roles: ['steward'] } })
  await openIntent(store, tenant, intent)
  await recordVerdict(store, tenant, {
    ...rejectedOf(intent, long('No ', 2_000)),
    outcomes: Array.from({ length: 40 }, (_, index) => ({
      ...{ policyId: `p${index}`, name: long(`policy ${index} `, 240), mode: 'enforce' as const },
      ...{ value: false, explanation: long('why ', 2_000) },
    })),
  })
  decision = intent.commitId
  agent = await connectMcp('2026', lake.app.url, stella)
}, 300_000)
afterAll(async () => {
  await agent?.[Symbol.asyncDispose]()
  await lake?.[Symbol.asyncDispose]()
})

/** About as many tokens: the tokenizers of today's models take three and a half bytes of such JSON a token, or more. */
const tokensOf = (text: string) => Math.ceil(Buffer.byteLength(text) / 3.5)

const from = 'MATCH (d:Dataset)-[:PRODUCED_BY]->(j:Job) RETURN d.name, j.name'
const some = columns.slice(0, 20).join(', ')
const calls: readonly (readonly [tool: string, args: () => Record<string, unknown>])[] = [
  ['find_datasets', () => ({})],
  ['explain_contract', () => ({ table: 'sales.wide' })],
  ['describe_columns', () => ({ table: 'sales.wide' })],
  ['list_metrics', () => ({})],
  ['query_metric', () => ({ metrics: ['metric_00'], dimensions: [{ name: columns.at(-1)?.slice(0, 54) }] })],
  ['query', () => ({ sql: `select ${some} from sales.wide` })],
  ['check_query', () => ({ sql: 'select * from sales.wide' })],
  ['lineage', () => ({ of: 'sales.wide' })],
  [
    'lineage_path',
    () => ({ from: 'sales.wide', to: `dataset/warehouse/${encodeURIComponent(long('out 7 ', 240))}` }),
  ],
  ['graph_query', () => ({ cypher: from })],
  ['why_denied', () => ({ decision_id: decision })],
]

describe('of long texts', () => {
  test.each(calls)('%s answers with less than 10,000 tokens', async (tool, args) => {
    const { isError, text } = await agent.call(tool, args())
    expect([isError, isError ? text : '']).toEqual([false, ''])
    expect(tokensOf(text)).toBeLessThan(10_000)
    // It is cut for its length, not for want of data.
    if (!['lineage_path'].includes(tool)) expect(tokensOf(text)).toBeGreaterThan(2_000)
  })

  test('what is cut says how many there are', async () => {
    const { structured } = await agent.call('explain_contract', { table: 'sales.wide' })
    expect(structured).toMatchObject({
      columns: { total: 61 },
      applies_to_you: { masked_total: 59, filtered_total: 10 },
    })
    const checked = await agent.call('check_query', { sql: 'select * from sales.wide' })
    expect(checked.structured).toMatchObject({ protections: { total: expect.any(Number) } })
    const denied = await agent.call('why_denied', { decision_id: decision })
    expect(denied.structured).toMatchObject({ decision: { policies_total: 40 } })
  })
})

describe('by cursors', () => {
  async function all(tool: string, args: object, itemsOf: (answer: never) => readonly string[]) {
    const found: string[] = []
    let cursor: unknown
    do {
      const given = { ...args, ...(cursor !== undefined && { cursor }) }
      const { structured, text } = await agent.call(tool, given)
      expect(tokensOf(text)).toBeLessThan(10_000)
      found.push(...itemsOf(structured as never))
      cursor = structured?.next_cursor
    } while (cursor !== undefined)
    return found
  }
  const named = (items: readonly { readonly name: string }[]) => items.map(({ name }) => name)

  test('every column, table, metric and edge is given once', async () => {
    const table = { table: 'sales.wide' }
    const described = await all('describe_columns', table, ({ columns: { items } }) => named(items))
    expect(described).toEqual(['id', ...columns])
    const tables = await all('find_datasets', {}, ({ datasets }) =>
      (datasets as readonly { readonly table: string }[]).map((one) => one.table),
    )
    expect(tables.toSorted()).toEqual([...many, 'wide'].map((name) => `sales.${name}`).toSorted())
    const metrics = await all('list_metrics', {}, ({ metrics: items }) => named(items))
    expect(metrics).toEqual(
      Array.from({ length: metricCount }, (_, at) => `metric_${String(at).padStart(2, '0')}`),
    )
    const edges = await all('lineage', { of: 'sales.wide' }, ({ edges: items, nodes }) =>
      (items as readonly { from: number; to: number; label: string }[]).map(({ from: start, to, label }) =>
        [start, label, to]
          .map(
            (one) =>
              (nodes as readonly { id: number; name: string }[]).find(({ id }) => id === one)?.name ?? one,
          )
          .join(' '),
      ),
    )
    expect(new Set(edges).size).toBe(edges.length)
    expect(edges.filter((edge) => edge.includes('LINEAGE_OF'))).toHaveLength(80)
  })
})

test('a query of more columns than an answer can name is refused before it runs', async () => {
  const aliases = Array.from({ length: 600 }, (_, index) => `id as "${'列'.repeat(20)}${index}"`).join(', ')
  const { isError, text } = await agent.call('query', { sql: `select ${aliases} from sales.wide` })
  expect(isError).toBe(true)
  expect(JSON.parse(text)).toMatchObject({
    error: { code: 'unprocessable', message: 'The result has 600 columns. Name those that you need.' },
  })
})
