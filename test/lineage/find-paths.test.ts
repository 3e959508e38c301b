/** Paths of lineage: the shortest ones, against a search that tries every walk, and past readable tables only. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { putContract } from '../../src/contract/put-contract.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { findPaths, shortestPaths } from '../../src/lineage/find-paths.ts'
import { nodeName } from '../../src/lineage/node-name.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { receiveLineage } from '../../src/store/lineage/events.ts'
import { type LineageEdge, type LineageNode, lineageAround } from '../../src/store/lineage/graph.ts'
import { actorOf } from '../support/actor.ts'
import { commitColumns } from '../support/governed.ts'
import { receivedEvent } from '../support/lineage.ts'
import { openTenantStore, type TestStore } from '../support/store.ts'

const dataset = (name: string | number): LineageNode => ({
  kind: 'dataset',
  namespace: 'n',
  name: String(name),
})
const edge = (from: number, to: number): LineageEdge => ({
  label: 'LINEAGE_OF',
  from: dataset(from),
  to: dataset(to),
  hops: 1,
})

test('in random graphs, the paths are those that a search of every walk finds', () => {
  let state = 20261123
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state % below
  }
  for (let round = 0; round < 300; round++) {
    const count = 2 + random(7)
    const edges = Array.from({ length: random(14) }, () => [random(count), random(count)] as const)
      .filter(([from, to]) => from !== to)
      .map(([from, to]) => edge(from, to))
    const found = shortestPaths(edges, dataset(0), dataset(1))
    const expected = everyShortest(edges, '0', '1')
    const paths = found.paths.map((path) => path.map(({ name }) => name).join('>'))
    if (found.truncated) expect(expected.length).toBeGreaterThan(10)
    else expect(paths.sort()).toEqual([...expected].sort())
  }
})

function everyShortest(edges: readonly LineageEdge[], from: string, to: string): readonly string[] {
  const pairs = new Set(edges.map((one) => `${one.from.name}>${one.to.name}`))
  let walks = [from]
  for (let length = 0; length < 9; length++) {
    const arrived = walks.filter((walk) => walk !== from && walk.endsWith(`>${to}`))
    if (arrived.length > 0) return arrived
    walks = walks.flatMap((walk) => {
      const last = walk.split('>').at(-1)
      return [...pairs]
        .filter((pair) => pair.startsWith(`${last}>`))
        .map((pair) => `${walk}>${pair.split('>')[1]}`)
    })
  }
  return []
}

describe('past a table that may not be read', () => {
  let store: TestStore
  let tenant: TenantId
  beforeAll(async () => {
    ;({ store, tenant } = await openTenantStore())
    const endpoint = 'https://catalog.example'
    const config = { endpoint, warehouse: 'w' }
    await putCatalogCredential(store, tenant, { nickname: 'main', kind: 'alpha', endpoint, config })
    const on = { store, tenant, actor: actorOf('stella'), checkPolicies }
    for (const name of ['first', 'hidden', 'last']) {
      const table = { namespace: ['sales'], name }
      await commitColumns(store, tenant, table, { id: 'long' })
      if (name !== 'hidden') await putContract(on, table, { id: name, version: 1 })
    }
    const stored = (name: string) => ({ namespace: 'main', name: `sales.${name}` })
    const events = [
      { inputs: [stored('first')], outputs: [stored('hidden')] },
      { inputs: [stored('hidden')], outputs: [stored('last')] },
      { inputs: [stored('first')], outputs: ['file'] },
    ]
    await receiveLineage(store, tenant, events.map(receivedEvent), true)
  }, 120_000)
  afterAll(() => store[Symbol.asyncDispose]())

  const first: LineageNode = { kind: 'table', namespace: ['sales'], name: 'first' }
  const walk = async (start: LineageNode, readableOnly: boolean) => {
    const page = await lineageAround(store, tenant, { start, direction: 'both', readableOnly })
    const names = page?.items.flatMap(({ from, to }) => [from, to].map(({ name }) => name)) ?? []
    const labels = page?.items.map(({ label }) => label).sort()
    return page && { total: page.total, labels, names: [...new Set(names)].sort() }
  }

  test('a walk does not go, and does not count it', async () => {
    const all = await walk(first, false)
    expect(all?.names).toEqual(expect.arrayContaining(['sales.hidden', 'sales.last']))
    const seen = await walk(first, true)
    expect(seen?.names).toEqual(['daily', 'file', 'first', 'sales.first'])
    // `daily` is shown as the job of `file`, so it is shown as one that reads `first`.
    expect(seen?.labels).toEqual(['CONSUMED_BY', 'LINEAGE_OF', 'PRODUCED_BY', 'STORED_AS'])
    expect(seen?.total).toBe(4)
  })

  test('there is no path, and none begins there', async () => {
    const signal = new AbortController().signal
    const last: LineageNode = { ...first, name: 'last' }
    expect(await findPaths(store, tenant, { from: first, to: last, signal })).toEqual({
      paths: [],
      truncated: false,
    })
    const file = { kind: 'dataset', namespace: 's3://lake', name: 'file' } as const
    const found = await findPaths(store, tenant, { from: first, to: file, signal })
    expect(found?.paths.map((path) => path.map(nodeName))).toEqual([
      ['dataset/main/sales.first', 'dataset/s3%3A%2F%2Flake/file'],
    ])
    const hidden: LineageNode = { ...first, name: 'hidden' }
    expect(await findPaths(store, tenant, { from: hidden, to: last, signal })).toBeUndefined()
    expect(await walk(hidden, true)).toBeUndefined()
    expect(await walk({ kind: 'dataset', namespace: 'main', name: 'sales.hidden' }, true)).toBeUndefined()
  })
})
