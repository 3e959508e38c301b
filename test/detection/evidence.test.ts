/**
 * Findings follow the evidence: what values refute is withdrawn, and what rests on values goes with them. Tables are real
 * files, scanned by the scan itself; no service runs. A foreign tenant has the same table throughout.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { avroBytes } from '../../demo/lake/avro-file.ts'
import { type IcebergWriter, tableInFolder } from '../../demo/lake/iceberg-writer.ts'
import { manifestListBytes, manifestSchema } from '../../demo/lake/manifests.ts'
import type { Field } from '../../demo/lake/table-fields.ts'
import { tableKey } from '../../src/core/table-ref.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { scanSnapshot } from '../../src/detection/scan/scan-snapshot.ts'
import { withdrawTags } from '../../src/detection/withdraw-tags.ts'
import { manifestIn } from '../../src/storage/iceberg/avro-fields.ts'
import { listedManifests } from '../../src/storage/iceberg/manifest-list.ts'
import { putReadSettings } from '../../src/store/contract/read-settings.ts'
import { listTagChanges } from '../../src/store/contract/tag-changes.ts'
import { nodeId } from '../../src/store/database/names.ts'
import { claimRuns } from '../../src/store/detection/claims.ts'
import { decideFinding, listFindings } from '../../src/store/detection/findings.ts'
import { finishRun } from '../../src/store/detection/results.ts'
import { enqueueHits } from '../../src/store/detection/runs.ts'
import { claimDueWithdrawals, requestRecheck } from '../../src/store/detection/withdrawals.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { actorOf } from '../support/actor.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../support/store.ts'

setDefaultTimeout(300_000)

let store: TestStore
let home: TenantId
let people = { namespace: ['sales'], name: 'people' }
let foreign: TenantId
let folder: string
let tables = 0
const actor = actorOf('sam')
const parts = () => ({ store, log: createLogger({ level: 'silent' }), metrics: createMetrics() })
beforeAll(async () => {
  store = await openTestStore()
  home = (await makeTenant(store, { name: 'home' })).id
  foreign = (await makeTenant(store, { name: 'foreign' })).id
  folder = mkdtempSync(join(tmpdir(), 'covenant-evidence-'))
}, 300_000)
beforeEach(async () => {
  people = { namespace: ['sales'], name: `people${++tables}` }
  await putReadSettings(store, home, actor, { withdrawGone: 'history', withdrawDays: 7 })
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await store[Symbol.asyncDispose]()
})

const fields: readonly Field[] = [
  { id: 1, name: 'id', type: 'long' },
  { id: 2, name: 'ssn', type: 'string' },
  { id: 3, name: 'note', type: 'string' },
]
const newTable = (of: readonly Field[] = fields) => tableInFolder(folder, `t${++tables}`, { fields: of })
/** Insurance numbers of another country under the name. */
const others = ['1 84 12 75 116 004 08', '2 91 03 13 055 110 22', '1 70 05 69 123 456 77']
const numbers = ['536-22-8726', '219-54-1120', '401-87-6612', '502-11-9034']
const rows = (values: readonly string[], note?: string) =>
  values.map((ssn, id) => ({ id, ssn, note: note ?? null }))

/** Scans what a metadata file of the test's table added, and takes away what is to be taken away. */
async function scan(metadataLocation: string, tenant = home): Promise<void> {
  await enqueueHits(store, tenant, [{ tenant, source: 'baseline-poller', metadataLocation, table: people }])
  await scanQueued()
}

/** A scan that read nothing. */
async function fail(metadataLocation: string): Promise<void> {
  const hit = { tenant: home, source: 'baseline-poller', metadataLocation, table: people } as const
  await enqueueHits(store, home, [hit])
  const ended = `update svc.detection_run set state = 'failed' where tenant_id = $1 and state = 'queued'`
  await store.tenantQuery(home, ended, [home])
}

async function scanQueued(): Promise<void> {
  for (const claim of await claimRuns(store, { limit: 10, leaseMs: 60_000, triesMax: 3 })) {
    const { metadataLocation, isRescan, table } = claim
    const access = { roots: [folder], s3: undefined }
    const result = await scanSnapshot({ metadataLocation, access, isRescan, table })
    const { withdrawable = [] } = await finishRun(store, claim, { ...result, alert: true })
    await withdrawTags(parts(), claim.tenant, withdrawable)
  }
}

/** One round of the job, with a catalog that names the writer's newest file. */
async function passDue(table: IcebergWriter): Promise<void> {
  for (const { tenant, classificationId } of await claimDueWithdrawals(store, 100)) {
    await withdrawTags(parts(), tenant, [classificationId])
    const metadataLocation = table.metadataLocation ?? ''
    await requestRecheck(store, tenant, people, { metadataLocation, credentialId: crypto.randomUUID() })
  }
  await scanQueued()
}

/** Lets time pass: what was seen to be gone was seen so many days earlier. */
async function passDays(days: number): Promise<void> {
  await store.tenantQuery(
    home,
    `update svc.detection_evidence set gone_since = gone_since - make_interval(days => $1::int) where gone_since is not null`,
    [days],
  )
  await store.tenantQuery(
    home,
    `update svc.detection_finding set withdraw_due = withdraw_due - make_interval(days => $1::int) where withdraw_due is not null`,
    [days],
  )
}

/** A place of a table, as the territory index has it. */
async function hold(tenant: TenantId, prefix: string, name: string): Promise<void> {
  const text = `insert into svc.territory (tenant_id, prefix, kind, catalog, credential_id, table_id, namespace, table_name)
    values ($1, $2, 'location', 'c', gen_random_uuid(), $3, '["sales"]', $4)`
  await store.tenantQuery(tenant, text, [tenant, prefix, nodeId(tableKey({ ...people, name })), name])
}
/** The tables of the test's finding, as the job would ask for them. */
async function dueOf() {
  const ids = (await findings()).map(({ table }) => table?.name)
  const due = await claimDueWithdrawals(store, 100)
  const own = new Set([...ids, `new${people.name}`])
  return due.flatMap(({ table }) => (table !== undefined && own.has(table.name) ? table : []))
}

const tagsOf = async (tenant = home) => {
  const edges = await store.tenantQuery<{ path: string; tag: string }>(
    tenant,
    `select e.properties::text::jsonb ->> 'path' as path, g.properties::text::jsonb ->> 'id' as tag
     from "TAGGED" e join "Tag" g on g.id = e.end_id join "Column" c on c.id = e.start_id
     where c.properties::text::jsonb ->> 'table_id' = $1`,
    [nodeId(tableKey(people))],
  )
  return edges.map(({ path, tag }) => `${path} ${tag}`).sort()
}
const findings = async () => (await listFindings(store, home, { table: people })).items
const ssnTag = ['ssn sensitive.us_ssn']

describe('a name alone', () => {
  test('tags an empty table, until values that are seen are of another kind', async () => {
    const table = newTable()
    await scan(await table.setProperties({}))
    await scan(await table.setProperties({ made: 'again' }), foreign)
    expect(await tagsOf()).toEqual(ssnTag)
    await scan((await table.append([{ rows: rows(others) }])).metadataLocation)
    expect(await tagsOf()).toEqual([])
    expect(await findings()).toMatchObject([
      { status: 'withdrawn', withdrawal: { state: 'withdrawn', why: 'refuted' } },
    ])
    expect(await tagsOf(foreign)).toEqual(ssnTag)
    const { items } = await listTagChanges(store, home, { table: people })
    expect(items).toMatchObject([
      {
        ...{ action: 'removed', source: 'classifier', by: undefined },
        evidence: { note: 'the values are of another kind than the name says' },
      },
      { action: 'set', source: 'classifier' },
    ])
  })

  test('keeps its tag where the values that are seen say nothing, and where none are seen', async () => {
    const table = newTable()
    await scan(await table.setProperties({}))
    await scan((await table.append([{ rows: rows(['', 'n/a']) }])).metadataLocation)
    await scan((await table.append([{ rows: rows(['see file', 'with Ann']) }])).metadataLocation)
    expect(await tagsOf()).toEqual(ssnTag)
  })

  test('does not tag again while values of another kind are there', async () => {
    const table = newTable()
    await scan((await table.append([{ rows: rows(others) }])).metadataLocation)
    await scan(await table.setProperties({ owner: 'sales' }))
    expect(await tagsOf()).toEqual([])
    await scan((await table.append([{ rows: rows(numbers) }])).metadataLocation)
    expect(await tagsOf()).toEqual(ssnTag)
  })

  test('tags again once the values of another kind are gone', async () => {
    const table = newTable()
    await scan((await table.append([{ rows: rows(others) }])).metadataLocation)
    await scan((await table.overwrite([])).metadataLocation)
    await scan(await table.setProperties({ owner: 'sales' }))
    expect(await tagsOf()).toEqual(ssnTag)
  })

  test('is not refuted by a scan that could not read a file', async () => {
    const table = newTable()
    await scan(await table.setProperties({}))
    const files = [{ rows: rows(others) }, { rows: rows(others), format: 'ORC' }]
    await scan((await table.append(files)).metadataLocation)
    expect(await tagsOf()).toEqual(ssnTag)
  })

  test('is not refuted while a scan of other values has failed', async () => {
    const table = newTable()
    await scan(await table.setProperties({}))
    await fail((await table.append([{ rows: rows(numbers) }])).metadataLocation)
    await scan((await table.append([{ rows: rows(others) }])).metadataLocation)
    expect(await tagsOf()).toEqual(ssnTag)
  })

  test('is not refuted by values beside a file that could not be read', async () => {
    const table = newTable()
    await scan((await table.append([{ rows: rows(numbers), format: 'ORC' }])).metadataLocation)
    await scan((await table.append([{ rows: rows(others) }])).metadataLocation)
    expect(await tagsOf()).toEqual(ssnTag)
  })

  test('keeps its tag where a person confirmed it', async () => {
    const table = newTable()
    await scan(await table.setProperties({}))
    const [finding] = await findings()
    await store.tenantTransaction(home, (tx) =>
      decideFinding(tx, home, finding?.id ?? '', { decision: 'confirm', reason: '', actor }),
    )
    await scan((await table.append([{ rows: rows(others) }])).metadataLocation)
    await passDue(table)
    expect(await tagsOf()).toEqual(ssnTag)
    expect(await findings()).toMatchObject([{ status: 'confirmed', withdrawal: undefined }])
  })
})

describe('values that are gone', () => {
  const overwritten = async (files = [{ rows: rows(others) }]) => {
    const table = newTable()
    const { metadataLocation, snapshotId } = await table.append([{ rows: rows(numbers) }])
    await scan(metadataLocation)
    await scan((await table.overwrite(files)).metadataLocation)
    return { table, snapshotId }
  }

  test('leave the tag for the grace time, and then until no older snapshot is listed', async () => {
    const { table } = await overwritten()
    expect(await tagsOf()).toEqual(ssnTag)
    expect(await findings()).toMatchObject([{ status: 'open', withdrawal: { state: 'due' } }])
    await passDays(6)
    await passDue(table)
    expect(await tagsOf()).toEqual(ssnTag)
    await passDays(2)
    await passDue(table)
    expect(await tagsOf()).toEqual(ssnTag)
    await scan(await table.expire())
    expect(await tagsOf()).toEqual([])
    expect(await findings()).toMatchObject([{ withdrawal: { state: 'withdrawn', why: 'gone' } }])
  })

  test('withdraw it after the grace time alone where the tenant says that older snapshots do not count', async () => {
    await putReadSettings(store, home, actor, { withdrawGone: 'current', withdrawDays: 2 })
    const { table } = await overwritten()
    await passDays(1)
    await passDue(table)
    expect(await tagsOf()).toEqual(ssnTag)
    await passDays(2)
    await passDue(table)
    expect(await tagsOf()).toEqual([])
  })

  test('never withdraw it where the tenant says so', async () => {
    await putReadSettings(store, home, actor, { withdrawGone: 'never' })
    const { table } = await overwritten()
    await scan(await table.expire())
    await passDays(4_000)
    await passDue(table)
    expect(await tagsOf()).toEqual(ssnTag)
  })

  test('leave what the name alone says where nothing is there', async () => {
    await putReadSettings(store, home, actor, { withdrawGone: 'current', withdrawDays: 0 })
    await overwritten([])
    expect(await findings()).toMatchObject([{ status: 'open', shape: 'name', confidence: 0.65 }])
  })

  test('are back where the branch is rolled back', async () => {
    await putReadSettings(store, home, actor, { withdrawGone: 'current', withdrawDays: 0 })
    const { table, snapshotId } = await overwritten()
    expect(await tagsOf()).toEqual([])
    await scan(await table.rollBack(snapshotId))
    expect(await tagsOf()).toEqual(ssnTag)
    expect(await findings()).toMatchObject([{ status: 'open', confidence: 0.92, withdrawal: undefined }])
  })

  test('are there while their snapshot is listed, though the branch was rolled back to an older one', async () => {
    const table = newTable()
    const first = await table.append([{ rows: rows(others) }])
    await scan(first.metadataLocation)
    await scan((await table.append([{ rows: rows(numbers) }])).metadataLocation)
    await scan(await table.rollBack(first.snapshotId))
    await scan((await table.append([{ rows: rows(others) }])).metadataLocation)
    await passDays(8)
    await passDue(table)
    expect(await tagsOf()).toEqual(ssnTag)
  })

  test('are there while their snapshot is listed, though the clock of its writer was ahead', async () => {
    const { table } = await overwritten()
    const metadataLocation = await table.setProperties({ owner: 'sales' })
    const file = fileURLToPath(metadataLocation)
    const written = readFileSync(file, 'utf8')
    const times = written.match(/"timestamp-ms":\d+/g)?.toReversed() ?? []
    writeFileSync(
      file,
      written.replace(/"timestamp-ms":\d+/g, () => times.shift() ?? ''),
    )
    const unmarked = 'update svc.detection_evidence set gone_since = null, gone_snapshot_ms = null'
    await store.tenantQuery(home, unmarked, [])
    await scan(metadataLocation)
    await passDays(8)
    await requestRecheck(store, home, people, { metadataLocation, credentialId: crypto.randomUUID() })
    await scanQueued()
    expect(await tagsOf()).toEqual(ssnTag)
  })

  test('are not refuted by a rescan that reads them beside others of another branch', async () => {
    const table = newTable()
    const { snapshotId } = await table.append([{ rows: rows(Array(400).fill(''), 'nothing') }])
    const noted = numbers.map((number, id) => ({ id, ssn: null, note: number }))
    const { metadataLocation } = await table.append([{ rows: noted }])
    const file = fileURLToPath(metadataLocation)
    const written = readFileSync(file, 'utf8')
    const onBranch = written.replace(/"current-snapshot-id":\d+/, `"current-snapshot-id":${snapshotId}`)
    writeFileSync(file, onBranch.replace('"main":', '"audit":'))
    await scan(metadataLocation)
    expect(await tagsOf()).toContain('note sensitive.us_ssn')
    await requestRecheck(store, home, people, { metadataLocation, credentialId: crypto.randomUUID() })
    await scanQueued()
    expect(await tagsOf()).toContain('note sensitive.us_ssn')
  })

  test('are there while a scan under an older name of the table has failed', async () => {
    await putReadSettings(store, home, actor, { withdrawGone: 'current', withdrawDays: 0 })
    const table = newTable()
    const noted = numbers.map((number, id) => ({ id, ssn: null, note: number }))
    await scan((await table.append([{ rows: noted }])).metadataLocation)
    const failed = (await table.overwrite([{ rows: noted }])).metadataLocation
    await fail(failed)
    const before = people
    people = { namespace: ['sales'], name: `people${++tables}` }
    await scan(await table.setProperties({ moved: 'yes' }))
    people = before
    expect(await tagsOf()).toContain('note sensitive.us_ssn')
  })

  test('are not gone where another table that says to be the same has them no more', async () => {
    await putReadSettings(store, home, actor, { withdrawGone: 'current', withdrawDays: 0 })
    const table = newTable()
    await scan((await table.append([{ rows: rows(numbers) }])).metadataLocation)
    await hold(home, `file:///t/${people.name}/`, people.name)
    const own = people
    people = { namespace: ['sales'], name: `people${++tables}` }
    await scan((await table.overwrite([{ rows: rows(others) }])).metadataLocation)
    people = own
    expect(await tagsOf()).toEqual(ssnTag)
  })

  test('are asked of the table under the name that it was given since', async () => {
    const { table } = await overwritten()
    const place = (table.metadataLocation ?? '').replace(/metadata\/[^/]*$/, '')
    await hold(home, place, `new${people.name}`)
    await hold(foreign, place, `foreign${people.name}`)
    await passDays(8)
    expect(await dueOf()).toMatchObject([{ ...people, name: `new${people.name}` }])
    await passDays(1)
    await store.tenantQuery(home, 'update svc.territory set prefix = $1 where table_name = $2', [
      `file:///elsewhere/${people.name}/`,
      `new${people.name}`,
    ])
    expect(await dueOf()).toMatchObject([people])
    await passDays(1)
    const renamed = 'insert into lineage_renamed (old_key, new_key) values ($1, $2)'
    const keys = [people, { ...people, name: `new${people.name}` }].map((one) => nodeId(tableKey(one)))
    await store.tenantQuery(home, renamed, keys)
    expect(await dueOf()).toMatchObject([{ ...people, name: `new${people.name}` }])
  })

  test('are not gone where the new files hold some of them, too few for a finding', async () => {
    await putReadSettings(store, home, actor, { withdrawGone: 'current', withdrawDays: 0 })
    const table = newTable()
    const noted = numbers.map((number, id) => ({ id, ssn: null, note: number }))
    await scan((await table.append([{ rows: noted }])).metadataLocation)
    expect(await tagsOf()).toContain('note sensitive.us_ssn')
    const diluted = [...noted.slice(0, 1), ...rows(Array(200).fill(''), 'nothing to see')]
    await scan((await table.overwrite([{ rows: diluted }])).metadataLocation)
    expect(await tagsOf()).toContain('note sensitive.us_ssn')
    await scan((await table.overwrite([{ rows: rows(others, 'nothing') }])).metadataLocation)
    expect(await tagsOf()).not.toContain('note sensitive.us_ssn')
  })

  test('are followed through a commit that says it only appends, but leaves out manifests of its parent', async () => {
    await putReadSettings(store, home, actor, { withdrawGone: 'current', withdrawDays: 0 })
    const table = newTable()
    const noted = numbers.map((number, id) => ({ id, ssn: null, note: number }))
    await scan((await table.append([{ rows: noted }])).metadataLocation)
    const diluted = [...noted.slice(0, 1), ...rows(Array(200).fill(''), 'nothing to see')]
    const { metadataLocation, files } = await table.overwrite([{ rows: diluted }])
    const file = fileURLToPath(metadataLocation)
    writeFileSync(file, readFileSync(file, 'utf8').replace('"operation":"overwrite"', '"operation":"append"'))
    await scan(metadataLocation)
    await scan((await table.deletePositions(files[0] ?? '', [3])).metadataLocation)
    expect(await tagsOf()).toContain('note sensitive.us_ssn')
  })

  test('are there where a rewritten manifest gives their file to a snapshot of another number', async () => {
    await putReadSettings(store, home, actor, { withdrawGone: 'current', withdrawDays: 0 })
    const table = newTable()
    const noted = numbers.map((number, id) => ({ id, ssn: null, note: number }))
    const first = await table.append([{ rows: rows(others) }])
    await scan(first.metadataLocation)
    const second = await table.append([{ rows: noted }])
    await scan(second.metadataLocation)
    const given = { status: 0, snapshot_id: first.snapshotId, sequence_number: 2n, file_sequence_number: 2n }
    const { records } = manifestIn(readFileSync(fileURLToPath(second.manifest)))
    const rewritten = [...records].map((record) => ({ ...record, ...given }))
    const bytes = avroBytes(manifestSchema(2, undefined), rewritten, { content: 'data' })
    writeFileSync(fileURLToPath(second.manifest), bytes)
    const third = await table.deletePositions(first.files[0] ?? '', [0])
    const list = fileURLToPath(third.manifestList)
    const named = [...listedManifests(readFileSync(list))].map((one) => ({
      ...{ path: one.location, content: one.content === 'data' ? (0 as const) : (1 as const) },
      ...{ snapshotId: one.addedSnapshotId ?? 0n, sequence: one.sequenceNumber },
      length: one.location === second.manifest ? bytes.length : one.sizeBytes,
    }))
    writeFileSync(list, manifestListBytes(2, named))
    await scan(third.metadataLocation)
    expect(await tagsOf()).toContain('note sensitive.us_ssn')
  })

  test('are not gone where a file of the new ones could not be read', async () => {
    await putReadSettings(store, home, actor, { withdrawGone: 'current', withdrawDays: 0 })
    const table = newTable()
    await scan((await table.append([{ rows: rows(numbers) }])).metadataLocation)
    const files = [{ rows: rows(others) }, { rows: rows(numbers), format: 'ORC' }]
    await scan((await table.overwrite(files)).metadataLocation)
    expect(await tagsOf()).toEqual(ssnTag)
  })
})

describe('a finding', () => {
  test('is one row of its column and class, with its runs, and as strong as the strongest of them', async () => {
    const table = newTable()
    await scan((await table.append([{ rows: rows(numbers) }])).metadataLocation)
    await scan((await table.append([{ rows: rows(['']) }])).metadataLocation)
    await scan((await table.append([{ rows: rows(numbers) }])).metadataLocation)
    const found = await findings()
    expect(found).toMatchObject([
      { confidence: 0.92, runs: [{ confidence: 0.92 }, { confidence: 0.65 }, { confidence: 0.92 }] },
    ])
    const [{ runs, runId, id } = { runs: [], runId: '', id: '' }] = found
    expect(runs[0]?.run).toBe(runId)
    for (const { run } of runs)
      expect((await listFindings(store, home, { runId: run })).items.map((one) => one.id)).toEqual([id])
    const sure = { runId: runs[1]?.run ?? '', confidenceMin: 0.85 }
    expect((await listFindings(store, home, sure)).items).toEqual([])
  })
})
