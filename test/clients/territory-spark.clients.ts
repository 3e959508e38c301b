/**
 * What people do with files that lie elsewhere, by Spark's own procedures, in a tenant that enforces its territory: what
 * goes at once, what a steward grants first, and that reads afterwards give the right rows (docs/territory.md).
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import type { TableRef } from '../../src/core/table-ref.ts'
import { documentedSettings } from './client-docs.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { type Oversight, openOversight } from './oversight.ts'
import { type FixtureServer, startRestFixture } from './servers.ts'
import type { OpenSession } from './sessions.ts'
import { openSpark } from './spark-session.ts'

const stack = new AsyncDisposableStack()
let fixture: FixtureServer
let gateway: Gateway
let oversight: Oversight
let spark: OpenSession

const table = (name: string): TableRef => ({ namespace: ['uses'], name })
/** A folder beside those of the catalog's tables. */
const folder = (name: string) => `file://${fixture.folder}/elsewhere/${name}`

beforeAll(async () => {
  fixture = stack.use(await startRestFixture())
  const config = { warehouse: 'w', storage_roots: [`file://${fixture.folder}`] }
  gateway = stack.use(await startGateway({ kind: 'alpha', url: fixture.url, config }))
  oversight = await openOversight(gateway)
  const login = { ...oversight.engineer, catalogUri: gateway.catalogUri }
  const settings = documentedSettings('Spark', login)
  // `migrate` replaces tables of the session's own catalog, so that is one of the service, too.
  const own = settings
    .replace(/^spark\.sql\.extensions.*\n/m, '')
    .replaceAll('spark.sql.catalog.covenant', 'spark.sql.catalog.spark_catalog')
    .replace('SparkCatalog\n', 'SparkSessionCatalog\n')
  spark = stack.use(await openSpark({ settings: settings + own, log: 'territory-spark', seconds: 550 }))
  await sql('CREATE NAMESPACE covenant.uses')
  await sql('CREATE NAMESPACE IF NOT EXISTS covenant.default')
}, 200_000)
afterAll(() => stack.disposeAsync())

/** What Spark answers. @throws Error with its message where it refuses */
async function sql(statement: string): Promise<unknown> {
  const { value, message } = await spark.ask(statement)
  if (message !== undefined) throw new Error(`${statement}: ${message}`)
  return value
}
/** Why Spark refuses a statement. */
const refusalOf = async (statement: string) => (await spark.ask(statement)).message ?? 'it did not'

/** What the engineer reads through the service, one row a text. */
const rows = async (name: string, where = '') =>
  await oversight.read(oversight.engineer, `SELECT id, customer FROM ${name} ${where} ORDER BY id`)
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

/** A table of Parquet files that Iceberg knows nothing of, in Spark's own catalog. */
const writeParquet = (name: string, at = folder(name)) =>
  sql(`CREATE TABLE spark_catalog.default.${name} USING parquet LOCATION '${at}'
    AS SELECT id, concat('c', id) AS customer FROM range(1, 3)`)
const create = (name: string, properties: Readonly<Record<string, string>> = {}) => {
  const texts = Object.entries(properties).map(([key, value]) => `'${key}' = '${value}'`)
  const given = texts.length === 0 ? '' : `TBLPROPERTIES (${texts.join(', ')})`
  return `CREATE TABLE covenant.uses.${name} (id BIGINT, customer STRING) USING iceberg ${given}`
}

const addFiles = (to: string, from: string) =>
  sql(
    `CALL covenant.system.add_files(table => 'uses.${to}', source_table => '\`parquet\`.\`${folder(from)}\`')`,
  )

test('territory-spark: add_files needs a grant of the folder, and is read with one', async () => {
  await writeParquet('imported')
  await sql(create('added'))
  expect(await oversight.grant(table('added'), folder('imported'))).toBe(200)
  await addFiles('added', 'imported')
  await oversight.check()
  expect(await rows('uses.added')).toEqual(read('1|c1', '2|c2'))
})

test('territory-spark: files that were added without a grant are read once it is there and the snapshot released', async () => {
  await writeParquet('early')
  await sql(create('hasty'))
  await addFiles('hasty', 'early')
  expect(await rows('uses.hasty')).toEqual(refused)
  expect(await oversight.release(table('hasty'))).toBe(200)
  expect(await rows('uses.hasty')).toEqual(refused)
  expect(await oversight.grant(table('hasty'), folder('early'))).toBe(200)
  expect(await rows('uses.hasty')).toEqual(read('1|c1', '2|c2'))
})

test('territory-spark: migrate takes the folder of the table that it replaces', async () => {
  await writeParquet('migrated')
  await sql(`CALL spark_catalog.system.migrate('default.migrated')`)
  expect(await rows('"default".migrated')).toEqual(read('1|c1', '2|c2'))
  await sql(`INSERT INTO covenant.default.migrated VALUES (3, 'c3')`)
  expect(await rows('"default".migrated')).toEqual(read('1|c1', '2|c2', '3|c3'))
  // The folder is the table's by now.
  expect(await refusalOf(`${create('thief')} LOCATION '${folder('migrated')}'`)).toContain(denied)
})

test('territory-spark: snapshot needs a grant of the source’s folder, and is read with one', async () => {
  await writeParquet('source')
  const snapshot = (to: string) =>
    sql(`CALL covenant.system.snapshot('spark_catalog.default.source', 'covenant.uses.${to}')`)
  await snapshot('unwanted')
  expect(await rows('uses.unwanted')).toEqual(refused)
  expect(await oversight.grant(table('snapped'), folder('source'))).toBe(200)
  await snapshot('snapped')
  await oversight.check()
  expect(await rows('uses.snapped')).toEqual(read('1|c1', '2|c2'))
  await sql(`INSERT INTO covenant.uses.snapped VALUES (3, 'c3')`)
  expect(await rows('uses.snapped')).toEqual(read('1|c1', '2|c2', '3|c3'))
  expect(await rows('uses.unwanted')).toEqual(refused)
})

test('territory-spark: a clone of another table’s files is not read, and no steward can grant them', async () => {
  await sql(create('cloned'))
  await sql(`INSERT INTO covenant.uses.cloned VALUES (1, 'c1')`)
  const data = `file://${fixture.folder}/uses/cloned/data`
  await sql(`CREATE TABLE spark_catalog.default.disguise (id BIGINT, customer STRING)
    USING parquet LOCATION '${data}'`)
  await sql(`CALL covenant.system.snapshot('spark_catalog.default.disguise', 'covenant.uses.clone')`)
  expect(await rows('uses.clone')).toEqual(refused)
  expect(await oversight.grant(table('clone'), data)).toBe(409)
  expect(await rows('uses.clone')).toEqual(refused)
})

test('territory-spark: register_table under another name needs a hand-over by uuid', async () => {
  await sql(create('moving'))
  await sql(`INSERT INTO covenant.uses.moving VALUES (1, 'c1')`)
  const loaded = await fetch(`${fixture.url}/v1/namespaces/uses/tables/moving`)
  const { 'metadata-location': file, metadata } = (await loaded.json()) as {
    'metadata-location': string
    metadata: { 'table-uuid': string }
  }
  const register = `CALL covenant.system.register_table(table => 'uses.moved', metadata_file => '${file}')`
  const handOver = () =>
    oversight.call('POST', '/hand-overs', {
      from: { catalog: 'main', table: table('moving') },
      to: { catalog: 'main', table: table('moved') },
      table_uuid: metadata['table-uuid'],
    })
  expect(await refusalOf(register)).toContain(denied)
  expect((await handOver()).status).toBe(409)
  await sql('DROP TABLE covenant.uses.moving')
  expect(await refusalOf(register)).toContain(denied)
  expect((await handOver()).status).toBe(200)
  await sql(register)
  expect(await rows('uses.moved')).toEqual(read('1|c1'))
  await sql(`INSERT INTO covenant.uses.moved VALUES (2, 'c2')`)
  expect(await rows('uses.moved')).toEqual(read('1|c1', '2|c2'))
})

test('territory-spark: object-store layout goes below the table’s own location', async () => {
  await sql(create('spread', { 'write.object-storage.enabled': 'true' }))
  await sql(`INSERT INTO covenant.uses.spread VALUES (1, 'c1')`)
  expect(await rows('uses.spread')).toEqual(read('1|c1'))
})

test('territory-spark: object-store layout in a data path that names its table becomes its territory', async () => {
  const path = folder('objects/uses/named')
  await sql(create('named', { 'write.object-storage.enabled': 'true', 'write.data.path': path }))
  await sql(`INSERT INTO covenant.uses.named VALUES (1, 'c1')`)
  expect(filesBelow('elsewhere/objects/uses/named')).toHaveLength(1)
  expect(await rows('uses.named')).toEqual(read('1|c1'))
})

test('territory-spark: object-store layout in a data path that tables could share needs a grant', async () => {
  const shared = { 'write.object-storage.enabled': 'true', 'write.data.path': folder('shared/data') }
  expect(await refusalOf(create('sharing', shared))).toContain(denied)
  expect(await oversight.grant(table('sharing'), folder('shared/data'))).toBe(200)
  await sql(create('sharing', shared))
  await sql(`INSERT INTO covenant.uses.sharing VALUES (1, 'c1')`)
  expect(filesBelow('elsewhere/shared/data')).toHaveLength(1)
  expect(await rows('uses.sharing')).toEqual(read('1|c1'))
  expect(await refusalOf(create('sharing_too', shared))).toContain(denied)
})

test('territory-spark: branches are written, published by write-audit-publish and fast-forward, and read', async () => {
  await sql(create('branched', { 'write.wap.enabled': 'true' }))
  await sql(`INSERT INTO covenant.uses.branched VALUES (1, 'c1')`)
  await sql('ALTER TABLE covenant.uses.branched CREATE BRANCH audit')
  await sql('SET spark.wap.branch = audit')
  await sql(`INSERT INTO covenant.uses.branched VALUES (2, 'c2')`)
  await sql('RESET spark.wap.branch')
  expect(await rows('uses.branched')).toEqual(read('1|c1'))
  await sql(`CALL covenant.system.fast_forward('uses.branched', 'main', 'audit')`)
  expect(await rows('uses.branched')).toEqual(read('1|c1', '2|c2'))
  await sql('SET spark.wap.id = late')
  await sql(`INSERT INTO covenant.uses.branched VALUES (3, 'c3')`)
  await sql('RESET spark.wap.id')
  expect(await rows('uses.branched')).toEqual(read('1|c1', '2|c2'))
  await sql(`CALL covenant.system.publish_changes('uses.branched', 'late')`)
  expect(await rows('uses.branched')).toEqual(read('1|c1', '2|c2', '3|c3'))
})

/** Data files below a folder of the warehouse. */
const filesBelow = (path: string) => [...new Glob('**/*.parquet').scanSync(join(fixture.folder, path))]

test('territory-spark: a masked table is compacted, expired and cleaned of orphans, and read as before', async () => {
  await sql(create('kept'))
  for (const id of [1, 2, 3]) await sql(`INSERT INTO covenant.uses.kept VALUES (${id}, 'c${id}')`)
  await oversight.govern(table('kept'), 'id < 3', 'customer')
  const all = read('1|c1', '2|c2', '3|c3')
  const visible = read('1|NULL', '2|NULL')
  const asBefore = async () => {
    expect(await rows('uses.kept')).toEqual(all)
    const text = 'SELECT id, customer FROM uses.kept ORDER BY id'
    expect(await oversight.read(oversight.anybody, text)).toEqual(visible)
  }
  await asBefore()
  await sql(
    `CALL covenant.system.rewrite_data_files(table => 'uses.kept', options => map('min-input-files', '2'))`,
  )
  await asBefore()
  expect(filesBelow('uses/kept')).toHaveLength(4)
  await sql(`CALL covenant.system.expire_snapshots(table => 'uses.kept', retain_last => 1,
    older_than => TIMESTAMP '2100-01-01 00:00:00')`)
  await asBefore()
  const [live = ''] = filesBelow('uses/kept')
  expect(filesBelow('uses/kept')).toHaveLength(1)

  const data = join(fixture.folder, 'uses/kept/data')
  mkdirSync(data, { recursive: true })
  writeFileSync(join(data, 'orphan.parquet'), 'left over')
  // Only what is older than a day can be an orphan.
  const longAgo = new Date(Date.now() - 10 * 86_400_000)
  for (const part of ['data', 'metadata'])
    for (const file of readdirSync(join(fixture.folder, 'uses/kept', part)))
      utimesSync(join(fixture.folder, 'uses/kept', part, file), longAgo, longAgo)
  await sql(`CALL covenant.system.remove_orphan_files(table => 'uses.kept')`)
  expect(filesBelow('uses/kept')).toEqual([live])
  await asBefore()
})
