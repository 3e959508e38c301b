/** What callers see over GraphQL, how many statements it takes, and which documents are refused. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { putContract } from '../../../src/contract/put-contract.ts'
import { putMask } from '../../../src/contract/put-mask.ts'
import { putRowFilter } from '../../../src/contract/put-row-filter.ts'
import { putTag } from '../../../src/contract/put-tag.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { graphqlBounds } from '../../../src/server/graphql/bounds.ts'
import { nodeIdOf } from '../../../src/server/graphql/node-id.ts'
import { pinTable } from '../../../src/store/contract/pins.ts'
import { receiveLineage } from '../../../src/store/lineage/events.ts'
import { actorOf } from '../../support/actor.ts'
import { seedContractVersion } from '../../support/contract-versions.ts'
import { countStatements } from '../../support/counted-store.ts'
import { commitColumns } from '../../support/governed.ts'
import { graphql } from '../../support/graphql.ts'
import { type IdentityService, session, startIdentityService } from '../../support/identity.ts'
import { licenseForAll } from '../../support/license.ts'
import { receivedEvent } from '../../support/lineage.ts'
import { addTenant, type TestTenant } from '../../support/service.ts'

setDefaultTimeout(300_000)

let service: IdentityService
let foreign: TestTenant
let reader: string
let steward: string
let stranger: string
const statements = countStatements()

const tables = ['orders', 'items', 'people', 'shops', 'parts', 'hidden']

beforeAll(async () => {
  service = await startIdentityService({ env: { SVC_LICENSE: licenseForAll() }, wrapStore: statements.wrap })
  const { store, owner } = service
  foreign = await addTenant(store, 'foreign', service.catalog.url)
  for (const { tenant } of [owner, foreign]) {
    const on = { store, tenant, actor: actorOf('stella'), checkPolicies }
    for (const name of tables) {
      const ref = { namespace: ['sales'], name }
      await commitColumns(store, tenant, ref, { id: 'long', email: 'string', region: 'string' })
      if (name === 'hidden') continue
      await putContract(on, ref, {
        id: name,
        version: 1,
        schema: { description: `The ${name}`, properties: [{ name: 'id', primaryKey: true }] },
      })
      await putTag(on, ref, 'email', 'pii', {})
      await pinTable(
        store,
        tenant,
        { table: ref, actor: actorOf('stella'), atMs: 0 },
        {
          ...{ snapshotId: 7n, schemaId: 0n, catalog: 'main' },
        },
      )
    }
    await putMask(
      on,
      { table: { namespace: ['sales'], name: 'orders' }, column: 'email' },
      {
        ...{ id: 'mask-email', action: 'mask-alphanum', exemptRoles: ['officer'] },
      },
    )
    await putRowFilter(
      on,
      { table: { namespace: ['sales'], name: 'orders' } },
      {
        ...{ id: 'east-only', expression: "region = 'east'", exemptRoles: ['officer'] },
      },
    )
    await seedContractVersion(store, tenant)
    const dataset = (name: string) => ({ namespace: 'iceberg', name: `sales.${name}` })
    const chain = tables
      .slice(1)
      .map((name, at) =>
        receivedEvent({ inputs: [dataset(tables[at] ?? '')], outputs: [dataset(name)], job: name }),
      )
    await receiveLineage(store, tenant, chain, true)
  }
  reader = await session(service, owner.tenant, ['read'])
  steward = await session(service, owner.tenant, ['read', 'admin'], ['steward'], 'stella')
  stranger = await session(service, foreign.tenant, ['read', 'admin'], ['steward', 'administrator'], 'eve')
}, 300_000)
afterAll(() => service?.[Symbol.asyncDispose]())

const page = `query Page($name: String!) {
  table(namespace: ["sales"], name: $name) {
    id namespace name description primaryKey pinnedSnapshotId
    contract { id name state documentVersion unverified }
    rowFilters { id columns expression }
    columns(first: 20) { edges { node { name type required tags { name } mask { action } } } }
    pins(first: 5) { edges { node { sequence kind snapshotId by } } }
    lineage(first: 10, hops: 2) { totalCount edges { node { label hops from { kind name } to { kind name } } } }
  }
}`

describe('a contract page', () => {
  test('tells a reader what a table means and how it is protected for this reader', async () => {
    const { data, errors } = await graphql(service, reader, page, { name: 'orders' })
    expect(errors).toEqual([])
    expect(data.table).toMatchObject({
      ...{ namespace: ['sales'], name: 'orders', description: 'The orders', primaryKey: ['id'] },
      pinnedSnapshotId: '7',
      contract: { name: 'orders', state: 'active', documentVersion: null, unverified: true },
      rowFilters: [{ id: 'east-only', columns: ['region'], expression: null }],
    })
    expect(data.table.columns.edges.map(({ node }: { node: object }) => node)).toEqual([
      { name: 'id', type: 'long', required: false, tags: [], mask: null },
      {
        ...{ name: 'email', type: 'string', required: false },
        ...{ tags: [{ name: 'pii' }], mask: { action: 'mask-alphanum' } },
      },
      { name: 'region', type: 'string', required: false, tags: [], mask: null },
    ])
    expect(data.table.pins.edges).toEqual([
      { node: { sequence: 1, kind: 'pin', snapshotId: '7', by: 'stella' } },
    ])
  })

  test('tells a steward the text of a row filter too', async () => {
    const { data } = await graphql(service, steward, page, { name: 'orders' })
    expect(data.table.rowFilters[0].expression).toBe("region = 'east'")
  })

  test('is null for a table that may not be read, as for one that is not there', async () => {
    for (const name of ['hidden', 'nothing']) {
      const { data, errors } = await graphql(service, reader, page, { name })
      expect({ name, data, errors }).toEqual({ name, data: { table: null }, errors: [] })
    }
  })

  test('goes on behind the cursor of a page', async () => {
    const list = `query List($after: String) {
      tables(first: 2, after: $after) { edges { cursor node { name } } pageInfo { hasNextPage endCursor } } }`
    const names: string[] = []
    let after: string | null = null
    do {
      const { data } = await graphql(service, reader, list, { after })
      names.push(...data.tables.edges.map(({ node }: { node: { name: string } }) => node.name))
      expect(data.tables.pageInfo.endCursor).toBe(data.tables.edges.at(-1)?.cursor)
      after = data.tables.pageInfo.hasNextPage ? data.tables.pageInfo.endCursor : null
    } while (after !== null)
    expect(names).toEqual(['items', 'orders', 'parts', 'people', 'shops'])
    const { data } = await graphql(
      service,
      reader,
      '{ tables(first: 9, query: "people") { edges { node { name } } } }',
    )
    expect(data.tables.edges).toEqual([{ node: { name: 'people' } }])
  })
})

describe('statements', () => {
  const nested = `query Nested($first: Int!) {
    tables(first: $first) { edges { node {
      name commits { mode }
      contract { name state tables(first: 5) { edges { node { name } } } versions(first: 3) { edges { node { number commits { mode } signOffs { by } } } } moves(first: 3) { edges { node { move } } } }
      columns(first: 5) { edges { node { name } } }
      pins(first: 3) { edges { node { kind } } }
      writeEvents(first: 3) { edges { node { decision table { name } } } }
      lineage(first: 5) { edges { node { to { table { name } } } } }
    } } }
  }`

  test('of a query do not grow with its rows', async () => {
    const counts: number[] = []
    for (const first of [1, 2, 5]) {
      await graphql(service, steward, nested, { first })
      statements.take()
      const { data, errors } = await graphql(service, steward, nested, { first })
      expect(errors).toEqual([])
      expect(data.tables.edges).toHaveLength(first)
      counts.push(statements.take())
    }
    expect(new Set(counts).size).toBe(1)
    expect(counts[0]).toBeLessThan(25)
  })

  test('of one level are one, however many ask for it', async () => {
    const aliases = tables
      .slice(0, 5)
      .map((name) => `${name}: table(namespace: ["sales"], name: "${name}") { name }`)
    await graphql(service, reader, `{ ${aliases[0]} }`)
    statements.take()
    await graphql(service, reader, `{ ${aliases[0]} }`)
    const one = statements.take()
    const { data } = await graphql(service, reader, `{ ${aliases.join(' ')} }`)
    expect(Object.keys(data)).toHaveLength(5)
    expect(statements.take()).toBe(one)
  })
})

describe('a node', () => {
  const node = `query Node($id: ID!) { node(id: $id) { __typename id ... on Table { name } ... on Column { name type } ... on Contract { name } } }`

  test('is found by the id that an answer gave', async () => {
    const { data } = await graphql(
      service,
      reader,
      '{ table(namespace: ["sales"], name: "orders") { id contract { id } columns(first: 1) { edges { node { id } } } } }',
    )
    const ids = [data.table.id, data.table.contract.id, data.table.columns.edges[0].node.id]
    const found = await Promise.all(ids.map((id) => graphql(service, reader, node, { id })))
    expect(found.map((one) => one.data.node)).toEqual([
      { __typename: 'Table', id: ids[0], name: 'orders' },
      { __typename: 'Contract', id: ids[1], name: 'orders' },
      { __typename: 'Column', id: ids[2], name: 'id', type: 'long' },
    ])
  })

  test('of another tenant answers like an unknown one', async () => {
    const secretRef = { namespace: ['private'], name: 'foreign_only' }
    const on = {
      store: service.store,
      tenant: foreign.tenant,
      actor: actorOf('eve'),
      checkPolicies,
    }
    await commitColumns(service.store, foreign.tenant, secretRef, { id: 'long' })
    await putContract(on, secretRef, { id: 'foreign-contract', version: 1 })
    const [theirs] = (await graphql(service, stranger, '{ writeEvents(first: 1) { edges { node { id } } } }'))
      .data.writeEvents.edges
    const ids = [
      nodeIdOf('Table', 'private', 'foreign_only'),
      nodeIdOf('Column', 'private', 'foreign_only', 'id'),
      nodeIdOf('Contract', 'foreign-contract'),
      nodeIdOf('ContractVersion', 'foreign-contract', 1),
      nodeIdOf('Policy', 'none'),
      theirs.node.id,
    ]
    const unknown = [
      nodeIdOf('Table', 'private', 'unknown'),
      nodeIdOf('WriteEvent', crypto.randomUUID()),
      nodeIdOf('Contract', ''),
      'not an id',
      Buffer.from('Table:[1').toString('base64url'),
      Buffer.from('Secret:["a"]').toString('base64url'),
    ]
    for (const secret of [reader, steward])
      for (const id of [...ids, ...unknown]) {
        const { data, errors, status } = await graphql(service, secret, node, { id })
        expect({ id, data, errors, status }).toEqual({ id, data: { node: null }, errors: [], status: 200 })
      }
    // The ids are right: their own tenant finds what they name.
    const { data } = await graphql(service, stranger, node, { id: ids[0] })
    expect(data.node.name).toBe('foreign_only')
  })
})

describe('rights', () => {
  test.each([
    ['versions', '{ contract(name: "orders") { versions(first: 1) { edges { node { number } } } } }'],
    ['moves', '{ contract(name: "orders") { moves(first: 1) { edges { node { move } } } } }'],
    ['writeEvents', '{ writeEvents(first: 1) { edges { node { reason } } } }'],
    ['policies', '{ policies(first: 1) { edges { node { definitionCel } } } }'],
    ['contracts', '{ contracts(first: 1) { edges { node { name } } } }'],
  ])('a reader may not see %s, which a steward sees', async (_, query) => {
    const refused = await graphql(service, reader, query)
    expect(refused.errors.map(({ extensions }) => extensions?.code)).toEqual(['FORBIDDEN'])
    expect((await graphql(service, steward, query)).errors).toEqual([])
  })

  test('without a session, a scope or a license nothing is served, introspection included', async () => {
    const introspection = '{ __schema { types { name } } }'
    const none = await graphql(service, undefined, introspection)
    expect([none.status, none.data]).toEqual([401, undefined])
    const commit = await session(service, service.owner.tenant, ['commit'])
    expect((await graphql(service, commit, introspection)).status).toBe(403)
    expect((await graphql(service, reader, introspection)).data.__schema.types.length).toBeGreaterThan(20)
  })

  test('takes POST with JSON only, so that another site cannot send one', async () => {
    const url = new URL('/graphql', service.app.url)
    const headers = { 'x-svc-session': reader }
    const get = await fetch(`${url}?query={tables(first:1){edges{node{name}}}}`, { headers })
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST'])
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/graphql']) {
      const body = JSON.stringify({ query: '{ __typename }' })
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': type },
        body,
      })
      expect({ type, status: response.status }).toEqual({ type, status: 400 })
    }
    const batch = JSON.stringify([{ query: '{ __typename }' }, { query: '{ __typename }' }])
    const json = { ...headers, 'content-type': 'application/json' }
    expect((await fetch(url, { method: 'POST', headers: json, body: batch })).status).toBe(400)
    const large = JSON.stringify({
      query: '{ __typename }',
      operationName: 'x'.repeat(graphqlBounds.bodyBytesMax),
    })
    expect((await fetch(url, { method: 'POST', headers: json, body: large })).status).toBe(413)
  })
})

describe('a bound', () => {
  const refusal = async (query: string, variables: object = {}) => {
    const { data, errors } = await graphql(service, reader, query, variables)
    expect(data ?? null).toBeNull()
    return errors.map(({ message }) => message).join('\n')
  }
  const table = (inner: string) => `table(namespace: ["sales"], name: "orders") { ${inner} }`

  test('on depth names itself (graphql-armor)', async () => {
    let inner = 'name'
    for (let depth = 0; depth < 7; depth += 1)
      inner = `contract { tables(first: 1) { edges { node { ${inner} } } } }`
    expect(await refusal(`{ ${table(inner)} }`)).toContain('depth limit of 12')
  })

  test('on aliases names itself (graphql-armor)', async () => {
    const aliases = Array.from({ length: 16 }, (_, n) => `a${n}: tables(first: 1) { totalCount }`)
    expect(await refusal(`{ ${aliases.join(' ')} }`)).toContain('Aliases limit of 15')
  })

  test('on tokens names itself (graphql-armor)', async () => {
    expect(await refusal(`{ ${'__typename '.repeat(2_100)} }`)).toContain('Token limit of 2000')
  })

  test('on objects costs the same with a literal and with a variable', async () => {
    const query = (first: string) =>
      `{ tables(first: ${first}) { edges { node { columns(first: ${first}) { edges { node { name } } } } } } }`
    const literal = await refusal(query('100'))
    expect(literal).toMatch(/may give \d+ objects; at most 5000/)
    expect(await refusal(`query Q($n: Int!) ${query('$n')}`, { n: 100 })).toBe(literal)
    expect((await graphql(service, reader, query('20'))).errors).toEqual([])
  })

  test('has a code of its own, and is no error of syntax', async () => {
    const aliases = Array.from({ length: 16 }, (_, n) => `a${n}: tables(first: 1) { totalCount }`).join(' ')
    let deep = 'name'
    for (let depth = 0; depth < 7; depth += 1)
      deep = `contract { tables(first: 1) { edges { node { ${deep} } } } }`
    const wide = 'tables(first: 100) { edges { node { columns(first: 100) { edges { node { name } } } } } }'
    for (const [inner, code] of [
      [aliases, 'ALIASES_LIMIT'],
      [table(deep), 'DEPTH_LIMIT'],
      ['__typename '.repeat(2_100), 'TOKENS_LIMIT'],
      [wide, 'COST_LIMIT'],
    ] as const) {
      const { errors } = await graphql(service, reader, `{ ${inner} }`)
      expect(errors.map(({ extensions }) => extensions?.code)).toEqual([code])
      expect(errors[0]?.message).not.toContain('Syntax Error')
    }
    const [syntax] = (await graphql(service, reader, '{ tables( }')).errors
    expect(syntax?.message).toContain('Syntax Error')
  })

  test.each(['!!!', 'b3JkZXJz=', 'bm8gY3Vyc29y!', '', 'A'])(
    'on what is no cursor of ours: %p',
    async (after) => {
      for (const list of ['tables', 'policies']) {
        const query = `query Q($after: String) { ${list}(first: 1, after: $after) { totalCount } }`
        const { errors } = await graphql(service, steward, query, { after })
        expect(errors.map(({ extensions }) => extensions?.code)).toEqual(['BAD_USER_INPUT'])
      }
      const { errors } = await graphql(
        service,
        reader,
        `query Q($after: String) { ${table('columns(first: 1, after: $after) { totalCount }')} }`,
        { after },
      )
      expect(errors.map(({ extensions }) => extensions?.code)).toEqual(['BAD_USER_INPUT'])
    },
  )

  test('a page tells where it begins and ends, and whether there is more on either side', async () => {
    const info = 'pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor }'
    const query = `query Q($after: String) { ${table(`columns(first: 1, after: $after) { ${info} }`)} }`
    const page = async (after?: string) =>
      (await graphql(service, reader, query, { after })).data.table.columns
    const one = await page()
    const own = (edges: readonly { readonly cursor: string }[]) => ({
      startCursor: edges[0]?.cursor,
      endCursor: edges.at(-1)?.cursor,
    })
    expect(one.pageInfo).toEqual({ hasNextPage: true, hasPreviousPage: false, ...own(one.edges) })
    const two = await page(one.pageInfo.endCursor)
    expect(two.pageInfo).toMatchObject({ hasPreviousPage: true, ...own(two.edges) })
    expect(two.edges[0]?.cursor).not.toBe(one.edges[0]?.cursor)
  })

  test('on objects counts pages whose size is a variable, through fragments (our counter)', async () => {
    const query = `query Q($n: Int!) { tables(first: $n) { edges { node { ...T } } } }
      fragment T on Table { columns(first: $n) { edges { node { name } } } }`
    expect(await refusal(query, { n: 100 })).toMatch(/may give \d+ objects; at most 5000/)
    expect((await graphql(service, reader, query, { n: 5 })).errors).toEqual([])
  })

  test('on hops adds up along a path (our counter)', async () => {
    const lineage = (hops: number, inner: string) =>
      `lineage(first: 1, hops: ${hops}) { edges { node { to { table { ${inner} } } } } }`
    expect(await refusal(`{ ${table(lineage(3, lineage(3, 'name')))} }`)).toContain('adds up to 6 hops')
    expect(await refusal(`{ ${table(lineage(6, 'name'))} }`)).toContain('adds up to 6 hops')
    // Without a number, each level has the default of 3.
    const bare = 'lineage(first: 1) { edges { node { to { table { lineage(first: 1) { totalCount } } } } } }'
    expect(await refusal(`{ ${table(bare)} }`)).toContain('adds up to 6 hops')
    expect((await graphql(service, reader, `{ ${table(lineage(3, lineage(2, 'name')))} }`)).errors).toEqual(
      [],
    )
  })

  test('on a page names itself and the value', async () => {
    for (const first of [0, 101, -1]) {
      const { errors } = await graphql(
        service,
        reader,
        `query Q($n: Int!) { tables(first: $n) { totalCount } }`,
        { n: first },
      )
      expect(errors[0]).toMatchObject({
        message: `\`first\` is ${first}; it must be from 1 to 100.`,
        extensions: { code: 'BAD_USER_INPUT' },
      })
    }
    expect(await refusal('{ tables { totalCount } }')).toContain('"first"')
  })

  test('tells no name of a field to who guesses', async () => {
    expect(await refusal('{ tabel(namespace: [], name: "") { id } }')).not.toContain('Did you mean')
  })
})

test('an error of the store tells its sentence and nothing of the store', async () => {
  const { errors, text } = await graphql(
    service,
    reader,
    'query Q($after: String) { tables(first: 1, after: $after) { totalCount } }',
    {
      after: Buffer.from('\u0000').toString('base64url'),
    },
  )
  expect(errors.length).toBeLessThan(2)
  for (const word of ['select', 'svc.', 'at ', 'stack']) expect(text).not.toContain(word)
})
