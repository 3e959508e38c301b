/** Commits on tables under contract: what the version in force refuses, what it proposes, and what an approved one covers. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  createTable,
  orderFields,
  replaceSchema,
  type SampleField,
  setProperties,
} from '../../demo/commits.ts'
import { Fault } from '../../src/base/fault.ts'
import { shadowMs } from '../../src/contract/commit/sync-policies.ts'
import { sessionScopes } from '../../src/core/session.ts'
import { recoverIntents } from '../../src/gateway/recovery/recover-intents.ts'
import { findAudit } from '../../src/store/commit/audit.ts'
import { markAccepted, openIntent } from '../../src/store/commit/commit-intents.ts'
import { lastEvent, readEvents } from '../../src/store/event/events.ts'
import { loadGovernance } from '../../src/store/governance/governance.ts'
import { intentOf } from '../support/commits.ts'
import { eventually } from '../support/eventually.ts'
import { call, session } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import {
  addTenant,
  audit,
  commit,
  metric,
  prefix,
  startTestService,
  type TestService,
  type TestTenant,
  upstreamHeaders,
} from '../support/service.ts'
import { messageOf, send } from '../support/surface.ts'

setDefaultTimeout(120_000)

let service: TestService
let tenant: TestTenant
let foreign: TestTenant
let author: string
let stella: string
let nowMs = Date.now()
let tables = 0
/** Whether transactions of several statements fail; a commit that is covered is audited by one. */
let failing = false
/** Resolved while audits are repeated. */
let again = Promise.withResolvers<void>()

function fail(): void {
  failing = true
  again = Promise.withResolvers<void>()
}
function repair(): void {
  failing = false
  again.resolve()
}

beforeAll(async () => {
  service = await startTestService({
    env: { SVC_LICENSE: licenseForAll() },
    clock: { now: () => nowMs },
    auditSleep: () => again.promise,
    wrapStore: (store) => ({
      ...store,
      tenantTransaction: (of, work, options) =>
        failing
          ? Promise.reject(new Fault('unavailable', 'fails on purpose'))
          : store.tenantTransaction(of, work, options),
    }),
  })
  tenant = await addTenant(service.store, 'atomic', service.catalog.url, { atomic_transactions: true })
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  author = await session(service, tenant.tenant, ['admin', 'read'], [], 'ann')
  stella = await session(service, tenant.tenant, sessionScopes, ['steward'], 'stella')
  await ask('PUT', '/api/v1/contracts/life-cycle-settings', { deploy_unverified: true })
})
afterAll(() => service[Symbol.asyncDispose]())

type Json = Record<string, never>
async function ask(method: string, path: string, body?: unknown, secret = stella): Promise<[number, Json]> {
  const headers = typeof body === 'string' ? { 'content-type': 'application/yaml' } : {}
  const response = await call(service, method, path, { secret, headers, body })
  const text = await response.text()
  return [response.status, text === '' ? {} : JSON.parse(text)] as [number, Json]
}

async function newTable(): Promise<string> {
  const name = `t${++tables}`
  expect(
    (await send(service, 'POST', '/namespaces/sales/tables', createTable(name), { tenant })).status,
  ).toBe(200)
  return name
}

interface Written {
  readonly version?: string
  readonly mode?: string
  readonly columns?: readonly string[]
  readonly more?: string
}

/** A contract of the id of its table. */
function documentOf(
  table: string,
  { version = '1.0.0', mode = 'enforce', columns = ['id', 'customer'], more = '' }: Written = {},
) {
  const type = (name: string) => (name === 'id' ? 'integer' : 'string')
  return `apiVersion: v3.2.0
kind: DataContract
id: ${table}
version: ${version}
customProperties:
- {property: covenant, vendor: covenant, value: {${mode === '' ? '' : `mode: ${mode}`}}}
schema:
- name: ${table}
  customProperties:
  - {property: covenant, vendor: covenant, value: {table: {namespace: [sales], name: ${table}}${more}}}
  properties:
${columns.map((name) => `  - {name: ${name}, logicalType: ${type(name)}${name === 'id' ? ', required: true' : ''}}`).join('\n')}
`
}

const documents = '/api/v1/contracts/documents'

/** Adds a version, proposes it, has it signed. @returns where it is */
async function approve(contract: string, document: string): Promise<string> {
  const [status, added] = await ask('POST', `${documents}/${contract}/versions`, document, author)
  expect([status, String(added.state)]).toEqual([201, 'draft'])
  const at = `${documents}/${contract}/versions/${added.number}`
  const [, proposed] = await ask('POST', `${at}/moves`, { move: 'propose' }, author)
  if (String(proposed.state) === 'proposed') {
    const [signed, answer] = await ask('POST', `${at}/sign-offs`, { sha256: added.sha256 })
    expect([signed, String(answer.state)]).toEqual([200, 'approved'])
  } else expect(String(proposed.state)).toBe('approved')
  return at
}

async function deploy(contract: string, document: string): Promise<void> {
  const at = await approve(contract, document)
  expect(await ask('POST', `${at}/moves`, { move: 'deploy' })).toMatchObject([200, { state: 'active' }])
}

async function underContract(written?: Written): Promise<string> {
  const table = await newTable()
  await deploy(table, documentOf(table, written))
  return table
}

const literal = (table: string, body: string, as = tenant, sub = 'spark') =>
  commit(service, body, {
    secret: as.secret,
    sub,
    path: `/v1/iceberg/${prefix}/namespaces/sales/tables/${table}`,
  })
const client = (table: string, body: string) =>
  send(service, 'POST', `/namespaces/sales/tables/${table}`, body, { tenant })
const without = (name: string): readonly SampleField[] => orderFields.filter((field) => field.name !== name)
const dropCustomer = replaceSchema(without('customer'))

async function versionsOf(contract: string) {
  const [, { items }] = await ask('GET', `${documents}/${contract}/versions`)
  return (items as unknown as { number: number; state: string; author: string; sha256: string }[]).map(
    ({ number, state, author }) => ({ number, state, author }),
  )
}
const reasonOf = (table: string, version = '1.0.0') =>
  `contract ${table} ${version}: the column customer is dropped.`

describe('a commit that breaks the version in force', () => {
  test('is 403 with column and version on both surfaces, and is audited so', async () => {
    const table = await underContract()
    const refused = await literal(table, dropCustomer)
    expect(refused.status).toBe(403)
    const said = `${reasonOf(table)} Version 2.0.0 (number 2) is proposed: have it signed off, then commit again`
    expect(await refused.text()).toBe(`policy denied: ${said}`)
    const [row] = await audit(service, tenant.tenant)
    expect(row).toMatchObject({ decision: 'REJECTED', reason: said })
    const other = await client(table, dropCustomer)
    expect(other.status).toBe(403)
    expect(await messageOf(other)).toContain(reasonOf(table))
  })

  test('finds in the proposal which metrics it would break', async () => {
    const table = await underContract()
    const at = { namespace: ['sales'], name: table }
    const model = { key: ['id'], dimensions: [{ name: 'customer' }] }
    expect((await ask('PUT', `/api/v1/semantics/tables/sales/${table}`, model))[0]).toBe(200)
    const metric = { table: at, expression: 'count(distinct customer)' }
    expect((await ask('PUT', `/api/v1/metrics/buyers_of_${table}`, metric))[0]).toBe(200)
    expect((await literal(table, dropCustomer)).status).toBe(403)
    const [, { verdict }] = await ask('GET', `${documents}/${table}/versions/2`)
    const findings = (verdict as unknown as { findings: readonly { change: string; message: string }[] })
      .findings
    expect(findings.filter(({ change }) => change.endsWith('-broken'))).toMatchObject([
      {
        change: 'metric-broken',
        message: expect.stringContaining(`buyers_of_${table}`),
        consumer: 'breaking',
      },
      { change: 'dimension-broken', message: expect.stringContaining('customer') },
    ])
  })

  test('proposes a version once, with the commit as evidence and its committer as author', async () => {
    const table = await underContract()
    const first = await literal(table, dropCustomer)
    await literal(table, dropCustomer)
    await client(table, dropCustomer)
    expect(await versionsOf(table)).toEqual([
      { number: 2, state: 'proposed', author: 'spark' },
      { number: 1, state: 'active', author: 'ann' },
    ])
    expect(await ask('GET', `${documents}/${table}/versions/2`)).toMatchObject([
      200,
      {
        waits_for: ['first'],
        verdict: { breaking: true, step_needed: 'major' },
        evidence: {
          commit_id: first.headers.get('x-svc-decision-id') ?? '',
          ...{ committer: 'spark', namespace: ['sales'], table },
        },
      },
    ])
    const document = await call(service, 'GET', `${documents}/${table}/versions/2/document`, {
      secret: stella,
    })
    // An edit may change indentation and spaces in braces.
    const plain = (text: string) => text.replaceAll(/ +/g, '').replaceAll(/([[{]) | ([\]}])/g, '$1$2')
    expect(plain(await document.text())).toBe(
      plain(documentOf(table, { version: '2.0.0' }).replace(/.*name: customer.*\n/, '')),
    )
  })

  test('is refused still after its proposal was rejected, and proposes nothing again', async () => {
    const table = await underContract()
    await literal(table, dropCustomer)
    const rejected = await ask('POST', `${documents}/${table}/versions/2/moves`, {
      move: 'reject',
      reason: 'no',
    })
    expect(rejected[0]).toBe(200)
    expect(await (await literal(table, dropCustomer)).text()).toContain(
      'Version 2.0.0 (number 2) is rejected',
    )
    expect(await versionsOf(table)).toHaveLength(2)
  })

  test('is not signed by whose session made it, whatever subject it claimed', async () => {
    const table = await underContract()
    const claimed = await commit(service, dropCustomer, {
      ...{ secret: stella, sub: 'somebody-else' },
      path: `/v1/iceberg/${prefix}/namespaces/sales/tables/${table}`,
    })
    expect(claimed.status).toBe(403)
    const [, { sha256 }] = await ask('GET', `${documents}/${table}/versions/2`)
    expect((await ask('POST', `${documents}/${table}/versions/2/sign-offs`, { sha256 }))[0]).toBe(403)
  })

  test('of another tenant is no concern of this contract', async () => {
    const table = await underContract()
    expect((await literal(table, replaceSchema(without('amount')), foreign)).status).toBe(200)
    expect(await versionsOf(table)).toHaveLength(1)
  })

  test('of a contract that came the short way is refused without a proposal', async () => {
    const table = await newTable()
    expect((await ask('PUT', `${documents}/${table}`, documentOf(table)))[0]).toBe(200)
    expect(await (await literal(table, dropCustomer)).text()).toContain('Put a document of the contract')
    expect((await ask('PUT', `${documents}/${table}`, documentOf(table, { columns: ['id'] })))[0]).toBe(200)
    expect((await literal(table, dropCustomer)).status).toBe(200)
  })
})

test('a commit that keeps what the contract says is allowed', async () => {
  const table = await underContract()
  expect((await literal(table, setProperties({ a: '1' }))).status).toBe(200)
  const wider = replaceSchema([...orderFields, { id: 5, name: 'region', type: 'string' }])
  expect((await literal(table, wider)).status).toBe(200)
})

describe('a commit that an approved version covers', () => {
  test('is allowed, and puts the version in force with its audit', async () => {
    const table = await underContract()
    const at = await approve(table, documentOf(table, { version: '2.0.0', columns: ['id'] }))
    const made = await literal(table, dropCustomer)
    expect(made.status).toBe(200)
    expect(await ask('GET', at)).toMatchObject([200, { state: 'active', unverified: true }])
    expect(await versionsOf(table)).toMatchObject([{ state: 'active' }, { number: 1, state: 'retired' }])
    const governing = await loadGovernance(service.store, tenant.tenant, {
      namespace: ['sales'],
      name: table,
    })
    expect(governing?.contract?.version).toBe(2)
    const [, { items }] = await ask('GET', `${documents}/${table}/moves`)
    expect((items as unknown as Json[])[0]).toMatchObject({
      ...{ move: 'cover', from: 'approved', to: 'active', auto: true, by: 'spark' },
      reason: `commit ${made.headers.get('x-svc-decision-id')}`,
    } as never)
    // The next one is judged by that version.
    expect((await literal(table, replaceSchema(without('id'), 1))).status).toBe(403)
  })

  test('is the one that it proposed, once a steward has signed it', async () => {
    const table = await underContract()
    await literal(table, dropCustomer)
    const [, { sha256 }] = await ask('GET', `${documents}/${table}/versions/2`)
    expect((await ask('POST', `${documents}/${table}/versions/2/sign-offs`, { sha256 }))[0]).toBe(200)
    expect((await client(table, dropCustomer)).status).toBe(200)
    expect(await versionsOf(table)).toMatchObject([{ number: 2, state: 'active' }, { state: 'retired' }])
  })

  test('is refused once that version is withdrawn', async () => {
    const table = await underContract()
    const at = await approve(table, documentOf(table, { version: '2.0.0', columns: ['id'] }))
    expect((await ask('POST', `${at}/moves`, { move: 'withdraw' }))[0]).toBe(200)
    expect((await literal(table, dropCustomer)).status).toBe(403)
  })

  test('leaves an approved version alone that it does not need', async () => {
    const table = await underContract()
    const at = await approve(table, documentOf(table, { version: '2.0.0', columns: ['id'] }))
    expect((await literal(table, setProperties({ a: '1' }))).status).toBe(200)
    expect(await ask('GET', at)).toMatchObject([200, { state: 'approved' }])
  })

  test('is answered though its audit fails, and the version comes in force with the audit that is repeated', async () => {
    const table = await underContract()
    const at = await approve(table, documentOf(table, { version: '2.0.0', columns: ['id'] }))
    fail()
    const made = await literal(table, dropCustomer)
    expect(made.status).toBe(200)
    expect(await ask('GET', at)).toMatchObject([200, { state: 'approved' }])
    repair()
    await eventually(async () => (await ask('GET', at))[1].state === ('active' as never))
    const rows = (await audit(service, tenant.tenant)).filter((row) => row.table.name === table)
    expect(rows.filter(({ decision }) => decision === 'APPROVED')).toHaveLength(2)
  })

  test('puts it in force by recovery, where the process died before the audit', async () => {
    const table = await underContract()
    const at = await approve(table, documentOf(table, { version: '2.0.0', columns: ['id'] }))
    const loaded = await client(table, setProperties({ a: '1' }))
    const { 'metadata-location': base } = (await loaded.json()) as { 'metadata-location': string }
    const [row] = await audit(service, tenant.tenant)
    const record = await findAudit(service.store, tenant.tenant, row?.commitId ?? '')
    const intent = intentOf({
      ...{ table: { namespace: ['sales'], name: table }, baseMetadataLocation: base },
      credentialId: record?.credentialId ?? '',
      bodySha256: new Bun.CryptoHasher('sha256').update(dropCustomer).digest('hex'),
      ...{ body: Bun.zstdCompressSync(dropCustomer), receivedAtMs: nowMs },
    })
    await openIntent(service.store, tenant.tenant, intent, { leaseMs: 0, upstreamMs: 0 })
    const upstream = await fetch(`${service.catalog.url}/v1/dev/namespaces/sales/tables/${table}`, {
      ...{ method: 'POST', headers: await upstreamHeaders(service.catalog), body: dropCustomer },
    })
    expect(upstream.status).toBe(200)
    await markAccepted(service.store, tenant.tenant, intent.commitId)
    expect(await recoverIntents(service.app.gateway)).toMatchObject({ committed: 1 })
    expect(await ask('GET', at)).toMatchObject([200, { state: 'active' }])
    expect(await versionsOf(table)).toMatchObject([{ state: 'active' }, { number: 1, state: 'retired' }])
  })

  test('stays made where its version was withdrawn meanwhile, and the log says so', async () => {
    const table = await underContract()
    const at = await approve(table, documentOf(table, { version: '2.0.0', columns: ['id'] }))
    fail()
    expect((await literal(table, dropCustomer)).status).toBe(200)
    repair()
    const { store, tenant: id } = { store: service.store, tenant: tenant.tenant }
    await store.tenantQuery(
      id,
      `update svc.contract_version set state = 'withdrawn' where tenant_id = $1 and contract_id = $2 and number = 2`,
      [id, table],
    )
    await eventually(async () =>
      service.log().includes('a commit was made under a version that could not be put in force'),
    )
    expect(await ask('GET', at)).toMatchObject([200, { state: 'withdrawn' }])
    expect(await versionsOf(table)).toMatchObject([{}, { number: 1, state: 'active' }])
  })

  test('may be for another column of the same name, if the proposal says so', async () => {
    const table = await underContract()
    const replaced = replaceSchema([...without('customer'), { id: 9, name: 'customer', type: 'string' }])
    expect(await (await literal(table, replaced)).text()).toContain(
      'the column customer is another column of the same name',
    )
    const [, { sha256 }] = await ask('GET', `${documents}/${table}/versions/2`)
    expect((await ask('POST', `${documents}/${table}/versions/2/sign-offs`, { sha256 }))[0]).toBe(200)
    expect((await literal(table, replaced)).status).toBe(200)
    expect((await literal(table, setProperties({ a: '1' }))).status).toBe(200)
  })
})

describe('in a transaction of several tables', () => {
  const changes = (...of: [string, string][]) =>
    JSON.stringify({
      'table-changes': of.map(([name, body]) => ({
        identifier: { namespace: ['sales'], name },
        ...JSON.parse(body),
      })),
    })
  const transact = (body: string) => send(service, 'POST', '/transactions/commit', body, { tenant })

  test('a commit that breaks a contract refuses all, and names table and column', async () => {
    const [table, other] = [await underContract(), await newTable()]
    const refused = await transact(changes([other, setProperties({ a: '1' })], [table, dropCustomer]))
    expect(refused.status).toBe(403)
    expect(await messageOf(refused)).toContain(`sales.${table}: ${reasonOf(table)}`)
    expect(await versionsOf(table)).toHaveLength(2)
  })

  test('a version covers the commits on all its tables, and comes in force once', async () => {
    const names = [await newTable(), await newTable()]
    const [first = '', second = ''] = names
    const both = (version: string, columns: readonly string[]) => {
      const [head, object = ''] = documentOf(first, { version, columns }).split('schema:\n')
      return `${head}schema:\n${object}${object.replaceAll(first, second)}`
    }
    await deploy(first, both('1.0.0', ['id', 'customer']))
    const at = await approve(first, both('2.0.0', ['id']))
    const made = await transact(changes([first, dropCustomer], [second, dropCustomer]))
    expect(made.status).toBe(204)
    expect(await ask('GET', at)).toMatchObject([200, { state: 'active' }])
    for (const name of names) expect((await literal(name, setProperties({ a: '1' }))).status).toBe(200)
  })

  test('the literal path refuses and covers in the same way', async () => {
    const table = await underContract()
    const transaction = () =>
      commit(service, changes([table, dropCustomer]), {
        secret: tenant.secret,
        path: `/v1/iceberg/${prefix}/transactions/commit`,
      })
    expect(await (await transaction()).text()).toContain(`policy denied: sales.${table}: ${reasonOf(table)}`)
    const [, { sha256 }] = await ask('GET', `${documents}/${table}/versions/2`)
    await ask('POST', `${documents}/${table}/versions/2/sign-offs`, { sha256 })
    expect((await transaction()).status).toBe(200)
    expect(await versionsOf(table)).toMatchObject([{ number: 2, state: 'active' }, { state: 'retired' }])
  })
})

describe('the mode of a contract', () => {
  test('without one records for seven days by the commit’s own time, and refuses from then on', async () => {
    const table = await underContract({ mode: '' })
    const body = replaceSchema(without('amount'))
    expect((await literal(table, body)).status).toBe(200)
    expect((await literal(table, replaceSchema(without('customer'), 1))).status).toBe(200)
    const [row] = await audit(service, tenant.tenant)
    expect(row?.outcomes).toContainEqual(expect.objectContaining({ mode: 'shadow', value: false }))
    const enforcedFrom = new Date(nowMs + shadowMs).toISOString()
    nowMs += shadowMs
    const refused = await literal(table, setProperties({ a: '1' }))
    expect(refused.status).toBe(403)
    const said = await refused.text()
    expect(said).toContain('the column customer is missing')
    expect(said).toContain(`(enforced since ${enforcedFrom}, only recorded before)`)
  })

  test('without one is told where the document is put, compared and shown, with the time from which it refuses', async () => {
    const table = await newTable()
    const address = { namespace: ['sales'], name: table }
    const document = documentOf(table, { mode: '' })
    const [, compared] = await ask('POST', `${documents}/${table}/compare`, document)
    const before = [{ table: address, mode: 'shadow', enforced_after_days: 7 }]
    expect(compared.commits as unknown).toEqual(before)
    const [, put] = await ask('PUT', `${documents}/${table}`, document)
    const enforced_from = new Date(nowMs + shadowMs).toISOString()
    expect(put.commits as unknown).toEqual([{ table: address, mode: 'shadow', enforced_from }])
    expect(put.fields as unknown).toContainEqual({
      ...{ path: 'schema[0].properties[].logicalType', outcome: 'enforced', count: expect.any(Number) },
      enforced_after_days: 7,
    })
    const [, version] = await ask('GET', `${documents}/${table}/versions/1`)
    expect(version.commits as unknown).toEqual([{ table: address, mode: 'shadow', enforced_from }])
    const shown = async () =>
      (await ask('GET', `/api/v1/contracts/tables/sales/${table}`))[1].contract as unknown as Json
    expect((await shown()).commits as unknown).toEqual({ mode: 'shadow', enforced_from })
    nowMs += shadowMs
    expect((await shown()).commits as unknown).toEqual({ mode: 'enforce', enforced_from })
    const again = documentOf(table, { mode: 'enforce', version: '1.1.0' })
    const [, explicit] = await ask('PUT', `${documents}/${table}`, again)
    expect(explicit.commits as unknown).toEqual([{ table: address, mode: 'enforce' }])
  })

  test('without one tells of each commit that it will refuse: by an event, a count and the contract’s page', async () => {
    const table = await underContract({ mode: '' })
    const enforced_from = new Date(nowMs + shadowMs).toISOString()
    const counted = () => metric(service, 'svc_policy_shadow_denials_total{enforced="later"}')
    const before = await counted()
    const last = await lastEvent(service.store, tenant.tenant)
    expect((await literal(table, dropCustomer)).status).toBe(200)
    expect((await literal(table, setProperties({ a: '1' }))).status).toBe(200)
    expect(await counted()).toBe(before + 2)
    const events = await readEvents(service.store, tenant.tenant, last)
    const told = events.filter(({ type }) => type === 'commit.shadow_denied')
    expect(told).toHaveLength(2)
    expect(told[0]?.data).toMatchObject({
      policies: [{ name: `contract ${table} 1.0.0`, enforced_from }],
    })
    const [, { contract }] = await ask('GET', `/api/v1/contracts/tables/sales/${table}`)
    expect((contract as unknown as Json).commits as unknown).toMatchObject({
      ...{ mode: 'shadow', enforced_from },
      shadow_denials: { count: 2, last_committer: expect.any(String) },
    })
    const reader = await session(service, tenant.tenant, ['read'], ['analyst'], 'rita')
    const [, seen] = await ask('GET', `/api/v1/contracts/tables/sales/${table}`, undefined, reader)
    expect((seen.contract as unknown as Json).commits as unknown).toEqual({ mode: 'shadow', enforced_from })
    const foreignEvents = await readEvents(service.store, foreign.tenant, 0n)
    expect(foreignEvents.filter(({ type }) => type === 'commit.shadow_denied')).toEqual([])
  })

  test('warn answers with a warning, and shadow with none', async () => {
    const warned = await literal(await underContract({ mode: 'warn' }), dropCustomer)
    expect([warned.status, warned.headers.get('x-svc-policy-warning')]).toEqual([
      200,
      expect.stringContaining('contract'),
    ])
    const silent = await literal(await underContract({ mode: 'shadow' }), dropCustomer)
    expect([silent.status, silent.headers.get('x-svc-policy-warning')]).toEqual([200, null])
  })

  test('lets a version follow a table that commits have changed meanwhile', async () => {
    const table = await underContract({ mode: 'shadow' })
    const at = await approve(table, documentOf(table, { version: '2.0.0', mode: 'shadow', columns: ['id'] }))
    expect((await literal(table, dropCustomer)).status).toBe(200)
    expect(await ask('GET', at)).toMatchObject([200, { state: 'active' }])
  })
})

describe('columns that the contract does not name', () => {
  const region = { id: 5, name: 'region', type: 'string' }
  const named = { columns: ['id', 'customer', 'amount', 'placed_at'] }
  const typed = (document: string) =>
    document
      .replace('name: amount, logicalType: string', 'name: amount, logicalType: number')
      .replace('name: placed_at, logicalType: string', 'name: placed_at, logicalType: timestamp')

  test('are refused where it says deny, and proposed', async () => {
    const table = await newTable()
    await deploy(table, typed(documentOf(table, { ...named, more: ', additionalColumns: deny' })))
    const refused = await literal(table, replaceSchema([...orderFields, region]))
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining('the column region is not in the contract'),
    ])
    const [, { sha256 }] = await ask('GET', `${documents}/${table}/versions/2`)
    expect((await ask('POST', `${documents}/${table}/versions/2/sign-offs`, { sha256 }))[0]).toBe(200)
    expect((await literal(table, replaceSchema([...orderFields, region]))).status).toBe(200)
  })

  test('are answered with a warning where it says warn', async () => {
    const table = await newTable()
    await deploy(table, typed(documentOf(table, { ...named, more: ', additionalColumns: warn' })))
    const warned = await literal(table, replaceSchema([...orderFields, region]))
    expect([warned.status, warned.headers.get('x-svc-policy-warning') ?? '']).toEqual([
      200,
      expect.stringContaining('contract'),
    ])
  })
})

describe('the policies that a document holds', () => {
  const cel = (text: string, more = '') =>
    `, policies: [{id: keep, name: no owner, message: leave it, definitionCel: '${text}'${more}}]`
  const noOwner = '!("owner" in commit.result.properties)'
  const owner = setProperties({ owner: 'me' })

  test('judge commits with the version, and propose nothing', async () => {
    const table = await underContract({ more: cel(noOwner) })
    const refused = await literal(table, owner)
    expect([refused.status, await refused.text()]).toEqual([403, 'policy denied: no owner: leave it'])
    expect(await versionsOf(table)).toHaveLength(1)
    expect((await literal(table, setProperties({ a: '1' }))).status).toBe(200)
  })

  test('have a mode of their own, or that of the contract', async () => {
    const warned = await literal(await underContract({ more: cel(noOwner, ', mode: warn') }), owner)
    expect([warned.status, warned.headers.get('x-svc-policy-warning')]).toEqual([200, 'no%20owner'])
    const enforced = await underContract({ mode: '', more: cel(noOwner, ', mode: enforce') })
    expect((await literal(enforced, owner)).status).toBe(403)
    const young = await underContract({ mode: '', more: cel(noOwner) })
    expect((await literal(young, owner)).status).toBe(200)
    nowMs += shadowMs
    expect((await literal(young, owner)).status).toBe(403)
  })

  test('are refused with line and column where they do not compile, or would never do what they say', async () => {
    const table = await newTable()
    const said = await ask('PUT', `${documents}/${table}`, documentOf(table, { more: cel('commit.no') }))
    const { problems } = said[1].error as unknown as { problems: Json[] }
    expect([said[0], problems[0]]).toMatchObject([
      422,
      { line: 10, column: 164, message: expect.stringContaining("commit has no key 'no'") },
    ])
    expect((await ask('PUT', `${documents}/${table}`, documentOf(table, { more: cel('not x') })))[0]).toBe(
      422,
    )
    const named = cel('true').replace('name: no owner', 'name: territory')
    expect((await ask('PUT', `${documents}/${table}`, documentOf(table, { more: named })))[0]).toBe(422)
  })

  test('are reported as enforced', async () => {
    const table = await newTable()
    const [, { fields }] = await ask(
      'PUT',
      `${documents}/${table}`,
      documentOf(table, { more: cel(noOwner) }),
    )
    expect(fields).toContainEqual({
      ...{ path: 'schema[0].customProperties.covenant.policies', outcome: 'enforced', count: 1 },
    } as never)
  })

  test('are removed by a version that somebody else has signed', async () => {
    const table = await underContract({ more: cel(noOwner) })
    const at = await approve(table, documentOf(table, { version: '1.1.0' }))
    expect(await ask('GET', at)).toMatchObject([
      200,
      { sign_offs: [{ by: 'stella' }], verdict: { loosens_access: true } },
    ])
    expect((await literal(table, owner)).status).toBe(200)
    expect(await ask('GET', at)).toMatchObject([200, { state: 'active' }])
  })
})

test('derived policies are listed as such, and are not changed by themselves', async () => {
  const table = await underContract({ mode: '' })
  const [, { items }] = await ask('GET', '/api/v1/policies?limit=1000')
  const found = (items as unknown as { id: string; definition_cel: string }[]).filter(({ id }) =>
    id.startsWith(`contract:${table}:`),
  )
  expect(found).toMatchObject([
    {
      ...{ kind: 'schema', mode: 'shadow', name: `contract ${table} 1.0.0` },
      derived: { contract: table, number: 1, version: '1.0.0' },
      enforced_from: new Date(nowMs + shadowMs).toISOString(),
    },
    { id: `contract:${table}:1:sales.${table}:keys` },
  ])
  expect(found[0]?.definition_cel).toContain('manifest.column_type(commit.result, "customer") in ["string"')
  const admin = await session(service, tenant.tenant, sessionScopes, ['administrator'], 'adam')
  const at = `/api/v1/policies/${encodeURIComponent(found[0]?.id ?? '')}`
  const put = await ask(
    'PUT',
    at,
    { table: { namespace: ['sales'], name: table }, kind: 'schema', definition_cel: 'true' },
    admin,
  )
  expect([put[0], (await ask('DELETE', at, undefined, admin))[0]]).toEqual([409, 409])
  expect(JSON.stringify(put[1])).toContain('Propose a version of the contract')
})
