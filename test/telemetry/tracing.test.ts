/** Traces of commits and queries: their stages, their context in and out, and what they must not say. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { setProperties } from '../../demo/commits.ts'
import { commitStages } from '../../src/gateway/base/stage-times.ts'
import { exchangeObserver } from '../../src/telemetry/exchange.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { activeSpan, parentInStatement, withinSpan } from '../../src/telemetry/tracing.ts'
import { answer, ask, finished, scriptTrino } from '../engine/trino/scripted-trino.ts'
import { type Lake, readAs, startLake } from '../support/lake.ts'
import { passOn } from '../support/recording-proxy.ts'
import { addTenant, commit, governOrders, startTestService, type TestService } from '../support/service.ts'
import { keepTraces, newTrace, shapeOf } from '../support/traces.ts'

setDefaultTimeout(300_000)

const traces = keepTraces()
let service: TestService
let lake: Lake
/** `traceparent` of each request to the catalog, and `tracestate` beside it. */
const seen: (string | null)[] = []
const states: (string | null)[] = []
let proxy: Bun.Server<undefined>
beforeAll(async () => {
  service = await startTestService({ tracer: traces.tracer })
  lake = await startLake({ tracer: traces.tracer })
  await governOrders(service, { id: 'all', definitionCel: "'k' in commit.updates[0].updates ? false : true" })
  proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      seen.push(request.headers.get('traceparent'))
      states.push(request.headers.get('tracestate'))
      return (await passOn(request, service.catalog.url, await request.bytes())).answer
    },
  })
})
afterAll(async () => {
  await lake[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
  await proxy.stop(true)
})

test('a commit is a trace with every stage, below the span of its client', async () => {
  const { traceId, traceparent } = newTrace()
  expect((await commit(service, setProperties({ a: '1' }), { headers: { traceparent } })).status).toBe(200)
  const spans = traces.of(traceId)
  const shape = shapeOf(spans)
  expect(shape).toContain('POST gateway < client')
  expect(shape).toContain('commit < POST gateway')
  for (const stage of commitStages) expect(shape).toContain(`${stage} < commit`)
  expect(shape).toContain('POST catalog < POST gateway')
  const found = spans.find(({ name }) => name === 'commit')
  expect(found?.attributes).toMatchObject({
    'covenant.tenant.id': service.owner.tenant,
    'covenant.outcome': 'approved',
  })
})

test('a denied commit is a trace that names its outcome and no error', async () => {
  const { traceId, traceparent } = newTrace()
  const denied = await commit(service, setProperties({ k: 'v' }), { headers: { traceparent } })
  expect(denied.status).toBe(403)
  const spans = traces.of(traceId)
  expect(spans.find(({ name }) => name === 'commit')?.attributes['covenant.outcome']).toBe('rejected')
  expect(spans.every(({ status }) => status.code === 0)).toBe(true)
  expect(spans.find(({ name }) => name === 'commit')?.attributes['covenant.commit.id']).toBe(
    denied.headers.get('x-svc-decision-id') ?? '',
  )
})

test('the catalog is asked within the trace of the client, and another tenant has a trace of its own', async () => {
  const { secret } = await addTenant(service.store, 'witness', `http://127.0.0.1:${proxy.port}`)
  const [mine, other] = [newTrace(), newTrace()]
  await commit(service, setProperties({ b: '1' }), { secret, headers: { traceparent: mine.traceparent } })
  await commit(service, setProperties({ b: '2' }), { headers: { traceparent: other.traceparent } })
  const ids = new Set(seen.flatMap((context) => (context === null ? [] : [context.split('-')[1]])))
  expect(ids).toEqual(new Set([mine.traceId]))
  const tenants = (traceId: string) =>
    new Set(traces.of(traceId).flatMap((span) => span.attributes['covenant.tenant.id'] ?? []))
  expect(tenants(mine.traceId)).not.toEqual(tenants(other.traceId))
  expect(tenants(other.traceId)).toEqual(new Set([service.owner.tenant]))
})

test('the state that vendors keep in the context goes on to the catalog unchanged', async () => {
  const { secret } = await addTenant(service.store, 'stateful', `http://127.0.0.1:${proxy.port}`)
  const { traceId, traceparent } = newTrace()
  const headers = { traceparent, tracestate: 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE' }
  await commit(service, setProperties({ c: '1' }), { secret, headers })
  // Requests in the background belong to no trace.
  const within = states.filter((_, index) => seen[index]?.split('-')[1] === traceId)
  expect(new Set(within)).toEqual(new Set([headers.tracestate]))
})

test('a query on the PostgreSQL wire is a trace with its stages, below the span that its comment names', async () => {
  const { traceId, traceparent } = newTrace()
  const rows = await readAs(
    lake.env,
    `select count(*) > 0 from sales.orders /*traceparent='${traceparent}'*/`,
  )
  expect(rows).toContain('D t')
  const spans = traces.of(traceId)
  expect(shapeOf(spans)).toEqual(
    [
      ...['load', 'open', 'run', 'record'].map((stage) => `${stage} < query`),
      ...shapeOf(spans).filter((line) => line.endsWith(' catalog < pgwire')),
      'pgwire < client',
      'query < pgwire',
    ].sort(),
  )
  expect(spans.find(({ name }) => name === 'query')?.attributes).toMatchObject({
    'covenant.surface': 'pgwire',
    'covenant.engine': 'duckdb',
    'covenant.outcome': 'completed',
    'covenant.rows': 1,
  })
})

test('a statement that is refused is traced with its SQLSTATE', async () => {
  const { traceId, traceparent } = newTrace()
  await readAs(lake.env, `select nothing_here from sales.orders /*traceparent='${traceparent}'*/`)
  const query = traces.of(traceId).find(({ name }) => name === 'query')
  expect(query?.attributes).toMatchObject({
    'covenant.outcome': 'refused',
    'db.response.status_code': '42703',
  })
})

test('an invalid context starts a trace of its own', async () => {
  const before = traces.text().length
  const answered = await commit(service, setProperties({ c: '1' }), { headers: { traceparent: '00-zz' } })
  expect(answered.status).toBe(200)
  expect(traces.text().length).toBeGreaterThan(before)
})

test('a client that wants no trace has none', async () => {
  const { traceId, traceparent } = newTrace()
  const quiet = traceparent.replace(/01$/, '00')
  expect((await commit(service, setProperties({ d: '1' }), { headers: { traceparent: quiet } })).status).toBe(
    200,
  )
  expect(traces.of(traceId)).toEqual([])
})

test('no span holds a secret, a principal, a text of a statement or a value', async () => {
  const { traceparent } = newTrace()
  const value = 'hidden-value-7f3a'
  await commit(service, setProperties({ note: value }), { sub: 'somebody', headers: { traceparent } })
  await readAs(
    lake.env,
    `select count(*) from sales.orders where email = '${value}' /*traceparent='${traceparent}'*/`,
  ).catch(() => {})
  const text = traces.text()
  for (const hidden of [
    value,
    service.owner.secret,
    's3cret',
    lake.env.PGPASSWORD,
    'select',
    'somebody',
    'sales',
    'Bearer',
  ])
    expect(text).not.toContain(hidden)
})

test('Trino is asked within the trace, in each request of a statement', async () => {
  const { traceId, traceparent } = newTrace()
  await using trino = scriptTrino([(one) => ({ ...answer(), nextUri: one.next(1) }), finished])
  const span = traces.tracer.start({ name: 'test', kind: 'server' }, { traceparent })
  await withinSpan(span, () => ask(trino.url, { observe: exchangeObserver(createMetrics(), 'trino') }))
  span.end()
  expect(trino.seen.length).toBeGreaterThan(1)
  for (const { headers } of trino.seen) expect(headers.get('traceparent')?.split('-')[1]).toBe(traceId)
})

test('without a tracer no context is sent', async () => {
  await using trino = scriptTrino([finished])
  await ask(trino.url, { observe: exchangeObserver(createMetrics(), 'trino') })
  expect(activeSpan()).toBeUndefined()
  for (const { headers } of trino.seen) expect(headers.has('traceparent')).toBe(false)
})

test.each([
  ["select 1 /*traceparent='00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'*/", true],
  ["/*action='x',traceparent='00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00'*/ select 1", true],
  ['select 1 /*traceparent=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01*/', false],
  ["select 1 /*traceparent='00-XY'*/", false],
])('reads the context of a statement as database clients write it: %s', (text, isThere) => {
  expect(parentInStatement(text) !== undefined).toBe(isThere)
})

// prom-client imports the interface @opentelemetry/api by itself, for exemplars.
test('what is off imports no module of the SDK of OpenTelemetry', async () => {
  const script = `await import(${JSON.stringify(new URL('../../src/app.ts', import.meta.url).href)})
    const loaded = Object.keys(require.cache)
    console.log(loaded.some((path) => path.endsWith('/src/telemetry/tracing.ts')))
    console.log(loaded.filter((path) => /@opentelemetry.(?!api)/.test(path)).length)`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' })
  expect((await child.stdout.text()).trim()).toBe('true\n0')
})
