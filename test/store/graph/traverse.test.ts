/** A traversal reads no more of the graph than its page needs: levels, edges and properties, shown by the plan. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../../src/core/tenant.ts'
import { traversalText, traverse } from '../../../src/store/graph/graph.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { openTestStore } from '../../support/store.ts'

setDefaultTimeout(120_000)

const leaves = 2_000
let store: Awaited<ReturnType<typeof openTestStore>>
let tenant: TenantId
/** The hub leads to each leaf, and each leaf to one below it. */
beforeAll(async () => {
  store = await openTestStore()
  tenant = (await createTenant(store, { name: 'hot' })).id
  const insert = async (label: string, columns: string, rows: string) =>
    await store.tenantQuery(tenant, `insert into "${label}" (${columns}) ${rows}`)
  const properties = (id: string) =>
    `jsonb_build_object('id', ${id}, 'tenant_id', '${tenant}', 'name', ${id})::text::agtype`
  const numbers = `generate_series(1, ${leaves}) i`
  await insert('Dataset', 'properties', `select ${properties("'hub'")}`)
  for (const kind of ['leaf', 'below'])
    await insert('Dataset', 'properties', `select ${properties(`'${kind}-' || i`)} from ${numbers}`)
  const idOf = (alias: string) =>
    `agtype_access_operator(variadic array[${alias}.properties, '"id"'::agtype])`
  const node = (alias: string, id: string) => `${idOf(alias)} = to_jsonb(${id})::text::agtype`
  const edges = async (from: string, to: string, name: string) =>
    await insert(
      'LINEAGE_OF',
      'start_id, end_id, properties',
      `select a.id, b.id, ${properties(`'${name}-' || i`)} from ${numbers}
        join "Dataset" a on ${node('a', from)} join "Dataset" b on ${node('b', to)}`,
    )
  await edges("'hub'::text", `'leaf-' || i`, 'to-leaf')
  await edges(`'leaf-' || i`, `'below-' || i`, 'to-below')
})
afterAll(() => store[Symbol.asyncDispose]())

const hub = { label: 'Dataset', id: 'hub', direction: 'out', edgeLabels: ['LINEAGE_OF'] } as const

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'CTE Name'?: string
  readonly 'Subplan Name'?: string
  readonly 'Actual Loops': number
  readonly 'Actual Rows': number
  readonly Plans?: readonly PlanNode[]
}

/** What the statement did to find a page. */
async function nodesOf(hops: number, length: number): Promise<readonly PlanNode[]> {
  const text = traversalText({ ...hub, hops })
  const [row] = await store.tenantQuery<{ 'QUERY PLAN': unknown }>(
    tenant,
    `explain (analyze, format json, timing off) ${text}`,
    ['hub', 0, '0', length],
  )
  const plan = row?.['QUERY PLAN']
  const [{ Plan }] = (typeof plan === 'string' ? JSON.parse(plan) : plan) as [{ Plan: PlanNode }]
  const all = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(all)]
  return all(Plan)
}

test('a level is not looked for where those before it fill the page', async () => {
  const reads = (nodes: readonly PlanNode[]) =>
    nodes
      .filter((node) => node['Relation Name'] === 'LINEAGE_OF')
      .reduce((sum, node) => sum + node['Actual Loops'] * node['Actual Rows'], 0)
  expect(reads(await nodesOf(5, 101))).toBe(leaves)
  expect(reads(await nodesOf(2, leaves + 1))).toBe(2 * leaves)
})

test('properties are read for the nodes of the page alone', async () => {
  const found = await nodesOf(2, 101)
  const read = found
    .filter((node) => node['Relation Name'] === 'Dataset' && node['Subplan Name'] !== 'CTE level_0')
    .reduce((sum, node) => sum + node['Actual Loops'] * node['Actual Rows'], 0)
  expect(read).toBeLessThanOrEqual(101)
})

test('pages go through both levels, each node once, the nearer ones first', async () => {
  const hops: number[] = []
  const ids = new Set<string>()
  let after: string | undefined
  do {
    const page = await traverse(store, tenant, { ...hub, limit: 900, ...(after !== undefined && { after }) })
    for (const item of page.items) {
      hops.push(item.hops)
      ids.add(item.id)
    }
    after = page.next
  } while (after !== undefined)
  expect(ids.size).toBe(2 * leaves)
  expect(hops).toEqual([...Array(leaves).fill(1), ...Array(leaves).fill(2)])
})
