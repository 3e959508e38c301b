/** The headers of a credential: sent to the catalog, to no other origin, and never shown. */

import { expect, test } from 'bun:test'
import { openTestCatalog, rejection, table, tableResult } from './upstream.ts'

const value = 'hunter2-of-the-realm'
const token = () => Response.json({ access_token: 'upstream-token', token_type: 'bearer', expires_in: 3600 })

/** Notes the header and the accepted type of each request by path. */
function listening(answer: (path: string) => Response) {
  const seen: Record<string, [string | null, string | null]> = {}
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname } = new URL(request.url)
      seen[pathname] = [request.headers.get('polaris-realm'), request.headers.get('accept')]
      return answer(pathname)
    },
  })
  return { server, seen, url: server.url.href }
}

const catalogAnswers = (path: string) =>
  path === '/v1/config' ? Response.json({}) : path.endsWith('/tokens') ? token() : new Response(tableResult())

test('a header goes with every request to the catalog, for a token as well', async () => {
  const { server, seen, url } = listening(catalogAnswers)
  const catalog = openTestCatalog(url, { config: { credential: 'id:secret', 'header.Polaris-Realm': value } })
  expect((await catalog.loadTable(table)).status).toBe('loaded')
  const sent = [value, 'application/json'] as [string, string]
  expect(seen).toEqual({
    '/v1/oauth/tokens': sent,
    '/v1/config': sent,
    '/v1/namespaces/n/tables/t': sent,
  })
  catalog.close()
  await server.stop(true)
})

test('a header does not go to a token service of another origin', async () => {
  const upstream = listening(catalogAnswers)
  const tokens = listening(token)
  const catalog = openTestCatalog(upstream.url, {
    config: {
      credential: 'id:secret',
      'oauth2-server-uri': `${tokens.url}tokens`,
      'header.Polaris-Realm': value,
    },
  })
  expect((await catalog.loadTable(table)).status).toBe('loaded')
  expect(tokens.seen).toEqual({ '/tokens': [null, 'application/json'] })
  catalog.close()
  await upstream.server.stop(true)
  await tokens.server.stop(true)
})

test('a header that the catalog repeats in an error is taken out of it', async () => {
  const { server, url } = listening((path) =>
    path === '/v1/config'
      ? Response.json({})
      : Response.json(
          { error: { message: `no realm ${value} here`, type: 'NoSuchRealm', code: 404 } },
          { status: 404 },
        ),
  )
  const catalog = openTestCatalog(url, { config: { 'header.Polaris-Realm': value } })
  const thrown = await rejection(catalog.loadTable(table))
  expect(String(thrown)).toContain('no realm … here')
  expect(Bun.inspect(thrown)).not.toContain(value)
  catalog.close()
  await server.stop(true)
})

test('a catalog without a warehouse is asked for its configuration without one', async () => {
  const asked: string[] = []
  using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      asked.push(request.url.slice(new URL(request.url).origin.length))
      return request.url.includes('/config') ? Response.json({}) : new Response(tableResult())
    },
  })
  const catalog = openTestCatalog(server.url.href, { config: { warehouse: undefined } })
  expect((await catalog.loadTable(table)).status).toBe('loaded')
  expect(asked[0]).toBe('/v1/config')
  catalog.close()
})
