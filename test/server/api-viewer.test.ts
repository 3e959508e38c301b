/** The page that shows the API: it loads its own files only, and its policy lets nothing else in. */

import { expect, test } from 'bun:test'
import { apiViewerRoutes } from '../../src/server/api-viewer.ts'

const routes = apiViewerRoutes()
const get = (path: string) => routes.handle(new Request(`http://localhost${path}`))

test('the page loads nothing from another host and has no script in it, and all that it loads is there', async () => {
  const answer = await get('/api/docs')
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  const text = await answer.text()
  const loaded = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path)
  expect(loaded.filter((path) => !path.startsWith('/api/'))).toEqual([])
  expect(text).not.toMatch(/<script>|<style| style=| on\w+=/)
  for (const path of loaded.filter((one) => one !== '/api/v1/openapi.json')) {
    const file = await get(path)
    expect([path, file.status]).toEqual([path, 200])
    expect(file.headers.get('content-type')).toMatch(/^text\/(css|javascript); charset=utf-8$/)
    expect((await file.bytes()).length).toBeGreaterThan(100)
  }
})

test('its policy allows its own scripts and styles, no inline ones, and no other host', async () => {
  const policy = (await get('/api/docs')).headers.get('content-security-policy') ?? ''
  const rules = new Map(policy.split('; ').map((rule) => [rule.split(' ')[0], rule.split(' ').slice(1)]))
  expect(rules.get('default-src')).toEqual(["'none'"])
  for (const name of ['script-src', 'style-src', 'connect-src']) expect(rules.get(name)).toEqual(["'self'"])
  expect(policy).not.toMatch(/unsafe|https?:|\*/)
  expect(rules.get('frame-ancestors')).toEqual(["'none'"])
})

test('the viewer reads the document of this service and sends it to nobody', async () => {
  const script = await (await get('/api/docs/start.js')).text()
  expect(script).toContain("url: '/api/v1/openapi.json'")
  expect(script).toContain('validatorUrl: null')
})
