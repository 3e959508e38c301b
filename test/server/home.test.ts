/** The first page: it leads to what is there, without scripts, and tells nothing that is secret. */

import { expect, test } from 'bun:test'
import { version } from '../../package.json'
import { apiViewerRoutes } from '../../src/server/api-viewer.ts'
import { documentationRoutes } from '../../src/server/documentation/routes.ts'
import { homeRoutes } from '../../src/server/home.ts'
import { opsRoutes } from '../../src/server/ops.ts'

const passes = async () => true
const ops = opsRoutes({
  healthy: passes,
  writable: passes,
  journaling: passes,
  degraded: async () => false,
  ready: () => ({}),
})
const routes = homeRoutes().use(apiViewerRoutes()).use(documentationRoutes()).use(ops)
const get = (path: string) => routes.handle(new Request(`http://localhost${path}`))

test('the first page names the version, and each of its links answers', async () => {
  const answer = await get('/')
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  const text = await answer.text()
  expect(text).toContain(`Covenant ${version}`)
  expect(text).not.toMatch(/<(script|style|img|link)/)
  const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, path = '']) => path)
  for (const path of ['/docs/', '/api/docs', '/api/v1/openapi.json', '/healthz', '/readyz'])
    expect(links).toContain(path)
  for (const path of links.filter((one) => one !== '/api/v1/openapi.json'))
    expect([path, (await get(path)).status]).toEqual([path, 200])
})

test('the version is that of the package', async () => {
  expect(await (await get('/version')).json()).toEqual({ name: 'covenant', version })
})
