/**
 * Spark's OpenLineage listener: a job that makes a table from a table appears in the lineage graph, and so do jobs that
 * write a table in place: MERGE, UPDATE, slowly changing dimensions.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { receiveLineage } from '../../src/store/lineage/events.ts'
import { putNamespace } from '../../src/store/lineage/namespaces.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { actorOf } from '../support/actor.ts'
import { receivedEvent } from '../support/lineage.ts'
import { documentedLineageSettings, documentedSettings } from './client-docs.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { send } from './iceberg-api.ts'
import { packageFolder } from './packages.ts'
import { startRestFixture } from './servers.ts'
import type { Step } from './sessions.ts'
import { runSpark } from './spark-session.ts'

let gateway: Gateway
let stewardSecret: string
let steps: readonly Step[]
const stack = new AsyncDisposableStack()

const statements = [
  'CREATE TABLE covenant.ol.orders (id BIGINT, customer STRING, amount BIGINT) USING iceberg',
  "INSERT INTO covenant.ol.orders VALUES (1, 'a', 10), (2, 'b', 20), (3, 'a', 5)",
  `CREATE TABLE covenant.ol.revenue USING iceberg AS
    SELECT customer, sum(amount) AS total FROM covenant.ol.orders GROUP BY customer`,
  'SELECT * FROM covenant.ol.revenue ORDER BY customer',
  'CREATE TABLE covenant.ol.changes (id BIGINT, customer STRING, amount BIGINT) USING iceberg',
  "INSERT INTO covenant.ol.changes VALUES (2, 'b', 25), (4, 'c', 7)",
  `MERGE INTO covenant.ol.orders t USING covenant.ol.changes s ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET t.amount = s.amount WHEN NOT MATCHED THEN INSERT *`,
  `UPDATE covenant.ol.orders SET amount = amount + 1
    WHERE id IN (SELECT id FROM covenant.ol.changes)`,
  'INSERT INTO covenant.ol.orders SELECT id + 100, customer, amount FROM covenant.ol.orders',
  `INSERT INTO covenant.ol.orders SELECT * FROM covenant.ol.changes c
    WHERE NOT EXISTS (SELECT 1 FROM covenant.ol.orders o WHERE o.id = c.id)`,
  'INSERT OVERWRITE covenant.ol.revenue SELECT customer, total + 1 FROM covenant.ol.revenue',
  // A slowly changing dimension of type 2: the old row is closed, the new one is added.
  'CREATE TABLE covenant.ol.customers (id BIGINT, name STRING, is_current BOOLEAN) USING iceberg',
  "INSERT INTO covenant.ol.customers VALUES (2, 'bert', true)",
  `MERGE INTO covenant.ol.customers t USING (
      SELECT id AS merge_key, id, customer FROM covenant.ol.changes
      UNION ALL SELECT NULL, c.id, c.customer FROM covenant.ol.changes c
        JOIN covenant.ol.customers d ON c.id = d.id AND d.is_current AND d.name <> c.customer) s
    ON t.id = s.merge_key
    WHEN MATCHED AND t.is_current AND t.name <> s.customer THEN UPDATE SET t.is_current = false
    WHEN NOT MATCHED THEN INSERT (id, name, is_current) VALUES (s.id, s.customer, true)`,
]

beforeAll(async () => {
  const fixture = stack.use(await startRestFixture())
  gateway = stack.use(await startGateway({ kind: 'alpha', url: fixture.url, config: { warehouse: 'w' } }))
  await send({ base: `${fixture.url}/v1` }, 'POST', '/namespaces', '{"namespace":["ol"]}')
  const { secret } = await createServiceSession(gateway.store, gateway.tenant, {
    name: 'spark',
    principal: { sub: 'spark', roles: [] },
    scopes: ['lineage'],
  })
  // The tables of Spark have no contract, so their lineage is seen by those who look after all tables.
  const steward = await createServiceSession(gateway.store, gateway.tenant, {
    name: 'steward',
    principal: { sub: 'stella', roles: ['steward'] },
    scopes: ['read'],
  })
  stewardSecret = steward.secret
  const settings = [documentedSettings('Spark', gateway), documentedLineageSettings(gateway, secret)]
  const jars = [join(packageFolder('maven:openlineage-spark'), 'lib/openlineage-spark_2.13-1.53.0.jar')]
  steps = await runSpark(
    { settings: settings.join('\n'), log: 'spark-lineage', seconds: 500, jars },
    statements,
  )
}, 600_000)
afterAll(() => stack.disposeAsync())

interface Edge {
  readonly label: string
  readonly from: string
  readonly to: string
}

async function upstreamOf(node: string): Promise<readonly Edge[]> {
  const url = new URL('/api/v1/lineage/graph', gateway.app.url)
  url.search = new URLSearchParams({ node, direction: 'upstream' }).toString()
  const response = await fetch(url, { headers: { 'x-svc-session': stewardSecret } })
  return ((await response.json()) as { items: readonly Edge[] }).items
}
/** Where the table's files lie, by which the listener names its dataset. */
const location = (edges: readonly Edge[], table: string) =>
  edges.find(({ label, to }) => label === 'STORED_AS' && to === `table/ol/${table}`)?.from ?? 'none'

test('spark-lineage: every event of the listener is taken: START, RUNNING and COMPLETE of each run', async () => {
  for (const one of steps) expect(one).not.toHaveProperty('message')
  const rows = await gateway.store.tenantQuery<{ run_id: string; event_type: string; state: string }>(
    gateway.tenant,
    `select run_id, event_type, state from lineage_inbox
     union all select run_id, event_type, state from lineage_event`,
  )
  expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['merged']))
  const typesOfRuns = [...Map.groupBy(rows, (row) => row.run_id).values()].map(
    (events) => new Set(events.map((event) => event.event_type)),
  )
  expect(typesOfRuns.length).toBeGreaterThan(steps.length)
  expect(typesOfRuns.filter((types) => types.has('START') && types.has('COMPLETE')).length).toBeGreaterThan(2)
})

test('spark-lineage: a table made from a table has it upstream, by the tables’ governed names', async () => {
  const edges = await upstreamOf('table/ol/revenue')
  const orders = location(await upstreamOf('table/ol/orders'), 'orders')
  expect(edges).toContainEqual(
    expect.objectContaining({ label: 'LINEAGE_OF', from: orders, to: location(edges, 'revenue') }),
  )
})

test('spark-lineage: a column of it has the column upstream from which it was computed', async () => {
  const revenue = location(await upstreamOf('table/ol/revenue'), 'revenue')
  const orders = location(await upstreamOf('table/ol/orders'), 'orders')
  const column = (dataset: string, name: string) => `${dataset.replace(/^dataset/, 'column')}/${name}`
  expect(await upstreamOf(column(revenue, 'total'))).toContainEqual(
    expect.objectContaining({ from: column(orders, 'amount'), to: column(revenue, 'total') }),
  )
})

test('spark-lineage: a table that is merged into has what it is merged from upstream, and itself not', async () => {
  for (const [table, source] of [
    ['orders', 'changes'],
    ['customers', 'changes'],
  ] as const) {
    const edges = await upstreamOf(`table/ol/${table}`)
    const [own, from] = [location(edges, table), location(await upstreamOf(`table/ol/${source}`), source)]
    const lineage = edges.filter(({ label }) => label === 'LINEAGE_OF')
    expect(lineage).toContainEqual(expect.objectContaining({ from, to: own }))
    expect(lineage.filter(({ from: input, to }) => input === own && to === own)).toEqual([])
  }
})

test('spark-lineage: downstream of a column is found through the name that Trino has for the table', async () => {
  const trino = 'trino://trino.example:8080'
  const mapping = { namespace: trino, firstLevel: 'lake', catalog: 'main' }
  await putNamespace(gateway.store, gateway.tenant, mapping, actorOf('ada'))
  const input = { namespace: trino, name: 'lake.ol.revenue' }
  const fields = { sum: { inputFields: [{ ...input, field: 'total' }] } }
  const board = { namespace: trino, name: 'bi.public.board', facets: { columnLineage: { fields } } }
  const received = receivedEvent({ inputs: [input], outputs: [board] })
  expect(await receiveLineage(gateway.store, gateway.tenant, [received], true)).toEqual([{ kind: 'merged' }])
  const url = new URL('/api/v1/lineage/graph', gateway.app.url)
  url.search = new URLSearchParams({ node: 'ol.orders.amount', direction: 'downstream' }).toString()
  const response = await fetch(url, { headers: { 'x-svc-session': stewardSecret } })
  const { items } = (await response.json()) as { items: readonly Edge[] }
  expect(items.map(({ to }) => to)).toContain(
    `column/${encodeURIComponent(trino)}/${encodeURIComponent('bi.public.board')}/sum`,
  )
})
