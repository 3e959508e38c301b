/** The lineage resources answer as the OpenAPI document says. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { upsertNode } from '../../src/store/graph/graph.ts'
import { departures } from '../support/json-schema.ts'
import { datasetNode, getJson, lineageEvent, producer, sendLineage } from '../support/lineage.ts'
import { startTestService, type TestService } from '../support/service.ts'

interface Answer {
  readonly content: { readonly 'application/json': { readonly schema: object } }
}
type Paths = Readonly<
  Record<string, { readonly get: { readonly responses: Readonly<Record<string, Answer>> } }>
>

let service: TestService
let paths: Paths
const runId = crypto.randomUUID()

beforeAll(async () => {
  service = await startTestService()
  ;({ paths } = (await getJson(service, '/api/v1/openapi.json')).body as unknown as { paths: Paths })
  const { store, owner } = service
  const properties = { namespace: ['sales'], name: 'orders' }
  const table = { label: 'Table', id: 'sales\u001forders', properties } as const
  await store.tenantTransaction(owner.tenant, (tx) => upsertNode(tx, owner.tenant, table))
  const inputFields = [
    { namespace: 's3://lake', name: 'o1', field: 'amount', transformations: [{ type: 'DIRECT' }] },
  ]
  const columnLineage = {
    _producer: producer,
    fields: { total: { inputFields } },
    dataset: inputFields,
  }
  const output = { namespace: 's3://lake', name: 'o2', facets: { columnLineage } }
  const governed = { namespace: new URL('/v1/iceberg/main', service.app.url).href, name: 'sales.orders' }
  for (const event of [
    lineageEvent({ runId, inputs: ['o1', governed], outputs: [output] }),
    lineageEvent({ runId, inputs: ['o2'], outputs: ['o1'] }),
  ])
    await sendLineage(service, event)
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

async function expectDescribed(route: string, path: string, status = 200): Promise<Record<string, unknown>> {
  const answered = await getJson(service, path)
  expect(answered.status).toBe(status)
  const schema = paths[route]?.get.responses[status]?.content['application/json'].schema
  if (schema === undefined) throw new Error(`the document holds no ${status} of ${route}`)
  expect(departures(answered.body, schema)).toEqual([])
  return answered.body
}
const around = (node: string) => `/api/v1/lineage/graph?${new URLSearchParams({ node })}`

test('the graph answers what the document says: datasets, jobs, tables and columns', async () => {
  const graph = '/api/v1/lineage/graph'
  const { nodes } = await expectDescribed(graph, around(datasetNode('o2')))
  expect(new Set((nodes as { kind: string }[]).map(({ kind }) => kind))).toEqual(
    new Set(['dataset', 'job', 'table']),
  )
  const column = `${datasetNode('o2').replace('dataset', 'column')}/total`
  const { items: edges } = await expectDescribed(graph, around(column))
  expect(edges).not.toEqual([])
  await expectDescribed(graph, around('dataset/a/none'), 404)
  await expectDescribed(graph, around('none/x'), 400)
})

test('a run and the lists answer what the document says, the event that was refused included', async () => {
  const run = '/api/v1/lineage/runs/{*}'
  const route = Object.keys(paths).find((path) => path.startsWith('/api/v1/lineage/runs')) ?? run
  const path = `/api/v1/lineage/runs/${encodeURIComponent(producer)}/${runId}`
  const { items: events } = await expectDescribed(route, path)
  expect((events as { state: string }[]).map(({ state }) => state)).toEqual(['merged', 'refused'])
  for (const lists of ['runs', 'jobs', 'datasets']) {
    const path = `/api/v1/lineage/${lists}`
    expect((await expectDescribed(path, path)).items).not.toEqual([])
  }
  const reach = '/api/v1/lineage/reach'
  const reached = await expectDescribed(reach, `${reach}?${new URLSearchParams({ node: datasetNode('o1') })}`)
  expect(reached.items).toMatchObject([{ name: 'o2', hops: 1 }])
  const refused = '/api/v1/lineage/refused'
  expect((await expectDescribed(refused, refused)).items).toMatchObject([{ run_id: runId }])
})
