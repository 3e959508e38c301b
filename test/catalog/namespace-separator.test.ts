/** The separator of namespace levels in a path is the one that the upstream's configuration names. */

import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { openTestCatalog, rejection } from './upstream.ts'

let overrides: Record<string, string> = {}
const paths: string[] = []
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request) {
    const path = request.url.slice(new URL(request.url).origin.length)
    if (path.startsWith('/v1/config')) return Response.json({ defaults: {}, overrides })
    paths.push(path)
    return Response.json(
      { error: { message: 'Table does not exist: a.b.t', type: 'x', code: 404 } },
      { status: 404 },
    )
  },
})
afterAll(() => server.stop(true))
beforeEach(() => {
  paths.length = 0
  overrides = {}
})

const open = () => openTestCatalog(`http://127.0.0.1:${server.port}`, { kind: 'alpha' })
const table = { namespace: ['a', 'b'], name: 't' }

describe('levels of a namespace', () => {
  test('are joined by U+001F where the upstream names no separator', async () => {
    await rejection(open().loadTable(table))
    expect(paths).toEqual(['/v1/namespaces/a%1Fb/tables/t'])
  })

  test('are joined as the upstream says, in the path and in the parameter parent only', async () => {
    overrides = { 'namespace-separator': '%2E' }
    const catalog = open()
    await rejection(catalog.loadTable(table, { snapshots: 'refs' }))
    const subject = 'the namespaces'
    const query = { parent: 'a\u001fb', pageToken: 'x\u001fy' }
    await rejection(catalog.forward({ method: 'GET', path: ['namespaces'], query, mutates: false, subject }))
    expect(paths).toEqual([
      '/v1/namespaces/a%2Eb/tables/t?snapshots=refs',
      '/v1/namespaces?parent=a%2Eb&pageToken=x%1Fy',
    ])
  })

  test.each(['/', '%2F', '..', 'x', '%41', '%2e%2e', ''])('are never joined by %j', async (separator) => {
    overrides = { 'namespace-separator': separator }
    expect(await rejection(open().loadTable(table))).toMatchObject({ kind: 'upstream_failed' })
    expect(paths).toEqual([])
  })
})

test('what the upstream says of a missing table is passed on word for word', async () => {
  expect(await rejection(open().loadTable(table))).toMatchObject({
    code: 'ErrTableNotFound',
    publicMessage: 'Table does not exist: a.b.t',
  })
})
