/** Every surface shows one principal the same columns of a table: random schemas, with masks and exempt roles. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { createTable, type SampleField, setProperties } from '../../demo/commits.ts'
import { TableStates } from '../../src/catalog/table-states.ts'
import { putContract } from '../../src/contract/put-contract.ts'
import { putMask } from '../../src/contract/put-mask.ts'
import { sessionScopes } from '../../src/core/session.ts'
import { type TableRef, tableKey } from '../../src/core/table-ref.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import { fieldsOf, tellRestrictions } from '../../src/query/restrictions/tell-restrictions.ts'
import { findCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { loadGovernance } from '../../src/store/governance/governance.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { actorOf } from '../support/actor.ts'
import { commitColumns } from '../support/governed.ts'
import { graphql } from '../support/graphql.ts'
import { licenseForAll } from '../support/license.ts'
import { connectMcp } from '../support/mcp.ts'
import { addTenant, commit, startTestService, type TestService, upstreamHeaders } from '../support/service.ts'
import { readOverWire } from '../support/wire-client.ts'

setDefaultTimeout(300_000)

const roles = ['officer', 'clerk'] as const
const principals: readonly (readonly string[])[] = [[], ['officer'], ['clerk'], ['officer', 'clerk']]

type Shape =
  | 'string'
  | 'long'
  | { readonly list: Shape }
  | { readonly map: Shape }
  | { readonly struct: readonly Shape[] }

interface Made {
  readonly columns: readonly Shape[]
  /** Of the field at this place, counted through all of them. */
  readonly masks: readonly { readonly place: number; readonly exempt: readonly string[] }[]
}

const { shape } = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    fc.constantFrom('string' as const, 'long' as const),
    fc.record({ list: tie('shape') }),
    fc.record({ map: tie('shape') }),
    fc.record({ struct: fc.array(tie('shape'), { minLength: 1, maxLength: 3 }) }),
  ),
}))
const made: fc.Arbitrary<Made> = fc.record({
  columns: fc.array(shape, { minLength: 1, maxLength: 4 }),
  masks: fc.array(fc.record({ place: fc.nat(20), exempt: fc.subarray([...roles]) }), { maxLength: 4 }),
})
const reported: Made = {
  columns: ['long', { list: 'string' }],
  masks: [{ place: 2, exempt: ['officer'] }],
}
const samples: readonly Made[] = [reported, ...fc.sample(made, { seed: 20261128, numRuns: 19 })]

/** The fields of a schema, and the full names of all of them in the order of their ids. */
function schemaOf(columns: readonly Shape[]): {
  readonly fields: readonly SampleField[]
  readonly names: readonly string[]
} {
  const names: string[] = []
  const next = (name: string) => names.push(name)
  function typeOf(of: Shape, name: string): unknown {
    if (typeof of === 'string') return of
    if ('list' in of) {
      const id = next(`${name}.element`)
      const element = typeOf(of.list, `${name}.element`)
      return { type: 'list', 'element-id': id, 'element-required': false, element }
    }
    if ('map' in of) {
      const ids = [next(`${name}.key`), next(`${name}.value`)]
      const value = typeOf(of.map, `${name}.value`)
      return {
        type: 'map',
        'key-id': ids[0],
        key: 'string',
        'value-id': ids[1],
        'value-required': false,
        value,
      }
    }
    return {
      type: 'struct',
      fields: of.struct.map((one, index) => {
        const path = `${name}.f${index}`
        return { id: next(path), name: `f${index}`, required: false, type: typeOf(one, path) }
      }),
    }
  }
  const fields = columns.map((of, index) => {
    const name = `c${index}`
    return { id: next(name), name, type: typeOf(of, name) as string }
  })
  return { fields, names }
}

let service: TestService
const tables: TableRef[] = samples.map((_, index) => ({ namespace: ['sales'], name: `t${index}` }))
const secrets: string[] = []

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  const { store, owner, catalog } = service
  const foreign = (await addTenant(store, 'foreign', catalog.url)).tenant
  const headers = await upstreamHeaders(catalog)
  for (const [index, sample] of samples.entries()) {
    const table = tables[index] as TableRef
    const { fields, names } = schemaOf(sample.columns)
    const url = `${catalog.url}/v1/dev/namespaces/sales/tables`
    const body = createTable(table.name, fields)
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(200)
    const path = `/v1/iceberg/main/namespaces/sales/tables/${table.name}`
    expect((await commit(service, setProperties({ a: 'b' }), { path })).status).toBe(200)
    await commitColumns(store, foreign, table, { c0: 'string', theirs: 'string' })
    for (const tenant of [owner.tenant, foreign]) {
      const on = { store, tenant, actor: actorOf('stella'), checkPolicies }
      await putContract(on, table, { id: table.name, version: 1 })
      if (tenant === foreign) continue
      for (const [number, { place, exempt }] of sample.masks.entries()) {
        const column = names[place % names.length] as string
        const mask = { id: `m${number}`, action: 'replace-with-null', exemptRoles: exempt } as const
        await putMask(on, { table, column }, mask)
      }
    }
  }
  for (const [index, held] of principals.entries()) {
    const principal = { sub: `service:p${index}`, roles: held }
    const session = { name: `p${index}`, principal, scopes: sessionScopes }
    secrets.push((await createServiceSession(store, owner.tenant, session)).secret)
  }
})
afterAll(() => service[Symbol.asyncDispose]())

type Seen = Readonly<Record<string, readonly string[]>>

async function asked(secret: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const response = await fetch(new URL(path, service.app.url), {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-svc-session': secret, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (response.status !== 200) throw new Error(`${path} ${JSON.stringify(body)}: ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>
}

async function ofEach(names: (table: TableRef) => Promise<readonly string[]>): Promise<Seen> {
  const seen: Record<string, readonly string[]> = {}
  for (const table of tables) seen[table.name] = await names(table)
  return seen
}

const named = (columns: unknown) => (columns as readonly { readonly name: string }[]).map(({ name }) => name)

const overSql = (secret: string) =>
  ofEach(async ({ name }) => {
    // A table may have no column that is seen, and a statement needs one.
    const statement = `SELECT *, 1 AS last FROM sales.${name}`
    const { columns } = await asked(secret, '/api/v1/query/explain', { statement, catalog: 'main' })
    return named(columns).slice(0, -1)
  })

async function overWire(index: number, text: string): Promise<Seen> {
  const login = { user: `service:p${index}`, password: secrets[index] as string, database: 'main' }
  const answers = await readOverWire({ port: service.app.pgwirePort as number, ...login }, text)
  const rows = answers.filter((answer) => answer.startsWith('D ')).map((answer) => answer.slice(2).split('|'))
  return Object.fromEntries(
    tables.map(({ name }) => [name, rows.filter(([table]) => table === name).map((row) => row[1] as string)]),
  )
}

const attributes = `select c.relname, a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid
  where c.relnamespace = 'sales'::regnamespace and c.relkind = 'r' and a.attnum > 0 order by c.relname, a.attnum`
const described = `select table_name, column_name from information_schema.columns
  where table_schema = 'sales' order by table_name, ordinal_position`

const overGraphql = (secret: string) =>
  ofEach(async ({ name }) => {
    const query = `{ table(namespace: ["sales"], name: "${name}") { columns(first: 50) { edges { node { name } } } } }`
    const { data } = await graphql(service, secret, query)
    return named(data.table.columns.edges.map(({ node }: { node: unknown }) => node))
  })

async function overMcp(secret: string): Promise<{ readonly shown: Seen; readonly masked: Seen }> {
  await using client = await connectMcp('2026', service.app.url, secret)
  const masked: Record<string, readonly string[]> = {}
  const shown = await ofEach(async ({ name }) => {
    const { structured = {} } = await client.call('describe_columns', { table: `sales.${name}` })
    const { items } = structured.columns as { readonly items: readonly { readonly mask?: string }[] }
    masked[name] = named(items.filter(({ mask }) => mask !== undefined))
    return named(items)
  })
  return { shown, masked }
}

const overRest = (secret: string) =>
  ofEach(async ({ name }) => {
    const { columns } = await asked(secret, `/api/v1/contracts/tables/sales/${name}`)
    return named(columns).filter((column) => !column.includes('.'))
  })

/** The columns that an engine which applies masks itself is told to leave as they are. */
async function openByRestrictions(held: readonly string[]): Promise<Seen> {
  const { store, owner, app } = service
  const states = new TableStates(app.gateway.catalogs, 10_000_000)
  const credential = await findCatalogCredential(store, owner.tenant, 'main')
  if (credential === undefined) throw new Error('no credential')
  return ofEach(async (table) => {
    const state = await states.load(owner.tenant, credential, table)
    const governance = await loadGovernance(store, owner.tenant, table)
    const told = tellRestrictions(governance, state, { sub: 'p', roles: held })
    if ('untold' in told) throw new Error(`${tableKey(table)} ${told.untold}`)
    return [...fieldsOf(state).values()]
      .filter(({ fieldId }) => told.projections.get(fieldId) === undefined)
      .map(({ name }) => name)
  })
}

test.each(principals.map((held, index) => [held.join(' and ') || 'no role', index, held] as const))(
  'shows who has %s the same columns everywhere',
  async (_, index, held) => {
    const secret = secrets[index] as string
    const sql = await overSql(secret)
    expect(await overWire(index, attributes)).toEqual(sql)
    expect(await overWire(index, described)).toEqual(sql)
    const { shown, masked } = await overMcp(secret)
    expect(shown).toEqual(sql)
    expect(await overGraphql(secret)).toEqual(shown)
    expect(await overRest(secret)).toEqual(shown)
    const open = Object.entries(shown).map(([table, columns]) => [
      table,
      columns.filter((column) => !masked[table]?.includes(column)),
    ])
    expect(await openByRestrictions(held)).toEqual(Object.fromEntries(open))
  },
)

test('tells who reads elements under a mask of them, and not who is exempt', async () => {
  const masks = async (index: number) => (await overMcp(secrets[index] as string)).masked.t0
  expect([await masks(0), await masks(1)]).toEqual([['c1'], []])
})
