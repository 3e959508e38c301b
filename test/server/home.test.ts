/** The first page: it leads to what is there, without scripts, and tells nothing that is secret. */

import { expect, test } from 'bun:test'
import { version } from '../../package.json'
import { homeRoutes } from '../../src/server/home.ts'
import { opsRoutes } from '../../src/server/ops.ts'

const passes = async () => true
const ops = opsRoutes({ healthy: passes, writable: passes, journaling: passes, ready: () => ({}) })
const routes = homeRoutes().use(ops)
const get = (path: string) => routes.handle(new Request(`http://localhost${path}`))

test('the first page names the version, and each of its links answers', async () => {
  const answer = await get('/')
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  const text = await answer.text()
  expect(text).toContain(`Covenant ${version}`)
  expect(text).not.toMatch(/<(script|style|img|link)/)
  const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, path = '']) => path)
  expect(links).toContain('/api/v1/openapi.json')
  for (const path of links.filter((one) => one !== '/api/v1/openapi.json'))
    expect([path, (await get(path)).status]).toEqual([path, 200])
})

test('the version is that of the package', async () => {
  expect(await (await get('/version')).json()).toEqual({ name: 'covenant', version })
})
