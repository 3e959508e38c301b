/**
 * Every route answers as recorded-answers.json says: statuses, headers, forms of bodies. A change of that file changes
 * the public interface. `RECORD=1 bun test` of this file writes it.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { firstSnapshotId } from '../../demo/commits.ts'
import { type IdentityService, startIdentityService } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import { producer } from '../support/lineage.ts'
import recorded from './recorded-answers.json'
import {
  recordedNode,
  recordedRun,
  recordedSecret,
  recordRefusals,
  recordSuccesses,
} from './recorded-answers.ts'

setDefaultTimeout(300_000)

const table = '/api/v1/contracts/tables/sales/orders'
const column = `${table}/columns/amount`
const tag = '/api/v1/contracts/tags/t'
const catalog = '/admin/tenants/{tenant}/catalogs/lake'
const pin = { catalog: 'main', snapshot_id: String(firstSnapshotId) }
const statement = 'select amount from sales.orders where id = $1'
const session = { name: 'spark', roles: ['r'], scopes: ['commit'] }
const config = { warehouse: 'w', credential: 'a:b' }
const policy = { table: { namespace: ['sales'], name: 'orders' }, kind: 'schema', definition_cel: 'true' }

const requests: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['POST', '/admin/tenants', { name: 'new', organization_id: 'org_recorded' }],
  ['POST', '/admin/tenants?', { name: 'other', organization_id: 'org_recorded' }],
  ['GET', '/admin/tenants'],
  ['GET', '/admin/tenants/{tenant}'],
  ['POST', '/admin/tenants/{tenant}/resume'],
  ['PUT', catalog, { catalog_kind: 'alpha', endpoint: 'https://catalog.example', config_json: config }],
  ['PATCH', catalog, { config_json: { credential: null } }],
  ['PUT', `${catalog}?`, { catalog_kind: 'gamma', endpoint: 'https://catalog.example', config_json: config }],
  ['GET', '/admin/tenants/{tenant}/catalogs'],
  ['DELETE', catalog],
  ['DELETE', `${catalog}?`],
  ['PATCH', '/admin/tenants/{tenant}/catalogs/main', { config_json: { webhook_secret: recordedSecret } }],
  ['POST', '/admin/tenants/{tenant}/sessions', session],
  ['DELETE', '/admin/tenants/{tenant}/sessions/{sessions}'],
  ['GET', '/admin/tenants/{tenant}/sessions'],
  ['GET', '/admin/tenants/{tenant}/administration'],
  ['GET', '/admin/license'],
  ['GET', '/api/v1/session'],
  ['POST', '/api/v1/sessions', { name: 'x', scopes: ['read'], expires_at: '2100-01-01T00:00:00Z' }],
  ['DELETE', '/api/v1/sessions/{sessions}'],
  ['GET', '/api/v1/sessions'],
  ['GET', '/api/v1/administration?limit=1&action=revoke-session'],
  [
    'PUT',
    table,
    {
      id: 'c',
      version: 1,
      description: 'd',
      properties: [{ name: 'id', description: 'key', primaryKey: true, primaryKeyPosition: 1 }],
      relationships: [{ from: 'orders.id', to: 'people.id' }],
    },
  ],
  ['PUT', `${table}/row-filters/f`, { expression: 'id > 1', exempt_roles: ['r'] }],
  ['PUT', `${column}/row-filters/f`, { expression: 'id > 1', exempt_roles: ['r'] }],
  ['PUT', `${tag}/row-filters/f`, { expression: 'id > 1', exempt_roles: ['r'] }],
  ['PUT', `${column}/tags/t`],
  ['PUT', `${table}/tags/whole`, { note: 'n' }],
  ['GET', `${table}/tags`],
  ['GET', '/api/v1/contracts/tag-history'],
  ['GET', '/admin/tenants/{tenant}/contracts/tables/sales/orders/tags'],
  ['GET', '/admin/tenants/{tenant}/contracts/tag-history'],
  ['PUT', `${column}/masks/m`, { action: 'replace-with-null' }],
  ['PUT', `${tag}/masks/m`, { action: 'apply-expression', expression: 'amount * 0' }],
  ['PUT', `${column}/row-filters/g`, { expression: 'none > 1' }],
  ['POST', `${table}/pin`, pin],
  ['POST', `${table}/pin?`, { ...pin, snapshot_id: '5' }],
  ['GET', table],
  ['GET', `${table}/pins`],
  ['PUT', '/api/v1/contracts/settings', { readable_without_contract: true }],
  ['GET', '/api/v1/contracts/settings'],
  ['GET', '/api/v1/contracts/changes?limit=3'],
  [
    'POST',
    '/api/v1/query/explain',
    { statement, catalog: 'main', search_path: ['sales'], parameters: [null] },
  ],
  ['POST', '/api/v1/query/explain?', { statement, dialect: 'trino' }],
  ['POST', '/api/v1/query/explain?1', { statement: 'select', dialect: 'trino' }],
  [
    'POST',
    '/api/v1/query/explain?2',
    { statement, catalog: 'main', principal: { sub: 'ann', roles: ['r'] } },
  ],
  ['POST', `${table}/unpin`],
  ['POST', `${table}/unpin?`],
  ['DELETE', `${column}/masks/m`],
  ['DELETE', `${tag}/masks/m`],
  ['DELETE', `${column}/tags/t`],
  ['DELETE', `${table}/tags/whole`],
  ['DELETE', `${table}/row-filters/f`],
  ['DELETE', `${column}/row-filters/f`],
  ['DELETE', `${tag}/row-filters/f`],
  ['DELETE', table],
  ['DELETE', `${table}?`],
  ['GET', '/api/v1/usage'],
  ['GET', '/api/v1/usage/totals?by=day'],
  ['GET', `/api/v1/lineage/graph?node=${recordedNode}`],
  ['GET', `/api/v1/lineage/graph?node=${recordedNode}&limit=1`],
  ['GET', `/api/v1/lineage/runs/${encodeURIComponent(producer)}/${recordedRun}`],
  ['GET', `/api/v1/lineage/runs/${producer}/${recordedRun}`],
  ['POST', '/v1/lineage', '{}'],
  ['POST', '/api/v1/lineage', '{}'],
  ['GET', '/api/v1/lineage/refused'],
  ['GET', '/api/v1/lineage/reads'],
  ['GET', '/api/v1/lineage/reads?column=id'],
  ['POST', '/api/v1/policies/try', { definition_cel: 'true' }],
  ['POST', '/api/v1/query/as-seen-by', { catalog: 'main', table: policy.table, principal: {}, rows: 21 }],
  ['GET', '/api/v1/detection/runs?state=done'],
  ['GET', '/api/v1/detection/runs?state=done&namespace=sales&table=people'],
  ['GET', '/api/v1/detection/runs/{runs}'],
  ['GET', '/api/v1/detection/findings'],
  ['POST', '/api/v1/detection/findings/{findings}/decisions', { decision: 'exempt', reason: 'synthetic' }],
  ['GET', '/api/v1/detection/findings?status=exempt&class=us_ssn&confidence_min=0.5'],
  ['POST', '/api/v1/detection/rescans', { table: { namespace: ['sales'], name: 'people' } }],
  ['POST', '/api/v1/detection/rescans?', { table: { namespace: ['sales'], name: 'none' } }],
  ...['/api/v1', '/admin/tenants/{tenant}'].flatMap((root) =>
    [
      ['PUT', '/policies/p', policy],
      ['PUT', '/policies/p?', { ...policy, definition_cel: '1' }],
      ['PUT', '/policies/p??', { ...policy, kind: 'retention' }],
      ['GET', '/policies'],
      ['GET', '/policies/p'],
      ['GET', '/policies/p/history'],
      ['POST', '/policies/check', { definition_cel: 'tru' }],
      ['POST', '/policies/p/unbind', { table: policy.table }],
      ['POST', '/policies/p/unbind?', { tag: 'none' }],
      ['POST', '/policy-replays', { kind: 'schema', namespace: ['none'], definition_cel: 'true' }],
      ['POST', '/policy-replays?', { kind: 'schema' }],
      ['GET', '/policy-replays?limit=1'],
      ['GET', `/policy-replays/${recordedRun}`],
      ['GET', `/policy-replays/${recordedRun}/findings`],
      ['GET', `/policy-replays/${recordedRun}/summary`],
      ['POST', `/policy-replays/${recordedRun}/cancel`],
      ['DELETE', '/policies/p'],
      ['DELETE', '/policies/p?'],
      ['GET', '/decisions?limit=1'],
      ['GET', '/decisions?limit=1&explain=true'],
      ['GET', '/decisions/none'],
      ['GET', '/decisions/export?format=csv&principal=nobody'],
      ['GET', '/refusals'],
    ].map(([method = '', path = '', body]) => [String(method), `${root}${path}`, body] as const),
  ),
  ['GET', '/admin/intents'],
  ['GET', '/admin/tenants/{tenant}/graph/reach?label=Table&id=sales%1Fnone'],
  ['GET', '/admin/tenants/{tenant}/graph/match?query=CREATE'],
  ['GET', '/healthz'],
  ['GET', '/readyz'],
]

let service: IdentityService
beforeAll(async () => {
  service = await startIdentityService({ env: { SVC_LICENSE: licenseForAll() } })
})
afterAll(() => service[Symbol.asyncDispose]())

test('every route refuses as recorded, and succeeds as recorded', async () => {
  const refusals = await recordRefusals(service)
  const successes = await recordSuccesses(service, requests)
  if (process.env.RECORD !== undefined) {
    const text = `${JSON.stringify({ refusals, successes }, null, 2)}\n`
    await Bun.write(new URL('recorded-answers.json', import.meta.url), text)
    return
  }
  expect(Object.keys(refusals).length).toBeGreaterThan(50)
  expect({ refusals, successes }).toEqual(recorded)
})
