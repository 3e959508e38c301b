/** The baseline poller: bounded rounds, conditional loads, and upstreams that fail. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { SnapshotPoller } from '../../src/detection/poll-snapshots.ts'
import {
  putCatalogCredential,
  removeCatalogCredential,
} from '../../src/store/catalog-credential/catalog-credentials.ts'
import { listRuns } from '../../src/store/detection/run-list.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { countStatements } from '../support/counted-store.ts'
import { type DetectionService, startDetectionService } from '../support/detection.ts'

setDefaultTimeout(300_000)

let d: DetectionService
beforeAll(async () => {
  d = await startDetectionService()
}, 300_000)
afterAll(() => d[Symbol.asyncDispose]())

const never = new AbortController().signal
const pollerOf = (tablesMax: number, requestMs = 10_000, tenantMs = 30_000, store = d.service.store) => {
  const { metrics, app } = d.service
  const { catalogs, log, commits } = app.gateway
  const parts = { store, metrics, log, catalogs, addressRules: catalogs.options.addressRules, commits }
  return new SnapshotPoller(parts, app.detection.queue, () => {}, {
    tablesMax,
    rowsMax: 2,
    requestMs,
    tenantMs,
    tenantsMax: 2,
  })
}
const tables = async () =>
  (await listRuns(d.service.store, d.service.owner.tenant, { limit: 1000 })).items
    .map(({ table }) => table?.name)
    .sort()
const loads = () => {
  const { load = 0, 'conditional-load': conditional = 0 } = d.service.catalog.faults.counts as Record<
    string,
    number
  >
  return [load, conditional] as const
}

test('finds tables of a namespace that the credential names, and loads them conditionally from then on', async () => {
  const poller = pollerOf(100)
  await poller.poll(never)
  expect(await tables()).toEqual(['orders', 'people'])
  const [loaded, conditional] = loads()
  await poller.poll(never)
  expect(loads()).toEqual([loaded, conditional + 2])
  expect(await tables()).toEqual(['orders', 'people'])
})

test('does a bounded number of tables in one round and goes on with the next', async () => {
  const { catalog, store, owner } = d.service
  const { commitPeople } = d
  const poller = pollerOf(1)
  const { metadataLocation } = await commitPeople([{ rows: [] }], 'catalog')
  const known = async () =>
    (await listRuns(store, owner.tenant, { limit: 1000 })).items.some(
      (run) => run.metadataLocation === metadataLocation,
    )
  expect(await known()).toBe(false)
  for (let round = 0; round < 3 && !(await known()); round++) await poller.poll(never)
  expect(await known()).toBe(true)
  expect(catalog.url).toStartWith('http')
})

test('an upstream that is gone keeps neither the others nor the audit log from being looked at', async () => {
  const { store, owner } = d.service
  await putCatalogCredential(store, owner.tenant, {
    nickname: 'aaa-gone',
    kind: 'alpha',
    endpoint: 'http://127.0.0.1:9',
    config: { warehouse: 'x', namespaces: ['sales'] },
  })
  const { metadataLocation } = await d.commitPeople([{ rows: [] }], 'gateway')
  await pollerOf(100).poll(never)
  const { items } = await listRuns(store, owner.tenant, { limit: 1000 })
  expect(items.find((run) => run.metadataLocation === metadataLocation)).toMatchObject({
    table: { name: 'people' },
  })
})

/** Polls an upstream of its own once, and takes it away again. */
async function withUpstream(
  namespaces: readonly string[],
  listTables: (namespace: string) => Response | Promise<Response>,
  work: (asked: string[]) => Promise<void>,
): Promise<void> {
  const asked: string[] = []
  const server = Bun.serve({
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url)
      const namespace = /\/namespaces\/([^/]+)\/tables$/.exec(pathname)?.[1]
      if (namespace === undefined) return Response.json({ defaults: {}, overrides: {} })
      asked.push(namespace)
      return listTables(namespace)
    },
  })
  const { store, owner } = d.service
  const nickname = 'aaa-own'
  await putCatalogCredential(store, owner.tenant, {
    nickname,
    kind: 'alpha',
    endpoint: `http://127.0.0.1:${server.port}`,
    config: { warehouse: 'x', namespaces },
  })
  try {
    await work(asked)
  } finally {
    await removeCatalogCredential(store, owner.tenant, nickname)
    await server.stop(true)
  }
}

test('an upstream that lists pages without end is left to the next round', async () => {
  let pages = 0
  const endless = () => Response.json({ identifiers: [], 'next-page-token': String(++pages) })
  await withUpstream(['a'], endless, async (asked) => {
    const poller = pollerOf(10)
    await poller.poll(never)
    expect(asked.filter((one) => one === 'a').length).toBeLessThanOrEqual(10)
  })
})

test('an upstream that hangs has a bounded share of a round, and the next goes on after it', async () => {
  const namespaces = Array.from({ length: 50 }, (_, index) => `n${String(index).padStart(2, '0')}`)
  await withUpstream(
    namespaces,
    () => new Promise<Response>(() => {}),
    async (asked) => {
      const poller = pollerOf(100, 100, 250)
      await poller.poll(never)
      const first = asked.splice(0)
      expect(first.length).toBeLessThan(10)
      await poller.poll(never)
      expect(asked.filter((one) => first.includes(one))).toEqual([])
      expect(asked.length).toBeGreaterThan(0)
    },
  )
})

test('tenants whose upstreams hang wait for each other, and nobody waits for all of them', async () => {
  const { store } = d.service
  const asked: string[] = []
  const server = Bun.serve({
    port: 0,
    fetch(request) {
      const [, name = '', , ...rest] = new URL(request.url).pathname.split('/')
      if (rest[0] === 'config') return Response.json({ defaults: {}, overrides: {} })
      asked.push(name)
      return name === 'quick' ? Response.json({ identifiers: [] }) : new Promise<Response>(() => {})
    },
  })
  const hanging = ['h1', 'h2', 'h3', 'h4', 'h5']
  for (const name of ['quick', ...hanging]) {
    const { id } = await createTenant(store, { name })
    const endpoint = `http://127.0.0.1:${server.port}/${name}`
    await putCatalogCredential(store, id, {
      nickname: 'own',
      kind: 'alpha',
      endpoint,
      config: { endpoint, warehouse: 'x', namespaces: [...'abcdefghijklmnopqrst'] },
    })
  }
  const poller = pollerOf(100, 600, 1_000)
  await poller.poll(never)
  const rounds: string[][] = []
  for (let round = 0; round < 3; round++) {
    asked.length = 0
    await poller.poll(never)
    rounds.push([...new Set(asked)])
  }
  await server.stop(true)
  for (const round of rounds) {
    expect(round[0]).toBe('quick')
    expect(round.length).toBeLessThanOrEqual(3)
  }
  expect([...new Set(rounds.flat())].sort()).toEqual([...hanging, 'quick'])
})

test('stops when its replica lock is lost', async () => {
  const lost = AbortSignal.abort(new Error('lost'))
  expect(
    await pollerOf(1)
      .poll(lost)
      .catch((thrown: Error) => thrown.message),
  ).toBe('lost')
})

test('a tenant without catalogs and without commits costs a round two statements, which write nothing', async () => {
  const counted = countStatements()
  const poller = pollerOf(100, 10_000, 30_000, counted.wrap(d.service.store))
  const statementsOfRound = async () => {
    counted.take()
    await poller.poll(never)
    return counted.take()
  }
  await poller.poll(never)
  const before = await statementsOfRound()
  const idle = []
  for (const name of ['idle-1', 'idle-2', 'idle-3'])
    idle.push((await createTenant(d.service.store, { name })).id)
  await poller.poll(never)
  expect((await statementsOfRound()) - before).toBe(2 * idle.length)
  for (const tenant of idle) {
    const text = 'select 1 from svc.detection_cursor where tenant_id = $1'
    expect(await d.service.store.tenantQuery(tenant, text, [tenant])).toEqual([])
  }
})
