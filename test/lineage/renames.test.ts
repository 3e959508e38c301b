/** Spellings of one path are one dataset, and what is renamed keeps its lineage under both names. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTable, orderFields } from '../../demo/commits.ts'
import { datasetNode, getJson, graph, lake, lineageEvent, sendLineage } from '../support/lineage.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../support/service.ts'
import { send as surface } from '../support/surface.ts'

let service: TestService
let foreign: TestTenant
const uri = 'https://covenant.example/v1/iceberg/main'

beforeAll(async () => {
  service = await startTestService()
  foreign = await addTenant(service.store, 'other', service.catalog.url)
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

async function sent(event: object, secret?: string): Promise<void> {
  const response = await sendLineage(service, event, secret === undefined ? {} : { secret })
  expect([response.status, await response.text()]).toEqual([202, ''])
}
const lineageOf = async (node: string, query: Record<string, string> = {}) =>
  (await graph(service, node, query)).edges.filter((edge) => edge.startsWith('LINEAGE_OF'))

describe('a path', () => {
  const spellings = [
    ['s3a://lake', 'one/orders'],
    ['s3n://lake', 'one/orders/'],
    ['s3://lake', 'one/orders/'],
    ['s3://lake/', 'one/orders'],
  ] as const
  test.each(spellings)('written as %s %s is the one of s3', async (namespace, name) => {
    const out = `out-${encodeURIComponent(namespace + name)}`
    await sent(lineageEvent({ inputs: [{ namespace, name }], outputs: [out], job: out }))
    const found = await lineageOf(datasetNode('one/orders'), { direction: 'downstream' })
    expect(found.some((edge) => edge.endsWith(encodeURIComponent(out)))).toBe(true)
  })

  test('read in one spelling and written in another is written in place', async () => {
    await sent(
      lineageEvent({
        inputs: [{ namespace: 's3a://lake', name: 'same' }],
        outputs: [{ namespace: 's3://lake', name: 'same/' }],
      }),
    )
    expect(await lineageOf(datasetNode('same'))).toEqual([])
  })

  test('names columns in any spelling, and by a symlink of an input that another event names', async () => {
    const runId = crypto.randomUUID()
    const symlinks = { identifiers: [{ namespace: 'hive://m:9083', name: 'ns.c', type: 'TABLE' }] }
    const field = (namespace: string, name: string) => ({ inputFields: [{ namespace, name, field: 'id' }] })
    const columnLineage = {
      fields: { x: field('s3a://lake', 'columns-in/'), y: field('hive://m:9083', 'ns.c') },
    }
    await sent(
      lineageEvent({ runId, outputs: [{ namespace: lake, name: 'columns-out', facets: { columnLineage } }] }),
    )
    await sent({
      ...lineageEvent({
        runId,
        inputs: ['columns-in', { namespace: lake, name: 'linked', facets: { symlinks } }],
      }),
      eventType: 'START',
    })
    const path = `/api/v1/lineage/graph?node=${encodeURIComponent(datasetNode('columns-out'))}`
    const { body } = await getJson(service, path)
    const columns = (body.items as { columns?: { output: string }[] }[]).flatMap((edge) => edge.columns ?? [])
    expect(columns.map(({ output }) => output).sort()).toEqual(['x', 'y'])
  })
})

test('a dataset that says its former name keeps the lineage of that', async () => {
  await sent(lineageEvent({ inputs: ['before-in'], outputs: ['former'], job: 'rename-1' }))
  const lifecycleStateChange = {
    lifecycleStateChange: 'RENAME',
    previousIdentifier: { namespace: lake, name: 'former' },
  }
  const now = { namespace: lake, name: 'now', facets: { lifecycleStateChange } }
  await sent(lineageEvent({ outputs: [now], job: 'rename-2' }))
  await sent(lineageEvent({ inputs: ['now'], outputs: ['after-out'], job: 'rename-3' }))
  expect(await lineageOf(datasetNode('before-in'), { direction: 'downstream' })).toEqual([
    'LINEAGE_OF before-in → former',
    'LINEAGE_OF now → after-out',
  ])
  expect(await lineageOf(datasetNode('former'), { direction: 'downstream' })).toHaveLength(1)
})

describe('a table that is renamed through the gateway', () => {
  const renamed = async (from: string, to: string) => {
    const body = {
      source: { namespace: ['sales'], name: from },
      destination: { namespace: ['sales'], name: to },
    }
    expect((await surface(service, 'POST', '/tables/rename', body)).status).toBe(204)
  }
  const create = async (name: string) =>
    expect(
      (await surface(service, 'POST', '/namespaces/sales/tables', createTable(name, orderFields))).status,
    ).toBe(200)
  const inCatalog = (name: string) => ({ namespace: uri, name: `sales.${name}` })

  test('keeps its lineage, is found by the old name, and takes what comes under it; another tenant is not concerned', async () => {
    await create('old')
    await sent(lineageEvent({ inputs: ['t-in'], outputs: [inCatalog('old')], job: 'table-1' }))
    await sent(
      lineageEvent({ inputs: ['t-in'], outputs: [inCatalog('old')], job: 'table-1' }),
      foreign.secret,
    )
    await renamed('old', 'new')
    await sent(lineageEvent({ inputs: [inCatalog('new')], outputs: ['t-out'], job: 'table-2' }))
    await sent(lineageEvent({ inputs: ['late-in'], outputs: [inCatalog('old')], job: 'table-3' }))
    const old = `dataset/${encodeURIComponent(uri)}/sales.old`
    for (const table of ['sales.new', 'sales.old'])
      expect(await lineageOf(table)).toEqual([
        `LINEAGE_OF t-in → ${old}`,
        `LINEAGE_OF dataset/${encodeURIComponent(uri)}/sales.new → t-out`,
        `LINEAGE_OF late-in → ${old}`,
      ])
    const foreignKeys = await service.store.tenantQuery<{ table_key: string }>(
      foreign.tenant,
      'select table_key from lineage_name',
    )
    expect(foreignKeys).toEqual([{ table_key: 'sales\u001fold' }])
  })

  test('leaves its old name to a new table', async () => {
    await create('again')
    await sent(lineageEvent({ inputs: ['again-in'], outputs: [inCatalog('again')], job: 'again-1' }))
    await renamed('again', 'moved')
    await create('again')
    await sent(lineageEvent({ inputs: ['again-new'], outputs: [inCatalog('again')], job: 'again-2' }))
    const found = (await lineageOf('sales.again')).join()
    expect(found).toContain('again-new')
  })
})
