/** The one reader of manifests: what an entry inherits, what it is compared by, and where reading ends. */

import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { avroBytes } from '../../../demo/lake/avro-file.ts'
import { manifestEntry, manifestSchema } from '../../../demo/lake/manifests.ts'
import { ByteBudget } from '../../../src/base/byte-budget.ts'
import {
  entrySnapshot,
  type ManifestEntry,
  manifestEntries,
  partitionKeyOf,
  sequenceNumberOf,
  visitEntries,
} from '../../../src/storage/iceberg/entries.ts'
import { type ManifestRef, manifestsIn } from '../../../src/storage/iceberg/manifest-list.ts'
import { ReadFailure } from '../../../src/storage/read-failure.ts'
import { openStorage, type Storage } from '../../../src/storage/storage.ts'
import { type Entry, manifestFolder } from '../../support/manifests.ts'

const folder = mkdtempSync(join(tmpdir(), 'covenant-entries-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const files = manifestFolder(folder)
const budget = new ByteBudget({ bytesMax: 2 ** 30, keptForSmall: 0, smallBytesMax: 0 })
const storage = openStorage({ roots: [files.location], s3: undefined }, budget)
const MiB = 1024 * 1024

/** Manifests as a list of them says. */
async function refsOf(...each: readonly (readonly Entry[])[]): Promise<readonly ManifestRef[]> {
  const manifests = []
  for (const entries of each) manifests.push(await files.manifest(entries))
  return manifestsIn(await storage.readAll(await files.list(manifests), MiB), 100)
}

async function taken<T extends object>(
  refs: Iterable<ManifestRef>,
  take: (entry: ManifestEntry) => T | undefined,
  reads: { readonly signal?: AbortSignal; readonly readsMax?: number; readonly from?: Storage } = {},
): Promise<T[]> {
  const { from = storage, ...rest } = reads
  return await Array.fromAsync(manifestEntries(refs, take, { storage: from, ...rest }))
}

async function failure(work: Promise<unknown>): Promise<ReadFailure> {
  const thrown = await work.catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(ReadFailure)
  return thrown as ReadFailure
}

describe('an entry', () => {
  test('that was added inherits number and snapshot, and one that existed has its own', async () => {
    const [ref] = await refsOf([{ path: 'a' }, { path: 'b', status: 'existing' }])
    const later = [{ ...(ref as ManifestRef), sequenceNumber: 7 }]
    const read = await taken(later, (entry) => ({
      number: sequenceNumberOf(entry),
      snapshot: entrySnapshot(entry),
    }))
    expect(read).toEqual([
      { number: 7, snapshot: undefined },
      { number: 1, snapshot: 1n },
    ])
  })

  test.each([
    ['an int, and the same as a long', 'int', 1, 'long', 1n, true],
    ['an int, and another as a long', 'int', 1, 'long', 2n, false],
    ['a float, and the same as a double', 'float', 1.5, 'double', 1.5, true],
    ['a number and its text', 'int', 1, 'string', '1', false],
    ['zero and minus zero', 'double', 0, 'double', -0, false],
    ['NaN twice', 'double', Number.NaN, 'double', Number.NaN, true],
    [
      'a decimal, and the same of more digits',
      decimal(4),
      Uint8Array.of(0xff, 0xff, 0xff, 0x85),
      decimal(9),
      bytesOf(9, 0x85),
      true,
    ],
    [
      'a decimal, and another of more digits',
      decimal(4),
      Uint8Array.of(0xff, 0xff, 0xff, 0x85),
      decimal(9),
      bytesOf(9, 0x84),
      false,
    ],
    ['bytes of other lengths', 'bytes', Uint8Array.of(0xff, 0x85), 'bytes', Uint8Array.of(0x85), false],
  ] as const)('is compared by its partition: %s', async (_, first, one, second, other, isSame) => {
    const keys = await taken(
      [await partitionedBy(first, one), await partitionedBy(second, other)],
      (entry) => ({ key: partitionKeyOf(entry) }),
    )
    expect(keys).toHaveLength(2)
    expect(keys[0]?.key === keys[1]?.key).toBe(isSame)
  })

  test.each([
    [{ status: 3 }, 'an unknown status'],
    [{ content: 1 }, 'of a kind that its manifest does not hold'],
    [{ record_count: -1n }, 'an invalid count'],
  ])(
    'with %p fails the read and names its manifest, also where it records a deletion',
    async (wrong, reason) => {
      const ref = await written(manifestSchema(2, undefined), (file) => {
        const entry = manifestEntry(2, { ...file, ...wrong }, 1n)
        return { ...entry, status: 2, ...wrong }
      })
      const thrown = await failure(visitEntries([ref], () => {}, { storage }))
      expect([thrown.reason, thrown.location]).toEqual([expect.stringContaining(reason), ref.location])
    },
  )
})

describe('reading', () => {
  test('names the manifest that is damaged, and gives what came before it', async () => {
    const [first, second] = await refsOf([{ path: 'a' }], [{ path: 'b' }])
    const path = fileURLToPath(second?.location ?? '')
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.fill(0xff, bytes.length - 40))
    const seen: string[] = []
    const visit = ({ location }: ManifestEntry) => void seen.push(location)
    const thrown = await failure(visitEntries([first, second] as ManifestRef[], visit, { storage }))
    expect([thrown.reason, thrown.location, seen]).toEqual([
      'a manifest cannot be read: it is corrupt or truncated',
      second?.location,
      ['a'],
    ])
  })

  test('names the manifest whose entry the caller refuses', async () => {
    const [ref] = await refsOf([{ path: 'a' }])
    const refuse = () => {
      throw new ReadFailure('not this one')
    }
    expect(await failure(visitEntries([ref as ManifestRef], refuse, { storage }))).toMatchObject({
      reason: 'not this one',
      location: ref?.location,
    })
  })

  test('refuses what its list calls encrypted, or says to be of another length', async () => {
    const [ref] = (await refsOf([{ path: 'a' }])) as [ManifestRef]
    const read = async (changed: Partial<ManifestRef>) =>
      (await failure(visitEntries([{ ...ref, ...changed }], () => {}, { storage }))).reason
    expect(await read({ isEncrypted: true })).toBe('a manifest is encrypted, and its key is not known')
    expect(await read({ sizeBytes: ref.sizeBytes + 1 })).toContain('not as long as its manifest list says')
  })

  test('asks for a manifest only when the one before it was read', async () => {
    const refs = await refsOf([{ path: 'a' }], [{ path: 'b' }], [{ path: 'c' }])
    const asked: string[] = []
    const each = function* () {
      for (const ref of refs) {
        asked.push(ref.location)
        yield ref
      }
    }
    const entries = manifestEntries(each(), (entry) => entry, { storage })
    await entries.next()
    expect(asked).toHaveLength(1)
    await entries.next()
    expect(asked).toHaveLength(2)
    await entries.return(undefined)
    expect(asked).toHaveLength(2)
  })

  test.each([1, 2])('holds the bytes of %p manifests at once, and none at its end', async (readsMax) => {
    const refs = await refsOf([{ path: 'a' }], [{ path: 'b' }], [{ path: 'c' }])
    const held: number[] = []
    const visit = () => void held.push(budget.held('parse'))
    await visitEntries(refs, visit, { storage, readsMax })
    const one = held[2] ?? 0
    expect(one).toBeGreaterThan(0)
    expect(held).toEqual(readsMax === 1 ? [one, one, one] : [2 * one, 2 * one, one])
    expect(budget.held('parse')).toBe(0)
  })

  test('holds nothing once the caller has left it, or failed', async () => {
    const refs = await refsOf([{ path: 'a' }, { path: 'b' }])
    for await (const _ of manifestEntries(refs, (entry) => entry, { storage })) break
    expect(budget.held('parse')).toBe(0)
    const fail = () => {
      throw new Error('enough')
    }
    await expect(visitEntries(refs, fail, { storage })).rejects.toThrow('enough')
    expect(budget.held('parse')).toBe(0)
  })

  test('ends within a manifest once the signal has fired', async () => {
    const refs = await refsOf(Array.from({ length: 5_000 }, (_, at) => ({ path: `f${at}` })))
    const stop = new AbortController()
    let seen = 0
    const visit = () => {
      if (++seen === 10) stop.abort(new Error('late'))
    }
    const reads = { storage, signal: stop.signal }
    const thrown = await visitEntries(refs, visit, reads).catch((error: unknown) => error)
    expect(thrown).toEqual(new Error('late'))
    expect(seen).toBeLessThan(1_000)
  })
})

function decimal(size: number) {
  return { type: 'fixed', size, name: `d${size}`, logicalType: 'decimal', precision: 9, scale: 2 } as const
}

/** A negative number in so many bytes. */
function bytesOf(size: number, last: number): Uint8Array {
  const bytes = new Uint8Array(size).fill(0xff)
  bytes[size - 1] = last
  return bytes
}

const dataFile = {
  ...{ file_path: 'a', file_format: 'PARQUET', partition: {}, content: 0 },
  ...{ record_count: 1n, file_size_in_bytes: 1n },
}
let manifests = 0

async function written(
  schema: object,
  record: (file: typeof dataFile) => Record<string, unknown>,
): Promise<ManifestRef> {
  const bytes = avroBytes(schema, [record(dataFile)], { 'format-version': '2' })
  const path = join(folder, 'metadata', `written-${++manifests}.avro`)
  writeFileSync(path, bytes)
  return {
    ...{ location: `file://${path}`, sizeBytes: bytes.length, specId: 0, content: 'data' },
    ...{ sequenceNumber: 1, addedSnapshotId: 1n, isEncrypted: false },
  }
}

/** A manifest of one file in a partition of one field with this Avro type. */
async function partitionedBy(type: unknown, value: unknown): Promise<ManifestRef> {
  const day = { id: 3, name: 'day', type: 'string' } as const
  const text = JSON.stringify(manifestSchema(2, day))
  const schema = JSON.parse(text, (_key, part) =>
    part?.name === 'day' ? { ...part, type: ['null', type] } : part,
  ) as object
  const held = value instanceof Uint8Array ? Buffer.from(value) : value
  return await written(schema, (file) => manifestEntry(2, { ...file, partition: { day: held } }, 1n))
}
