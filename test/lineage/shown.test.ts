/** Consumers, states of runs, writes in place and the runs above are shown by REST, GraphQL, MCP and graph queries. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { commitColumns } from '../support/governed.ts'
import { licenseForAll } from '../support/license.ts'
import { datasetNode, getJson, graph, lineageEvent, sendLineage } from '../support/lineage.ts'
import { connectMcp } from '../support/mcp.ts'
import {
  addTenant,
  openUncontracted,
  startTestService,
  type TestService,
  type TestTenant,
} from '../support/service.ts'

let service: TestService
let foreign: TestTenant
let secret: string
const [dagRun, taskRun, sparkRun] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()]
const uri = 'https://covenant.example/v1/iceberg/main'

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  const { store, owner } = service
  foreign = await addTenant(store, 'other', service.catalog.url)
  await openUncontracted(store, owner)
  await commitColumns(store, owner.tenant, { namespace: ['ns'], name: 'seen' }, { id: 'long' })
  ;({ secret } = await createServiceSession(store, owner.tenant, {
    name: 'steward',
    principal: { sub: 'olga', roles: ['steward'] },
    scopes: ['read'],
  }))
  const named = (namespace: string, name: string) => ({ namespace, name })
  const parent = {
    run: { runId: taskRun },
    job: named('airflow', 'dag.task'),
    root: { run: { runId: dagRun }, job: named('airflow', 'dag') },
  }
  const events = [
    lineageEvent({ inputs: ['a'], job: 'reader' }),
    { ...lineageEvent({ inputs: ['a', 'b'], outputs: ['b'], job: 'merger' }), eventType: 'FAIL' },
    {
      ...lineageEvent({ job: 'spark', inputs: ['b'], outputs: [named(uri, 'ns.seen')] }),
      run: { runId: sparkRun, facets: { parent } },
    },
  ]
  const moved = (from: string, hour: number) => ({
    ...lineageEvent({ job: 'mover', inputs: [from], outputs: [named(uri, 'ns.seen')] }),
    eventTime: `2026-03-01T${hour}:00:00Z`,
  })
  events.push(moved('was', 12), moved('is', 14))
  for (const event of events) expect((await sendLineage(service, event)).status).toBe(202)
  await sendLineage(service, lineageEvent({ inputs: ['a'], job: 'stranger' }), { secret: foreign.secret })
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

const items = async (node: string, query = '') => {
  const { body } = await getJson(service, `/api/v1/lineage/graph?node=${encodeURIComponent(node)}${query}`)
  return body as { items: Record<string, unknown>[]; nodes: Record<string, unknown>[] }
}
const cypher = async (query: string) => {
  const response = await fetch(new URL('/api/v1/graph/query', service.app.url), {
    method: 'POST',
    headers: { 'x-svc-session': secret, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  return ((await response.json()) as { rows?: unknown }).rows
}

describe('a walk', () => {
  test('shows which jobs read a dataset, those of another tenant never, and goes up from what a job reads', async () => {
    const { edges } = await graph(service, datasetNode('a'))
    expect(edges.filter((edge) => edge.startsWith('CONSUMED_BY a')).sort()).toEqual([
      'CONSUMED_BY a → job/airflow/merger',
      'CONSUMED_BY a → job/airflow/reader',
    ])
    expect((await graph(service, 'job/airflow/reader')).edges).toEqual(['CONSUMED_BY a → job/airflow/reader'])
    expect((await graph(service, 'job/airflow/reader', { direction: 'downstream' })).edges).toEqual([])
    expect((await graph(service, 'job/airflow/stranger')).status).toBe(404)
  })

  test('says of edges and jobs that their last run failed, and of a job that it writes in place', async () => {
    const { items: edges, nodes } = await items(datasetNode('a'), '&direction=downstream&depth=1')
    const of = (label: string) =>
      edges.find((edge) => edge.label === label && !String(edge.to).includes('reader'))
    expect(of('LINEAGE_OF')).toMatchObject({ last_run: { state: 'FAIL' } })
    expect(of('PRODUCED_BY')).toMatchObject({ in_place: true, last_run: { state: 'FAIL' } })
    expect(of('CONSUMED_BY')).toMatchObject({ last_run: { state: 'FAIL' } })
    expect(nodes).toContainEqual(expect.objectContaining({ node: 'job/airflow/merger', state: 'FAIL' }))
    expect(nodes).toContainEqual(expect.objectContaining({ node: 'job/airflow/reader', state: 'COMPLETE' }))
  })

  test('leads from the job of the root run by that of the parent to the job', async () => {
    const { edges } = await graph(service, datasetNode('b'), { direction: 'downstream', depth: '1' })
    expect(edges.filter((edge) => edge.startsWith('PARENT_OF')).sort()).toEqual([
      'PARENT_OF job/airflow/dag → job/airflow/dag.task',
      'PARENT_OF job/airflow/dag.task → job/airflow/spark',
    ])
    expect((await graph(service, 'job/airflow/dag')).edges.join()).toContain('PRODUCED_BY')
    const { body } = await getJson(service, `/api/v1/lineage/runs?root_run_id=${dagRun}`)
    expect(body.items).toMatchObject([
      { run_id: sparkRun, parent: { run_id: taskRun }, root: { run_id: dagRun, job: { name: 'dag' } } },
    ])
  })
})

test('a graph query has consumers, states and writes in place', async () => {
  expect(
    await cypher(
      `MATCH (d:Dataset {name: 'a'})-[:CONSUMED_BY]->(j:Job) RETURN j.name, j.state ORDER BY j.name`,
    ),
  ).toEqual([
    ['merger', 'FAIL'],
    ['reader', 'COMPLETE'],
  ])
  expect(
    await cypher(
      `MATCH (a:Dataset {name: 'a'})-[l:LINEAGE_OF]->(d:Dataset)-[p:PRODUCED_BY]->(:Job) RETURN l.state, p.in_place`,
    ),
  ).toEqual([['FAIL', true]])
})

test('GraphQL and the tool `lineage` show the same', async () => {
  const query = `{ table(namespace: ["ns"], name: "seen") { lineage(first: 20, hops: 2) {
    edges { node { label inPlace state stale to { name state } } } } } }`
  const response = await fetch(new URL('/graphql', service.app.url), {
    method: 'POST',
    headers: { 'x-svc-session': secret, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  const answer = JSON.stringify(await response.json())
  expect(answer).toContain(
    '"label":"PRODUCED_BY","inPlace":true,"state":"FAIL","stale":false,"to":{"name":"merger","state":"FAIL"}',
  )
  await using mcp = await connectMcp('2026', service.app.url, secret)
  const told = JSON.stringify(await mcp.call('lineage', { of: datasetNode('a') }))
  expect(told).toContain('CONSUMED_BY')
  expect(told.replaceAll('\\', '')).toContain('"in_place":true,"state":"FAIL"')
})

describe('the edges that there were at a time', () => {
  const asOf = '2026-03-01T13:00:00Z'

  test('are shown by GraphQL', async () => {
    const namesAt = async (args: string) => {
      const query = `{ table(namespace: ["ns"], name: "seen") { lineage(first: 20, hops: 1${args}) {
        edges { node { label from { name } } } } } }`
      const response = await fetch(new URL('/graphql', service.app.url), {
        method: 'POST',
        headers: { 'x-svc-session': secret, 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      })
      const { data } = (await response.json()) as {
        data: { table: { lineage: { edges: { node: { label: string; from: { name: string } } }[] } } }
      }
      const edges = data.table.lineage.edges.filter(({ node }) => node.label === 'LINEAGE_OF')
      return edges.map(({ node }) => node.from.name).sort()
    }
    expect(await namesAt('')).toEqual(['b', 'is'])
    expect(await namesAt(`, asOf: "${asOf}"`)).toEqual(['b', 'was'])
  })

  test('are shown by the tool `lineage`, whose cursor holds for that time only', async () => {
    await using mcp = await connectMcp('2026', service.app.url, secret)
    const at = async (args: object) => {
      const told = await mcp.call('lineage', { of: 'ns.seen', direction: 'upstream', hops: 1, ...args })
      return JSON.stringify(told).replaceAll('\\', '')
    }
    const was = await at({ as_of: asOf })
    expect([was.includes('/was"'), was.includes('/is"')]).toEqual([true, false])
    const is = await at({})
    expect([is.includes('/was"'), is.includes('/is"')]).toEqual([false, true])
    const cursor = /"next_cursor":"([^"]+)"/.exec(await at({ as_of: asOf, limit: 1 }))?.[1]
    expect(await at({ as_of: asOf, limit: 1, cursor })).not.toContain('not valid')
    expect(await at({ limit: 1, cursor })).toContain('The cursor is not valid any more')
  })
})
