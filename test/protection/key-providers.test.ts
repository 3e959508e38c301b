/** Tenant keys are stored wrapped, by the secrets key or by a key management service. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type DecryptCommandInput, type EncryptCommandInput, KMSClient } from '@aws-sdk/client-kms'
import type { Fault } from '../../src/base/fault.ts'
import { parseKmsKey } from '../../src/config-values.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { awsKmsProvider } from '../../src/protection/aws-kms.ts'
import { type KeyProvider, secretsKeyProvider, tenantKey } from '../../src/protection/tenant-keys.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../support/store.ts'

setDefaultTimeout(120_000)

const arn = 'arn:aws:kms:eu-central-1:123456789012:key/5b0f9e4e-6f0a-4e2c-9a54-0d6a3b8e8c11'
let store: TestStore
let kms: ReturnType<typeof startKms>

beforeAll(async () => {
  store = await openTestStore()
  kms = startKms()
})
afterAll(async () => {
  await kms.stop()
  await store[Symbol.asyncDispose]()
})

/** Answers Encrypt and Decrypt as KMS does: a ciphertext opens with its key and context only. */
function startKms() {
  const sealed = new Map<string, { plain: string; bound: string }>()
  const boundTo = ({ KeyId, EncryptionContext }: EncryptCommandInput | DecryptCommandInput) =>
    JSON.stringify([KeyId, EncryptionContext])
  const asked: string[] = []
  const state = { fails: false }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const action = request.headers.get('x-amz-target')?.split('.')[1]
      const body = (await request.json()) as Record<string, never>
      asked.push(`${action} ${JSON.stringify(body.EncryptionContext)}`)
      if (state.fails) return Response.json({ __type: 'KMSInternalException' }, { status: 500 })
      if (action === 'Encrypt') {
        const blob = Buffer.from(`blob ${sealed.size}`).toString('base64')
        sealed.set(blob, { plain: body.Plaintext ?? '', bound: boundTo(body as never) })
        return Response.json({ CiphertextBlob: blob, KeyId: body.KeyId })
      }
      const found = sealed.get(body.CiphertextBlob ?? '')
      if (found?.bound !== boundTo(body as never))
        return Response.json({ __type: 'InvalidCiphertextException' }, { status: 400 })
      return Response.json({ Plaintext: found.plain, KeyId: body.KeyId })
    },
  })
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
  const client = () =>
    new KMSClient({ endpoint: server.url.href, region: 'eu-central-1', credentials, maxAttempts: 1 })
  return {
    asked,
    state,
    provider: () => awsKmsProvider(arn, async () => client()),
    stop: () => server.stop(true),
  }
}

async function storedFor(tenant: TenantId): Promise<Uint8Array> {
  const text = 'select wrapped from svc.transform_tenant_key where tenant_id = $1'
  const [row] = await store.tenantQuery<{ wrapped: Uint8Array }>(tenant, text, [tenant])
  return row?.wrapped ?? new Uint8Array()
}

const fresh = async (name: string) => (await makeTenant(store, { name })).id

describe.each([
  ['the secrets key', () => secretsKeyProvider(store)],
  ['AWS KMS', () => kms.provider()],
] as const)('wrapped by %s, a tenant key', (_, provider: () => KeyProvider) => {
  let home: TenantId
  let foreign: TenantId
  beforeAll(async () => {
    home = await fresh('home')
    foreign = await fresh('foreign')
  })

  test('is made once, is another for each tenant, and is never stored in clear', async () => {
    const key = await tenantKey(store, provider(), home)
    expect(key).toHaveLength(32)
    expect(await tenantKey(store, provider(), home)).toEqual(key)
    expect(await tenantKey(store, provider(), foreign)).not.toEqual(key)
    for (const encoding of ['latin1', 'base64', 'hex'] as const)
      expect(Buffer.from(await storedFor(home)).toString('latin1')).not.toContain(
        Buffer.from(key).toString(encoding),
      )
  })

  test("does not open as another tenant's", async () => {
    const wrapped = await storedFor(home)
    await expect(provider().unwrap(foreign, wrapped)).rejects.toThrow()
    expect(await provider().unwrap(home, wrapped)).toHaveLength(32)
  })
})

test('a key that one provider wrapped is not asked of another', async () => {
  const home = await fresh('home')
  await tenantKey(store, kms.provider(), home)
  await expect(tenantKey(store, secretsKeyProvider(store), home)).rejects.toThrow('another provider')
})

test('a key management service that fails gives no key, and no plan', async () => {
  const home = await fresh('home')
  kms.state.fails = true
  const thrown = await tenantKey(store, kms.provider(), home).catch((fault: Fault) => fault.kind)
  kms.state.fails = false
  expect(thrown).toBe('unavailable')
  expect(kms.asked.every((line) => line.includes('"tenant"') && line.includes('covenant'))).toBe(true)
})

test('only an ARN of a key or alias is one', () => {
  expect(parseKmsKey(arn)).toBe(arn)
  expect(parseKmsKey('arn:aws-us-gov:kms:us-gov-west-1:123456789012:alias/covenant')).toBeDefined()
  for (const text of ['alias/covenant', 'arn:aws:s3:::bucket', `${arn} `])
    expect(parseKmsKey(text)).toBeUndefined()
})
