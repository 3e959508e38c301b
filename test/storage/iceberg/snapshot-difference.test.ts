/** Two snapshots are compared by the files that their manifests hold, whatever their manifest lists claim. */

import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type ReadBounds,
  type SnapshotReader,
  snapshotReader,
} from '../../../src/storage/iceberg/snapshot-difference.ts'
import { ReadFailure } from '../../../src/storage/read-failure.ts'
import { openStorage, type Storage } from '../../../src/storage/storage.ts'
import { manifestFolder } from '../../support/manifests.ts'

const parent = mkdtempSync(join(tmpdir(), 'covenant-difference-'))
afterAll(() => rmSync(parent, { recursive: true, force: true }))

let folder: string
let files: ReturnType<typeof manifestFolder>
beforeEach(() => {
  folder = mkdtempSync(join(parent, 'table-'))
  files = manifestFolder(folder)
})

const opened: Storage[] = []
afterEach(async () => {
  for (const storage of opened.splice(0)) await storage.close()
})

const roomy: ReadBounds = { bytesMax: 1_000_000, filesMax: 100, entriesMax: 1_000, readsMax: 4 }

function reader(bounds: Partial<ReadBounds> = {}, signal = new AbortController().signal): SnapshotReader {
  const storage = openStorage({ roots: [files.location], s3: undefined })
  opened.push(storage)
  return snapshotReader(storage, { ...roomy, ...bounds }, signal, (location) => !location.includes('other'))
}

async function failure(work: Promise<unknown>): Promise<string> {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(ReadFailure)
  return (thrown as ReadFailure).reason
}

const same = {
  addedFiles: 0,
  addedRows: 0,
  addedBytes: 0,
  addedDeleteFiles: 0,
  deletedFiles: 0,
  outsideFiles: 0,
  losesFiles: false,
  touchedPartitions: new Set<string>(),
  addedNulls: new Map<number, number>(),
}
/** The one partition of a table that has none. */
const whole = { touchedPartitions: new Set(['0:[]']) }

describe('a snapshot that', () => {
  test('names files outside has them counted, with manifests outside, and none that it held before', async () => {
    const old = await files.manifest([{ path: 'other/held' }])
    const before = await files.list([old])
    const named = await files.manifest([
      { path: 'a' },
      { path: 'other/b' },
      { path: 'other/c', status: 'deleted' },
    ])
    expect(await reader().compare(before, await files.list([old, named]))).toMatchObject({ outsideFiles: 1 })
    const other = manifestFolder(join(folder, 'other'))
    const elsewhere = await other.manifest([{ path: 'a' }])
    expect(await reader().compare(before, await files.list([old, elsewhere]))).toMatchObject({
      outsideFiles: 1,
    })
    expect(await reader().compare(before, await other.list([old]))).toMatchObject({ outsideFiles: 1 })
    expect(await reader().compare(before, before)).toMatchObject({ outsideFiles: 0 })
    const rewritten = await files.manifest([{ path: 'other/held', status: 'existing' }])
    expect(await reader().compare(before, await files.list([rewritten]))).toMatchObject({ outsideFiles: 0 })
  })

  test('touches the partitions of files that it adds, deletes or no longer holds, each once', async () => {
    const kept = await files.manifest([{ path: 'k', day: 'kept' }])
    const before = await files.list([
      kept,
      await files.manifest([
        { path: 'a', day: '1' },
        { path: 'b', day: '2' },
        { path: 'c', day: '3' },
      ]),
    ])
    const rewritten = await files.manifest([
      { path: 'a', day: '1', status: 'existing' },
      { path: 'b', day: '2', status: 'deleted' },
    ])
    const added = await files.manifest([
      { path: 'd', day: '4' },
      { path: 'e', day: '4' },
      { path: 'f', day: null },
    ])
    const deletes = await files.manifest([{ path: 'x', day: '5' }], 'deletes')
    const after = await files.list([kept, rewritten, added, deletes])
    const { touchedPartitions } = await reader().compare(before, after)
    expect([...(touchedPartitions ?? [])].toSorted()).toEqual(
      [
        '0:[["1000","2"]]',
        '0:[["1000","3"]]',
        '0:[["1000","4"]]',
        '0:[["1000","5"]]',
        '0:[["1000",null]]',
      ].toSorted(),
    )
  })

  test('has the nulls of its added data files summed, of columns that every such file counts', async () => {
    const stats = (nullCounts: Readonly<Record<number, number>>) => ({ rows: 100, stats: { nullCounts } })
    const old = await files.manifest([{ path: 'a', ...stats({ 1: 100 }) }])
    const added = await files.manifest([
      { path: 'b', ...stats({ 1: 2, 2: 1, 3: 4 }) },
      { path: 'c', ...stats({ 1: 3, 2: 0 }) },
      { path: 'empty', rows: 0 },
      { path: 'd', status: 'deleted', ...stats({ 1: 50 }) },
    ])
    const lists = [await files.list([old]), await files.list([old, added])] as const
    const asked = await reader().compare(...lists, { nullCounts: true })
    expect(asked.addedNulls).toEqual(
      new Map([
        [1, 5],
        [2, 1],
      ]),
    )
    expect((await reader().compare(...lists)).addedNulls).toEqual(new Map())
  })

  test('lists a file that it held in another partition, touches both', async () => {
    const held = await files.manifest([
      { path: 'a', day: '1' },
      { path: 'b', day: '2' },
    ])
    const moved = await files.manifest([
      { path: 'a', day: '9', status: 'existing' },
      { path: 'b', day: '2', status: 'existing' },
    ])
    const { touchedPartitions, addedFiles } = await reader().compare(
      await files.list([held]),
      await files.list([moved]),
    )
    expect([[...(touchedPartitions ?? [])].toSorted(), addedFiles]).toEqual([
      ['0:[["1000","1"]]', '0:[["1000","9"]]'],
      0,
    ])
    const entries = [{ path: 'a', day: '1', status: 'existing' }] as const
    const respecified = await files.list([await files.manifest(entries, 'data', 1)])
    const before = await files.list([await files.manifest([{ path: 'a', day: '1' }])])
    const other = await reader().compare(before, respecified)
    expect([...(other.touchedPartitions ?? [])].toSorted()).toEqual(['0:[["1000","1"]]', '1:[["1000","1"]]'])
  })

  test.each([undefined, null])(
    'deletes by value without a partition, touches one where all files are of that spec, else nobody knows (%p)',
    async (day) => {
      const entry = { path: 'x', byValue: true, ...(day === null && { day }) } as const
      const plain = await files.manifest([{ path: 'a' }])
      const deletes = await files.manifest([entry], 'deletes')
      const partitioned = await files.manifest([{ path: 'b', day: '1' }], 'data', 1)
      const own = await reader().compare(await files.list([plain]), await files.list([plain, deletes]))
      expect(own.touchedPartitions?.size).toBe(1)
      const held = [plain, partitioned]
      const added = [await files.list(held), await files.list([...held, deletes])] as const
      expect((await reader().compare(...added)).touchedPartitions).toBeUndefined()
      expect((await reader().compare(added[1], added[0])).touchedPartitions).toBeUndefined()
      const positions = await files.manifest([{ path: 'y' }], 'deletes')
      const placed = await reader().compare(added[0], await files.list([...held, positions]))
      expect(placed.touchedPartitions).toEqual(new Set(['0:[]']))
    },
  )

  test.each([
    ['without rows', { rows: 0, stats: { nullCounts: { 1: 7 } } }, true],
    [
      'without rows that counts values',
      { rows: 0, stats: { nullCounts: { 1: 7 }, valueCounts: { 1: 9 } } },
      true,
    ],
    ['with fewer rows', { rows: 2, stats: { nullCounts: { 1: 3 } } }, true],
    ['with fewer values', { rows: 2, stats: { nullCounts: { 1: 3 }, valueCounts: { 1: 2 } } }, true],
    [
      'with lists of so many values',
      { rows: 2, stats: { nullCounts: { 1: 3 }, valueCounts: { 1: 4 } } },
      false,
    ],
    ['without rows and nulls', { rows: 0, stats: { nullCounts: { 1: 0 } } }, false],
  ] as const)(
    'counts more nulls of a file %s than it can have, is refused: %#',
    async (_what, file, isRefused) => {
      const list = await files.list([await files.manifest([{ path: 'a', ...file }])])
      const asked = reader().compare(undefined, list, { nullCounts: true })
      if (isRefused)
        expect(await failure(asked)).toBe('a manifest counts more nulls than the file has values')
      else expect((await asked).addedFiles).toBe(1)
      // Where nobody asks for nulls, nobody reads them.
      expect((await reader().compare(undefined, list)).addedFiles).toBe(1)
    },
  )

  test('appends adds the files and rows of its new manifests, and reads no manifest that both list', async () => {
    const old = await files.manifest([{ path: 'a', rows: 5 }])
    const added = await files.manifest([
      { path: 'b', rows: 2 },
      { path: 'c', rows: 3 },
    ])
    const before = await files.list([old])
    const after = await files.list([old, added])
    rmSync(fileURLToPath(old.path))
    expect(await reader().compare(before, after)).toEqual({
      ...same,
      addedFiles: 2,
      addedBytes: 2,
      addedRows: 5,
      ...whole,
    })
  })

  test('is the first of its table adds everything, and one that is gone deletes everything', async () => {
    const list = await files.list([await files.manifest([{ path: 'a', rows: 5 }])])
    expect(await reader().compare(undefined, list)).toEqual({
      ...same,
      addedFiles: 1,
      addedBytes: 1,
      addedRows: 5,
      ...whole,
    })
    expect(await reader().compare(list, undefined)).toEqual({
      ...{ ...same, ...whole },
      deletedFiles: 1,
      losesFiles: true,
    })
  })

  test('merges manifests changes nothing: files that it carries on are neither added nor deleted', async () => {
    const before = await files.list([
      await files.manifest([{ path: 'a' }]),
      await files.manifest([{ path: 'b' }]),
    ])
    const merged = await files.manifest([
      { path: 'a', status: 'existing' },
      { path: 'b', status: 'existing' },
    ])
    expect(await reader().compare(before, await files.list([merged]))).toEqual(same)
  })

  test('overwrites deletes what its manifests record as deleted, and loses nothing', async () => {
    const before = await files.list([await files.manifest([{ path: 'a' }, { path: 'b' }])])
    const rewritten = await files.manifest([
      { path: 'a', status: 'deleted' },
      { path: 'b', status: 'existing' },
    ])
    const added = await files.manifest([{ path: 'c', rows: 9 }])
    expect(await reader().compare(before, await files.list([rewritten, added]))).toEqual({
      ...same,
      addedFiles: 1,
      addedBytes: 1,
      addedRows: 9,
      deletedFiles: 1,
      ...whole,
    })
  })

  test('lists the manifests of an older one loses the files that came since', async () => {
    const first = await files.manifest([{ path: 'a' }])
    const second = await files.manifest([{ path: 'b' }])
    const before = await files.list([first, second])
    expect(await reader().compare(before, await files.list([first]))).toEqual({
      ...{ ...same, ...whole },
      deletedFiles: 1,
      losesFiles: true,
    })
  })

  test('hides a lost file behind a manifest that carries on another still loses it', async () => {
    const first = await files.manifest([{ path: 'a' }])
    const second = await files.manifest([{ path: 'b' }])
    const before = await files.list([first, second])
    const disguise = await files.manifest([{ path: 'a', status: 'existing' }])
    expect(await reader().compare(before, await files.list([disguise]))).toMatchObject({ losesFiles: true })
  })

  test('adds a file as if it had existed before adds it all the same', async () => {
    const old = await files.manifest([{ path: 'a' }])
    const sly = await files.manifest([{ path: 'x', status: 'existing', rows: 7 }])
    const difference = await reader().compare(await files.list([old]), await files.list([old, sly]))
    expect(difference).toEqual({ ...same, ...whole, addedFiles: 1, addedBytes: 1, addedRows: 7 })
  })

  test('lists a file twice adds it once more', async () => {
    const old = await files.manifest([{ path: 'a' }])
    const twice = await files.manifest([
      { path: 'a', status: 'existing' },
      { path: 'a', status: 'existing', rows: 4 },
    ])
    const difference = await reader().compare(await files.list([old]), await files.list([twice]))
    expect(difference).toEqual({ ...same, ...whole, addedFiles: 1, addedBytes: 1, addedRows: 4 })
  })

  test('deletes rows by a delete file adds a delete file and no data file', async () => {
    const old = await files.manifest([{ path: 'a' }])
    const deletes = await files.manifest([{ path: 'd', rows: 3 }], 'deletes')
    const difference = await reader().compare(await files.list([old]), await files.list([old, deletes]))
    expect(difference).toEqual({ ...same, ...whole, addedDeleteFiles: 1 })
  })

  test('replaces one of several deletion vectors in a file tells them apart', async () => {
    const vectors = (second: number) =>
      files.manifest(
        [
          { path: 'v.puffin', offset: 4 },
          { path: 'v.puffin', offset: second },
        ],
        'deletes',
      )
    const before = await files.list([await vectors(50)])
    expect(await reader().compare(before, await files.list([await vectors(90)]))).toEqual({
      ...{ ...same, ...whole },
      addedDeleteFiles: 1,
      deletedFiles: 1,
      losesFiles: true,
    })
  })
})

describe('no comparison is made', () => {
  test('where a manifest list says other things of a manifest than the list before it', async () => {
    const old = await files.manifest([{ path: 'd' }], 'deletes')
    const before = await files.list([old])
    const after = await files.list([{ ...old, sequence: 0 }])
    expect(await failure(reader().compare(before, after))).toContain('different things of one manifest')
  })

  test('where a manifest is not as long as its list says', async () => {
    const list = await files.list([{ ...(await files.manifest([{ path: 'a' }])), length: 1 }])
    expect(await failure(reader().compare(undefined, list))).toContain('not as long')
  })

  test('where a manifest list names a manifest twice', async () => {
    const one = await files.manifest([{ path: 'a' }])
    expect(await failure(reader().compare(undefined, await files.list([one, one])))).toContain('twice')
  })

  test('where a manifest lies outside the storage roots', async () => {
    const outside = manifestFolder(mkdtempSync(join(parent, 'other-')))
    const list = await files.list([await outside.manifest([{ path: 'a' }])])
    expect(await failure(reader().compare(undefined, list))).toContain('outside the storage_roots')
  })

  test('where a manifest holds deletes and its list says data', async () => {
    const one = await files.manifest([{ path: 'd' }], 'deletes')
    const list = await files.list([{ ...one, content: 0 }])
    expect(await failure(reader().compare(undefined, list))).toContain(
      'of a kind that its manifest does not hold',
    )
  })

  test.each([
    ['bytes', { bytesMax: 100 }, 'more than 100 bytes'],
    ['files', { filesMax: 2 }, 'more than 2 manifests'],
    ['entries', { entriesMax: 2 }, 'more than 2 entries'],
  ] as const)('beyond the bound of %s', async (_what, bounds, reason) => {
    const list = await files.list([
      await files.manifest([{ path: 'a' }, { path: 'b' }]),
      await files.manifest([{ path: 'c' }]),
    ])
    expect(await failure(reader(bounds).compare(undefined, list))).toContain(reason)
  })

  test('beyond the bound of files, without reading any of them', async () => {
    const many = await Promise.all(['a', 'b', 'c'].map((path) => files.manifest([{ path }])))
    const list = await files.list(many)
    for (const { path } of many) rmSync(fileURLToPath(path))
    expect(await failure(reader({ filesMax: 3, readsMax: 1 }).compare(undefined, list))).toContain(
      'more than 3 manifests',
    )
  })

  test('after the signal has fired', async () => {
    const list = await files.list([await files.manifest([{ path: 'a' }])])
    const signal = AbortSignal.abort(new Error('late'))
    expect(reader({}, signal).compare(undefined, list)).rejects.toThrow('late')
  })
})
