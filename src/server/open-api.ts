/** The OpenAPI document: what each route says of itself in its `detail`, and no more. */

import { type Operation, text } from '../base/json-schema.ts'

/** What a route says of itself; nothing, or `hide`, where the document leaves it out. */
export type RouteDetail = Operation & { readonly hide?: boolean }

export interface DescribedRoute {
  readonly method: string
  readonly path: string
  readonly detail: RouteDetail | undefined
}

const about = {
  openapi: '3.0.3',
  info: {
    title: 'Covenant',
    version: '1',
    description:
      'The resources of the service. What is below /v1/iceberg follows the Iceberg REST catalog specification, and /v1/lineage takes OpenLineage events.',
  },
  components: {
    securitySchemes: {
      session: { type: 'apiKey', in: 'header', name: 'X-Svc-Session' },
      token: { type: 'http', scheme: 'bearer' },
      browser: { type: 'apiKey', in: 'cookie', name: '__Host-svc_session' },
    },
  },
  security: [{ session: [] }, { token: [] }, { browser: [] }],
} as const

/** The document of the routes that describe themselves, in OpenAPI 3.0. */
export function openApiDocument(routes: readonly DescribedRoute[]): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const { method, path, detail } of routes) {
    if (detail === undefined || detail.hide) continue
    const place = path.replaceAll(/:(\w+)/g, '{$1}')
    paths[place] = { ...paths[place], [method.toLowerCase()]: operation(method, path, detail) }
  }
  return { ...about, paths }
}

function operation(method: string, path: string, { hide: _, ...detail }: RouteDetail): object {
  const described = detail.parameters ?? []
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => {
    const known = described.find((one) => one.in === 'path' && one.name === name)
    return known ?? { name, in: 'path', required: true, schema: text }
  })
  const parameters = [...inPath, ...described.filter((one) => one.in !== 'path')]
  return { ...detail, operationId: operationId(method, path), ...(parameters.length > 0 && { parameters }) }
}

/** As generators name functions: `getAdminTenantsByTenant`. */
function operationId(method: string, path: string): string {
  const words = path
    .split('/')
    .map((part) => part.replace(/^:(.)/, (_, letter) => `By${letter.toUpperCase()}`))
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}
