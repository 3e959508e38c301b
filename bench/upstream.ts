/** Connects to the upstream catalog as a client without the gateway, and starts the development catalog. */

import { join } from 'node:path'
import { catalogCredential, catalogWarehouse } from './catalog-process.ts'
import { BenchUsageError } from './entry.ts'

/** The address of a catalog, and our credential for it. */
export interface UpstreamAddress {
  readonly kind: 'alpha' | 'beta'
  /** Without a trailing slash; `/v1/…` is appended. */
  readonly endpoint: string
  readonly warehouse: string
  /** `id:secret`; without it no token is sent. */
  readonly credential: string | undefined
  /** Token endpoint; one below `endpoint` by default. */
  readonly tokenUrl: string | undefined
}

export interface DirectUpstream {
  readonly address: UpstreamAddress
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>
  tableUrl(namespace: string, table: string): string
  /** Creates a namespace, or a table in it. Throws an Error with the catalog's reply when it is not 2xx. */
  create(path: string, body: string): Promise<void>
  drop(path: string): Promise<void>
}

/** Sent with every request of every way, because the gateway asks its upstream for uncompressed replies too. */
export const plainAnswers = { 'accept-encoding': 'identity' } as const

/**
 * Gets a token and the catalog's prefix, once.
 * @throws BenchUsageError when the catalog cannot be used
 */
export async function connectUpstream(address: UpstreamAddress): Promise<DirectUpstream> {
  const headers: Record<string, string> = { 'content-type': 'application/json', ...plainAnswers }
  if (address.credential !== undefined) headers.authorization = `Bearer ${await fetchToken(address)}`
  const query = `?warehouse=${encodeURIComponent(address.warehouse)}`
  const answer = await reach(address, `${address.endpoint}/v1/config${query}`, { headers })
  const config = (await answer.json()) as Record<'defaults' | 'overrides', { prefix?: string } | undefined>
  const given = config.overrides?.prefix ?? config.defaults?.prefix
  const prefix = given === undefined ? '' : `/${address.kind === 'beta' ? given : encodeURIComponent(given)}`
  const base = `${address.endpoint}/v1${prefix}`
  const send = async (method: string, path: string, body?: string) => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    })
    if (!response.ok)
      throw new Error(
        `the catalog answered ${response.status} to ${method} ${path}: ${await response.text()}`,
      )
    await response.bytes()
  }
  return {
    address,
    headers,
    tableUrl: (namespace, table) => `${base}/namespaces/${namespace}/tables/${table}`,
    create: (path, body) => send('POST', path, body),
    drop: (path) => send('DELETE', path),
  }
}

async function fetchToken(address: UpstreamAddress): Promise<string> {
  const credential = address.credential ?? ''
  const colon = credential.indexOf(':')
  const answer = await reach(address, address.tokenUrl ?? `${address.endpoint}/v1/oauth/tokens`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: credential.slice(0, colon),
      client_secret: credential.slice(colon + 1),
      ...(address.kind === 'alpha' ? { scope: 'PRINCIPAL_ROLE:ALL' } : {}),
    }),
  })
  const { access_token } = (await answer.json()) as { access_token?: string }
  if (access_token === undefined) throw new BenchUsageError('The catalog gave no token.')
  return access_token
}

async function reach(address: UpstreamAddress, url: string, init: RequestInit): Promise<Response> {
  let response: Response
  try {
    response = await fetch(url, init)
  } catch (cause) {
    throw new BenchUsageError(`The catalog at ${address.endpoint} cannot be reached.`, { cause })
  }
  if (!response.ok)
    throw new BenchUsageError(`The catalog answered ${response.status} at ${new URL(url).pathname}.`)
  return response
}

/** Milliseconds that the development catalog adds to its own work; each request draws one of several values. */
export interface ServiceTimes {
  readonly load: readonly number[]
  readonly conditionalLoad: readonly number[]
  readonly commit: readonly number[]
}

interface Ready {
  readonly url: string
  readonly tokenUrl: string
  readonly folder: string
}

export interface CatalogProcess extends AsyncDisposable {
  readonly address: UpstreamAddress
  /** Belongs to this run only. The catalog's files are below it, and other files may be too. */
  readonly folder: string
  setServiceTimes(times: ServiceTimes): Promise<void>
}

/**
 * Starts the development catalog in a process and a folder of its own.
 * @param dialect 'beta' supports no conditional load
 */
export async function startCatalogProcess(
  dialect: UpstreamAddress['kind'] = 'alpha',
): Promise<CatalogProcess> {
  const ready = Promise.withResolvers<Ready>()
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'catalog-process.ts'), dialect], {
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc: (message: Ready) => ready.resolve(message),
    onExit: (_process, code) => ready.reject(new Error(`the development catalog ended (${code})`)),
  })
  const { url: endpoint, tokenUrl, folder } = await ready.promise
  return {
    address: {
      kind: dialect,
      endpoint,
      warehouse: catalogWarehouse,
      credential: catalogCredential,
      tokenUrl: dialect === 'beta' ? tokenUrl : undefined,
    },
    folder,
    async setServiceTimes({ load, conditionalLoad, commit }) {
      const response = await fetch(`${endpoint}/dev/faults`, {
        method: 'POST',
        body: JSON.stringify({ reset: true, delays: { load, 'conditional-load': conditionalLoad, commit } }),
      })
      if (!response.ok) throw new Error(`the development catalog: ${await response.text()}`)
    },
    async [Symbol.asyncDispose]() {
      child.disconnect()
      await child.exited
    },
  }
}
