/** The documentation as pages: every page and picture is there, links between them work, and nothing else is read. */

import { expect, test } from 'bun:test'
import { Glob } from 'bun'
import { textOfHtml } from '../../../src/server/documentation/html.ts'
import { documentationRoutes } from '../../../src/server/documentation/routes.ts'

const routes = documentationRoutes()
const get = (path: string) => routes.handle(new Request(`http://localhost${path}`))
const sources = [...new Glob('**/*.md').scanSync(new URL('../../../docs', import.meta.url).pathname)].sort()

test('the first page leads by links to every page of the sources', async () => {
  const seen = new Set<string>()
  const open = ['/docs/']
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const text = await (await get(path)).text()
    for (const [, href = ''] of text.matchAll(/<a href="([^"#]+)/g)) {
      const { origin, pathname } = new URL(href, `http://localhost${path}`)
      if (origin !== 'http://localhost' || !pathname.endsWith('.md') || seen.has(pathname)) continue
      seen.add(pathname)
      open.push(pathname)
    }
  }
  const missed = sources.filter((path) => path !== 'README.md' && !seen.has(`/docs/${path}`))
  expect(missed).toEqual([])
  expect(sources.length).toBeGreaterThan(90)
})

test('the first page names its readers in order, and the decisions last', async () => {
  const text = await (await get('/docs/')).text()
  const headings = [...text.matchAll(/<h2 id="[^"]*">(.*?)<\/h2>/gs)].map(([, html = '']) => textOfHtml(html))
  expect(headings.map((heading) => heading.split(':')[0])).toEqual([
    'Start',
    'Steward',
    'Analyst',
    'Writer',
    'Auditor',
    'Operator',
    'Developer',
    'Reference',
    'Decisions',
  ])
})

test('a page is the same with and without its ending, and a folder is its README', async () => {
  for (const path of sources) {
    const [whole, short] = [await get(`/docs/${path}`), await get(`/docs/${path.slice(0, -3)}`)]
    expect([path, short.status, await short.text()]).toEqual([path, 200, await whole.text()])
  }
  const folder = await get('/docs/reference')
  expect([folder.status, folder.headers.get('location')]).toEqual([308, '/docs/reference/'])
  expect(await (await get('/docs/reference/')).text()).toBe(
    await (await get('/docs/reference/README.md')).text(),
  )
})

test('no page shows the source of a diagram in place of the diagram', async () => {
  for (const path of sources)
    expect([path, (await (await get(`/docs/${path}`)).text()).includes('language-mermaid')]).toEqual([
      path,
      false,
    ])
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
