/** Builds the OpenAPI document from the `detail` of each route. Routes without one are left out. */

import type { DescribedOperation } from './rest/describe.ts'

/** The description of a route. `hide` leaves the route out of the document. */
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
      'The resources of the service. Paths below /v1/iceberg follow the Iceberg REST catalog specification; /v1/lineage takes OpenLineage events.',
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
              sqlstate: { ...text, description: 'For a statement: PostgreSQL’s code of the error' },
              position: {
                type: 'integer',
                minimum: 0,
                description: 'For a statement: UTF-8 bytes before the place of the error',
              },
              hint: { ...text, description: 'For a statement: what its writer can do' },
              contract: { ...text, description: 'Of several contracts: the one that is refused' },
              problems: {
                type: 'array',
                description: 'For a contract document: all that is wrong with it',
                items: {
                  type: 'object',
                  additionalProperties: false,
                  required: ['message'],
                  properties: {
                    line: { type: 'integer', minimum: 1 },
                    column: { type: 'integer', minimum: 1 },
                    path: { ...text, description: 'JSON Pointer' },
                    message: text,
                  },
                },
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

/** Describes the routes in OpenAPI 3.1. */
export function openApiDocument(routes: readonly DescribedRoute[]): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const { method, path, detail } of routes) {
    if (detail === undefined || detail.hide) continue
    const place = path.replaceAll(/:(\w+)/g, '{$1}')
    paths[place] = { ...paths[place], [method.toLowerCase()]: detail }
  }
  return { ...about, paths }
}
