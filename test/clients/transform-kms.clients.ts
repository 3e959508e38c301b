/**
 * Tenant keys under a root key of AWS KMS, by the service as it runs: the SDK's own client and credentials from the
 * environment, against moto with its IAM enforced. No failure of KMS has another key used in its place.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { DecryptCommand, KMSClient } from '@aws-sdk/client-kms'
import { setProperties } from '../../demo/commits.ts'
import { sessionScopes } from '../../src/core/session.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { fetchPlan } from '../../src/transform/fetch-plan.ts'
import { protectColumns } from '../../src/transform/protect-values.ts'
import { TransformRefused } from '../../src/transform/refusal.ts'
import { freePort } from '../support/free-port.ts'
import { licenseFor } from '../support/license.ts'
import { addTenant, commit, startTestService, type TestService, type TestTenant } from '../support/service.ts'
import { packageFolder } from './packages.ts'
import { runClient, startServer } from './processes.ts'

setDefaultTimeout(120_000)

const python = join(packageFolder('python:moto'), 'bin/python')
const script = (name: string) => join(import.meta.dir, 'scripts', name)
const url = `http://127.0.0.1:${freePort()}`

interface Made {
  readonly arn: string
  readonly service: { readonly id: string; readonly secret: string }
  readonly operator: { readonly id: string; readonly secret: string }
}

const stack = new AsyncDisposableStack()
let stopKms: () => Promise<void>
let made: Made
let service: TestService
let foreign: TestTenant

/** The SDK reads these when its client is made. */
const environment = ['AWS_ENDPOINT_URL_KMS', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const

async function operate(command: 'setup' | 'grant' | 'deny' | 'rotate'): Promise<string> {
  const env: Record<string, string> =
    command === 'setup'
      ? {}
      : { OPERATOR_ID: made.operator.id, OPERATOR_SECRET: made.operator.secret, KEY: made.arn }
  const line = [python, script('kms_moto.py'), url, command]
  const { output, exitCode } = await runClient(`kms-${command}`, line, { seconds: 60, env })
  if (exitCode !== 0) throw new Error(`${command} of moto failed:\n${output}`)
  return output
}

beforeAll(async () => {
  const moto = await startServer(
    'moto-kms',
    [python, script('moto_enforcing.py'), '-H', '127.0.0.1', '-p', new URL(url).port],
    `${url}/moto-api/`,
    { env: { INITIAL_NO_AUTH_ACTION_COUNT: '1000' } },
  )
  stopKms = async () => await moto[Symbol.asyncDispose]()
  stack.defer(stopKms)
  made = JSON.parse(/^\{.*\}$/m.exec(await operate('setup'))?.[0] ?? '') as Made
  for (const name of environment) {
    const before = process.env[name]
    stack.defer(() => {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    })
  }
  process.env.AWS_ENDPOINT_URL_KMS = url
  process.env.AWS_ACCESS_KEY_ID = made.service.id
  process.env.AWS_SECRET_ACCESS_KEY = made.service.secret
  service = stack.use(
    await startTestService({
      env: { SVC_LICENSE: licenseFor('transform'), SVC_TRANSFORM_KMS_KEY: made.arn },
    }),
  )
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  for (const tenant of [service.owner, foreign]) await prepare(tenant)
})
afterAll(() => stack.disposeAsync())

/** Declares the rule of a column for a tenant. */
async function prepare({ tenant, secret }: TestTenant): Promise<void> {
  expect((await commit(service, setProperties({ owner: tenant }), { secret })).status).toBe(200)
  const rule = { action: 'tokenize', method: 'hmac', scope: 'customer' }
  await steward(tenant, 'PUT', 'rules/columns/sales/orders/customer', rule)
}

async function steward(tenant: TenantId, method: string, path: string, body?: object): Promise<void> {
  const { secret } = await createServiceSession(service.store, tenant, {
    name: 'stella',
    principal: { sub: 'stella', roles: ['steward'] },
    scopes: [...sessionScopes],
  })
  const answer = await fetch(new URL(`/api/v1/transform/${path}`, service.app.url), {
    method,
    headers: { 'x-svc-session': secret, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  expect([200, 204]).toContain(answer.status)
}

async function tokenOf({ secret }: TestTenant): Promise<string> {
  const headers = { 'x-svc-session': secret }
  const open = await fetchPlan({ url: service.app.url.origin, table: ['sales', 'orders'], headers })
  return String(protectColumns(open, { id: [1n], customer: ['ada'] }, open.plan.iat).customer?.[0])
}

async function refusalOf(tenant: TestTenant): Promise<string> {
  const refused = await tokenOf(tenant).catch((thrown: unknown) => thrown)
  if (!(refused instanceof TransformRefused)) throw new Error('the writer was not refused')
  return `${refused.code}: ${refused.message}`
}

async function storedKeys(tenant: TenantId) {
  return await service.store.tenantQuery<{ provider: string; wrapped: Uint8Array }>(
    tenant,
    'select provider, wrapped from svc.transform_tenant_key where tenant_id = $1',
    [tenant],
  )
}

const refusedPlan = 'no_plan: there is no plan: the service answered 503'

test('transform-kms: a plan has keys that only the key of KMS opens, for its tenant', async () => {
  const token = await tokenOf(service.owner)
  expect(token).toMatch(/^tok_/)
  expect(await tokenOf(service.owner)).toBe(token)
  expect(await tokenOf(foreign)).not.toBe(token)
  const { tenant } = service.owner
  const [row, ...more] = await storedKeys(tenant)
  expect([row?.provider, more]).toEqual(['aws-kms', []])
  using kms = disposable(new KMSClient({ region: 'us-east-1' }))
  const decrypt = (of: TenantId) =>
    kms.client.send(
      new DecryptCommand({
        KeyId: made.arn,
        CiphertextBlob: row?.wrapped,
        EncryptionContext: { service: 'covenant', purpose: 'transform', tenant: of },
      }),
    )
  const { Plaintext: key = new Uint8Array() } = await decrypt(tenant)
  expect(key).toHaveLength(32)
  expect(Buffer.from(row?.wrapped ?? []).includes(Buffer.from(key))).toBe(false)
  await expect(decrypt(foreign.tenant)).rejects.toMatchObject({ name: 'InvalidCiphertextException' })
})

test('transform-kms: the root key rotates without a change of tokens, and a scope with one', async () => {
  const [token, others] = [await tokenOf(service.owner), await tokenOf(foreign)]
  await operate('rotate')
  expect(await tokenOf(service.owner)).toBe(token)
  await steward(service.owner.tenant, 'POST', 'scopes/customer/rotations')
  expect(await tokenOf(service.owner)).not.toBe(token)
  expect(await tokenOf(foreign)).toBe(others)
})

test('transform-kms: a KMS that denies gives no plan, makes no other key, and is asked again', async () => {
  const late = await addTenant(service.store, 'late', service.catalog.url)
  await prepare(late)
  const token = await tokenOf(service.owner)
  await operate('deny')
  // One whose key is stored, and one that has none yet.
  expect(await refusalOf(service.owner)).toBe(refusedPlan)
  expect(await refusalOf(late)).toBe(refusedPlan)
  expect(await storedKeys(late.tenant)).toEqual([])
  await operate('grant')
  expect(await tokenOf(service.owner)).toBe(token)
  expect(await tokenOf(late)).toMatch(/^tok_/)
  expect((await storedKeys(late.tenant)).map(({ provider }) => provider)).toEqual(['aws-kms'])
})

test('transform-kms: a KMS that is down gives no plan', async () => {
  const later = await addTenant(service.store, 'later', service.catalog.url)
  await prepare(later)
  await stopKms()
  expect(await refusalOf(service.owner)).toBe(refusedPlan)
  expect(await refusalOf(later)).toBe(refusedPlan)
  expect(await storedKeys(later.tenant)).toEqual([])
  // Nothing that could open a key was logged.
  for (const secret of [made.service.secret, made.operator.secret])
    expect(service.log()).not.toContain(secret)
})

function disposable(client: KMSClient) {
  return { client, [Symbol.dispose]: () => client.destroy() }
}
