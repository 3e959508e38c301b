/** The export of a tenant: whole, of that tenant alone, without secrets, and a folder only once it is whole. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportTenant } from '../../src/admin/tenant-export.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { exportPartNames } from '../../src/core/tenant-export.ts'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { recordVerdict } from '../../src/store/commit/verdicts.ts'
import { setHold } from '../../src/store/history/holds.ts'
import { suspendTenant } from '../../src/store/tenant/tenants.ts'
import { actorOf } from '../support/actor.ts'
import { intentOf, rejectedOf } from '../support/commits.ts'
import { seedTenant } from '../support/seeded-tenant.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../support/store.ts'
import { runOn } from './command-line.ts'

setDefaultTimeout(300_000)

const secret = 'canary-secret'
let store: TestStore
let folder: string
let home: TenantId
let foreign: TenantId

beforeAll(async () => {
  store = await openTestStore()
  folder = mkdtempSync(join(tmpdir(), 'covenant-export-'))
  home = (await makeTenant(store, { name: 'home' })).id
  foreign = (await makeTenant(store, { name: 'foreign' })).id
  for (const [tenant, word] of [
    [home, 'canary-home'],
    [foreign, 'canary-foreign'],
  ] as const) {
    await seedTenant(store, tenant, word)
    await setHold(store, tenant, { table: undefined, reason: word }, actorOf(word))
    const config = { credential: `gateway:${secret}`, webhook_secret: secret }
    await putCatalogCredential(
      store,
      tenant,
      { kind: 'alpha', nickname: 'lake', endpoint: 'https://catalog.example', config },
      actorOf(word),
    )
  }
}, 300_000)
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await store?.[Symbol.asyncDispose]()
})

interface Manifest {
  readonly tenant: string
  readonly proves: string
  readonly files: readonly { readonly name: string; readonly lines: number; readonly sha256: string }[]
}

const manifestOf = (into: string) => JSON.parse(readFileSync(join(into, 'manifest.json'), 'utf8')) as Manifest
const linesOf = (into: string, name: string) =>
  readFileSync(join(into, name), 'utf8').split('\n').slice(0, -1)
const sha256 = (text: string | Uint8Array) => new Bun.CryptoHasher('sha256').update(text).digest('hex')

test('has a file for each part with the tenant’s rows, and a manifest with their number and SHA-256', async () => {
  const into = join(folder, 'whole')
  const { status, stdout, stderr } = await runOn(store, [
    'tenant',
    'export',
    '--tenant',
    home,
    '--into',
    into,
  ])
  expect([status, stderr]).toEqual([0, ''])
  const manifest = manifestOf(into)
  expect(manifest.tenant).toBe(home)
  expect(manifest.files.map(({ name }) => name)).toEqual(exportPartNames.map((part) => `${part}.jsonl`))
  expect(readdirSync(into).sort()).toEqual(
    [...manifest.files.map(({ name }) => name), 'manifest.json'].sort(),
  )
  for (const { name, lines, sha256: wanted } of manifest.files) {
    const found = linesOf(into, name).map((line) => JSON.parse(line) as object)
    // A part without a row shows nothing.
    expect([name, found.length > 0, found.length]).toEqual([name, true, lines])
    expect([name, sha256(readFileSync(join(into, name)))]).toEqual([name, wanted])
  }
  expect(JSON.parse(stdout)).toEqual({
    ...{ into, files: exportPartNames.length },
    lines: manifest.files.reduce((sum, { lines }) => sum + lines, 0),
    export_sha256: sha256(readFileSync(join(into, 'manifest.json'))),
  })
  expect(statSync(into).mode & 0o077).toBe(0)
})

test('has no word of another tenant, no secret, and no body of a commit', async () => {
  const into = join(folder, 'alone')
  await runOn(store, ['tenant', 'export', '--tenant', home, '--into', into])
  const text = readdirSync(into)
    .map((name) => readFileSync(join(into, name), 'utf8'))
    .join('')
  expect(text).toContain('canary-home')
  for (const no of ['canary-foreign', foreign, secret, '"body"', 'secret_sha256', 'sealed', 'wrapped'])
    expect([no, text.includes(no)]).toEqual([no, false])
})

test('reads every row of a part once, in order, page by page, of a suspended tenant too', async () => {
  const tenant = (await makeTenant(store, { name: 'paged' })).id
  for (let i = 0; i < 1_003; i++)
    await recordVerdict(store, tenant, rejectedOf(intentOf({ commitId: crypto.randomUUID() }), `reason ${i}`))
  await suspendTenant(store, tenant)
  const into = join(folder, 'paged')
  await runOn(store, ['tenant', 'export', '--tenant', tenant, '--into', into])
  const reasons = linesOf(into, 'decisions.jsonl').map(
    (line) => (JSON.parse(line) as { reason: string }).reason,
  )
  expect(reasons).toEqual(Array.from({ length: 1_003 }, (_, i) => `reason ${i}`))
})

test('leaves no folder where it fails, and replaces none', async () => {
  const into = join(folder, 'broken')
  const failing = {
    run: async (_: string, { part }: Readonly<Record<string, unknown>>) => {
      if (part === 'decisions') throw new Error('lost')
      return { items: ['{}'] }
    },
  }
  expect(await exportTenant(failing, home, into).catch(({ message }: Error) => message)).toBe('lost')
  expect(readdirSync(folder).filter((name) => name.includes('broken'))).toEqual([])
  const repeating = { run: async () => ({ items: ['{}'], next_page_token: 'same' }) }
  expect(await exportTenant(repeating, home, into).catch(({ message }: Error) => message)).toBe(
    'the service gave the same page twice',
  )
  mkdirSync(into)
  const { status, stderr } = await runOn(store, ['tenant', 'export', '--tenant', home, '--into', into])
  expect([status, stderr]).toEqual([
    64,
    expect.stringContaining('--into must name a folder that is not there yet: nothing is replaced'),
  ])
  expect(existsSync(join(into, 'manifest.json'))).toBe(false)
})

test('a page token that the listing did not give is refused', async () => {
  const { exportPage } = await import('../../src/store/tenant/export-tenant.ts')
  for (const after of ['', 'x', '[]', '["x"]', '[1]', '["1","2"]', '["99999999999999999999"]'])
    expect(await exportPage(store, home, 'decisions', { after }).catch(({ kind }) => kind)).toBe(
      'bad_request',
    )
})
