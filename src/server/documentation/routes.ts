/**
 * Serves the documentation of this version without a session: `GET /docs/` is its first page, by reader; every page is
 * there with and without `.md`; `GET /docs/search` finds words. No page has a script.
 */

import { Elysia } from 'elysia'
import { Fault } from '../../base/fault.ts'
import { errorResponse } from '../../http/fault-response.ts'
import { escapeHtml, framed, style } from './html.ts'
import { documentationFile, openDocumentation } from './pages.ts'
import { type Found, searchDocumentation } from './search.ts'

const policy =
  "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
const cached = { 'cache-control': 'public, max-age=3600' }
const html = 'text/html; charset=utf-8'
const questionMax = 200

/** GET /docs/ and everything below it. */
export function documentationRoutes() {
  const documentation = openDocumentation()
  const search = searchDocumentation(documentation)
  const hidden = { detail: { hide: true } }
  const serve = (path: string) => {
    const file = documentation.find(path)
    if (file === undefined)
      return documentation.isFolder(path)
        ? new Response(null, { status: 308, headers: { location: `/docs/${path}/` } })
        : errorResponse(new Fault('not_found', 'There is no such page: see /docs/ for what there is.'))
    if (!file.endsWith('.md')) {
      const { content, type } = documentationFile(file)
      return answer(content, type)
    }
    const { title, body } = documentation.page(file)
    return answer(framed(title, body), html)
  }
  return (
    new Elysia({ name: 'documentation' })
      // The router takes both for the same. Relative links need the slash.
      .get(
        '/docs',
        ({ request }) =>
          new URL(request.url).pathname.endsWith('/')
            ? serve('')
            : new Response(null, { status: 308, headers: { location: '/docs/' } }),
        hidden,
      )
      .get('/docs/style.css', () => answer(style, 'text/css; charset=utf-8'), hidden)
      .get(
        '/docs/search',
        async ({ request }) => {
          const { searchParams } = new URL(request.url)
          const unknown = [...searchParams.keys()].find((name) => name !== 'q')
          const question = searchParams.get('q') ?? ''
          if (unknown !== undefined || question.length > questionMax)
            return errorResponse(
              new Fault('bad_request', `Give one parameter, \`q\`, of at most ${questionMax} characters.`),
            )
          return answer(framed('Search', results(question, await search.find(question)), question), html)
        },
        hidden,
      )
      .get('/docs/*', ({ params }) => serve(params['*']), hidden)
  )
}

function answer(content: string | Blob, type: string): Response {
  return new Response(content, {
    headers: { 'content-type': type, 'content-security-policy': policy, ...cached },
  })
}

function results(question: string, found: readonly Found[]): string {
  const item = ({ href, page, heading, excerpt }: Found) =>
    `<li><a href="/docs/${escapeHtml(href)}">${escapeHtml(heading)}</a> in ${escapeHtml(page)}<p>${escapeHtml(excerpt)}</p></li>`
  if (question.trim() === '') return '<h1>Search</h1>\n<p>Write words into the field above.</p>'
  if (found.length === 0)
    return `<h1>Search</h1>\n<p>Nothing was found for “${escapeHtml(question)}”. Other words may help, or <a href="/docs/">the list of pages</a>.</p>`
  return `<h1>Search</h1>\n<ul class="found">\n${found.map(item).join('\n')}\n</ul>`
}
