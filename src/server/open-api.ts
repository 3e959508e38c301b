/** The OpenAPI document: what each route says of itself in its `detail`, and no more. */

import type { DescribedOperation } from './rest/describe.ts'

/** What a route says of itself; nothing, or `hide`, where the document leaves it out. */
export type RouteDetail = DescribedOperation & { readonly hide?: boolean }

export interface DescribedRoute {
  readonly method: string
  readonly path: string
  readonly detail: RouteDetail | undefined
}

const text = { type: 'string' } as const
const about = {
  openapi: '3.1.0',
  info: {
    title: 'Covenant',
    version: '1',
    description:
      'The resources of the service. What is below /v1/iceberg follows the Iceberg REST catalog specification, and /v1/lineage takes OpenLineage events.',
  },
  components: {
    schemas: {
      Error: {
        type: 'object',
        description: 'The ErrorModel of the Iceberg REST specification',
        additionalProperties: false,
        required: ['error'],
        properties: {
          error: {
            type: 'object',
            additionalProperties: false,
            required: ['message', 'type', 'code'],
            properties: {
              message: { ...text, description: 'What failed and what to do' },
              type: text,
              code: { type: 'integer', description: 'The status' },
              sqlstate: { ...text, description: 'Of a statement: the condition in PostgreSQL’s words' },
              position: {
                type: 'integer',
                minimum: 0,
                description: 'Of a statement: UTF-8 bytes before the place meant',
              },
            },
          },
        },
      },
    },
    securitySchemes: {
      session: { type: 'apiKey', in: 'header', name: 'X-Svc-Session' },
      token: { type: 'http', scheme: 'bearer' },
      browser: { type: 'apiKey', in: 'cookie', name: '__Host-svc_session' },
    },
  },
  security: [{ session: [] }, { token: [] }, { browser: [] }],
} as const

/** The document of the routes that describe themselves, in OpenAPI 3.1. */
export function openApiDocument(routes: readonly DescribedRoute[]): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const { method, path, detail } of routes) {
    if (detail === undefined || detail.hide) continue
    const place = path.replaceAll(/:(\w+)/g, '{$1}')
    paths[place] = { ...paths[place], [method.toLowerCase()]: detail }
  }
  return { ...about, paths }
}
