/**
 * The attack on a masked table by somebody with the scopes read and commit and no role, who has keys of the bucket. Its
 * files are written by PyIceberg, pyarrow and fastavro, its commits go by the gateway where that lets them pass, else
 * past it. The letters are the threats of docs/territory.md.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { TableRef } from '../../src/core/table-ref.ts'
import { type ScriptedTrino, scriptTrino } from '../engine/trino/scripted-trino.ts'
import { eventually } from '../support/eventually.ts'
import { documentedSettings } from './client-docs.ts'
import { openGate } from './gate.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { send } from './iceberg-api.ts'
import { type Login, type Oversight, openOversight } from './oversight.ts'
import { packageFolder } from './packages.ts'
import { startRestFixture, startS3 } from './servers.ts'
import { type OpenSession, openSession } from './sessions.ts'

const stack = new AsyncDisposableStack()
const canary = 'CANARY-7c1d'
const warehouse = 's3://lake/wh'
let upstream: string
let gateway: Gateway
let oversight: Oversight
let trino: ScriptedTrino
/** Python with the settings of the engineer, of somebody without a role, and of one who goes past the gateway. */
let writer: OpenSession
let attacker: OpenSession
let smuggler: OpenSession

interface Victim {
  readonly location: string
  readonly metadata: string
  readonly list: string
  readonly manifests: readonly string[]
  readonly files: readonly string[]
}
let victim: Victim
const secret: TableRef = { namespace: ['secret'], name: 'people' }

const layers = ['manifest-list', 'manifests', 'files', 'deletes'] as const
/** How the attacker spells the other table's locations. */
const spellings: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  plainly: [],
  s3a: [['s3://', 's3a://']],
  'with a doubled slash': [['/wh/', '/wh//']],
  'with an escaped letter': [['/secret/', '/%73ecret/']],
  'with dot segments': [['/secret/', '/forged/../secret/']],
  'with escaped dot segments': [['/secret/', '/forged/%2e%2e/secret/']],
}

/** A table of the attacker's that names the masked table's files. */
interface Forged {
  readonly what: string
  readonly table: TableRef
  /** Of the commit by the gateway. Where that was denied, it was made past it. */
  readonly status: number
  /** Whether it holds what reads of it would show. */
  readonly reveals: boolean
}
const forged: Forged[] = []
let ownCount = 0

const s3 = (url: string) => ({
  's3.endpoint': url,
  's3.region': 'us-east-1',
  's3.access-key-id': 'service',
  's3.secret-access-key': 'service',
})

beforeAll(async () => {
  const storage = stack.use(await startS3('lake'))
  const fixture = stack.use(await startRestFixture({ url: storage.url, warehouse }))
  upstream = fixture.url
  const config = { warehouse: 'w', storage_roots: [warehouse], ...s3(storage.url) }
  gateway = stack.use(await startGateway({ kind: 'alpha', url: upstream, config }))
  // Another address of the catalog: a catalog of its own over the same bucket, as far as the service knows.
  const gate = stack.use(openGate(upstream))
  await gateway.register('second', { kind: 'alpha', url: gate.url, config })
  trino = stack.use(scriptTrino([]))
  await gateway.register('trino', {
    kind: 'alpha',
    url: upstream,
    config: { ...config, read_engine: 'trino', 'trino.uri': trino.url, 'trino.catalog': 'lake' },
  })
  oversight = await openOversight(gateway)
  const python = (log: string, { secret, sessionId }: Login, catalogUri = gateway.catalogUri) =>
    stack.use(
      openSession({
        python: join(packageFolder('python:pyiceberg'), 'bin/python'),
        script: 'territory_session.py',
        log: `territory-attack-${log}`,
        args: [],
        env: {
          SETTINGS: documentedSettings('PyIceberg', { secret, sessionId, catalogUri }),
          PYICEBERG_CATALOG__COVENANT__S3__ENDPOINT: storage.url,
          PYICEBERG_CATALOG__COVENANT__S3__REGION: 'us-east-1',
          PYICEBERG_CATALOG__COVENANT__S3__ACCESS_KEY_ID: 'attacker',
          PYICEBERG_CATALOG__COVENANT__S3__SECRET_ACCESS_KEY: 'attacker',
        },
        seconds: 550,
      }),
    )
  writer = python('writer', oversight.engineer)
  attacker = python('attacker', oversight.anybody)
  smuggler = python('smuggler', oversight.anybody, () => upstream)
  const rows = [1, 2].map((id) => [id, canary])
  victim = (await run(writer, 'create', { name: 'secret.people', rows })) as Victim
  await oversight.govern(secret, 'id = 1', 'note')
  for (const layer of layers)
    for (const [spelled, spelling] of Object.entries(spellings)) await forgeSnapshot(layer, spelled, spelling)
  await forgeByAddFiles()
  await forgeByMetadata()
}, 400_000)
afterAll(() => stack.disposeAsync())

async function run(session: OpenSession, step: string, given: object): Promise<unknown> {
  const { value, message } = await session.ask([step, given])
  if (message !== undefined) throw new Error(`${step} ${JSON.stringify(given)}: ${message}`)
  return value
}

const target = (prefix = 'main', login: Login = oversight.anybody) => ({
  base: `${gateway.catalogUri(prefix)}/v1`,
  headers: { 'x-svc-session': login.secret },
})
const past = () => ({ base: `${upstream}/v1` })
const pathOf = ({ namespace, name }: TableRef) => `/namespaces/${namespace.join('%1F')}/tables/${name}`
const commit = (...updates: readonly object[]) => JSON.stringify({ requirements: [], updates })

/** A table of the attacker's, with a row of its own. */
async function own(): Promise<TableRef> {
  const table = { namespace: ['forged'], name: `t${++ownCount}` }
  const rows = [
    [7, canary],
    [8, 'own'],
  ]
  await run(attacker, 'create', { name: `forged.${table.name}`, rows })
  return table
}

async function forgeSnapshot(
  layer: (typeof layers)[number],
  spelled: string,
  spelling: readonly (readonly [string, string])[],
): Promise<void> {
  const table = await own()
  const given = { name: `forged.${table.name}`, victim: 'secret.people', layer, spelling }
  const snapshot = (await run(attacker, 'forge', given)) as { readonly 'snapshot-id': number }
  const body = commit(
    { action: 'add-snapshot', snapshot },
    {
      action: 'set-snapshot-ref',
      'ref-name': 'main',
      type: 'branch',
      'snapshot-id': snapshot['snapshot-id'],
    },
  )
  const { status } = await send(target(), 'POST', pathOf(table), body)
  if (status === 403) expect((await send(past(), 'POST', pathOf(table), body)).status).toBe(200)
  // Other spellings are of objects that are not there.
  const reveals = /^(?:plainly|s3a)$/.test(spelled)
  forged.push({ what: `its ${layer}, ${spelled}`, table, status, reveals })
}

async function forgeByAddFiles(): Promise<void> {
  const table = await own()
  const given = { name: `forged.${table.name}`, files: victim.files }
  const { message = '' } = await attacker.ask(['add_files', given])
  await run(smuggler, 'add_files', given)
  const status = message.includes('policy denied: territory: ') ? 403 : 200
  forged.push({ what: 'its data files, by add_files', table, status, reveals: true })
}

/** F: a copy of its metadata file, edited to be that of a table in the attacker's folder. */
async function forgeByMetadata(): Promise<void> {
  const table = { namespace: ['forged'], name: `t${++ownCount}` }
  // Where a tenant has masks, only a name with a write policy that allows it may be registered.
  await gateway.govern(table, { id: 'registers', kind: 'write_acl', definitionCel: 'true' })
  const folder = `${warehouse}/forged/${table.name}`
  const location = await run(attacker, 'copy_metadata', { victim: 'secret.people', folder })
  const body = JSON.stringify({ name: table.name, 'metadata-location': location })
  const { status } = await send(target(), 'POST', '/namespaces/forged/register', body)
  expect(status).toBe(200)
  // The check that follows a registration quarantines the snapshot, until a steward releases it.
  forged.push({ what: 'a copy of its metadata', table, status, reveals: false })
}

/** What comes of something for each forged table, by what it names. */
async function ofEach<T>(
  work: (table: TableRef, one: Forged) => Promise<T>,
): Promise<Readonly<Record<string, T>>> {
  const found: Record<string, T> = {}
  for (const one of forged) found[one.what] = await work(one.table, one)
  return found
}
const expectedOfEach = <T>(expected: T) => Object.fromEntries(forged.map(({ what }) => [what, expected]))

const selectOf = ({ namespace, name }: TableRef) => `SELECT id, note FROM ${namespace.join('.')}.${name}`
/** By the read, or before it by the check that follows a registration. */
const refused = expect.stringMatching(
  /^E (?:42501 The table cannot be read: its [a-z ]+ lies outside|55000 Snapshot \d+ of table \S+ is quarantined)/,
)

describe('where territory is enforced', () => {
  test('territory-attack: commits that name a masked table’s files on any level are denied', () => {
    const statuses = Object.fromEntries(forged.map(({ what, status }) => [what, status]))
    // What a registered file names is known only once the catalog has read it.
    expect(statuses).toEqual({ ...expectedOfEach(403), 'a copy of its metadata': 200 })
  })

  test('territory-attack: every other change that names its place is denied, by every surface and credential', async () => {
    const { location } = victim
    const snapshot = {
      'snapshot-id': 5,
      'sequence-number': 9,
      'timestamp-ms': Date.now(),
      summary: { operation: 'append' },
    }
    const properties = (name: string) => ({
      action: 'set-properties',
      updates: { [name]: `${location}/data` },
    })
    const statistics = { 'snapshot-id': 5, 'statistics-path': `${location}/metadata/s.puffin` }
    const attacks: Readonly<Record<string, string>> = {
      'A: set-location': commit({ action: 'set-location', location }),
      'A: set-location above it': commit({ action: 'set-location', location: `${warehouse}/secret` }),
      'B: write.data.path': commit(properties('write.data.path')),
      'B: write.metadata.path': commit(properties('write.metadata.path')),
      'B: write.object-storage.path': commit(properties('write.object-storage.path')),
      'C: its manifest list': commit({
        action: 'add-snapshot',
        snapshot: { ...snapshot, 'manifest-list': victim.list },
      }),
      'C: its manifests': commit({
        action: 'add-snapshot',
        snapshot: { ...snapshot, manifests: victim.manifests },
      }),
      'G: statistics': commit({ action: 'set-statistics', 'snapshot-id': 5, statistics }),
      'G: partition statistics': commit({
        action: 'set-partition-statistics',
        'partition-statistics': { ...statistics, 'file-size-in-bytes': 1 },
      }),
    }
    const schema = {
      type: 'struct',
      'schema-id': 0,
      fields: [{ id: 1, name: 'id', type: 'long', required: true }],
    }
    const creations: Readonly<Record<string, object>> = {
      'A: a creation': { location },
      'A: a staged creation': { location, 'stage-create': true },
      'A: a staged creation below it': { location: `${location}/data`, 'stage-create': true },
      'B: a staged creation with a write path': {
        'stage-create': true,
        properties: { 'write.data.path': `${location}/data` },
      },
    }
    const registration = JSON.stringify({ name: 'thief', 'metadata-location': victim.metadata })
    const table = await own()
    const said: Record<string, string> = {}
    const note = async (what: string, answer: Response) => {
      const text = await answer.text()
      const { error } = text.startsWith('{')
        ? (JSON.parse(text) as { error: { message: string } })
        : { error: { message: text } }
      const message = `${answer.status} ${error.message}`
      said[what] = message.slice(0, '403 policy denied: '.length)
      expect(message).not.toContain('secret.people')
    }
    for (const prefix of ['main', 'second']) {
      for (const [what, body] of Object.entries(attacks)) {
        await note(`${prefix}, ${what}`, await send(target(prefix), 'POST', pathOf(table), body))
        // The literal path has no /v1 of the client surface.
        const literal = { ...target(prefix), base: gateway.catalogUri(prefix) }
        await note(`${prefix}, literal, ${what}`, await send(literal, 'POST', pathOf(table), body))
      }
      for (const [what, more] of Object.entries(creations)) {
        const body = JSON.stringify({ name: 'thief', schema, ...more })
        await note(
          `${prefix}, ${what}`,
          await send(target(prefix), 'POST', '/namespaces/forged/tables', body),
        )
      }
      await note(
        `${prefix}, F`,
        await send(target(prefix), 'POST', '/namespaces/forged/register', registration),
      )
    }
    expect(said).toEqual(Object.fromEntries(Object.keys(said).map((what) => [what, '403 policy denied: '])))
  })

  test('territory-attack: nothing is read over the wire, for nobody', async () => {
    for (const login of [oversight.anybody, oversight.engineer])
      expect(await ofEach((table) => oversight.read(login, selectOf(table)))).toEqual(
        expectedOfEach([refused]),
      )
  })

  test('territory-attack: nothing is read through a second catalog credential on the bucket', async () => {
    const read = (table: TableRef) => oversight.read(oversight.anybody, selectOf(table), 'second')
    expect(await ofEach(read)).toEqual(expectedOfEach([refused]))
  })

  test('territory-attack: nothing is sent to Trino', async () => {
    const read = (table: TableRef) => oversight.read(oversight.anybody, selectOf(table), 'trino')
    expect(await ofEach(read)).toEqual(expectedOfEach([refused]))
    expect(trino.seen).toEqual([])
  })

  test('territory-attack: the catalog plans no scan of it by REST', async () => {
    const plan = async (table: TableRef) => {
      const answer = await send(target(), 'POST', `${pathOf(table)}/plan`, '{"case-sensitive":true}')
      const text = await answer.text()
      // A manifest list or manifest that is not where its misspelt location says is the catalog's own error.
      return { isPlanned: answer.ok, tells: text.includes('"file-path"') }
    }
    expect(await ofEach(plan)).toEqual(expectedOfEach({ isPlanned: false, tells: false }))
  })

  test('territory-attack: a location that was set past the gateway gives nothing', async () => {
    const table = await own()
    const sent = await send(
      past(),
      'POST',
      pathOf(table),
      commit({ action: 'set-location', location: victim.location }),
    )
    expect(sent.status).toBe(200)
    const body = commit({
      action: 'add-snapshot',
      snapshot: {
        'snapshot-id': 6,
        'sequence-number': 9,
        'timestamp-ms': Date.now(),
        'manifest-list': victim.list,
        summary: { operation: 'append' },
      },
    })
    expect((await send(target(), 'POST', pathOf(table), body)).status).toBe(403)
    // The catalog wrote its metadata file to the masked table's folder.
    expect(await oversight.read(oversight.anybody, selectOf(table))).toEqual([refused])
  })

  test('territory-attack: statistics that were set past the gateway keep Trino from being asked', async () => {
    const { namespace, name } = await own()
    const path = `${victim.location}/metadata/s.puffin`
    await run(smuggler, 'set_statistics', { name: `forged.${name}`, path })
    const read = (catalog: string) =>
      oversight.read(oversight.anybody, selectOf({ namespace, name }), catalog)
    expect(await read('trino')).toEqual([
      expect.stringMatching(/^E 42501 The table cannot be read: its statistics file lies outside/),
    ])
    expect(trino.seen).toEqual([])
    expect(await read('main')).toHaveLength(3)
  })

  test('territory-attack: the masked table itself is read as before', async () => {
    expect(await oversight.read(oversight.anybody, selectOf(secret))).toEqual(['D 1|NULL', 'C SELECT 1'])
    expect(await oversight.read(oversight.engineer, selectOf(secret))).toHaveLength(3)
  })
})

describe('where territory is observed', () => {
  beforeAll(async () => {
    await oversight.check()
    await oversight.switchTo('observe')
  })

  test('territory-attack: each is listed, and shows what it would have shown', async () => {
    const shown = await ofEach(async (table) => {
      const answers = await oversight.read(oversight.anybody, selectOf(table))
      // Its rows; or, where its files are deletes, that a row like the attacker's own is among them.
      const isDeleted = answers.includes('D 8|own') && !answers.includes(`D 7|${canary}`)
      return isDeleted || answers.includes(`D 2|${canary}`)
    })
    expect(shown).toEqual(Object.fromEntries(forged.map(({ what, reveals }) => [what, reveals])))
    const listed = await ofEach((table) =>
      eventually(async () => {
        const conflicts = await oversight.conflicts(table)
        return conflicts.length > 0 && conflicts
      }),
    )
    for (const [what, conflicts] of Object.entries(listed)) {
      const reasons = conflicts.map(({ reason, owner }) => ({ what, reason, owner }))
      expect(reasons).toContainEqual(
        /slash|dot/.test(what)
          ? { what, reason: 'malformed', owner: undefined }
          : /escaped letter/.test(what)
            ? { what, reason: 'unowned', owner: undefined }
            : { what, reason: 'foreign', owner: secret },
      )
    }
  })
})
