/** The development catalog's view routes. */

import { type JsonObject, stringifyJson } from '../../src/base/json.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import { jsonResponse } from './answers.ts'
import { Refusal, type TableStore } from './table-store.ts'
import type { ViewStore } from './view-store.ts'

export const viewEndpoints = [
  'GET /v1/{prefix}/namespaces/{namespace}/views',
  'POST /v1/{prefix}/namespaces/{namespace}/views',
  'GET /v1/{prefix}/namespaces/{namespace}/views/{view}',
  'HEAD /v1/{prefix}/namespaces/{namespace}/views/{view}',
  'POST /v1/{prefix}/namespaces/{namespace}/views/{view}',
  'DELETE /v1/{prefix}/namespaces/{namespace}/views/{view}',
  'POST /v1/{prefix}/views/rename',
]

/**
 * Answers a request below a namespace's `views`.
 * @param body reads the request's body, an object that may need a name
 * @returns undefined when there is no such route
 */
export async function viewRoute(
  { tables, views }: { readonly tables: TableStore; readonly views: ViewStore },
  method: string,
  view: TableRef,
  body: () => Promise<JsonObject>,
): Promise<Response | undefined> {
  tables.namespace(view.namespace)
  if (view.name === '') {
    if (method === 'GET') return jsonResponse(JSON.stringify({ identifiers: views.list(view.namespace) }))
    if (method !== 'POST') return undefined
    const request = await body()
    const created = { namespace: view.namespace, name: String(request.get('name')) }
    if (tables.has(created))
      throw new Refusal(409, 'AlreadyExistsException', 'A table with this name already exists.')
    return jsonResponse(stringifyJson(views.create(created, request)))
  }
  if (method === 'GET') return jsonResponse(stringifyJson(views.load(view)))
  if (method === 'POST') return jsonResponse(stringifyJson(views.replace(view, await body())))
  if (method === 'HEAD') views.load(view)
  else if (method === 'DELETE') views.drop(view)
  else return undefined
  return new Response(null, { status: 204 })
}
