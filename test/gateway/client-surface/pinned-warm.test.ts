/** Commits that load nothing: a change of policy, session, tenant or catalog credential counts on the very next one. */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createTable } from '../../../demo/commits.ts'
import {
  putCatalogCredential,
  removeCatalogCredential,
  rotateCatalogCredential,
} from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { deletePolicy } from '../../../src/store/policy/policies.ts'
import { createServiceSession, revokeServiceSession } from '../../../src/store/session/sessions.ts'
import { resumeTenant, suspendTenant } from '../../../src/store/tenant/tenants.ts'
import {
  addTenant,
  audit,
  prefix,
  startTestService,
  type TestService,
  upstreamHeaders,
} from '../../support/service.ts'
import { govern, send } from '../../support/surface.ts'

setDefaultTimeout(300_000)

const table = { namespace: ['sales'], name: 'pinned' }
let service: TestService
let location: string
let lastSnapshot: number | null = null
let sequence = 0

beforeAll(async () => {
  service = await startTestService()
  const url = `${service.catalog.url}/v1/dev/namespaces/sales/tables`
  const headers = await upstreamHeaders(service.catalog)
  const created = await fetch(url, { method: 'POST', headers, body: createTable(table.name) })
  const { metadata } = (await created.json()) as { metadata: { location: string } }
  location = metadata.location
  await govern(service, table, 'keeps-amount', 'schema', 'manifest.has_column(commit.result, "amount")')
})
afterAll(() => service[Symbol.asyncDispose]())

/** Appends to what the last append of this file left, without a load. @returns its status */
async function append(secret = service.owner.secret): Promise<number> {
  const id = (lastSnapshot ?? 0) + 1
  const snapshot = {
    'snapshot-id': id,
    ...(lastSnapshot !== null && { 'parent-snapshot-id': lastSnapshot }),
    'sequence-number': sequence + 1,
    'timestamp-ms': Date.now(),
    'manifest-list': `${location}/metadata/snap-${id}.avro`,
    summary: { operation: 'append' },
    'schema-id': 0,
  }
  const body = JSON.stringify({
    requirements: [{ type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': lastSnapshot }],
    updates: [
      { action: 'add-snapshot', snapshot },
      { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': id },
    ],
  })
  const response = await send(service, 'POST', '/namespaces/sales/tables/pinned', body, {
    headers: { 'x-svc-session': secret },
  })
  await response.text()
  if (response.ok) {
    lastSnapshot = id
    sequence++
  }
  return response.status
}

const loads = () => service.catalog.faults.counts.load + service.catalog.faults.counts['conditional-load']

/** Enough commits that every cache holds what the next one needs; that one then loads nothing. */
beforeEach(async () => {
  for (let turn = 0; turn < 4; turn++) expect(await append()).toBe(200)
  const before = loads()
  expect(await append()).toBe(200)
  const [row] = await audit(service)
  expect({ held: row?.baseHeld, loads: loads() - before }).toEqual({ held: 'pinned', loads: 0 })
})

describe('the next pinned commit counts', () => {
  test('a policy that was added, and its removal', async () => {
    await govern(service, table, 'added', 'schema', 'false')
    expect(await append()).toBe(403)
    expect(await deletePolicy(service.store, service.owner.tenant, 'added')).toBe(true)
    expect(await append()).toBe(200)
  })

  test('the new text of a policy', async () => {
    for (const [text, status] of [
      ['principal.sub == "nobody"', 403],
      ['principal.sub == "spark"', 200],
      ['!manifest.has_column(commit.result, "amount")', 403],
      ['manifest.has_column(commit.result, "amount")', 200],
    ] as const) {
      await govern(service, table, 'keeps-amount', 'schema', text)
      expect({ text, status: await append() }).toEqual({ text, status })
    }
  })

  test('the revocation of its session, though others go on', async () => {
    const { id, secret } = await createServiceSession(service.store, service.owner.tenant, {
      name: 'revoked',
      principal: { sub: 'revoked', roles: [] },
      scopes: ['commit'],
    })
    for (let turn = 0; turn < 3; turn++) expect(await append(secret)).toBe(200)
    expect(await revokeServiceSession(service.store, service.owner.tenant, id)).toBe(true)
    expect(await append(secret)).toBe(401)
    expect(await append()).toBe(200)
  })

  test('the suspension of its tenant, and its end', async () => {
    await suspendTenant(service.store, service.owner.tenant)
    expect(await append()).toBe(401)
    await resumeTenant(service.store, service.owner.tenant)
    expect(await append()).toBe(200)
  })

  test('a secret of the catalog that was rotated', async () => {
    const { store, owner } = service
    await rotateCatalogCredential(store, owner.tenant, prefix, { credential: 'gateway:wrong' })
    expect(await append()).toBe(401)
    await rotateCatalogCredential(store, owner.tenant, prefix, { credential: 'gateway:s3cret' })
    expect(await append()).toBe(200)
  })

  test('the removal of its catalog, whatever a foreign tenant has under the same name', async () => {
    const { store, owner, catalog } = service
    await addTenant(store, 'foreign', catalog.url)
    await removeCatalogCredential(store, owner.tenant, prefix)
    expect(await append()).toBe(404)
    await putCatalogCredential(store, owner.tenant, {
      nickname: prefix,
      kind: 'alpha',
      endpoint: catalog.url,
      config: { endpoint: catalog.url, warehouse: 'dev', credential: 'gateway:s3cret' },
    })
    expect(await append()).toBe(200)
  })
})
