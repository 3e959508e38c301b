/**
 * Clients of the whole service that disconnect at random moments of their queries leave nothing behind. `bun test`
 * sends one query of each kind; `test:soak` sends as many as its time allows, and watches memory.
 */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from '../../../bench/statistics.ts'
import { blockList, parseCidr } from '../../../src/base/cidr.ts'
import { credentialScope } from '../../../src/engine/duckdb/credential-scope.ts'
import { type DuckdbHost, startDuckdb } from '../../../src/engine/duckdb/duckdb-host.ts'
import { totalUsage } from '../../../src/store/query/usage.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { eventually } from '../../support/eventually.ts'
import { type Lake, startLake } from '../../support/lake.ts'
import { ordersTable } from '../../support/lake-tables.ts'
import { frames, spoken, WireClient } from '../../support/wire-client.ts'

const seconds = Number(process.env.SVC_TEST_SOAK_SECONDS ?? 0)
setDefaultTimeout((seconds * 2 + 60) * 1_000)

const seed = Number(process.env.SVC_TEST_SEED ?? 20_260_101)
const clientsAtOnce = 100
const queriesMin = clientsAtOnce
const turnsMax = 200
/** Between half of the time and all of it: garbage that is still to be collected, not a leak. */
const growthBytesMax = 200_000_000
const cancelRequest = 80_877_102

const point = 'SELECT id, email FROM sales.orders WHERE id = 18'
const rows = 'SELECT a.id, b.email FROM sales.orders a, sales.orders b WHERE b.qty < 0'
/** Hours of work that give one row at their end. */
const endless = `SELECT count(*) FROM sales.orders a, sales.orders b, sales.orders c, sales.orders d
  WHERE a.qty + b.qty + c.qty + d.qty = 1000000`

interface Subject {
  readonly lake: Lake
  readonly random: () => number
}

/** How a client asks, and how it leaves. */
const moments: readonly ((subject: Subject, client: WireClient) => Promise<void>)[] = [
  async function stays(_, client) {
    expect((await client.ask(frames.query(point))).slice(1, 3)).toEqual([
      'D 18|xxxxnn@xxxxxxx.xxx',
      'C SELECT 1',
    ])
    client.close()
  },
  async function leavesAtOnce(subject, client) {
    client.send(frames.query(pick(subject, [point, rows, endless])))
    client.vanish()
  },
  async function leavesSoon(subject, client) {
    client.send(frames.query(pick(subject, [point, rows, endless])))
    await turns(subject)
    client.vanish()
  },
  async function leavesAmidRows(subject, client) {
    client.send(frames.query(rows))
    await client.bytes(1 + Math.floor(subject.random() * 100_000))
    client.vanish()
  },
  async function stopsReadingAndLeaves(subject, client) {
    client.send(frames.query(rows))
    await client.bytes(1)
    client.pause()
    await turns(subject)
    client.vanish()
  },
  async function leavesASuspendedPortal(subject, client) {
    client.send(frames.parse(rows), frames.bind(), frames.execute('', 10), frames.flush())
    await client.until('s')
    await turns(subject)
    client.vanish()
  },
  async function leavesAnOpenCursor(_, client) {
    await client.ask(frames.query(`BEGIN; DECLARE c CURSOR FOR ${rows}; FETCH 5 FROM c`))
    client.vanish()
  },
  async function cancels({ lake, random }, client) {
    const text = pick({ random }, [rows, endless])
    client.send(frames.query(text))
    let isAnswered = false
    const answered = client.until('Z').then((answers) => {
      isAnswered = true
      return answers
    })
    // One that comes before the statement has begun cancels nothing.
    while (!isAnswered) await cancel(lake, client)
    const ends = (await answered).map(spoken).filter((answer) => /^[CE]/.test(answer))
    expect(ends).toEqual([expect.stringMatching(text === rows ? /^E 57014|^C SELECT/ : /^E 57014/)])
    client.close()
  },
]

function pick<T>({ random }: Pick<Subject, 'random'>, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T
}

/** Lets the service go on for a while, which ends at a random place of its work. */
async function turns({ random }: Subject): Promise<void> {
  for (let left = Math.floor(random() * turnsMax); left > 0; left--)
    await new Promise((resolve) => setImmediate(resolve))
}

function port(lake: Lake): number {
  return Number(lake.restricted.PGPORT)
}

function logIn(lake: Lake): Promise<WireClient> {
  const { PGUSER, PGPASSWORD, PGDATABASE } = lake.restricted
  return WireClient.logIn({ port: port(lake) }, { user: PGUSER, database: PGDATABASE, password: PGPASSWORD })
}

async function cancel(lake: Lake, { processId, key }: WireClient): Promise<void> {
  const canceller = await WireClient.connect({ port: port(lake) })
  const id = Buffer.alloc(4)
  id.writeInt32BE(processId)
  canceller.send(frames.packet(cancelRequest, Buffer.concat([id, key])))
  // The server closes once it has passed the request on.
  await canceller.bytes(1)
}

async function startHost(folder: string): Promise<DuckdbHost> {
  const memory = 256 * 1024 * 1024
  return await startDuckdb({
    folder,
    threads: 2,
    memoryBytesMax: memory,
    spillBytesMax: memory,
    cacheBytesMax: memory,
    placesMax: 4,
    queueMax: clientsAtOnce,
    runMs: 600_000,
    poolThreads: 16,
  })
}

function settledRss(): number {
  for (let round = 0; round < 3; round++) Bun.gc(true)
  return process.memoryUsage.rss()
}

test(`${clientsAtOnce} clients that vanish leave no query, no connection and no memory behind (seed ${seed})`, async () => {
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'covenant-vanish-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const host = await startHost(join(folder, 'engine'))
  const cidr = parseCidr('127.0.0.0/8')
  const rules = { ranges: blockList(cidr === undefined ? [] : [cidr]), hosts: new Set<string>() }
  const metrics = createMetrics()
  const lake = stack.use(
    await startLake({
      metrics,
      tables: [ordersTable],
      engines: new Map([
        [
          'duckdb',
          {
            engine: async (tenant, credential) =>
              host.engine(await credentialScope(tenant, credential, rules)),
            close: () => host.close(),
          },
        ],
      ]),
    }),
  )
  const startMs = performance.now()
  const elapsed = () => (performance.now() - startMs) / (seconds * 1_000)
  const random = seededRandom(seed)
  let queries = 0
  let rssAtHalf: number | undefined
  await Promise.all(
    Array.from({ length: clientsAtOnce }, async () => {
      while (queries < queriesMin || elapsed() < 1) {
        queries++
        if (seconds > 0 && elapsed() > 0.5) rssAtHalf ??= settledRss()
        await pick({ random }, moments)({ lake, random }, await logIn(lake))
      }
    }),
  )

  const connected = async () => (await metrics.pgwireConnections.get()).values.map(({ value }) => value)
  await eventually(async () => {
    const { running, waiting } = host.load()
    return running + waiting === 0 && (await connected()).every((count) => count === 0)
  })
  expect(await connected()).toEqual([0])
  // What left counts as cancelled, or was done by then: nothing failed of it.
  const { items } = await totalUsage(lake.store, lake.tenant, {}, 'outcome', {})
  expect(items.map(({ key }) => key)).toEqual(['cancelled', 'completed'])
  const last = await logIn(lake)
  expect(await last.ask(frames.query(point))).toContain('D 18|xxxxnn@xxxxxxx.xxx')
  last.close()
  console.log(`${queries} queries in ${Math.round((performance.now() - startMs) / 1000)} s`)
  if (rssAtHalf !== undefined) expect(settledRss() - rssAtHalf).toBeLessThan(growthBytesMax)
})
