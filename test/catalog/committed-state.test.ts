/** The metadata file of a commit whose reply names none, as Nessie's does. */

import { expect, test } from 'bun:test'
import type { Catalog } from '../../src/catalog/catalog.ts'
import type { CatalogKind } from '../../src/core/catalog-kinds.ts'
import { openTestCatalog, startUpstream, table } from './upstream.ts'

const api = 'http://nessie.example/catalog/v1/trees/main/snapshot/n.t?format=iceberg'
const hash = '2ef8e27fe65bab10db33a024bcdaa509d61b4ddca76a19f6ad2a1f51a53263d0'
const named = { 'nessie.commit.ref': 'main', 'nessie.commit.id': hash }

function result(location: string, properties: object): string {
  const metadata = { 'format-version': 2, 'table-uuid': '9c12d441-03fe-4693-9a96-a0705ddf69c1', properties }
  return JSON.stringify({ 'metadata-location': location, metadata })
}

/** Commits once. @returns the location that the result names, and what reached the upstream */
async function located(
  kind: CatalogKind,
  committed: string,
  load: () => Response,
): Promise<{ readonly location: string; readonly body: string; readonly seen: readonly string[] }> {
  const upstream = startUpstream((request) => (request.method === 'POST' ? new Response(committed) : load()))
  const catalog: Catalog = openTestCatalog(upstream.url, { kind })
  try {
    const answer = await catalog.commitTable(table, Buffer.from('{"requirements":[],"updates":[]}'))
    const body = Buffer.from(answer.body).toString()
    return { location: answer.result.metadataLocation, body, seen: upstream.seen.slice(2) }
  } finally {
    catalog.close()
    await upstream.stop()
  }
}
const file = 's3://b/t/metadata/2.json'
const loads = () => new Response(result(file, {}))

test('a commit on beta that names an address is loaded once, at the state that it made', async () => {
  const committed = result(api, named)
  expect(await located('beta', committed, loads)).toEqual({
    location: file,
    // Echoed members stay unchanged.
    body: committed,
    seen: [`GET /v1/namespaces/n/tables/t%40main%23${hash}`],
  })
})

test('a branch is one path segment, whatever its name', async () => {
  const odd = { ...named, 'nessie.commit.ref': '../x?y/%2e' }
  const { seen } = await located('beta', result(api, odd), loads)
  expect(seen).toEqual([`GET /v1/namespaces/n/tables/t%40..%2Fx%3Fy%2F%252e%23${hash}`])
})

test.each([
  ['a commit that names its file', 'beta', result(file, named), file],
  ['an alpha catalog', 'alpha', result(api, named), api],
  ['an answer without a commit id', 'beta', result(api, { 'nessie.commit.ref': 'main' }), api],
  ['a commit id that is none', 'beta', result(api, { ...named, 'nessie.commit.id': '../../config' }), api],
] as const)('%s is not looked up', async (_what, kind, committed, location) => {
  expect(await located(kind, committed, loads)).toEqual({ location, body: committed, seen: [] })
})

test.each([
  ['fails', () => new Response('', { status: 500 })],
  ['is refused', () => new Response('', { status: 401 })],
  ['cannot be read', () => new Response('{"meta')],
])('a commit whose look-up %s is made all the same', async (_what, load) => {
  expect((await located('beta', result(api, named), load)).location).toBe(api)
})
