/** Trino reads files by itself, so a snapshot is checked by its manifests before Trino receives the statement. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type IcebergWriter, tableInFolder } from '../../../demo/lake/iceberg-writer.ts'
import { type JsonObject, parseJson } from '../../../src/base/json.ts'
import type { Territory } from '../../../src/core/territory.ts'
import type { TableSnapshot } from '../../../src/engine/engine.ts'
import { SnapshotChecks } from '../../../src/engine/iceberg/snapshot-check.ts'
import type { OutsideFile } from '../../../src/storage/territory-guard.ts'
import { snapshotOf } from '../../support/engine.ts'
import { forgeTable, type StolenLayer, stolenLayers } from '../../support/forged-table.ts'
import { failureOf, openSession, scriptTrino } from './scripted-trino.ts'

let tables: string
let secret: IcebergWriter
beforeAll(async () => {
  tables = mkdtempSync(join(tmpdir(), 'covenant-trino-'))
  secret = tableInFolder(tables, 'secret', { fields: [{ id: 1, name: 'id', type: 'long' }] })
  const { files } = await secret.append([{ rows: [{ id: 1 }, { id: 2 }] }])
  await secret.deletePositions(files[0] ?? '', [1])
})
afterAll(() => rmSync(tables, { recursive: true, force: true }))

const metadataAt = (location: string) =>
  parseJson(readFileSync(fileURLToPath(location)), { depthMax: 100 }) as JsonObject
const territory = (mode: Territory['mode'], ...names: readonly string[]): Territory => ({
  mode,
  version: '1',
  prefixes: names.map((name) => `file://${join(tables, name)}/`),
})

let opened = 0
const scope =
  (key = 'own', roots: readonly string[] = [tables]) =>
  async () => {
    opened++
    return { key, access: { roots, s3: undefined } }
  }

/** Opens a session over a forged table, and says what came of it. */
async function ask(
  stolen: StolenLayer,
  given: Territory,
  {
    checks = new SnapshotChecks(),
    openScope = scope(),
    spell,
  }: {
    checks?: SnapshotChecks
    openScope?: ReturnType<typeof scope>
    spell?: (location: string) => string
  } = {},
) {
  await using trino = scriptTrino([])
  const { metadataLocation } = forgeTable(secret, { tables, from: 'secret', to: 'forged' }, stolen, spell)
  const reported: OutsideFile[] = []
  const snapshot: TableSnapshot = {
    ...snapshotOf(secret),
    table: { ...snapshotOf(secret).table, relation: { trino: ['lake', 's', 't'] } },
    metadataLocation,
    territory: { territory: given, report: (outside) => reported.push(...outside) },
  }
  const metadata = metadataAt(metadataLocation)
  const session = openSession(trino.url, {
    tables: [snapshot],
    loadMetadata: async () => metadata,
    checkFiles: (one, sent, signal) => checks.check(openScope, one, sent, signal),
  })
  const failure = (await session.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )) as { code?: string; message?: string } | undefined
  expect(trino.seen).toEqual([])
  return { code: failure?.code, message: failure?.message, reported }
}

test.each(stolenLayers)(
  'a table that names the %s of another is refused before Trino is asked',
  async (layer) => {
    const refused = await ask(layer, territory('enforce', 'forged'))
    expect([refused.code, refused.message]).toEqual(['42501', expect.not.stringContaining('secret')])
    const observed = await ask(layer, territory('observe', 'forged'))
    expect([observed.code, observed.reported.length > 0]).toEqual([undefined, true])
    const granted = await ask(layer, territory('enforce', 'forged', 'secret'))
    expect([granted.code, granted.reported]).toEqual([undefined, []])
  },
)

test('a spelling that readers take in two ways is refused', async () => {
  const spell = (url: string) => url.replace('/forged/', '/forged/%2e%2e/secret/')
  expect((await ask('files', territory('enforce', 'forged'), { spell })).code).toBe('42501')
})

test('manifests that were admitted are not read again, until the territory or the scope changes', async () => {
  const checks = new SnapshotChecks()
  const both = territory('enforce', 'forged', 'secret')
  expect((await ask('manifests', both, { checks })).code).toBeUndefined()
  // Nothing may be read with these roots: only what was admitted passes.
  const blind = scope('own', [])
  expect((await ask('manifests', both, { checks, openScope: blind })).code).toBeUndefined()
  expect((await ask('manifests', { ...both, version: '2' }, { checks, openScope: blind })).code).toBe('58030')
  const foreign = scope('of another tenant', [])
  expect((await ask('manifests', both, { checks, openScope: foreign })).code).toBe('58030')
})

test('a snapshot that cannot be checked is refused where the territory is enforced, else reported', async () => {
  const openScope = scope('own', [])
  expect(await ask('files', territory('enforce', 'forged', 'secret'), { openScope })).toMatchObject({
    code: '58030',
    message: expect.stringContaining('registers no storage_roots'),
  })
  const observed = await ask('files', territory('observe', 'forged', 'secret'), { openScope })
  expect([observed.code, observed.reported.map(({ whereabouts }) => whereabouts)]).toEqual([
    undefined,
    ['unclear'],
  ])
})

test.each(['statistics', 'partition-statistics'])('%s of another table are refused', async (member) => {
  const metadata = new Map(metadataAt(secret.metadataLocation ?? ''))
  metadata.set(member, [new Map([['statistics-path', `file://${tables}/other/metadata/a.puffin`]])])
  const snapshot = {
    ...snapshotOf(secret),
    territory: { territory: territory('enforce', 'secret'), report: () => {} },
  }
  const signal = new AbortController().signal
  const before = opened
  const failure = await failureOf(new SnapshotChecks().check(scope(), snapshot, metadata, signal))
  expect(failure).toMatchObject({ code: '42501', message: expect.stringContaining('statistics file') })
  expect(opened).toBe(before)
})

test('an encrypted snapshot is named as one, never as corrupt', async () => {
  const metadata = new Map(metadataAt(secret.metadataLocation ?? ''))
  const snapshots = metadata.get('snapshots') as readonly JsonObject[]
  metadata.set(
    'snapshots',
    snapshots.map((one) => new Map([...one, ['key-id', 'k']])),
  )
  const snapshot = {
    ...snapshotOf(secret),
    territory: { territory: territory('enforce', 'secret'), report: () => {} },
  }
  const check = new SnapshotChecks().check(scope(), snapshot, metadata, new AbortController().signal)
  expect(await failureOf(check)).toMatchObject({
    message: expect.stringContaining('it is encrypted, and its key is not known'),
  })
})
