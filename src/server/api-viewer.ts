/**
 * Serves a page that shows the OpenAPI document and tries operations, without a session: what it asks carries the
 * caller's own. Swagger UI comes from its package and from no other host.
 */

import { Elysia } from 'elysia'

/** Swagger UI puts its pictures into its style sheet. Nothing else may be loaded, and no script may stand in the page. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Covenant: REST API</title>
<link rel="stylesheet" href="/api/docs/swagger-ui.css">
</head>
<body>
<div id="viewer"></div>
<noscript>The document itself is <a href="/api/v1/openapi.json">/api/v1/openapi.json</a>.</noscript>
<script src="/api/docs/swagger-ui-bundle.js"></script>
<script src="/api/docs/start.js"></script>
</body>
</html>
`

/** The validator's badge is left out, because it would send the document to another host. */
const start = `SwaggerUIBundle({
  url: '/api/v1/openapi.json',
  dom_id: '#viewer',
  docExpansion: 'none',
  filter: true,
  tagsSorter: 'alpha',
  validatorUrl: null,
})
`

const asset = (name: string) => Bun.file(new URL(import.meta.resolve(`swagger-ui-dist/${name}`)))
const javaScript = { 'content-type': 'text/javascript; charset=utf-8' }
/** They change with the version of the service only. */
const cached = { 'cache-control': 'public, max-age=3600' }

/** GET /api/docs and what the page loads. */
export function apiViewerRoutes() {
  const hidden = { detail: { hide: true } }
  return new Elysia({ name: 'api-viewer' })
    .get(
      '/api/docs',
      () =>
        new Response(page, {
          headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy },
        }),
      hidden,
    )
    .get('/api/docs/start.js', () => new Response(start, { headers: { ...javaScript, ...cached } }), hidden)
    .get(
      '/api/docs/swagger-ui-bundle.js',
      () => new Response(asset('swagger-ui-bundle.js'), { headers: { ...javaScript, ...cached } }),
      hidden,
    )
    .get(
      '/api/docs/swagger-ui.css',
      () =>
        new Response(asset('swagger-ui.css'), {
          headers: { 'content-type': 'text/css; charset=utf-8', ...cached },
        }),
      hidden,
    )
}
