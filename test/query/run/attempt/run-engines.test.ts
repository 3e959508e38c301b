/** Statements from text to rows over governed Iceberg tables, by the embedded engine and a scripted Trino. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type IcebergWriter, tableInFolder } from '../../../../demo/lake/iceberg-writer.ts'
import { putContract } from '../../../../src/contract/put-contract.ts'
import { putMask } from '../../../../src/contract/put-mask.ts'
import { putRowFilter } from '../../../../src/contract/put-row-filter.ts'
import { isNull } from '../../../../src/core/result-batch.ts'
import type { SqlError } from '../../../../src/query/compile/base/sql-error.ts'
import { checkPolicies } from '../../../../src/query/compile/protect/protect.ts'
import type { QueryContext } from '../../../../src/query/query-service.ts'
import { putCatalogCredential } from '../../../../src/store/catalog-credential/catalog-credentials.ts'
import { pinTable } from '../../../../src/store/contract/pins.ts'
import { listUsage } from '../../../../src/store/query/usage.ts'
import { startUpstream, type TestUpstream } from '../../../catalog/upstream.ts'
import { answer, scriptTrino } from '../../../engine/trino/scripted-trino.ts'
import { actorOf } from '../../../support/actor.ts'
import { commitColumns } from '../../../support/governed.ts'
import { startTestService, type TestService } from '../../../support/service.ts'
import { textAt } from '../../../support/vector-text.ts'

setDefaultTimeout(300_000)

const people = { namespace: ['hr'], name: 'people' }
/** Iceberg's bounds of the column id. */
function idBounds(lower: bigint, upper: bigint) {
  const bytes = (value: bigint) => new Uint8Array(BigInt64Array.of(value).buffer)
  return { lower: { 1: bytes(lower) }, upper: { 1: bytes(upper) } }
}

let service: TestService
let upstream: TestUpstream
let writer: IcebergWriter
let folder: string
let snapshots: bigint[]

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'run-duckdb-'))
  const fields = [
    { id: 1, name: 'id', type: 'long' },
    { id: 2, name: 'email', type: 'string' },
    { id: 3, name: 'region', type: 'string' },
  ] as const
  writer = tableInFolder(join(folder, 'tables'), 'people', { fields, partitionBy: 'region' })
  const rows = (from: number, region: string) =>
    Array.from({ length: 3 }, (_, i) => ({ id: BigInt(from + i), email: `a${from + i}@x.eu`, region }))
  snapshots = [
    (await writer.append([{ rows: rows(1, 'eu'), partition: 'eu' }])).snapshotId,
    (
      await writer.append([
        { rows: rows(11, 'us'), partition: 'us' },
        { rows: rows(21, 'eu'), partition: 'eu', stats: idBounds(21n, 23n) },
      ])
    ).snapshotId,
  ]
  upstream = startUpstream(async (_, path) => {
    if (path.endsWith('/oauth/tokens')) return Response.json({ access_token: 'x' })
    const location = writer.metadataLocation ?? ''
    const metadata = await Bun.file(new URL(location)).text()
    return new Response(`{"metadata-location":${JSON.stringify(location)},"metadata":${metadata}}`)
  })
  service = await startTestService({ env: { SVC_READ_DIR: folder } })
  const { store, owner } = service
  await putCatalogCredential(store, owner.tenant, {
    nickname: 'lake',
    kind: 'alpha',
    endpoint: upstream.url.replace(/\/$/, ''),
    config: { warehouse: 'dev', credential: 'a:b', storage_roots: [join(folder, 'tables')] },
  })
  await commitColumns(store, owner.tenant, people, { id: 'long', email: 'string', region: 'string' })
  const on = { store, tenant: owner.tenant, actor: actorOf('stella'), checkPolicies }
  await putContract(on, people, { id: 'people', version: 1 })
  await putRowFilter(
    on,
    { table: people },
    { id: 'eu', expression: "region = 'eu'", exemptRoles: ['officer'] },
  )
  const mask = { id: 'hide', action: 'mask-alphanum', exemptRoles: ['officer'] }
  await putMask(on, { table: people, column: 'email' }, mask)
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await upstream.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function rowsOf(
  text: string,
  roles: readonly string[] = [],
  parameters: string[] = [],
  catalog = 'lake',
) {
  const context: QueryContext = {
    tenant: service.owner.tenant,
    principal: { sub: 'ada', roles },
    principalSource: 'session',
    reader: { stillValid: async () => true },
    surface: 'pgwire',
    catalog,
    searchPath: ['hr'],
  }
  const { queries } = service.app
  const query = await queries.prepare(context, text)
  const rows: unknown[][] = []
  for await (const batch of queries.run(context, query, { parameters, signal: new AbortController().signal }))
    for (let row = 0; row < batch.rowCount; row++)
      rows.push(
        batch.columns.map((column) =>
          isNull(column, row)
            ? null
            : 'bytes' in column
              ? textAt(column, row)
              : 'values' in column
                ? column.values[row]
                : undefined,
        ),
      )
  return rows
}

test('a principal sees the rows and values that filters and masks leave, another all', async () => {
  const text = 'SELECT id, email FROM people ORDER BY id'
  expect(await rowsOf(text)).toEqual(
    [1, 2, 3, 21, 22, 23].map((id) => [BigInt(id), id < 10 ? 'xn@x.xx' : 'xnn@x.xx']),
  )
  expect((await rowsOf(text, ['officer'])).map(([, email]) => email)).toEqual(
    [1, 2, 3, 11, 12, 13, 21, 22, 23].map((id) => `a${id}@x.eu`),
  )
  const { items } = await listUsage(service.store, service.owner.tenant, {}, { limit: 2 })
  expect(items.map(({ rowsOut, policies, outcome }) => [rowsOut, policies.length, outcome])).toEqual([
    [9, 0, 'completed'],
    [6, 2, 'completed'],
  ])
  expect(items[0]?.bytesScanned).toBeGreaterThan(0)
})

test('conditions and aggregates are over what the principal sees; parameters are values', async () => {
  expect(await rowsOf('SELECT count(*) FROM people WHERE email = $1', [], ['a1@x.eu'])).toEqual([[0n]])
  expect(await rowsOf('SELECT count(*) FROM people WHERE email = $1', ['officer'], ['a1@x.eu'])).toEqual([
    [1n],
  ])
  expect(await rowsOf('SELECT region, count(*) FROM people GROUP BY region')).toEqual([['eu', 6n]])
})

test('what fails in the engine says nothing of a value', async () => {
  const error = await rowsOf('SELECT CAST(email AS integer) FROM people', ['officer']).catch(
    (e: SqlError) => e,
  )
  expect((error as SqlError).sqlState).toMatch(/^22/)
  expect((error as SqlError).message).not.toContain('@x.eu')
})

test('files that a statement cannot use are not read, unless a filter hides rows of them', async () => {
  const scanned = async (where: string, roles: readonly string[] = ['officer']) => {
    const found = await rowsOf(`SELECT id FROM people WHERE ${where} ORDER BY id`, roles)
    const { items } = await listUsage(service.store, service.owner.tenant, {}, { limit: 1 })
    return [found.flat(), items[0]?.bytesScanned ?? 0] as const
  }
  const [, all] = await scanned('true')
  const [us, ofUs] = await scanned("region = 'us'")
  expect(us).toEqual([11n, 12n, 13n])
  expect(ofUs).toBeLessThan(all / 2)
  const [few, ofFew] = await scanned('id < 12')
  expect(few).toEqual([1n, 2n, 3n, 11n])
  expect(ofFew).toBeLessThan(all)
  const [eu, ofEu] = await scanned('true', [])
  expect(eu).toEqual([1n, 2n, 3n, 21n, 22n, 23n])
  expect(ofEu).toBeLessThan(all)
  const [hidden, ofHidden] = await scanned('id = 12', [])
  expect([hidden, ofHidden]).toEqual([[], ofEu])
})

test('a catalog whose credential names Trino is read by it, at the snapshot and under the same policies', async () => {
  const column = { name: 'c1', type: 'bigint' }
  await using trino = scriptTrino([answer({ columns: [column], data: [[7], [8]] }, 'FINISHED')])
  const { store, owner } = service
  await putCatalogCredential(store, owner.tenant, {
    nickname: 'by-trino',
    kind: 'alpha',
    endpoint: upstream.url.replace(/\/$/, ''),
    config: {
      ...{ warehouse: 'dev', credential: 'a:b', read_engine: 'trino' },
      ...{ 'trino.uri': trino.url, 'trino.catalog': 'iceberg' },
    },
  })
  expect(await rowsOf('SELECT id FROM people', [], [], 'by-trino')).toEqual([[7n], [8n]])
  const [asked] = trino.seen
  expect(asked?.headers.get('x-trino-user')).toBe('ada')
  expect(asked?.body).toContain(`"iceberg"."hr"."people" FOR VERSION AS OF ${snapshots[1]}`)
  expect(asked?.body).toContain("'eu'")
  const { items } = await listUsage(store, owner.tenant, {}, { limit: 1 })
  expect(items[0]).toMatchObject({ engine: 'trino', catalog: 'by-trino', rowsOut: 2, bytesScanned: 4096 })
})

test('a pinned table is read as of its pin', async () => {
  const { store, owner } = service
  const pin = { snapshotId: snapshots[0] ?? 0n, schemaId: 0n, catalog: 'lake' }
  await pinTable(store, owner.tenant, { table: people, actor: actorOf('stella'), atMs: 0 }, pin)
  expect(await rowsOf('SELECT count(*) FROM people', ['officer'])).toEqual([[3n]])
})
