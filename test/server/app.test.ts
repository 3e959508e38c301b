import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { setProperties } from '../../demo/commits.ts'
import { startApp } from '../../src/app.ts'
import { Fault } from '../../src/base/fault.ts'
import { parseConfig } from '../../src/config.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { recordVerdict } from '../../src/store/commit/verdicts.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { approvedOf, intentOf } from '../support/commits.ts'
import { eventually } from '../support/eventually.ts'
import { recordingProxy } from '../support/recording-proxy.ts'
import { addTenant, commit, metric, startTestService, type TestService } from '../support/service.ts'
import { openTestStore } from '../support/store.ts'
import { frames, WireClient } from '../support/wire-client.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service[Symbol.asyncDispose]())

test('a start that cannot listen for XMLA leaves the PostgreSQL wire closed', async () => {
  const socket = { data() {} }
  const listen = () => Bun.listen({ hostname: '127.0.0.1', port: 0, socket })
  const taken = listen()
  const free = listen()
  free.stop(true)
  const env = {
    SVC_PGWIRE_ADDR: `127.0.0.1:${free.port}`,
    SVC_XMLA_ADDR: `127.0.0.1:${taken.port}`,
  }
  await expect(startTestService({ env })).rejects.toThrow('SVC_XMLA_ADDR: cannot listen')
  taken.stop(true)
  await expect(Bun.connect({ hostname: '127.0.0.1', port: free.port, socket })).rejects.toThrow()
})

describe('operational endpoints', () => {
  test('GET /healthz and /readyz answer 200 without a session', async () => {
    for (const path of ['/healthz', '/readyz'])
      await eventually(async () => (await fetch(new URL(path, service.app.url))).status === 200)
  })

  test('GET /readyz says what it looked at', async () => {
    const response = await eventually(async () => {
      const answer = await fetch(new URL('/readyz', service.app.url))
      return answer.status === 200 && answer
    })
    expect(await response.json()).toEqual({
      database: true,
      writes: true,
      journal: true,
      policies: true,
      detection: true,
      accepting: true,
      degraded: false,
    })
  })

  test('GET /metrics is served by the metrics listener alone, and holds the promised series', async () => {
    expect((await fetch(new URL('/metrics', service.app.url))).status).toBe(404)
    expect((await fetch(new URL('/healthz', service.app.metricsUrl))).status).toBe(404)
    const text = await (await fetch(new URL('/metrics', service.app.metricsUrl))).text()
    for (const series of [
      'commit_rejected_total{reason="policy_denied"} 0',
      'commit_rejected_total{reason="policy_engine_unavailable"} 0',
      'svc_gateway_commit_duration_ms',
      'svc_cypher_query_duration_seconds',
    ])
      expect(text).toContain(series)
  })

  test('another method on /metrics is 405', async () => {
    const response = await fetch(new URL('/metrics', service.app.metricsUrl), { method: 'POST' })
    expect({ status: response.status, allow: response.headers.get('allow') }).toEqual({
      status: 405,
      allow: 'GET',
    })
  })

  test('a commit is in the duration histogram, by outcome', async () => {
    await commit(service, setProperties({ a: '1' }))
    expect(await metric(service, 'svc_gateway_commit_duration_ms_count{outcome="approved"}')).toBe(1)
  })

  test('the trivial graph query is in the Cypher histogram', async () => {
    const before = await metric(service, 'svc_cypher_query_duration_seconds_count')
    await fetch(new URL('/healthz', service.app.url))
    expect(await metric(service, 'svc_cypher_query_duration_seconds_count')).toBe(before + 1)
  })
})

describe('GET /api/v1/openapi.json', () => {
  test('describes the resources under /api/v1, without a session', async () => {
    const response = await fetch(new URL('/api/v1/openapi.json', service.app.url))
    expect(response.status).toBe(200)
    const { paths } = (await response.json()) as {
      paths: Record<string, { get?: { parameters?: { name: string }[] } }>
    }
    const graph = paths['/api/v1/lineage/graph']?.get
    expect(graph?.parameters?.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['node', 'depth', 'direction']),
    )
    const runs = Object.keys(paths).filter((path) => path.startsWith('/api/v1/lineage/runs'))
    expect(runs).toHaveLength(2)
  })

  test('is one that generators take: each operation has an id of its own, each parameter of a path its place', async () => {
    const response = await fetch(new URL('/api/v1/openapi.json', service.app.url))
    const { paths } = (await response.json()) as {
      paths: Record<
        string,
        Record<string, { operationId: string; parameters?: { name: string; in: string }[] }>
      >
    }
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ ...operation, method, path })),
    )
    const ids = operations.map(({ operationId }) => operationId)
    expect(ids).toEqual([...new Set(ids)])
    for (const { path, parameters = [] } of operations) {
      const places = [...path.matchAll(/\{([^}]+)\}|\*/g)].map(([place, name]) => name ?? place)
      expect(parameters.filter((each) => each.in === 'path').map(({ name }) => name)).toEqual(places)
    }
    // What every method of a path is caught by says nothing of what is served there.
    expect(operations.filter(({ method }) => ['trace', 'options', 'head'].includes(method))).toEqual([])
  })
})

describe('every response', () => {
  test('carries a request id: the caller’s where it is fit for a log line, else a new one', async () => {
    const ask = async (id: string) =>
      (await fetch(new URL('/healthz', service.app.url), { headers: { 'x-request-id': id } })).headers.get(
        'x-request-id',
      )
    expect(await ask('build-7.2')).toBe('build-7.2')
    expect(await ask('{"level":"fatal"}')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('says that it must not be sniffed or stored', async () => {
    const response = await fetch(new URL('/nothing', service.app.url))
    expect(response.status).toBe(404)
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('cache-control')).toBe('no-store')
  })
})

describe('shutdown', () => {
  test('lets a commit under way finish, refuses new ones with 503 and Retry-After, and reports not ready', async () => {
    await using draining = await startTestService()
    const forwarded = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    await using proxy = await recordingProxy(draining.catalog.url, async (method, path) => {
      if (method !== 'POST' || !path.endsWith('/tables/orders')) return
      forwarded.resolve()
      await release.promise
    })
    const { secret } = await addTenant(draining.store, 'slow', proxy.url)
    const underWay = commit(draining, setProperties({ a: '1' }), { secret })
    await forwarded.promise
    const stopped = draining.app.stop()
    const refused = await commit(draining, setProperties({ b: '1' }))
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await fetch(new URL('/readyz', draining.app.url))).status).toBe(503)
    release.resolve()
    expect((await underWay).status).toBe(200)
    await stopped
  })
})

describe('the drain delay', () => {
  test('tells load balancers at once, and serves requests until it is over', async () => {
    const asked: number[] = []
    const over = Promise.withResolvers<void>()
    await using draining = await startTestService({
      env: { SVC_DRAIN_DELAY_SECONDS: '20' },
      sleep: async (ms) => {
        asked.push(ms)
        await over.promise
      },
    })
    const stopped = draining.app.stop()
    const ready = await fetch(new URL('/readyz', draining.app.url))
    expect(ready.status).toBe(503)
    expect(await ready.json()).toMatchObject({ accepting: false, database: true })
    expect((await fetch(new URL('/healthz', draining.app.url))).status).toBe(200)
    expect((await commit(draining, setProperties({ a: '1' }))).status).toBe(200)
    const client = await WireClient.connect({ port: draining.app.pgwirePort })
    client.send(frames.startup({ user: 'acme', database: 'main' }))
    expect((await client.until('R')).map(({ type }) => type)).toEqual(['R'])
    client.close()
    expect(asked).toEqual([20_000])
    over.resolve()
    await stopped
    expect(await fetch(new URL('/readyz', draining.app.url)).catch(() => 'closed')).toBe('closed')
  })
})

test('a service whose clock is an hour ahead of the database’s says so', async () => {
  await using ahead = await startTestService({ clock: { now: () => Date.now() + 3_600_000 } })
  await eventually(() =>
    ahead.log().includes('the clock of this machine differs from the clock of the database'),
  )
  expect(Math.round((await metric(ahead, 'svc_clock_offset_seconds')) / 60)).toBe(60)
})

describe('a database that hangs', () => {
  test('is not healthy, and the probes are answered all the same', async () => {
    await using hanging = await startTestService({
      wrapStore: (store) => ({ ...store, healthy: () => new Promise(() => {}) }),
    })
    const answers = await Promise.all(
      ['/healthz', '/readyz', '/healthz'].map((path) => fetch(new URL(path, hanging.app.url))),
    )
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503])
    expect(await answers[0]?.json()).toEqual({ database: false })
    await eventually(() => hanging.log().includes('the database does not answer'))
    expect((await fetch(new URL('/livez', hanging.app.url))).status).toBe(200)
  })

  test('does not have the process restarted, however long it is away', async () => {
    await using service = await startTestService()
    await service.store.close()
    const status = async (path: string) => (await fetch(new URL(path, service.app.url))).status
    const chart = new URL('../../deploy/helm/covenant/templates/statefulset.yaml', import.meta.url)
    const text = await Bun.file(chart).text()
    const [, path = '', period, failures] =
      /livenessProbe:\s+httpGet: \{ path: (\S+), [^}]*\}\s+periodSeconds: (\d+)\s+timeoutSeconds: \d+\s+failureThreshold: (\d+)/.exec(
        text,
      ) ?? []
    // Two minutes of what the chart asks, and as many more.
    expect(Number(period) * Number(failures)).toBeGreaterThanOrEqual(120)
    for (let time = 0; time < 2 * Number(failures); time++) expect(await status(path)).toBe(200)
    expect([await status('/healthz'), await status('/readyz')]).toEqual([503, 503])
  })
})

describe('a database that refuses writes', () => {
  test('is alive and not ready, and the log says why', async () => {
    await using full = await startTestService({
      wrapStore: (store) => ({
        ...store,
        checkWrites: async () => {
          throw new Fault('unavailable', 'The database is not available.', {
            cause: new Error('could not extend file: No space left on device'),
          })
        },
      }),
    })
    expect((await fetch(new URL('/healthz', full.app.url))).status).toBe(200)
    const ready = await fetch(new URL('/readyz', full.app.url))
    expect(ready.status).toBe(503)
    expect(await ready.json()).toMatchObject({ database: true, writes: false })
    await eventually(() => full.log().includes('the database refuses writes'))
    expect(full.log()).toContain('No space left on device')
  })
})

describe('reconciliation', () => {
  test('emits a breach once, as a row, a metric and a log line, for each side that drifts', async () => {
    await using drifting = await startTestService()
    const approved = await commit(drifting, setProperties({ a: '1' }))
    const id = approved.headers.get('x-svc-decision-id') ?? ''
    await drifting.app.jobs.run('reconcile')
    expect(await metric(drifting, 'svc_reconciliation_breaches_total')).toBe(0)

    await drifting.store.ownerTransaction(drifting.owner.tenant, (tx) =>
      tx.query(
        `delete from "ACTUAL_WRITE" where agtype_access_operator(variadic array[properties, '"id"'::agtype])
        = to_jsonb($1::text)::text::agtype`,
        [id],
      ),
    )
    await drifting.app.jobs.run('reconcile')
    await drifting.app.jobs.run('reconcile')
    expect(await metric(drifting, 'svc_reconciliation_breaches_total')).toBe(1)
    expect(drifting.log()).toContain('audit_without_edge')
    const rows = await drifting.store.tenantQuery<{ subject: string }>(
      drifting.owner.tenant,
      'select subject from svc.breach where resolved_at is null',
    )
    expect(rows.map((row) => row.subject)).toEqual([`ACTUAL_WRITE ${id}`])
  })

  test('a tenant that cannot be compared does not keep the others from it', async () => {
    await using one = await startTestService()
    const tenants = [one.owner.tenant, (await createTenant(one.store, { name: 'second' })).id].sort()
    const [broken, drifting] = tenants as [TenantId, TenantId]
    await recordVerdict(one.store, drifting, approvedOf(intentOf()))
    await one.store.ownerTransaction(drifting, (tx) => tx.query('delete from "ACTUAL_WRITE"'))
    await one.store.ownerTransaction(broken, (tx) => tx.query('alter table "Snapshot" rename to "Elsewhere"'))
    await one.app.jobs.run('reconcile')
    expect(await metric(one, 'svc_reconciliation_breaches_total')).toBe(1)
    expect(one.log()).toContain('a tenant could not be reconciled')
    expect(one.log()).toContain(broken)
  })
})

test('refuses to start with a catalog credential whose kind has only a stub adapter', async () => {
  await using store = await openTestStore()
  const { id } = await createTenant(store, { name: 'stubs' })
  await putCatalogCredential(store, id, {
    nickname: 'g',
    kind: 'gamma',
    endpoint: 'https://catalog.example',
    config: {},
  })
  const starting = startApp({
    config: parseConfig({
      SVC_LISTEN_ADDR: '127.0.0.1:0',
      SVC_METRICS_ADDR: '127.0.0.1:0',
      SVC_PGWIRE_ADDR: '127.0.0.1:0',
      SVC_XMLA_ADDR: '127.0.0.1:0',
      UV_THREADPOOL_SIZE: '16',
    }),
    store,
    metrics: createMetrics(),
    log: createLogger({ level: 'silent' }),
  })
  const refusal = await starting.then(
    () => 'started',
    (error: Error) => error.message,
  )
  expect(refusal).toContain('gamma')
})
