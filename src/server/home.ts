/** Serves the first page, `GET /`, and `GET /version`: what runs here and where to go on. Neither needs a session. */

import { Elysia } from 'elysia'
import { version } from '../../package.json'

const links = [
  ['/docs/', 'The documentation of this version'],
  ['/api/docs', 'The REST API, to read and to try'],
  ['/api/v1/openapi.json', 'The same as OpenAPI 3.1'],
  ['/healthz', 'Liveness'],
  ['/readyz', 'Readiness, with the result of each check'],
  ['/version', 'The version, as JSON'],
] as const

const others = [
  ['/v1/iceberg/{catalog}', 'Iceberg REST catalog, for engines'],
  ['/v1/lineage', 'OpenLineage events'],
  ['/graphql', 'GraphQL'],
  ['/mcp', 'Model Context Protocol, for agents'],
] as const

// Without scripts, styles or pictures, so that the strictest content security policy holds.
const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Covenant ${version}</title></head>
<body>
<h1>Covenant ${version}</h1>
<p>Data contract governance for Apache Iceberg lakehouses.</p>
<ul>
${links.map(([path, about]) => `<li><a href="${path}">${path}</a>: ${about}</li>`).join('\n')}
</ul>
<p>With a session or a token:</p>
<ul>
${others.map(([path, about]) => `<li><code>${path}</code>: ${about}</li>`).join('\n')}
</ul>
</body>
</html>
`

/** GET / and GET /version. */
export function homeRoutes() {
  return new Elysia({ name: 'home' })
    .get('/', () => new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8' } }), {
      detail: { hide: true },
    })
    .get('/version', () => Response.json({ name: 'covenant', version }), { detail: { hide: true } })
}
