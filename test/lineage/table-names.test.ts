/** One table under several names: walks and cycle checks take all of them for one node. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TenantId } from '../../src/core/tenant.ts'
import { findPaths } from '../../src/lineage/find-paths.ts'
import { possibleStarts } from '../../src/lineage/node-name.ts'
import { upsertEdge, upsertNode } from '../../src/store/graph/graph.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { datasetNode, getJson, graph, lake, lineageEvent, sendLineage } from '../support/lineage.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../support/service.ts'

let service: TestService
let foreign: TestTenant
let administrator: string
let theirAdministrator: string

beforeAll(async () => {
  service = await startTestService()
  foreign = await addTenant(service.store, 'other', service.catalog.url)
  const administers = async (tenant: TenantId) =>
    (
      await createServiceSession(service.store, tenant, {
        name: 'administrator',
        principal: { sub: 'ada', roles: ['administrator'] },
        scopes: ['admin', 'read'],
      })
    ).secret
  administrator = await administers(service.owner.tenant)
  theirAdministrator = await administers(foreign.tenant)
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

const uri = 'https://covenant.example/v1/iceberg/main'
const trino = 'trino://trino.example:8080'
const node = (namespace: string, name: string) =>
  `dataset/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`
const columnNode = (namespace: string, name: string, column: string) =>
  `${node(namespace, name).replace('dataset', 'column')}/${column}`

/** A dataset by the location of its files, with the name by which the catalog has it. */
const located = (table: string, namespace = uri) => ({
  namespace: lake,
  name: `warehouse/ns/${table}`,
  facets: { symlinks: { identifiers: [{ namespace, name: `ns.${table}`, type: 'TABLE' }] } },
})
const inCatalog = (table: string, namespace = uri) => ({ namespace, name: `ns.${table}` })
/** With one column that comes from one of an input. */
const made = (of: { namespace: string; name: string; facets?: object }, column: string, from: object) => ({
  ...of,
  facets: { ...of.facets, columnLineage: { fields: { [column]: { inputFields: [from] } } } },
})

async function send(
  inputs: readonly (string | object)[],
  outputs: readonly (string | object)[],
  secret?: string,
) {
  const response = await sendLineage(
    service,
    lineageEvent({ inputs, outputs }),
    secret === undefined ? {} : { secret },
  )
  return { status: response.status, text: await response.text() }
}
const lineageOf = (edges: readonly string[]) => edges.filter((edge) => edge.startsWith('LINEAGE_OF'))

async function call(method: 'GET' | 'PUT' | 'DELETE', input: object, secret = administrator) {
  const url = new URL('/api/v1/lineage/namespaces', service.app.url)
  if (method !== 'PUT') url.search = new URLSearchParams(input as Record<string, string>).toString()
  const response = await fetch(url, {
    method,
    headers: { 'x-svc-session': secret, 'content-type': 'application/json' },
    ...(method === 'PUT' && { body: JSON.stringify(input) }),
  })
  return { status: response.status, body: await response.text() }
}

describe('a name in the catalog', () => {
  test('is one table in every spelling where the catalog folds names, and each its own where it does not', async () => {
    const { store, catalog } = service
    const folding = await addTenant(store, 'folding', catalog.url, { case_sensitive_names: false })
    const origin = { namespace: lake, name: 'origin' }
    for (const { secret, status } of [
      { ...folding, status: 422 },
      { ...foreign, status: 202 },
    ]) {
      expect((await send([origin], [inCatalog('folded')], secret)).status).toBe(202)
      // It would close a cycle.
      expect((await send([inCatalog('FOLDED')], [origin], secret)).status).toBe(status)
    }
  })
})

describe('a location with a symlink, and the name in the catalog', () => {
  test('are one table: what comes after one is found downstream of what comes before the other', async () => {
    const raw = { namespace: lake, name: 'raw' }
    await send([raw], [made(located('t'), 'total', { ...raw, field: 'price' })])
    await send(
      [inCatalog('t')],
      [made({ namespace: lake, name: 'board' }, 'sum', { ...inCatalog('t'), field: 'total' })],
    )
    const down = await graph(service, datasetNode('raw'), { direction: 'downstream' })
    expect(lineageOf(down.edges)).toEqual([
      `LINEAGE_OF raw → ${encodeURIComponent('warehouse/ns/t')}`,
      `LINEAGE_OF ${node(uri, 'ns.t')} → board`,
    ])
    expect(lineageOf((await graph(service, datasetNode('board'), { direction: 'upstream' })).edges)).toEqual([
      `LINEAGE_OF ${node(uri, 'ns.t')} → board`,
      `LINEAGE_OF raw → ${encodeURIComponent('warehouse/ns/t')}`,
    ])
  })

  test('downstream of a column is found through both names', async () => {
    const { edges } = await graph(service, columnNode(lake, 'raw', 'price'), { direction: 'downstream' })
    expect(edges).toEqual([
      `LINEAGE_OF ${columnNode(lake, 'raw', 'price')} → ${columnNode(lake, 'warehouse/ns/t', 'total')}`,
      `LINEAGE_OF ${columnNode(uri, 'ns.t', 'total')} → ${columnNode(lake, 'board', 'sum')}`,
    ])
  })

  test('are asked for by the name of the table, of its column, and of its contract', async () => {
    const { store, owner } = service
    await store.tenantTransaction(owner.tenant, async (tx) => {
      const table = { label: 'Table', id: 'ns\u001ft' } as const
      const contract = { label: 'Contract', id: 'orders-contract' } as const
      await upsertNode(tx, owner.tenant, { ...table, properties: { namespace: ['ns'], name: 't' } })
      await upsertNode(tx, owner.tenant, { ...contract, properties: { state: 'active' } })
      await upsertEdge(tx, owner.tenant, {
        label: 'GOVERNS',
        id: 'orders-contract',
        from: contract,
        to: table,
      })
    })
    const downstream = async (name: string) =>
      lineageOf((await graph(service, name, { direction: 'downstream' })).edges)
    const toBoard = `LINEAGE_OF ${node(uri, 'ns.t')} → board`
    for (const name of ['ns.t', 'table/ns/t', 'orders-contract', 'contract/orders-contract'])
      expect([name, await downstream(name)]).toEqual([name, [toBoard]])
    const column = `LINEAGE_OF ${columnNode(uri, 'ns.t', 'total')} → ${columnNode(lake, 'board', 'sum')}`
    for (const name of ['ns.t.total', 'table/ns/t/total'])
      expect([name, await downstream(name)]).toEqual([name, [column]])
    for (const name of ['ns.t', 'ns.t.total', 'orders-contract', 'ns.none', 'none'])
      expect((await graph(service, name, {}, foreign.secret)).status).toBe(404)
    const { body } = await getJson(service, '/api/v1/lineage/graph?node=ns.t.total')
    expect(body).toMatchObject({ node: 'table/ns/t/total' })
    expect((body.nodes as object[])[0]).toEqual({
      node: 'table/ns/t/total',
      ...{ kind: 'column', name: 't', column: 'total', table: { namespace: ['ns'], name: 't' } },
    })
    expect(body.nodes).toContainEqual({
      node: columnNode(uri, 'ns.t', 'total'),
      ...{ kind: 'column', namespace: uri, name: 'ns.t', column: 'total' },
      table: { namespace: ['ns'], name: 't' },
    })
  })

  test('are passed by a shortest path', async () => {
    const [from] = possibleStarts(datasetNode('raw'))
    const [to] = possibleStarts(datasetNode('board'))
    if (from === undefined || to === undefined) throw new Error('no nodes')
    // Only tables under a contract may be read; this one is.
    const found = await findPaths(service.store, service.owner.tenant, {
      ...{ from, to, signal: new AbortController().signal },
    })
    expect(found?.paths.map((path) => path.map(({ kind }) => kind))).toEqual([
      ['dataset', 'dataset', 'dataset'],
    ])
  })

  test('written under one name and read under the other is in place: no edge, no cycle', async () => {
    const update = await send([located('u'), 'feed'], [inCatalog('u')])
    expect(update).toEqual({ status: 202, text: '' })
    const { edges } = await graph(service, node(uri, 'ns.u'), { direction: 'upstream' })
    expect(lineageOf(edges)).toEqual([`LINEAGE_OF feed → ${node(uri, 'ns.u')}`])
    const rows = await service.store.tenantQuery(
      service.owner.tenant,
      `select 1 from "PRODUCED_BY" p join "Dataset" d on d.id = p.start_id
       where p.properties::text::jsonb ->> 'in_place' = 'true' and d.properties::text::jsonb ->> 'name' = 'ns.u'`,
    )
    expect(rows).toHaveLength(1)
  })

  test('an edge back is refused, whichever name it has, and another tenant is not concerned', async () => {
    await send(['c1'], [located('c')])
    const back = [inCatalog('c')]
    expect((await send(back, ['c1'], foreign.secret)).status).toBe(202)
    const refused = await send(back, ['c1'])
    expect(refused.status).toBe(422)
    expect(refused.text).toContain('c1 (s3://lake) → ns.c')
  })
})

describe('a symlink that names no governed table', () => {
  const hive = 'hive://metastore:9083'

  test('makes its dataset another name all the same, and the answer says so', async () => {
    await send(['h1'], [located('h', hive)])
    await send([inCatalog('h', hive)], ['h2'])
    const down = await graph(service, datasetNode('h1'), { direction: 'downstream' })
    expect(lineageOf(down.edges)).toContain(`LINEAGE_OF ${node(hive, 'ns.h')} → h2`)
    const { body } = await getJson(
      service,
      `/api/v1/lineage/graph?node=${encodeURIComponent(datasetNode('h1'))}`,
    )
    expect(body.nodes).toContainEqual(
      expect.objectContaining({ name: 'warehouse/ns/h', same_as: node(hive, 'ns.h') }),
    )
  })

  test('is one of all of its symlinks, and a later event with others takes none away', async () => {
    const [first, second, later] = ['hive://one:1', 'hive://two:2', 'hive://three:3']
    const named = (...namespaces: readonly string[]) => ({
      ...{ namespace: lake, name: 'warehouse/ns/many' },
      facets: {
        symlinks: {
          identifiers: namespaces.map((namespace) => ({ namespace, name: 'ns.many', type: 'TABLE' })),
        },
      },
    })
    await send(['many0'], [named(first, second)])
    await send(['many1'], [named(later)])
    for (const [at, namespace] of [first, second, later].entries())
      await send([inCatalog('many', namespace)], [`many-out${at}`])
    const down = await graph(service, datasetNode('many0'), { direction: 'downstream' })
    expect(lineageOf(down.edges).filter((edge) => edge.includes('many-out')).length).toBe(3)
  })

  test('goes with its name once that is mapped to a catalog', async () => {
    expect(await call('PUT', { namespace: hive, catalog: 'main' })).toEqual({ status: 204, body: '' })
    const { edges } = await graph(service, 'ns.h', { direction: 'both' })
    expect(lineageOf(edges).length).toBe(2)
    expect(
      lineageOf((await graph(service, datasetNode('h1'), { direction: 'downstream' })).edges).length,
    ).toBe(2)
  })
})

describe('a mapping of a namespace', () => {
  const stored = async (secret?: string) => {
    const { edges } = await graph(service, node(trino, 'lake.ns.m'), {}, secret)
    return edges.filter((edge) => edge.startsWith('STORED_AS'))
  }

  test('makes its datasets tables of the catalog, also those of before, of its own tenant only', async () => {
    const { store, owner } = service
    for (const tenant of [owner.tenant, foreign.tenant])
      await store.tenantTransaction(tenant, (tx) =>
        upsertNode(tx, tenant, {
          ...{ label: 'Table', id: 'ns\u001fm' },
          properties: { namespace: ['ns'], name: 'm' },
        }),
      )
    for (const secret of [owner.secret, foreign.secret])
      await send(['m1'], [{ namespace: trino, name: 'lake.ns.m' }], secret)
    expect(await stored()).toEqual([])
    const mapping = { namespace: trino, first_level: 'lake', catalog: 'main' }
    expect((await call('PUT', mapping)).status).toBe(204)
    expect((await call('PUT', mapping)).status).toBe(204)
    expect(await stored()).toEqual([`STORED_AS ${node(trino, 'lake.ns.m')} → table/ns/m`])
    expect(await stored(foreign.secret)).toEqual([])
    expect(JSON.parse((await call('GET', {})).body).items).toContainEqual(mapping)
    expect(JSON.parse((await call('GET', {}, theirAdministrator)).body).items).toEqual([])
  })

  test('of another first level leaves them alone', async () => {
    await send([], [{ namespace: trino, name: 'other.ns.m' }])
    const { edges } = await graph(service, node(trino, 'other.ns.m'))
    expect(edges.filter((edge) => edge.startsWith('STORED_AS'))).toEqual([])
  })

  test('holds for events that come after it, under both names', async () => {
    await send([{ namespace: trino, name: 'lake.ns.m' }], ['m2'])
    await send([inCatalog('m')], ['m3'])
    const { edges } = await graph(service, datasetNode('m1'), { direction: 'downstream' })
    expect(lineageOf(edges).length).toBe(3)
  })

  test('ends, and its datasets are no names of a table any more', async () => {
    const key = { namespace: trino, first_level: 'lake' }
    expect((await call('DELETE', key, theirAdministrator)).status).toBe(404)
    expect((await call('DELETE', key)).status).toBe(204)
    expect(await stored()).toEqual([])
    expect((await call('DELETE', key)).status).toBe(404)
    const { edges } = await graph(service, datasetNode('m1'), { direction: 'downstream' })
    expect(lineageOf(edges).length).toBe(2)
  })

  test('of an unknown catalog, of locations, and by another role is refused', async () => {
    expect((await call('PUT', { namespace: trino, catalog: 'none' })).status).toBe(400)
    expect((await call('PUT', { namespace: 's3://lake', catalog: 'main' })).status).toBe(400)
    expect((await call('PUT', { namespace: trino, catalog: 'main' }, service.owner.secret)).status).toBe(403)
  })
})

test('the sweep finds a cycle that only two names of a table close', async () => {
  for (let i = 0; i < 7; i++)
    await send([i === 0 ? inCatalog('w') : `w${i}`], [i === 6 ? located('w') : `w${i + 1}`])
  await service.app.jobs.run('sweep-lineage')
  const cycles = await service.store.tenantQuery<{ length: number }>(
    service.owner.tenant,
    'select jsonb_array_length(datasets) as length from lineage_cycle where resolved_at is null',
  )
  expect(cycles.map(({ length }) => length)).toEqual([7])
})
