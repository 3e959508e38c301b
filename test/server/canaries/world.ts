/** A lake in two tenants, planted with canaries, and the callers that walk through it. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevCatalog } from '../../../demo/catalog/dev-catalog.ts'
import { duckdbParquet } from '../../../demo/lake/duckdb-parquet.ts'
import { tableInFolder } from '../../../demo/lake/iceberg-writer.ts'
import { putMask } from '../../../src/contract/put-mask.ts'
import { putRowFilter } from '../../../src/contract/put-row-filter.ts'
import { putTag } from '../../../src/contract/put-tag.ts'
import { type SessionScope, sessionScopes } from '../../../src/core/session.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { putCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { lastEvent } from '../../../src/store/event/events.ts'
import { createServiceSession, revokeServiceSession } from '../../../src/store/session/sessions.ts'
import { actorOf } from '../../support/actor.ts'
import { call, internalOrg } from '../../support/identity.ts'
import { type Lake, readAs, startLake } from '../../support/lake.ts'
import { licenseForAll } from '../../support/license.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { type Caller, type Canary, type Kind, kinds, word } from './canaries.ts'
import { plantRecords, setting } from './records.ts'

export interface Planted {
  readonly name: string
  /** Columns by what they are for. */
  readonly label: string
  readonly card: string
  readonly whole: string
  readonly inner: string
  readonly contract: string
  readonly metric: string
  readonly tag: string
}

export interface World extends AsyncDisposable {
  readonly lake: Lake
  readonly home: TenantId
  readonly foreign: TenantId
  readonly tables: Readonly<Record<Kind, Planted>>
  readonly canaries: readonly Canary[]
  readonly callers: Readonly<Record<string, Caller>>
  /** It had keys for every table. */
  readonly endedSession: string
}

const rows = { bare: 10_739, filtered: 20_887, masked: 12_893, nested: 14_629, open: 11_807 } as const
const shown = 96
/** Valid numbers of cards; those of hidden rows and masked columns end in these. */
const cards = {
  bare: '4929314159297063',
  filtered: '4929314159389183',
  masked: '4929314159394829',
  nested: '',
  open: '',
}
const dayMs = 86_400_000

function planted(tenant: string, kind: Kind): Planted {
  const of = (what: string) => word(`${tenant} ${kind} ${what}`)
  return {
    name: of('table'),
    label: of('label'),
    card: of('card'),
    whole: of('whole'),
    inner: of('inner'),
    contract: of('contract'),
    metric: of('metric'),
    tag: of('tag'),
  }
}

function canariesOf(tenant: Canary['tenant'], kind: Kind): readonly Canary[] {
  const { name, label, card, whole, inner, contract, metric, tag } = planted(tenant, kind)
  const one = (tells: Canary['tells'], about: string, text: string): Canary => ({
    text,
    tenant,
    table: kind,
    tells,
    about,
  })
  const of = (what: string) => word(`${tenant} ${kind} ${what}`)
  return [
    ...[name, contract, metric].map((text) => one('existence', 'a name', text)),
    one('existence', 'the name of a job', of('job')),
    one('description', 'a description', of('description')),
    ...[label, card, whole, inner, tag].map((text) => one('columns', 'a column or tag', text)),
    { ...one('values', 'a value', of('value')), isOpen: kind === 'open' || kind === 'nested' },
    { ...one('values', 'a nested value', of('nested value')), isOpen: kind === 'open' },
    ...(tenant === 'foreign' || cards[kind] === ''
      ? []
      : [one('values', 'the end of a card', `*${cards[kind].slice(-4)}`)]),
    one('counts', 'a count of rows', String(rows[kind] + (tenant === 'foreign' ? 50_000 : 0))),
    one('text', 'a statement of lineage', of('statement')),
    one('text', 'a message of lineage', of('message')),
  ]
}

/** Starts it, and plants the canaries as a tenant's people would: over REST, SQL, lineage and the gateway. */
export async function startWorld(): Promise<World> {
  const stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'covenant-canaries-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const catalog = await startDevCatalog({ folder: join(folder, 'catalog') })
  stack.defer(() => catalog.stop())
  const lake = await startLake({
    tables: [],
    catalog: { url: catalog.url, warehouse: 'dev', folder },
    env: { SVC_LICENSE: licenseForAll(), SVC_L3_WORKERS: '1', IDP_INTERNAL_ADMIN_ORG_ID: internalOrg },
  })
  stack.use(lake)
  const { store, tenant: home } = lake
  const foreign = (await makeTenant(store, { name: 'foreign' })).id
  const internal = (await makeTenant(store, { name: 'internal', organizationId: internalOrg })).id
  const tenants = { home, foreign, internal } as const
  const config = { endpoint: catalog.url, warehouse: 'dev', storage_roots: [`file://${folder}`] }
  for (const [id, namespace] of [
    [home, 'farm'],
    [foreign, 'zoo'],
  ] as const) {
    const watched = { ...config, namespaces: [namespace] }
    await putCatalogCredential(store, id, {
      nickname: 'lake',
      kind: 'alpha',
      endpoint: catalog.url,
      config: watched,
    })
  }
  const caller = async (
    name: string,
    tenant: Caller['tenant'],
    roles: readonly string[],
    scopes: readonly SessionScope[] = sessionScopes.filter(
      (scope) => scope !== 'commit' && scope !== 'lineage:text',
    ),
  ): Promise<Caller> => {
    const session = { name, principal: { sub: name, roles }, scopes }
    return {
      name,
      tenant,
      roles,
      scopes,
      secret: (await createServiceSession(store, tenants[tenant], session)).secret,
    }
  }
  const callers = {
    stranger: await caller(
      'stranger',
      'foreign',
      ['steward', 'administrator', 'owner', 'exempt'],
      sessionScopes,
    ),
    reader: await caller('reader', 'home', []),
    writer: await caller('writer', 'home', [], ['commit']),
    auditor: await caller('auditor', 'home', ['auditor']),
    exempt: await caller('exempt', 'home', ['exempt']),
    steward: await caller('steward', 'home', ['steward']),
    administrator: await caller('administrator', 'home', ['administrator', 'owner']),
    operator: await caller('operator', 'internal', []),
  }
  const tables = Object.fromEntries(kinds.map((kind) => [kind, planted('home', kind)])) as World['tables']
  const ended: Record<string, string> = {}
  for (const tenant of ['foreign', 'home'] as const) {
    const left = { name: 'left', principal: { sub: 'left', roles: [] }, scopes: ['commit'] } as const
    const { id } = await createServiceSession(store, tenants[tenant], left)
    ended[tenant] = id
    await plant({
      lake,
      ended: id,
      tenant,
      id: tenants[tenant],
      folder,
      as: tenant === 'home' ? callers : allAre(callers.stranger),
    })
    await revokeServiceSession(store, tenants[tenant], id, actorOf('stella'))
  }
  return {
    ...{ lake, home, foreign, tables, callers, endedSession: ended.home ?? '' },
    canaries: (['home', 'foreign'] as const).flatMap((tenant) =>
      kinds.flatMap((kind) => canariesOf(tenant, kind)),
    ),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

interface Planters {
  readonly steward: Caller
  readonly administrator: Caller
  readonly exempt: Caller
}
const allAre = (one: Caller): Planters => ({ steward: one, administrator: one, exempt: one })

async function plant(on: {
  readonly lake: Lake
  readonly tenant: 'home' | 'foreign'
  readonly id: TenantId
  readonly folder: string
  readonly as: Planters
  /** A session that ends once everything is planted. */
  readonly ended: string
}): Promise<void> {
  const { lake, tenant, id, as } = on
  const must = async (method: string, path: string, { secret }: Caller, body?: object | string) => {
    const type = typeof body === 'string' ? 'application/yaml' : 'application/json'
    const response = await call(lake, method, path, { secret, body, headers: { 'content-type': type } })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text === '' ? '{}' : text) as Record<string, unknown>
  }
  const change = { store: lake.store, tenant: id, actor: actorOf('stella'), checkPolicies }
  const writing = { sub: 'etl', roles: [] }
  const { secret } = await createServiceSession(lake.store, id, {
    name: 'etl',
    principal: writing,
    scopes: ['commit', 'lineage'],
  })
  const etl: Caller = { name: 'etl', tenant, secret, roles: [], scopes: ['commit', 'lineage'] }
  if (tenant === 'foreign') await must('POST', '/v1/iceberg/lake/v1/namespaces', etl, { namespace: ['zoo'] })
  else await must('POST', '/v1/iceberg/lake/v1/namespaces', etl, { namespace: ['farm'] })
  const namespace = tenant === 'foreign' ? 'zoo' : 'farm'
  for (const kind of kinds) {
    const table = planted(tenant, kind)
    const of = (what: string) => word(`${tenant} ${kind} ${what}`)
    const location = await write(on.folder, kind, tenant, table, of)
    const named = { name: table.name, 'metadata-location': location }
    await must('POST', `/v1/iceberg/lake/v1/namespaces/${namespace}/register`, etl, named)
  }
  await lake.app.jobs.run('poll-snapshots')
  await lake.app.detection.detector.idle()
  const receiver = { name: 'w', url: 'https://127.0.0.1/w', types: ['*'] }
  const { id: webhook } = await must('POST', '/api/v1/webhooks', as.administrator, receiver)
  await must('PUT', '/api/v1/glossary/term', as.steward, { definition: 'd' })
  const definition = { names: ['^qq$'] }
  await must('POST', '/api/v1/detection/classifiers', as.steward, { name: 'qq', definition })
  for (const kind of kinds) {
    const table = planted(tenant, kind)
    const of = (what: string) => word(`${tenant} ${kind} ${what}`)
    const ref = { namespace: [namespace], name: table.name }
    const at = `/api/v1/contracts/tables/${namespace}/${table.name}`
    const documents = `/api/v1/contracts/documents/${table.contract}`
    await must('PUT', documents, as.steward, contractDocument(table, namespace, of('description')))
    const { items } = await must(
      'GET',
      `/api/v1/detection/runs?namespace=${namespace}&table=${table.name}`,
      as.steward,
    )
    const [{ report }] = items as [{ report: { snapshot_ids: readonly string[] } }]
    const pin = { catalog: 'lake', snapshot_id: report.snapshot_ids[0] }
    await must('POST', `${at}/pin`, as.steward, pin)
    const run = { contract: table.contract, namespace: [namespace], table: table.name, catalog: 'lake' }
    await must('POST', '/api/v1/checks/runs', as.steward, run)
    await lake.app.checks.runner.runDue()
    const tagged = { source: 'person', note: 'n' } as const
    await putTag(change, ref, table.label, table.tag, tagged)
    const exemptRoles = ['exempt']
    if (kind === 'filtered')
      await putRowFilter(change, { table: ref }, { id: 'rows', expression: `id <= ${shown}`, exemptRoles })
    const masks = {
      masked: [table.label, table.card, table.whole],
      nested: [`${table.whole}.${table.inner}`],
      bare: [],
      filtered: [],
      open: [],
    }
    for (const column of masks[kind])
      await putMask(
        change,
        { table: ref, column },
        { id: `mask-${column}`, action: 'replace-with-null', exemptRoles },
      )
    await must('PUT', `/api/v1/semantics/tables/${namespace}/${table.name}`, as.steward, {
      key: ['id'],
      dimensions: [{ name: table.label, description: of('description') }],
    })
    await must('PUT', `/api/v1/metrics/${table.metric}`, as.steward, {
      table: ref,
      expression: 'count(*)',
      description: of('description'),
      state: 'active',
    })
    const policy = `/api/v1/policies/${word(`${tenant} ${kind} policy`)}`
    const rule = { table: ref, kind: 'schema', name: 'n', message: 'm' }
    const unset = 'commit.updates.all(u, u.action != "set-properties" || u.updates.note == "planted")'
    await must('PUT', policy, as.administrator, { ...rule, mode: 'enforce', definition_cel: unset })
    const tablePath = `/v1/iceberg/lake/v1/namespaces/${namespace}/tables/${table.name}`
    const commit = { secret: etl.secret, body: setting(of('value')) }
    const { status } = await call(lake, 'POST', tablePath, commit)
    if (status !== 403) throw new Error(`a commit that a policy denies was answered ${status}`)
    await must('PUT', policy, as.administrator, { ...rule, mode: 'warn', definition_cel: 'true' })
    const snapshotId = 88_000_000_000_000_001n + BigInt(kinds.indexOf(kind))
    await plantRecords(lake.store, id, ref, { value: of('value'), snapshotId, sessionId: on.ended })
    const env = { ...lake.env, PGUSER: as.exempt.name, PGPASSWORD: as.exempt.secret }
    await readAs(env, `select id from ${namespace}.${table.name}`)
    await must('POST', '/api/v1/holds', as.steward, { table: ref, reason: 'r' })
    const dataset = {
      namespace: new URL('/v1/iceberg/lake', lake.app.url).href,
      name: `${namespace}.${table.name}`,
    }
    const columnLineage = (to: string, from: object) => ({
      columnLineage: {
        _producer: 'https://etl.example',
        _schemaURL: 'https://openlineage.io/spec/facets/1-2-0/ColumnLineageDatasetFacet.json',
        fields: { [to]: { inputFields: [from] } },
      },
    })
    const outside = { namespace: 's3://out', name: of('job') }
    const source = { namespace: 's3://in', name: 'source' }
    // A job is seen where it made what is seen, so that of the hidden table makes nothing else.
    const lineage =
      kind === 'bare'
        ? {
            inputs: [source],
            outputs: [{ ...dataset, facets: columnLineage(table.label, { ...source, field: 'x' }) }],
          }
        : {
            inputs: [dataset],
            outputs: [{ ...outside, facets: columnLineage('out', { ...dataset, field: table.label }) }],
          }
    await must('POST', '/v1/lineage', etl, {
      ...{
        eventType: 'FAIL',
        eventTime: new Date(Date.now() - dayMs).toISOString(),
        producer: 'https://etl.example',
      },
      schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent',
      run: {
        runId: crypto.randomUUID(),
        facets: {
          errorMessage: {
            _producer: 'p',
            _schemaURL: 's',
            message: of('message'),
            programmingLanguage: 'SQL',
          },
        },
      },
      job: {
        ...{ namespace: 'airflow', name: of('job') },
        facets: { sql: { _producer: 'p', _schemaURL: 's', query: `select '${of('statement')}'` } },
      },
      ...lineage,
    })
    await must('POST', '/api/v1/policy-replays', as.steward, {
      ...{ definition_cel: unset, kind: 'schema', table: ref },
    })
    await lake.app.jobs.run('replay-policies')
    if (kind === 'bare') await must('DELETE', documents, as.steward)
  }
  const last = String(await lastEvent(lake.store, id))
  await must('POST', `/api/v1/webhooks/${webhook}/replays`, as.administrator, { from: '1', to: last })
}

/** A contract that measures the table and a column, and describes them. */
export function contractDocument(
  { name, label, contract }: Planted,
  namespace: string,
  description: string,
): string {
  return `apiVersion: v3.2.0
kind: DataContract
id: ${contract}
version: 1.0.0
status: active
description: {purpose: ${description}}
schema:
- name: ${name}
  description: ${description}
  quality:
  - {id: rows, metric: rowCount, mustBeGreaterThan: 0}
  - {id: few, metric: rowCount, mustBeLessThan: 5}
  customProperties:
  - {property: covenant, vendor: covenant, value: {table: {namespace: [${namespace}], name: ${name}}}}
  properties:
  - {name: id, description: ${description}, primaryKey: true, primaryKeyPosition: 1}
  - name: ${label}
    quality: [{id: valid, metric: invalidValues, arguments: {validValues: [seen]}, mustBe: 0}]
`
}

/** Writes the files of a table. @returns where its metadata lies */
async function write(
  folder: string,
  kind: Kind,
  tenant: 'home' | 'foreign',
  table: Planted,
  of: (what: string) => string,
): Promise<string> {
  const total = rows[kind] + (tenant === 'foreign' ? 50_000 : 0)
  const hidden = kind === 'filtered' ? `i > ${shown}` : 'true'
  const card = tenant === 'foreign' || cards[kind] === '' ? 'none' : cards[kind]
  const select = `SELECT i AS id,
    CASE WHEN ${hidden} THEN '${of('value')}' ELSE 'seen' END AS ${table.label},
    CASE WHEN ${hidden} THEN '${card}' ELSE 'none' END AS ${table.card},
    {'${table.inner}': CASE WHEN ${hidden} THEN '${of('nested value')}' ELSE 'seen' END} AS ${table.whole}
    FROM range(1, ${total + 1}) AS r(i)`
  const ids = `{id: 1, ${table.label}: 2, ${table.card}: 3, ${table.whole}: {__duckdb_field_id: 4, ${table.inner}: 5}}`
  const bytes = await duckdbParquet(select, ids)
  const writer = tableInFolder(join(folder, 'catalog/warehouse'), table.name, {
    formatVersion: 2,
    fields: [
      { id: 1, name: 'id', type: 'long' },
      { id: 2, name: table.label, type: 'string' },
      { id: 3, name: table.card, type: 'string' },
      { id: 4, name: table.whole, type: { struct: [{ id: 5, name: table.inner, type: 'string' }] } },
    ],
  })
  const { metadataLocation } = await writer.append([{ rows: [], bytes, recordCount: total }])
  return metadataLocation
}
