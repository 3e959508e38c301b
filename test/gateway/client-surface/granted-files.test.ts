/**
 * The files of a masked table that a grant of access opens: credentials, signatures and plans end with it, are nobody
 * else's, and are about the one table. A foreign tenant has the same table, mask and subject.
 */

import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { putMask } from '../../../src/contract/put-mask.ts'
import { effectOf } from '../../../src/core/protection-effect.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { openIntent } from '../../../src/store/commit/commit-intents.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { endGrant, insertGrant } from '../../../src/store/contract/access-grants.ts'
import { loadGovernance } from '../../../src/store/governance/governance.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { actorOf } from '../../support/actor.ts'
import { approvedOf, committedOf, intentOf } from '../../support/commits.ts'
import { licenseFor } from '../../support/license.ts'
import {
  addTenant,
  openUncontracted,
  prefix,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../support/service.ts'
import { startSts, stsKeys, type TestSts } from '../../support/sts.ts'
import { enforceTerritory } from '../../support/territory.ts'
import { startVendingUpstream, type VendingUpstream, vendedTo } from '../../support/vending-upstream.ts'

setDefaultTimeout(300_000)

const table = { namespace: ['sales'], name: 'people' }
const path = '/namespaces/sales/tables/people'
const minuteMs = 60_000
/** The shortest time for which a grant gives out files: docs/access.md. */
const openMs = 25 * minuteMs
/** Files of which a plan has two pages. */
const filesInAll = 1_500

let nowMs = Date.now()
let service: TestService
let upstream: VendingUpstream
let sts: TestSts
const sides: Record<'signs' | 'vends' | 'other', TestTenant> = {} as never

beforeAll(async () => {
  sts = startSts(() => nowMs)
  service = await startTestService({
    env: { SVC_LICENSE: licenseFor('vending') },
    clock: { now: () => nowMs },
  })
  upstream = await startVendingUpstream({
    write: (writer) =>
      writer.append(
        Array.from({ length: filesInAll }, (_, index) => ({
          ...{ rows: [], bytes: Buffer.from(`file ${index}`), recordCount: 1 },
        })),
      ),
  })
  const signs = {
    ...vendedTo('own', upstream.s3Url),
    ...{ credential: undefined, token: 'people', storage_roots: ['s3://lake/sales'], 'vending.mode': 'sign' },
  }
  const vends = {
    ...{ ...signs, 'vending.mode': 'vend', 'vending.role-arn': 'arn:aws:iam::123456789012:role/reader' },
    ...{ 'vending.access-key-id': stsKeys.accessKeyId, 'vending.secret-access-key': stsKeys.secretAccessKey },
    'vending.sts-endpoint': sts.url,
  }
  sides.signs = await addTenant(service.store, 'signs', upstream.url, signs)
  sides.vends = await addTenant(service.store, 'vends', upstream.url, vends)
  sides.other = await addTenant(service.store, 'other', upstream.url, signs)
  for (const { tenant } of Object.values(sides)) {
    await openUncontracted(service.store, { tenant } as TestTenant)
    await enforceTerritory(service.store, tenant)
    await commit(tenant, await uuid())
    await putMask(
      { store: service.store, tenant, actor: actorOf('stella'), checkPolicies },
      { table, column: 'email' },
      { id: 'hide', action: 'mask-alphanum', exemptRoles: [] },
    )
  }
})
afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
  await sts[Symbol.asyncDispose]()
})

/** A commit that went through the service, by which the store knows the table. */
async function commit(tenant: TenantId, tableUuid: string): Promise<void> {
  const intent = intentOf({ table })
  const columns = ['long', 'string'].map((type, index) => ({
    ...{ fieldId: BigInt(index + 1), name: ['id', 'email'][index] ?? '', type, required: false },
  }))
  await openIntent(service.store, tenant, intent)
  const { ingested } = await recordVerdict(
    service.store,
    tenant,
    approvedOf(intent, committedOf({ columns, tableUuid })),
  )
  expect(ingested).toBe(true)
}

/** The uuid of the table in the upstream. */
async function uuid(): Promise<string> {
  const answer = (await (
    await fetch(`${upstream.url}/v1${path}`, { headers: { authorization: 'Bearer people' } })
  ).json()) as {
    metadata: { 'table-uuid': string }
  }
  return answer.metadata['table-uuid']
}

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of open.splice(0)) await end()
})

/** A session of spark, and a grant to it from now on. */
async function granted(of: TestTenant, forMs: number, tableUuid?: string) {
  const { tenant } = of
  const principal = { sub: 'spark', roles: [] }
  const made = await createServiceSession(service.store, tenant, {
    name: 'spark',
    principal,
    scopes: ['read', 'commit'],
  })
  const column = (await loadGovernance(service.store, tenant, table))?.columns.find(
    ({ name }) => name === 'email',
  )
  const id = crypto.randomUUID()
  await service.store.tenantTransaction(tenant, (tx) =>
    insertGrant(tx, tenant, {
      ...{ id, request: crypto.randomUUID(), table, contract: 'c', grantee: { sub: 'spark' }, tableUuid },
      lifts: {
        columns: [{ fieldId: column?.fieldId ?? 0, tags: [], masks: (column?.masks ?? []).map(effectOf) }],
        filters: [],
      },
      ...{ purpose: 'refund', ticket: undefined, grantedAt: new Date(nowMs), grantedBy: actorOf('stella') },
      ...{ from: new Date(nowMs), until: new Date(nowMs + forMs) },
    }),
  )
  const end = () => ended(tenant, id)
  open.push(end)
  return { tenant, ...made, end }
}
async function ended(tenant: TenantId, id: string): Promise<void> {
  const grant = { id, request: id, table, grantee: { sub: 'spark' } }
  await service.store.tenantTransaction(tenant, (tx) =>
    endGrant(tx, tenant, grant, { at: new Date(nowMs), by: actorOf('stella'), reason: 'enough' }),
  )
}

/** By the session alone, because the claims of a token that nobody verified are granted nothing. */
const send = (
  method: string,
  to: string,
  as: TestTenant,
  body?: object,
  headers: Record<string, string> = {},
) =>
  fetch(new URL(`/v1/iceberg/${prefix}/v1${to}`, service.app.url), {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    headers: { 'content-type': 'application/json', 'x-svc-session': as.secret, ...headers },
  })
const load = async (as: TestTenant, delegation: string) => {
  const response = await send('GET', path, as, undefined, { 'x-iceberg-access-delegation': delegation })
  expect(response.status).toBe(200)
  return (await response.json()) as { config?: Record<string, string>; 'storage-credentials'?: unknown }
}
const plan = (as: TestTenant) => send('POST', `${path}/plan`, as, {})
const task = (as: TestTenant, text: string | undefined) =>
  send('POST', `${path}/tasks`, as, { 'plan-task': text })
const credentials = (as: TestTenant) => send('GET', `${path}/credentials`, as)
const sign = (endpoint: string, uri: string, method = 'GET') =>
  fetch(new URL(`/v1/iceberg/main/${endpoint}`, service.app.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ method, region: 'eu-central-1', uri, headers: {} }),
  })
interface Plan {
  readonly 'plan-tasks'?: readonly string[]
  readonly 'file-scan-tasks': readonly { readonly 'data-file': { readonly 'file-path': string } }[]
}

describe('credentials that a grant opens', () => {
  test('end with it at the latest, and are not given out any more shortly before', async () => {
    const spark = await granted(sides.vends, 40 * minuteMs)
    const untilMs = nowMs + 40 * minuteMs
    const { config } = await load(spark, 'vended-credentials')
    expect(config).toHaveProperty(['s3.access-key-id'])
    const endsMs = Number(config?.['s3.session-token-expires-at-ms'])
    expect(endsMs).toBeGreaterThan(nowMs)
    expect(endsMs).toBeLessThanOrEqual(untilMs)
    expect(JSON.stringify(sts.asked.at(-1)?.policy)).not.toContain('s3:PutObject')
    expect((await credentials(spark)).status).toBe(200)
    nowMs = untilMs - openMs + 1
    expect(await load(spark, 'vended-credentials')).not.toHaveProperty('storage-credentials')
    expect((await credentials(spark)).status).toBe(403)
    nowMs = untilMs
    expect((await credentials(spark)).status).toBe(403)
  })

  test('are not given out after a revocation', async () => {
    const spark = await granted(sides.vends, 120 * minuteMs)
    expect((await credentials(spark)).status).toBe(200)
    await spark.end()
    expect((await credentials(spark)).status).toBe(403)
  })
})

describe('a sign ticket that a grant opens', () => {
  test('signs reading alone, and nothing after the end of the grant, however long it is valid itself', async () => {
    const spark = await granted(sides.signs, 40 * minuteMs)
    const untilMs = nowMs + 40 * minuteMs
    const page = (await (await plan(spark)).json()) as Plan
    const uri = new URL(page['file-scan-tasks'][0]?.['data-file']['file-path'] ?? '')
    const file = `${uri.origin}${uri.pathname}`
    const endpoint = (await load(spark, 'remote-signing')).config?.['signer.endpoint'] ?? ''
    expect((await sign(endpoint, file)).status).toBe(200)
    expect((await sign(endpoint, file, 'PUT')).status).toBe(403)
    nowMs = untilMs - openMs + 1
    expect((await sign(endpoint, file)).status).toBe(403)
    nowMs = untilMs
    expect([401, 403]).toContain((await sign(endpoint, file)).status)
  })

  test('signs nothing after a revocation', async () => {
    const spark = await granted(sides.signs, 120 * minuteMs)
    const endpoint = (await load(spark, 'remote-signing')).config?.['signer.endpoint'] ?? ''
    const page = (await (await plan(spark)).json()) as Plan
    const uri = new URL(page['file-scan-tasks'][0]?.['data-file']['file-path'] ?? '')
    expect((await sign(endpoint, `${uri.origin}${uri.pathname}`)).status).toBe(200)
    await spark.end()
    expect((await sign(endpoint, `${uri.origin}${uri.pathname}`)).status).toBe(403)
  })
})

describe('a plan that a grant opens', () => {
  test('has addresses that end with the grant at the latest, and its next page is not given after the end', async () => {
    const spark = await granted(sides.signs, openMs)
    const untilMs = nowMs + openMs
    const page = (await (await plan(spark)).json()) as Plan
    expect(page['file-scan-tasks'].length).toBe(1_000)
    const [next] = page['plan-tasks'] ?? []
    for (const { 'data-file': file } of page['file-scan-tasks'].slice(0, 3)) {
      const { searchParams } = new URL(file['file-path'])
      const signedMs = Date.parse(
        (searchParams.get('X-Amz-Date') ?? '').replace(
          /^(....)(..)(..)T(..)(..)(..)Z$/,
          '$1-$2-$3T$4:$5:$6Z',
        ),
      )
      expect(signedMs + Number(searchParams.get('X-Amz-Expires')) * 1_000).toBeLessThanOrEqual(untilMs)
    }
    expect((await task(spark, next)).status).toBe(200)
    nowMs = untilMs
    expect((await task(spark, next)).status).toBe(403)
    expect((await plan(spark)).status).toBe(403)
  })

  test('gives no next page after a revocation', async () => {
    const spark = await granted(sides.signs, 120 * minuteMs)
    const [next] = ((await (await plan(spark)).json()) as Plan)['plan-tasks'] ?? []
    await spark.end()
    expect((await task(spark, next)).status).toBe(403)
  })
})

test('files are opened by a grant about the table that the catalog has, and by none about one before it', async () => {
  const own = await uuid()
  const spark = await granted(sides.signs, 120 * minuteMs, own)
  expect((await plan(spark)).status).toBe(200)
  await spark.end()
  // The service knows the table before, and the catalog has another one by now.
  const old = 'aaaaaaaa-0000-4000-8000-000000000000'
  for (const side of [sides.signs, sides.vends]) {
    await commit(side.tenant, old)
    const late = await granted(side, 120 * minuteMs, old)
    expect((await plan(late)).status).toBe(403)
    const { config } = await load(late, 'vended-credentials, remote-signing')
    expect(config ?? {}).not.toHaveProperty(['s3.access-key-id'])
    expect(config ?? {}).not.toHaveProperty(['signer.endpoint'])
    if (side === sides.vends) expect((await credentials(late)).status).toBe(403)
    await commit(side.tenant, own)
    expect((await plan(late)).status).toBe(403)
    expect((await plan(await granted(side, 120 * minuteMs, own))).status).toBe(200)
  }
})

test('another subject, and the same one of another tenant, are opened no files', async () => {
  const spark = await granted(sides.signs, 120 * minuteMs)
  const others = await Promise.all(
    [
      [sides.signs, 'rita'],
      [sides.other, 'spark'],
    ].map(async ([of, sub]) => {
      const { tenant } = of as TestTenant
      const principal = { sub: sub as string, roles: [] }
      const made = await createServiceSession(service.store, tenant, {
        name: 'x',
        principal,
        scopes: ['read'],
      })
      return { tenant, ...made }
    }),
  )
  expect((await plan(spark)).status).toBe(200)
  for (const other of others) {
    expect((await plan(other)).status).toBe(403)
    expect((await load(other, 'remote-signing')).config ?? {}).not.toHaveProperty(['signer.endpoint'])
  }
})
