/**
 * The service in a container of 1 GiB, with more work than fits: it refuses some, and is not killed. It needs root and
 * control groups, and runs with `test:soak`.
 */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UnsecuredJWT } from 'jose'
import { startDevCatalog } from '../../demo/catalog/dev-catalog.ts'
import { limits } from '../../src/limits.ts'
import { openStore } from '../../src/store/store.ts'
import { commitOf, serveContained } from '../support/contained-service.ts'
import { eventually } from '../support/eventually.ts'
import { type ClientEnvironment, startLake } from '../support/lake.ts'
import { ordersTable } from '../support/lake-tables.ts'
import { makeMemoryGroup } from '../support/memory-group.ts'
import { storeTemplate, testStoreOptions } from '../support/store.ts'
import { frames, WireClient } from '../support/wire-client.ts'

const seconds = Number(process.env.SVC_TEST_SOAK_SECONDS ?? 0)
setDefaultTimeout((seconds * 2 + 240) * 1_000)

const MiB = 1024 * 1024
const containerBytes = 1024 * MiB
const commitsAtOnce = 64
const connections = 500
const rowCount = 2_000_000

const group = seconds > 0 ? makeMemoryGroup(containerBytes) : undefined
const why = seconds > 0 ? 'no control group can be made here' : 'it runs with test:soak'

/** A store with a governed table, and the principal that sees all of it. */
async function prepare(
  dataDirectory: string,
  catalogUrl: string,
  folder: string,
): Promise<ClientEnvironment> {
  const store = await openStore({
    ...testStoreOptions,
    dataDirectory: join(dataDirectory, 'store'),
    template: await storeTemplate(),
  })
  const lake = await startLake({
    store,
    catalog: { url: catalogUrl, warehouse: 'dev', folder },
    tables: [{ ...ordersTable, rowCount, fileCount: 4 }],
  })
  const { env } = lake
  await lake[Symbol.asyncDispose]()
  await store.close()
  return env
}

async function commit(url: string, secret: string, body: Uint8Array<ArrayBuffer>): Promise<Response> {
  return await fetch(new URL('/v1/iceberg/lake/namespaces/sales/tables/orders', url), {
    method: 'POST',
    body,
    headers: {
      'x-svc-session': secret,
      authorization: `Bearer ${new UnsecuredJWT({ sub: 'spark' }).encode()}`,
    },
  })
}

/** Everything that is held for requests. */
async function heldBytes(metricsUrl: string): Promise<number> {
  const text = await (await fetch(new URL('/metrics', metricsUrl))).text()
  const held = [...text.matchAll(/^svc_memory_held_bytes\{kind="(body|upstream|parse)"\} (\d+)$/gm)]
  expect(held.length).toBe(3)
  return held.reduce((sum, [, , bytes]) => sum + Number(bytes), 0)
}

const run = group === undefined ? test.skip : test
run(
  `${commitsAtOnce} commits of 16 MiB, ${connections} SQL clients and a scan at once in 1 GiB are refused in part, and nothing is killed${group === undefined ? `: ${why}` : ''}`,
  async () => {
    if (group === undefined) return
    await using stack = new AsyncDisposableStack()
    stack.defer(() => group[Symbol.dispose]())
    const folder = mkdtempSync(join(tmpdir(), 'covenant-container-'))
    stack.defer(() => rmSync(folder, { recursive: true, force: true }))
    const catalog = await startDevCatalog({ folder: join(folder, 'catalog') })
    stack.defer(() => catalog.stop())
    const dataDirectory = join(folder, 'data')
    const env = await prepare(dataDirectory, catalog.url, folder)
    const service = stack.use(await serveContained(group, { folder, dataDirectory }))
    console.log(`idle: ${Math.round(service.peakMiB())} MiB resident at most`)

    const logIn = () =>
      WireClient.logIn(
        { port: service.pgwirePort },
        { user: env.PGUSER, database: env.PGDATABASE, password: env.PGPASSWORD },
      )
    const clients = await Promise.all(Array.from({ length: connections }, logIn))
    stack.defer(() => {
      for (const client of clients) client.close()
    })
    console.log(`${connections} connections: ${Math.round(service.peakMiB())} MiB`)

    const scan =
      'SELECT region, count(*), sum(amount), count(DISTINCT email) FROM sales.orders GROUP BY region'
    // The engine holds its part of the budget from here on, so that commits cannot keep it from the scan.
    const [first = ''] =
      (await clients[0]?.ask(frames.query(scan)))?.filter((answer) => /^[CE] /.test(answer)) ?? []
    expect(first).toBe('C SELECT 4')
    console.log(`a scan: ${Math.round(service.peakMiB())} MiB`)
    const readers = clients.slice(1, 4)
    const open = `BEGIN; DECLARE c CURSOR FOR SELECT * FROM sales.orders; FETCH 5 FROM c`
    await Promise.all(readers.map((client) => client.ask(frames.query(open))))
    console.log(`and ${readers.length} open queries: ${Math.round(service.peakMiB())} MiB`)
    await Promise.all(readers.map((client) => client.ask(frames.query('ROLLBACK'))))
    const body = commitOf(limits.commitBodyBytesMax)
    const statuses: Record<number, number> = {}
    const endings: Record<string, number> = {}
    const until = performance.now() + seconds * 1_000
    do {
      const round = await Promise.all([
        ...Array.from({ length: commitsAtOnce }, async () => {
          const response = await commit(service.url, env.PGPASSWORD, body)
          const text = await response.text()
          expect([200, 503], text).toContain(response.status)
          if (response.status === 503) expect(response.headers.get('retry-after')).toBe('1')
          statuses[response.status] = (statuses[response.status] ?? 0) + 1
        }),
        ...clients.map(async (client, index) => {
          const answers = await client.ask(frames.query(index === 0 ? scan : `SELECT ${index}`))
          const said =
            answers.find((answer) => /^[CE] /.test(answer))?.replace(/^(E \w{5}).*/s, '$1') ?? 'nothing'
          endings[said] = (endings[said] ?? 0) + 1
        }),
        // Beside this much work the embedded store may be late, which a probe says by 503.
        fetch(new URL('/healthz', service.url)).then(({ status }) => expect([200, 503]).toContain(status)),
        heldBytes(service.metricsUrl),
      ])
      expect(round.length).toBe(commitsAtOnce + connections + 2)
      expect(service.isAlive()).toBe(true)
      console.log(
        `${Math.round(service.peakMiB())} MiB resident at most; commits ${JSON.stringify(statuses)}; statements ${JSON.stringify(endings)}`,
      )
    } while (performance.now() < until)

    expect(group.kills()).toBe(0)
    expect(statuses[200]).toBeGreaterThan(0)
    expect(statuses[503]).toBeGreaterThan(0)
    for (const ending of Object.keys(endings)) expect(ending).toMatch(/^C SELECT|^E 53[023]00|^E 58000/)
    await eventually(async () => (await heldBytes(service.metricsUrl)) === 0)
    await eventually(async () => (await fetch(new URL('/readyz', service.url))).ok)
  },
)
