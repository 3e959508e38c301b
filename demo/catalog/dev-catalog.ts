/**
 * A development catalog: a small Iceberg REST catalog over a local folder. NOT FOR PRODUCTION: one process, no
 * fsync, no roles, and a route (`/dev/faults`) that makes it fail on purpose. It exists so that the product can
 * be tried, tested and measured without a catalog server; it speaks like either live catalog kind (SPEC 2.2).
 */

import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { Fault } from '../../src/base/fault.ts'
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  stringifyJson,
} from '../../src/base/json.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import { parseCommitRequest, parseTransactionRequest } from '../../src/wire/iceberg/commit-request.ts'
import { createTableChange } from './create-table.ts'
import { applyFaults, createFaults, type FaultState, type Faults, type Operation } from './faults.ts'
import { Refusal, refsOnlyBody, type StoredTable, TableStore } from './table-store.ts'

export interface DevCatalogOptions {
  /** Created where it does not exist. */
  readonly folder: string
  /** A free port where 0 or absent. */
  readonly port?: number
  /** `127.0.0.1` where absent. */
  readonly hostname?: string
  /** Speaks like the upstream of this catalog kind; 'alpha' where absent. */
  readonly dialect?: 'alpha' | 'beta'
  /** 'dev' where absent. */
  readonly warehouse?: string
  /** `id:secret` that the token route accepts; without it no token is asked for. */
  readonly credential?: string
  /** Seconds that a token lives; 3600 where absent. */
  readonly tokenSeconds?: number
}

export interface DevCatalog {
  /** The catalog URI, to which clients append `/v1/…`. */
  readonly url: string
  /** Where a token is had in the beta dialect, whose own token route answers 501. */
  readonly tokenUrl: string
  readonly faults: Faults
  stop(): Promise<void>
}

interface Context {
  readonly options: Required<Omit<DevCatalogOptions, 'credential'>> & Pick<DevCatalogOptions, 'credential'>
  readonly store: TableStore
  readonly faults: FaultState
  /** Token to its end, milliseconds since the Unix epoch. */
  readonly tokens: Map<string, number>
}

const branch = 'main'
const bodyBytesMax = 64 * 1024 * 1024
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
]

/** Starts a development catalog; see the file's header for what it is not. */
export async function startDevCatalog(options: DevCatalogOptions): Promise<DevCatalog> {
  const tokens = new Map<string, number>()
  const context: Context = {
    options: {
      port: 0,
      hostname: '127.0.0.1',
      dialect: 'alpha',
      warehouse: 'dev',
      tokenSeconds: 3600,
      ...options,
      folder: resolve(options.folder),
    },
    store: new TableStore(resolve(options.folder)),
    faults: createFaults(() => tokens.clear()),
    tokens,
  }
  const server = Bun.serve({
    port: context.options.port,
    hostname: context.options.hostname,
    idleTimeout: 255,
    maxRequestBodySize: bodyBytesMax,
    fetch: (request) => answer(context, request),
  })
  const url = server.url.href.replace(/\/$/, '')
  return {
    url,
    tokenUrl: `${url}/dev/oauth/tokens`,
    faults: context.faults,
    stop: () => server.stop(true),
  }
}

async function answer(context: Context, request: Request): Promise<Response> {
  const url = new URL(request.url)
  if (url.pathname === '/dev/faults') return faultsRoute(context, request)
  const { faults } = context
  const { delayMs, failure } = faults.meet(operationOf(request, url.pathname))
  if (delayMs > 0) await Bun.sleep(delayMs)
  if (failure?.effect === 'drop-before') return dropped()
  if (failure?.effect === 'fail')
    return errorResponse(
      failure.status ?? 500,
      failure.type ?? 'ServiceFailureException',
      'A failure was asked for.',
    )
  if (failure?.effect === 'conflict')
    return errorResponse(409, 'CommitFailedException', 'Requirement failed: a conflict was asked for.')
  let response: Response
  try {
    response = await route(context, request, url)
  } catch (thrown) {
    response = refusal(thrown)
  }
  if (failure?.effect === 'drop-after') return dropped()
  if (failure?.effect === 'hang-after') return new Promise(() => {})
  return response
}

async function route(context: Context, request: Request, url: URL): Promise<Response> {
  const { options, store } = context
  const { pathname, searchParams } = url
  if (pathname === '/v1/oauth/tokens' && options.dialect === 'beta')
    return errorResponse(
      501,
      'UnsupportedOperationException',
      'Endpoint not implemented: use an OAuth2 server.',
    )
  if (pathname === '/v1/oauth/tokens' || pathname === '/dev/oauth/tokens') return tokenRoute(context, request)
  assertAuthorized(context, request)

  const config =
    options.dialect === 'beta'
      ? /^(?:\/([^/]+))?\/v1\/config$/.exec(pathname)
      : /^\/v1\/config$/.exec(pathname)
  if (config !== null) return configRoute(context, config[1] ?? branch, searchParams.get('warehouse'))

  const [, version, prefix = '', ...rest] = pathname.split('/')
  if (version !== 'v1') throw noRoute()
  assertPrefix(context, prefix)
  const [collection = '', first = '', second = '', third = '', fourth = '', ...tooMany] =
    rest.map(decodeSegment)
  if (tooMany.length > 0) throw noRoute()
  const { method } = request

  if (collection === 'transactions' && first === 'commit' && method === 'POST') {
    const changes = parseTransactionRequest(await request.bytes())
    store.commitAll(
      changes.map((change) => ({ ...change, table: change.identifier })),
      Date.now(),
    )
    return new Response(null, { status: 204 })
  }
  if (collection === 'tables' && first === 'rename' && method === 'POST') {
    const body = await objectBody(request)
    store.rename(tableOf(body.get('source')), tableOf(body.get('destination')))
    return new Response(null, { status: 204 })
  }
  if (collection !== 'namespaces') throw noRoute()
  if (first === '') return namespacesRoute(store, request, searchParams)
  const namespace = first.split('\u001f')
  if (second === '') return namespaceRoute(store, method, namespace)
  if (second === 'properties' && method === 'POST')
    return propertiesRoute(store, namespace, await objectBody(request))
  if (second === 'register' && method === 'POST') {
    const body = await objectBody(request)
    const location = body.get('metadata-location')
    if (typeof location !== 'string')
      throw new Refusal(400, 'BadRequestException', 'metadata-location is missing.')
    return tableResponse(context, store.register({ namespace, name: nameOf(body) }, location))
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
  context: Context,
  request: Request,
  table: TableRef,
  query: URLSearchParams,
): Promise<Response> {
  const { store, options } = context
  switch (request.method) {
    case 'GET': {
      const etag = options.dialect === 'alpha' ? etagOf(store.location(table)) : undefined
      if (etag !== undefined && request.headers.get('if-none-match') === etag)
        return new Response(null, { status: 304, headers: { etag } })
      const stored = store.load(table)
      return tableResponse(
        context,
        stored,
        query.get('snapshots') === 'refs' ? refsOnlyBody(stored) : stored.body,
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

function createTable(context: Context, namespace: readonly string[], body: JsonObject): Response {
  const { store } = context
  const table = { namespace, name: nameOf(body) }
  if (store.has(table))
    throw new Refusal(
      409,
      'AlreadyExistsException',
      `Table already exists: ${namespace.join('.')}.${table.name}`,
    )
  const change = createTableChange(body, store.defaultLocation(table))
  if (body.get('stage-create') !== true)
    return tableResponse(context, store.commit(table, change, Date.now()))
  const metadata = store.stage(table, change, Date.now())
  return jsonResponse(
    stringifyJson(
      new Map<string, JsonValue>([
        ['metadata', metadata],
        ['config', new Map()],
      ]),
    ),
  )
}

function listTables(store: TableStore, namespace: readonly string[], query: URLSearchParams): Response {
  const tables = store.listTables(namespace)
  const size = Math.min(Number(query.get('pageSize')) || pageSizeMax, pageSizeMax)
  const after = query.get('pageToken')
  // Without pageToken the specification asks for everything at once. The token is the last name given.
  const rest = after === null ? tables : tables.filter(({ name }) => name > after)
  const page = after === null ? rest : rest.slice(0, size)
  return jsonResponse(
    JSON.stringify({
      identifiers: page,
      ...(page.length < rest.length ? { 'next-page-token': page.at(-1)?.name } : {}),
    }),
  )
}

async function namespacesRoute(
  store: TableStore,
  request: Request,
  query: URLSearchParams,
): Promise<Response> {
  if (request.method === 'GET') {
    const parent = query.get('parent')
    return jsonResponse(
      JSON.stringify({ namespaces: store.listNamespaces(parent ? parent.split('\u001f') : []) }),
    )
  }
  if (request.method !== 'POST') throw noRoute()
  const body = await objectBody(request)
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

function configRoute(context: Context, reference: string, warehouse: string | null): Response {
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

function assertPrefix({ options }: Context, prefix: string): void {
  const [reference, warehouse] =
    options.dialect === 'beta' ? decodeSegment(prefix).split('|') : [branch, decodeSegment(prefix)]
  if (warehouse !== options.warehouse)
    throw new Refusal(404, 'NotFoundException', `Unable to find warehouse ${warehouse}`)
  if (reference !== branch)
    throw new Refusal(400, 'NoSuchReferenceException', `Named reference '${reference}' not found`)
}

async function tokenRoute({ options, tokens }: Context, request: Request): Promise<Response> {
  if (request.method !== 'POST') throw noRoute()
  const form = new URLSearchParams(await request.text())
  const given = `${form.get('client_id')}:${form.get('client_secret')}`
  if (form.get('grant_type') !== 'client_credentials')
    return jsonResponse(JSON.stringify({ error: 'unsupported_grant_type' }), 400)
  if (options.credential !== undefined && given !== options.credential)
    return jsonResponse(JSON.stringify({ error: 'invalid_client' }), 401)
  const token = crypto.randomUUID()
  tokens.set(token, Date.now() + options.tokenSeconds * 1000)
  return jsonResponse(
    JSON.stringify({ access_token: token, token_type: 'bearer', expires_in: options.tokenSeconds }),
  )
}

function assertAuthorized({ options, tokens }: Context, request: Request): void {
  if (options.credential === undefined) return
  const token = request.headers.get('authorization')?.replace(/^Bearer /i, '') ?? ''
  const endMs = tokens.get(token)
  if (endMs !== undefined && Date.now() < endMs) return
  tokens.delete(token)
  throw new Refusal(401, 'NotAuthorizedException', 'The token is missing, unknown or expired.')
}

/** Reads or changes the switches: `GET` gives the counts, `POST` takes what `applyFaults` describes. */
async function faultsRoute({ faults }: Context, request: Request): Promise<Response> {
  if (request.method === 'POST') {
    let body: unknown
    try {
      body = await request.json()
    } catch {
      return errorResponse(400, 'BadRequestException', 'The body is not JSON.')
    }
    const problem = applyFaults(faults, body)
    if (problem !== undefined) return errorResponse(400, 'BadRequestException', problem)
  }
  return jsonResponse(JSON.stringify({ counts: faults.counts }))
}

function operationOf(request: Request, pathname: string): Operation {
  if (pathname.endsWith('/config')) return 'config'
  if (pathname.endsWith('/oauth/tokens')) return 'token'
  if (request.method === 'POST' && pathname.endsWith('/transactions/commit')) return 'commit'
  if (!/\/tables\/[^/]+$/.test(pathname) || pathname.endsWith('/tables/rename')) return 'other'
  if (request.method === 'POST') return 'commit'
  if (request.method !== 'GET') return 'other'
  return request.headers.has('if-none-match') ? 'conditional-load' : 'load'
}

function tableResponse({ options }: Context, stored: StoredTable, body = stored.body): Response {
  return new Response(body, {
    headers: {
      'content-type': 'application/json',
      ...(options.dialect === 'alpha' ? { etag: etagOf(stored.metadataLocation) } : {}),
    },
  })
}

function etagOf(metadataLocation: string): string {
  return `W/"${createHash('sha256').update(metadataLocation).digest('hex')}"`
}

function namespaceResponse(store: TableStore, namespace: readonly string[]): Response {
  const properties = store.namespace(namespace)
  return jsonResponse(
    stringifyJson(
      new Map<string, JsonValue>([
        ['namespace', namespace],
        ['properties', properties],
      ]),
    ),
  )
}

function jsonResponse(text: string, status = 200): Response {
  return new Response(text, { status, headers: { 'content-type': 'application/json' } })
}

function errorResponse(code: number, type: string, message: string): Response {
  return jsonResponse(JSON.stringify({ error: { message, type, code } }), code)
}

/** The codecs are the product's, and so are their faults. */
const faultAnswers: Readonly<Record<string, readonly [number, string]>> = {
  bad_request: [400, 'BadRequestException'],
  unprocessable: [422, 'UnprocessableEntityException'],
  conflict: [409, 'CommitFailedException'],
  policy_engine_unavailable: [400, 'BadRequestException'],
}

function refusal(thrown: unknown): Response {
  if (thrown instanceof Refusal) return errorResponse(thrown.status, thrown.type, thrown.message)
  if (thrown instanceof Fault) {
    const [status, type] = faultAnswers[thrown.kind] ?? [500, 'ServiceFailureException']
    return errorResponse(status, thrown.type ?? type, thrown.publicMessage)
  }
  console.error(thrown)
  return errorResponse(500, 'ServiceFailureException', 'Internal error.')
}

/** A response whose stream fails at once: Bun closes the connection without having sent a byte. */
function dropped(): Response {
  return new Response(
    new ReadableStream({
      pull(controller) {
        controller.error(undefined)
      },
    }),
  )
}

function noRoute(): Refusal {
  return new Refusal(404, 'NotFoundException', 'There is no such route.')
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new Refusal(400, 'BadRequestException', 'A path segment is not valid percent-encoded UTF-8.')
  }
}

async function objectBody(request: Request): Promise<JsonObject> {
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
