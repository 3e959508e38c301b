/** Routes the requests of the development catalog: the part of the Iceberg REST specification that it serves. */

import { createHash } from 'node:crypto'
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonObject,
  parseJson,
  stringifyJson,
} from '../../src/base/json.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import { parseCommitRequest, readTransactionRequest } from '../../src/wire/iceberg/commit-request.ts'
import { createTableUpdates } from '../../src/wire/iceberg/create-table.ts'
import { jsonResponse } from './answers.ts'
import { Refusal, refsOnlyBody, type StoredTable, type TableStore } from './table-store.ts'
import { viewEndpoints, viewRoute } from './view-routes.ts'
import type { ViewStore } from './view-store.ts'

export interface RouteContext {
  readonly options: {
    readonly dialect: 'alpha' | 'beta'
    readonly warehouse: string
    readonly foldsNames: boolean
  }
  readonly store: TableStore
  readonly views: ViewStore
}

const branch = 'main'
const pageSizeMax = 1_000

const endpoints = [
  'GET /v1/{prefix}/namespaces',
  'POST /v1/{prefix}/namespaces',
  'GET /v1/{prefix}/namespaces/{namespace}',
  'HEAD /v1/{prefix}/namespaces/{namespace}',
  'DELETE /v1/{prefix}/namespaces/{namespace}',
  'POST /v1/{prefix}/namespaces/{namespace}/properties',
  'GET /v1/{prefix}/namespaces/{namespace}/tables',
  'POST /v1/{prefix}/namespaces/{namespace}/tables',
  'GET /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'POST /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'DELETE /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics',
  'POST /v1/{prefix}/namespaces/{namespace}/register',
  'POST /v1/{prefix}/tables/rename',
  'POST /v1/{prefix}/transactions/commit',
  ...viewEndpoints,
]

/**
 * Answers one authorised request of the Iceberg REST API.
 * @throws Refusal, or a Fault of the codecs
 */
export async function route(context: RouteContext, request: Request, url: URL): Promise<Response> {
  const { options, store, views } = context
  const { pathname, searchParams } = url
  const config =
    options.dialect === 'beta'
      ? /^(?:\/([^/]+))?\/v1\/config$/.exec(pathname)
      : /^\/v1\/config$/.exec(pathname)
  if (config !== null) return configRoute(context, config[1] ?? branch, searchParams.get('warehouse'))

  const [, version, prefix = '', ...rest] = pathname.split('/')
  if (version !== 'v1') throw noRoute()
  assertPrefix(context, prefix)
  const [collection = '', given = '', second = '', named = '', fourth = '', ...tooMany] =
    rest.map(decodeSegment)
  if (tooMany.length > 0) throw noRoute()
  const { method } = request
  const { foldsNames } = options
  const fold = (name: string) => (foldsNames ? name.toLowerCase() : name)
  const [first, third] = collection === 'namespaces' ? [fold(given), fold(named)] : [given, named]
  const objectBody = async (from: Request) => withNames(await readObject(from), fold)

  if (collection === 'transactions' && first === 'commit' && method === 'POST') {
    const changes = await readTransactionRequest(await request.bytes())
    store.commitAll(
      changes.map((change) => ({ ...change, table: foldTable(change.identifier, fold) })),
      Date.now(),
    )
    return new Response(null, { status: 204 })
  }
  if (collection === 'tables' && first === 'rename' && method === 'POST') {
    const body = await objectBody(request)
    store.rename(tableOf(body.get('source')), tableOf(body.get('destination')))
    return new Response(null, { status: 204 })
  }
  if (collection === 'views' && first === 'rename' && method === 'POST') {
    const body = await objectBody(request)
    views.rename(tableOf(body.get('source')), tableOf(body.get('destination')))
    return new Response(null, { status: 204 })
  }
  if (collection !== 'namespaces') throw noRoute()
  if (first === '')
    return request.method === 'POST'
      ? createNamespace(store, await objectBody(request))
      : namespacesRoute(store, request, fold(searchParams.get('parent') ?? ''))
  const namespace = first.split('\u001f')
  if (second === '') return namespaceRoute(store, method, namespace)
  if (second === 'properties' && method === 'POST')
    return propertiesRoute(store, namespace, await readObject(request))
  if (second === 'register' && method === 'POST') {
    const body = await objectBody(request)
    const location = body.get('metadata-location')
    if (typeof location !== 'string')
      throw new Refusal(400, 'BadRequestException', 'metadata-location is missing.')
    return tableResponse(context, store.register({ namespace, name: nameOf(body) }, location))
  }
  if (second === 'views' && fourth === '') {
    const view = { namespace, name: third }
    const answered = await viewRoute({ tables: store, views }, method, view, () => objectBody(request))
    if (answered !== undefined) return answered
  }
  if (second !== 'tables') throw noRoute()
  if (third === '') {
    if (method === 'GET') return listTables(store, namespace, searchParams)
    if (method === 'POST') return createTable(context, namespace, await objectBody(request))
    throw noRoute()
  }
  const table: TableRef = { namespace, name: third }
  if (fourth === 'metrics' && method === 'POST') return new Response(null, { status: 204 })
  if (fourth !== '') throw noRoute()
  return tableRoute(context, request, table, searchParams)
}

async function tableRoute(
  context: RouteContext,
  request: Request,
  table: TableRef,
  query: URLSearchParams,
): Promise<Response> {
  const { store, options } = context
  switch (request.method) {
    case 'GET': {
      const snapshots = query.get('snapshots')
      const etag = options.dialect === 'alpha' ? etagOf(store.location(table), snapshots) : undefined
      if (etag !== undefined && request.headers.get('if-none-match') === etag)
        return new Response(null, { status: 304, headers: { etag } })
      const stored = store.load(table)
      return tableResponse(
        context,
        stored,
        snapshots === 'refs' ? refsOnlyBody(stored) : stored.body,
        snapshots,
      )
    }
    case 'HEAD':
      store.location(table)
      return new Response(null, { status: 204 })
    case 'POST':
      return tableResponse(
        context,
        store.commit(table, parseCommitRequest(await request.bytes()), Date.now()),
      )
    case 'DELETE':
      store.drop(table)
      return new Response(null, { status: 204 })
    default:
      throw noRoute()
  }
}

function createTable(context: RouteContext, namespace: readonly string[], body: JsonObject): Response {
  const { store, views } = context
  const table = { namespace, name: nameOf(body) }
  if (store.has(table) || views.has(table))
    throw new Refusal(
      409,
      'AlreadyExistsException',
      `Table already exists: ${namespace.join('.')}.${table.name}`,
    )
  const change = {
    requirements: [jsonObject({ type: 'assert-create' })],
    updates: [
      jsonObject({ action: 'assign-uuid', uuid: crypto.randomUUID() }),
      jsonObject({ action: 'set-location', location: store.defaultLocation(table) }),
      ...createTableUpdates(body),
    ],
  }
  if (body.get('stage-create') !== true)
    return tableResponse(context, store.commit(table, change, Date.now()))
  const metadata = store.stage(table, change, Date.now())
  return jsonResponse(stringifyJson(jsonObject({ metadata, config: new Map() })))
}

function listTables(store: TableStore, namespace: readonly string[], query: URLSearchParams): Response {
  const tables = store.listTables(namespace)
  const size = Math.min(Number(query.get('pageSize')) || pageSizeMax, pageSizeMax)
  const after = query.get('pageToken')
  // Without pageToken the specification asks for all tables at once. The token is the last name of the previous page.
  const rest = after === null ? tables : tables.filter(({ name }) => name > after)
  const page = after === null ? rest : rest.slice(0, size)
  return jsonResponse(
    JSON.stringify({
      identifiers: page,
      ...(page.length < rest.length ? { 'next-page-token': page.at(-1)?.name } : {}),
    }),
  )
}

function namespacesRoute(store: TableStore, request: Request, parent: string): Response {
  if (request.method !== 'GET') throw noRoute()
  return jsonResponse(
    JSON.stringify({ namespaces: store.listNamespaces(parent === '' ? [] : parent.split('\u001f')) }),
  )
}

function createNamespace(store: TableStore, body: JsonObject): Response {
  const levels = levelsOf(body.get('namespace'))
  const given = body.get('properties')
  store.createNamespace(levels, isJsonObject(given) ? given : new Map())
  return namespaceResponse(store, levels)
}

function namespaceRoute(store: TableStore, method: string, namespace: readonly string[]): Response {
  if (method === 'GET') return namespaceResponse(store, namespace)
  if (method === 'HEAD') store.namespace(namespace)
  else if (method === 'DELETE') store.dropNamespace(namespace)
  else throw noRoute()
  return new Response(null, { status: 204 })
}

function propertiesRoute(store: TableStore, namespace: readonly string[], body: JsonObject): Response {
  const before = store.namespace(namespace)
  const removals = body.get('removals')
  const names = (Array.isArray(removals) ? (removals as readonly JsonValue[]) : []).map(String)
  const updates = body.get('updates')
  const changed: JsonObject = isJsonObject(updates) ? updates : new Map()
  store.setNamespaceProperties(namespace, names, changed)
  return jsonResponse(
    JSON.stringify({
      updated: [...changed.keys()],
      removed: names.filter((name) => before.has(name)),
      missing: names.filter((name) => !before.has(name)),
    }),
  )
}

function configRoute(context: RouteContext, reference: string, warehouse: string | null): Response {
  const { options } = context
  if (warehouse !== null && warehouse !== options.warehouse)
    throw new Refusal(404, 'NotFoundException', `Unable to find warehouse ${warehouse}`)
  const prefix =
    options.dialect === 'beta' ? encodeURIComponent(`${reference}|${options.warehouse}`) : options.warehouse
  const properties = { prefix }
  return jsonResponse(
    JSON.stringify(
      options.dialect === 'beta'
        ? { defaults: properties, overrides: {}, endpoints }
        : { defaults: {}, overrides: properties, endpoints },
    ),
  )
}

function assertPrefix({ options }: RouteContext, prefix: string): void {
  const [reference, warehouse] =
    options.dialect === 'beta' ? decodeSegment(prefix).split('|') : [branch, decodeSegment(prefix)]
  if (warehouse !== options.warehouse)
    throw new Refusal(404, 'NotFoundException', `Unable to find warehouse ${warehouse}`)
  if (reference !== branch)
    throw new Refusal(400, 'NoSuchReferenceException', `Named reference '${reference}' not found`)
}

function tableResponse(
  { options }: RouteContext,
  stored: StoredTable,
  body = stored.body,
  snapshots: string | null = 'all',
): Response {
  return new Response(body, {
    headers: {
      'content-type': 'application/json',
      ...(options.dialect === 'alpha' ? { etag: etagOf(stored.metadataLocation, snapshots) } : {}),
    },
  })
}

/** As in Iceberg's own server, each value of `snapshots` has its own ETag. A change returns that of `all`. */
function etagOf(metadataLocation: string, snapshots: string | null): string {
  const hash = createHash('sha256')
    .update(metadataLocation)
    .update(`?snapshots=${snapshots ?? ''}`)
  return `W/"${hash.digest('hex')}"`
}

function namespaceResponse(store: TableStore, namespace: readonly string[]): Response {
  const properties = store.namespace(namespace)
  return jsonResponse(stringifyJson(jsonObject({ namespace, properties })))
}

export function noRoute(): Refusal {
  return new Refusal(404, 'NotFoundException', 'There is no such route.')
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new Refusal(400, 'BadRequestException', 'A path segment is not valid percent-encoded UTF-8.')
  }
}

/** A body whose names are those that the catalog has. */
function withNames(body: JsonObject, fold: (name: string) => string): JsonObject {
  const change = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return fold(value)
    if (Array.isArray(value)) return value.map(change)
    return isJsonObject(value) ? withNames(value, fold) : value
  }
  const members = ['name', 'namespace', 'source', 'destination']
  return new Map([...body].map(([key, value]) => [key, members.includes(key) ? change(value) : value]))
}

function foldTable({ namespace, name }: TableRef, fold: (name: string) => string): TableRef {
  return { namespace: namespace.map(fold), name: fold(name) }
}

async function readObject(request: Request): Promise<JsonObject> {
  const body = parseJson(await request.bytes())
  if (!isJsonObject(body)) throw new Refusal(400, 'BadRequestException', 'The body must be an object.')
  return body
}

function levelsOf(value: JsonValue | undefined): readonly string[] {
  const levels = Array.isArray(value) ? (value as readonly JsonValue[]) : []
  if (levels.length === 0 || !levels.every((level) => typeof level === 'string'))
    throw new Refusal(400, 'BadRequestException', 'A namespace must be a list of strings.')
  return levels as readonly string[]
}

function nameOf(body: JsonObject): string {
  const name = body.get('name')
  if (typeof name !== 'string') throw new Refusal(400, 'BadRequestException', 'The name must be a string.')
  return name
}

function tableOf(value: JsonValue | undefined): TableRef {
  if (!isJsonObject(value)) throw new Refusal(400, 'BadRequestException', 'A table identifier is missing.')
  return { namespace: levelsOf(value.get('namespace')), name: nameOf(value) }
}
