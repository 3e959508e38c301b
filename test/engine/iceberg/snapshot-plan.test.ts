/** A snapshot is planned manifest by manifest: the memory of the process bounds how many files it has, and no number. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { schemaOf } from '../../../demo/commits.ts'
import { ByteBudget } from '../../../src/base/byte-budget.ts'
import { planBytes, planSnapshot, type SnapshotPlan } from '../../../src/engine/iceberg/snapshot-plan.ts'
import { openStorage } from '../../../src/storage/storage.ts'
import { manifestFolder } from '../../support/manifests.ts'

setDefaultTimeout(60_000)

const MiB = 1024 * 1024
const manifestCount = 8
const filesOfEach = 12_600
const snapshotId = 1n

let folder: string
let metadataLocation: string
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'covenant-plan-')))
  const writer = manifestFolder(folder)
  const manifests = []
  for (let part = 0; part < manifestCount; part++)
    manifests.push(
      await writer.manifest(
        Array.from({ length: filesOfEach }, (_, at) => ({ path: `${writer.location}/data/${part}-${at}` })),
      ),
    )
  const path = join(folder, 'metadata', 'v1.metadata.json')
  metadataLocation = pathToFileURL(path).href
  const schema = { ...schemaOf([{ id: 1, name: 'id', type: 'long' }]), 'schema-id': 0 }
  const snapshot = { 'snapshot-id': 1, 'sequence-number': 1, 'timestamp-ms': 1, 'schema-id': 0, summary: {} }
  const list = await writer.list(manifests)
  await Bun.write(
    path,
    JSON.stringify({
      ...{ 'format-version': 2, 'table-uuid': crypto.randomUUID(), location: writer.location },
      ...{ 'current-schema-id': 0, schemas: [schema], 'default-spec-id': 0 },
      'partition-specs': [{ 'spec-id': 0, fields: [] }],
      ...{ 'current-snapshot-id': 1, snapshots: [{ ...snapshot, 'manifest-list': list }] },
    }),
  )
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Plans with a process of so many bytes. @returns what was opened, and held by the plan at its end */
async function planned(bytesMax: number) {
  const budget = new ByteBudget({ bytesMax, keptForSmall: 0, smallBytesMax: 0 })
  const storage = openStorage({ roots: [folder], s3: undefined }, budget)
  const manifests: string[] = []
  const admit = (kind: string, location: string) => kind === 'manifest' && manifests.push(location)
  const held = budget.reserve({})
  let plan: SnapshotPlan | undefined
  let failure: unknown
  try {
    plan = await storage.during(() =>
      planSnapshot(storage, metadataLocation, snapshotId, {
        signal: new AbortController().signal,
        guard: { admit, outside: [] },
        hold: (bytes) => held.add({ parse: bytes }),
      }),
    )
  } catch (thrown) {
    failure = thrown
  }
  const bytes = budget.held('parse')
  held.release()
  await storage.close()
  return { plan, failure, bytes, manifests, left: budget.held('parse') }
}

test('more than 100,000 files are planned where their memory fits, and are held', async () => {
  const { plan, bytes, left } = await planned(512 * MiB)
  const files = manifestCount * filesOfEach
  expect(plan?.dataFiles).toHaveLength(files)
  expect(bytes).toBe(files * 1_000)
  expect(bytes).toBeLessThan(plan === undefined ? 0 : planBytes(plan))
  expect(left).toBe(0)
})

test('they are refused where it does not fit, before the manifests that come next are opened', async () => {
  const { failure, manifests, left } = await planned(64 * MiB)
  expect(failure).toMatchObject({ kind: 'overloaded' })
  expect(manifests.length).toBeGreaterThan(1)
  expect(manifests.length).toBeLessThan(manifestCount)
  expect(left).toBe(0)
})
