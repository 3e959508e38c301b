/**
 * What people do with files that lie elsewhere, with PyIceberg, in a tenant that enforces its territory: what goes at
 * once, what a steward grants first, and that reads afterwards give the right rows (docs/territory.md).
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'
import type { TableRef } from '../../src/core/table-ref.ts'
import { documentedSettings } from './client-docs.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { type Oversight, openOversight } from './oversight.ts'
import { packageFolder } from './packages.ts'
import { type FixtureServer, startRestFixture } from './servers.ts'
import { type OpenSession, openSession, type Step } from './sessions.ts'

const stack = new AsyncDisposableStack()
let fixture: FixtureServer
let gateway: Gateway
let oversight: Oversight
let python: OpenSession

const table = (name: string): TableRef => ({ namespace: ['uses'], name })
/** A folder beside those of the catalog's tables. */
const folder = (name: string) => `file://${fixture.folder}/elsewhere/${name}`

beforeAll(async () => {
  fixture = stack.use(await startRestFixture())
  const config = { warehouse: 'w', storage_roots: [`file://${fixture.folder}`] }
  gateway = stack.use(await startGateway({ kind: 'alpha', url: fixture.url, config }))
  oversight = await openOversight(gateway)
  python = stack.use(
    openSession({
      python: join(packageFolder('python:pyiceberg'), 'bin/python'),
      script: 'territory_session.py',
      log: 'territory-pyiceberg',
      args: [],
      env: {
        SETTINGS: documentedSettings('PyIceberg', {
          ...oversight.engineer,
          catalogUri: gateway.catalogUri,
        }),
      },
      seconds: 250,
    }),
  )
  await run('create', { name: 'uses.first' })
}, 200_000)
afterAll(() => stack.disposeAsync())

const ask = (step: string, given: object): Promise<Step> => python.ask([step, given])
/** What a step comes to. @throws Error with its message where it is refused */
async function run(step: string, given: object): Promise<unknown> {
  const { value, message } = await ask(step, given)
  if (message !== undefined) throw new Error(`${step} ${JSON.stringify(given)}: ${message}`)
  return value
}

/** What the engineer reads through the service, one row a text. */
const rows = (name: string) =>
  oversight.read(oversight.engineer, `SELECT id, note FROM uses.${name} ORDER BY id`)
const read = (...texts: readonly string[]) => [
  ...texts.map((text) => `D ${text}`),
  `C SELECT ${texts.length}`,
]
/** By the check after the commit, or by the read itself where that comes first. */
const refused = [
  expect.stringMatching(
    /^E (?:42501 The table cannot be read: its data file lies outside|55000 Snapshot \d+ of table \S+ is quarantined)/,
  ),
]
const denied = 'policy denied: territory: the location '

test('territory-pyiceberg: add_files needs a grant of the folder, and is read with one', async () => {
  const file = `${folder('imported')}/a.parquet`
  await run('write_file', { location: file, rows: [[1, 'a']] })
  await run('create', { name: 'uses.hasty' })
  await run('add_files', { name: 'uses.hasty', files: [file] })
  expect(await rows('hasty')).toEqual(refused)
  expect(await oversight.grant(table('added'), folder('imported'))).toBe(200)
  await run('create', { name: 'uses.added' })
  await run('add_files', { name: 'uses.added', files: [file] })
  await oversight.check()
  expect(await rows('added')).toEqual(read('1|a'))
  await run('append', { name: 'uses.added', rows: [[2, 'b']] })
  expect(await rows('added')).toEqual(read('1|a', '2|b'))
  expect(await rows('hasty')).toEqual(refused)
})

test('territory-pyiceberg: register_table under another name needs a hand-over by uuid', async () => {
  const made = await run('create', { name: 'uses.moving', rows: [[1, 'a']] })
  const { metadata, uuid } = made as { readonly metadata: string; readonly uuid: string }
  const register = () => ask('register', { name: 'uses.moved', metadata })
  const handOver = async () => {
    const [from, to] = ['moving', 'moved'].map((name) => ({ catalog: 'main', table: table(name) }))
    return (await oversight.call('POST', '/hand-overs', { from, to, table_uuid: uuid })).status
  }
  expect((await register()).message).toContain(denied)
  expect(await handOver()).toBe(409)
  await run('drop', { name: 'uses.moving' })
  expect((await register()).message).toContain(denied)
  expect(await handOver()).toBe(200)
  expect(await register()).not.toHaveProperty('message')
  expect(await rows('moved')).toEqual(read('1|a'))
})

test('territory-pyiceberg: object-store layout goes below the location, or needs a grant of a shared path', async () => {
  const spread = { 'write.object-storage.enabled': 'true' }
  await run('create', { name: 'uses.spread', rows: [[1, 'a']], ...spread })
  expect(await rows('spread')).toEqual(read('1|a'))
  const shared = { ...spread, 'write.data.path': folder('shared/data') }
  const create = () => ask('create', { name: 'uses.sharing', rows: [[1, 'a']], ...shared })
  expect((await create()).message).toContain(denied)
  expect(await oversight.grant(table('sharing'), folder('shared/data'))).toBe(200)
  expect(await create()).not.toHaveProperty('message')
  expect([...new Glob('**/*.parquet').scanSync(`${fixture.folder}/elsewhere/shared`)]).toHaveLength(1)
  expect(await rows('sharing')).toEqual(read('1|a'))
})

test('territory-pyiceberg: branches are written, published and expired, and read', async () => {
  await run('create', { name: 'uses.branched', rows: [[1, 'a']] })
  await run('branch', { name: 'uses.branched', called: 'audit' })
  await run('append', { name: 'uses.branched', rows: [[2, 'b']], branch: 'audit' })
  expect(await rows('branched')).toEqual(read('1|a'))
  await run('publish', { name: 'uses.branched', called: 'audit' })
  expect(await rows('branched')).toEqual(read('1|a', '2|b'))
  expect(await run('expire', { name: 'uses.branched' })).toBe(1)
  expect(await rows('branched')).toEqual(read('1|a', '2|b'))
  expect(await run('read', { name: 'uses.branched' })).toEqual([
    [1, 'a'],
    [2, 'b'],
  ])
})
