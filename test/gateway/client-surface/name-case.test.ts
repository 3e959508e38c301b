/**
 * Catalogs that fold names: every spelling of a name is one table, view or namespace for every operation of both
 * surfaces. The spellings are random; their seed is printed.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { UnsecuredJWT } from 'jose'
import {
  appendSnapshot,
  createTable,
  firstSnapshotId,
  orderFields,
  removeSnapshots,
  replaceSchema,
  setProperties,
} from '../../../demo/commits.ts'
import { putContract } from '../../../src/contract/put-contract.ts'
import { putMask } from '../../../src/contract/put-mask.ts'
import type { TableRef } from '../../../src/core/table-ref.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import {
  findCatalogCredential,
  rotateCatalogCredential,
} from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { fileSight } from '../../../src/store/governance/protections.ts'
import { deletePolicy } from '../../../src/store/policy/policies.ts'
import { listTerritory } from '../../../src/store/territory/list-territory.ts'
import { actorOf } from '../../support/actor.ts'
import { generator } from '../../support/generator.ts'
import { commitColumns } from '../../support/governed.ts'
import {
  addTenant,
  audit,
  prefix,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../support/service.ts'
import { govern, type SendOptions, send } from '../../support/surface.ts'

setDefaultTimeout(300_000)

const seed = 1_900
console.log(`spellings are made from the seed ${seed}`)
const random = generator(seed)
/** The name with some letters in upper case, one at least. */
function spelled(name: string): string {
  const other = [...name].map((letter) => (random() < 0.5 ? letter.toUpperCase() : letter)).join('')
  return other === name ? name.toUpperCase() : other
}

let service: TestService
let foreign: TestTenant
beforeAll(async () => {
  service = await startTestService({ foldsNames: true })
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
})
afterAll(() => service[Symbol.asyncDispose]())

let counter = 1_899
/** A name in sales that nobody has used. */
const fresh = (): TableRef => ({ namespace: ['sales'], name: `cf${++counter}` })
const keepId = 'manifest.has_column(commit.result, "id")'
const withoutId = replaceSchema(orderFields.slice(1))

/** Makes a table with a snapshot, that a schema, a write and a retention policy govern. */
async function governed(): Promise<TableRef> {
  const table = fresh()
  expect((await send(service, 'POST', '/namespaces/sales/tables', createTable(table.name))).status).toBe(200)
  const first = { snapshotId: firstSnapshotId, sequenceNumber: 1, timestampMs: Date.now() }
  expect((await send(service, 'POST', pathOf(table), appendSnapshot(first))).status).toBe(200)
  await govern(service, table, `id-${table.name}`, 'schema', keepId)
  await govern(service, table, `acl-${table.name}`, 'write_acl', 'principal.role(principal, "steward")')
  await govern(service, table, `keep-${table.name}`, 'retention', 'false')
  return table
}
const pathOf = ({ namespace, name }: TableRef) => `/namespaces/${namespace.join('%1F')}/tables/${name}`
const other = ({ namespace, name }: TableRef): TableRef => ({
  namespace: namespace.map((level) => (random() < 0.5 ? spelled(level) : level)),
  name: spelled(name),
})

/** Sends a commit to the literal path. */
async function literal({ namespace, name }: TableRef, body: unknown): Promise<Response> {
  const path = `/v1/iceberg/${prefix}/namespaces/${namespace[0]}/tables/${name}`
  return await fetch(new URL(path, service.app.url), {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: {
      'content-type': 'application/json',
      'x-svc-session': service.owner.secret,
      authorization: `Bearer ${new UnsecuredJWT({ sub: 'spark', roles: [] }).encode()}`,
    },
  })
}

/** The answer without what differs from request to request. */
async function told(response: Response): Promise<readonly [number, string]> {
  return [response.status, (await response.text()).replace(/proposal [0-9a-f-]+/g, 'proposal')]
}

/** What each operation answers about a table, given how the table is spelled. All of them are refused or change nothing. */
type Ask = (table: TableRef) => Promise<Response>
const loads: Readonly<Record<string, Ask>> = {
  loadTable: (table) => send(service, 'GET', pathOf(table)),
  'loadTable with refs': (table) => send(service, 'GET', `${pathOf(table)}?snapshots=refs`),
  tableExists: (table) => send(service, 'HEAD', pathOf(table)),
  loadCredentials: (table) => send(service, 'GET', `${pathOf(table)}/credentials`),
  planTableScan: (table) => send(service, 'POST', `${pathOf(table)}/plan`, {}),
  reportMetrics: (table) => send(service, 'POST', `${pathOf(table)}/metrics`, {}),
}
const refused: Readonly<Record<string, Ask>> = {
  'a schema without the column': (table) => send(service, 'POST', pathOf(table), withoutId),
  'a schema without the column, on the literal path': (table) => literal(table, withoutId),
  expiry: (table) => send(service, 'POST', pathOf(table), removeSnapshots([firstSnapshotId])),
  'expiry on the literal path': (table) => literal(table, removeSnapshots([firstSnapshotId])),
  'a property': (table) => send(service, 'POST', pathOf(table), setProperties({ owner: 'x' })),
  'a commit that names the table': (table) =>
    send(service, 'POST', pathOf(table), { identifier: other(table), ...JSON.parse(withoutId) }),
  drop: (table) => send(service, 'DELETE', pathOf(table)),
  purge: (table) => send(service, 'DELETE', `${pathOf(table)}?purgeRequested=true`),
  rename: (table) =>
    send(service, 'POST', '/tables/rename', {
      source: table,
      destination: { namespace: ['sales'], name: 'renamed' },
    }),
  'rename to the name': (table) =>
    send(service, 'POST', '/tables/rename', {
      source: { namespace: ['sales'], name: 'orders' },
      destination: table,
    }),
  create: ({ namespace, name }) =>
    send(service, 'POST', `/namespaces/${namespace[0]}/tables`, createTable(name)),
  'staged creation': ({ namespace, name }) =>
    send(
      service,
      'POST',
      `/namespaces/${namespace[0]}/tables`,
      createTable(name).replace('{', '{"stage-create":true,'),
    ),
  register: ({ namespace, name }) =>
    send(service, 'POST', `/namespaces/${namespace[0]}/register`, { name, 'metadata-location': 'file:///x' }),
  'a transaction': ({ namespace, name }) =>
    send(service, 'POST', '/transactions/commit', {
      'table-changes': [{ identifier: { namespace, name }, ...JSON.parse(withoutId) }],
    }),
}

describe('a catalog that folds names', () => {
  test('is found out by the first name with capitals, and not asked again', async () => {
    const caseOf = async () =>
      (await findCatalogCredential(service.store, foreign.tenant, prefix))?.config[
        'case_sensitive_names.found'
      ]
    expect(await caseOf()).toBeUndefined()
    const asForeign: SendOptions = { tenant: foreign }
    expect(
      (await send(service, 'HEAD', '/namespaces/sales/tables/orders', undefined, asForeign)).status,
    ).toBe(204)
    expect(await caseOf()).toBeUndefined()
    expect(
      (await send(service, 'HEAD', '/namespaces/sales/tables/Orders', undefined, asForeign)).status,
    ).toBe(204)
    expect(await caseOf()).toBe(false)
    const before = service.catalog.faults.counts.read
    expect(
      (await send(service, 'HEAD', '/namespaces/sales/tables/oRDERS', undefined, asForeign)).status,
    ).toBe(204)
    expect(service.catalog.faults.counts.read).toBe(before)
  })

  for (const [operation, ask] of Object.entries({ ...loads, ...refused }))
    test(`answers ${operation} the same for every spelling`, async () => {
      const table = await governed()
      const real = await told(await ask(table))
      if (operation in refused) expect(real[0]).toBe(403)
      for (let tries = 0; tries < 3; tries++) {
        const spelling = other(table)
        expect([spelling, ...(await told(await ask(spelling)))]).toEqual([spelling, ...real])
      }
    })

  test('has commits audited under its own name, whatever they said', async () => {
    const table = await governed()
    const steward = { roles: ['steward'] }
    for (let value = 0; value < 4; value++) {
      const changed = await send(
        service,
        'POST',
        pathOf(other(table)),
        setProperties({ a: `${value}` }),
        steward,
      )
      expect(changed.status).toBe(200)
    }
    const records = (await audit(service)).map((record) =>
      [...record.table.namespace, record.table.name].join('.'),
    )
    expect(records.filter((name) => name.toLowerCase().endsWith(table.name)).length).toBeGreaterThan(4)
    expect(records.filter((name) => name !== name.toLowerCase())).toEqual([])
  })

  test('has a table governed by what is bound to another spelling of its name, or of its namespace', async () => {
    const table = await governed()
    const steward = { roles: ['steward'] }
    const changed = () => send(service, 'POST', pathOf(table), setProperties({ a: 'b' }), steward)
    expect((await changed()).status).toBe(200)
    const bound = `no-${table.name}`
    await govern(service, { ...table, name: spelled(table.name) }, bound, 'schema', 'false')
    expect((await changed()).status).toBe(403)
    await deletePolicy(service.store, service.owner.tenant, bound)
    expect((await changed()).status).toBe(200)
    await govern(service, { namespace: ['SALES'] }, bound, 'schema', 'false')
    expect((await changed()).status).toBe(403)
    expect((await send(service, 'DELETE', '/namespaces/sales')).status).toBe(403)
    await deletePolicy(service.store, service.owner.tenant, bound)
  })

  test('has a table read under the contract, filters and masks of another spelling', async () => {
    const { store, owner } = service
    const table = fresh()
    const spelling = { ...table, name: table.name.toUpperCase() }
    const on = { store, tenant: owner.tenant, actor: actorOf('stella'), checkPolicies }
    const sight = (ref: TableRef, roles: readonly string[] = []) =>
      fileSight(store, owner.tenant, ref, { sub: 'ann', roles }, { atMs: Date.now(), openMs: 0 })
    await commitColumns(store, owner.tenant, spelling, { id: 'long', email: 'string' })
    await commitColumns(store, owner.tenant, table, { id: 'long', email: 'string' })
    expect(await sight(table)).toEqual({ masked: false, uncontracted: 'to_writers' })
    await putContract(on, spelling, { id: `c-${table.name}`, version: 1 })
    const contract = { id: `c-${table.name}`, version: 1 }
    expect(await sight(table)).toEqual({ masked: false, uncontracted: undefined, contract })
    const mask = { id: `m-${table.name}`, action: 'replace-with-null', exemptRoles: ['steward'] } as const
    await putMask(on, { table: spelling, column: 'email' }, mask)
    expect((await sight(table)).masked).toBe(true)
    expect((await sight(table, ['steward'])).masked).toBe(false)
  })

  test('refuses a transaction that names one table in two spellings', async () => {
    const table = await governed()
    const changes = [table, other(table)].map((identifier) => ({ identifier, requirements: [], updates: [] }))
    const body = { 'table-changes': changes }
    expect((await send(service, 'POST', '/transactions/commit', body)).status).toBe(400)
  })
})

test('a table that was known with capitals stays one table once its catalog is known to fold names', async () => {
  const { store, catalog } = service
  const before = await addTenant(store, 'before', catalog.url, { case_sensitive_names: true })
  const table = fresh()
  const shouted = { ...table, name: table.name.toUpperCase() }
  const as = { tenant: before }
  expect(
    (await send(service, 'POST', '/namespaces/sales/tables', createTable(shouted.name), as)).status,
  ).toBe(200)
  for (let tries = 0; tries < 2; tries++)
    expect((await send(service, 'POST', pathOf(shouted), setProperties({ a: 'b' }), as)).status).toBe(200)
  await rotateCatalogCredential(store, before.tenant, prefix, { case_sensitive_names: false })
  for (const spelling of [shouted, table, other(table)]) {
    expect((await send(service, 'GET', pathOf(spelling), undefined, as)).status).toBe(200)
    expect((await send(service, 'POST', pathOf(spelling), setProperties({ a: 'c' }), as)).status).toBe(200)
  }
  const { items } = await listTerritory(store, before.tenant, { limit: 100 })
  expect(items.map((row) => row.table)).toEqual([table])
})

test('what is bound to a spelling governs before the catalog was asked, and after its settings were rotated', async () => {
  const { store } = service
  const tenant = await addTenant(store, 'unasked', service.catalog.url)
  const table = fresh()
  const as = { tenant }
  expect((await send(service, 'POST', '/namespaces/sales/tables', createTable(table.name), as)).status).toBe(
    200,
  )
  const spelling = { ...table, name: table.name.toUpperCase() }
  await govern({ ...service, owner: tenant }, spelling, `acl-${table.name}`, 'write_acl', 'false')
  const commit = async () =>
    (await send(service, 'POST', pathOf(table), setProperties({ a: 'b' }), as)).status
  const found = async () =>
    (await findCatalogCredential(store, tenant.tenant, prefix))?.config['case_sensitive_names.found']
  expect([await found(), await commit()]).toEqual([undefined, 403])
  expect((await send(service, 'HEAD', pathOf(spelling), undefined, as)).status).toBe(204)
  expect([await found(), await commit()]).toEqual([false, 403])
  await rotateCatalogCredential(store, tenant.tenant, prefix, { pin_commits: false })
  expect([await found(), await commit()]).toEqual([false, 403])
})

describe('namespaces and views of a catalog that folds names', () => {
  const view = (name: string) => ({
    name,
    schema: { type: 'struct', 'schema-id': 0, fields: [] },
    'view-version': {
      'version-id': 1,
      'timestamp-ms': 1,
      'schema-id': 0,
      summary: {},
      representations: [{ type: 'sql', sql: 'select 1', dialect: 'spark' }],
      'default-namespace': ['sales'],
    },
    properties: {},
  })

  test('are governed in every spelling', async () => {
    const name = `view${++counter}`
    expect((await send(service, 'POST', '/namespaces/sales/views', view(name))).status).toBe(200)
    await govern(service, { namespace: ['sales'], name }, `acl-${name}`, 'write_acl', 'false')
    for (const spelling of [name, spelled(name), spelled(name)]) {
      expect((await send(service, 'POST', '/namespaces/sales/views', view(spelling))).status).toBe(403)
      const source = { namespace: ['sales'], name: spelling }
      const rename = { source, destination: { namespace: ['sales'], name: 'elsewhere' } }
      expect((await send(service, 'POST', '/views/rename', rename)).status).toBe(403)
      expect((await send(service, 'DELETE', `/namespaces/sales/views/${spelling}`)).status).toBe(403)
    }
  })

  test('are governed where a policy is bound to the namespace', async () => {
    const namespace = `ns${++counter}`
    expect((await send(service, 'POST', '/namespaces', { namespace: [namespace] })).status).toBe(200)
    await govern(service, { namespace: [namespace] }, `ns-${namespace}`, 'write_acl', 'false')
    for (const spelling of [namespace, spelled(namespace), spelled(namespace)]) {
      expect((await send(service, 'DELETE', `/namespaces/${spelling}`)).status).toBe(403)
      const properties = { removals: [], updates: { a: 'b' } }
      expect((await send(service, 'POST', `/namespaces/${spelling}/properties`, properties)).status).toBe(403)
      expect((await send(service, 'POST', `/namespaces/${spelling}/tables`, createTable('t'))).status).toBe(
        403,
      )
      const made = await send(service, 'POST', '/namespaces', { namespace: [spelling, 'Inner'] })
      expect(made.status).toBe(403)
    }
  })
})

describe('a catalog that keeps names apart', () => {
  test('has two tables whose names differ in case only, each with its own policies', async () => {
    await using exact = await startTestService()
    for (const name of ['cf1900', 'CF1900'])
      expect((await send(exact, 'POST', '/namespaces/sales/tables', createTable(name))).status).toBe(200)
    await govern(exact, { namespace: ['sales'], name: 'cf1900' }, 'keep', 'schema', keepId)
    const change = (name: string) => send(exact, 'POST', `/namespaces/sales/tables/${name}`, withoutId)
    expect((await change('cf1900')).status).toBe(403)
    expect((await change('CF1900')).status).toBe(200)
    expect((await audit(exact)).map(({ table }) => table.name)).toContain('CF1900')
  })
})
