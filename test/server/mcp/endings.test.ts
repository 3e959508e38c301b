/** How a query over MCP ends when the client cancels or leaves, and when the service shuts down. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { EngineRun } from '../../../src/engine/engine.ts'
import { aborted } from '../../support/aborted.ts'
import { eventually } from '../../support/eventually.ts'
import { type Lake, startLake } from '../../support/lake.ts'
import { licenseForAll } from '../../support/license.ts'
import { longs, type ScriptedEngine, scriptedEngine } from '../../support/scripted-engine.ts'

setDefaultTimeout(120_000)

/** What the statement of a test does: it says that it has begun, and runs until it is stopped or `finish` is called. */
interface Slow {
  readonly started: Promise<EngineRun>
  readonly finish: () => void
}

function makeSlow(engine: ScriptedEngine): Slow {
  const started = Promise.withResolvers<EngineRun>()
  const end = Promise.withResolvers<void>()
  engine.rows = async function* (_, run) {
    started.resolve(run)
    await Promise.race([end.promise, aborted(run.signal)])
    run.signal.throwIfAborted()
    yield longs(1n)
  }
  return { started: started.promise, finish: end.resolve }
}

const engine = scriptedEngine()
let lake: Lake
beforeAll(async () => {
  lake = await startLake({
    env: { SVC_LICENSE: licenseForAll() },
    engines: new Map([['duckdb', { engine: async () => engine.engine, close: async () => {} }]]),
  })
}, 300_000)
afterAll(() => lake[Symbol.asyncDispose]())

const message = (version: '2026' | '2025', method: string) => ({
  ...{ jsonrpc: '2.0', id: 7, method },
  params: {
    ...{ name: 'query', arguments: { sql: 'select id from sales.orders' } },
    ...(version === '2026' && {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    }),
  },
})

async function ask(version: '2026' | '2025', signal?: AbortSignal, method = 'tools/call'): Promise<Response> {
  return await fetch(new URL('/mcp', lake.app.url), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${lake.env.PGPASSWORD}`,
      ...(version === '2026' && {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        'mcp-name': 'query',
      }),
    },
    body: JSON.stringify(message(version, method)),
    ...(signal && { signal }),
  })
}

/** The newest usage record. */
async function lastUsage(): Promise<Readonly<Record<string, unknown>> | undefined> {
  const response = await fetch(new URL('/api/v1/usage?limit=1', lake.app.url), {
    headers: { 'x-svc-session': lake.env.PGPASSWORD },
  })
  return ((await response.json()) as { items: readonly Readonly<Record<string, unknown>>[] }).items[0]
}

describe.each(['2026', '2025'] as const)('in the revision of %s', (version) => {
  test('a client that leaves stops its statement, which is on record as cancelled', async () => {
    const slow = makeSlow(engine)
    const client = new AbortController()
    const left = ask(version, client.signal).catch((thrown: unknown) => thrown)
    const run = await slow.started
    client.abort()
    expect(await left).toMatchObject({ name: 'AbortError' })
    await eventually(() => run.signal.aborted)
    await eventually(async () => (await lastUsage())?.outcome === 'cancelled')
    expect(await lastUsage()).toMatchObject({ surface: 'mcp', tool: 'query', outcome: 'cancelled' })
  })

  test('a statement that ends in time is answered', async () => {
    const slow = makeSlow(engine)
    const asked = ask(version)
    await slow.started
    slow.finish()
    const response = await asked
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('row_count')
  })

  test('a subscription is refused, so that no stream stays open', async () => {
    const response = await ask(version, AbortSignal.timeout(60_000), 'subscriptions/listen')
    expect(await response.text()).toContain('error')
  })
})

test('a shutdown lets a call end that is under way, and refuses new ones', async () => {
  const slow = makeSlow(engine)
  const asked = ask('2026')
  await slow.started
  const stopped = lake.app.stop()
  slow.finish()
  const response = await asked
  expect(response.status).toBe(200)
  expect(await response.text()).toContain('row_count')
  await stopped
  expect(await ask('2026').catch(() => 'refused')).toBe('refused')
})
