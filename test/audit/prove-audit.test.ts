/** The job that grows and signs the trees of all tenants, and the key that it signs with. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { openAuditKey } from '../../src/audit/audit-key.ts'
import { auditFeature } from '../../src/audit/feature.ts'
import { proveJob } from '../../src/audit/prove-job.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { Fault } from '../../src/base/fault.ts'
import type { Core } from '../../src/http/feature.ts'
import { lastCheckpoint } from '../../src/store/proof/checkpoints.ts'
import { suspendTenant } from '../../src/store/tenant/tenants.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../support/store.ts'

const log = pino({ level: 'silent' })
let store: TestStore
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'audit-key-'))
  store = await openTestStore()
})
afterAll(async () => {
  await store?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

function file(name: string, text: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
async function signerOf(name: string) {
  const signer = await openAuditKey({ keyFile: file(name, pem()), formerKeyFile: undefined }, log)
  if (signer === undefined) throw new Error('no key')
  return signer
}
const pem = () => generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' })

describe('the job', () => {
  test('signs the tree of each tenant, whose log has the name of the host and the tenant', async () => {
    const tenants = [
      (await makeTenant(store, { name: 'one' })).id,
      (await makeTenant(store, { name: 'two' })).id,
    ]
    const signer = await signerOf('a.pem')
    const metrics = createMetrics()
    const publicUrl = () => new URL('https://covenant.example')
    const parts = { store, clock: systemClock, log, metrics, publicUrl }
    await proveJob({ ...parts, signer }).run(new AbortController().signal)
    expect((await metrics.auditUnsigned.get()).values[0]?.value).toBe(0)
    expect((await metrics.auditImported.get()).values[0]?.value).toBe(1)
    for (const tenant of tenants)
      expect((await lastCheckpoint(store, tenant))?.checkpoint.note).toStartWith(
        `covenant.example/audit/${tenant}\n1\n`,
      )
  })

  test('leaves out a tenant whose key has changed without the one before, and signs the others', async () => {
    const signer = await signerOf('b.pem')
    const late = (await makeTenant(store, { name: 'three' })).id
    const metrics = createMetrics()
    const publicUrl = () => new URL('https://covenant.example')
    await proveJob({
      store,
      clock: { ...systemClock, now: () => Date.now() + 2 * 86_400_000 },
      log,
      metrics,
      publicUrl,
      signer,
    }).run(new AbortController().signal)
    expect((await metrics.auditUnsigned.get()).values[0]?.value).toBe(2)
    expect((await lastCheckpoint(store, late))?.checkpoint.size).toBe(1)
  })
})

test('without a key no job runs, and no tree is made', async () => {
  const core = { store, clock: systemClock, log, metrics: createMetrics() } as unknown as Core
  const publicUrl = () => new URL('https://covenant.example')
  expect(auditFeature(core, { signer: undefined, publicUrl }).jobs).toEqual([])
  const { jobs } = auditFeature(core, { signer: await signerOf('c.pem'), publicUrl })
  expect(jobs.map(({ name }) => name)).toEqual(['prove-audit'])
})

test('a suspended tenant is signed, and one whose tree fails is neither signed nor imported', async () => {
  await using own = await openTestStore()
  const [suspended, failing] = [await makeTenant(own, { name: 'a' }), await makeTenant(own, { name: 'b' })]
  await suspendTenant(own, suspended.id)
  const metrics = createMetrics()
  const job = proveJob({
    ...{ store: own, clock: systemClock, log, metrics, signer: await signerOf('d.pem') },
    publicUrl: () => new URL('https://covenant.example'),
  })
  // Its rows cannot be added, because their leaves seem to be there.
  await own.tenantQuery(
    failing.id,
    `insert into audit_leaf (key, index) select 9::int8 << 55 | administration_seq, 7 from svc.administration_log
     where tenant_id = $1::uuid`,
    [failing.id],
  )
  await job.run(new AbortController().signal)
  // That it was made, and that it was suspended.
  expect((await lastCheckpoint(own, suspended.id))?.checkpoint.size).toBe(2)
  expect(await lastCheckpoint(own, failing.id)).toBeUndefined()
  expect((await metrics.auditUnsigned.get()).values[0]?.value).toBe(1)
  expect((await metrics.auditImported.get()).values[0]?.value).toBeLessThan(1)
  await own.tenantQuery(failing.id, `update audit_mark set newest_at = newest_at - interval '2 hours'`)
  await job.run(new AbortController().signal)
  const [waiting] = (await metrics.auditWaiting.get()).values
  expect(waiting?.value).toBeGreaterThanOrEqual(7_200)
})

describe('the key', () => {
  test('is refused, without a word of its file, where it is not a private Ed25519 key', async () => {
    const wrong = {
      none: 'not a key, but a secret',
      public: generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' }),
      other: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
        format: 'pem',
        type: 'pkcs8',
      }),
    }
    for (const [name, text] of Object.entries(wrong)) {
      const keyFile = file(`${name}.pem`, text)
      const fault = await openAuditKey({ keyFile, formerKeyFile: undefined }, log).catch((err: Fault) => err)
      if (!(fault instanceof Error)) throw new Error(`${name} was taken`)
      expect(fault.message).toStartWith('SVC_AUDIT_KEY_FILE: the file holds no private Ed25519 key')
      expect(JSON.stringify([fault.cause, fault.message])).not.toContain('secret')
    }
    const missing = { keyFile: join(folder, 'missing'), formerKeyFile: undefined }
    const fault = await openAuditKey(missing, log).catch((err: Fault) => err)
    expect(String(fault)).toContain('SVC_AUDIT_KEY_FILE: the file cannot be read')
    expect(await openAuditKey(undefined, log)).toBeUndefined()
  })
})
