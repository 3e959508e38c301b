/** The administration log: each change leaves its row, which names who really made it and which nobody can change. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { appendSnapshot, firstSnapshotId } from '../../demo/commits.ts'
import { adminOperations } from '../../src/auth/administration/admin-operations.ts'
import { graphOperations } from '../../src/auth/administration/graph-operations.ts'
import { holdOperations } from '../../src/auth/administration/hold-operations.ts'
import { keyOperations } from '../../src/auth/administration/key-operations.ts'
import { ownOperations } from '../../src/auth/administration/own-operations.ts'
import { retentionOperations } from '../../src/auth/administration/retention-operations.ts'
import { tokenIssuerOperations } from '../../src/auth/issuer-operations.ts'
import { provisioningOperations } from '../../src/auth/provisioning-operations.ts'
import { workloadTrustOperations } from '../../src/auth/workload/operations.ts'
import { checkOperations, checkRunOperations } from '../../src/contract/checks/operations.ts'
import { reportOperations } from '../../src/contract/checks/report-results.ts'
import { classificationOperations } from '../../src/contract/classification-operations.ts'
import { documentOperations } from '../../src/contract/document/operations.ts'
import { gitOperations } from '../../src/contract/git/operations.ts'
import { lifeCycleOperations } from '../../src/contract/lifecycle/operations.ts'
import { oversightOperations } from '../../src/contract/oversight-operations.ts'
import { pinOperations } from '../../src/contract/pin-operations.ts'
import { policyOperations } from '../../src/contract/policy-operations.ts'
import { sourceOperations } from '../../src/contract/reconcile/source-operations.ts'
import { tableOperations } from '../../src/contract/table-operations.ts'
import { tagOperations } from '../../src/contract/tag-operations.ts'
import { type CatalogCredential, catalogOf } from '../../src/core/catalog.ts'
import type { Operation } from '../../src/core/operation.ts'
import type { Policy } from '../../src/core/policy.ts'
import { sessionScopes } from '../../src/core/session.ts'
import { tableKey } from '../../src/core/table-ref.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { classifierOperations } from '../../src/detection/classifier-operations.ts'
import { detectionOperations } from '../../src/detection/operations.ts'
import { writeOversightOperations } from '../../src/gateway/oversight/operations.ts'
import { replayOperations } from '../../src/gateway/replay/operations.ts'
import { territoryOperations } from '../../src/gateway/territory/operations.ts'
import { vendingOperations } from '../../src/gateway/vending/operations.ts'
import { namespaceOperations } from '../../src/lineage/namespace-operations.ts'
import { retirementOperations } from '../../src/lineage/retirement-operations.ts'
import { semanticOperations } from '../../src/semantics/operations.ts'
import { storedOperationOperations } from '../../src/server/graphql/operations.ts'
import { listAdministration } from '../../src/store/administration/administration-log.ts'
import {
  findCatalogCredential,
  hasCatalogCredential,
  removeCatalogCredential,
} from '../../src/store/catalog-credential/catalog-credentials.ts'
import { openIntent } from '../../src/store/commit/commit-intents.ts'
import { noteProposal } from '../../src/store/commit/intent-settlements.ts'
import { startReplay } from '../../src/store/commit/replays.ts'
import { nodeId } from '../../src/store/database/names.ts'
import { setHold } from '../../src/store/history/holds.ts'
import { receiveLineage } from '../../src/store/lineage/events.ts'
import { putPolicy } from '../../src/store/policy/policies.ts'
import { saveTerm } from '../../src/store/semantics/terms.ts'
import { createBrowserSession } from '../../src/store/session/browser-sessions.ts'
import {
  createServiceSession,
  listServiceSessions,
  revokeServiceSession,
} from '../../src/store/session/sessions.ts'
import { createTenant, getTenant, suspendTenant } from '../../src/store/tenant/tenants.ts'
import { webhookSubscriptionOperations } from '../../src/webhook/operations.ts'
import { actorOf } from '../support/actor.ts'
import { requestRun } from '../support/check-rows.ts'
import { intentOf } from '../support/commits.ts'
import {
  call,
  type IdentityService,
  identityWebhookSecret,
  session,
  sign,
  startIdentityService,
} from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import { receivedEvent } from '../support/lineage.ts'
import { addTenant, commit, type TestTenant } from '../support/service.ts'
import { quarantineSnapshot, tableOf, take } from '../support/territory.ts'

setDefaultTimeout(120_000)

let service: IdentityService
let tenant: TenantId
let foreign: TestTenant
/** Holds every privileged role of the tenant, by a session that `olga` made. */
let steward: { readonly id: string; readonly secret: string }
let outsider: string
/** Of a session that was revoked. */
let ended: string
const [staleIntent, secondIntent] = [crypto.randomUUID(), crypto.randomUUID()]

type Json = Readonly<Record<string, unknown>>
const json = async (response: Response) => (await response.json()) as Json

beforeAll(async () => {
  service = await startIdentityService({ env: { SVC_LICENSE: licenseForAll() } })
  tenant = service.owner.tenant
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  const snapshot = { snapshotId: firstSnapshotId, sequenceNumber: 1, timestampMs: Date.now() }
  expect((await commit(service, appendSnapshot(snapshot))).status).toBe(200)
  await leaveFinding()
  for (const commitId of [staleIntent, secondIntent])
    await openIntent(service.store, tenant, intentOf({ commitId }), { leaseMs: 0, upstreamMs: 0 })
  await leaveDropped()
  const spare = { name: 'spare', definition: 'Named by nothing', synonyms: [], links: [] }
  await saveTerm({ store: service.store, tenant, actor: actorOf('x') }, spare)
  // They are bound to something else too, so that they can be unbound.
  for (const id of ['p', 'q']) await putPolicy(service.store, tenant, { tag: 'other' }, keepsTrue(id))
  const owner = await session(service, tenant, sessionScopes, ['owner'], 'olga')
  const roles = ['steward', 'administrator', 'owner']
  const body = { name: 'stella', roles, scopes: sessionScopes }
  const made = await json(await call(service, 'POST', '/api/v1/sessions', { secret: owner, body }))
  steward = { id: String(made.id), secret: String(made.secret) }
  const principal = { sub: 'gone', roles: [] }
  ended = (await createServiceSession(service.store, tenant, { name: 'gone', principal, scopes: [] })).id
  await revokeServiceSession(service.store, tenant, ended)
  outsider = await session(service, foreign.tenant, sessionScopes, roles, 'mallory')
})
afterAll(() => service[Symbol.asyncDispose]())

const keepsTrue = (id: string): Policy => ({
  ...{ id, kind: 'schema', mode: 'enforce', name: id, message: '', definitionCel: 'true' },
})

/** Leaves a finding of a run that is done, so that no worker of the service takes the run. */
async function leaveFinding(): Promise<void> {
  await service.store.tenantQuery(
    tenant,
    `with run as (
       insert into svc.detection_run (tenant_id, snapshot_metadata_location, source, state, table_id, namespace, table_name)
       values ($1, 's3://people/1.json', 'storage-event', 'done', $2, '["sales"]', 'people') returning run_id)
     insert into svc.detection_finding (tenant_id, run_id, attempt, classification_id, column_name, path, class, shape,
       confidence, matched, sampled)
     select $1, run_id, 1, 'people ssn', 'ssn', 'ssn', 'us_ssn', 'name', 0.65, 0, 0 from run`,
    [tenant, nodeId(tableKey({ namespace: ['sales'], name: 'people' }))],
  )
}

/** Leaves territory of two tables that were dropped. */
async function leaveDropped(): Promise<void> {
  const credential = await findCatalogCredential(service.store, tenant, 'main')
  const catalog = catalogOf(credential as CatalogCredential)
  for (const name of ['gone1', 'gone2'])
    await take(service.store, tenant, name, `s3://lake/${name}/`, { catalog, tableUuid: 'u' })
  await service.store.tenantQuery(
    tenant,
    `update svc.territory set dropped_at = now() where tenant_id = $1 and table_name like 'gone%'`,
    [tenant],
  )
}

async function log(query = '', secret = steward.secret): Promise<readonly Json[]> {
  const response = await call(service, 'GET', `/api/v1/administration?${query}`, { secret })
  expect(response.status).toBe(200)
  return (await json(response)).items as readonly Json[]
}

interface Step {
  readonly action: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly subject?: object
  /** Rows that it leaves, where it makes several changes; the newest is checked. */
  readonly rows?: number
}

const table = '/api/v1/contracts/tables/sales/orders'
const tag = '/api/v1/contracts/tags/t'
const [column, orders] = [`${table}/columns/amount`, { table: { namespace: ['sales'], name: 'orders' } }]
const filter = { expression: 'id > 1' }
const mask = { action: 'replace-with-null' }
const sourceBody = { host: '127.0.0.1', database: 'd', user: 'u', password: 'Zk4canary' }
const workload = {
  ...{ issuer: 'https://oidc.example', audience: 'covenant', subject: 'spark-*', scopes: ['commit'] },
}
const receiver = { name: 'w', url: 'https://127.0.0.1/w', types: ['*'] }
const policy = { ...orders, kind: 'schema', definition_cel: 'true' }
const alpha = { catalog_kind: 'alpha', endpoint: 'https://catalog.example' }
const config_json = { warehouse: 'w', credential: 'a:Zk4canary' }
const lake = '/admin/tenants/{tenant}/catalogs/lake'

const territoryOrders = { catalog: 'main', ...orders }
const dropped = (name: string) => ({ catalog: 'main', table: tableOf(name) })
const cloneOf = (name: string) => ({ ...dropped(name), source: dropped('gone2') })
const document = '/api/v1/contracts/documents/d'
const lived = '/api/v1/contracts/documents/l'
const plainText = 'apiVersion: v3.2.0\nkind: DataContract\nid: d\nversion: 1.0.0\n'
const documentText = [
  'apiVersion: v3.2.0\nkind: DataContract\nid: d\nversion: 1.0.0\nschema:\n- name: orders\n  customProperties:',
  '  - {property: covenant, vendor: covenant, value: {table: {namespace: [sales], name: orders}}}',
  '  quality: [{id: tool, type: custom, engine: soda, implementation: x}]\n',
].join('\n')

/** One call for each operation that administers, in an order in which they succeed. */
const steps: Readonly<Record<string, Step>> = {
  make_tenant: { action: 'create-tenant', path: '/admin/tenants', body: { name: 'another' } },
  suspend_tenant: { action: 'suspend-tenant', path: '/admin/tenants/{another}/suspend' },
  resume_tenant: { action: 'resume-tenant', path: '/admin/tenants/{another}/resume' },
  put_catalog: {
    action: 'put-catalog',
    path: lake,
    body: { ...alpha, config_json },
    subject: { catalog: 'lake' },
  },
  change_catalog: {
    action: 'change-catalog',
    path: lake,
    body: { config_json: { webhook_secret: 'Zk4canary' } },
  },
  remove_catalog: { action: 'remove-catalog', path: lake, subject: { catalog: 'lake' } },
  mint_session: {
    action: 'create-session',
    path: '/admin/tenants/{tenant}/sessions',
    body: { name: 'a', scopes: ['read'] },
  },
  turn_tenant_session_secret: {
    action: 'turn-session-secret',
    path: '/admin/tenants/{tenant}/sessions/{id}/secret',
  },
  end_session: { action: 'revoke-session', path: '/admin/tenants/{tenant}/sessions/{id}' },
  mint_own_session: {
    action: 'create-session',
    path: '/api/v1/sessions',
    body: { name: 'b', scopes: ['read'] },
  },
  turn_session_secret: { action: 'turn-session-secret', path: '/api/v1/sessions/{id}/secret' },
  end_own_session: { action: 'revoke-session', path: '/api/v1/sessions/{id}' },
  put_policy: {
    action: 'put-policy',
    path: '/api/v1/policies/p',
    body: policy,
    subject: { policy: 'p', ...orders },
  },
  unbind_policy: {
    action: 'unbind-policy',
    path: '/api/v1/policies/p/unbind',
    body: orders,
    subject: { policy: 'p', ...orders },
  },
  delete_policy: { action: 'delete-policy', path: '/api/v1/policies/p', subject: { policy: 'p' } },
  put_tenant_policy: {
    action: 'put-policy',
    path: '/admin/tenants/{tenant}/policies/q',
    body: policy,
    subject: { policy: 'q', ...orders },
  },
  unbind_tenant_policy: {
    action: 'unbind-policy',
    path: '/admin/tenants/{tenant}/policies/q/unbind',
    body: orders,
    subject: { policy: 'q', ...orders },
  },
  delete_tenant_policy: {
    action: 'delete-policy',
    path: '/admin/tenants/{tenant}/policies/q',
    subject: { policy: 'q' },
  },
  start_policy_replay: { action: 'start-policy-replay', path: '/api/v1/policy-replays', body: {} },
  start_tenant_policy_replay: {
    action: 'start-policy-replay',
    path: '/admin/tenants/{tenant}/policy-replays',
    body: {},
  },
  cancel_policy_replay: {
    action: 'cancel-policy-replay',
    path: '/api/v1/policy-replays/{replay}/cancel',
  },
  cancel_tenant_policy_replay: {
    action: 'cancel-policy-replay',
    path: '/admin/tenants/{tenant}/policy-replays/{replay}/cancel',
  },
  put_contract: { action: 'put-contract', path: table, body: { id: 'c', version: 1 }, subject: orders },
  put_table_row_filter: { action: 'put-row-filter', path: `${table}/row-filters/f`, body: filter },
  put_column_row_filter: { action: 'put-row-filter', path: `${column}/row-filters/f`, body: filter },
  put_tag_row_filter: { action: 'put-row-filter', path: `${tag}/row-filters/f`, body: filter },
  put_table_tag: { action: 'put-tag', path: `${table}/tags/whole`, body: { note: 'n' } },
  put_column_tag: { action: 'put-tag', path: `${column}/tags/t` },
  put_column_mask: { action: 'put-mask', path: `${column}/masks/m`, body: mask },
  put_tag_mask: { action: 'put-mask', path: `${tag}/masks/m`, body: mask },
  pin_table: {
    action: 'pin',
    path: `${table}/pin`,
    body: { catalog: 'main', snapshot_id: String(firstSnapshotId) },
    subject: orders,
  },
  unpin_table: { action: 'unpin', path: `${table}/unpin`, subject: orders },
  put_read_settings: {
    action: 'put-settings',
    path: '/api/v1/contracts/settings',
    body: { uncontracted: 'readable' },
  },
  put_classification_tags: {
    action: 'put-settings',
    path: '/api/v1/contracts/settings/classifications',
    body: { items: [{ classification: 'restricted', tag: 'pii' }] },
  },
  delete_column_mask: { action: 'delete-mask', path: `${column}/masks/m` },
  delete_tag_mask: { action: 'delete-mask', path: `${tag}/masks/m` },
  delete_table_tag: { action: 'delete-tag', path: `${table}/tags/whole` },
  delete_column_tag: { action: 'delete-tag', path: `${column}/tags/t` },
  delete_table_row_filter: { action: 'delete-row-filter', path: `${table}/row-filters/f` },
  delete_column_row_filter: { action: 'delete-row-filter', path: `${column}/row-filters/f` },
  delete_tag_row_filter: { action: 'delete-row-filter', path: `${tag}/row-filters/f` },
  delete_contract: { action: 'delete-contract', path: table, subject: orders },
  put_contract_document: {
    action: 'put-contract-document',
    path: document,
    body: documentText,
    headers: { 'content-type': 'application/yaml' },
    subject: { contract: 'd' },
  },
  edit_contract_document: {
    action: 'edit-contract-document',
    path: document,
    body: [{ op: 'replace', path: '/version', value: '1.0.1' }],
    headers: {
      'content-type': 'application/json-patch+json',
      'if-match': `"${new Bun.CryptoHasher('sha256').update(documentText).digest('hex')}"`,
    },
  },
  request_check_run: {
    action: 'request-checks',
    path: '/api/v1/checks/runs',
    body: { contract: 'd', namespace: ['sales'], table: 'orders', catalog: 'main' },
    subject: { contract: 'd' },
  },
  report_check_results: {
    action: 'report-check-results',
    path: '/api/v1/checks/results',
    body: {
      ...{ contract: 'd', namespace: ['sales'], table: 'orders', catalog: 'main' },
      results: [{ check: 'tool', outcome: 'passed' }],
    },
    subject: { contract: 'd' },
  },
  cancel_check_run: { action: 'cancel-checks', path: '/api/v1/checks/runs/{check}/cancel' },
  resume_check_run: { action: 'resume-checks', path: '/api/v1/checks/runs/{check}/resume' },
  cancel_tenant_check_run: {
    action: 'cancel-checks',
    path: '/admin/tenants/{tenant}/checks/runs/{check}/cancel',
  },
  resume_tenant_check_run: {
    action: 'resume-checks',
    path: '/admin/tenants/{tenant}/checks/runs/{check}/resume',
  },
  put_life_cycle_settings: {
    action: 'put-life-cycle-settings',
    path: '/api/v1/contracts/life-cycle-settings',
    body: { deploy_unverified: false },
  },
  store_graphql_operation: {
    action: 'store-graphql-operation',
    path: '/api/v1/graphql/operations',
    body: { document: '{ __typename }' },
    subject: { sha256: new Bun.CryptoHasher('sha256').update('{ __typename }').digest('hex') },
  },
  delete_graphql_operation: {
    action: 'delete-graphql-operation',
    path: `/api/v1/graphql/operations/${new Bun.CryptoHasher('sha256').update('{ __typename }').digest('hex')}`,
  },
  put_graphql_settings: {
    action: 'put-graphql-settings',
    path: '/api/v1/graphql/settings',
    body: { stored_operations_only: false },
  },
  add_contract_version: {
    action: 'add-contract-version',
    path: `${lived}/versions`,
    body: plainText.replace('id: d', 'id: l'),
    headers: { 'content-type': 'application/yaml' },
    subject: { contract: 'l' },
  },
  move_contract_version: {
    action: 'move-contract-version',
    path: `${lived}/versions/1/moves`,
    body: { move: 'propose' },
    subject: { contract: 'l', number: 1 },
  },
  propose_contract_documents: {
    action: 'move-contract-version',
    rows: 2,
    path: '/api/v1/contracts/proposals',
    body: {
      managed_by: 'git',
      documents: [
        {
          ...{ id: 'g', format: 'yaml', document: plainText.replace('id: d', 'id: g') },
          sha256: new Bun.CryptoHasher('sha256').update(plainText.replace('id: d', 'id: g')).digest('hex'),
        },
      ],
    },
    subject: { contract: 'g', number: 1 },
  },
  delete_contract_document: { action: 'delete-contract-document', path: document },
  put_territory_mode: {
    action: 'put-territory-mode',
    path: '/api/v1/territory/mode',
    body: { mode: 'observe' },
  },
  grant_territory: {
    action: 'grant-territory',
    path: '/api/v1/territory/grants',
    body: { ...territoryOrders, prefix: 's3://lake/in1/' },
    subject: territoryOrders,
  },
  release_territory: {
    action: 'release-territory',
    path: '/api/v1/territory/releases',
    body: { ...territoryOrders, prefix: 's3://lake/in1/' },
    subject: territoryOrders,
  },
  hand_territory_over: {
    action: 'hand-over-territory',
    path: '/api/v1/territory/hand-overs',
    body: { from: dropped('gone1'), to: dropped('moved1'), table_uuid: 'u' },
    subject: dropped('gone1'),
  },
  derive_territory: {
    action: 'derive-territory',
    path: '/api/v1/territory/derived',
    body: { ...cloneOf('clone1') },
    subject: { catalog: 'main', table: { namespace: ['sales'], name: 'clone1' } },
  },
  revoke_territory: {
    action: 'revoke-territory',
    path: '/api/v1/territory/derived/revoke',
    body: { ...cloneOf('clone1') },
    subject: { catalog: 'main', table: { namespace: ['sales'], name: 'clone1' } },
  },
  derive_tenant_territory: {
    action: 'derive-territory',
    path: '/admin/tenants/{tenant}/territory/derived',
    body: { ...cloneOf('clone2') },
    subject: { catalog: 'main', table: { namespace: ['sales'], name: 'clone2' } },
  },
  revoke_tenant_territory: {
    action: 'revoke-territory',
    path: '/admin/tenants/{tenant}/territory/derived/revoke',
    body: { ...cloneOf('clone2') },
    subject: { catalog: 'main', table: { namespace: ['sales'], name: 'clone2' } },
  },
  put_territory_manifests: {
    action: 'put-territory-manifests',
    path: '/api/v1/territory/manifests',
    body: { mode: 'audit' },
  },
  release_snapshot: {
    action: 'release-snapshot',
    path: '/api/v1/territory/quarantine/{quarantine}/release',
    body: { reason: 'agreed' },
    subject: { table: { namespace: ['sales'], name: 'orders' } },
  },
  put_tenant_territory_manifests: {
    action: 'put-territory-manifests',
    path: '/admin/tenants/{tenant}/territory/manifests',
    body: { mode: 'audit' },
  },
  release_tenant_snapshot: {
    action: 'release-snapshot',
    path: '/admin/tenants/{tenant}/territory/quarantine/{quarantine}/release',
    body: { reason: 'agreed' },
    subject: { table: { namespace: ['sales'], name: 'orders' } },
  },
  put_tenant_territory_mode: {
    action: 'put-territory-mode',
    path: '/admin/tenants/{tenant}/territory/mode',
    body: { mode: 'observe' },
  },
  grant_tenant_territory: {
    action: 'grant-territory',
    path: '/admin/tenants/{tenant}/territory/grants',
    body: { ...territoryOrders, prefix: 's3://lake/in2/' },
    subject: territoryOrders,
  },
  release_tenant_territory: {
    action: 'release-territory',
    path: '/admin/tenants/{tenant}/territory/releases',
    body: { ...territoryOrders, prefix: 's3://lake/in2/' },
    subject: territoryOrders,
  },
  hand_tenant_territory_over: {
    action: 'hand-over-territory',
    path: '/admin/tenants/{tenant}/territory/hand-overs',
    body: { from: dropped('gone2'), to: dropped('moved2'), table_uuid: 'u' },
    subject: dropped('gone2'),
  },
  put_retention: {
    action: 'put-retention',
    path: '/api/v1/retention/commit-bodies',
    body: { keep_days: 400 },
    subject: { kind: 'commit-bodies' },
  },
  delete_retention: {
    action: 'delete-retention',
    path: '/api/v1/retention/commit-bodies',
    subject: { kind: 'commit-bodies' },
  },
  put_tenant_retention: {
    action: 'put-retention',
    path: '/admin/tenants/{tenant}/retention/usage',
    body: { keep_days: 400 },
    subject: { kind: 'usage' },
  },
  delete_tenant_retention: {
    action: 'delete-retention',
    path: '/admin/tenants/{tenant}/retention/usage',
    subject: { kind: 'usage' },
  },
  set_hold: {
    action: 'set-hold',
    path: '/api/v1/holds',
    body: { table: { namespace: ['sales'], name: 'orders' }, reason: 'case' },
  },
  release_hold: { action: 'release-hold', path: '/api/v1/holds/{hold}/release', body: { reason: 'closed' } },
  set_tenant_hold: {
    action: 'set-hold',
    path: '/admin/tenants/{tenant}/holds',
    body: { reason: 'case' },
  },
  release_tenant_hold: {
    action: 'release-hold',
    path: '/admin/tenants/{tenant}/holds/{hold}/release',
    body: { reason: 'closed' },
  },
  put_table_model: {
    action: 'put-table-model',
    path: '/api/v1/semantics/tables/sales/orders',
    body: { key: ['id'], dimensions: [{ name: 'id' }] },
    subject: { table: { namespace: ['sales'], name: 'orders' } },
  },
  put_term: {
    action: 'put-term',
    path: '/api/v1/glossary/volume',
    body: { definition: 'How many' },
    subject: { term: 'volume' },
  },
  put_metric: {
    action: 'put-metric',
    path: '/api/v1/metrics/volume',
    body: { table: { namespace: ['sales'], name: 'orders' }, expression: 'count(*)', term: 'volume' },
    subject: { metric: 'volume', number: 1 },
  },
  move_metric: {
    action: 'move-metric',
    path: '/api/v1/metrics/volume/versions/1/move',
    body: { to: 'deprecated' },
    subject: { metric: 'volume', number: 1 },
  },
  delete_term: {
    action: 'delete-term',
    path: '/api/v1/glossary/spare',
    subject: { term: 'spare' },
  },
  decide_finding: {
    action: 'decide-finding',
    path: '/api/v1/detection/findings/{finding}/decisions',
    body: { decision: 'reject', reason: 'synthetic' },
  },
  deny_session: {
    action: 'deny-session',
    path: '/api/v1/credentials/denials',
    body: { session: '{ended}' },
  },
  deny_tenant_session: {
    action: 'deny-session',
    path: '/admin/tenants/{tenant}/credentials/denials',
    body: { session: '{ended}' },
  },
  create_webhook: {
    action: 'create-webhook',
    path: '/api/v1/webhooks',
    body: receiver,
  },
  change_webhook: { action: 'change-webhook', path: '/api/v1/webhooks/{id}', body: { enabled: false } },
  rotate_webhook_secret: {
    action: 'rotate-webhook-secret',
    path: '/api/v1/webhooks/{id}/secrets',
    body: {},
  },
  replay_webhook: {
    action: 'replay-webhook',
    path: '/api/v1/webhooks/{id}/replays',
    body: { dead: true },
  },
  delete_webhook: { action: 'delete-webhook', path: '/api/v1/webhooks/{id}' },
  create_tenant_webhook: {
    action: 'create-webhook',
    path: '/admin/tenants/{tenant}/webhooks',
    body: receiver,
  },
  change_tenant_webhook: {
    action: 'change-webhook',
    path: '/admin/tenants/{tenant}/webhooks/{id}',
    body: { enabled: false },
  },
  rotate_tenant_webhook_secret: {
    action: 'rotate-webhook-secret',
    path: '/admin/tenants/{tenant}/webhooks/{id}/secrets',
    body: {},
  },
  replay_tenant_webhook: {
    action: 'replay-webhook',
    path: '/admin/tenants/{tenant}/webhooks/{id}/replays',
    body: { dead: true },
  },
  delete_tenant_webhook: { action: 'delete-webhook', path: '/admin/tenants/{tenant}/webhooks/{id}' },
  put_trusted_engine: {
    action: 'put-trusted-engine',
    path: '/api/v1/credentials/trusted-engines/{steward}',
    body: { trusted: true },
  },
  put_tenant_trusted_engine: {
    action: 'put-trusted-engine',
    path: '/admin/tenants/{tenant}/credentials/trusted-engines/{steward}',
    body: { trusted: false },
  },
  map_dataset_namespace: {
    action: 'map-dataset-namespace',
    path: '/api/v1/lineage/namespaces',
    body: { namespace: 'trino://t:8080', first_level: 'lake', catalog: 'main' },
    subject: { namespace: 'trino://t:8080', first_level: 'lake' },
  },
  unmap_dataset_namespace: {
    action: 'unmap-dataset-namespace',
    path: '/api/v1/lineage/namespaces?namespace=trino%3A%2F%2Ft%3A8080&first_level=lake',
  },
  map_tenant_dataset_namespace: {
    action: 'map-dataset-namespace',
    path: '/admin/tenants/{tenant}/lineage/namespaces',
    body: { namespace: 'hive://m:9083', catalog: 'main' },
    subject: { namespace: 'hive://m:9083' },
  },
  unmap_tenant_dataset_namespace: {
    action: 'unmap-dataset-namespace',
    path: '/admin/tenants/{tenant}/lineage/namespaces?namespace=hive%3A%2F%2Fm%3A9083',
  },
  retire_lineage: {
    action: 'retire-lineage',
    path: '/api/v1/lineage/retirements',
    body: { dataset: { namespace: 's3://lake', name: 'taken' }, reason: 'wrong' },
  },
  restore_lineage: { action: 'restore-lineage', path: '/api/v1/lineage/retirements/{id}' },
  retire_tenant_lineage: {
    action: 'retire-lineage',
    path: '/admin/tenants/{tenant}/lineage/retirements',
    body: { dataset: { namespace: 's3://lake', name: 'taken' }, reason: 'wrong' },
  },
  restore_tenant_lineage: {
    action: 'restore-lineage',
    path: '/admin/tenants/{tenant}/lineage/retirements/{id}',
  },
  set_lineage_staleness: {
    action: 'set-lineage-staleness',
    path: '/api/v1/lineage/staleness',
    body: { days: 30 },
    subject: { job: null },
  },
  set_tenant_lineage_staleness: {
    action: 'set-lineage-staleness',
    path: '/admin/tenants/{tenant}/lineage/staleness',
    body: { days: 30 },
    subject: { job: null },
  },
  put_reconciliation_source: {
    action: 'put-reconciliation-source',
    path: '/api/v1/reconciliation-sources/crm',
    body: sourceBody,
    subject: { source: 'crm' },
  },
  remove_reconciliation_source: {
    action: 'remove-reconciliation-source',
    path: '/api/v1/reconciliation-sources/crm',
  },
  put_tenant_reconciliation_source: {
    action: 'put-reconciliation-source',
    path: '/admin/tenants/{tenant}/reconciliation-sources/crm',
    body: sourceBody,
    subject: { source: 'crm' },
  },
  remove_tenant_reconciliation_source: {
    action: 'remove-reconciliation-source',
    path: '/admin/tenants/{tenant}/reconciliation-sources/crm',
  },
  put_token_issuer: {
    action: 'put-token-issuer',
    path: '/api/v1/token-issuers/partner',
    body: { issuer: 'https://login.partner.example', audience: 'covenant' },
    subject: { name: 'partner' },
  },
  delete_token_issuer: { action: 'delete-token-issuer', path: '/api/v1/token-issuers/partner' },
  put_provisioning: {
    action: 'put-provisioning',
    path: '/api/v1/provisioning',
    body: { claim: 'sub', attribute: 'userName', roles_from: 'token' },
  },
  put_workload_trust: {
    action: 'put-workload-trust',
    path: '/api/v1/workload-trusts/spark',
    body: workload,
  },
  delete_workload_trust: { action: 'delete-workload-trust', path: '/api/v1/workload-trusts/spark' },
  put_tenant_workload_trust: {
    action: 'put-workload-trust',
    path: '/admin/tenants/{tenant}/workload-trusts/spark',
    body: workload,
  },
  delete_tenant_workload_trust: {
    action: 'delete-workload-trust',
    path: '/admin/tenants/{tenant}/workload-trusts/spark',
  },
  settle_intent: {
    action: 'settle-intent',
    path: '/api/v1/intents/{intent}/settle',
    body: { outcome: 'not-made', reason: 'the table shows nothing of it' },
  },
  settle_tenant_intent: {
    action: 'settle-intent',
    path: '/admin/tenants/{tenant}/intents/{second}/settle',
    body: { outcome: 'not-made', reason: 'the table shows nothing of it' },
  },
  settle_proven_intents: {
    action: 'settle-intent',
    path: '/api/v1/intents/settle-proven',
    body: { reason: 'the file holds it' },
  },
  settle_tenant_proven_intents: {
    action: 'settle-intent',
    path: '/admin/tenants/{tenant}/intents/settle-proven',
    body: { reason: 'the file holds it' },
  },
  rescan_table: {
    action: 'rescan-table',
    path: '/api/v1/detection/rescans',
    body: { table: { namespace: ['sales'], name: 'people' } },
  },
  create_classifier: {
    action: 'put-classifier',
    path: '/api/v1/detection/classifiers',
    body: {
      name: 'nl_bsn',
      definition: { names: ['bsn'], allow: [{ table: { namespace: ['s'], name: 't' }, values: ['1'] }] },
    },
    subject: { classifier: 'nl_bsn' },
  },
  change_classifier: {
    action: 'put-classifier',
    path: '/api/v1/detection/classifiers/nl_bsn',
    body: { definition: { values: [{ pattern: '[0-9]{9}' }] } },
  },
  try_classifier: {
    action: 'try-classifier',
    path: '/api/v1/detection/classifiers/nl_bsn/try',
    body: { values: ['111222333'] },
    subject: { classifier: 'nl_bsn' },
  },
  activate_classifier: {
    action: 'activate-classifier',
    path: '/api/v1/detection/classifiers/nl_bsn/activate',
  },
  deactivate_classifier: {
    action: 'deactivate-classifier',
    path: '/api/v1/detection/classifiers/nl_bsn/deactivate',
  },
  delete_classifier: { action: 'delete-classifier', path: '/api/v1/detection/classifiers/nl_bsn' },
}

const administering = (
  [
    ...adminOperations,
    ...keyOperations,
    ...ownOperations,
    ...tableOperations,
    ...documentOperations,
    ...lifeCycleOperations,
    ...gitOperations,
    ...policyOperations,
    ...tagOperations,
    ...pinOperations,
    ...checkOperations,
    ...reportOperations,
    ...checkRunOperations,
    ...oversightOperations,
    ...classificationOperations,
    ...detectionOperations,
    ...classifierOperations,
    ...writeOversightOperations,
    ...replayOperations,
    ...graphOperations,
    ...retentionOperations,
    ...holdOperations,
    ...territoryOperations,
    ...vendingOperations,
    ...webhookSubscriptionOperations,
    ...semanticOperations,
    ...storedOperationOperations,
    ...sourceOperations,
    ...namespaceOperations,
    ...retirementOperations,
    ...workloadTrustOperations,
    ...tokenIssuerOperations,
    ...provisioningOperations,
  ] as readonly Operation[]
).filter(
  // A check saves nothing.
  ({ name, method, access }) =>
    method !== 'GET' &&
    name !== 'check_tenant_policy' &&
    ('organization' in access || ('scope' in access && access.scope === 'admin')),
)

test('every operation that administers is tried below', () => {
  // A sign-off needs another person than the author: test/contract/lifecycle.
  // An attestation too: test/semantics.
  // The settings of the installation are their own log: test/auth/retention.test.ts.
  const elsewhere = [
    'sign_contract_version',
    'attest_metric',
    'end_attestation',
    'put_installation_retention',
    // What no tenant owns has a record of its own: test/auth/keys.test.ts.
    'turn_token_signing_key',
    'turn_plan_signing_key',
  ]
  expect([...Object.keys(steps), ...elsewhere].toSorted()).toEqual(
    administering.map(({ name }) => name).toSorted(),
  )
})

/** The body, with what was noted in the place of its session. */
function filledBody(body: unknown, filled: (text: string) => string): unknown {
  const { session: named } = body as { readonly session?: string }
  return named === undefined ? body : { session: filled(named) }
}

/** Leaves an intent of which recovery has found the file. */
async function leaveProven(): Promise<void> {
  const intent = intentOf()
  await openIntent(service.store, tenant, intent, { leaseMs: 0, upstreamMs: 0 })
  const metadataLocation = `s3://lake/${intent.commitId}.metadata.json`
  const proposal = { metadataLocation, evidence: 'the file holds this change, and another', isProven: true }
  await noteProposal(service.store, tenant, intent.commitId, proposal)
}

describe('a change over HTTP', () => {
  const noted = new Map<string, string>()
  test.each(Object.entries(steps))('by %s leaves its row', async (name, step) => {
    const [finding] = (
      await json(await call(service, 'GET', '/api/v1/detection/findings', { secret: steward.secret }))
    ).items as Json[]
    noted
      .set('tenant', tenant)
      .set('finding', String(finding?.id))
      .set('intent', staleIntent)
      .set('second', secondIntent)
      .set('ended', ended)
      .set('steward', steward.id)
    if (step.path.includes('{quarantine}'))
      noted.set('quarantine', await quarantineSnapshot(service.store, tenant))
    if (step.path.endsWith('settle-proven')) await leaveProven()
    if (step.path.endsWith('lineage/retirements'))
      await receiveLineage(service.store, tenant, [receivedEvent({ inputs: ['taken'] })], true)
    if (step.path.includes('{hold}'))
      noted.set(
        'hold',
        (await setHold(service.store, tenant, { table: undefined, reason: 'x' }, actorOf('x'))).id,
      )
    if (step.path.includes('{replay}'))
      noted.set('replay', (await startReplay(service.store, tenant, { commits: 1 }, actorOf('stella'))).id)
    if (step.path.endsWith('{check}/cancel')) noted.set('check', await requestRun(service.store, tenant))
    const filled = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, key) => noted.get(key) ?? '')
    const path = filled(step.path)
    const method = administering.find((one) => one.name === name)?.method ?? ''
    const isAdmin = path.startsWith('/admin')
    const requestId = `request-${name}`
    const response = await call(service, method, path, {
      secret: isAdmin ? service.operator : steward.secret,
      headers: { 'x-request-id': requestId, ...step.headers },
      ...(step.body !== undefined && { body: filledBody(step.body, filled) }),
    })
    expect(response.status).toBeLessThan(300)
    const answer = response.status === 204 ? {} : await json(response)
    if (answer.id !== undefined) noted.set(name === 'make_tenant' ? 'another' : 'id', String(answer.id))

    const concerned = (step.path.includes('{another}') || name === 'make_tenant') && noted.get('another')
    const rows = concerned
      ? ((
          await json(
            await call(service, 'GET', `/admin/tenants/${concerned}/administration?request_id=${requestId}`, {
              secret: service.operator,
            }),
          )
        ).items as readonly Json[])
      : await log(`request_id=${requestId}`)
    expect(rows).toHaveLength(step.rows ?? 1)
    expect(rows[0]).toMatchObject({
      action: step.action,
      request_id: requestId,
      ...(step.subject !== undefined && { subject: step.subject }),
      actor: isAdmin
        ? { sub: 'someone', source: 'session', session_kind: 'service', session_created_by: 'operator' }
        : {
            sub: 'service:stella',
            source: 'session',
            session_id: steward.id,
            session_kind: 'service',
            session_created_by: 'olga',
          },
    })
  })

  test('leaves no secret in its row, only the names of what was set', async () => {
    const rows = await log('limit=1000')
    expect(JSON.stringify(rows)).not.toMatch(/Zk4canary|svc_/)
    const put = rows.find(({ action }) => action === 'put-catalog')
    expect(put?.value).toMatchObject({ fields: ['credential', 'warehouse'] })
  })

  test('that is refused leaves none', async () => {
    const [before] = await log('limit=1')
    const { secret } = steward
    const refused = [
      await call(service, 'DELETE', `/api/v1/sessions/${crypto.randomUUID()}`, { secret }),
      await call(service, 'POST', `${table}/unpin`, { secret }),
      await call(service, 'PUT', `${table}/row-filters/f`, { secret, body: { expression: 'none > 1' } }),
      await call(service, 'POST', '/api/v1/sessions', { secret: outsider, body: { name: '', scopes: [] } }),
    ]
    for (const { status } of refused) expect(status).toBeGreaterThanOrEqual(400)
    expect((await log('limit=1'))[0]).toEqual(before as Json)
  })

  test('about a finding is in the finding and in its attestation', async () => {
    const listed = await json(
      await call(service, 'GET', '/api/v1/detection/findings?status=rejected', { secret: steward.secret }),
    )
    const through = { session_kind: 'service', session_created_by: 'olga' }
    expect(listed).toMatchObject({ items: [{ decision: { decided_by: 'service:stella', ...through } }] })
    const attestations = await service.store.tenantQuery<{ properties: string }>(
      tenant,
      'select properties::text as properties from "Attestation"',
    )
    expect(attestations.map(({ properties }) => JSON.parse(properties))).toMatchObject([
      { attested_by: 'service:stella', ...through },
    ])
  })
})

describe('the log', () => {
  test('is read in pages, newest first, and by action and actor', async () => {
    const all = await log('limit=1000')
    const paged: Json[] = []
    for (let token: unknown; ; ) {
      const query = token === undefined ? '' : `&page_token=${token}`
      const response = await call(service, 'GET', `/api/v1/administration?limit=7${query}`, {
        secret: steward.secret,
      })
      const page = await json(response)
      paged.push(...(page.items as Json[]))
      token = page.next_page_token
      if (token === undefined) break
    }
    expect(paged).toEqual([...all])
    const times = all.map(({ at }) => String(at))
    expect(times).toEqual(times.toSorted().toReversed())
    expect(new Set((await log('action=put-mask')).map(({ action }) => action))).toEqual(new Set(['put-mask']))
    expect((await log('actor=olga')).map(({ action }) => action)).toEqual(['create-session'])
    expect(await log('actor=nobody')).toEqual([])
  })

  test.each(['page_token=x', 'action=none', 'limit=0'])('is 400 for %s', async (query) => {
    const { status } = await call(service, 'GET', `/api/v1/administration?${query}`, {
      secret: steward.secret,
    })
    expect(status).toBe(400)
  })

  test('of a tenant is nothing to another', async () => {
    expect(JSON.stringify(await log('limit=1000', outsider))).not.toMatch(/stella|olga|sales/)
    expect(await log('request_id=request-put_contract', outsider)).toEqual([])
    expect(JSON.stringify(await log('limit=1000'))).not.toContain('mallory')
    const unseen = await service.store.tenantQuery<{ tenant_id: string }>(
      foreign.tenant,
      'select distinct tenant_id from svc.administration_log',
    )
    expect(unseen).toEqual([{ tenant_id: foreign.tenant }])
  })

  test('takes no change and no removal from any role', async () => {
    const { store } = service
    for (const statement of [
      `update svc.administration_log set actor_sub = 'x'`,
      'delete from svc.administration_log',
      'truncate svc.administration_log',
    ]) {
      const attempts = [
        store.tenantTransaction(tenant, (tx) => tx.query(statement)),
        store.adminTransaction((tx) => tx.query(statement)),
        store.ownerTransaction(tenant, (tx) => tx.query(statement)),
      ]
      for (const attempt of await Promise.allSettled(attempts)) expect(attempt.status).toBe('rejected')
    }
  })

  test('is written with the change or not at all: what cannot be recorded is not done', async () => {
    const { store } = service
    const listed = async () => (await listServiceSessions(store, tenant, { limit: 1000 })).items
    const before = await listed()
    const unrecordable = { ...actorOf('x'), requestId: '' }
    const wanted = { name: 'x', principal: { sub: 'service:x', roles: [] }, scopes: ['read'] } as const
    const attempts = [
      createServiceSession(store, tenant, wanted, unrecordable),
      revokeServiceSession(store, tenant, steward.id, unrecordable),
      suspendTenant(store, tenant, unrecordable),
      removeCatalogCredential(store, tenant, 'main', unrecordable),
    ]
    for (const attempt of await Promise.allSettled(attempts)) expect(attempt.status).toBe('rejected')
    expect(await listed()).toEqual(before)
    expect((await getTenant(store, tenant))?.state).toBe('active')
    expect(await hasCatalogCredential(store, tenant, 'main')).toBe(true)
  })
})

describe('an event of the identity provider', () => {
  test('is recorded for each session that it ends, and for a tenant that it suspends', async () => {
    const organizationId = 'org_logged'
    const { id } = await createTenant(service.store, { name: 'logged', organizationId })
    const browser = {
      principal: { sub: 'user_1', roles: [] },
      scopes: ['read'] as const,
      providerSid: undefined,
    }
    await createBrowserSession(service.store, id, browser, undefined)
    const send = async (event: string, data: object) => {
      const body = JSON.stringify({ id: `event_${event}`, event, data })
      const headers = await sign.workos(body, identityWebhookSecret, Date.now())
      const response = await call(service, 'POST', '/webhooks/identity-provider', {
        headers: { ...headers, 'x-request-id': event },
        body,
      })
      expect(response.status).toBe(200)
    }
    await send('organization_membership.deleted', { user_id: 'user_1', organization_id: organizationId })
    await send('organization.deleted', { id: organizationId })
    const { items } = await listAdministration(service.store, id)
    expect(items.slice(0, 2)).toMatchObject([
      { action: 'suspend-tenant', actor: { sub: 'identity-provider', source: 'webhook' } },
      { action: 'revoke-session', subject: { kind: 'browser', sub: 'user_1' }, actor: { source: 'webhook' } },
    ])
    expect(items.slice(0, 2).map(({ actor }) => actor.requestId)).toEqual([
      'organization.deleted',
      'organization_membership.deleted',
    ])
  })
})
