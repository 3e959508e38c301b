/**
 * A development catalog: a small Iceberg REST catalog over a local folder, to try, test and measure the product
 * without a catalog server. NOT FOR PRODUCTION: it is one process without fsync or roles, and a route (`/dev/faults`)
 * makes it fail on purpose. It can act as either live catalog kind (docs/reference/catalogs.md 2.1).
 */

import { resolve } from 'node:path'
import { dropped, errorModelResponse, jsonResponse, refusal } from './answers.ts'
import { applyFaults, createFaults, type FaultOperation, type FaultState, type Faults } from './faults.ts'
import { noRoute, route } from './routes.ts'
import { Refusal, TableStore } from './table-store.ts'
import { ViewStore } from './view-store.ts'

export interface DevCatalogOptions {
  /** Created if it does not exist. */
  readonly folder: string
  /** By default, or with 0, a free port. */
  readonly port?: number
  /** `127.0.0.1` by default. */
  readonly hostname?: string
  /** The catalog kind that it imitates; 'alpha' by default. */
  readonly dialect?: 'alpha' | 'beta'
  /** 'dev' by default. */
  readonly warehouse?: string
  /** `id:secret` that the token route accepts. Without it, requests need no token. */
  readonly credential?: string
  /** Whether names that differ in case only are one, which is listed in lower case; false by default. */
  readonly foldsNames?: boolean
  /** Lifetime of a token in seconds; 3600 by default. */
  readonly tokenSeconds?: number
}

export interface DevCatalog {
  /** The catalog URI, to which clients append `/v1/…`. */
  readonly url: string
  /** The token endpoint of the beta dialect, whose own token route answers 501. */
  readonly tokenUrl: string
  readonly faults: Faults
  stop(): Promise<void>
}

const bodyBytesMax = 64 * 1024 * 1024
/** Starts a development catalog. The file's header says what it must not be used for. */
export async function startDevCatalog(options: DevCatalogOptions): Promise<DevCatalog> {
  const tokens = new Map<string, number>()
  const context: Context = {
    options: {
      port: 0,
      hostname: '127.0.0.1',
      dialect: 'alpha',
      warehouse: 'dev',
      tokenSeconds: 3600,
      foldsNames: false,
      ...options,
      folder: resolve(options.folder),
    },
    store: new TableStore(resolve(options.folder)),
    views: new ViewStore(resolve(options.folder)),
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

interface Context {
  readonly options: Required<Omit<DevCatalogOptions, 'credential'>> & Pick<DevCatalogOptions, 'credential'>
  readonly store: TableStore
  readonly views: ViewStore
  readonly faults: FaultState
  /** Each token with its expiry, in milliseconds since the Unix epoch. */
  readonly tokens: Map<string, number>
}

async function answer(context: Context, request: Request): Promise<Response> {
  const url = new URL(request.url)
  if (url.pathname === '/dev/faults') return faultsRoute(context, request)
  const { faults } = context
  const { delayMs, failure } = faults.meet(operationOf(request, url.pathname))
  if (delayMs > 0) await Bun.sleep(delayMs)
  if (failure?.effect === 'drop-before') return dropped()
  if (failure?.effect === 'fail')
    return errorModelResponse(
      failure.status ?? 500,
      failure.type ?? 'ServiceFailureException',
      'A failure was asked for.',
    )
  if (failure?.effect === 'conflict')
    return errorModelResponse(409, 'CommitFailedException', 'Requirement failed: a conflict was asked for.')
  let response: Response
  try {
    response = await serve(context, request, url)
  } catch (thrown) {
    response = refusal(thrown)
  }
  if (failure?.effect === 'drop-after') return dropped()
  if (failure?.effect === 'hang-after') return new Promise(() => {})
  return response
}

async function serve(context: Context, request: Request, url: URL): Promise<Response> {
  if (url.pathname === '/v1/oauth/tokens' && context.options.dialect === 'beta')
    return errorModelResponse(
      501,
      'UnsupportedOperationException',
      'Endpoint not implemented: use an OAuth2 server.',
    )
  if (url.pathname === '/v1/oauth/tokens' || url.pathname === '/dev/oauth/tokens')
    return tokenRoute(context, request)
  assertAuthorized(context, request)
  return route(context, request, url)
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

/** Reads or changes the faults: `GET` returns the counts, `POST` takes the body that `applyFaults` describes. */
async function faultsRoute({ faults }: Context, request: Request): Promise<Response> {
  if (request.method === 'POST') {
    let body: unknown
    try {
      body = await request.json()
    } catch {
      return errorModelResponse(400, 'BadRequestException', 'The body is not JSON.')
    }
    const problem = applyFaults(faults, body)
    if (problem !== undefined) return errorModelResponse(400, 'BadRequestException', problem)
  }
  return jsonResponse(JSON.stringify({ counts: faults.counts }))
}

function operationOf(request: Request, pathname: string): FaultOperation {
  if (pathname.endsWith('/config')) return 'config'
  if (pathname.endsWith('/oauth/tokens')) return 'token'
  if (request.method === 'POST' && pathname.endsWith('/transactions/commit')) return 'commit'
  if (!/\/tables\/[^/]+$/.test(pathname) || pathname.endsWith('/tables/rename'))
    return request.method === 'GET' || request.method === 'HEAD' ? 'read' : 'other'
  if (request.method === 'POST') return 'commit'
  if (request.method !== 'GET') return 'other'
  return request.headers.has('if-none-match') ? 'conditional-load' : 'load'
}
