/**
 * The conformance suite of the Model Context Protocol in both of its forms, MCP Inspector's command line, the TypeScript
 * clients of both packages and the Python client, against the real service. The first two send no credential of their
 * own, so a proxy adds one.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { type Lake, startLake } from '../support/lake.ts'
import { licenseForAll } from '../support/license.ts'
import { connectMcp, eras } from '../support/mcp.ts'
import { packageFolder } from './packages.ts'
import { runClient } from './processes.ts'

setDefaultTimeout(300_000)

let lake: Lake
let proxy: Bun.Server<undefined>
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  lake = stack.use(await startLake({ env: { SVC_LICENSE: licenseForAll() } }))
  proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const headers = new Headers(request.headers)
      headers.set('authorization', `Bearer ${lake.restricted.PGPASSWORD}`)
      const target = new URL(new URL(request.url).pathname, lake.app.url)
      // The host goes on unchanged: the suite sends others on purpose.
      const { method } = request
      return await fetch(target, {
        method,
        headers,
        ...(method === 'POST' && { body: await request.bytes() }),
      })
    },
  })
  stack.defer(() => proxy.stop(true))
})
afterAll(() => stack.disposeAsync())

const endpoint = () => `http://127.0.0.1:${proxy.port}/mcp`
const program = (path: string) => join(packageFolder('npm:mcp'), 'node_modules/@modelcontextprotocol', path)

test.each([
  ['2025', ['--spec-version', '2025-11-25']],
  ['2026', ['--requirements', '2026-07-28']],
] as const)('mcp: passes the conformance suite of %s but for its own fixtures', async (era, options) => {
  const expected = join(import.meta.dir, `mcp/expected-failures-${era}.yml`)
  const command = ['server', '--url', endpoint(), ...options, '--expected-failures', expected]
  const { exitCode, output } = await runClient(
    `mcp-conformance-${era}`,
    [process.execPath, program('conformance/dist/index.js'), ...command],
    { seconds: 240 },
  )
  expect({ exitCode, output: exitCode === 0 ? '' : output }).toEqual({ exitCode: 0, output: '' })
})

test('mcp: MCP Inspector lists the tools and calls one', async () => {
  const inspect = async (name: string, ...more: readonly string[]) =>
    await runClient(
      `mcp-inspector-${name}`,
      [
        ...[process.execPath, program('inspector/clients/launcher/build/index.js'), '--cli', endpoint()],
        ...['--transport', 'http', '--method', ...more],
      ],
      { seconds: 60 },
    )
  const listed = await inspect('list', 'tools/list')
  expect(listed).toMatchObject({ exitCode: 0, output: expect.stringContaining('"find_datasets"') })
  const called = await inspect(
    'call',
    'tools/call',
    '--tool-name',
    'explain_contract',
    '--tool-arg',
    'table=sales.orders',
  )
  expect(called).toMatchObject({ exitCode: 0, output: expect.stringContaining('mask-alphanum') })
})

test('mcp: the TypeScript clients list the tools and call one', async () => {
  for (const era of eras) {
    await using client = await connectMcp(era, lake.app.url, lake.restricted.PGPASSWORD)
    expect([era, client.revision]).toEqual([era, era === '2026' ? '2026-07-28' : '2025-11-25'])
    expect((await client.tools()).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['find_datasets', 'query']),
    )
    expect((await client.call('explain_contract', { table: 'sales.orders' })).structured).toMatchObject({
      applies_to_you: { masked: [{ column: 'email', action: 'mask-alphanum' }] },
    })
  }
})

test('mcp: the Python client lists the tools and calls one, with its own credential', async () => {
  const python = join(packageFolder('python:mcp'), 'bin/python')
  const { exitCode, output } = await runClient(
    'mcp-python',
    [
      python,
      join(import.meta.dir, 'mcp/client.py'),
      new URL('/mcp', lake.app.url).href,
      lake.restricted.PGPASSWORD,
    ],
    { seconds: 60 },
  )
  expect({ exitCode, output }).toMatchObject({ exitCode: 0 })
  expect(JSON.parse(output.trim().split('\n').at(-1) ?? '')).toMatchObject({
    tools: expect.arrayContaining(['find_datasets', 'query']),
    result: { applies_to_you: { masked: [{ column: 'email', action: 'mask-alphanum' }] } },
  })
})
