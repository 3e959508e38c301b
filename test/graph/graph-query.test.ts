/** Graph queries over a governed tenant: what readers and stewards see, procedures and bounds, with a foreign tenant. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Fault } from '../../src/base/fault.ts'
import type { ChangeContext } from '../../src/contract/change.ts'
import { putContract } from '../../src/contract/put-contract.ts'
import { putMask } from '../../src/contract/put-mask.ts'
import { putRowFilter } from '../../src/contract/put-row-filter.ts'
import { putTag } from '../../src/contract/put-tag.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { type GraphAnswer, runGraphQuery } from '../../src/graph/run-query.ts'
import { ends, labels, types } from '../../src/graph/schema.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import { pinTable, unpinTable } from '../../src/store/contract/pins.ts'
import { edgeLabels, vertexLabels } from '../../src/store/database/names.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { actorOf } from '../support/actor.ts'
import { commitColumns } from '../support/governed.ts'
import { openTestStore, type TestStore } from '../support/store.ts'
import { removeGraph, type StoredEdge, type StoredNode, writeGraph } from './random-graph.ts'

setDefaultTimeout(300_000)

const orders = { namespace: ['sales', 'eu'], name: 'orders' }
const hidden = { namespace: ['sales', 'hr'], name: 'hidden_canary' }
let store: TestStore
let home: TenantId
let on: ChangeContext

beforeAll(async () => {
  store = await openTestStore()
  home = (await createTenant(store, { name: 'home' })).id
  const foreign = (await createTenant(store, { name: 'foreign' })).id
  on = { store, tenant: home, actor: actorOf('stella'), checkPolicies }
  const theirs = { ...on, tenant: foreign }
  await commitColumns(store, foreign, orders, { theirs_canary: 'string' })
  await putContract(theirs, orders, { id: 'theirs_canary', version: 1 })
  await putTag(theirs, orders, 'theirs_canary', 'theirs_canary')
  await commitColumns(store, home, orders, { id: 'long', email: 'string', region: 'string' })
  await commitColumns(store, home, hidden, { salary_canary: 'long' })
  await putContract(on, orders, { id: 'orders', version: 3 })
  await putTag(on, orders, 'email', 'pii')
  await putTag(on, hidden, 'salary_canary', 'pii')
  await putTag(on, hidden, 'salary_canary', 'only_canary')
  await putMask(on, { table: orders, column: 'email' }, { id: 'm', action: 'mask-alphanum', exemptRoles: [] })
  await putRowFilter(on, { table: orders }, { id: 'f', expression: "region = 'canary'", exemptRoles: [] })
})
afterAll(() => store[Symbol.asyncDispose]())

const ask = (
  query: string,
  parameters: Readonly<Record<string, unknown>> = {},
  roles: readonly string[] = [],
  limit = 100,
): Promise<GraphAnswer> => runGraphQuery(store, home, { query, parameters, limit }, { sub: 'rita', roles })

const rows = async (...args: Parameters<typeof ask>) => (await ask(...args)).rows
const asSteward = (query: string) => rows(query, {}, ['steward'])

async function refusal(...args: Parameters<typeof ask>): Promise<string> {
  try {
    await ask(...args)
  } catch (thrown) {
    if (thrown instanceof Fault) return `${thrown.kind} ${thrown.publicMessage}`
    throw thrown
  }
  return 'answered'
}

describe('a reader', () => {
  test('sees tables that may be read, and what belongs to them', async () => {
    expect(await rows('MATCH (t:Table) RETURN t.namespace, t.name')).toEqual([['sales.eu', 'orders']])
    expect(await rows('MATCH (t:Table)-[:HAS_COLUMN]->(c:Column) RETURN c.name ORDER BY c.field_id')).toEqual(
      [['id'], ['email'], ['region']],
    )
    expect(await rows('MATCH (k:Contract)-[:GOVERNS]->(t:Table) RETURN k.id, k.version, t.name')).toEqual([
      ['orders', 3, 'orders'],
    ])
    expect(await rows('MATCH (n:Namespace) RETURN n.name ORDER BY n.name')).toEqual([['eu'], ['sales']])
    expect(await rows('MATCH (g:Tag) RETURN g.name')).toEqual([['pii']])
    expect(await rows('MATCH (s:Snapshot) RETURN count(*)')).toEqual([[1]])
  })

  test('finds nothing of a table that may not be read, nor of another tenant, by any label', async () => {
    for (const label of vertexLabels.filter((one) => labels[one].audience === 'reader')) {
      const found = JSON.stringify(await rows(`MATCH (n:${label}) RETURN n`))
      expect([label, found.includes('canary')]).toEqual([label, false])
    }
    for (const type of edgeLabels.filter((one) => types[one].audience === 'reader'))
      for (const [from, to] of ends[type]) {
        const found = JSON.stringify(await rows(`MATCH p = (:${from})-[:${type}]->(:${to}) RETURN p`))
        expect([type, found.includes('canary')]).toEqual([type, false])
      }
  })

  test('counts no hidden column of a tag', async () => {
    expect(await rows('MATCH (c:Column)-[:TAGGED]->(g:Tag {name: "pii"}) RETURN count(c)')).toEqual([[1]])
    expect(await rows('CALL covenant.columns_tagged("only_canary") YIELD column RETURN count(*)')).toEqual([
      [0],
    ])
  })

  test('may not name what is for stewards, whether it exists or not', async () => {
    for (const label of vertexLabels.filter((one) => labels[one].audience === 'steward'))
      expect(await refusal(`MATCH (n:${label}) RETURN n`)).toBe(
        `bad_request Graph query: the label ${label} is for stewards.`,
      )
    for (const type of edgeLabels.filter((one) => types[one].audience === 'steward'))
      expect(await refusal(`MATCH (:Table)-[e:${type}]-(:Table) RETURN e`)).toBe(
        `bad_request Graph query: the type ${type} is for stewards.`,
      )
    expect(await refusal('MATCH (s:Snapshot) RETURN s.metadata_location')).toContain('is for stewards')
    expect(await refusal('MATCH (p:PinEvent) WHERE p.by = "x" RETURN p')).toContain('is for stewards')
  })

  test('sees the columns of the schema to which a table is pinned', async () => {
    const columns = [{ fieldId: 1, name: 'id', type: 'long', required: false, nestedIds: [] }] as const
    const change = { table: orders, actor: on.actor, atMs: 1_700_000_000_000 }
    const pin = { snapshotId: 1n, schemaId: 0n, catalog: 'main', columns }
    await pinTable(store, home, change, pin)
    const names = () => rows('MATCH (:Table)-[:HAS_COLUMN]->(c:Column) RETURN c.name')
    expect(await names()).toEqual([['id']])
    expect(await rows('MATCH (e:PinEvent)-[:PINS]->(t:Table) RETURN e.kind, t.name')).toEqual([
      ['pin', 'orders'],
    ])
    await unpinTable(store, home, change)
    expect(await names()).toHaveLength(3)
  })
})

describe('a steward', () => {
  test('sees filters, masks and who committed, of tables that may be read', async () => {
    expect(await asSteward('MATCH (f:RowFilter)-[:FILTERS]->(t:Table) RETURN f.expression, t.name')).toEqual([
      ["region = 'canary'", 'orders'],
    ])
    expect(await asSteward('MATCH (m:ColumnMask)-[:MASKS]->(c:Column) RETURN m.action, c.name')).toEqual([
      ['mask-alphanum', 'email'],
    ])
    expect(
      await asSteward('MATCH (p:Principal)-[w:INTENDED_WRITE]->(t:Table) RETURN w.decision, t.name'),
    ).toEqual([['APPROVED', 'orders']])
  })

  test('finds no more tables than may be read', async () => {
    for (const label of vertexLabels) {
      const found = JSON.stringify(await asSteward(`MATCH (n:${label}) RETURN n`))
      expect([label, found.replace("region = 'canary'", '').includes('canary')]).toEqual([label, false])
    }
  })
})

describe('a name that is not there is refused', () => {
  test.each([
    ['MATCH (t:Tables) RETURN t', 'there is no such label; there are Contract'],
    ['MATCH (t:TAGGED) RETURN t', 'there is no such label'],
    ['MATCH (t:Table)-[:Column]->(c:Column) RETURN t', 'there is no such type'],
    ['MATCH (t:Table) RETURN t.tenant_id', 'Table has no such property; it has namespace, name'],
    ['MATCH (t:Table) RETURN t.constructor', 'Table has no such property'],
    ['MATCH (t:Table {__proto__: 1}) RETURN t', 'Table has no such property'],
    ['MATCH (t:__proto__) RETURN t', 'there is no such label'],
    ['MATCH (t:Table) RETURN x', 'a name is not known here'],
    ['MATCH (t:Table) WHERE x.name = 1 RETURN t', 'a name is not known here'],
    ['MATCH (t:Table) WITH t.name AS n RETURN t', 'a name is not known here'],
    ['MATCH (t:Table) RETURN $none AS x', 'a parameter of the text was not given'],
    ['MATCH (t) RETURN t', 'each node has a label'],
    ['MATCH (t:Table), (t:Column) RETURN t', 'a node has one label'],
    ['MATCH (t:Table)-[t:HAS_COLUMN]->(c:Column) RETURN c', 'a name stands for one node, edge or path'],
  ])('%p', async (query, message) => {
    expect(await refusal(query)).toContain(message)
  })
})

describe('values of different types are refused before anything runs', () => {
  test.each([
    'MATCH (t:Table) WHERE t.name = 1 RETURN t',
    'MATCH (t:Table) WHERE t.name RETURN t',
    'MATCH (t:Table) WHERE t = "orders" RETURN t',
    'MATCH (t:Table) WHERE t.name > true RETURN t',
    'MATCH (t:Table) WHERE t.name IN [1, 2] RETURN t',
    'MATCH (t:Table) WHERE t.name IN ["a", 2] RETURN t',
    'MATCH (t:Table) RETURN sum(t.name)',
    'MATCH (t:Table) RETURN t ORDER BY t',
    'MATCH (t:Table) RETURN size(t) AS s',
    'MATCH (t:Table) RETURN collect(count(*)) AS s',
    'MATCH (t:Table) RETURN size(collect(t)) AS s',
    'MATCH (t:Table) RETURN t LIMIT -1',
    'MATCH (t:Table) RETURN t SKIP 1.5',
  ])('%p', async (query) => {
    expect(await refusal(query)).toStartWith('bad_request Graph query: ')
  })

  test.each([
    [{ x: {} }],
    [{ x: [[1]] }],
    [{ x: [1, 'a'] }],
    [{ x: [null] }],
    [{ x: 1e300 }],
    [{ x: 'x'.repeat(5_000) }],
    [{ x: Array.from({ length: 101 }, () => 1) }],
    [Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`p${index}`, 1]))],
  ])('parameters %j', async (parameters) => {
    expect(await refusal('MATCH (t:Table) RETURN t', parameters)).toStartWith('bad_request Graph query: ')
  })
})

describe('a bound', () => {
  const walk = (...hops: readonly number[]) =>
    `MATCH (a0:Dataset)${hops.map((count, index) => `-[:LINEAGE_OF*1..${count}]->(a${index + 1}:Dataset)`).join('')} RETURN count(*)`

  test('of five hops is of the whole query, whatever its clauses', async () => {
    expect(await refusal(walk(5))).toBe('answered')
    expect(await refusal(walk(3, 2))).toBe('answered')
    for (const query of [
      walk(3, 3),
      walk(1, 1, 1, 1, 1, 1),
      'MATCH (a:Dataset)-[:LINEAGE_OF*3]->(b:Dataset) MATCH (b)-[:LINEAGE_OF*3]->(c:Dataset) RETURN c',
      'MATCH (a:Dataset)-[:LINEAGE_OF*5]->(b:Dataset) WITH b OPTIONAL MATCH (b)-[:LINEAGE_OF]->(c:Dataset) RETURN c',
      'MATCH (a:Dataset)-[:LINEAGE_OF*5]->(b:Dataset) CALL covenant.neighbours(b) YIELD node RETURN node',
      'MATCH (a:Dataset)-[:LINEAGE_OF]->(b:Dataset) CALL covenant.path(a, b, 5) YIELD path RETURN path',
    ])
      expect(await refusal(query)).toBe('bad_request Graph query: a query has at most 5 hops in sum.')
  })

  test('of six nodes is of the whole query', async () => {
    const nodes = (count: number) => Array.from({ length: count }, () => '(:Table)').join(', ')
    expect(await refusal(`MATCH ${nodes(6)} RETURN count(*)`)).toBe('answered')
    expect(await refusal(`MATCH ${nodes(7)} RETURN count(*)`)).toContain('at most 6 nodes')
  })

  test('of rows refuses, and nothing is cut short', async () => {
    const node = (label: StoredNode['label'], id: string, properties = {}): StoredNode => ({
      id,
      label,
      properties,
    })
    const hubs = Array.from({ length: 120 }, (_, index) =>
      node('Dataset', `d${index}`, { namespace: 'x', name: `d${index}` }),
    )
    const edges = hubs.flatMap((from, at) =>
      hubs
        .filter((_, to) => to !== at)
        .map(
          (to, index): StoredEdge => ({
            id: `${from.id} ${index}`,
            type: 'LINEAGE_OF',
            from,
            to,
            properties: {},
          }),
        ),
    )
    await writeGraph(store, home, { nodes: hubs, edges })
    const exceeded = 'unprocessable The query visits more than 10000 rows'
    expect(await refusal('MATCH (a:Dataset)-[:LINEAGE_OF*1..5]->(b:Dataset) RETURN count(*)')).toStartWith(
      exceeded,
    )
    expect(
      await refusal('MATCH (a:Dataset {name: "d0"})-[:LINEAGE_OF*1..5]->(b:Dataset) RETURN b LIMIT 1'),
    ).toStartWith(exceeded)
    expect(await refusal('MATCH (a:Dataset), (b:Dataset) RETURN count(*)')).toStartWith(exceeded)
    expect(await refusal('MATCH (a:Dataset) RETURN collect(a.name)')).toStartWith(exceeded)
    expect(await rows('MATCH (a:Dataset {name: "d0"})-[:LINEAGE_OF]->(b:Dataset) RETURN count(*)')).toEqual([
      [119],
    ])
    const some = await ask('MATCH (a:Dataset) RETURN a.name ORDER BY a.name', {}, [], 5)
    expect([some.rows.length, some.truncated]).toEqual([5, true])
    await removeGraph(store, home)
  })

  test('of bytes refuses a long answer', async () => {
    const long = 'x'.repeat(200)
    const nodes = Array.from(
      { length: 2_000 },
      (_, index): StoredNode => ({
        id: `j${index}`,
        label: 'Dataset',
        properties: { namespace: long, name: long },
      }),
    )
    await writeGraph(store, home, { nodes, edges: [] })
    expect(await refusal('MATCH (d:Dataset) RETURN d', {}, [], 10_000)).toBe(
      'unprocessable The answer is too long. Return fewer columns or rows.',
    )
    await removeGraph(store, home)
  })
})

describe('a procedure', () => {
  test('covenant.neighbours gives what is joined to a node, and how', async () => {
    const query = `MATCH (t:Table {name: $name}) CALL covenant.neighbours(t) YIELD node, type, direction
      RETURN type, direction, labels(node) AS labels, count(*) AS n ORDER BY type, direction`
    expect(await rows(query, { name: 'orders' })).toEqual([
      ['GOVERNS', 'in', ['Contract'], 1],
      ['HAS_COLUMN', 'out', ['Column'], 3],
      ['IN_NAMESPACE', 'out', ['Namespace'], 1],
      ['PINS', 'in', ['PinEvent'], 2],
    ])
    expect(await rows(query, { name: 'hidden_canary' })).toEqual([])
  })

  test('covenant.path gives the shortest paths between two datasets, past none that is hidden', async () => {
    const dataset = (name: string, more = {}): StoredNode => ({
      id: name,
      label: 'Dataset',
      properties: { namespace: 'x', name, ...more },
    })
    const [a, b, c, d, e] = [
      dataset('a'),
      dataset('b'),
      dataset('c'),
      dataset('d'),
      dataset('e', { table_id: 'nowhere' }),
    ]
    const pairs = [
      [a, b],
      [b, c],
      [c, d],
      [b, d],
      [a, e],
      [e, d],
    ] as const
    const edges = pairs.map(
      ([from, to], index): StoredEdge => ({ id: `p${index}`, type: 'LINEAGE_OF', from, to, properties: {} }),
    )
    await writeGraph(store, home, { nodes: [a, b, c, d, e], edges })
    const query = `MATCH (x:Dataset {name: "a"}) MATCH (y:Dataset {name: "d"})
      CALL covenant.path(x, y, 4) YIELD path RETURN path, length(path) AS n ORDER BY n`
    const found = await rows(query)
    const names = found.map(([path]) =>
      (path as { nodes: readonly { properties: { name: string } }[] }).nodes.map(
        ({ properties }) => properties.name,
      ),
    )
    expect(names).toEqual([
      ['a', 'b', 'd'],
      ['a', 'b', 'c', 'd'],
    ])
    await removeGraph(store, home)
  })

  test.each([
    ['CALL covenant.neighbours("x") YIELD node RETURN node', 'takes a node that MATCH has found'],
    ['CALL covenant.columns_tagged() YIELD table RETURN table', 'takes the name of a tag'],
    ['CALL covenant.columns_tagged("x") YIELD tag RETURN tag', 'yields table, column'],
    ['MATCH (t:Table) CALL covenant.path(t, t) YIELD path RETURN path', 'takes two Datasets'],
    ['MATCH (d:Dataset) CALL covenant.path(d, d, 6) YIELD path RETURN path', 'takes 1 to 5 hops'],
    [
      'MATCH (t:Table) CALL covenant.neighbours(t) YIELD node RETURN node.name',
      'the label of this node is not known',
    ],
  ])('is refused wrong arguments: %p', async (query, message) => {
    expect(await refusal(query)).toContain(message)
  })
})

test('an answer holds no identity of the store', async () => {
  const query =
    'MATCH p = (t:Table)-[e:HAS_COLUMN]->(c:Column) RETURN p, t, e, c, collect(c) AS cs, nodes(p) AS ns'
  expect(JSON.stringify(await ask(query))).not.toContain('#')
})

test('a graph that cannot be seen is an error, and no empty answer', async () => {
  const gone = (await createTenant(store, { name: 'gone' })).id
  await store.ownerTransaction(gone, async (tx) => {
    const isSentinel = `agtype_access_operator(variadic array[properties, '"id"'::agtype]) = '""'::agtype`
    await tx.query(`delete from "GOVERNS" where ${isSentinel}`)
  })
  const answer = await runGraphQuery(
    store,
    gone,
    { query: 'MATCH (t:Table) RETURN t', limit: 1 },
    { sub: 'rita', roles: [] },
  ).catch((fault: unknown) => fault)
  expect(answer).toMatchObject({ kind: 'unavailable' })
})
