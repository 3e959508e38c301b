/** The embedded engine opens no file outside a table's territory, however the table's metadata names it. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { IcebergWriter } from '../../demo/lake/iceberg-writer.ts'
import type { Field } from '../../demo/lake/table-fields.ts'
import type { Territory } from '../../src/core/territory.ts'
import type { TableSnapshot } from '../../src/engine/engine.ts'
import { planSnapshot } from '../../src/engine/iceberg/snapshot-plan.ts'
import { openStorage } from '../../src/storage/storage.ts'
import { type OutsideFile, territoryGuard } from '../../src/storage/territory-guard.ts'
import {
  columns,
  failure,
  rowsOf,
  snapshotOf,
  startTestEngine,
  type TestEngine,
  tenant,
} from '../support/engine.ts'
import { forgeTable, type StolenLayer, stolenLayers } from '../support/forged-table.ts'
import { manifestFolder } from '../support/manifests.ts'

const fields: readonly Field[] = [
  { id: 1, name: 'id', type: 'long' },
  { id: 2, name: 'name', type: 'string' },
]
const asked = columns('id int8, name text')
const all = 'SELECT id, name FROM {} AS t ORDER BY id'
const refusal = (kind: string) =>
  `The table cannot be read: its ${kind} lies outside the folders that belong to it. Ask a steward to grant the folder to the table.`

let engine: TestEngine
let secret: IcebergWriter
beforeAll(async () => {
  engine = await startTestEngine()
  secret = engine.table('secret', { fields, formatVersion: 3 })
  const { files } = await secret.append([
    {
      rows: [
        { id: 1, name: 'a' },
        { id: 2, name: 'b' },
        { id: 3, name: 'c' },
      ],
    },
  ])
  await secret.delete({ kind: 'vector', dataFile: files[0] ?? '', positions: [2] })
})
afterAll(() => engine.close())

const folderOf = (name: string) => `file://${join(engine.tables, name)}/`
const territory = (mode: Territory['mode'], ...names: readonly string[]): Territory => ({
  mode,
  version: '1',
  prefixes: names.map(folderOf),
})

const forge = (stolen: StolenLayer, spell?: (location: string) => string) =>
  forgeTable(secret, { tables: engine.tables, from: 'secret', to: 'forged' }, stolen, spell)

/** A read of a metadata file as the table that owns `forged`. */
async function read(metadataLocation: string, given: Territory) {
  const reported: OutsideFile[] = []
  const snapshot: TableSnapshot = {
    ...snapshotOf(secret),
    metadataLocation,
    territory: { territory: given, report: (outside) => reported.push(...outside) },
  }
  // A new credential version shares no cached plan.
  const fresh = engine.host.engine({
    tenant: tenant,
    key: crypto.randomUUID(),
    access: { roots: [engine.tables], s3: undefined },
  })
  const reading = rowsOf(fresh, snapshot, all, asked)
  const error = await failure(reading)
  const rows = error.code === undefined ? await reading : []
  return { rows, error, reported }
}

const kinds: Readonly<Record<StolenLayer, string>> = {
  'manifest-list': 'manifest list',
  manifests: 'manifest',
  files: 'data file',
}

describe.each(stolenLayers)('a table that names the %s of another', (layer) => {
  test('is refused where the territory is enforced, and nothing of the other table is opened', async () => {
    const { metadataLocation } = forge(layer)
    const { rows, error } = await read(metadataLocation, territory('enforce', 'forged'))
    expect([rows, error.code, error.message]).toEqual([[], '42501', refusal(kinds[layer])])

    const opened: string[] = []
    const storage = openStorage({ roots: [engine.tables], s3: undefined })
    const seen: typeof storage = {
      ...storage,
      readAll(location, bytesMax) {
        opened.push(location)
        return storage.readAll(location, bytesMax)
      },
    }
    const plan = planSnapshot(seen, metadataLocation, snapshotOf(secret).snapshotId, {
      signal: new AbortController().signal,
      guard: territoryGuard(territory('enforce', 'forged')),
      hold: () => {},
    })
    expect(await plan.then(String, (thrown: Error) => thrown.name)).toBe('TerritoryFailure')
    expect(opened.length).toBeGreaterThan(0)
    expect(opened.filter((location) => location.includes('/secret/'))).toEqual([])
    await storage.close()
  })

  test('is read and reported where it is observed, and read where the folder was granted', async () => {
    const { metadataLocation } = forge(layer)
    const observed = await read(metadataLocation, territory('observe', 'forged'))
    expect(observed.rows).toEqual([
      [1n, 'a'],
      [2n, 'b'],
    ])
    expect(new Set(observed.reported.map(({ kind }) => kind)).has(kinds[layer] as never)).toBe(true)
    const granted = await read(metadataLocation, territory('enforce', 'forged', 'secret'))
    expect([granted.rows.length, granted.reported]).toEqual([2, []])
  })
})

test('a table that names the delete file of another is refused', async () => {
  const own = engine.table('owning', { fields, formatVersion: 3 })
  const { manifest } = await own.append([{ rows: [{ id: 1, name: 'a' }] }])
  const { manifest: write, list } = manifestFolder(join(engine.tables, 'owning'))
  const foreign = await write([{ path: `${folderOf('secret')}data/d.parquet` }], 'deletes')
  const manifestList = await list([
    {
      path: manifest,
      length: statSync(fileURLToPath(manifest)).size,
      content: 0,
      snapshotId: 1n,
      sequence: 1,
    },
    foreign,
  ])
  const path = fileURLToPath(own.metadataLocation ?? '')
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace(/"manifest-list":"[^"]*"/, `"manifest-list":"${manifestList}"`),
  )
  const error = await failure(
    rowsOf(
      engine.engine,
      { ...snapshotOf(own), territory: { territory: territory('enforce', 'owning'), report: () => {} } },
      all,
      asked,
    ),
  )
  expect([error.code, error.message]).toEqual(['42501', refusal('delete file')])
})

test('a metadata file of another table is refused', async () => {
  const { error } = await read(secret.metadataLocation ?? '', territory('enforce', 'forged'))
  expect([error.code, error.message]).toEqual(['42501', refusal('metadata file')])
})

test('a copy of every file is read: paths do not show that it is one', async () => {
  const data = join(engine.tables, 'secret', 'data')
  const [name = ''] = readdirSync(data).filter((file) => file.endsWith('.parquet'))
  const copy = engine.table('copied', { fields })
  await copy.append([{ rows: [], bytes: readFileSync(join(data, name)), recordCount: 3 }])
  const snapshot = {
    ...snapshotOf(copy),
    territory: { territory: territory('enforce', 'copied'), report: () => {} },
  }
  expect(await rowsOf(engine.engine, snapshot, all, asked)).toHaveLength(3)
})

test.each([
  ['one slash', (url: string) => url.replace('file:///', 'file:/')],
  ['no scheme', (url: string) => url.replace('file://', '')],
  ['doubled slashes', (url: string) => url.replace('/secret/', '//secret//')],
  ['a detour', (url: string) => url.replace('/secret/', '/forged/../secret/')],
  ['an encoded detour', (url: string) => url.replace('/secret/', '/forged/%2e%2e/secret/')],
  ['an encoded slash', (url: string) => url.replace('/secret/', '/forged%2f..%2fsecret/')],
  ['an encoded letter', (url: string) => url.replace('/secret/', '/%73ecret/')],
  ['a backslash', (url: string) => url.replace('/secret/', '/forged\\..\\secret/')],
  ['a query', (url: string) => `${url}?/forged/`],
  ['capital letters', (url: string) => url.replace('file:', 'FILE:')],
])('the other table is not reached by %s in its manifest list', async (_, spell) => {
  const { metadataLocation } = forge('manifest-list', spell)
  const { rows, error } = await read(metadataLocation, territory('enforce', 'forged'))
  expect([rows, error.code]).toEqual([[], '42501'])
})

test('a plan that was cached is judged again for another territory, and for another table', async () => {
  const { metadataLocation } = forge('files')
  const snapshot = { ...snapshotOf(secret), metadataLocation }
  const reports: number[] = []
  const given = (of: Territory) => ({
    territory: of,
    report: (out: readonly OutsideFile[]) => void reports.push(out.length),
  })
  const ask = (of: Territory) =>
    failure(rowsOf(engine.engine, { ...snapshot, territory: given(of) }, all, asked))
  expect((await ask(territory('observe', 'forged'))).code).toBeUndefined()
  expect((await ask(territory('observe', 'forged'))).code).toBeUndefined()
  expect(reports).toHaveLength(1)
  expect((await ask(territory('enforce', 'forged'))).code).toBe('42501')
  expect((await ask(territory('enforce', 'forged'))).code).toBe('42501')
  expect((await ask(territory('enforce', 'forged', 'secret'))).code).toBeUndefined()
  expect((await ask({ ...territory('enforce', 'forged'), version: '2' })).code).toBe('42501')
})

test('what lies outside is reported where it is observed, also if it cannot be read', async () => {
  const { metadataLocation } = forge('manifest-list', (url) => url.replace('/metadata/', '/gone/'))
  const { error, reported } = await read(metadataLocation, territory('observe', 'forged'))
  expect(error.code).toBe('58030')
  expect(reported.map(({ kind }) => kind)).toEqual(['manifest list'])
})

test('a table without any territory is not read', async () => {
  const { error } = await read(secret.metadataLocation ?? '', territory('enforce'))
  expect(error.code).toBe('42501')
})
