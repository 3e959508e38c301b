/**
 * Two replicas on PostgreSQL while they are killed, stopped, paused and parted from database, catalog and disk at
 * random, catalog and sessions of the database are killed and clocks jump: every acknowledged change is audited once, each
 * row names the file that its own commit wrote, no intent stays open, and readiness says what is true.
 * `test:db` runs it for some seconds, with short leases. `test:soak` runs it as long as it is told, with the real ones.
 */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { UnsecuredJWT } from 'jose'
import {
  appendSnapshot,
  createTable,
  firstSnapshotId,
  orderFields,
  setProperties,
} from '../../demo/commits.ts'
import type { JsonObject } from '../../src/base/json.ts'
import { countIntents, intentTimes } from '../../src/store/commit/commit-intents.ts'
import { listIntents } from '../../src/store/commit/intent-settlements.ts'
import { putPolicy } from '../../src/store/policy/policies.ts'
import { type LoadTableResult, parseLoadTableResult } from '../../src/wire/iceberg/table-metadata.ts'
import { type Replica, startWorld, type World } from '../support/chaos-world.ts'
import { crashReport } from '../support/crash-report.ts'
import { eventually } from '../support/eventually.ts'
import { wrongFiles } from '../support/file-truth.ts'
import { generator } from '../support/generator.ts'
import { upstreamHeaders } from '../support/service.ts'
import { whyOpen } from '../support/why-open.ts'

const soakMs = Number(process.env.SVC_TEST_SOAK_SECONDS ?? 0) * 1000
const isLong = soakMs > 0
const seed = Number(process.env.SVC_TEST_SEED ?? 20_261_123)
const times = isLong ? intentTimes : { leaseMs: 15_000, upstreamMs: 15_000 }

setDefaultTimeout(soakMs + 900_000)

const tables = ['t1', 't2', 'guarded']

/** What clients were told, by commit id. */
interface Told {
  readonly accepted: Set<string>
  readonly denied: Set<string>
  /** Answers of 500 and above by replica, in order. */
  readonly failures: { readonly replica: Replica; readonly status: number; readonly text: string }[]
  count: number
}

interface Traffic {
  readonly world: World
  readonly random: () => number
  readonly told: Told
  /** Requests that wait for their answer. */
  readonly underWay: Set<symbol>
  stopped: boolean
  sequence: number
}

/** Sends through the load balancer. @returns the status; undefined where no answer came */
async function send(
  traffic: Traffic,
  method: string,
  path: string,
  body?: string,
): Promise<number | undefined> {
  const { world, random, told } = traffic
  const ready = world.replicas.filter((one) => one.ready)
  const from = ready.length > 0 ? ready : world.replicas
  const replica = from[Math.floor(random() * from.length)]
  if (replica === undefined) throw new Error('there are no replicas')
  const request = Symbol('request')
  traffic.underWay.add(request)
  try {
    const response = await fetch(new URL(`/v1/iceberg/main${path}`, replica.url()), {
      method,
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(120_000),
      headers: {
        'x-svc-session': world.owner.secret,
        authorization: `Bearer ${new UnsecuredJWT({ sub: 'spark' }).encode()}`,
      },
    })
    const text = await response.text()
    const { status } = response
    const ids = response.headers.get('x-svc-decision-id')?.split(', ') ?? []
    told.count++
    if (status < 300) for (const id of ids) told.accepted.add(id)
    if (status === 403) for (const id of ids) told.denied.add(id)
    if (status >= 500) told.failures.push({ replica, status, text })
    return status
  } catch {
    return undefined
  } finally {
    traffic.underWay.delete(request)
  }
}

/** Resolves once all requests that are under way now have ended, so that none is taken for one of the next fault. */
async function answered({ underWay }: Traffic): Promise<void> {
  const before = new Set(underWay)
  await eventually(() => underWay.isDisjointFrom(before))
}

/**
 * Sends one request after the other until one is not a success. What was created without an answer is not dropped,
 * because nothing would then show who created it, and its intent would wait for a person.
 */
async function sendInTurn(
  traffic: Traffic,
  requests: readonly (readonly [method: string, path: string, body?: string])[],
): Promise<void> {
  for (const [method, path, body] of requests) {
    const status = await send(traffic, method, path, body)
    if (status === undefined || status >= 300) return
  }
}

const tablePath = (name: string) => `/namespaces/sales/tables/${name}`
/** The body as a change of a transaction, with its integers as they are. */
const changeOf = (name: string, body: string) =>
  `{"identifier":{"namespace":["sales"],"name":"${name}"},${body.slice(1)}`

type Changes = readonly (readonly [table: string, body: string])[]

/** A transaction: atomic on the client surface, table by table on the literal path. */
function transact(traffic: Traffic, surface: '' | '/v1', changes: Changes): Promise<number | undefined> {
  const body = `{"table-changes":[${changes.map(([name, one]) => changeOf(name, one)).join(',')}]}`
  return send(traffic, 'POST', `${surface}/transactions/commit`, body)
}

/**
 * A commit that adds a snapshot to the table as it is now.
 * @param attempt a client that sends an append again keeps the id of its snapshot, and writes another manifest list
 */
async function appendTo({ world }: Traffic, name: string, number: number, attempt = 0): Promise<string> {
  const { metadata } = await loadTable(world, name)
  const current = metadata.get('current-snapshot-id')
  return appendSnapshot({
    snapshotId: firstSnapshotId + BigInt(number),
    parentId: typeof current === 'bigint' && current !== -1n ? current : undefined,
    sequenceNumber: Number(metadata.get('last-sequence-number') ?? 0) + 1,
    timestampMs: Date.now(),
    manifestList: `file:///demo/snap-${number}-${attempt}.avro`,
  })
}

/** One change of each kind; each gets a number that no other has. */
const kinds: readonly ((traffic: Traffic, number: number) => Promise<unknown>)[] = [
  (traffic, number) => send(traffic, 'POST', tablePath('orders'), setProperties({ [`p${number}`]: 'set' })),
  (traffic, number) => send(traffic, 'POST', tablePath('guarded'), setProperties({ [`p${number}`]: 'no' })),
  (traffic, number) =>
    transact(traffic, number % 2 ? '' : '/v1', [
      ['t1', setProperties({ [`p${number}`]: 't1' })],
      ['t2', setProperties({ [`p${number}`]: 't2' })],
    ]),
  async (traffic, number) => {
    const attempt = async (count: number) =>
      await transact(traffic, '/v1', [
        ['t1', setProperties({ [`p${number}try${count}`]: 't1' })],
        ['t2', await appendTo(traffic, 't2', number, count)],
      ])
    // Two at once, as where a proxy gives up on the first, and another once both have failed.
    const both = number % 2 ? [await attempt(0)] : await Promise.all([attempt(0), attempt(1)])
    if (both.every((status) => status === undefined || status >= 400)) await attempt(2)
  },
  async (traffic, number) => {
    await send(traffic, 'POST', tablePath('t1'), await appendTo(traffic, 't1', number))
  },
  async (traffic, number) => {
    const name = `made${number}`
    const moved = `${name}moved`
    const identifier = (table: string) => ({ namespace: ['sales'], name: table })
    const rename = JSON.stringify({ source: identifier(name), destination: identifier(moved) })
    await sendInTurn(traffic, [
      ['POST', '/v1/namespaces/sales/tables', createTable(name)],
      ['POST', '/v1/tables/rename', rename],
      ['DELETE', `/v1/namespaces/sales/tables/${moved}`],
    ])
  },
  async (traffic, number) => {
    const name = `n${number}`
    await sendInTurn(traffic, [
      ['POST', '/v1/namespaces', JSON.stringify({ namespace: [name], properties: {} })],
      ['DELETE', `/v1/namespaces/${name}`],
    ])
  },
]

/** Asks the catalog directly, again where a reused connection was just closed. */
async function loadTable({ catalog }: World, name: string): Promise<LoadTableResult> {
  return await eventually(async () => {
    try {
      const headers = await upstreamHeaders(catalog)
      const url = `${catalog.url}/v1/dev/namespaces/sales/tables/${name}`
      return parseLoadTableResult(await (await fetch(url, { headers })).bytes())
    } catch {
      return undefined
    }
  })
}

async function write(traffic: Traffic): Promise<void> {
  while (!traffic.stopped) {
    const number = ++traffic.sequence
    await kinds[Math.floor(traffic.random() * kinds.length)]?.(traffic, number)
    // A refused connection answers at once; no client asks as fast as that.
    await Bun.sleep(5)
  }
}

const failing = (replica: Replica, check: string) =>
  eventually(async () => (await replica.readiness())?.[check] === false)
const ready = (replica: Replica) =>
  eventually(async () => Object.values((await replica.readiness()) ?? { answers: false }).every(Boolean))

interface Fault {
  readonly name: string
  readonly run: (traffic: Traffic, replica: Replica) => Promise<void>
}

const faults: readonly Fault[] = [
  {
    name: 'kill',
    async run(_, replica) {
      replica.process().kill('SIGKILL')
      await replica.process().exited
      await replica.start()
    },
  },
  {
    name: 'stop',
    async run({ told }, replica) {
      const before = told.failures.length
      replica.process().kill('SIGTERM')
      await failing(replica, 'accepting')
      expect(await replica.process().exited).toBe(0)
      expect(told.failures.slice(before).filter((one) => one.replica === replica)).toEqual([])
      await replica.start()
    },
  },
  {
    name: 'pause',
    async run({ random }, replica) {
      replica.process().kill('SIGSTOP')
      await Bun.sleep(500 + random() * 2_500)
      replica.process().kill('SIGCONT')
      await ready(replica)
    },
  },
  {
    name: 'cut from the database',
    async run(_, replica) {
      replica.database.set('cut')
      await failing(replica, 'database')
      replica.database.set('pass')
      await ready(replica)
    },
  },
  {
    name: 'database hangs',
    async run(_, replica) {
      replica.database.set('hang')
      await failing(replica, 'database')
      replica.database.set('pass')
      await ready(replica)
    },
  },
  {
    name: 'cut from the catalog',
    async run({ world, random }) {
      world.upstream.set('cut')
      await Bun.sleep(500 + random() * 1_000)
      world.upstream.set('pass')
    },
  },
  {
    name: 'catalog killed',
    run: ({ world }) => world.restartCatalog(),
  },
  {
    name: 'database sessions killed',
    run: ({ world }) => world.endSessions(),
  },
  {
    name: 'clock jumps',
    run: async ({ random }, replica) => replica.setClock(Math.round((random() - 0.5) * 1_200_000)),
  },
  {
    name: 'journal disk full',
    async run(_, replica) {
      if (replica.disk === undefined) return
      replica.disk.fill(0)
      await failing(replica, 'journal')
      replica.disk.empty()
      await ready(replica)
    },
  },
]
/** The metadata files that the catalog made of a table, without the one of its creation. */
async function acceptedOf(world: World, name: string): Promise<readonly string[]> {
  const loaded = await loadTable(world, name)
  const log = (loaded.metadata.get('metadata-log') ?? []) as readonly JsonObject[]
  return [...log.map((entry) => String(entry.get('metadata-file'))), loaded.metadataLocation].slice(1)
}

async function prepare({ store, owner, catalog }: World): Promise<void> {
  const headers = await upstreamHeaders(catalog)
  for (const name of tables) {
    const body = createTable(name, orderFields, { 'write.metadata.previous-versions-max': '100000' })
    const made = await fetch(`${catalog.url}/v1/dev/namespaces/sales/tables`, {
      method: 'POST',
      headers,
      body,
    })
    expect(made.status).toBe(200)
  }
  const policy = { id: 'nobody', kind: 'write_acl', mode: 'enforce', name: 'nobody', message: '' } as const
  const guarded = { namespace: ['sales'], name: 'guarded' }
  await putPolicy(store, owner.tenant, guarded, { ...policy, definitionCel: 'false' })
}

if (process.env.SVC_TEST_DATABASE_URL === undefined) {
  test.skip('SVC_TEST_DATABASE_URL names no PostgreSQL: chaos with two replicas is not tested', () => {})
} else {
  test(`every acknowledged change is audited once while replicas, database, catalog and disk fail (seed ${seed})`, async () => {
    const random = generator(seed)
    await using world = await startWorld(times)
    await prepare(world)
    const told: Told = { accepted: new Set(), denied: new Set(), failures: [], count: 0 }
    const traffic: Traffic = { world, random, told, underWay: new Set(), stopped: false, sequence: 0 }
    const writing = Array.from({ length: 4 }, () => write(traffic))
    const untilMs = performance.now() + soakMs
    const seen: string[] = []
    while (seen.length < faults.length || performance.now() < untilMs) {
      // Each once, then at random.
      const fault = faults[seen.length < faults.length ? seen.length : Math.floor(random() * faults.length)]
      const replica = world.replicas[Math.floor(random() * world.replicas.length)]
      if (fault === undefined || replica === undefined) throw new Error('there is nothing to fail')
      const acknowledged = told.accepted.size
      await fault.run(traffic, replica)
      seen.push(`${fault.name} ${replica.name}`)
      await answered(traffic)
      // Traffic goes on between two faults.
      await eventually(() => told.accepted.size > acknowledged + 5)
    }
    traffic.stopped = true
    await Promise.all(writing)
    const failures = told.failures.length
    console.log(
      `seed ${seed}: ${seen.length} faults, ${told.count} answers, ${told.accepted.size} accepted, ${failures} of 500 and above`,
    )

    const settled = async () => (await countIntents(world.store)).open === 0
    const endedMs = performance.now()
    await eventually(async () => {
      if (await settled()) return true
      if (!isLong) for (const replica of world.replicas) replica.process().kill('SIGUSR2')
      await Bun.sleep(1_000)
      if (performance.now() < endedMs + leftMs) return false
      return (await settled()) || Promise.reject(new Error(await openIntents(world)))
    })

    const report = await crashReport(world.store, world.owner.tenant)
    const approved = new Set(report.approvedCommits)
    expect(approved.size).toBe(report.approvedCommits.length)
    expect([...told.accepted].filter((id) => !approved.has(id))).toEqual([])
    const rejected = new Set(report.rejectedCommits)
    expect([...told.denied].filter((id) => !rejected.has(id))).toEqual([])
    const truth = await wrongFiles(world.store, world.owner.tenant)
    expect(truth.wrong).toEqual([])
    const made = (await Promise.all(['orders', ...tables].map((name) => acceptedOf(world, name)))).flat()
    const audited = await world.store.tenantQuery<{ metadata_location: string }>(
      world.owner.tenant,
      `select metadata_location from svc.audit_log
       where decision = 'APPROVED' and action = 'update-table' and table_name in ('orders', 't1', 't2', 'guarded')`,
    )
    expect(audited.map((row) => row.metadata_location).toSorted()).toEqual(made.toSorted())
    for (const replica of world.replicas) expect(replica.log()).not.toContain('"kind":"internal"')
  })
}

/** Milliseconds after the traffic for which an intent may stay open: its lease, and runs of recovery. */
const leftMs = 120_000

/** What recovery says of the open intents, and what the replicas logged of them. */
async function openIntents({ store, owner, replicas }: World): Promise<string> {
  const { items } = await listIntents(store, owner.tenant, { limit: 100 })
  const lines = replicas.flatMap(({ name, log }) =>
    log()
      .split('\n')
      .filter((line) => items.some(({ intent }) => line.includes(intent.commitId)))
      .slice(-20)
      .map((line) => `${name} ${line}`),
  )
  return [`${items.length} intents stayed open`, await whyOpen(store, owner.tenant), ...lines].join('\n')
}
