/** Two tenants with one upstream that vends keys to each token: each snapshot is read with its own tenant's keys. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { licenseFor } from '../support/license.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../support/service.ts'
import { startVendingUpstream, type VendingUpstream } from '../support/vending-upstream.ts'

let service: TestService
let foreign: TestTenant
let upstream: VendingUpstream

beforeAll(async () => {
  upstream = await startVendingUpstream()
  service = await startTestService({ env: { SVC_L3_WORKERS: '1', SVC_LICENSE: licenseFor('detection') } })
  foreign = await addTenant(service.store, 'other', service.catalog.url)
  for (const [{ tenant }, token] of [
    [service.owner, 'acme'],
    [foreign, 'other'],
  ] as const)
    await putCatalogCredential(service.store, tenant, {
      nickname: 'lake',
      kind: 'alpha',
      endpoint: upstream.url,
      config: {
        endpoint: upstream.url,
        warehouse: 'w',
        token,
        webhook_secret: `secret of ${token}`,
        storage_roots: ['s3://lake/sales'],
      },
    })
}, 300_000)
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

async function announce({ tenant }: TestTenant, token: string): Promise<void> {
  const body = JSON.stringify({
    tenant_id: tenant,
    metadata_location: upstream.metadataLocation,
    namespace: 'sales',
    table_name: 'people',
  })
  const signature = createHmac('sha256', `secret of ${token}`).update(body).digest('hex')
  const sent = await fetch(new URL('/v1/webhooks/alpha', service.app.url), {
    method: 'POST',
    body,
    headers: { 'x-alpha-signature': signature },
  })
  expect(sent.status).toBe(200)
  await service.app.detection.detector.idle()
}

const findings = async ({ tenant }: TestTenant) => {
  // Of a table without a contract, stewards see the findings.
  const { secret } = await createServiceSession(service.store, tenant, {
    name: 'steward',
    principal: { sub: 'sam', roles: ['steward'] },
    scopes: ['read'],
  })
  const response = await fetch(new URL('/api/v1/detection/findings', service.app.url), {
    headers: { 'x-svc-session': secret },
  })
  return ((await response.json()) as { items: { column: string; class: string }[] }).items
}

test('a snapshot is read by the credentials that the upstream vends to its own tenant', async () => {
  await announce(service.owner, 'acme')
  expect(await findings(service.owner)).toMatchObject([{ column: 'email', class: 'email' }])
  expect(await findings(foreign)).toEqual([])
  expect(new Set(upstream.keysSeen.map(({ key }) => key))).toEqual(new Set(['KEY-acme']))

  upstream.keysSeen.length = 0
  await announce(foreign, 'other')
  expect(await findings(foreign)).toMatchObject([{ column: 'email', class: 'email' }])
  expect(new Set(upstream.keysSeen.map(({ key }) => key))).toEqual(new Set(['KEY-other']))
})

test('what was vended is in no log line and in no table', async () => {
  const rows = await service.store.tenantQuery<{ row: string }>(
    service.owner.tenant,
    `select to_jsonb(r)::text as row from svc.detection_run r`,
  )
  expect(rows).not.toEqual([])
  for (const text of [service.log(), JSON.stringify(rows)])
    for (const secret of ['secret-acme', 'session-acme', 'KEY-acme']) expect(text).not.toContain(secret)
})
