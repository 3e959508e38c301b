/** The documentation as pages: every page and picture is there, links between them work, and nothing else is read. */

import { expect, test } from 'bun:test'
import { Glob } from 'bun'
import { documentationRoutes } from '../../src/server/documentation.ts'

const routes = documentationRoutes()
const get = (path: string) => routes.handle(new Request(`http://localhost${path}`))
const sources = [...new Glob('**/*.md').scanSync(new URL('../../docs', import.meta.url).pathname)].sort()

test('the list leads to every page of the sources', async () => {
  const text = await (await get('/docs/')).text()
  const listed = [...text.matchAll(/href="\/docs\/([^"]+\.md)"/g)].map(([, path = '']) => path)
  expect(listed).toEqual(sources)
  expect(sources.length).toBeGreaterThan(50)
})

test('every page is there, without a script, and so is every page and picture that it names', async () => {
  const ids = new Map<string, ReadonlySet<string>>()
  const texts = new Map<string, string>()
  for (const path of sources) {
    const answer = await get(`/docs/${path}`)
    expect([path, answer.status]).toEqual([path, 200])
    const text = await answer.text()
    expect(text).not.toMatch(/<script|<iframe| on\w+="/)
    texts.set(path, text)
    ids.set(path, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)))
  }
  const broken: string[] = []
  for (const [path, text] of texts)
    for (const [, href = ''] of text.matchAll(/(?:href|src|srcset)="([^"]+)"/g)) {
      const { origin, pathname, hash } = new URL(
        href.replaceAll('&amp;', '&'),
        `http://localhost/docs/${path}`,
      )
      if (origin !== 'http://localhost' || pathname === '/') continue
      const target = pathname.slice('/docs/'.length)
      if ((await get(pathname)).status !== 200) broken.push(`${path}: ${href}`)
      else if (hash !== '' && ids.get(target)?.has(decodeURIComponent(hash.slice(1))) === false)
        broken.push(`${path}: ${href}`)
    }
  expect(broken).toEqual([])
})

test('a page is text of the sources, and a link that leaves the folder is text, too', async () => {
  const text = await (await get('/docs/container.md')).text()
  expect(text).toContain('<h1 id="container-image">')
  expect(text).toContain('<a href="compose.md">With Compose</a>')
  expect(text).not.toContain('CHANGELOG.md"')
})

test('nothing outside of the folder is read, however it is asked for', async () => {
  for (const path of [
    '../package.json',
    '%2e%2e/package.json',
    '..%2fpackage.json',
    'no-such.md',
    'images',
    'x%00.md',
  ]) {
    const answer = await routes.handle(new Request(`http://localhost/docs/${path}`))
    expect([path, answer.status]).toEqual([path, 404])
  }
})
