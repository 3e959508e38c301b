/**
 * Bounds that manifests keep of protected columns: refused where manifests are read before the forward, by a policy that
 * demands the plan and by ring 2. Values of bounds are in no answer and no log.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type DevCatalog, startDevCatalog } from '../../demo/catalog/dev-catalog.ts'
import { appendSnapshot, setProperties } from '../../demo/commits.ts'
import { type IcebergWriter, tableInFolder } from '../../demo/lake/iceberg-writer.ts'
import type { FileStats } from '../../demo/lake/manifests.ts'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { deletePolicy, putPolicy } from '../../src/store/policy/policies.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { fetchPlan } from '../../src/transform/fetch-plan.ts'
import { ask, session } from '../support/identity.ts'
import { type Lake, startLake } from '../support/lake.ts'
import { licenseFor } from '../support/license.ts'
import { manifestFolder } from '../support/manifests.ts'
import { enforceTerritory } from '../support/territory.ts'

setDefaultTimeout(120_000)

const canary = 'CANARY-9d4e'
const fields = [
  { id: 1, name: 'id', type: 'long' },
  { id: 2, name: 'email', type: 'string' },
  { id: 3, name: 'note', type: 'string' },
] as const
const table = { namespace: ['open'], name: 't' }

let folder: string
let catalog: DevCatalog
let lake: Lake
let writer: IcebergWriter
let writing: string
let steward: string
let foreign: string
const lines: string[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'covenant-bounds-'))
  catalog = await startDevCatalog({ folder: join(folder, 'catalog') })
  lake = await startLake({
    catalog: { url: catalog.url, warehouse: 'dev', folder },
    tables: [],
    env: { SVC_LICENSE: licenseFor('transform') },
    log: createLogger({ level: 'debug', destination: { write: (line) => void lines.push(line) } }),
    written: [
      {
        ref: table,
        async write(below: string) {
          writer = tableInFolder(dirname(below), 'open', { fields })
          return (await writer.append([{ rows: [{ id: 1, email: 'a', note: 'b' }] }])).metadataLocation
        },
      },
    ],
  })
  const scopes = ['read', 'admin', 'commit'] as const
  writing = lake.env.PGPASSWORD
  steward = await session(lake, lake.tenant, scopes, ['steward', 'administrator'], 'stella')
  const { id } = await createTenant(lake.store, { name: 'foreign' })
  const endpoint = catalog.url
  await putCatalogCredential(lake.store, id, {
    nickname: lake.catalog,
    kind: 'alpha',
    endpoint,
    config: { endpoint, warehouse: 'dev', storage_roots: [new URL(`file://${folder}`).href] },
  })
  foreign = await session(lake, id, scopes, ['steward', 'administrator'], 'mallory')
  await rule('email', { action: 'tokenize', method: 'hmac', scope: 'email' })
  await rule('note', { action: 'encrypt', method: 'siv', scope: 'note' })
  expect((await send(setProperties({ 'write.metadata.metrics.column.note': 'none' }))).status).toBe(200)
})
afterAll(async () => {
  await lake[Symbol.asyncDispose]()
  await catalog.stop()
  await rm(folder, { recursive: true, force: true })
})

async function rule(column: string, body: object): Promise<void> {
  const path = `/api/v1/transform/rules/columns/open/t/${column}`
  expect((await ask(lake, 'PUT', path, steward, body)).status).toBe(204)
}

async function send(body: string, secret = writing) {
  const answer = await fetch(new URL(`/v1/iceberg/${lake.catalog}/namespaces/open/tables/t`, lake.app.url), {
    method: 'POST',
    headers: { 'x-svc-session': secret, 'content-type': 'application/json' },
    body,
  })
  return { status: answer.status, text: await answer.text() }
}

let snapshotId = 55_000_000_000_000_000n
let sequence = 10
let clockMs = 1_800_000_000_000
const bounds = (fieldId: number, text: string): FileStats => ({
  lower: { [fieldId]: Buffer.from(text) },
  upper: { [fieldId]: Buffer.from(text) },
})

interface Sent {
  readonly stats?: FileStats
  readonly status?: 'existing' | 'added'
  readonly kind?: 'data' | 'deletes'
  readonly secret?: string
  /** By default the manifest list that was written. */
  readonly list?: string
}

/** Appends one file on a branch of its own, with the proof of a plan that is fetched for it. */
async function append({ stats, status = 'added', kind, secret = writing, list }: Sent = {}) {
  const place = manifestFolder(fileURLToPath(writer.options.location))
  const path = `${writer.options.location}/data/${crypto.randomUUID()}.parquet`
  const written = await place.list([
    { ...(await place.manifest([{ path, status, ...(stats && { stats }) }], kind)) },
  ])
  const { plan } = await fetchPlan({
    url: lake.app.url.origin,
    table: ['open', 't'],
    headers: { 'x-svc-session': secret },
  })
  const id = ++snapshotId
  const summary = {
    operation: 'append',
    'covenant.transform-plan': `${plan.policy_version}:${plan.nonce}`,
  }
  const body = appendSnapshot({
    snapshotId: id,
    sequenceNumber: ++sequence,
    timestampMs: ++clockMs,
    manifestList: list ?? written,
  })
    .replace('{"operation":"append"}', JSON.stringify(summary))
    .replace(/"requirements":\[[^\]]*\]/, '"requirements":[]')
    .replace('"ref-name":"main"', `"ref-name":"b${id}"`)
  const answer = await send(body, secret)
  expect(answer.text).not.toContain(canary)
  return answer
}

describe('a policy that demands the plan', () => {
  const refused = 'write by the plan'
  beforeAll(async () => {
    await putPolicy(lake.store, lake.tenant, table, {
      ...{ id: 'transformed', name: 'transformed', kind: 'schema', mode: 'enforce' },
      definitionCel: 'transform.current(commit)',
      message: 'write by the plan',
    })
  })
  afterAll(async () => {
    await deletePolicy(lake.store, lake.tenant, 'transformed')
  })

  test('takes files without bounds of protected columns', async () => {
    expect((await append()).status).toBe(200)
    expect((await append({ stats: bounds(1, '12345678') })).status).toBe(200)
  })

  test('refuses a file with a bound of an encrypted column, even of ciphertext', async () => {
    for (const text of [canary, 'cse1.k1.AAAA'])
      expect(await append({ stats: bounds(3, text) })).toMatchObject({ status: 403 })
    expect((await append({ stats: { upper: { 3: Buffer.from(canary) } } })).text).toContain(refused)
    expect((await append({ stats: bounds(3, canary), kind: 'deletes' })).status).toBe(403)
  })

  test('takes bounds of a tokenized column that are tokens, and no others', async () => {
    expect((await append({ stats: bounds(2, 'tok_abcdefghijkl') })).status).toBe(200)
    for (const text of [canary, 'tok', ''])
      expect((await append({ stats: bounds(2, text) })).status).toBe(403)
  })

  test('does not look at files that were there before', async () => {
    expect((await append({ stats: bounds(3, canary), status: 'existing' })).status).toBe(200)
  })

  test('has no verdict where manifests of the storage that is registered cannot be read', async () => {
    const answer = await append({ list: `${writer.options.location}/metadata/none.avro` })
    expect(answer.status).toBe(503)
  })
})

describe('ring 2, where it reads manifests before the forward', () => {
  beforeAll(async () => {
    await enforceTerritory(lake.store, lake.tenant)
    const set = await ask(lake, 'PUT', '/api/v1/territory/manifests', steward, { mode: 'enforce' })
    expect(set.status).toBe(204)
  })

  test('refuses such bounds without a policy, and says what to set', async () => {
    expect((await append({ stats: bounds(1, '12345678') })).status).toBe(200)
    const answer = await append({ stats: bounds(3, canary) })
    expect([answer.status, answer.text]).toEqual([
      403,
      'policy denied: the manifests keep bounds of the column note, which is to be encrypted: set write.metadata.metrics.column.note to none and write again',
    ])
    expect((await append({ stats: bounds(2, canary) })).text).toContain(
      'keep bounds of the column email that are no tokens: write it by the plan of the table',
    )
  })

  test('judges by the rules of the own tenant: another one has none for the same table', async () => {
    expect((await send(setProperties({ a: '1' }), foreign)).status).toBe(200)
    const set = await ask(lake, 'PUT', '/api/v1/territory/manifests', foreign, { mode: 'enforce' })
    expect(set.status).toBe(204)
    expect((await append({ stats: bounds(3, canary), secret: foreign })).status).toBe(200)
  })
})

test('no value of a bound is logged', () => {
  expect(lines.length).toBeGreaterThan(0)
  expect(lines.filter((line) => line.includes(canary))).toEqual([])
})
