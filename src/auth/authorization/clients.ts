/**
 * Finds OAuth clients of the authorization server: those of `SVC_MCP_CLIENTS`, and any other by its Client ID Metadata
 * Document, which is fetched from the address that is the client's id. All are public clients.
 */

import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import { isJsonObject, parseJson } from '../../base/json.ts'
import { Lru } from '../../base/lru.ts'
import { type AddressRules, PinnedHost } from '../../catalog/address.ts'
import { sendUpstream } from '../../catalog/upstream-http.ts'
import { isLocal, isRedirectUri } from './redirect-uri.ts'

export interface OAuthClient {
  readonly id: string
  /** By a stranger, except for a client of the setting. */
  readonly name: string
  readonly redirectUris: readonly string[]
}

/** Finds a client. @throws Fault `bad_request` where there is none of the id, or its document is not valid */
export type FindClient = (id: string) => Promise<OAuthClient>

export interface ClientParts {
  /** Of the setting: an id and one address each. */
  readonly registered: readonly { readonly id: string; readonly redirectUri: string }[]
  readonly addressRules: AddressRules
  /** Whether documents are also fetched by http from loopback: where the service itself is there. */
  readonly allowsLoopback: () => boolean
  readonly clock: Clock
}

const documentBytesMax = 64 * 1024
const documentMs = 5_000
const cachedMs = 300_000
const cachedMax = 1_000
/** Documents that are fetched at once, because strangers cause the fetches. */
const fetchesMax = 8
const idCharsMax = 500
const redirectsMax = 50

/** The clients, with a cache of their documents. */
export function clientFinder(parts: ClientParts): FindClient {
  const { registered, clock } = parts
  const cached = new Lru<string, { readonly client: OAuthClient; readonly untilMs: number }>(cachedMax)
  let fetches = 0
  return async (id) => {
    const own = registered.filter((one) => one.id === id)
    if (own.length > 0) return { id, name: id, redirectUris: own.map(({ redirectUri }) => redirectUri) }
    const known = cached.get(id)
    if (known !== undefined && known.untilMs > clock.now()) return known.client
    const url = metadataUrl(id, parts.allowsLoopback())
    if (fetches >= fetchesMax) throw new Fault('overloaded', 'Too many clients sign in at once. Retry.')
    fetches++
    try {
      const client = readDocument(id, await fetchDocument(parts.addressRules, url))
      cached.set(id, { client, untilMs: clock.now() + cachedMs })
      return client
    } finally {
      fetches--
    }
  }
}

/** @throws Fault `bad_request` for an id that is no address of a document */
function metadataUrl(id: string, allowsLoopback: boolean): URL {
  const url = id.length <= idCharsMax ? URL.parse(id) : null
  const isLoopback = url?.protocol === 'http:' && allowsLoopback && isLocal(url)
  const fits =
    url !== null &&
    (url.protocol === 'https:' || isLoopback) &&
    url.href === id &&
    url.pathname.length > 1 &&
    `${url.username}${url.password}${url.hash}` === ''
  if (!fits)
    throw new Fault(
      'bad_request',
      '`client_id` is no registered client and no address of a client’s document.',
    )
  return url
}

async function fetchDocument(rules: AddressRules, url: URL): Promise<Uint8Array> {
  const host = new PinnedHost(new URL(url.origin), rules)
  try {
    const { status, body } = await sendUpstream(host, {
      ...{ method: 'GET', path: `${url.pathname}${url.search}`, headers: { accept: 'application/json' } },
      ...{ signal: AbortSignal.timeout(documentMs), responseBytesMax: documentBytesMax },
    })
    if (status === 200) return body
  } catch (cause) {
    throw new Fault('bad_request', 'The document of the client could not be loaded.', { cause })
  }
  throw new Fault('bad_request', 'The document of the client could not be loaded.')
}

function readDocument(id: string, body: Uint8Array): OAuthClient {
  const document = parseJson(body)
  const member = (name: string) => (isJsonObject(document) ? document.get(name) : undefined)
  const redirects = member('redirect_uris')
  const method = member('token_endpoint_auth_method') ?? 'none'
  const well =
    member('client_id') === id &&
    method === 'none' &&
    Array.isArray(redirects) &&
    redirects.length > 0 &&
    redirects.length <= redirectsMax &&
    redirects.every((one) => typeof one === 'string' && isRedirectUri(one))
  if (!well) throw new Fault('bad_request', 'The document of the client is not valid: see docs/mcp.md.')
  const name = member('client_name')
  return { id, name: typeof name === 'string' ? name : '', redirectUris: redirects as readonly string[] }
}
