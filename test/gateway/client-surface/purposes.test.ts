/** The files of a table whose contract demands a purpose: given out to a request that names one, and on record with it. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { operator } from '../../../src/core/administration.ts'
import { rawReadBounds } from '../../../src/core/raw-read.ts'
import { saveContract } from '../../../src/store/contract/rows.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { putTrustedEngine } from '../../../src/store/session/trusted-engines.ts'
import { commitColumns } from '../../support/governed.ts'
import { call, session } from '../../support/identity.ts'
import { licenseFor } from '../../support/license.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../../support/service.ts'
import { startSts, stsKeys, type TestSts } from '../../support/sts.ts'
import { send } from '../../support/surface.ts'
import { enforceTerritory } from '../../support/territory.ts'
import { startVendingUpstream, type VendingUpstream, vendedTo } from '../../support/vending-upstream.ts'

setDefaultTimeout(300_000)

const people = { namespace: ['sales'], name: 'people' }
const path = '/namespaces/sales/tables/people'
let nowMs = Math.ceil(Date.now() / 60_000) * 60_000
let service: TestService
let upstream: VendingUpstream
let sts: TestSts
let signs: TestTenant
let vends: TestTenant
/** Has the same table, and demands another purpose. */
let foreign: TestTenant

async function demand({ tenant }: TestTenant, purposes: readonly string[] | undefined, version: number) {
  await service.store.tenantTransaction(
    tenant,
    async (tx) =>
      void (await saveContract(tx, tenant, people, { id: 'people', version, schema: {}, purposes })),
  )
}

beforeAll(async () => {
  sts = startSts(() => nowMs)
  service = await startTestService({
    env: { SVC_LICENSE: licenseFor('vending') },
    clock: { now: () => nowMs },
  })
  upstream = await startVendingUpstream({
    write: async (writer) => {
      await writer.append([{ rows: [{ id: 1, email: 'a@example.com' }] }])
    },
  })
  const config = {
    ...vendedTo('own', upstream.s3Url),
    ...{ credential: undefined, token: 'people', storage_roots: ['s3://lake/sales'], 'vending.mode': 'sign' },
  }
  const vending = {
    ...{ ...config, 'vending.mode': 'vend', 'vending.role-arn': 'arn:aws:iam::123456789012:role/reader' },
    ...{ 'vending.access-key-id': stsKeys.accessKeyId, 'vending.secret-access-key': stsKeys.secretAccessKey },
    'vending.sts-endpoint': sts.url,
  }
  signs = await addTenant(service.store, 'signs', upstream.url, config)
  vends = await addTenant(service.store, 'vends', upstream.url, vending)
  foreign = await addTenant(service.store, 'other', upstream.url, vending)
  for (const { tenant } of [signs, vends, foreign]) {
    await enforceTerritory(service.store, tenant)
    await commitColumns(service.store, tenant, people, { id: 'long', email: 'string' })
  }
  await demand(signs, ['Refunds'], 1)
  await demand(vends, ['Refunds'], 1)
  await demand(foreign, ['Audit'], 1)
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
  await sts[Symbol.asyncDispose]()
})

type Held = TestTenant & { readonly id: string; readonly sub: string }
async function held(of: TestTenant): Promise<Held> {
  const sub = `service:${crypto.randomUUID()}`
  const made = await createServiceSession(service.store, of.tenant, {
    ...{ name: sub, principal: { sub, roles: [] }, scopes: ['read'] },
  })
  return { tenant: of.tenant, sub, ...made }
}

const byVending = { 'x-iceberg-access-delegation': 'vended-credentials' }
const bySigning = { 'x-iceberg-access-delegation': 'remote-signing' }
async function asked(
  as: TestTenant,
  method: string,
  to: string,
  purpose: string | undefined,
  more: Readonly<Record<string, string>> = {},
) {
  const headers = {
    ...{ authorization: 'Bearer None', ...more },
    ...(purpose !== undefined && { 'x-svc-purpose': purpose }),
  }
  const body = method === 'POST' ? {} : undefined
  const response = await send(service, method, `${path}${to}`, body, { tenant: as, headers })
  return { status: response.status, text: await response.text() }
}

const refusal = 'sales.people is read for one of these purposes only: Refunds'

describe.each([
  ['credentials of a load', 'GET', '', byVending, () => vends],
  ['credentials', 'GET', '/credentials', {}, () => vends],
  ['a load to be signed', 'GET', '', bySigning, () => signs],
  ['a plan', 'POST', '/plan', bySigning, () => signs],
] as const)('%s', (_, method, to, more, of) => {
  test('are refused without one of the purposes, and given with one', async () => {
    const reader = await held(of())
    for (const purpose of [undefined, 'marketing']) {
      const { status, text } = await asked(reader, method, to, purpose, more)
      expect([status, text]).toEqual([403, expect.stringContaining(refusal)])
      expect(text).toContain('X-Svc-Purpose')
    }
    const { status, text } = await asked(reader, method, to, 'refunds', more)
    expect([status, status === 200 ? '' : text]).toEqual([200, ''])
    expect(text).toMatch(/storage-credentials|signer|file-scan-tasks/)
  })
})

test('metadata alone is given without counts, as below a mask', async () => {
  const { status, text } = await asked(await held(vends), 'GET', '', undefined)
  expect(status).toBe(200)
  expect(text).not.toContain('storage-credentials')
  expect(text).not.toContain('total-records')
})

test('a signature is for the purpose of its ticket, as long as the contract allows it', async () => {
  const reader = await held(signs)
  const loaded = await asked(reader, 'GET', '', 'Refunds', bySigning)
  const { config } = JSON.parse(loaded.text)
  const plan = JSON.parse((await asked(reader, 'POST', '/plan', 'Refunds', bySigning)).text)
  const uri = plan['file-scan-tasks'][0]['data-file']['file-path'].replace('s3://', `${upstream.s3Url}/`)
  const sign = async () => {
    const response = await fetch(new URL(`/v1/iceberg/main/${config['signer.endpoint']}`, service.app.url), {
      method: 'POST',
      body: JSON.stringify({ method: 'GET', region: 'eu-central-1', uri, headers: {} }),
    })
    return [response.status, await response.text()] as const
  }
  expect((await sign())[0]).toBe(200)
  await demand(signs, ['Audit'], 2)
  nowMs += 60_000
  const [status, text] = await sign()
  expect([status, text]).toEqual([403, expect.stringContaining('only: Audit')])
  await demand(signs, ['Refunds'], 3)
})

test('a trusted engine is told no restrictions without a purpose', async () => {
  const engine = await held(vends)
  await putTrustedEngine(service.store, vends.tenant, engine.id, true, operator())
  expect((await asked(engine, 'GET', '', undefined)).status).toBe(403)
  expect((await asked(engine, 'GET', '', 'Refunds')).status).toBe(200)
})

test('the usage record names the purpose, and another tenant sees none of it', async () => {
  const reader = await held(vends)
  await asked(reader, 'GET', '/credentials', 'refunds')
  nowMs += rawReadBounds.windowMs
  await service.app.gateway.rawReads.flush()
  const listed = `/api/v1/usage?principal=${encodeURIComponent(reader.sub)}`
  const of = async ({ tenant }: TestTenant) => {
    const secret = await session(service, tenant, ['read'], ['steward'], 'stella')
    return ((await (await call(service, 'GET', listed, { secret })).json()) as { items: object[] }).items
  }
  expect(await of(vends)).toEqual([
    expect.objectContaining({
      purpose: 'refunds',
      raw_read: expect.objectContaining({ given: 'credentials' }),
    }),
  ])
  expect(await of(foreign)).toEqual([])
})

test('another tenant demands a purpose of its own', async () => {
  const stranger = await held(foreign)
  expect((await asked(stranger, 'GET', '/credentials', 'Refunds')).text).toContain('only: Audit')
  expect((await asked(stranger, 'GET', '/credentials', 'Audit')).status).toBe(200)
})
