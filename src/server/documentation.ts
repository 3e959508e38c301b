/**
 * Serves the folder `docs` of this version as pages, without a session: `GET /docs/` lists them, and links between them
 * work as in the sources. A link that leaves the folder is shown as text.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { Elysia } from 'elysia'
import { Fault } from '../base/fault.ts'
import { errorResponse } from '../http/fault-response.ts'

const folder = new URL('../../docs/', import.meta.url)
const base = new URL('http://docs.invalid/docs/')

const policy =
  "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
const cached = { 'cache-control': 'public, max-age=3600' }

const style = `body { font: 16px/1.5 system-ui, sans-serif; color: #1b1f24; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid #d0d7de; padding: .3rem .6rem; text-align: left; vertical-align: top; }
pre, code { font: 14px/1.45 ui-monospace, monospace; background: #f3f5f7; }
pre { padding: .8rem; overflow-x: auto; }
img { max-width: 100%; }
h1 a, h2 a, h3 a, h4 a { color: inherit; text-decoration: none; }
`

const types: Readonly<Record<string, string>> = {
  md: 'text/html; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
}

/** The paths below `docs` that are served: nothing else is read. Empty where the sources have no such folder. */
function documentedFiles(): ReadonlySet<string> {
  try {
    const all = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    return new Set(all.filter((path) => (path.split('.').pop() ?? '') in types))
  } catch {
    return new Set()
  }
}

const asText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const whole = (title: string, body: string) => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${asText(title)}</title><link rel="stylesheet" href="/docs/style.css"></head>
<body>
<p><a href="/">Covenant</a> / <a href="/docs/">Documentation</a></p>
${body}
</body>
</html>
`

const titleOf = (markdown: string) => /^# (.+)$/m.exec(markdown)?.[1] ?? ''
const readPage = (path: string) => readFileSync(new URL(path, folder), 'utf8')

/** GET /docs/ and everything below it. */
export function documentationRoutes() {
  const files = documentedFiles()
  const isServed = (href: string, from: string) => {
    const { origin, pathname } = new URL(href, new URL(from, base))
    return origin !== base.origin || files.has(decodeURIComponent(pathname.slice(base.pathname.length)))
  }
  const render = (path: string) => {
    const markdown = readPage(path)
    const html = Bun.markdown.html(markdown, { headings: true })
    const body = html.replace(/<a href="([^"#][^"]*)">(.*?)<\/a>/gs, (link, href: string, text: string) =>
      isServed(href, path) ? link : text,
    )
    return whole(titleOf(markdown), body)
  }
  const list = () => {
    const pages = [...files].filter((path) => path.endsWith('.md')).sort()
    const items = pages.map(
      (path) => `<li><a href="/docs/${path}">${asText(titleOf(readPage(path)))}</a></li>`,
    )
    return whole('Documentation', `<h1>Documentation</h1>\n<ul>\n${items.join('\n')}\n</ul>`)
  }
  const kept = new Map<string, string>()
  const once = (path: string, make: () => string) => {
    const text = kept.get(path) ?? make()
    kept.set(path, text)
    return text
  }
  const answer = (content: string | Blob, type: string) =>
    new Response(content, { headers: { 'content-type': type, 'content-security-policy': policy, ...cached } })
  const hidden = { detail: { hide: true } }
  const html = 'text/html; charset=utf-8'
  return (
    new Elysia({ name: 'documentation' })
      // The router takes both for the same. Relative links need the slash.
      .get(
        '/docs',
        ({ request }) =>
          new URL(request.url).pathname.endsWith('/')
            ? answer(once('', list), html)
            : new Response(null, { status: 308, headers: { location: '/docs/' } }),
        hidden,
      )
      .get('/docs/style.css', () => answer(style, 'text/css; charset=utf-8'), hidden)
      .get(
        '/docs/*',
        ({ params }) => {
          const path = params['*']
          if (!files.has(path)) return errorResponse(new Fault('not_found', 'There is no such page.'))
          if (path.endsWith('.md'))
            return answer(
              once(path, () => render(path)),
              html,
            )
          return answer(Bun.file(new URL(path, folder)), types[path.split('.').pop() ?? ''] ?? html)
        },
        hidden,
      )
  )
}
