/** What policies learn of a commit's files, over HTTP: the commit's own words decide nothing. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { appendSnapshot, createTable, orderFields } from '../../demo/commits.ts'
import { type Appended, type IcebergWriter, tableInFolder } from '../../demo/lake/iceberg-writer.ts'
import { catalogOf } from '../../src/core/catalog.ts'
import type { Policy } from '../../src/core/policy.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import { ancestorsOf } from '../../src/storage/canonical-path.ts'
import {
  findCatalogCredential,
  putCatalogCredential,
} from '../../src/store/catalog-credential/catalog-credentials.ts'
import { listRefusals, type Refusal } from '../../src/store/commit/refusals.ts'
import { putPolicy } from '../../src/store/policy/policies.ts'
import { claimTerritory } from '../../src/store/territory/territory-rows.ts'
import { pageExamples } from '../policy/bindings.ts'
import { call } from '../support/identity.ts'
import { manifestFolder } from '../support/manifests.ts'
import {
  addTenant,
  audit,
  type CommitOptions,
  commit,
  metric,
  prefix,
  startTestService,
  type TestService,
  type TestTenant,
  upstreamHeaders,
} from '../support/service.ts'

setDefaultTimeout(60_000)

const folder = mkdtempSync(join(tmpdir(), 'covenant-facts-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let service: TestService
let appendOnly: string
let tables = 0
let clockMs = 1_700_000_000_000

beforeAll(async () => {
  service = await startTestService()
  await registerRoot(service.owner, folder)
  appendOnly = (await pageExamples()).find(({ name }) => name === 'append-only')?.text ?? ''
})
afterAll(() => service[Symbol.asyncDispose]())

async function registerRoot({ tenant }: TestTenant, root: string | undefined): Promise<void> {
  const endpoint = service.catalog.url
  await putCatalogCredential(service.store, tenant, {
    nickname: prefix,
    kind: 'alpha',
    endpoint,
    config: {
      endpoint,
      warehouse: 'dev',
      credential: 'gateway:s3cret',
      ...(root !== undefined && { storage_roots: [pathToFileURL(root).href] }),
    },
  })
}

interface Table {
  readonly ref: TableRef
  readonly path: string
  /** Writes the files that its snapshots name. */
  readonly writer: IcebergWriter
}

/** A table that the documented example governs, unless another text is given. */
async function governedTable(policy: Partial<Policy> = {}, owner = service.owner): Promise<Table> {
  const ref = { namespace: ['sales'], name: `t${++tables}` }
  const created = await fetch(`${service.catalog.url}/v1/dev/namespaces/sales/tables`, {
    method: 'POST',
    headers: await upstreamHeaders(service.catalog),
    body: createTable(ref.name, orderFields),
  })
  expect(created.status).toBe(200)
  const id = `append-only-${ref.name}`
  await putPolicy(service.store, owner.tenant, ref, {
    id,
    kind: 'write_acl',
    mode: 'enforce',
    name: 'append only',
    message: '',
    definitionCel: appendOnly,
    ...policy,
  })
  const writer = tableInFolder(folder, ref.name, { fields: [{ id: 1, name: 'id', type: 'long' }] })
  return { ref, path: `/v1/iceberg/${prefix}/namespaces/sales/tables/${ref.name}`, writer }
}

const writtenFile = { rows: [], bytes: new Uint8Array(4), recordCount: 3 }

interface Snapshot {
  readonly id: bigint
  readonly list: string
}

let sequence = 0
/** Sends a snapshot that says it appends. */
async function sendAppend(
  table: Pick<Table, 'path'>,
  snapshot: Snapshot,
  parent: Snapshot | undefined,
  options: CommitOptions = {},
): Promise<Response> {
  const body = appendSnapshot({
    snapshotId: snapshot.id,
    parentId: parent?.id,
    sequenceNumber: ++sequence,
    timestampMs: ++clockMs,
    manifestList: snapshot.list,
  })
  return await commit(service, body, { sub: 'dana', path: table.path, ...options })
}

const made = ({ snapshotId, manifestList }: Appended): Snapshot => ({ id: snapshotId, list: manifestList })
let forgedId = 77_000_000_000_000_000n
const forged = (list: string): Snapshot => ({ id: ++forgedId, list })

/** A table with two honest appends. */
async function tableWithHistory(policy: Partial<Policy> = {}) {
  const table = await governedTable(policy)
  const first = made(await table.writer.append([writtenFile]))
  const second = made(await table.writer.append([writtenFile, writtenFile]))
  expect((await sendAppend(table, first, undefined)).status).toBe(200)
  expect((await sendAppend(table, second, first)).status).toBe(200)
  return { table, first, second }
}

const setMain = ({ id }: Snapshot) =>
  `{"requirements":[],"updates":[{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":${id}}]}`

async function newestRefusal({ ref }: Table, owner = service.owner): Promise<Refusal | undefined> {
  return (await listRefusals(service.store, owner.tenant, { table: ref, limit: 1 })).items[0]
}

describe('under a policy that no file may lie outside the territory of the table', () => {
  /** What a steward grants: the folder in which the writer of these tests puts its files. */
  async function grant({ ref }: Table): Promise<void> {
    const found = await findCatalogCredential(service.store, service.owner.tenant, prefix)
    if (found === undefined) throw new Error('no credential')
    const granted = `${pathToFileURL(await realpath(folder)).href}/${ref.name}/`
    await claimTerritory(service.store, service.owner.tenant, {
      owner: { catalog: catalogOf(found), credentialId: found.id, table: ref, tableUuid: undefined },
      source: 'sweep',
      strict: true,
      prefixes: [{ prefix: granted, kind: 'granted', ancestors: ancestorsOf(granted) }],
    })
  }

  test('files in another folder are denied, until the folder is granted', async () => {
    const table = await governedTable({ definitionCel: 'manifest.outside_files(commit) == 0' })
    const first = made(await table.writer.append([writtenFile]))
    expect((await sendAppend(table, first, undefined)).status).toBe(403)
    await grant(table)
    expect((await sendAppend(table, first, undefined)).status).toBe(200)
  })

  test('an own manifest that names the file of another table is denied', async () => {
    const other = await governedTable()
    const { files } = await other.writer.append([writtenFile])
    const table = await governedTable({ definitionCel: 'manifest.outside_files(commit) == 0' })
    await grant(table)
    const own = manifestFolder(join(folder, table.ref.name))
    const naming = async (path: string) => forged(await own.list([await own.manifest([{ path }])]))
    const stolen = await sendAppend(table, await naming(files[0] ?? ''), undefined)
    expect([stolen.status, await stolen.text()]).toEqual([403, 'policy denied: append only'])
    const ours = await naming(`${table.writer.options.location}/data/a.parquet`)
    expect((await sendAppend(table, ours, undefined)).status).toBe(200)
  })
})

describe('under the documented append-only policy', () => {
  test('appends are allowed to everyone', async () => {
    const { table, second } = await tableWithHistory()
    const third = made(await table.writer.append([writtenFile]))
    expect((await sendAppend(table, third, second)).status).toBe(200)
  })

  test('a rollback named append, which brings an old snapshot’s manifest list, is denied', async () => {
    const { table, first, second } = await tableWithHistory()
    const response = await sendAppend(table, forged(first.list), second)
    expect([response.status, await response.text()]).toEqual([403, 'policy denied: append only'])
  })

  test('so is one that brings a copy of that manifest list', async () => {
    const { table, first, second } = await tableWithHistory()
    const copy = `${table.writer.options.location}/metadata/copy.avro`
    copyFileSync(fileURLToPath(first.list), fileURLToPath(copy))
    expect((await sendAppend(table, forged(copy), second)).status).toBe(403)
  })

  test('so is one that hides the lost files behind a manifest of its own', async () => {
    const { table, second } = await tableWithHistory()
    const files = manifestFolder(join(folder, table.ref.name, 'own'))
    const list = await files.list([await files.manifest([{ path: 'nowhere', status: 'existing', rows: 9 }])])
    expect((await sendAppend(table, forged(list), second)).status).toBe(403)
  })

  test('a bare set-snapshot-ref to an older snapshot is denied, also over the client surface', async () => {
    const { table, first } = await tableWithHistory()
    expect((await commit(service, setMain(first), { sub: 'dana', path: table.path })).status).toBe(403)
    const path = table.path.replace('/namespaces', '/v1/namespaces')
    const response = await commit(service, setMain(first), { sub: 'dana', path })
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({ error: { message: 'policy denied: append only' } })
  })

  test('so is one inside a transaction', async () => {
    const { table, first } = await tableWithHistory()
    const update = { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': 0 }
    const changes = [{ identifier: table.ref, requirements: [], updates: [update] }]
    const body = JSON.stringify({ 'table-changes': changes }).replace(
      '"snapshot-id":0',
      `"snapshot-id":${first.id}`,
    )
    const path = `/v1/iceberg/${prefix}/transactions/commit`
    expect((await commit(service, body, { sub: 'dana', path })).status).toBe(403)
  })

  test('a snapshot that was staged beside the branch is judged by its files when it is published', async () => {
    const { table, first, second } = await tableWithHistory()
    const staged = forged(first.list)
    const add = appendSnapshot({
      snapshotId: staged.id,
      parentId: second.id,
      sequenceNumber: ++sequence,
      timestampMs: ++clockMs,
      manifestList: staged.list,
    })
    const alone = add.replace(/,\{"action":"set-snapshot-ref".*$/, ']}')
    const options = { roles: ['orders-writer'], path: table.path }
    expect((await commit(service, alone, options)).status).toBe(200)
    expect((await commit(service, setMain(staged), { sub: 'dana', path: table.path })).status).toBe(403)
  })

  test('deleting rows by delete files is denied', async () => {
    const { table, second } = await tableWithHistory()
    const dataFile = `${table.writer.options.location}/data/x.parquet`
    const deletes = await table.writer.commit('append', [], [{ kind: 'position', dataFile, positions: [0] }])
    expect((await sendAppend(table, made(deletes), second)).status).toBe(403)
  })

  test('a drop is denied', async () => {
    const { table } = await tableWithHistory()
    const path = table.path.replace('/namespaces', '/v1/namespaces')
    const dropped = await call(service, 'DELETE', path, { secret: service.owner.secret })
    expect(dropped.status).toBe(403)
  })

  test('who has the role may roll back, and for them nothing is read', async () => {
    const { table, first } = await tableWithHistory()
    const series = 'svc_manifest_facts_duration_seconds_count{outcome="read"}'
    const before = await metric(service, series)
    const options = { sub: 'lee', roles: ['orders-writer'], path: table.path }
    expect((await commit(service, setMain(first), options)).status).toBe(200)
    expect(await metric(service, series)).toBe(before)
  })
})

describe('facts', () => {
  test.each(['!manifest.is_rollback(commit)', 'manifest.deleted_files(commit) == 0'])(
    'tell a rollback named append, and a bare one, by %s alone',
    async (definitionCel) => {
      const { table, first, second } = await tableWithHistory({ definitionCel })
      expect((await sendAppend(table, forged(first.list), second)).status).toBe(403)
      expect((await commit(service, setMain(first), { sub: 'dana', path: table.path })).status).toBe(403)
    },
  )

  test('are counted file by file, and each reading is measured', async () => {
    const series = 'svc_manifest_facts_duration_seconds_count{outcome="read"}'
    const before = await metric(service, series)
    const counts =
      'manifest.added_files(commit) == 2 && manifest.added_rows(commit) == 6 && manifest.added_bytes(commit) >= 2 && manifest.deleted_files(commit) == 0'
    const table = await governedTable({ definitionCel: counts })
    const first = made(await table.writer.append([writtenFile, writtenFile]))
    expect((await sendAppend(table, first, undefined)).status).toBe(200)
    expect(await metric(service, series)).toBe(before + 1)
  })

  test('tell the nulls that a commit adds to a column, by its name after the commit', async () => {
    const table = await governedTable({ definitionCel: 'manifest.null_count(commit, "id") == 0' })
    const counted = (nulls: number) => ({ ...writtenFile, stats: { nullCounts: { 1: nulls } } })
    const first = made(await table.writer.append([counted(0), counted(0)]))
    expect((await sendAppend(table, first, undefined)).status).toBe(200)
    const second = made(await table.writer.append([counted(0), counted(1)]))
    expect((await sendAppend(table, second, first)).status).toBe(403)
  })

  test('give no verdict about nulls that a manifest does not count, or of a column that is not there', async () => {
    const table = await governedTable({ definitionCel: 'manifest.null_count(commit, "id") == 0' })
    const first = made(await table.writer.append([writtenFile]))
    expect((await sendAppend(table, first, undefined)).status).toBe(503)
    expect((await newestRefusal(table))?.explanation).toContain('does not count the nulls of id')
    const other = await governedTable({ definitionCel: 'manifest.null_count(commit, "gone") == 0' })
    const own = made(await other.writer.append([{ ...writtenFile, stats: { nullCounts: { 1: 0 } } }]))
    expect((await sendAppend(other, own, undefined)).status).toBe(503)
  })

  test('tell no nulls of a commit that adds only files without rows, beside those of files with rows', async () => {
    const table = await governedTable({ definitionCel: 'manifest.null_count(commit, "id") == 0' })
    const empty = { ...writtenFile, recordCount: 0 }
    const first = made(await table.writer.append([empty]))
    expect((await sendAppend(table, first, undefined)).status).toBe(200)
    const counted = { ...writtenFile, stats: { nullCounts: { 1: 0 } } }
    const second = made(await table.writer.append([empty, counted]))
    expect((await sendAppend(table, second, first)).status).toBe(200)
    const lying = made(await table.writer.append([{ ...empty, stats: { nullCounts: { 1: 7 } } }]))
    expect((await sendAppend(table, lying, second)).status).toBe(503)
  })

  test('tell nulls to a policy that warns, where an enforced one asks for something else', async () => {
    const table = await governedTable({ definitionCel: 'manifest.added_files(commit) == 1' })
    await putPolicy(service.store, service.owner.tenant, table.ref, {
      ...{ id: `nulls-${table.ref.name}`, kind: 'schema', mode: 'warn', name: 'no nulls', message: '' },
      definitionCel: 'manifest.null_count(commit, "id") == 0',
    })
    const first = made(await table.writer.append([{ ...writtenFile, stats: { nullCounts: { 1: 2 } } }]))
    expect((await sendAppend(table, first, undefined)).status).toBe(200)
    const [row] = await audit(service)
    expect(row?.outcomes.map(({ value }) => value)).toEqual([true, false])
  })

  test('tell how many partitions a commit touches', async () => {
    const table = await governedTable({ definitionCel: 'manifest.touched_partitions(commit) <= 2' })
    const writer = tableInFolder(folder, table.ref.name, {
      fields: [{ id: 1, name: 'id', type: 'long' }],
      partitionBy: 'id',
    })
    const into = (...ids: readonly number[]) =>
      writer.append(ids.map((id) => ({ ...writtenFile, partition: id })))
    const first = made(await into(1, 2, 2))
    expect((await sendAppend(table, first, undefined)).status).toBe(200)
    const second = made(await into(1, 2, 3))
    expect((await sendAppend(table, second, first)).status).toBe(403)
  })

  test('are all 0 or false for a commit that names no snapshot, without a look at storage', async () => {
    const table = await governedTable({
      definitionCel: 'manifest.added_files(commit) == 0 && !manifest.is_rollback(commit)',
    })
    const body = '{"requirements":[],"updates":[{"action":"set-properties","updates":{"a":"1"}}]}'
    expect((await commit(service, body, { path: table.path })).status).toBe(200)
  })

  test('are what a shadow policy sees, too', async () => {
    const table = await governedTable({ mode: 'shadow', definitionCel: 'manifest.added_files(commit) == 1' })
    const first = made(await table.writer.append([writtenFile]))
    expect((await sendAppend(table, first, undefined)).status).toBe(200)
    const second = made(await table.writer.append([writtenFile, writtenFile]))
    expect((await sendAppend(table, second, first)).status).toBe(200)
    const outcomes = (await audit(service)).slice(0, 2).map((record) => record.outcomes[0]?.value)
    expect(outcomes).toEqual([false, true])
  })
})

describe('there is no verdict', () => {
  async function expectUnread(table: Table, snapshot: Snapshot, reason: string): Promise<void> {
    const response = await sendAppend(table, snapshot, undefined)
    expect([response.status, await response.text()]).toEqual([503, 'policy-engine-unavailable'])
    expect(await newestRefusal(table)).toMatchObject({
      reason: 'ErrManifestRead',
      policy: { name: 'append only' },
      explanation: reason,
    })
  }

  test('where the manifest list is not there', async () => {
    const table = await governedTable()
    await expectUnread(table, forged(`${table.writer.options.location}/none.avro`), 'a file is not there')
  })

  test('where it lies outside the storage roots', async () => {
    await expectUnread(
      await governedTable(),
      forged('file:///etc/passwd'),
      'a location lies outside the storage_roots of the catalog credential',
    )
  })

  test('where the catalog credential registers no storage roots', async () => {
    const table = await governedTable()
    const { manifestList } = await table.writer.append([writtenFile])
    await registerRoot(service.owner, undefined)
    try {
      const reason = 'the catalog credential registers no storage_roots: nothing may be read'
      await expectUnread(table, forged(manifestList), reason)
    } finally {
      await registerRoot(service.owner, folder)
    }
  })

  test('where it names a list of another tenant’s table, below the roots of that tenant alone', async () => {
    const { first } = await tableWithHistory()
    const other = await addTenant(service.store, 'other', service.catalog.url)
    const own = mkdtempSync(join(tmpdir(), 'covenant-facts-other-'))
    try {
      await registerRoot(other, own)
      const table = await governedTable({}, other)
      const response = await sendAppend(table, forged(first.list), undefined, { secret: other.secret })
      expect(response.status).toBe(503)
      expect((await newestRefusal(table, other))?.explanation).toContain('outside the storage_roots')
      expect(await newestRefusal(table)).toBeUndefined()
    } finally {
      rmSync(own, { recursive: true })
    }
  })

  test('but a rollback by the refs alone is denied even where no file can be read', async () => {
    const { table, first, second } = await tableWithHistory()
    rmSync(fileURLToPath(second.list))
    expect((await commit(service, setMain(first), { sub: 'dana', path: table.path })).status).toBe(403)
  })
})
