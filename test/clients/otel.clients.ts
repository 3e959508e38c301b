/**
 * Traces through a real collector of OpenTelemetry: it takes what the service sends and sends it on as JSON, which is
 * what is compared. The machine's own Go builds the collector once into .cache/clients; its modules are pinned in go.sum.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setProperties } from '../../demo/commits.ts'
import { commitStages } from '../../src/gateway/base/stage-times.ts'
import { freePort } from '../support/free-port.ts'
import { readAs, startLake } from '../support/lake.ts'
import { commit, governOrders, startTestService } from '../support/service.ts'
import { newTrace } from '../support/traces.ts'
import { runClient, type ServerProcess, startServer } from './processes.ts'

interface OtlpSpan {
  readonly name: string
  readonly traceId: string
  readonly parentSpanId?: string
  readonly spanId: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
}
interface OtlpTraces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { key: string; value: { stringValue?: string } }[] }
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[]
  }[]
}

const received: OtlpTraces[] = []
let folder: string
let sink: Bun.Server<undefined>
let collector: ServerProcess
let endpoint: string

async function build(): Promise<string> {
  const sources = join(import.meta.dir, 'otelcol')
  const hasher = new Bun.CryptoHasher('sha256')
  for (const file of ['main.go', 'go.sum']) hasher.update(await Bun.file(join(sources, file)).text())
  const digest = hasher.digest('hex').slice(0, 12)
  const target = new URL(`../../.cache/clients/otelcol-${digest}/`, import.meta.url).pathname
  const program = join(target, 'otelcol')
  if (existsSync(program)) return program
  mkdirSync(target, { recursive: true })
  cpSync(sources, join(folder, 'source'), { recursive: true })
  const command = ['go', 'build', '-C', join(folder, 'source'), '-o', program, '.']
  const { exitCode, output } = await runClient('otelcol-build', command, { seconds: 1_500 })
  if (exitCode !== 0) throw new Error(`the collector was not built:\n${output.slice(-2000)}`)
  return program
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'covenant-otelcol-'))
  sink = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      if (request.method === 'POST') received.push((await request.json()) as OtlpTraces)
      return Response.json({})
    },
  })
  const address = `127.0.0.1:${freePort()}`
  endpoint = `http://${address}`
  const config = {
    receivers: { otlp: { protocols: { http: { endpoint: address } } } },
    exporters: {
      otlp_http: {
        endpoint: `http://127.0.0.1:${sink.port}`,
        encoding: 'json',
        compression: 'none',
        sending_queue: { enabled: false },
      },
    },
    service: {
      pipelines: { traces: { receivers: ['otlp'], exporters: ['otlp_http'] } },
      telemetry: { metrics: { level: 'none' } },
    },
  }
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify(config))
  collector = await startServer(
    'otelcol',
    [await build(), '--config', `file:${join(folder, 'config.yaml')}`],
    endpoint,
  )
}, 1_800_000)
afterAll(async () => {
  await collector?.[Symbol.asyncDispose]()
  await sink?.stop(true)
  await rm(folder, { recursive: true, force: true })
})

const spansOf = (traceId: string) =>
  received
    .flatMap(({ resourceSpans }) => resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)
    .filter((span) => span.traceId === traceId)
const settings = () => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
})

test('otel: the collector takes the trace of a commit with its stages, in order and below its client', async () => {
  const { traceId, traceparent } = newTrace()
  {
    await using service = await startTestService({ env: settings() })
    await governOrders(service, { id: 'all', definitionCel: 'true' })
    expect((await commit(service, setProperties({ a: '1' }), { headers: { traceparent } })).status).toBe(200)
  }
  const spans = spansOf(traceId)
  const names = spans.map(({ name }) => name)
  for (const stage of commitStages) expect(names).toContain(stage)
  const root = spans.find(({ name }) => name === 'POST gateway')
  expect(root).toMatchObject({ parentSpanId: traceparent.split('-')[2], kind: 2 })
  const found = spans.find(({ name }) => name === 'commit')
  expect(found?.parentSpanId).toBe(root?.spanId)
  for (const span of spans.filter(({ parentSpanId }) => parentSpanId === found?.spanId)) {
    expect(BigInt(span.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(found?.startTimeUnixNano ?? 0))
    expect(BigInt(span.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(found?.endTimeUnixNano ?? 0))
  }
  const attributes = received.flatMap(({ resourceSpans }) => resourceSpans)[0]?.resource.attributes ?? []
  const resource = Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]))
  expect(resource).toMatchObject({
    'service.name': 'covenant',
    'deployment.environment.name': 'test',
  })
}, 120_000)

test('otel: the collector takes the trace of a query', async () => {
  const { traceId, traceparent } = newTrace()
  {
    await using lake = await startLake({ env: settings() })
    const text = `select count(*) > 0 from sales.orders /*traceparent='${traceparent}'*/`
    expect(await readAs(lake.env, text)).toContain('D t')
  }
  const names = spansOf(traceId).map(({ name }) => name)
  for (const name of ['pgwire', 'query', 'load', 'open', 'run', 'record']) expect(names).toContain(name)
}, 120_000)
